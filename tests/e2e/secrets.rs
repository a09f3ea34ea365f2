//! What is secret stays where it is: files by name and by content, the environment of commands, ignored files.

use std::process::{Command, Output};

use serde_json::json;

use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};

/// Asks with a scripted model and a configuration, in a process with more variables: what it said, and every prompt.
async fn ask(
    project: &Project,
    request: &str,
    more: &[&str],
    settings: &str,
    script: Vec<Reply>,
    variables: &[(&str, &str)],
) -> (Output, Vec<String>) {
    let server = ModelServer::start(script).await;
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    let model = format!("[model]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nbase_url = {:?}\n", server.url());
    std::fs::write(folder.join("config.toml"), format!("servers = []\n{settings}\n{model}")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.args(["ask", request, "--json"]).args(more).current_dir(project.root());
    // The list of variables is cut at a length: those of the test's own environment do not belong in it.
    let own = ["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(own).env("XDG_CONFIG_HOME", project.beside("config")).envs(variables.iter().copied());
    let output = tokio::task::block_in_place(|| command.output()).expect("the binary");
    let prompts = server.requests().iter().map(|request| request.said_by("user").to_owned()).collect();
    (output, prompts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_given_what_programs_need_and_what_the_user_names() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let variables = [("DATABASE_URL", "postgres://h/db"), ("GH_PAT", "abc"), ("MY_SETTING", "kept"), ("LC_ALL", "C")];
    let run = || vec![step("run_command", json!({"command": ["env"]}), true), says("done")];
    let settings = "commands_allowed = [\"env\"]";
    let (_, prompts) = ask(&project, "try it", &["--file", "a.py"], settings, run(), &variables).await;
    let last = prompts.last().expect("a prompt");
    assert!(last.contains("exit status 0") && last.contains("PATH=") && last.contains("LC_ALL=C"), "{last}");
    for name in ["DATABASE_URL", "GH_PAT", "MY_SETTING"] {
        assert!(!last.contains(name), "{name}: {last}");
    }
    let settings = "commands_allowed = [\"env\"]\ncommands_env = [\"MY_SETTING\"]";
    let (_, prompts) = ask(&project, "try it", &["--file", "a.py"], settings, run(), &variables).await;
    let last = prompts.last().expect("a prompt");
    assert!(last.contains("MY_SETTING=kept") && !last.contains("GH_PAT"), "{last}");
}

/// A token in its issuer's shape, made up here.
fn token() -> String {
    format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_a_text_reaches_no_prompt_and_an_edit_beside_it_works() {
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ7lQ2bX3s4t5u6v";
    let armour = format!("-----BEGIN PRIVATE KEY-----\n{key}\n{key}\n-----END PRIVATE KEY-----");
    let text = format!("TOKEN = \"{}\"\nx = 1\nKEY = \"\"\"{armour}\"\"\"\n", token());
    let project = Project::new(&[("a.py", &text), ("b.py", &text)]);
    let script = vec![
        step("read_file", json!({"path": "b.py"}), true),
        step("read_file", json!({"path": "b.py", "offset": 4, "limit": 2}), true),
        step("search", json!({"pattern": "ghp_|MIIE|TOKEN"}), true),
        step("edit_file", change("a.py", "TOKEN = \"[secret removed]\"", "T = 1"), true),
        step("write_file", json!({"path": "a.py", "content": "TOKEN = \"[secret removed]\"\nx = 2\n"}), true),
        step("edit_file", change("a.py", "x = 1", "x = 2"), true),
        says("done"),
    ];
    let request = format!("set x to 2, not {}", token());
    let (output, prompts) = ask(&project, &request, &["--file", "a.py"], "", script, &[]).await;
    assert!(prompts.len() >= 6, "{}", String::from_utf8_lossy(&output.stderr));
    for prompt in &prompts {
        assert!(!prompt.contains(&token()) && !prompt.contains("MIIE"), "{prompt}");
    }
    assert!(prompts[1].contains("TOKEN = \"[secret removed]\""), "{}", prompts[1]);
    assert!(prompts[4].contains("only stands where a secret was taken out"), "{}", prompts[4]);
    assert!(prompts[5].contains("cannot be written back"), "{}", prompts[5]);
    assert_eq!(project.read("a.py"), text.replace("x = 1", "x = 2"), "the secret itself is as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_secrets_and_ignored_files_are_open_to_nobody_who_did_not_name_them() {
    let secrets =
        [".envrc", "prod.env", "secrets.yml", "kubeconfig", "terraform.tfstate", "service-account.json", "id_rsa.bak"];
    let mut files: Vec<(&str, &str)> = secrets.iter().map(|path| (*path, "plain-secret-word\n")).collect();
    files.extend([("a.py", "x = 1\n"), (".gitignore", "private/\n"), ("private/notes.txt", "ignored-word\n")]);
    let project = Project::new(&files);
    std::fs::hard_link(project.root().join("prod.env"), project.root().join("plain.txt")).expect("a link");
    for path in secrets.iter().chain(&["plain.txt", "private/notes.txt"]) {
        let script = vec![
            step("read_file", json!({"path": path}), true),
            step("search", json!({"pattern": "word", "path": path}), true),
            step("search", json!({"pattern": "word"}), true),
            step("write_file", json!({"path": path, "content": "owned\n"}), true),
            says("done"),
        ];
        let (_, prompts) = ask(&project, "look around", &[], "", script, &[]).await;
        assert!(prompts.len() >= 4, "{path}: {prompts:?}");
        for prompt in prompts {
            assert!(!prompt.contains("plain-secret-word") && !prompt.contains("ignored-word"), "{path}: {prompt}");
        }
        assert!(!project.read(path).contains("owned"), "{path}");
    }
    let script = vec![step("read_file", json!({"path": "private/notes.txt"}), true), says("done")];
    let (_, prompts) = ask(&project, "read private/notes.txt and say more", &[], "", script, &[]).await;
    assert!(prompts[1].contains("ignored-word"), "the request names it: {}", prompts[1]);
}

/// The texts and the contents of a record, every row of every table.
fn record_of(project: &Project) -> String {
    let conn = rusqlite::Connection::open(project.record().file()).expect("the memory file");
    let named = |sql: &str| -> Vec<String> {
        let mut question = conn.prepare(sql).expect("a query");
        let rows = question.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|row| row.expect("a row")).collect()
    };
    let mut all = String::new();
    for table in named("SELECT name FROM sqlite_master WHERE type = 'table'") {
        let mut question = conn.prepare(&format!("SELECT * FROM \"{table}\"")).expect("a query");
        let columns = question.column_count();
        let mut rows = question.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            for column in 0..columns {
                if let Ok(rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes)) =
                    row.get_ref(column)
                {
                    all.push_str(&format!("{table}: {}\n", String::from_utf8_lossy(bytes)));
                }
            }
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_s_words_are_kept_without_tokens_and_passwords_and_the_model_gets_the_password() {
    let project = Project::new(&[("a.py", &format!("x = 1\nKEY = \"{}\"\n", token()))]);
    let (password, word) = ("hunter2SuperSecret", "swordfish");
    let request = format!("set x to 2. my key is {} and password: {password}, the contraseña es {word}", token());
    let write = change("b.py", password, "y");
    let script = vec![step("read_file", json!({"path": "a.py"}), true), step("edit_file", write, true), says("done")];
    let state = project.state_home();
    let state = state.to_str().expect("a path");
    let variables = [("XDG_STATE_HOME", state)];
    let (_, prompts) = ask(&project, &request, &["--file", "a.py"], "", script, &variables).await;
    assert!(prompts.first().expect("a prompt").contains(&format!("password: {password}")), "{prompts:?}");
    let kept = record_of(&project);
    assert!(kept.contains("tasks: ") && kept.contains("conversations: ") && kept.contains("set x to 2"), "{kept}");
    for secret in [token().as_str(), password, word] {
        let leaks: Vec<&str> = kept.lines().filter(|line| line.contains(secret)).collect();
        assert!(leaks.is_empty(), "{secret}: {leaks:#?}");
    }
    for arguments in [&["why"][..], &["why", "--list"], &["why", "--json"]] {
        let shown = crate::durable::said(&crate::cli::sextant(&project, arguments));
        assert!(shown.contains("set x to 2") && shown.contains("[secret removed]"), "{shown}");
        assert!(!shown.contains(&token()) && !shown.contains(password) && !shown.contains(word), "{shown}");
    }
}
