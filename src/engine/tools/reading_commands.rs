//! Lists the subcommands and options of git and of npm and its like that are known to read. Everything else needs a
//! question.
//!
//! A list of forbidden words ends where its author's knowledge ends. These programs have hundreds of options, and gain
//! some with every release. So a word counts only where a row has it. Options may not be shortened here, and a value
//! that looks like an option counts as one.

use sextant_base::one_line::clean;

/// The permission that a row needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// None at all: the subcommand only looks, and runs with none of the repository's configuration.
    Free,
    /// A rule that names the program.
    Listed,
    /// A rule that names the subcommand: it writes, or runs commands of the project.
    Named,
}

/// One subcommand.
pub(super) struct ReadingCommand {
    name: &'static str,
    leave: Use,
    /// Long options: `--x` alone, `--x=` with a value in the same or the next word, `--x?` with one behind `=` or none.
    pub(super) words: &'static [&'static str],
    /// Short ones: `x`, `x:` and `x::` likewise; `#` is a number.
    letters: &'static str,
    /// True if words that are no options are known to be only read: revisions, paths, patterns.
    operands: bool,
}

pub(super) const fn row(
    name: &'static str,
    leave: Use,
    words: &'static [&'static str],
    letters: &'static str,
    operands: bool,
) -> ReadingCommand {
    ReadingCommand { name, leave, words, letters, operands }
}

/// Options of commands that show differences. None of these hides the name of a file in the output about it, and none
/// searches the texts: a list of commits would answer a question about a text that is withheld.
const DIFF: &str = "--patch --no-patch --raw --stat? --compact-summary --numstat --shortstat --summary --name-only \
    --name-status --color? --no-color --no-renames --minimal --patience --histogram --full-index --no-prefix \
    --text --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol \
    --function-context --exit-code --quiet --cc --indent-heuristic --no-ext-diff --no-textconv --dirstat? \
    --abbrev? --word-diff? --color-words --unified= --inter-hunk-context= --diff-filter= \
    --diff-algorithm= --find-renames? --find-copies? --break-rewrites? --patch-with-stat";
const LOG: &str = "--oneline --graph --decorate? --no-decorate --all --branches? --tags? --remotes? --reverse --merges \
    --no-merges --first-parent --follow --walk-reflogs --boundary --left-right --topo-order --date-order \
    --author-date-order --abbrev-commit --no-abbrev-commit --parents --children --full-history \
    --simplify-by-decoration --source --no-notes --relative-date --all-match --invert-grep --extended-regexp \
    --fixed-strings --perl-regexp --regexp-ignore-case --full-diff --no-walk? --max-count= --skip= --since= --after= \
    --until= --before= --author= --committer= --grep= --min-parents= --max-parents= --date= --format? --pretty?";
const DIFF_LETTERS: &str = "p u s a R b w W c U: M:: C:: B::";
const LOG_LETTERS: &str = "p u s a R b w W c U: M:: C:: B:: g i E F P m n: L: #";

