//! Defines the three modes and the phases of an execution. The user chooses the mode; no code here ever changes it.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Act step by step until done.
    Simple,
    /// Plan first; plan again by itself when the work leaves the plan.
    Planner,
    /// The plan is agreed with the user, then runs alone; leaving it pauses and asks.
    Supervised,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simple => "simple",
            Self::Planner => "planner",
            Self::Supervised => "supervised",
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A plan is made, or waits for approval.
    #[default]
    Planning,
    Executing,
    /// Stopped by the user, or by a question to the user.
    Paused,
    Completed,
    Error,
}

impl Phase {
    /// The words in the title of the plan window.
    pub fn words(self) -> &'static str {
        match self {
            Self::Planning => "waiting for approval",
            Self::Executing => "executing",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Error => "failed",
        }
    }
}
