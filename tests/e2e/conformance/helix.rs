//! A scenario in a scripted Helix before the proxy, by its commands and what it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::conformance::client::{Client, End, EndKind, Introduced, World};
use crate::conformance::scenario::Asked;
use crate::support::helix_client::{HelixClient, HelixVersion, Seen};

pub struct Helix {
    client: HelixClient,
    /// True if it asks for diagnostics, which master alone does.
    pulls: bool,
    /// True if a plan is what was begun last.
    plans: bool,
    /// How many messages had come when it was begun.
    from: usize,
}

const ERROR: u64 = 1;
const WARNING: u64 = 2;

impl Helix {
    pub fn start(world: &World, version: HelixVersion) -> Self {
        let project = &world.project;
        let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
        command.args(["lsp", "--"]).args(&world.server.command);
        command.env("HOME", project.beside("home")).env("XDG_CONFIG_HOME", project.beside("config"));
        command.env("XDG_STATE_HOME", project.state_home()).env("XDG_RUNTIME_DIR", project.beside("runtime"));
        let mut options = world.options();
        // Those of the editor alone.
        options["servers"] = json!([]);
        let mut config = if world.server.settings.is_object() { json!(world.server.settings) } else { json!({}) };
        config["sextant"] = options;
        let client = HelixClient::configured(version, &mut command, project.root(), config);
        let pulls = version == HelixVersion::Master && !client.capabilities["diagnosticProvider"].is_null();
        Self { client, pulls, plans: false, from: 0 }
    }

    fn begin(&mut self, command: &str, arguments: Value) {
        self.plans = command == "agent.plan";
        self.from = self.client.seen().messages.len();
        self.client.command(command, arguments);
    }

    fn about(&mut self, command: &str, asked: &Asked) {
        let uri = self.client.uri(&asked.file);
        let mut place = json!({"file": uri, "workspace": asked.everywhere});
        if let Some(line) = asked.line {
            place["line"] = json!(line);
        }
        self.begin(command, json!([asked.text, place]));
    }

    /// The files of the workspace that are open.
    fn open_files(&self) -> Vec<String> {
        self.client.seen().buffers.keys().filter(|uri| !uri.ends_with(".md")).cloned().collect()
    }

    /// Asks for the diagnostics of what is open, as Helix does after each change where the server is one that is asked.
    fn pull(&self) -> Vec<(String, Vec<Value>)> {
        let files = if self.pulls { self.open_files() } else { Vec::new() };
        let one = |uri: String| {
            let answer = self.client.request("textDocument/diagnostic", json!({"textDocument": {"uri": uri}}));
            (uri, answer["result"]["items"].as_array().cloned().unwrap_or_default())
        };
        files.into_iter().map(one).collect()
    }

    /// The plan's page, which is open since it was asked for.
    fn page(&self) -> String {
        self.client.wait("the plan's page", |seen| seen.shown.iter().find(|uri| uri.ends_with("/plan.md")).cloned())
    }
}

/// The messages of this kind since then.
fn since<'a>(seen: &'a Seen, from: usize, method: &'a str) -> impl Iterator<Item = &'a Value> {
    let messages = seen.messages[from..].iter();
    messages.filter(move |message| message["method"] == method).map(|message| &message["params"])
}

/// True if the progress of what was begun is over; none where nothing has begun.
fn over(seen: &Seen, from: usize) -> Option<bool> {
    let ours = |params: &&Value| params["token"].as_str().is_some_and(|token| token.starts_with("sextant:"));
    let progress = since(seen, from, "$/progress").filter(ours).last()?;
    Some(progress["value"]["kind"] == "end")
}

/// The last word on what was begun: the agent's message behind the end of its progress.
fn ended(seen: &Seen, from: usize) -> Option<End> {
    let over = over(seen, from);
    let at_end = |message: &Value| {
        let (params, ours) = (&message["params"], |token: &str| token.starts_with("sextant:"));
        params["value"]["kind"] == "end" && params["token"].as_str().is_some_and(ours)
    };
    let end = seen.messages[from..].iter().rposition(at_end).map_or(from, |at| from + at);
    let said = since(seen, end, "window/showMessage").last()?;
    let kind = match said["type"].as_u64() {
        Some(ERROR) => EndKind::Failed,
        Some(WARNING) => EndKind::NotOk,
        _ => EndKind::Ok,
    };
    // What was not taken on has no progress.
    let refused = over.is_none() && kind == EndKind::Failed;
    (over == Some(true) || refused).then(|| End { kind, said: said["message"].as_str().unwrap_or_default().to_owned() })
}

#[async_trait]
impl Client for Helix {
    async fn open(&mut self, file: &str) {
        self.client.open(file, "python");
        self.pull();
    }

    async fn type_text(&mut self, file: &str, over: &str, text: &str) {
        let uri = self.client.uri(file);
        self.client.replace(&uri, over, text);
        self.pull();
    }

