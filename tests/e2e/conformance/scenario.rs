//! A scenario as its file says it: a workspace, what the model answers, and what the user does and sees, in words of no
//! editor.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::conformance::client::EndKind;
use crate::support::model_server::Reply;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it shows, for whoever reads a failure.
    pub about: String,
    pub server: ServerKind,
    pub files: BTreeMap<String, String>,
    /// What the model says, in order.
    #[serde(default)]
    pub model: Vec<ModelAnswer>,
    #[serde(rename = "step")]
    pub steps: Vec<Act>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    Ruff,
    Basedpyright,
    /// `tests/fixtures/fake_server.py`, which reports each word `bad`.
    Fake,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelAnswer {
    #[serde(default)]
    tool: String,
    #[serde(default)]
    with: Value,
    /// True if it goes on after this.
    #[serde(default)]
    more: bool,
    /// What it says instead of calling a tool.
    #[serde(default)]
    says: String,
    /// The steps of a plan.
    #[serde(default)]
    plan: Vec<Value>,
    /// True if it waits until the scenario lets it go.
    #[serde(default)]
    pub held: bool,
}

impl ModelAnswer {
    pub fn reply(&self) -> Reply {
        if !self.plan.is_empty() {
            let full = |step: &Value| {
                let mut whole = json!({"title": "", "symbols": [], "because": "asked", "expect": "it is so"});
                for (name, value) in step.as_object().expect("a step of a plan") {
                    whole[name] = value.clone();
                }
                whole
            };
            let steps: Vec<Value> = self.plan.iter().map(full).collect();
            return Reply::Json(json!({"title": "The plan", "reason": "asked", "steps": steps, "confidence": 1}));
        }
        let action = match self.tool.is_empty() {
            true => Value::Null,
            false => json!({"tool": self.tool, "parameters": self.with}),
        };
        Reply::Json(json!({
            "action": action, "reasoning": "because it was asked", "continue": self.more,
            "confidence": 0.9, "answer": self.says,
        }))
    }
}

/// One thing that the user does, or that is so then.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Open(String),
    /// Types a text over another one that stands once in the file.
    Type(Typed),
    Ask(Asked),
    Plan(Asked),
    EditPlan(Change),
    Do(Plain),
    /// Waits until so many requests have come to the model.
    Requests(usize),
    /// Waits for the end of what was begun last.
    Ends(Ends),
    /// What the user sees of a file: its buffer where one is open, the file elsewhere.
    Text(FileIs),
    /// What stands in the file itself.
    Disk(FileIs),
    /// Exactly what is shown as introduced.
    New(Vec<NewIs>),
    /// The steps of the plan with their marks.
    Steps(Vec<String>),
    Told(ToldIs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plain {
    Approve,
    /// Runs the next step of the plan alone.
    Step,
    Undo,
    Redo,
    Stop,
    /// Writes every buffer that the agent or the user has changed.
    SaveAll,
    KillServer,
    /// Lets the model say what it holds back.
    Release,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    pub file: String,
    pub over: String,
    pub text: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub file: String,
    /// One-based; all of the file without it.
    pub line: Option<usize>,
    /// True if every file may be changed.
    #[serde(default)]
    pub everywhere: bool,
    pub text: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub old: String,
    pub new: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    pub how: EndKind,
    #[serde(default)]
    pub says: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIs {
    pub file: String,
    pub is: Option<String>,
    #[serde(default)]
    pub has: Vec<String>,
    #[serde(default)]
    pub lacks: Vec<String>,
}

/// A diagnostic at `path:line`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewIs {
    pub at: String,
    pub has: String,
}

/// What the model reads in its request of this number, counted from 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldIs {
    pub request: usize,
    #[serde(default)]
    pub has: Vec<String>,
    #[serde(default)]
    pub lacks: Vec<String>,
}
