//! `sextant doctor`, `forget`, `completions` and `man`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::mcp::replace;
use crate::rpc::{stderr, stdout};
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::{language_tools, tool};

/// Runs the program as in a shell of its own, with these folders as its `PATH`.
fn sextant(project: &Project, path: &str, arguments: &[&str]) -> Output {
    at_home(project, &project.beside("home"), path, arguments)
}

fn at_home(project: &Project, home: &Path, path: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(arguments)
        .current_dir(project.root())
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .output()
        .expect("the binary")
}

fn tools() -> String {
    let ruff = tool("ruff");
    let folder = ruff.parent().expect("a folder").display().to_string();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

fn configure(project: &Project, text: &str) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

/// What the doctor says, by name.
fn looked(project: &Project, path: &str) -> (bool, Vec<Value>) {
    let output = sextant(project, path, &["doctor", "--json"]);
    let said: Value = serde_json::from_str(stdout(&output).trim()).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(output.status.success(), said["ok"] == true, "{said}");
    (output.status.success(), said["checks"].as_array().expect("a list").clone())
}

fn of<'v>(checks: &'v [Value], name: &str) -> &'v Value {
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {checks:#?}"))
}

#[test]
fn what_is_sound_is_told_as_sound_and_nothing_is_made() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let before = project.bytes();
    let (sound, checks) = looked(&project, &tools());
    assert!(sound, "{checks:#?}");
    for (name, words) in [
        ("version", env!("CARGO_PKG_VERSION")),
        ("state", "made by the first task"),
        ("memory", "nothing is remembered"),
        ("sessions", "none of this workspace"),
        ("git", "git version"),
        ("model", "offline"),
    ] {
        let check = of(&checks, name);
        assert!(check["text"].as_str().is_some_and(|text| text.contains(words)), "{name}: {check}");
    }
    let servers: Vec<&Value> = checks.iter().filter(|check| check["name"] == "server").collect();
    assert_eq!(servers.len(), 2, "{servers:?}");
    assert_eq!(project.bytes(), before);
    assert!(!project.state_folder().exists() && !project.beside("runtime").join("sextant").exists());
    let plain = stdout(&sextant(&project, &tools(), &["doctor"]));
    assert!(
        plain.lines().all(|line| line.starts_with("ok") || line.starts_with('–') || line.starts_with(' ')),
        "{plain}"
    );
}

#[test]
fn a_folder_of_servers_is_looked_in_and_a_runtime_folder_that_serves_nobody_is_none() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let ruff = tool("ruff");
    let folder = ruff.parent().expect("a folder").display().to_string();
    let elsewhere = project.beside("elsewhere");
    let link = project.beside("runtime").join("sextant");
    std::os::unix::fs::symlink(elsewhere, &link).expect("a link");
    let output = sextant(&project, "/nonexistent", &["doctor", "--json", "--servers", &folder]);
    let said: Value = serde_json::from_str(stdout(&output).trim()).unwrap_or_else(|_| panic!("{output:?}"));
    let checks = said["checks"].as_array().expect("a list");
    let servers = checks.iter().filter(|check| check["name"] == "server" && check["state"] == "ok");
    assert_eq!(servers.count(), 2, "{checks:#?}");
    let runtime = of(checks, "runtime");
    let link = link.display().to_string();
    let text = runtime["text"].as_str().expect("a text");
    assert!(text != link && (runtime["state"] == "ok" || text.contains(&link)), "{runtime}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_of_a_home_is_not_told_as_one_of_a_project_in_it() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let home = project.root().parent().expect("a folder").to_owned();
    let mut client = McpClient::start_in(&project, &home, &[]);
    client.begin("codex").await;
    client.read("read_file", serde_json::json!({"path": "project/a.py"})).await;
    let here = |home: &Path| {
        let output = tokio::task::block_in_place(|| at_home(&project, home, &tools(), &["doctor", "--json"]));
        let said: Value = serde_json::from_str(stdout(&output).trim()).unwrap_or_else(|_| panic!("{output:?}"));
        of(said["checks"].as_array().expect("a list"), "sessions")["text"].as_str().expect("a text").to_owned()
    };
    assert!(here(&home).contains("none of this workspace"), "{}", here(&home));
    assert!(here(Path::new("/nonexistent")).contains("here: mcp-"), "of somebody whose home it is not");
    assert!(client.end().await.success());
}

