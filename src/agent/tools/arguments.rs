//! What the arguments behind an allowed command may do that the user has not allowed with it: reach out of the
//! workspace, name a secret, run something else, write.
//!
//! It knows the programs that are usually allowed. A program that is none of them is looked at by the general rules
//! alone, and what a program's own configuration makes it do is not seen here.

use crate::base::text::clean;
use crate::workspace::root::{PathError, Root};

/// What is asked about for one program, or for every program (an empty name).
struct Row {
    programs: &'static [&'static str],
    /// Words and options as they are written; a long option may be shortened.
    words: &'static str,
    /// Letters of short options.
    letters: &'static str,
}

const fn row(programs: &'static [&'static str], words: &'static str, letters: &'static str) -> Row {
    Row { programs, words, letters }
}

/// From the programs' own manuals: options that run another program, load code, or write to a file of one's choice.
const ROWS: &[Row] = &[
    row(
        &[""],
        "--output --output-file --out-dir --outdir --outfile --config --config-file --exec --execute --command --eval \
         --plugin --plugins --load-plugins --init-hook --require --script-shell --rcfile --manifest-path --directory \
         --chdir --cwd --prefix --rootdir --working-directory --fix --write --in-place --to-command",
        "",
    ),
    row(
        &["git"],
        "--no-index --ext-diff --textconv --open-files-in-pager --upload-pack --receive-pack --config-env --exec-path \
         --git-dir --work-tree --template --contents --pathspec-from-file --attr-source --remote --paginate \
         config submodule bisect filter-branch hook difftool mergetool daemon instaweb push send-email clone fetch \
         pull remote worktree credential",
        "Oo",
    ),
    row(
        &["pytest", "py.test"],
        "--override-ini --confcutdir --basetemp --junit-xml --junitxml --log-file --import-mode --pdbcls --pastebin \
         --debug --cov-config --pyargs",
        "cpo",
    ),
    row(&["python", "pypy"], "-", "cmi"),
    row(
        &["node", "deno", "bun", "ruby", "perl", "lua", "luajit", "php"],
        "--print --import --loader --experimental-loader --input-type --inspect - ",
        "eEprcMl",
    ),
    row(&["find"], "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from", ""),
    row(&["fd", "fdfind"], "--exec-batch", "xX"),
    row(&["rg"], "--pre --hostname-bin", ""),
    row(
        &["tar", "bsdtar"],
        "--checkpoint-action --use-compress-program --rsh-command --info-script --new-volume-script",
        "ICFP",
    ),
    row(&["cargo"], "--target-dir --artifact-dir --lockfile-path", "CZ"),
    row(
        &["make", "gmake", "ninja", "just", "task", "rake"],
        "--file --makefile --include-dir --justfile --shell --set",
        "fCIEdc",
    ),
    row(
        &["npm", "pnpm", "yarn"],
        "--node-options --userconfig --globalconfig --call exec dlx config publish link install add",
        "Cc",
    ),
    row(
        &["go"],
        "-exec --exec -toolexec --toolexec -vettool --vettool -o -C -modfile --modfile -overlay --overlay",
        "",
    ),
    row(&["ruff"], "--add-noqa --unsafe-fixes --fix-only --cache-dir", "o"),
    row(
        &["mypy", "dmypy", "pyright", "basedpyright", "ty", "pyrefly"],
        "--python-executable --pythonpath --install-types --shadow-file --custom-typeshed-dir --project --createstub \
         --writebaseline --typeshedpath --venvpath --cache-dir",
        "p",
    ),
    row(
        &["eslint", "tsc", "jest", "vitest", "mocha", "prettier", "biome"],
        "--rulesdir --resolve-plugins-relative-to --parser --format --project --globalSetup --reporter --reporters",
        "cofpr",
    ),
    row(&["pylint", "flake8"], "--append-config", ""),
    row(&["sort"], "--compress-program", "oT"),
];

/// Bytes from which on the beginning of a long option is taken for the whole of it.
const SHORTENED: usize = 5;

/// Programs whose arguments are a program themselves, or a place elsewhere: nothing behind them is allowed unseen.
const WHOLE: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "xargs", "sudo", "doas", "su", "nohup", "nice", "time",
    "timeout", "watch", "parallel", "setsid", "stdbuf", "strace", "ssh", "scp", "sftp", "rsync", "curl", "wget", "nc",
    "ncat", "socat", "docker", "podman", "kubectl", "npx", "uvx", "pipx", "awk", "gawk", "mawk", "nvim", "vim", "vi",
    "ex", "ed", "emacs", "gdb", "dd",
];

