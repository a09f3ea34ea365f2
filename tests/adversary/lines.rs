//! Command lines made by a grammar: what a rule of the user's lets through reads, and nothing else.

use sextant::engine::command_objection;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use sextant::workspace::root::Root;

use crate::hostile::{Fake, step};
use crate::measure::excesses;
use crate::model::{REQUEST, TOKENS};
use crate::sandbox::{SECRET, Sandbox, put, turn};
use crate::seed::{Chance, cases, seed};

/// A program that the user has allowed, lines of it that only look, and words of it that do more.
struct Grammar {
    rule: &'static str,
    harmless: &'static [&'static str],
    hostile: &'static [&'static str],
}

const GRAMMARS: &[Grammar] = &[
    Grammar {
        rule: "git",
        harmless: &[
            "status -s",
            "log --oneline -n 3",
            "log -p -- a.py",
            "diff --stat HEAD",
            "show HEAD:a.py",
            "blame -L 1,2 a.py",
            "grep -n return -- pkg",
            "ls-files -o",
            "rev-parse HEAD",
            "cat-file -t HEAD",
            "branch -a",
        ],
        hostile: &[
            "--output=new",
            "--output new",
            "--ext-diff",
            "--textconv",
            "--no-index",
            "--contents .env",
            "-Osh",
            "-f .env",
            "--untracked",
            "--no-exclude-standard",
            "--show-signature",
            "--format=%G?",
            "--format=%(trailers)",
            "-h",
            "--line-prefix=x",
            "--src-prefix=x",
            "--relative",
            "-z",
            "--stdin",
            "--remerge-diff",
            "--submodule=diff",
            "--recurse-submodules",
            "--pathspec-from-file=names.txt",
            "--batch",
            "--filters",
            "--git-dir=x",
            "--exec=trap",
            "--no-filename",
            "--heading",
            "--open-files-in-pager=trap",
            "--ignore-submodules=none",
            "--paginate",
            "--help",
            "-Gx",
            "-Sx",
            "--pickaxe-all",
            "--pickaxe-regex",
            "--check",
        ],
    },
    Grammar {
        rule: "npm",
        harmless: &["ls", "ls --depth=0", "why x", "root"],
        hostile: &[
            "--prefix x",
            "--userconfig=x",
            "--script-shell=trap",
            "--node-options=x",
            "-C x",
            "--globalconfig x",
        ],
    },
    Grammar {
        rule: "grep",
        harmless: &["-n return a.py", "-c def a.py pkg/b.py"],
        hostile: &["-f .env", "-nf.env", "-h", "-nh", "--no-f", "--fil=x", "--include=.e*", "--exclude-from=x"],
    },
    Grammar {
        rule: "rg",
        harmless: &["-n return a.py", "-c def a.py pkg/b.py"],
        hostile: &[
            "-I",
            "-nI",
            "--no-filename",
            "--heading",
            "-g .e*",
            "-g.e*",
            "--glob=.e*",
            "--iglob .e*",
            "--type-add e:.e*",
            "-te",
            "-u",
            "-nuu",
            "--hidden",
            "-.",
            "--no-ignore",
            "--no-ignore-vcs",
            "--pre=trap",
            "--json",
            "-f names.txt",
        ],
    },
    Grammar { rule: "ag", harmless: &["-i return a.py"], hostile: &["-G .e", "-u", "--hidden", "-a", "--nofilename"] },
    Grammar { rule: "fd", harmless: &["-e py"], hostile: &["-x trap", "-X trap", "--exec=trap", "--ex trap", "-H"] },
    Grammar {
        rule: "make",
        harmless: &["all", "-k all", "-j4 all"],
        hostile: &["--ev=x", "--ev x", "--eval=x", "-f x", "-C x", "-E x", "SHELL=trap", "--fi=x", "-kf x", "-I x"],
    },
    Grammar { rule: "split", harmless: &["--version"], hostile: &["--fi=trap", "--filter=trap", "a.py", "-l 1"] },
    Grammar { rule: "uniq", harmless: &["a.py", "-c a.py", "-f 1 a.py"], hostile: &["new", "--x", "-o"] },
    Grammar {
        rule: "mypy",
        harmless: &["a.py", "--strict a.py", "--python-version 3.12 a.py"],
        hostile: &[
            "--junit-xml new",
            "--junit-x=new",
            "--ju=new",
            "--any-exprs-report=new",
            "--linecount-report new",
            "--html-report new",
            "--cache-dir=new",
            "--install-types",
            "--config-file=x",
            "--python-executable=trap",
            "--shadow-file a b",
        ],
    },
    Grammar {
        rule: "flake8",
        harmless: &["a.py", "--select=E a.py"],
        hostile: &["--ou=new", "--output-file=new", "--tee", "--config=x", "--append-config=x", "--format=x"],
    },
    Grammar { rule: "pnpm", harmless: &["ls", "why x"], hostile: &["--prefix x", "-C x", "--dir=x"] },
    Grammar { rule: "yarn", harmless: &["why x"], hostile: &["--cwd x", "--use-yarnrc x"] },
    Grammar { rule: "cat", harmless: &["a.py", "-n a.py"], hostile: &[] },
    Grammar {
        rule: "find",
        harmless: &[". -name x", "pkg -type f"],
        hostile: &[
            "-exec trap ;",
            "-execdir trap ;",
            "-ok trap ;",
            "-delete",
            "-fprint new",
            "-fls new",
            "-L",
            "-follow",
        ],
    },
    Grammar {
        rule: "sort",
        harmless: &["a.py"],
        hostile: &[
            "-o new",
            "-onew",
            "--output=new",
            "--compress-program=trap",
            "--o=new",
            "--ou new",
            "--co=trap",
            "-S 1k",
            "-T x",
        ],
    },
    Grammar { rule: "sed", harmless: &["-n 1,2p a.py"], hostile: &["-i", "-e w/new", "-f names.txt", "--in-place"] },
    Grammar {
        rule: "tar",
        harmless: &["-tf a.tar"],
        hostile: &[
            "-C /",
            "--to-command=trap",
            "-I trap",
            "--use-compress-program=trap",
            "--checkpoint-action=exec=trap",
        ],
    },
    Grammar {
        rule: "cargo",
        harmless: &["check", "test --lib"],
        hostile: &["--config x", "--manifest-path x", "-C x"],
    },
    Grammar { rule: "ruff", harmless: &["check a.py"], hostile: &["--fix", "--config x", "--add-noqa", "-o new"] },
    Grammar { rule: "pytest", harmless: &["-q", "-x a.py"], hostile: &["-c x", "-p evil", "--rootdir=/", "-o x=y"] },
];