#[test]
fn what_does_not_work_is_told_with_the_way_out() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    // A port that was free a moment ago, and that nobody listens on.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    configure(
        &project,
        &format!(
            "[model]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nbase_url = \"http://{free}/v1\"\n\n\
             [[servers]]\nname = \"none\"\ncommand = [\"no-such-server\"]\n"
        ),
    );
    let memory = project.memory_file();
    drop(project.memory());
    std::fs::write(&memory, "no database, and long enough to be looked at as if it were one").expect("a file");
    let runtime = project.beside("runtime").join("sextant");
    std::fs::create_dir_all(&runtime).expect("a folder");
    let (sound, checks) = looked(&project, "/nonexistent");
    assert!(!sound, "{checks:#?}");
    for (name, state) in
        [("memory", "error"), ("server", "error"), ("model", "error"), ("git", "warning"), ("neovim", "note")]
    {
        let check = of(&checks, name);
        assert_eq!(check["state"], state, "{check}");
        assert!(check["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{check}");
    }
    assert!(std::fs::read_to_string(&memory).expect("a file").starts_with("no database"), "it is left as it is");
    configure(&project, "[model\n");
    let (sound, checks) = looked(&project, &tools());
    assert!(!sound && of(&checks, "config")["state"] == "error", "{checks:#?}");
}

/// A folder of programs of these texts.
fn programs(project: &Project, texts: &[(&str, &str)]) -> String {
    let folder = project.beside("programs");
    for (name, text) in texts {
        let file = folder.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }
    folder.display().to_string()
}

