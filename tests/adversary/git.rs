//! `sextant diff` in repositories whose own configuration, attributes, hooks and files name programs: none of them runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::measure::{Most, Run, excesses, run};
use crate::seed::{Chance, cases, seed};
use crate::support::project::Project;
use crate::support::servers::tool;

/// A repository of which every part that can name a program names one that leaves a mark.
struct Trap {
    project: Project,
    marks: PathBuf,
}

/// Keys of git's configuration that name a program.
const KEYS: &[&str] = &[
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "diff.external",
    "diff.trap.command",
    "diff.trap.textconv",
    "filter.trap.clean",
    "filter.trap.smudge",
    "filter.second.process",
    "merge.trap.driver",
    "credential.helper",
    "gpg.program",
    "alias.rev-parse",
    "alias.ls-files",
    "pager.diff-index",
    "interactive.diffFilter",
    "trace2.eventTarget",
    "remote.origin.uploadpack",
];

const A: &str = "import os\n\n\ndef f() -> int:\n    return 1\n";

impl Trap {
    fn new() -> Self {
        let project = Project::named("trap", &[("a.py", A), ("b.py", "import sys\n"), (".gitattributes", "")]);
        let marks = project.beside("marks");
        let config = project.beside("config").join("sextant");
        fs::create_dir_all(&config).expect("a folder");
        let ruff = tool("ruff");
        let toml = format!("[[servers]]\nname = \"ruff\"\ncommand = [{:?}, \"server\"]\n", ruff.display().to_string());
        fs::write(config.join("config.toml"), toml).expect("a file");
        let trap = Self { project, marks };
        trap.git(&["init", "--quiet", "--initial-branch=main"]);
        trap.commit("one");
        trap.project.write("a.py", &A.replace("return 1", "return nam"));
        trap
    }