/// Why a command that begins as one of the user's rules does is not allowed by it; `None` where nothing speaks
/// against it. `given` is how many words the rule has: those are the user's own.
pub(crate) fn objection(root: &Root, command: &[String], given: usize) -> Option<String> {
    let programs = programs(command);
    let rest = command.get(given..).unwrap_or_default();
    if edits_with_sed(&programs, rest) {
        return Some("a script of sed may run something else, or write".to_owned());
    }
    rest.iter().find_map(|word| {
        let shown = clean(word);
        if programs.iter().any(|program| WHOLE.contains(&program.as_str())) {
            return Some(format!("{shown} would be run, or reached, by {}", programs[0]));
        }
        reaches(root, word)
            .map(|why| format!("{shown} {why}"))
            .or_else(|| does_more(&programs, word).then(|| format!("{shown} may run something else, or write")))
    })
}

/// The program by its plain name, and the module that `python -m` runs.
fn programs(command: &[String]) -> Vec<String> {
    let name = command.first().map(String::as_str).unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches(".exe");
    let mut programs = vec![plain.to_owned()];
    let module = command.iter().position(|word| word == "-m").and_then(|at| command.get(at + 1));
    // A runner of others runs what it is given next.
    let run = command.iter().position(|word| word == "run" || word == "exec").and_then(|at| command.get(at + 1));
    programs.extend(module.into_iter().chain(run).cloned());
    programs
}

/// How an argument, or a part of it, leads to what is not open to a tool.
fn reaches(root: &Root, word: &str) -> Option<String> {
    if word.starts_with('@') {
        return Some("reads its arguments from a file".to_owned());
    }
    let glued = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut rest = rest.chars();
        rest.next().map(|_| rest.as_str())
    });
    let parts = word.split(['=', ':', ',', '@']).chain(glued).chain([word]);
    let mut paths = parts.filter(|part| !part.is_empty());
    paths.find_map(|part| {
        if part.starts_with('~') || part.contains("../") || part.ends_with("/..") || part == ".." {
            // `HEAD~1` and `a..b` are no paths; `a/../b` may stay inside, and is not worth the trouble.
            return Some("leads out of the workspace".to_owned());
        }
        match root.resolve(part) {
            Err(PathError::Outside(_) | PathError::LeadsOut { .. }) => Some("leads out of the workspace".to_owned()),
            Err(PathError::Secret(_)) => Some("may hold secrets".to_owned()),
            Err(PathError::Own(_)) => Some("is Sextant's own record".to_owned()),
            _ => None,
        }
    })
}

fn does_more(programs: &[String], word: &str) -> bool {
    let is = |program: &str| programs.iter().any(|own| own == program);
    // A variable replaces the program that a recipe runs.
    if !word.starts_with('-') && word.contains('=') && ["make", "gmake", "just"].into_iter().any(is) {
        return true;
    }
    let name = word.split('=').next().unwrap_or(word);
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let mut letters = short.chars().take_while(char::is_ascii_alphabetic);
    let known =
        |known: &str| known == name || name.len() >= SHORTENED && name.starts_with("--") && known.starts_with(name);
    let rows = ROWS.iter().filter(|row| row.programs.iter().any(|program| program.is_empty() || is(program)));
    let (words, all): (Vec<&str>, String) = rows.fold((Vec::new(), String::new()), |(mut words, letters), row| {
        words.extend(row.words.split_whitespace());
        (words, letters + row.letters)
    });
    words.into_iter().any(known) || letters.any(|letter| all.contains(letter))
}