const GIT: &[ReadingCommand] = &[
    row(
        "status",
        Use::Free,
        &["--short --branch --porcelain? --long --verbose --untracked-files? --ignored? --show-stash --ahead-behind \
           --no-ahead-behind --no-renames --find-renames?"],
        "s b v u::",
        true,
    ),
    row("log", Use::Free, &[DIFF, LOG], LOG_LETTERS, true),
    row("show", Use::Free, &[DIFF, LOG], LOG_LETTERS, true),
    row("diff", Use::Free, &[DIFF, "--cached --staged --merge-base --base --ours --theirs"], DIFF_LETTERS, true),
    row(
        "blame",
        Use::Free,
        &["--root --show-stats --porcelain --line-porcelain --incremental --show-name --show-number --show-email \
           --minimal --first-parent --reverse --since= --date= --abbrev?"],
        "l t s e w c f n b p L: M:: C::",
        true,
    ),
    row(
        "shortlog",
        Use::Listed,
        &["--summary --numbered --email --group= --since= --until= --no-merges --all"],
        "s n e c",
        true,
    ),
    row(
        "describe",
        Use::Listed,
        &["--tags --all --long --always --exact-match --abbrev= --first-parent --match= --exclude= --contains"],
        "",
        true,
    ),
    row(
        "rev-parse",
        Use::Listed,
        &["--abbrev-ref? --short? --verify --quiet --show-toplevel --is-inside-work-tree --symbolic-full-name"],
        "q",
        true,
    ),
    row(
        "rev-list",
        Use::Listed,
        &["--count --all --left-right --max-count= --since= --until= --author= --no-merges --first-parent"],
        "n: #",
        true,
    ),
    row("merge-base", Use::Listed, &["--all --is-ancestor --octopus"], "a", true),
    row("diff-tree", Use::Listed, &[DIFF, "--root --no-commit-id"], "p u s r t m c U: M:: C::", true),
    row(
        "ls-files",
        Use::Listed,
        &["--cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --full-name \
           --error-unmatch --abbrev? --directory --eol"],
        "c d m o i s u k t v",
        true,
    ),
    row(
        "ls-tree",
        Use::Listed,
        &["--long --name-only --name-status --object-only --full-name --full-tree --abbrev?"],
        "d r t l",
        true,
    ),
    row("cat-file", Use::Listed, &[""], "t s e p", true),
    row(
        "grep",
        Use::Listed,
        &[
            "--cached --name-only --count --line-number --column --ignore-case --word-regexp --all-match --and --or --not \
           --full-name --max-depth= --context= --extended-regexp --fixed-strings --perl-regexp --files-with-matches \
           --files-without-match --show-function --function-context --color? --no-color",
        ],
        "n i w v a E G F P l L c I H W p q o e: A: B: C: m: #",
        true,
    ),
    row(
        "branch",
        Use::Listed,
        &["--all --remotes --list --show-current --no-color --contains= --merged?"],
        "a r v",
        false,
    ),
    row("tag", Use::Listed, &["--list"], "l", false),
    row("reflog", Use::Listed, &["--max-count="], "n: #", false),
    row("version", Use::Listed, &["--build-options"], "", false),
    row("add", Use::Named, &["--all --update --dry-run --verbose"], "A u n v", true),
    row(
        "commit",
        Use::Named,
        &["--message= --all --amend --no-edit --quiet --signoff --dry-run --verbose"],
        "a m: q s v",
        true,
    ),
];

const PACKAGES: &str = "--json --long --parseable --all --global --depth= --production --dev --only? --omit= --silent \
    --workspaces --workspace=";
const RUNS: &str = "--silent --if-present --workspaces --workspace= --quiet";
const INSTALLS: &str = "--silent --ignore-scripts --no-audit --no-fund --prefer-offline --offline";

/// Every word behind npm is a command of its own; a script of the project needs `run`.
const NPM: &[ReadingCommand] = &[
    row("ls", Use::Listed, &[PACKAGES], "a l p g s", true),
    row("list", Use::Listed, &[PACKAGES], "a l p g s", true),
    row("ll", Use::Listed, &[PACKAGES], "a l p g s", true),
    row("la", Use::Listed, &[PACKAGES], "a l p g s", true),
    row("why", Use::Listed, &[PACKAGES], "s", true),
    row("explain", Use::Listed, &[PACKAGES], "s", true),
    row("root", Use::Listed, &["--global"], "g", false),
    row("test", Use::Named, &[RUNS], "s q", true),
    row("t", Use::Named, &[RUNS], "s q", true),
    row("run", Use::Named, &[RUNS], "s q", true),
    row("run-script", Use::Named, &[RUNS], "s q", true),
    row("ci", Use::Named, &[INSTALLS], "s", false),
    row("install", Use::Named, &[INSTALLS], "s", false),
];