    fn root(&self) -> &Path {
        self.project.root()
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) {
        let output = Command::new(tool("git"))
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn git(&self, arguments: &[&str]) {
        self.git_in(self.root(), arguments);
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// A shell command that leaves a mark of this name, and passes its input on.
    fn command(&self, name: &str) -> String {
        self.script(&self.project.beside("programs").join(name), name).display().to_string()
    }

    fn script(&self, file: &Path, name: &str) -> PathBuf {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        let mark = self.marks.join(name);
        fs::write(file, format!("#!/bin/sh\n: > '{}'\nexec cat\n", mark.display())).expect("a script");
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a script");
        file.to_owned()
    }

    fn config(&self, key: &str, value: &str) {
        self.git(&["config", key, value]);
    }

    fn run(&self, folder: &Path, path: Option<&str>, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
        command.arg("diff").args(arguments).current_dir(folder);
        command.env("XDG_CONFIG_HOME", self.project.beside("config")).env("HOME", self.project.beside("home"));
        command.env_remove("GIT_CONFIG_GLOBAL");
        if let Some(path) = path {
            let old = std::env::var("PATH").expect("PATH");
            command.env("PATH", format!("{path}:{old}"));
        }
        run(command)
    }

    /// The diff is what it is without the trap, and nothing of the repository ran.
    fn holds(&self, what: &str) {
        for arguments in [&[][..], &["HEAD", "HEAD"], &["main...HEAD"]] {
            let output = self.run(self.root(), None, arguments);
            self.nothing_ran(what);
            assert_eq!(excesses(&output), [""; 0], "{what} {arguments:?}");
            let said = output.text();
            assert_eq!(output.status, Some(i32::from(arguments.is_empty())), "{what} {arguments:?}: {said}");
        }
    }

    fn nothing_ran(&self, what: &str) {
        let ran: Vec<_> = fs::read_dir(&self.marks).expect("a folder").flatten().map(|mark| mark.file_name()).collect();
        assert!(ran.is_empty(), "{what}: these ran: {ran:?}");
    }

    /// Every key that makes git run something, in the configuration file that is written to.
    fn hostile_config(&self, set: impl Fn(&str, &str)) {
        KEYS.iter().for_each(|key| set(key, &self.value(key)));
        set("filter.trap.required", "true");
        set("core.hooksPath", &self.hooks("hooks").display().to_string());
    }

    /// What makes git run the program of this key.
    fn value(&self, key: &str) -> String {
        let alias = if key.starts_with("alias.") || key.starts_with("credential.") { "!" } else { "" };
        format!("{alias}{}", self.command(key))
    }

    fn hooks(&self, name: &str) -> PathBuf {
        let folder = self.project.beside(name);
        for hook in ["post-index-change", "post-checkout", "fsmonitor-watchman", "reference-transaction"] {
            self.script(&folder.join(hook), &format!("{name}-{hook}"));
        }
        folder
    }

    fn attributes(&self, file: &str) {
        self.project.write(file, "a.py diff=trap filter=trap merge=trap\nb.py filter=second diff=trap\n");
    }
}

#[test]
fn configuration_attributes_and_hooks_of_the_repository_run_nothing() {
    let trap = Trap::new();
    trap.holds("nothing is planted");
    trap.hostile_config(|key, value| trap.config(key, value));
    for hook in ["post-index-change", "post-checkout"] {
        trap.script(&trap.root().join(".git/hooks").join(hook), hook);
    }
    trap.project.write(".git/info/attributes", "* diff=trap filter=trap\n");
    trap.attributes(".gitattributes");
    // Another time than the index knows makes git compare the content.
    trap.project.write("b.py", "import sys\n");
    let output = trap.run(trap.root(), None, &["--format", "json"]);
    trap.nothing_ran("configuration");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("nam"), "the question is answered: {said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("filter"), "what git would have filtered is named: {said}");
}

#[test]
fn included_and_worktree_configuration_run_nothing() {
    let trap = Trap::new();
    let included = trap.project.beside("included").join("config");
    trap.hostile_config(|key, value| trap.git(&["config", "--file", included.to_str().expect("UTF-8"), key, value]));
    trap.config("include.path", included.to_str().expect("UTF-8"));
    trap.config("core.repositoryFormatVersion", "1");
    trap.config("extensions.worktreeConfig", "true");
    trap.hostile_config(|key, value| trap.git(&["config", "--worktree", key, value]));
    trap.holds("include.path and config.worktree");
}

#[test]
fn a_missing_object_is_fetched_from_nowhere() {
    for (number, url) in ["ext::PROGRAM %S", "/nonexistent", "ssh://host/x", "git://host/x"].iter().enumerate() {
        let trap = Trap::new();
        trap.config("core.repositoryFormatVersion", "1");
        trap.config("extensions.partialClone", "origin");
        trap.config("remote.origin.promisor", "true");
        trap.config("remote.origin.url", &url.replace("PROGRAM", &trap.command("ext")));
        trap.config("protocol.allow", "always");
        trap.config("protocol.ext.allow", "always");
        trap.hostile_config(|key, value| trap.config(key, value));
        // The blob of a.py at HEAD goes away; the tree still names it.
        let output = Command::new(tool("git")).args(["rev-parse", "HEAD:a.py"]).current_dir(trap.root()).output();
        let id = String::from_utf8(output.expect("git").stdout).expect("UTF-8");
        let (folder, file) = id.trim().split_at(2);
        let object = trap.root().join(".git/objects").join(folder).join(file);
        fs::remove_file(object).expect("a loose object");
        let output = trap.run(trap.root(), None, &[]);
        trap.nothing_ran(&format!("{number}: {url}"));
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status, Some(2), "{complaint}");
    }
}

#[test]
fn the_configuration_of_a_submodule_and_of_an_embedded_repository_runs_nothing() {
    let trap = Trap::new();
    let other = trap.project.beside("other");
    fs::write(other.join("m.py"), "import os\n").expect("a file");
    trap.git_in(&other, &["init", "--quiet", "--initial-branch=main"]);
    trap.git_in(&other, &["add", "--all"]);
    trap.git_in(&other, &["commit", "--quiet", "--message", "m"]);
    trap.git(&["submodule", "--quiet", "add", other.to_str().expect("UTF-8"), "module"]);
    trap.commit("with a submodule");
    trap.project.write("a.py", &A.replace("return 1", "return nam"));
    trap.project.write("a.py", &A.replace("return 1", "return nam2"));
    let module = trap.root().join("module");
    trap.hostile_config(|key, value| trap.git_in(&module, &["config", key, value]));
    fs::write(module.join(".gitattributes"), "* diff=trap filter=trap\n").expect("a file");
    fs::write(module.join("m.py"), "import os\nimport sys\n").expect("a file");
    for arguments in [&[][..], &["HEAD~1", "HEAD"]] {
        trap.run(trap.root(), None, arguments);
        trap.nothing_ran("submodule, from outside");
    }
    trap.run(&module, None, &[]);
    trap.nothing_ran("submodule, from inside");

    // A folder of the repository that is itself a bare one, as an archive or a clone can bring it.
    let bare = trap.root().join("docs");
    trap.git(&["init", "--quiet", "--bare", bare.to_str().expect("UTF-8")]);
    trap.hostile_config(|key, value| trap.git_in(&bare, &["config", key, value]));
    trap.git_in(&bare, &["config", "core.bare", "false"]);
    trap.git_in(&bare, &["config", "core.worktree", trap.root().to_str().expect("UTF-8")]);
    trap.run(&bare, None, &[]);
    trap.nothing_ran("an embedded bare repository");

    // A `.git` file that leads to a repository elsewhere.
    let linked = trap.project.beside("linked");
    fs::write(linked.join("a.py"), A).expect("a file");
    fs::write(linked.join(".git"), format!("gitdir: {}\n", bare.display())).expect("a file");
    trap.run(&linked, None, &[]);
    trap.nothing_ran("a .git file");
}

#[test]
fn programs_come_from_absolute_entries_of_path_outside_of_the_repository() {
    let trap = Trap::new();
    let inner = trap.root().join("sub");
    for folder in [trap.root().to_owned(), trap.root().join("bin"), inner.clone(), inner.join("bin")] {
        for name in ["git", "ruff", "node", "python3", "sh", "env"] {
            trap.script(&folder.join(name), name);
        }
    }
    fs::write(inner.join("pyproject.toml"), "").expect("a file");
    let config = trap.project.beside("config").join("sextant/config.toml");
    let inside = trap.root().join("bin").display().to_string();
    for server in ["[]", "[[servers]]\nname = \"ruff\"\ncommand = [\"ruff\", \"server\"]\n"] {
        fs::write(&config, if server == "[]" { "" } else { server }).expect("a file");
        for path in [".", "bin", "", "./bin", "../bin", &inside] {
            for folder in [trap.root(), &inner] {
                trap.run(folder, Some(path), &[]);
                trap.nothing_ran(&format!("PATH begins with {path:?} in {}: {server}", folder.display()));
            }
        }
    }
}

#[test]
fn a_configuration_that_never_ends_is_given_up() {
    let trap = Trap::new();
    let fifo = trap.root().join(".git/endless");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    // Written by hand: git itself would wait for it.
    let config = trap.root().join(".git/config");
    let text = fs::read_to_string(&config).expect("a file");
    fs::write(&config, format!("{text}[include]\n\tpath = {}\n", fifo.display())).expect("a file");
    let begin = Instant::now();
    let output = trap.run(trap.root(), None, &[]);
    assert!(begin.elapsed() < Duration::from_secs(12), "{:?}", begin.elapsed());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status, Some(2), "{complaint}");
    assert!(complaint.contains("did not answer"), "{complaint}");
}

