//! What the user is shown while a task runs. Front ends render these and decide nothing.

use serde::{Deserialize, Serialize};

use sextant_base::failure::Failure;

/// One line of the quickfix list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickfixEntry {
    /// Path relative to the root.
    pub path: String,
    /// One-based.
    pub line: u32,
    /// One-based, in bytes of the line.
    pub column: u32,
    /// `E`, `W`, `I`, `N`, as in Neovim's quickfix `type`.
    pub kind: String,
    /// `Cart::total: message [code]`.
    pub text: String,
}

/// What a question is about, and so which answers that were given beforehand fit it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// How a plan that has paused goes on.
    #[default]
    Plan,
    /// What the model, or a request of several meanings, wants to know.
    Ask,
    /// Whether the model may edit more than it was given.
    Scope,
    /// Whether an edit may go further than mending.
    Edit,
    /// What forgetting may cost.
    Forget,
    /// Whether a command is run.
    Command,
    /// Whether a file is changed that something runs, or that says how strict the checkers are.
    File,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    Started {
        request: String,
        mode: String,
        model: String,
    },
    /// What the task may cost and break. Information only.
    Risk {
        level: String,
        /// Steps that it is expected to take; those of the plan where there is one.
        steps: usize,
        /// 0 to 1.
        complexity: f64,
        /// 0 to 1: how much this estimate is worth.
        confidence: f64,
        reasons: Vec<String>,
        /// All of it in a line, in the language of the request.
        line: String,
    },
    /// What is being waited for.
    Progress {
        text: String,
    },
    /// The model's words, as they come.
    Words {
        text: String,
    },
    /// A tool is about to run.
    Acting {
        step: u32,
        tool: String,
        target: String,
        reasoning: String,
    },
    /// A tool has answered; `text` is its text form.
    Acted {
        step: u32,
        tool: String,
        ok: bool,
        text: String,
    },
    /// A file was changed by the agent.
    Edited {
        path: String,
        symbols: Vec<String>,
    },
    /// The plan document as it stands. `phase` is the execution phase.
    Plan {
        markdown: String,
        phase: String,
        /// How many steps it has, and what came of them so far.
        steps: usize,
        done: usize,
        failed: usize,
        /// The step that runs, counted from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        running: Option<usize>,
    },
    /// What led to what in a task, for a reader.
    Trace {
        markdown: String,
    },
    /// Something else to read, in a window of its own: `statistics`, `memory`.
    Page {
        name: String,
        markdown: String,
    },
    /// The user has changed the mode in words; the front end keeps it for other workspaces.
    Mode {
        mode: String,
    },
    /// The work waits for an answer: one of the options, counted from 1.
    Question {
        text: String,
        options: Vec<String>,
        #[serde(default)]
        kind: QuestionKind,
        /// What would be written, line by line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shows: Option<String>,
    },
    /// The diagnostics that the task has introduced and not repaired, for the quickfix list.
    Introduced {
        title: String,
        entries: Vec<QuickfixEntry>,
        /// Whether the list is to be opened where there is something in it.
        open: bool,
        /// Whether this amends the list of the same task shown before (a late answer).
        amend: bool,
        /// Whose list it is: a client's task; empty for the task that runs, or ran last.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        of: String,
    },
    /// A process died over this task. It can be resumed or undone.
    Interrupted {
        request: String,
        /// Steps of its plan that are done, of so many; 0 of 0 without a plan.
        done: usize,
        of: usize,
        /// What was found half done, and what became of it.
        notes: Vec<String>,
    },
    /// A plan of an earlier process waits. It can be resumed or undone.
    Waiting {
        request: String,
        /// Steps that are done, of so many.
        done: usize,
        of: usize,
    },
    Finished {
        ok: bool,
        summary: String,
    },
    Failed {
        failure: Failure,
    },
    /// A request that was not taken on: nothing began, and what runs or stands goes on.
    Refused {
        failure: Failure,
    },
}