    async fn ask(&mut self, asked: &Asked) {
        self.about("agent.ask", asked);
    }

    async fn plan(&mut self, asked: &Asked) {
        self.about("agent.plan", asked);
    }

    async fn plan_text(&mut self, has: &[String]) -> String {
        let page = self.page();
        // The page follows what runs a moment later, and the word on its end may come first.
        self.client.wait(&format!("the plan's page at rest with {has:?}"), |seen| {
            let text = seen.buffers.get(&page).map(|buffer| buffer.text.clone())?;
            let at_rest = !text.starts_with("<!-- running") && has.iter().all(|part| text.contains(part));
            at_rest.then_some(text)
        })
    }

    async fn edit_plan(&mut self, markdown: &str) {
        let page = self.page();
        let old = self.client.text(&page);
        self.client.replace(&page, &old, markdown);
        self.client.save(&page);
    }

    async fn approve(&mut self, one_step: bool) {
        self.begin(if one_step { "agent.step" } else { "agent.approve" }, json!([]));
    }

    async fn undo(&mut self) {
        self.begin("agent.undo", json!([]));
    }

    async fn redo(&mut self) {
        self.begin("agent.redo", json!([]));
    }

    async fn stop(&mut self) {
        self.client.command("agent.stop", json!([]));
    }

    async fn save_all(&mut self) {
        self.open_files().iter().for_each(|uri| self.client.save(uri));
    }

    async fn end(&mut self) -> End {
        let (from, plans) = (self.from, self.plans);
        if !plans {
            return self.client.wait("an end", |seen| ended(seen, from));
        }
        let page = self.page();
        self.client.wait("a plan", |seen| {
            let text = seen.buffers.get(&page).map(|buffer| buffer.text.clone()).unwrap_or_default();
            if text.contains("\n- [") && over(seen, from) == Some(true) {
                return Some(End { kind: EndKind::Planned, said: text });
            }
            ended(seen, from).filter(|end| end.kind == EndKind::Failed)
        })
    }

    async fn text(&mut self, file: &str) -> String {
        let uri = self.client.uri(file);
        let open = self.client.seen().buffers.get(&uri).map(|buffer| buffer.text.clone());
        open.unwrap_or_else(|| std::fs::read_to_string(self.client.root.join(file)).expect("a file"))
    }

    async fn introduced(&mut self, count: usize) -> Vec<Introduced> {
        let root = self.client.uri("");
        let news = |seen: &Seen| {
            let methods = ["workspace/diagnostic/refresh", "textDocument/publishDiagnostics"];
            methods.iter().map(|method| since(seen, 0, method).count()).sum::<usize>()
        };
        loop {
            let before = news(&self.client.seen());
            let pulled = self.pull();
            let mut shown = self.client.seen().diagnostics.clone();
            for (uri, items) in pulled {
                shown.entry(uri).or_default().extend(items);
            }
            let own = self.marked(&root, &shown);
            if own.len() >= count {
                return own;
            }
            self.client.wait("more of it", |seen| (news(seen) > before).then_some(()));
        }
    }
}

impl Helix {
    /// What is marked as introduced: diagnostics of ours, and the server's own with a word in the hover of their line.
    fn marked(&self, root: &str, shown: &BTreeMap<String, Vec<Value>>) -> Vec<Introduced> {
        let mut marked = BTreeSet::new();
        for (uri, item) in shown.iter().flat_map(|(uri, items)| items.iter().map(move |item| (uri, item))) {
            let Some(path) = uri.strip_prefix(root).map(|path| path.trim_start_matches('/')) else { continue };
            let at = item["range"]["start"]["line"].as_u64().expect("a line");
            let place = format!("{path}:{}", at + 1);
            let text = item["message"].as_str().unwrap_or_default();
            if item["source"] == "sextant" {
                let text = text.strip_prefix("introduced: ").expect("a mark");
                marked.insert((place, format!("{}: {text}", kind(item["severity"].as_u64()))));
                continue;
            }
            let position = json!({"textDocument": {"uri": uri}, "position": {"line": at, "character": 0}});
            let answer = self.client.request("textDocument/hover", position);
            for line in answer["result"]["contents"]["value"].as_str().unwrap_or_default().lines() {
                let Some(named) = line.strip_prefix("**Introduced by the agent** (") else { continue };
                let (severity, text) = named.split_once("): ").expect("a severity");
                let number = ["error", "warning"].iter().position(|word| *word == severity).map(|at| at as u64 + 1);
                marked.insert((place.clone(), format!("{}: {text}", kind(number))));
            }
        }
        marked.into_iter().collect()
    }
}

fn kind(severity: Option<u64>) -> &'static str {
    match severity {
        Some(ERROR) => "E",
        Some(WARNING) => "W",
        _ => "I",
    }
}