/// pnpm runs the script of any name that is not a command of its own.
const PNPM: &[ReadingCommand] = &[
    row("ls", Use::Listed, &[PACKAGES], "", true),
    row("list", Use::Listed, &[PACKAGES], "", true),
    row("why", Use::Listed, &[PACKAGES], "", true),
    row("test", Use::Named, &[RUNS], "s", true),
    row("t", Use::Named, &[RUNS], "s", true),
    row("run", Use::Named, &[RUNS], "s", true),
    row("install", Use::Named, &["--silent --ignore-scripts --prefer-offline --offline"], "s", false),
];

/// So does yarn; `list` is a command of its first version only.
const YARN: &[ReadingCommand] = &[
    row("why", Use::Listed, &["--json"], "", true),
    row("test", Use::Named, &["--silent"], "s", true),
    row("run", Use::Named, &["--silent"], "s", true),
    row("install", Use::Named, &["--silent --ignore-scripts --prefer-offline --offline"], "s", false),
];

/// Options that may stand in front of git's subcommand.
const FRONT: &[&str] = &["--no-pager", "-P", "--literal-pathspecs", "--no-optional-locks"];

/// A command line whose every word is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reading<'c> {
    /// The index of the subcommand.
    pub(crate) at: usize,
    pub(crate) subcommand: &'c str,
    /// Revisions, patterns and paths.
    pub(crate) operands: Vec<&'c str>,
    /// The index of the first operand behind `--`.
    pub(crate) paths: Option<usize>,
    /// True if the command only looks, and so can run with no configuration.
    pub(crate) looks: bool,
    pub(crate) free: bool,
}

impl Reading<'_> {
    /// The arguments, with the options that keep git from every other program. Git would ask a submodule by a git of
    /// its own, with the submodule's configuration.
    pub(crate) fn hardened(&self, command: &[String]) -> Vec<String> {
        let more: &[&str] = match self.subcommand {
            "diff" => &["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"],
            "log" | "show" => &["--no-ext-diff", "--no-textconv"],
            "status" => &["--ignore-submodules=all"],
            _ => &[],
        };
        // No row has a word that would take these back.
        let (front, rest) = command.split_at((self.at + 1).min(command.len()));
        let front = front.iter().skip(1).cloned().chain(more.iter().map(|word| (*word).to_owned()));
        front.chain(rest.iter().cloned()).collect()
    }
}

/// The table of a program, by its plain name; `None` for a program without one.
fn table(program: &str) -> Option<&'static [ReadingCommand]> {
    match program {
        "git" => Some(GIT),
        "npm" => Some(NPM),
        "pnpm" => Some(PNPM),
        "yarn" => Some(YARN),
        _ => None,
    }
}

/// True if the words of a program are judged here.
pub(crate) fn knows(program: &str) -> bool {
    table(program).is_some()
}

/// Reads a command line of one of these programs. The first `given` words are the user's own.
///
/// # Errors
/// The first word that is in no row, with the reason.
pub(crate) fn read<'c>(program: &str, command: &'c [String], given: usize) -> Result<Reading<'c>, String> {
    let rows = table(program).ok_or_else(|| format!("{} is not known", clean(program)))?;
    let at = subcommand(program, command, given)?;
    let own_words =
        |name: &'c str| Reading { at, subcommand: name, operands: Vec::new(), paths: None, looks: false, free: false };
    let Some(name) = command.get(at).map(String::as_str) else { return Ok(own_words("")) };
    let named = at < given;
    let row = rows.iter().find(|row| row.name == name && (row.leave != Use::Named || named));
    let Some(row) = row else {
        // The whole line is the user's own: a further word is not.
        let more = command.get(given.max(at)).map_or(name, String::as_str);
        return if named && command.len() <= given { Ok(own_words(name)) } else { Err(unknown(program, more)) };
    };
    let looks = row.leave != Use::Named && command[1..at].iter().all(|word| FRONT.contains(&word.as_str()));
    let (operands, paths) = words(row, &command[at + 1..], given.saturating_sub(at + 1))
        .map_err(|word| format!("{} is not known only to read behind {program} {name}", clean(&word)))?;
    Ok(Reading { at, subcommand: name, operands, paths, looks, free: row.leave == Use::Free })
}

