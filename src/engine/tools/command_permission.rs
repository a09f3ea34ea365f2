//! Finds the arguments of an allowed command that exceed its permission. They reach out of the workspace, name a
//! secret, run something else, or write.
//!
//! The options of the usual programs are judged by tables of those that only read (`reading_commands`,
//! `known_options`). For any other program, these rows list the options that do more. The effects of a program's own
//! configuration are not seen here.

use crate::tools::{known_options, reading_commands, sweeps};
use sextant_base::one_line::clean;
use sextant_store::workspace::root::{PathError, Root};
use sextant_store::workspace::workspace_files::is_ignored;

/// Arguments of one program, or of every program (an empty name), that need a question.
struct ArgumentRow {
    programs: &'static [&'static str],
    /// Words and options as they are written; every beginning of a long option counts as the whole of it.
    words: &'static str,
    /// Letters of short options.
    letters: &'static str,
}

const fn row(programs: &'static [&'static str], words: &'static str, letters: &'static str) -> ArgumentRow {
    ArgumentRow { programs, words, letters }
}

/// From the programs' own manuals: options that run another program, load code, or write to a chosen file.
const ROWS: &[ArgumentRow] = &[
    row(
        &[""],
        "--output --output-file --out-dir --outdir --outfile --config --config-file --exec --execute --command --eval \
         --plugin --plugins --load-plugins --init-hook --require --script-shell --rcfile --manifest-path --directory \
         --chdir --cwd --prefix --rootdir --working-directory --fix --write --in-place --to-command --files0-from \
         --files-from",
        "",
    ),
    row(&["python", "pypy"], "-", "cmi"),
    row(
        &["node", "deno", "bun", "ruby", "perl", "lua", "luajit", "php"],
        "--print --import --loader --experimental-loader --input-type --inspect - ",
        "eEprcMl",
    ),
    row(&["ninja", "just", "task", "rake"], "--file --makefile --include-dir --justfile --shell --set", "fCIEdc"),
];

/// Subcommands that a rule with the program's name alone covers: those that look, check, build or test. Any other one
/// has a rule of its own, or needs a question.
const SUBCOMMANDS: &[(&str, &str)] = &[
    ("cargo", "check build test bench clippy doc tree metadata nextest c b t d"),
    ("go", "build test vet list version doc"),
    ("pip", "list show check freeze"),
    ("uv", "run tree"),
    ("poetry", "run show check"),
    ("bundle", "exec list show check"),
    ("gem", "list contents"),
    ("brew", "list info"),
    ("apt", "list show"),
    ("dotnet", "build test list"),
    ("composer", "show validate why"),
    ("deno", "check lint test info"),
    ("bun", "test"),
    ("ruff", "check rule version linter"),
    ("biome", "check lint ci"),
];

/// Programs whose arguments are a program themselves, or a place elsewhere: no argument of theirs is allowed unseen.
const WHOLE: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "env",
    "xargs",
    "sudo",
    "doas",
    "su",
    "nohup",
    "nice",
    "time",
    "timeout",
    "watch",
    "parallel",
    "setsid",
    "stdbuf",
    "strace",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "curl",
    "wget",
    "nc",
    "ncat",
    "socat",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "awk",
    "gawk",
    "mawk",
    "nvim",
    "vim",
    "vi",
    "ex",
    "ed",
    "emacs",
    "gdb",
    "dd",
    "busybox",
    "toybox",
    "chroot",
    "script",
    "flock",
    "taskset",
    "ionice",
    "unshare",
    "systemd-run",
    "tmux",
    "screen",
    "at",
    "crontab",
    "telnet",
    "ftp",
    "entr",
    "valgrind",
    "ltrace",
    "perf",
    "openssl",
    "sqlite",
    "psql",
    "mysql",
    // m4: the digits of a name are cut.
    "m",
    "dc",
];

/// Why a command is not allowed by the user's rule that it begins with; `None` where nothing speaks against it. `given`
/// is the number of words in the rule: those are the user's own.
pub fn objection(root: &Root, command: &[String], given: usize) -> Option<String> {
    let programs = programs(command);
    let rest = command.get(given..).unwrap_or_default();
    if edits_with_sed(&programs, rest) {
        return Some("a script of sed may run something else, or write".to_owned());
    }
    let known = programs.first().filter(|program| reading_commands::knows(program));
    if let Some(why) = known.and_then(|program| reading_commands::read(program, command, given).err()) {
        return Some(why);
    }
    if let Some(started) = programs.iter().skip(1).find(|program| reading_commands::knows(program) && !rest.is_empty())
    {
        return Some(format!("{} would be run by {}", clean(started), programs[0]));
    }
    if known.is_none()
        && let Some(why) = covers(&programs, command, given)
    {
        return Some(why);
    }
    let judged = programs.iter().find(|program| known_options::knows(program));
    if let Some(word) = judged.and_then(|program| known_options::unknown(program, rest)) {
        return Some(format!("{} may run something else, or write", clean(&word)));
    }
    // The tables judge all options of their programs; those of a program that starts one of these are open.
    let listed = known.is_some() || judged == programs.first();
    let named = rest.iter().find_map(|word| {
        let shown = clean(word);
        if programs.iter().any(|program| WHOLE.contains(&program.as_str())) {
            return Some(format!("{shown} would be run, or reached, by {}", programs[0]));
        }
        reaches(root, word).map(|why| format!("{shown} {why}")).or_else(|| {
            (!listed && does_more(&programs, word)).then(|| format!("{shown} may run something else, or write"))
        })
    });
    let arguments = command.get(1..).filter(|_| !rest.is_empty()).unwrap_or_default();
    named.or_else(|| sweeps::objection(root, &programs, arguments))
}

