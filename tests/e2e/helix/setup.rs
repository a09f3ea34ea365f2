//! `sextant setup helix` and `sextant doctor helix` over the files of a made-up user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::rpc::{stderr, stdout};
use crate::support::project::Project;
use crate::support::servers::tool;

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
    assert!(languages.contains("soft-wrap = { enable = true }"), "{languages}");
    assert!(languages.contains("name = \"go\"") && config.starts_with("theme = \"x\" # dark\n"), "{languages}{config}");
    assert!(config.contains("w = \":w\" # mine"), "{config}");
    let again = user.run(&["setup", "helix", "--yes"]);
    assert!(stdout(&again).contains("set up already"), "{}", stdout(&again));
    assert_eq!((user.read("languages.toml"), user.read("config.toml")), (languages.clone(), config));

    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!((user.read("languages.toml").as_str(), user.read("config.toml").as_str()), (LANGUAGES, CONFIG));
    let left = fs::read_dir(user.file("x").parent().unwrap()).unwrap().count();
    assert_eq!(left, 4, "no backup is left, and a copy of what undo has changed is");
    assert_eq!(user.read("languages.toml.with-sextant"), languages);
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
    let user = HelixUser::new(&[("hx", "helix 25.07.1 (079a789e)")]);
    std::os::unix::fs::symlink(tool("ruff"), user.project.beside("bin").join("ruff")).expect("a link");
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
        "/ruff) answers",
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
fn the_doctor_says_what_a_program_answers_that_is_no_server() {
    let user = HelixUser::new(&[("hx", "helix 25.07.1 (x)"), ("rust-analyzer", "")]);
    let started = user.project.beside("started").join("folder");
    // As rustup answers for a component that is missing: the error, and where it was made.
    let words = "error: it is not installed\\n\\nStack backtrace:\\n   0: anyhow::new\\n  15: <unknown>\\n";
    let script = format!("#!/bin/sh\npwd > '{}'\nprintf '{words}' >&2\nexit 1\n", started.display());
    fs::write(user.project.beside("bin").join("rust-analyzer"), script).expect("a program");
    // Setup does not add such a program by itself.
    user.project.write("web/tsconfig.json", "{}\n");
    let elsewhere = user.run(&["setup", "helix", "--print"]);
    assert!(!stderr(&elsewhere).contains("rust"), "no file is in Rust: {}", stderr(&elsewhere));
    user.project.write("Cargo.toml", "\n");
    let printed = user.run(&["setup", "helix", "--print", "--keys", "Z"]);
    assert!(!stdout(&printed).contains("\"rust\"") && stdout(&printed).contains("[keys.normal.Z]"), "{printed:?}");
    for part in [
        "rust-analyzer does not start, so rust is left out; `rustup component add rust-analyzer`",
        "this project has files in typescript, and no server for it is installed; `--alone typescript`",
        "Z is sticky view mode in Helix",
    ] {
        assert!(stderr(&printed).contains(part), "{part}: {}", stderr(&printed));
    }
    user.write("languages.toml", "[[language]]\nname = \"rust\"\nlanguage-servers = [\"rust-analyzer\"]\n");
    let done = user.run(&["setup", "helix", "--yes", "--keys", "space B", "--alone", "typescript"]);
    assert!(done.status.success() && !stderr(&done).contains("this project"), "{}", stderr(&done));
    let (sound, said) = user.looked();
    assert!(!sound && said.contains("server error rust-analyzer ("), "{said}");
    assert!(said.contains("it is not installed"), "{said}");
    assert!(said.contains("keys ok space B\n") && said.contains("language ok typescript: sextant through"), "{said}");
    // It was started where no code of the project is.
    let folder = fs::read_to_string(&started).expect("it was started");
    assert!(!folder.trim().is_empty() && folder.trim() != user.project.root().display().to_string(), "{folder}");
    let refused = user.run(&["setup", "helix", "--print", "--keys", "space \"x\""]);
    assert!(stderr(&refused).contains("keys as Helix names them"), "{}", stderr(&refused));
}

