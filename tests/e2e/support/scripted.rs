//! A project whose language server and model are scripted, worked on from a shell.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::servers::fake_config;

pub struct Scripted {
    pub project: Project,
    pub model: ModelServer,
}

/// The server names each word `bad` of a text.
pub fn publish() -> Value {
    json!({"publish": {"version": "same", "items": "scan"}})
}

impl Scripted {
    /// With this style of the model, these steps of the server for a change, and `timeout_ms` for its answers.
    pub async fn new(
        files: &[(&str, &str)],
        style: &str,
        on_change: Value,
        timeout_ms: u32,
        script: Vec<Reply>,
    ) -> Self {
        let made = Self::alone(files, &format!("style = \"{style}\"\ncontext = 64000\n"), "", script).await;
        let on = json!({"textDocument/didOpen": [publish()], "textDocument/didChange": on_change});
        let fake = fake_config(&made.project.beside("fake"), &json!({"log": "log", "on": on}));
        let servers = format!(
            "[diagnostics]\ntimeout_ms = {timeout_ms}\nstart_timeout_ms = 60000\n\n\
             [[servers]]\nname = \"fake\"\ncommand = {}\nlanguages = [\"python\"]\npublishes_once = true\n",
            json!(fake.command)
        );
        let file = made.configuration();
        let text = fs::read_to_string(&file).expect("a configuration").replace("servers = []\n", "");
        fs::write(file, text + &servers).expect("a configuration");
        made
    }

    /// Without a server, with these lines about the model and at the head of the configuration.
    pub async fn alone(files: &[(&str, &str)], manner: &str, head: &str, script: Vec<Reply>) -> Self {
        let made = Self { project: Project::new(files), model: ModelServer::start(script).await };
        let text = format!(
            "servers = []\n{head}\n[model]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\n{manner}\n",
            made.model.url()
        );
        made.project.beside("config/sextant");
        fs::write(made.configuration(), text).expect("a configuration");
        made
    }

    fn configuration(&self) -> PathBuf {
        self.project.beside("config").join("sextant/config.toml")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
        command
            .args(arguments)
            .current_dir(self.project.root())
            .env("HOME", self.project.beside("home"))
            .env("XDG_CONFIG_HOME", self.project.beside("config"))
            .env("XDG_STATE_HOME", self.project.state_home())
            .env("XDG_RUNTIME_DIR", self.project.beside("runtime"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        tokio::task::block_in_place(|| self.command(arguments).output().expect("the binary"))
    }

    /// Starts it, with both outputs to be read.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary")
    }

    /// Lets the server go on where it waits for `go`.
    pub fn go(&self) {
        fs::write(self.project.beside("fake").join("go"), "").expect("a signal");
    }

    /// Waits until the server has received a message with these words.
    pub async fn heard(&self, words: &str) {
        let log = self.project.beside("fake").join("log");
        let heard = || fs::read_to_string(&log).is_ok_and(|text| text.contains(words));
        let wait = async {
            while !heard() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap_or_else(|_| panic!("never heard: {words}"));
    }

    /// Runs it, stops it as Ctrl-C does once the server has received these words, and gives back its end.
    pub async fn stopped_at(&self, words: &str, arguments: &[&str]) -> Output {
        self.signalled_at(words, Signal::INT, arguments).await
    }

    /// The same with another signal.
    pub async fn signalled_at(&self, words: &str, signal: Signal, arguments: &[&str]) -> Output {
        let child = self.start(arguments);
        self.heard(words).await;
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        tokio::task::block_in_place(|| child.wait_with_output().expect("an end"))
    }
}

/// Both outputs.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// One answer of a model with these tool calls, and these words before them.
pub fn calls(words: &str, calls: &[(&str, Value)]) -> Reply {
    let call = |(number, (tool, given)): (usize, &(&str, Value))| {
        let function = json!({"name": tool, "arguments": given.to_string()});
        json!({"index": number, "id": format!("use{number}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let event = |choice: Value| format!("data: {}\n\n", json!({"choices": [choice]}));
    let said = event(json!({"index": 0, "delta": {"role": "assistant", "content": words}}));
    let called = event(json!({"index": 0, "delta": {"tool_calls": calls}}));
    let stop = event(json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"}));
    Reply::Events(format!("{said}{called}{stop}data: [DONE]\n\n"))
}