/// Subcommands that write, run or reach out, for programs that have some.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "rebase -x trap HEAD~1",
            "checkout -- a.py",
            "restore a.py",
            "reset --hard",
            "clean -fdx",
            "stash",
            "apply x",
            "am x",
            "commit -m x",
            "add -A",
            "rm a.py",
            "mv a.py b.py",
            "config core.pager trap",
            "bisect run trap",
            "filter-branch --tree-filter trap",
            "submodule foreach trap",
            "worktree add x",
            "fetch",
            "push",
            "pull",
            "clone x y",
            "gc",
            "prune",
            "repack",
            "notes add -m x",
            "tag v1",
            "branch new",
            "branch -D main",
            "update-ref HEAD x",
            "symbolic-ref HEAD x",
            "hash-object -w a.py",
            "fast-import",
            "archive HEAD",
            "bundle x",
            "difftool -y",
            "mergetool",
            "send-email x",
            "daemon",
            "instaweb",
            "help log",
            "var GIT_EDITOR",
            "replace a b",
            "reflog expire --all",
            "reflog delete x",
            "merge x",
            "cherry-pick x",
            "revert HEAD",
            "sparse-checkout set x",
            "maintenance run",
            "credential fill",
            "remote add x y",
            "checkout-index -a",
            "read-tree HEAD",
            "mktree",
            "interpret-trailers a.py",
            "trap",
            "-c alias.x=!trap x",
            "-calias.x=!trap x",
            "--config-env=alias.x=HOME x",
            "-C / log",
            "grep -h x",
            "--exec-path=x log",
            "-p log",
            "--git-dir=x log",
            "--work-tree=x status",
            "--namespace=x log",
        ],
    ),
    (
        "npm",
        &[
            "c set script-shell trap",
            "config set script-shell trap",
            "set script-shell=trap",
            "pkg set x=y",
            "exec trap",
            "x trap",
            "install x",
            "i",
            "ci",
            "test",
            "run x",
            "start",
            "publish",
            "link",
            "version 2.0.0",
            "uninstall x",
            "init -y",
            "rebuild",
            "cache clean",
            "login",
            "token create",
            "audit fix",
            "edit x",
            "explore x -- trap",
            "dedupe",
            "prune",
            "shrinkwrap",
            "owner add x",
            "--prefix x ls",
        ],
    ),
    ("pnpm", &["explain x", "root", "la", "ll", "exec trap", "dlx trap", "start", "test", "run x", "x"]),
    ("yarn", &["ls", "list", "ll", "la", "explain x", "root", "exec trap", "dlx trap", "start", "test", "run x", "x"]),
    ("cargo", &["install x", "publish", "run", "fix", "clean", "new x", "add x", "update", "+x build", "login"]),
    ("grep", &["-rn value", "-R value .", "--recursive value", "-d recurse value .", "-rn value config"]),
];