fn unknown(program: &str, word: &str) -> String {
    format!("{program} {} may run something else, or write", clean(word))
}

/// The index of the subcommand, behind options that are harmless or the user's own.
fn subcommand(program: &str, command: &[String], given: usize) -> Result<usize, String> {
    let mut at = 1;
    while let Some(word) = command.get(at).filter(|word| word.starts_with('-')) {
        let harmless = program == "git" && FRONT.contains(&word.as_str());
        if at >= given && !harmless && !(word == "--version" && command.len() == 2) {
            return Err(format!("{} may make {program} run something else", clean(word)));
        }
        let takes = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--prefix"].contains(&word.as_str());
        at += if takes { 2 } else { 1 };
    }
    Ok(at)
}

/// The operands of a subcommand with the index of the first one behind `--`, or the first unknown word. The first `own`
/// words are the user's.
pub(super) fn words<'c>(
    row: &ReadingCommand,
    words: &'c [String],
    own: usize,
) -> Result<(Vec<&'c str>, Option<usize>), String> {
    let mut operands = Vec::new();
    let mut rest = words.iter().enumerate();
    let mut paths = None;
    while let Some((at, word)) = rest.next() {
        let known = at < own;
        let ended = paths.is_some();
        let takes = if ended || !word.starts_with('-') || word == "-" {
            if !known && (!row.operands || word == "-" || ended && word.starts_with('-') && row.leave == Use::Named) {
                return Err(word.clone());
            }
            operands.push(word.as_str());
            false
        } else if word == "--" {
            paths = Some(operands.len());
            false
        } else if word.starts_with("--") {
            long(row, word).or(known.then_some(false)).ok_or_else(|| word.clone())?
        } else {
            short(row, word).or(known.then_some(false)).ok_or_else(|| word.clone())?
        };
        if takes {
            match rest.next() {
                // Where the program does not take the word as a value after all, it is judged by itself.
                Some((at, value)) if at < own || !value.starts_with('-') => operands.push(value.as_str()),
                other => return Err(other.map_or(word, |(_, value)| value).clone()),
            }
        }
    }
    Ok((operands, paths))
}

/// True if a long option takes the next word; `None` for an unknown option.
pub(super) fn long(row: &ReadingCommand, word: &str) -> Option<bool> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let mut known = row.words.iter().flat_map(|words| words.split_whitespace());
    let kind = known.find_map(|known| known.strip_prefix(name).filter(|kind| ["", "=", "?"].contains(kind)))?;
    let fits = match (kind, value) {
        ("", value) => value.is_none(),
        (_, Some(value)) => prints_plainly(name, value),
        (_, None) => true,
    };
    fits.then_some(kind == "=" && value.is_none())
}

/// A format can make git run a verifier of signatures, or git itself; every other placeholder prints.
fn prints_plainly(name: &str, value: &str) -> bool {
    let formats = ["--format", "--pretty"].contains(&name);
    !formats || !value.split('%').skip(1).any(|place| place.trim_start_matches(['+', '-', ' ']).starts_with(['G', '(']))
}

/// The same for short options, several in one word.
pub(super) fn short(row: &ReadingCommand, word: &str) -> Option<bool> {
    let mut rest = word.get(1..)?;
    if rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return row.letters.split(' ').any(|letter| letter == "#").then_some(false);
    }
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..)?;
        let kind = row.letters.split(' ').find_map(|known| known.strip_prefix(letter))?;
        match kind {
            "" => {}
            ":" => return Some(rest.is_empty()),
            _ => return Some(false),
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests;