#[test]
fn a_language_that_nothing_checks_is_named_with_what_was_tried_and_the_fix() {
    let project = Project::new(&[("Cargo.toml", ""), ("src/lib.rs", ""), ("src/a.rs", ""), ("a.lua", "")]);
    let shim = "echo \"error: Unknown binary 'rust-analyzer'\" >&2\necho trace >&2\nexit 1";
    // A server of no language here is not started.
    let folder =
        programs(&project, &[("rust-analyzer", shim), ("cargo", "exit 0"), ("clangd", "touch started; exit 1")]);
    let languages = |checks: &[Value]| -> Vec<String> {
        let lines = checks.iter().filter(|check| check["name"] == "language");
        lines.map(|line| format!("{} {} → {}", line["state"], line["text"], line["hint"]).replace('"', "")).collect()
    };
    let (sound, checks) = looked(&project, &folder);
    assert!(sound && checks.iter().all(|check| check["name"] != "server"), "{checks:#?}");
    let lines = languages(&checks);
    for (line, parts) in [
        (&lines[0], ["warning Lua: 1 file, and only the parser checks them", "lua_ls, emmylua_ls", "install lua_ls"]),
        (
            &lines[1],
            [
                "warning Rust: 2 files, and only the parser checks them",
                "rust-analyzer) does not run: error: Unknown binary 'rust-analyzer'",
                "`rustup component add rust-analyzer`, and name it in `[[servers]]`; or `commands = [\\cargo\\]`",
            ],
        ),
    ] {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    configure(&project, "commands = [\"cargo\"]\n");
    assert!(languages(&looked(&project, &folder).1)[1].starts_with("ok Rust: 2 files, checked by cargo"));
}

#[test]
fn a_c_project_without_compile_commands_is_named() {
    let clangd = language_tools("clangd").display().to_string();
    let project = Project::new(&[("include/a.hpp", "int a();\n"), ("src/a.cpp", "#include \"a.hpp\"\n")]);
    let language = || of(&looked(&project, &clangd).1, "language").clone();
    let found = language();
    assert_eq!(found["state"], "warning", "{found}");
    let (text, hint) = (found["text"].as_str().expect("a text"), found["hint"].as_str().expect("a hint"));
    assert!(text.starts_with("C and C++: 2 files, checked by clangd, and no compile_commands.json"), "{found}");
    assert!(hint.contains("CMAKE_EXPORT_COMPILE_COMMANDS"), "{found}");
    project.write("build/compile_commands.json", "[]");
    assert_eq!(language()["state"], "ok");
}

#[test]
fn a_server_of_a_language_that_no_file_has_is_named_and_not_started() {
    let project = Project::new(&[("a.cpp", "int a();\n")]);
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    let settings = "[[servers]]\nname = \"mine\"\ncommand = [\"/bin/false\"]\nlanguages = [\"c++\"]\n";
    std::fs::write(folder.join("config.toml"), settings).expect("a file");
    let checks = looked(&project, "none").1;
    let found = of(&checks, "server");
    assert_eq!(found["text"], "mine: no file here is of the language c++", "{found}");
    assert!(found["hint"].as_str().expect("a hint").contains("such as cpp"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_forgotten_in_a_session_and_without_one() {
    let project = Project::new(&[("notes.md", "one\ntwo\n")]);
    let run = |arguments: &[&str]| tokio::task::block_in_place(|| sextant(&project, &tools(), arguments));
    let none = run(&["forget", "it"]);
    assert!(!none.status.success() && stderr(&none).contains("not clear what to forget"), "{}", stderr(&none));
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.edit("edit_file", replace("notes.md", "one", "1")).await;
    // What would cost an undo is asked for; without an answer nothing is forgotten.
    let asked = run(&["forget", "everything"]);
    assert!(!asked.status.success(), "{}{}", stdout(&asked), stderr(&asked));
    assert!(client.end().await.success());
    let asked = run(&["forget", "everything", "--json"]);
    assert!(!asked.status.success() && stdout(&asked).contains("\"kind\""), "{}", stdout(&asked));
    let forgotten = run(&["forget", "everything", "--answer", "1"]);
    assert!(forgotten.status.success(), "{}{}", stdout(&forgotten), stderr(&forgotten));
    assert!(stdout(&forgotten).contains("cannot be undone"), "{}", stdout(&forgotten));
    let undo = run(&["undo"]);
    assert!(stderr(&undo).contains("nothing to undo"), "{}{}", stdout(&undo), stderr(&undo));
}

#[test]
fn completions_and_pages_are_those_of_the_command_line() {
    let project = Project::new(&[]);
    for (shell, checks) in [("bash", &["bash", "-n"][..]), ("zsh", &[]), ("fish", &[])] {
        let output = sextant(&project, &tools(), &["completions", shell]);
        let script = stdout(&output);
        for word in ["doctor", "print-config", "headless", "sextant"] {
            assert!(script.contains(word), "{shell}: {word} is missing");
        }
        if let [program, arguments @ ..] = checks {
            let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).spawn().expect("bash is there");
            child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
            assert!(child.wait().expect("an end").success(), "{shell} does not read it");
        }
    }
    let folder = project.beside("pages").join("man1");
    let written = sextant(&project, &tools(), &["man", folder.to_str().expect("a path")]);
    assert!(written.status.success(), "{}", stderr(&written));
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|_| panic!("no {name}"));
    assert!(page("sextant.1").contains("Exit status"));
    for name in ["ask", "doctor", "mcp", "diff", "sessions"] {
        assert!(page(&format!("sextant-{name}.1")).contains(".SH OPTIONS"), "{name}");
    }
    std::fs::write(project.root().join("file"), "").expect("a file");
    let refused = sextant(&project, &tools(), &["man", Path::new("file/man1").to_str().expect("a path")]);
    assert_eq!((refused.status.code(), stderr(&refused).contains("cannot be written")), (Some(1), true));
}