/// Operands that lead out or to secrets, for every program.
const REACHES: &[&str] = &[
    "/etc/passwd",
    "../outside/canary.txt",
    "pkg/../../outside/canary.txt",
    "~/.ssh/id_rsa",
    ".env",
    ".ENV",
    ".env~",
    ".env.bak",
    "config/secrets.yaml",
    ".git/config",
    "@names.txt",
    "--x=/etc/passwd",
    "-x/etc/passwd",
    "./.env",
    "linked/canary.txt",
    "server.pem",
    ".netrc~",
    "#.env#",
    "id_rsa.bak",
];

fn one<'a>(chance: &mut Chance, from: &[&'a str]) -> &'a str {
    from[chance.below(from.len())]
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// One line, and whether something in it must be asked about.
fn line(chance: &mut Chance) -> (Vec<String>, bool) {
    let grammar = chance.pick(GRAMMARS);
    let mut rest = words(one(chance, grammar.harmless));
    let mut hostile = false;
    let other = SUBCOMMANDS.iter().find(|(program, _)| *program == grammar.rule).map_or(&[][..], |(_, lines)| *lines);
    match chance.below(4) {
        0 if !other.is_empty() => {
            rest = words(one(chance, other));
            hostile = true;
        }
        1 if !grammar.hostile.is_empty() => {
            // Behind the subcommand, where there is one, in front of what ends the options.
            let first = usize::from(rest.first().is_some_and(|word| !word.starts_with('-')));
            let end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
            let at = first + chance.below((end - first.min(end)).max(1));
            let at = at.min(rest.len());
            rest.splice(at..at, words(one(chance, grammar.hostile)));
            hostile = true;
        }
        2 => {
            rest.push(one(chance, REACHES).to_owned());
            hostile = true;
        }
        _ => {}
    }
    let mut all = words(grammar.rule);
    all.extend(rest);
    (all, hostile)
}

fn lay(sandbox: &Sandbox) {
    sandbox.reset();
    let project = &sandbox.project;
    fs::remove_dir_all(project.join(".git")).unwrap();
    for file in ["config/secrets.yaml", ".env~", ".env.bak", "server.pem", ".netrc~", "#.env#", "id_rsa.bak"] {
        put(&project.join(file), &format!("value: {SECRET}\n"));
    }
    put(&project.join("copy/plain.txt"), "plain\n");
    put(&project.join("names.txt"), ".env\n");
    std::os::unix::fs::symlink(&sandbox.outside, project.join("linked")).unwrap();
    git(project, &["init", "-q", "-b", "main"]);
    git(project, &["add", "-A", "-f"]);
    git(project, &["commit", "-qm", "first"]);
    // Whatever of the configuration of the repository is read, runs.
    let trap = sandbox.traps.join("trap");
    let trap = trap.to_str().expect("a path");
    for key in [
        "core.pager",
        "core.editor",
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "gpg.program",
        "pager.log",
        "pager.status",
        "sequence.editor",
        "credential.helper",
    ] {
        git(project, &["config", key, trap]);
    }
    put(&project.join(".gitattributes"), "* diff=x filter=x\n");
    put(&project.join("a.py"), "X = 1\n");
}

