//! Lists the options of checkers, searchers and the like that are known to only read. Every other option needs a
//! question.
//!
//! The reason is the same as for git: a list of forbidden options ends where its author's knowledge ends, and these
//! programs accept shortened ones. So an option counts only where a row has it, written whole.

use crate::tools::reading_commands::{self, Use};

/// Programs with the same options, by their plain names: `flake8` is `flake`, but for `python -m flake8`.
struct KnownProgram {
    programs: &'static [&'static str],
    /// The options in the form of `reading_commands`, and whether operands are only read.
    options: reading_commands::ReadingCommand,
    style: OptionStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionStyle {
    /// `--long` and `-s`.
    Gnu,
    /// `-word`, as find and go have them; a number behind the dash is a value.
    Words,
    /// As `Gnu`, and what follows `--` are options of the program's own child.
    Child,
}

const fn known(
    programs: &'static [&'static str],
    words: &'static [&'static str],
    letters: &'static str,
    style: OptionStyle,
) -> KnownProgram {
    KnownProgram { programs, options: reading_commands::row("", Use::Listed, words, letters, true), style }
}

const GREP: &[&str] = &["--line-number --ignore-case --word-regexp --line-regexp --invert-match --count \
    --files-with-matches --files-without-match --only-matching --with-filename --quiet --extended-regexp \
    --fixed-strings --basic-regexp --perl-regexp --recursive --regexp= --after-context= --before-context= --context= \
    --max-count= --color? --version"];

/// From the programs' own manuals. No row has an option that writes, loads code, runs something, reads a list of files,
/// widens a search to hidden or ignored files, or takes the name of a file off its lines.
const KNOWN: &[KnownProgram] = &[
    known(
        &["grep", "egrep", "fgrep", "zgrep", "ggrep", "rgrep"],
        GREP,
        "n i w x v c l L o H s q E F G P I a r R e: A: B: C: m: #",
        OptionStyle::Gnu,
    ),
    known(
        &["rg"],
        &["--line-number --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp --fixed-strings \
           --invert-match --count --count-matches --files --files-with-matches --column --with-filename --no-heading \
           --only-matching --multiline --pcre2 --stats --trim --follow --regexp= --after-context= --before-context= \
           --context= --max-count= --max-depth= --sort= --color= --version"],
        "n i S s w x F v c l H o U P L e: A: B: C: m: d:",
        OptionStyle::Gnu,
    ),
    known(&["ag", "ack"], &["--ignore-case --literal --count --version"], "i w l c Q v A: B: C:", OptionStyle::Gnu),
    known(
        &["fd", "fdfind"],
        &["--type= --extension= --max-depth= --min-depth= --ignore-case --case-sensitive --absolute-path \
           --full-path --glob --fixed-strings --version"],
        "t: e: d: i s a p g F 1",
        OptionStyle::Gnu,
    ),
    known(
        &["find"],
        &["-name -iname -path -ipath -wholename -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -not -o \
           -or -a -and -print -print0 -prune -regex -iregex -perm -user -group -ls -links -readable -writable \
           -executable"],
        "",
        OptionStyle::Words,
    ),
    known(
        &["cat"],
        &["--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs --version"],
        "n b s A E T v e t u",
        OptionStyle::Gnu,
    ),
    known(
        &["head", "tail"],
        &["--lines= --bytes= --quiet --silent --verbose --version"],
        "n: c: q v #",
        OptionStyle::Gnu,
    ),
    known(&["wc"], &["--lines --words --chars --bytes --max-line-length --version"], "l w m c L", OptionStyle::Gnu),
    known(
        &["ls"],
        &["--all --almost-all --human-readable --recursive --reverse --directory --classify? --color? --version"],
        "l a A h t r R S d F p i s X U G #",
        OptionStyle::Gnu,
    ),
    known(
        &["sort"],
        &["--numeric-sort --reverse --unique --ignore-case --human-numeric-sort --general-numeric-sort \
           --version-sort --month-sort --stable --check? --key= --field-separator= --version"],
        "n r u f b d g h M V s c z i k: t:",
        OptionStyle::Gnu,
    ),
    known(
        &["uniq"],
        &["--count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --version"],
        "c d u i f: s: w:",
        OptionStyle::Gnu,
    ),
    // It writes whatever its options are.
    known(&["split", "csplit"], &["--version"], "", OptionStyle::Gnu),
    known(&["tar", "bsdtar"], &["--list --file= --verbose --version"], "t f: v z j J", OptionStyle::Gnu),
    known(
        &["make", "gmake"],
        &[
            "--dry-run --just-print --keep-going --silent --quiet --question --always-make --jobs? --no-print-directory \
           --no-builtin-rules --version",
        ],
        "n k s q B j:: r w",
        OptionStyle::Gnu,
    ),
    known(
        &["pytest", "py.test"],
        &["--co --collect-only --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --maxfail= \
           --tb= --durations= --no-header --no-summary --verbose --quiet --exitfirst --capture= --showlocals \
           --strict-markers --color= --disable-warnings --deselect= --ignore= --version"],
        "q v s x l k: m: r: n:",
        OptionStyle::Gnu,
    ),
    known(
        &["mypy", "dmypy"],
        &["--strict --pretty --no-color-output --show-error-codes --hide-error-codes --show-column-numbers \
           --show-error-context --show-error-end --show-absolute-path --no-error-summary --ignore-missing-imports \
           --follow-imports= --python-version= --platform= --namespace-packages --explicit-package-bases \
           --check-untyped-defs --disallow-untyped-defs --disallow-incomplete-defs --no-implicit-optional \
           --strict-optional --strict-equality --no-incremental --warn-unused-ignores --warn-unreachable \
           --warn-return-any --warn-redundant-casts --exclude= --output= --version"],
        "v",
        OptionStyle::Gnu,
    ),
    known(
        &["pyright", "basedpyright", "ty", "pyrefly"],
        &["--outputjson --stats --verbose --warnings --level= --pythonversion= --pythonplatform= --skipunannotated \
           --python-version= --output-format= --color= --quiet --version"],
        "v q",
        OptionStyle::Gnu,
    ),
    known(
        &["flake", "flake8"],
        &["--select= --ignore= --extend-select= --extend-ignore= --max-line-length= --max-complexity= --exclude= \
           --count --statistics --show-source --quiet --verbose --version"],
        "q v",
        OptionStyle::Gnu,
    ),
    known(
        &["pylint"],
        &["--disable= --enable= --errors-only --score= --reports= --max-line-length= --jobs= --ignore= --version"],
        "E d: e: j: v",
        OptionStyle::Gnu,
    ),
    known(
        &["ruff"],
        &["--select= --ignore= --extend-select= --output-format= --target-version= --line-length= --exclude= \
           --statistics --quiet --verbose --no-cache --diff --no-fix --exit-zero --preview --show-files --version"],
        "q v n e",
        OptionStyle::Gnu,
    ),
    known(
        &["cargo"],
        &[
            "--lib --bins --bin= --tests --test= --examples --example= --benches --bench= --doc --all-targets --all \
             --workspace --package= --exclude= --features= --all-features --no-default-features --release --locked \
             --offline --frozen --no-run --no-fail-fast --quiet --verbose --message-format= --color= --jobs= --depth= \
             --keep-going --no-deps --format-version= --invert= --edges= --duplicates --version --list",
            // Behind `--`: the harness of tests.
            "--nocapture --no-capture --exact --ignored --include-ignored --test-threads= --show-output --skip=",
        ],
        "p: q v r V j: F: i: e: d D: W: A:",
        OptionStyle::Child,
    ),
    known(
        &["go"],
        &["-run -v -count -race -short -timeout -json -cover -bench -benchmem -failfast -list -m -cpu -parallel \
           -shuffle -skip"],
        "",
        OptionStyle::Words,
    ),
    known(&["eslint"], &["--quiet --ext= --max-warnings= --no-color --color --version"], "", OptionStyle::Gnu),
    known(&["tsc"], &["--noEmit --pretty --strict --skipLibCheck --version"], "v", OptionStyle::Gnu),
    known(
        &["jest", "vitest", "mocha"],
        &["--verbose --silent --runInBand --run --ci --bail? --testNamePattern= --grep= --version"],
        "t: i b g:",
        OptionStyle::Gnu,
    ),
    known(&["prettier"], &["--check --list-different --no-color --log-level= --version"], "c l", OptionStyle::Gnu),
    known(&["biome"], &["--error-on-warnings --max-diagnostics= --verbose --version"], "", OptionStyle::Gnu),
];

