//! The configuration of the agent, as every door reads it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::editor::Save;
use crate::plan::work_mode::Mode;
use sextant_diagnostics::model::Severity;

/// The options of the user. Unknown keys are errors, so that a typing mistake does not silently give the default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The way in which a plan is carried out.
    pub mode: PlanMode,
    pub diagnostics: Checks,
    pub save: Save,
    pub review: ReviewTime,
    pub quickfix: Quickfix,
    pub limits: Limits,
    pub memory: MemoryOptions,
    pub rpc: RpcOptions,
    /// Commands that a model may run without asking, each the beginning of one: `pytest`, `cargo test`.
    pub commands_allowed: Vec<String>,
    /// Environment variables that such commands get beside those that every program needs, by name.
    pub commands_env: Vec<String>,
    /// The user's preferences in every project, by name; the model gets each of them.
    pub preferences: BTreeMap<String, String>,
}

/// The time at which the user reviews edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewTime {
    /// When the user asks for it.
    #[default]
    Never,
    /// At the end of a task; the editor opens the review.
    After,
    /// Each edit, before it is written.
    Before,
}

/// The modes that begin with a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMode {
    #[default]
    Planner,
    Supervised,
}

impl From<PlanMode> for Mode {
    fn from(mode: PlanMode) -> Self {
        match mode {
            PlanMode::Planner => Self::Planner,
            PlanMode::Supervised => Self::Supervised,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Checks {
    /// True if every edit is answered with the diagnostics that it introduced.
    pub on_edit: bool,
    /// Milliseconds for one edit's diagnostics, everything included.
    pub timeout_ms: u64,
    /// Milliseconds for the first look at a file, while a server may still be starting.
    pub start_timeout_ms: u64,
    /// The most files that are looked at because they use a name that an edit changes, and are not open.
    pub reach: usize,
    /// The least severity that is reported.
    pub severity_floor: Severity,
    /// The most new diagnostics that one answer lists; the rest is a number.
    pub max: usize,
    /// The consequence for a task that ends with new errors.
    pub new_errors: NewErrors,
}

/// The consequence for the changes of a task that ends with new errors, after its model has seen them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewErrors {
    /// The changes stay, and the task is not done.
    Keep,
    /// The changes are undone where a file does not parse any more.
    #[default]
    UndoSyntax,
    /// The changes are undone.
    Undo,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            on_edit: true,
            timeout_ms: 1000,
            start_timeout_ms: 30_000,
            reach: 30,
            severity_floor: Severity::Warning,
            max: 20,
            new_errors: NewErrors::default(),
        }
    }
}

/// The access of other programs to a session, beside its socket.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RpcOptions {
    /// True if a port of this machine serves it as well, for programs that know a token.
    pub port: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quickfix {
    /// True to open the list after a task has introduced something.
    pub open: bool,
}

impl Default for Quickfix {
    fn default() -> Self {
        Self { open: true }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The most steps of one task.
    pub steps: u32,
    /// Errors in a row that end a task.
    pub errors: u32,
    /// The most tokens of one task, questions and answers together; 0 is no limit.
    pub tokens: u64,
    /// The most seconds of one task, without the waits for an answer of the user; 0 is no limit.
    pub seconds: u64,
    /// The most that one task may cost, in the currency of the model's price; 0 is no limit.
    pub cost: f64,
    /// Seconds after which a command is killed, at least 1.
    pub command_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 25, errors: 3, tokens: 0, seconds: 0, cost: 0.0, command_seconds: 60 }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryOptions {
    /// True if anything is remembered. Turned off, no file is made.
    pub enabled: bool,
    /// The name that entries are stored and recalled under: the same one recalls the work of an hour ago, in another
    /// process too.
    pub session: String,
    /// Megabytes (2^20 bytes) that the checkpoints of tasks may take. The least recently used go first; those of the
    /// last task and of every task that can be resumed stay.
    pub checkpoints_mb: u64,
    /// Sextant's state folder, as the door finds it; see `src/store/workspace/record_folder.rs`. Not an option of the
    /// user: the environment sets it.
    #[serde(skip)]
    pub state: Option<PathBuf>,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { enabled: true, session: "main".to_owned(), checkpoints_mb: 256, state: None }
    }
}