/// Why a rule with the program's name alone does not cover this command line.
fn covers(programs: &[String], command: &[String], given: usize) -> Option<String> {
    let (_, known) = SUBCOMMANDS.iter().find(|(program, _)| programs.first().is_some_and(|own| own == program))?;
    // `cargo +nightly` names a toolchain, which may be a folder.
    let word = command.get(1).filter(|word| given < 2 && !known.split(' ').any(|one| one == word.as_str()))?;
    let harmless = ["--version", "-V", "--help", "--list"].contains(&word.as_str()) && command.len() == 2;
    (!harmless).then(|| format!("{} may run something else, or write", clean(word)))
}

/// The reading of a command that only looks into the repository and needs no permission. `git_objects` judges the
/// objects that its words name too, before it runs.
pub(crate) fn only_looks<'c>(root: &Root, command: &'c [String]) -> Option<reading_commands::Reading<'c>> {
    let reading =
        command.first().filter(|name| *name == "git").and_then(|_| reading_commands::read("git", command, 1).ok())?;
    (reading.free && objection(root, command, 1).is_none()).then_some(reading)
}

/// The program by its plain name without its version (`sqlite3` is `sqlite`), and the module that `python -m` runs.
fn programs(command: &[String]) -> Vec<String> {
    let name = command.first().map(String::as_str).unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches(".exe");
    let mut programs = vec![plain.to_owned()];
    let module = command.iter().position(|word| word == "-m").and_then(|at| command.get(at + 1));
    // A runner of others runs the program that it is given next.
    let run = command.iter().position(|word| word == "run" || word == "exec").and_then(|at| command.get(at + 1));
    programs.extend(module.into_iter().chain(run).cloned());
    programs
}

/// How an argument, or a part of it, leads to a place that is not open to a tool.
fn reaches(root: &Root, word: &str) -> Option<String> {
    if word.starts_with('@') {
        return Some("reads its arguments from a file".to_owned());
    }
    let parts = word.split(['=', ':', ',', '@']).chain(glued(root, word)).chain([word]);
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
            Ok(path) if root.join(&path).is_file() && is_ignored(root, &path) => {
                Some("is left out of version control".to_owned())
            }
            _ => None,
        }
    })
}

/// The parts that may be a path behind the letters of short options: `-f/x`, and `-nf/x` where `-n` takes none.
fn glued<'w>(root: &Root, word: &'w str) -> Vec<&'w str> {
    let Some(short) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { return Vec::new() };
    let letters = short.chars().take_while(char::is_ascii_alphabetic).count();
    let first = short.get(1..).unwrap_or_default();
    // `-Iinclude/x` begins with an existing folder; `/x` behind it is not a path.
    let top = first.split('/').next().unwrap_or_default();
    let last = if !top.is_empty() && root.join(top).exists() { 1 } else { letters };
    (1..=last).filter_map(|at| short.get(at..)).collect()
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
    // Many programs take any beginning of a long option for the whole of it.
    let known = |known: &str| known == name || name.len() > 2 && name.starts_with("--") && known.starts_with(name);
    let rows = ROWS.iter().filter(|row| row.programs.iter().any(|program| program.is_empty() || is(program)));
    let (words, all): (Vec<&str>, String) = rows.fold((Vec::new(), String::new()), |(mut words, letters), row| {
        words.extend(row.words.split_whitespace());
        (words, letters + row.letters)
    });
    words.into_iter().any(known) || letters.any(|letter| all.contains(letter))
}

/// A sed script can write files and run programs: only the printing of lines is known to be harmless. The first word
/// that is not an option is the script.
fn edits_with_sed(programs: &[String], rest: &[String]) -> bool {
    let prints = |word: &String| word.chars().all(|c| c.is_ascii_digit() || ",$p;".contains(c));
    let quiet = |word: &&String| ["-n", "-E", "-r", "--quiet", "--silent"].contains(&word.as_str());
    let (options, others): (Vec<&String>, Vec<&String>) = rest.iter().partition(|word| word.starts_with('-'));
    let sed = programs.iter().any(|program| program == "sed" || program == "gsed");
    sed && !(options.iter().all(quiet) && others.first().is_none_or(|script| prints(script)))
}

#[cfg(test)]
mod tests;