fn git(folder: &Path, arguments: &[&str]) {
    let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.fsmonitor=false"];
    let done = Command::new("git").current_dir(folder).args(fixed).args(arguments).output().expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

#[test]
fn no_line_of_the_grammar_is_let_through_that_does_more_than_look() {
    let sandbox = Sandbox::new();
    lay(&sandbox);
    let root = Root::new(&sandbox.project).expect("a folder");
    let (mut wrong, mut asked, mut through) = (Vec::new(), 0, 0);
    for number in 0..cases(10_000) {
        let (line, hostile) = line(&mut Chance::of_case(number));
        match (command_objection(&root, &line, 1), hostile) {
            (None, true) => wrong.push(format!("let through: {}", line.join(" "))),
            (Some(why), false) => wrong.push(format!("asked about for nothing: {}: {why}", line.join(" "))),
            (None, false) => through += 1,
            (Some(_), true) => asked += 1,
        }
    }
    wrong.sort();
    wrong.dedup();
    println!("lines: seed {}, {asked} asked about, {through} let through", seed());
    assert!(asked > 1000 && through > 1000 || cases(10_000) < 10_000, "{asked} {through}");
    assert!(wrong.is_empty(), "seed {}:\n{}", seed(), wrong.join("\n"));
}

/// Lines that really run, by a model that is allowed all of these programs.
const RUN: usize = 120;

#[test]
fn what_is_let_through_writes_nothing_starts_nothing_and_shows_no_secret() {
    let _turn = turn();
    let sandbox = Sandbox::new();
    let config = "servers = []\ncommands_allowed = [\"git\", \"npm\", \"grep\", \"cat\", \"find\", \"sort\", \"sed\", \"tar\"]\n\
                  [limits]\nsteps = 60\nerrors = 100\n";
    let known = |line: &Vec<String>| config.contains(&format!("\"{}\"", line[0])) && line[0] != "npm";
    let mut number = 0;
    let mut problems = Vec::new();
    let mut ran = 0;
    while ran < RUN {
        let mut lines = Vec::new();
        while lines.len() < 30 {
            let (line, _) = line(&mut Chance::of_case(1_000_000 + number));
            number += 1;
            if known(&line) {
                lines.push(line);
            }
        }
        ran += lines.len();
        lay(&sandbox);
        sandbox.configure(config);
        let before = sandbox.snapshot(true);
        let model = Fake::script(lines.iter().map(|line| step("run_command", json!({"command": line}), true)));
        let run = sandbox.run(&model.arguments(&["ask", REQUEST, "--json"]));
        let after = sandbox.snapshot(true);
        let said = model.asked();
        let mut found = sandbox.ran();
        found.extend(before.changes(&after));
        let shown = said.join("\n");
        found.extend(
            [SECRET].iter().chain(TOKENS).filter(|one| shown.contains(**one)).map(|one| format!("shown: {one}")),
        );
        found.extend(excesses(&run));
        if !shown.contains("exit status 0") {
            found.push("nothing ran at all".to_owned());
        }
        if said.len() < lines.len() {
            found.push(format!("only {} of {} were tried: {}", said.len(), lines.len(), run.text()));
        }
        if !found.is_empty() {
            let lines: Vec<String> = lines.iter().map(|line| line.join(" ")).collect();
            problems.push(format!("{}\n  {}", lines.join("\n"), found.join("\n  ")));
        }
    }
    assert!(problems.is_empty(), "seed {}:\n{}", seed(), problems.join("\n\n"));
}
