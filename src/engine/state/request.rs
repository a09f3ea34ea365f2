//! The request of a user, and the place that it is about.

use serde::{Deserialize, Serialize};

use crate::state::agent_config::PlanMode;
use crate::state::task_scope::Scope;

/// A request as a door passes it on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    pub text: String,
    /// The file that it is about, relative to the root or absolute; the workspace where absent.
    pub path: Option<String>,
    /// One-based lines, both included; the whole file where absent.
    pub lines: Option<(usize, usize)>,
    /// Symbols that were named instead of lines.
    pub symbols: Vec<String>,
    /// True if everything in the workspace may be changed; the path is then only the place of the user.
    pub workspace: bool,
    /// True if it goes on with the conversation before it, whose messages and results the model then has.
    pub follows: bool,
    /// The text of an entry of a list, such as the quickfix list, that the request was made on; empty elsewhere.
    pub entry: String,
    /// The scope and mode of the same request before, where the user asks it again. No program outside sends it.
    #[serde(skip)]
    pub earlier: Option<EarlierTask>,
}

/// The scope and mode of an earlier task, for the request that repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierTask {
    pub(crate) scope: Scope,
    /// The way in which its plan was carried out; `None` for a request without a plan.
    pub(crate) mode: Option<PlanMode>,
}