#[test]
fn what_helix_would_refuse_is_refused_by_setup_and_found_by_the_doctor() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
    for (option, words, said) in [
        ("--keys", "spac B", "spac is no key of Helix; keys as Helix names them"),
        ("--alone", "klingon", "Helix knows no language klingon; nothing was changed"),
        ("--alone", "typscript", "`--alone typescript` is a language of Helix"),
    ] {
        let refused = user.run(&["setup", "helix", option, words, "--yes"]);
        assert!(refused.status.code() == Some(2) && stderr(&refused).contains(said), "{refused:?}");
        assert!(!user.file("languages.toml").exists() && !user.file("config.toml").exists(), "nothing is written");
    }
    user.write("languages.toml", "[[language]]\nname = \"mine\"\nscope = \"source.mine\"\n");
    let own = user.run(&["setup", "helix", "--alone", "mine", "--alone", "nix", "--keys", "C-g ret", "--yes"]);
    assert!(own.status.success(), "{}", stderr(&own));
    assert!(user.looked().1.contains("keys ok C-g ret\n"), "{}", user.looked().1);
    user.write("config.toml", &user.read("config.toml").replace("C-g", "C-gg"));
    user.write("languages.toml", &user.read("languages.toml").replace("\"nix\"", "\"nixx\""));
    let (sound, said) = user.looked();
    for line in [
        "language error Helix knows no language nixx, and refuses all of languages.toml for it\n",
        "keys error C-gg ret: C-gg is no key of Helix, which refuses all of config.toml for it\n",
    ] {
        assert!(!sound && said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("knows no language mine"), "{said}");
    // The installed Helix knows better than any list.
    let hx = user.project.beside("bin").join("hx");
    let script = "#!/bin/sh\ncase \"$2\" in\n  nixx) echo 'Configured language servers: None' ;;\n  *) echo \"Language '$2' not found\" ;;\nesac\n";
    fs::write(&hx, script).expect("a program");
    fs::set_permissions(&hx, fs::Permissions::from_mode(0o755)).expect("it can be run");
    assert!(!user.looked().1.contains("knows no language nixx"), "{}", user.looked().1);
    let refused = user.run(&["setup", "helix", "--alone", "nix", "--yes"]);
    assert!(refused.status.code() == Some(2), "{refused:?}");
}

#[test]
fn keys_of_the_users_are_named_and_others_are_offered_that_are_free() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
    user.write("config.toml", "[keys.normal.space]\nA = \":write-all\"\n[keys.select.space]\nB = \":w\"\n");
    let done = user.run(&["setup", "helix", "--yes"]);
    let said = "space A is yours in normal mode and stays; the agent has no keys in any mode; `--keys \"space H\"`";
    assert!(done.status.success() && stderr(&done).contains(said), "{}", stderr(&done));
    assert!(!user.read("config.toml").contains("agent."), "{}", user.read("config.toml"));
    let other = user.run(&["setup", "helix", "--keys", "space H", "--yes"]);
    assert!(other.status.success() && stderr(&other).is_empty(), "{}", stderr(&other));
    assert!(user.read("config.toml").contains("[keys.select.space.H]"), "{}", user.read("config.toml"));
}

#[test]
fn setup_and_the_doctor_agree_about_a_server_that_does_not_start() {
    let user = HelixUser::new(&[("hx", "helix 25.07.1 (x)"), ("ruff", "ruff 0.12"), ("rust-analyzer", "")]);
    let set_up = user.run(&["setup", "helix", "--yes"]);
    assert!(set_up.status.success() && stderr(&set_up).is_empty(), "{}", stderr(&set_up));
    assert!(!user.looked().1.contains("rust"), "no file is in Rust: {}", user.looked().1);
    user.project.write("src/lib.rs", "\n");
    let said = user.looked().1;
    assert!(said.contains("language warning rust: ") && said.contains("/rust-analyzer does not start\n"), "{said}");
    assert!(!said.contains("starts without Sextant"), "{said}");
    let again = user.run(&["setup", "helix", "--yes"]);
    assert!(stderr(&again).contains("rust-analyzer does not start, so rust is left out"), "{}", stderr(&again));
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

#[test]
fn what_the_user_wrote_since_stays_when_setup_is_undone() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12"), ("gopls", "gopls 1")]);
    user.write("languages.toml", LANGUAGES);
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    // `config.toml` was not there before: all of its own lines are from here.
    let languages = user.read("languages.toml").replace("\"ruff\"] # the one", "\"ruff\", \"mine\"] # the one");
    let languages = format!(
        "{languages}\n# My own.\n[[language]]\nname = \"zig\"\nauto-format = true\n\n[language-server.mine]\ncommand = \"my-ls\"\n"
    );
    let config = user
        .read("config.toml")
        .replace("[keys.normal.space.A]\n", "# My keys.\n[keys.normal.space.A]\nz = \":write-all\" # mine\n");
    let config = format!("theme = \"onedark\"\n\n{config}");
    user.write("languages.toml", &languages);
    user.write("config.toml", &config);
    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    let (left, keys) = (user.read("languages.toml"), user.read("config.toml"));
    for part in [
        "# mine\n[[language]]\nname = \"python\" # the snake\nauto-format = true\nlanguage-servers = [\"ruff\", \"mine\"] # the one\n",
        "# My own.\n[[language]]\nname = \"zig\"\nauto-format = true\n",
        "[language-server.mine]\ncommand = \"my-ls\"\n",
    ] {
        assert!(left.contains(part), "{part} in\n{left}");
    }
    for part in ["theme = \"onedark\"\n", "# My keys.\n", "z = \":write-all\" # mine\n"] {
        assert!(keys.contains(part), "{part} in\n{keys}");
    }
    for part in ["sextant", "gopls", "markdown", "agent.", "display-progress-messages", "language-server.ruff"] {
        assert!(!left.contains(part) && !keys.contains(part), "{part} in\n{left}\n{keys}");
    }
    assert_eq!((user.read("languages.toml.with-sextant"), user.read("config.toml.with-sextant")), (languages, config));
}

