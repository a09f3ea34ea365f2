//! A scenario without an editor: a session over the folder, which a shell works in. What the user types, they type in
//! the file.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::process::Child;

use crate::conformance::client::{Client, Door, End, EndKind, Introduced, World};
use crate::conformance::scenario::Asked;
use crate::support::mcp::McpClient;

pub struct Headless {
    /// Holds the session.
    _session: McpClient,
    door: Door,
    place: Place,
    running: Option<Child>,
    /// What the last command that ended has printed.
    printed: Vec<Value>,
}

/// Where the shell is.
struct Place {
    root: PathBuf,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Headless {
    pub async fn start(world: &World) -> Self {
        let project = &world.project;
        let mut options = world.options();
        options["servers"] = json!([world.server]);
        remove_nulls(&mut options);
        let folder = project.beside("config").join("sextant");
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = toml::to_string(&options).expect("a configuration");
        std::fs::write(folder.join("config.toml"), text).expect("a file");
        let mut session = McpClient::open(project, "a script", &[]).await;
        session.call("read_file", json!({"path": "pyproject.toml"})).await;
        let variables = vec![
            ("HOME", project.beside("home")),
            ("XDG_CONFIG_HOME", project.beside("config")),
            ("XDG_STATE_HOME", project.state_home()),
            ("XDG_RUNTIME_DIR", project.beside("runtime")),
        ];
        let place = Place { root: project.root().to_owned(), variables };
        Self { _session: session, door: world.door(), place, running: None, printed: Vec::new() }
    }

    fn shell(&mut self, arguments: &[&str]) {
        assert!(self.running.is_none(), "the scenario waits for the end of one before the next");
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"));
        command.args(arguments).arg("--json").current_dir(&self.place.root);
        command.envs(self.place.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        self.running = Some(command.spawn().expect("the program runs"));
    }

    fn about(&mut self, command: &str, asked: &Asked) {
        let line = asked.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{}{line}", asked.file);
        match asked.everywhere {
            true => self.shell(&[command, &asked.text]),
            false => self.shell(&[command, &asked.text, "--file", &place]),
        }
    }

    fn newest(&self, kind: &str) -> Option<&Value> {
        self.printed.iter().rfind(|line| line["type"] == kind)
    }
}

/// TOML has none.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

#[async_trait]
impl Client for Headless {
    /// There is nothing to open a file in.
    async fn open(&mut self, _file: &str) {}

    async fn type_text(&mut self, file: &str, over: &str, text: &str) {
        let file = self.place.root.join(file);
        let changed = std::fs::read_to_string(&file).expect("a file").replace(over, text);
        std::fs::write(file, changed).expect("a file");
    }

    async fn ask(&mut self, asked: &Asked) {
        self.about("ask", asked);
    }

    async fn plan(&mut self, asked: &Asked) {
        self.about("plan", asked);
    }

    async fn plan_text(&mut self, _has: &[String]) -> String {
        let answer = self.door.ask("plan/get", json!({})).await;
        answer["result"]["markdown"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn edit_plan(&mut self, markdown: &str) {
        let answer = self.door.ask("plan/set", json!({"markdown": markdown})).await;
        assert!(answer["result"].is_object(), "{answer}");
    }

    async fn approve(&mut self, one_step: bool) {
        self.shell(if one_step { &["approve", "--step"] } else { &["approve"] });
    }

    async fn undo(&mut self) {
        self.shell(&["undo"]);
    }

    async fn redo(&mut self) {
        self.shell(&["redo"]);
    }

    async fn stop(&mut self) {
        let answer = self.door.ask("agent/cancel", json!({})).await;
        assert_eq!(answer["result"]["stopped"], true, "{answer}");
    }

    /// What is changed is in the files already.
    async fn save_all(&mut self) {}

    async fn end(&mut self) -> End {
        let running = self.running.take().expect("something was begun");
        let ended = tokio::time::timeout(Duration::from_secs(120), running.wait_with_output());
        let ended = ended.await.expect("an end").expect("an end");
        let lines = String::from_utf8_lossy(&ended.stdout).into_owned();
        self.printed = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(failed) = self.newest("failed") {
            return End { kind: EndKind::Failed, said: said(&failed["failure"]["message"]) };
        }
        let outcome = &self.newest("outcome").unwrap_or_else(|| panic!("{ended:?}"))["outcome"];
        let kind = match (outcome["plan"].is_object(), outcome["ok"] == true) {
            (true, _) => EndKind::Planned,
            (false, true) => EndKind::Ok,
            (false, false) => EndKind::NotOk,
        };
        End { kind, said: said(&outcome["summary"]) }
    }

    async fn text(&mut self, file: &str) -> String {
        std::fs::read_to_string(self.place.root.join(file)).expect("a file")
    }

    async fn introduced(&mut self, _count: usize) -> Vec<Introduced> {
        let listed = self.newest("introduced").map(|event| event["entries"].clone()).unwrap_or_default();
        let word = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let one = |entry: &Value| {
            let at = format!("{}:{}", word(entry, "path"), entry["line"]);
            (at, format!("{}: {}", word(entry, "kind"), word(entry, "text")))
        };
        listed.as_array().into_iter().flatten().map(one).collect()
    }
}
