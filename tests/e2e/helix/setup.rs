//! `sextant setup helix` and `sextant doctor helix` over the files of a made-up user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::rpc::{stderr, stdout};
use crate::support::project::Project;

const LANGUAGES: &str = "# mine\n[[language]]\nname = \"python\" # the snake\nauto-format = true\nlanguage-servers = [\"ruff\"] # the one\n";
const CONFIG: &str = "theme = \"x\" # dark\n\n[keys.normal.space]\nw = \":w\" # mine\n";

/// A user with these programs, each a script that says its version.
struct HelixUser {
    project: Project,
}

impl HelixUser {
    fn new(programs: &[(&str, &str)]) -> Self {
        let user = Self { project: Project::new(&[("a.py", "x = 1\n")]) };
        let folder = user.project.beside("bin");
        for (name, version) in programs {
            let file = folder.join(name);
            fs::write(&file, format!("#!/bin/sh\necho '{version}'\n")).expect("a program");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it can be run");
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sextant"), folder.join("sextant")).expect("a link");
        user
    }

    fn file(&self, name: &str) -> PathBuf {
        self.project.beside("config").join("helix").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.project.beside("config/helix");
        fs::write(self.file(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).expect("a file")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sextant"))
            .args(arguments)
            .current_dir(self.project.root())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.project.beside("bin").display()))
            .env("HOME", self.project.beside("home"))
            .env("XDG_CONFIG_HOME", self.project.beside("config"))
            .env("XDG_STATE_HOME", self.project.state_home())
            .env("XDG_RUNTIME_DIR", self.project.beside("runtime"))
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the binary")
    }

    /// What the doctor says: whether it is sound, and each thing as `name state text`.
    fn looked(&self) -> (bool, String) {
        let output = self.run(&["doctor", "helix", "--json"]);
        let said: Value = serde_json::from_str(stdout(&output).trim()).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(output.status.success(), said["ok"] == true, "{said}");
        let word = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let line = |check: &Value| {
            let hint = word(check, "hint");
            assert!(word(check, "state") != "error" || !hint.is_empty(), "no way out: {check}");
            format!("{} {} {}\n", word(check, "name"), word(check, "state"), word(check, "text"))
        };
        (output.status.success(), said["checks"].as_array().expect("a list").iter().map(line).collect())
    }
}

#[test]
fn setup_shows_a_diff_keeps_what_is_there_and_can_be_undone() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12"), ("gopls", "gopls 1")]);
    user.write("languages.toml", LANGUAGES);
    user.write("config.toml", CONFIG);
    let printed = user.run(&["setup", "helix", "--print"]);
    assert!(printed.status.success(), "{}", stderr(&printed));
    for part in ["+command = \"sextant\"", "+[keys.normal.space.A]", "languages.toml", "config.toml"] {
        assert!(stdout(&printed).contains(part), "{part}: {}", stdout(&printed));
    }
    assert!(!stdout(&printed).lines().any(|line| line.starts_with('-') && !line.starts_with("---")), "nothing goes");
    assert_eq!((user.read("languages.toml").as_str(), user.read("config.toml").as_str()), (LANGUAGES, CONFIG));
    // Nobody is there to be asked.
    let unasked = user.run(&["setup", "helix"]);
    assert!(!unasked.status.success() && stderr(&unasked).contains("--yes does it"), "{}", stderr(&unasked));
    assert_eq!(user.read("languages.toml"), LANGUAGES);

    let done = user.run(&["setup", "helix", "--yes"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let (languages, config) = (user.read("languages.toml"), user.read("config.toml"));
    assert!(languages.starts_with("# mine\n[[language]]\nname = \"python\" # the snake\nauto-format = true\n"));
    assert!(languages.contains("# the one") && languages.contains("\"--\", \"ruff\", \"server\"]"), "{languages}");
    assert!(languages.contains("name = \"go\"") && config.starts_with("theme = \"x\" # dark\n"), "{languages}{config}");
    assert!(config.contains("w = \":w\" # mine"), "{config}");
    let again = user.run(&["setup", "helix", "--yes"]);
    assert!(stdout(&again).contains("set up already"), "{}", stdout(&again));
    assert_eq!((user.read("languages.toml"), user.read("config.toml")), (languages, config));

    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!((user.read("languages.toml").as_str(), user.read("config.toml").as_str()), (LANGUAGES, CONFIG));
    let left = fs::read_dir(user.file("x").parent().unwrap()).unwrap().count();
    assert_eq!(left, 2, "no backup is left");
    let twice = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(!twice.status.success() && stderr(&twice).contains("nothing was set up"), "{}", stderr(&twice));
}

#[test]
fn setup_refuses_a_file_that_it_cannot_read_with_its_line() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
    user.write("languages.toml", "a = 1\n[[language]\n");
    let output = user.run(&["setup", "helix", "--yes"]);
    assert!(!output.status.success() && stderr(&output).contains("line 2"), "{}", stderr(&output));
    assert_eq!(user.read("languages.toml"), "a = 1\n[[language]\n");
    assert!(!user.file("config.toml").exists(), "nothing is half done");
    let (sound, said) = user.looked();
    assert!(!sound && said.contains("languages error") && said.contains("line 2"), "{said}");
}

#[test]
fn the_doctor_finds_what_setup_has_written_sound() {
    let user = HelixUser::new(&[("hx", "helix 25.07.1 (079a789e)"), ("ruff", "ruff 0.12")]);
    let (sound, before) = user.looked();
    assert!(!sound && before.contains("languages error there is no"), "{before}");
    assert!(before.contains("config note there is no"), "{before}");
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    let (sound, said) = user.looked();
    assert!(sound, "{said}");
    for line in [
        "helix ok helix 25.07.1",
        "language ok python: ruff through Sextant\n",
        "language ok markdown: sextant through Sextant\n",
        "proxy ok sextant (",
        "server ok ruff (",
        "runtime ok ",
        "engine ok none runs",
        "keys ok space A\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains(" warning ") && !said.contains(" note "), "{said}");
    let plain = stdout(&user.run(&["doctor", "helix"]));
    assert!(plain.lines().all(|line| line.starts_with("ok") || line.starts_with(' ')), "{plain}");
    assert!(!user.project.beside("runtime").join("sextant").exists(), "nothing is made by looking");
}

#[test]
fn the_doctor_names_what_is_missing_and_old() {
    let user = HelixUser::new(&[("helix", "helix 25.01 (x)"), ("ruff", "ruff 0.12")]);
    user.write("config.toml", "[keys.normal.space]\nA = \":w\"\n");
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    fs::remove_file(user.project.beside("bin").join("ruff")).unwrap();
    let lacking =
        user.read("languages.toml").replace("language-servers = [\"ruff\"]", "language-servers = [\"pylsp\"]");
    user.write("languages.toml", &lacking);
    user.project.write(".helix/languages.toml", "[[language]]\nname = \"python\"\nlanguage-servers = [\"mine\"]\n");
    let (sound, said) = user.looked();
    assert!(!sound);
    for line in [
        "helix warning helix 25.01 (x)",
        "language warning python: its language-servers (pylsp) lack Sextant\n",
        "language warning the language-servers of python lack ruff, which goes through Sextant\n",
        "language note the workspace's .helix/languages.toml has its own language-servers of python\n",
        "server error ruff: ruff is not found\n",
        "keys note space A is a key of your own\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    fs::remove_file(user.project.beside("bin").join("helix")).unwrap();
    assert!(user.looked().1.contains("helix error neither hx nor helix is on PATH\n"));
}