#[test]
fn setup_once_more_does_not_take_the_users_lines_for_its_own() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    user.write("languages.toml", &format!("{}\n[[language]]\nname = \"zig\"\n", user.read("languages.toml")));
    let gopls = user.project.beside("bin").join("gopls");
    fs::write(&gopls, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&gopls, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    assert!(user.read("languages.toml").contains("\"--\", \"gopls\"]"), "{}", user.read("languages.toml"));
    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!(user.read("languages.toml").trim(), "[[language]]\nname = \"zig\"");
    assert!(!user.file("config.toml").exists(), "it had no line that was not of setup");
}

#[test]
fn lines_that_an_earlier_setup_left_without_a_record_are_taken_back_too() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
    user.write("languages.toml", LANGUAGES);
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    for name in ["languages.toml.by-sextant", "config.toml.by-sextant"] {
        fs::remove_file(user.file(name)).expect("the record");
    }
    user.write("config.toml", &format!("theme = \"x\"\n{}", user.read("config.toml")));
    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!((user.read("languages.toml").as_str(), user.read("config.toml").trim()), (LANGUAGES, "theme = \"x\""));
}

#[test]
fn languages_and_servers_in_any_form_and_line_ends_of_any_kind_are_set_up() {
    let inline = "language = [\r\n  { name = \"python\", language-servers = [\"ruff\"] }, # mine\r\n]\r\n\r\n[language-server]\r\nruff = { command = \"ruff\", args = [\"server\"] }\r\n";
    let user = HelixUser::new(&[("hx", "helix 25.07.1 (079a789e)"), ("ruff", "ruff 0.12"), ("gopls", "gopls 1")]);
    user.write("languages.toml", inline);
    let done = user.run(&["setup", "helix", "--yes"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = user.read("languages.toml");
    let read: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read["language-server"]["ruff"]["command"].as_str(), Some("sextant"), "{text}");
    assert_eq!(read["language"].as_array().unwrap().len(), 3, "{text}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    assert!(text.contains("{ name = \"python\", language-servers = [\"ruff\"] }, # mine\r\n"), "{text}");
    let (_, said) = user.looked();
    for line in ["language ok python: ruff through Sextant\n", "language ok go: gopls through Sextant\n"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    user.write("languages.toml", &format!("{text}# later\r\n"));
    assert!(user.run(&["setup", "helix", "--undo", "--yes"]).status.success());
    let left = user.read("languages.toml");
    assert!(left.ends_with("# later\r\n") && left.starts_with(inline.trim_end()), "{left}");
}

#[test]
fn a_language_that_setup_cannot_change_is_named() {
    for (text, said) in [
        ("language = 3\n", "`language` is not a list of tables"),
        ("[[language]]\nname = \"python\"\nlanguage-servers = \"ruff\"\n", "python"),
    ] {
        let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
        user.write("languages.toml", text);
        let done = user.run(&["setup", "helix", "--yes"]);
        assert!(stderr(&done).contains(said), "{text}: {}", stderr(&done));
    }
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    use std::os::unix::fs::symlink;
    let user = HelixUser::new(&[("ruff", "ruff 0.12")]);
    user.project.beside("config/helix");
    let kept = user.project.beside("dotfiles").join("config.toml");
    symlink(&kept, user.file("config.toml")).unwrap();
    symlink("../../nowhere/languages.toml", user.file("languages.toml")).unwrap();
    let refused = user.run(&["setup", "helix", "--yes"]);
    assert!(!refused.status.success() && stderr(&refused).contains("link"), "{}", stderr(&refused));
    assert!(!kept.exists(), "nothing is half done");
    fs::remove_file(user.file("languages.toml")).unwrap();
    let done = user.run(&["setup", "helix", "--yes"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let is_link = || user.file("config.toml").symlink_metadata().unwrap().file_type().is_symlink();
    assert!(is_link() && fs::read_to_string(&kept).unwrap().contains("agent.ask"));
    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success() && is_link() && !kept.exists(), "{}", stderr(&undone));
}

#[test]
fn an_inline_list_whose_end_is_a_comment_can_be_read_after_the_undo() {
    let user = HelixUser::new(&[("ruff", "ruff 0.12"), ("gopls", "gopls 1")]);
    let inline = "language = [\n  { name = \"zig\" } # mine\n  # note\n]\n";
    user.write("languages.toml", inline);
    assert!(user.run(&["setup", "helix", "--yes"]).status.success());
    let later = format!("{}\n[later]\nx = 1\n", user.read("languages.toml"));
    user.write("languages.toml", &later);
    let undone = user.run(&["setup", "helix", "--undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    let left = user.read("languages.toml");
    let read: toml::Table = left.parse().unwrap_or_else(|error| panic!("{error}\n{left}"));
    assert_eq!(read["language"].as_array().map(Vec::len), Some(1), "{left}");
    assert!(left.contains("# mine\n") && left.contains("# note\n"), "{left}");
}