/// True if the options of a program are judged here.
pub(crate) fn knows(program: &str) -> bool {
    table(program).is_some()
}

fn table(program: &str) -> Option<&'static KnownProgram> {
    KNOWN.iter().find(|known| known.programs.contains(&program))
}

/// The first word behind a rule that is not known to only read; `None` for a program without a table, too. `known`
/// is the program's plain name, and `rest` the words that are not the user's own.
pub(crate) fn unknown(program: &str, rest: &[String]) -> Option<String> {
    let known = table(program)?;
    let options = match known.style {
        OptionStyle::Words => return rest.iter().find(|word| !is_known_word(known, word)).cloned(),
        OptionStyle::Child => rest.iter().filter(|word| *word != "--").cloned().collect(),
        OptionStyle::Gnu => rest.to_vec(),
    };
    let operands = match reading_commands::words(&known.options, &options, 0) {
        Ok((operands, _)) => operands,
        Err(word) => return Some(word),
    };
    let written = match program {
        // Its second operand is written.
        "uniq" => operands.get(rest.iter().filter(|word| takes(known, word)).count() + 1).copied(),
        "split" | "csplit" => operands.first().copied(),
        // A host makes it run a remote shell; bundled letters without a dash may extract.
        "tar" | "bsdtar" => {
            let host = rest.iter().find(|word| word.contains(':'));
            host.or_else(|| rest.first().filter(|word| !word.starts_with('-'))).map(String::as_str)
        }
        // A variable replaces the program that a recipe runs.
        "make" | "gmake" => operands.iter().find(|word| word.contains('=')).copied(),
        _ => None,
    };
    written.map(str::to_owned)
}

/// True if an option takes the next word as its value.
fn takes(known: &KnownProgram, word: &str) -> bool {
    let takes = if word.starts_with("--") {
        reading_commands::long(&known.options, word)
    } else if word.starts_with('-') {
        reading_commands::short(&known.options, word)
    } else {
        None
    };
    takes == Some(true)
}

fn is_known_word(known: &KnownProgram, word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return true };
    let number = rest.starts_with(|c: char| c.is_ascii_digit());
    let name = word.split('=').next().unwrap_or(word);
    number || known.options.words.iter().flat_map(|words| words.split_whitespace()).any(|own| own == name)
}