/// A few of everything that was planted above, at once and anywhere, as chance has it.
fn plant(trap: &Trap, chance: &mut Chance) -> Vec<String> {
    let mut planted = Vec::new();
    for _ in 0..1 + chance.below(8) {
        let key = *chance.pick(KEYS);
        let value = match chance.below(4) {
            0 => trap.value(key),
            1 => format!("!{}", trap.command(key)),
            2 => format!("sh -c '{}' --", trap.command(key)),
            _ => {
                trap.script(&trap.root().join("tools/inside"), key);
                "./tools/inside".to_owned()
            }
        };
        planted.push(format!("{key} = {value}"));
        trap.config(key, &value);
    }
    if chance.odds(2) {
        trap.attributes(if chance.odds(2) { ".gitattributes" } else { ".git/info/attributes" });
        planted.push("attributes".into());
    }
    if chance.odds(2) {
        for hook in ["post-index-change", "post-checkout", "fsmonitor-watchman", "query-watchman"] {
            trap.script(&trap.root().join(".git/hooks").join(hook), hook);
        }
        planted.push("hooks".into());
    }
    if chance.odds(3) {
        let keys = ["core.repositoryFormatVersion=1", "extensions.partialClone=origin", "remote.origin.promisor=true"];
        keys.iter().for_each(|pair| pair.split_once('=').into_iter().for_each(|(key, value)| trap.config(key, value)));
        trap.config("remote.origin.url", &format!("ext::{} %S", trap.command("ext")));
        trap.config("protocol.ext.allow", "always");
        planted.push("a promisor".into());
    }
    planted
}

#[test]
fn no_mixture_of_what_a_repository_can_plant_runs_anything() {
    let (mut problems, mut most, mut answered) = (Vec::new(), Most::default(), 0);
    let count = cases(16);
    for number in 0..count {
        let mut chance = Chance::of_case(number);
        let trap = Trap::new();
        let planted = plant(&trap, &mut chance);
        trap.script(&trap.root().join("bin/git"), "git of the repository");
        let arguments: &[&str] =
            chance.pick::<&[&str]>(&[&[], &["HEAD", "HEAD"], &["main...HEAD"], &["--format", "sarif"]]);
        let path = *chance.pick(&[None, Some("bin"), Some("."), Some("./bin:tools")]);
        let ran = trap.run(trap.root(), path, arguments);
        most.note(&ran);
        answered += usize::from(matches!(ran.status, Some(0 | 1)));
        let marks =
            fs::read_dir(&trap.marks).expect("a folder").flatten().map(|mark| format!("ran: {:?}", mark.file_name()));
        let found: Vec<_> = excesses(&ran).into_iter().chain(marks).collect();
        if !found.is_empty() {
            problems.push(format!("case {number}, {arguments:?}, PATH {path:?}, {planted:?}: {found:?}"));
        }
    }
    println!("git: seed {}, {count} cases, {answered} answered, {} with problems; {most}", seed(), problems.len());
    assert!(problems.is_empty(), "seed {}:\n{}", seed(), problems.join("\n"));
    // A case that is refused before git is asked would hold whatever git did.
    assert!(answered * 2 >= count, "seed {}: only {answered} of {count} cases were answered", seed());
}