/// A sed script can write files and run programs: only the printing of lines is known not to. The first word that is
/// no option is the script.
fn edits_with_sed(programs: &[String], rest: &[String]) -> bool {
    let prints = |word: &String| word.chars().all(|c| c.is_ascii_digit() || ",$p;".contains(c));
    let quiet = |word: &&String| ["-n", "-E", "-r", "--quiet", "--silent"].contains(&word.as_str());
    let (options, others): (Vec<&String>, Vec<&String>) = rest.iter().partition(|word| word.starts_with('-'));
    let sed = programs.iter().any(|program| program == "sed" || program == "gsed");
    sed && !(options.iter().all(quiet) && others.first().is_none_or(|script| prints(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("work");
        std::fs::create_dir_all(inside.join("tests")).unwrap();
        for file in ["a.py", ".env", "tests/a.py"] {
            std::fs::write(inside.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc", inside.join("away")).unwrap();
        let root = Root::new(&inside).unwrap();
        (dir, root)
    }

    fn asked(root: &Root, rule: &str, rest: &str) -> Option<String> {
        let command: Vec<String> =
            rule.split(' ').chain(rest.split(' ')).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        objection(root, &command, rule.split(' ').count())
    }

    #[test]
    fn what_stays_inside_and_only_looks_is_let_through() {
        let (_dir, root) = root();
        let inside = root.path().join("tests").display().to_string();
        for (rule, rest) in [
            ("pytest", "-q -x tests/a.py::test_b[1] -k add --co"),
            ("pytest", inside.as_str()),
            ("git diff", "--stat HEAD~1..HEAD -- tests/a.py -U3 -w"),
            ("git log", "--oneline -n 5 main@{1}"),
            ("cargo test", "--lib name -- --nocapture"),
            ("ruff check", "--select E,F a.py --output-format json"),
            ("ls", "-la tests"),
            ("grep", "-rn total tests"),
            ("cat", "a.py"),
            ("sed", "-n 1,20p a.py"),
            ("python -m pytest", "tests -q"),
            ("npm test", "--silent"),
            ("make", "test"),
            ("find", ". -name *.py -type f"),
            ("echo", "$HOME; ls"),
        ] {
            assert_eq!(asked(&root, rule, rest), None, "{rule} {rest}");
        }
    }

    #[test]
    fn what_reaches_out_runs_or_writes_is_asked_about() {
        let (_dir, root) = root();
        for (rule, rest) in [
            ("git diff", "--no-index /etc/passwd a.py"),
            ("git diff", "--no-ind a.py a.py"),
            ("git diff", "--output=/x/y"),
            ("git diff", "--output=x"),
            ("git diff", "-Oorder"),
            ("git diff", "--ext-diff"),
            ("git grep", "-Osh x"),
            ("git log", "--output x"),
            ("git", "-C / log"),
            ("git", "config core.pager sh"),
            ("cat", "/etc/passwd"),
            ("cat", "../x"),
            ("cat", "tests/../../x"),
            ("cat", "away/passwd"),
            ("cat", ".env"),
            ("cat", ".git/config"),
            ("cat", "~/.ssh/id_rsa"),
            ("cat", ".sextant/memory.db"),
            ("grep", "-f/etc/passwd a.py"),
            ("grep", "--file=/etc/passwd a.py"),
            ("pytest", "-c x.ini"),
            ("pytest", "-p evil"),
            ("pytest", "-qpevil"),
            ("pytest", "--rootdir=/"),
            ("pytest", "-o addopts=x"),
            ("pytest", "@args"),
            ("python -m pytest", "-c x.ini"),
            ("uv run pytest", "-p evil"),
            ("python3.12", "-c print()"),
            ("python", "-Bc print()"),
            ("ruff check", "--fix"),
            ("ruff check", "--config a=b"),
            ("ruff check", "--add-noqa"),
            ("cargo test", "--manifest-path x/Cargo.toml"),
            ("cargo test", "--config target.runner=x"),
            ("find", ". -exec rm {} ;"),
            ("find", ". -delete"),
            ("sed", "-i s/a/b/ a.py"),
            ("sed", "w/x/y a.py"),
            ("sed", "1e a.py"),
            ("tar", "xf a.tar --to-command=sh"),
            ("tar", "xf a.tar -C/"),
            ("curl", "http://localhost"),
            ("node", "-e 1"),
            ("make", "-f other"),
            ("make", "SHELL=x"),
            ("xargs", "rm"),
            ("env", "x"),
            ("sh", "a.sh"),
            ("/bin/bash", "a.sh"),
            ("npm", "exec x"),
            ("go test", "-exec sh"),
            ("eslint", "--fix a.js"),
            ("pylint", "--init-hook=x"),
            ("unknown", "--output=a"),
        ] {
            assert!(asked(&root, rule, rest).is_some(), "{rule} {rest}");
        }
    }

    #[test]
    fn what_the_user_wrote_down_is_the_user_s_word() {
        let (_dir, root) = root();
        for rule in ["git diff --no-index /etc/passwd a.py", "sh -c", "pytest -c /etc/x.ini"] {
            assert_eq!(asked(&root, rule, ""), None, "{rule}");
        }
    }
}
