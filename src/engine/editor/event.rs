//! The events that a user sees while a task runs. Front ends render these and decide nothing.

use serde::{Deserialize, Serialize};

use sextant_base::document_fault::DocumentFault;
use sextant_base::failure::Failure;
use sextant_model::step::{LastResult, Spoken};

/// The task, or the step of it, that a line of a page is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageEntry {
    /// From 1.
    pub line: usize,
    pub task: String,
    /// The number that `undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}

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
    /// The providers that report it: `lsp:NAME`, `tool:NAME`. Empty for other lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// The subject of a question, which decides which answers given beforehand fit it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The way on for a plan that has paused.
    #[default]
    Plan,
    /// A question of the model, or about a request of several meanings.
    Ask,
    /// Permission for the model to edit more than it was given.
    Scope,
    /// Permission for an edit that goes further than a repair.
    Edit,
    /// The cost that forgetting may have.
    Forget,
    /// Permission to run a command.
    Command,
    /// Permission to change a file that something runs, or one that sets how strict the checkers are.
    File,
}

/// One request of a conversation, with its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exchange {
    pub request: String,
    pub answer: String,
    /// The lines that were shown beside it as it ran, in order; empty for one of an older program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ShownPart>,
    /// The summary of its end, or of what it had changed when it failed; empty for one of an older program.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// The last results of its tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) results: Vec<LastResult>,
}

/// One part of a conversation, as it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShownPart {
    /// Words of the model.
    Words { text: String },
    Call {
        step: u32,
        tool: String,
        target: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<CallResult>,
    },
    /// A line of progress, such as words of the user for the running task.
    Note { text: String },
    /// The estimate of the request.
    Risk { text: String },
    Question {
        text: String,
        options: Vec<String>,
        /// The text to be written, line by line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shows: Option<String>,
        /// `2. allow exactly this`, or the words of the user; absent without an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
}

/// The result of a call, as its line shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    pub ok: bool,
    pub text: String,
}

/// A conversation, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedConversation {
    /// The name of its last task.
    pub id: String,
    /// The last work on it, in seconds since 1970.
    pub at: i64,
    pub turns: usize,
    pub title: String,
}

/// The thing that a task waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitPhase {
    /// The reports of the language servers.
    Servers,
    /// The answer of the model.
    #[default]
    Model,
    /// The same, while it reasons.
    Thinking,
    /// The next attempt, after the model's server did not answer usably.
    Retry,
    /// Nothing outside: the answer of the model is carried out.
    Working,
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
        /// The expected number of steps; those of the plan where there is one.
        steps: usize,
        /// 0 to 1.
        complexity: f64,
        /// 0 to 1: the reliability of this estimate.
        confidence: f64,
        reasons: Vec<String>,
        /// All of it in one line, in the language of the request.
        line: String,
    },
    /// The thing that the work waits for.
    Progress {
        text: String,
    },
    /// The thing that the running task waits for from here on.
    Phase {
        phase: WaitPhase,
        /// The reason and number of a retry; else empty.
        detail: String,
        /// Tokens that the task has used so far.
        tokens: u64,
    },
    /// The words of the model as they arrive.
    Words {
        text: String,
        /// Set for its thinking aloud, which is not a part of its answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        thought: bool,
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
        /// The number of its steps, and their results so far.
        steps: usize,
        done: usize,
        failed: usize,
        /// The step that runs, counted from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        running: Option<usize>,
        /// True if a late answer has changed an outcome in it, and nothing else is new.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        amend: bool,
    },
    /// The causes and effects in a task, for a reader.
    Trace {
        markdown: String,
    },
    /// Another page to read, in a window of its own: `statistics`, `memory`.
    Page {
        name: String,
        markdown: String,
        /// The work that lines of the page name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entries: Vec<PageEntry>,
    },
    /// The kept conversations of the workspace, newest first.
    Log {
        /// The words that each of them holds; empty for all.
        words: String,
        conversations: Vec<LoggedConversation>,
    },
    /// A conversation that the user has opened again.
    Conversation {
        exchanges: Vec<Exchange>,
    },
    /// The changes that wait for the user's review, after a look or a decision.
    Review {
        /// [`crate::api::ReviewState`] as JSON.
        state: serde_json::Value,
        /// True if the user asked for it, and it opens.
        open: bool,
    },
    /// The plan's text as the user has edited it was read: it is the plan, or it has faults and the plan stays.
    PlanChecked {
        faults: Vec<DocumentFault>,
    },
    /// The place of a name that the user pointed at.
    Place {
        /// Relative to the root.
        path: String,
        /// One-based.
        line: usize,
        /// In bytes, from 0.
        column: usize,
        /// True if the user pointed at it, rather than asked for it in a request.
        pointed: bool,
    },
    /// The symbol that a block of code is for, which the user confirms or changes.
    BlockTarget {
        /// The number that the front end gave its question.
        id: u64,
        /// `FILE::SYMBOL`.
        target: String,
        /// The effect in words: `replaces it`, `new, after Cart::total`.
        effect: String,
        /// The symbols of the file, for completion.
        symbols: Vec<String>,
    },
    /// The places that a request has asked for, for a list.
    Places {
        request: String,
        entries: Vec<QuickfixEntry>,
    },
    /// The requests that wait for the running task, oldest first, after a change of them.
    Queued {
        requests: Vec<String>,
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
        /// The text to be written, line by line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shows: Option<String>,
    },
    /// The open question is over, by an answer from any door or without one. Only an editor gets it: a subscriber has
    /// the answer in its stream.
    Answered,
    /// The diagnostics that the task has introduced and not repaired, for the quickfix list, and those that were seen
    /// again after the error that hid them went away. The text of an entry tells the two apart.
    Introduced {
        request: String,
        /// The reports that are still awaited, as text; empty if the list is complete.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        unknown: String,
        entries: Vec<QuickfixEntry>,
        /// True to open the list where it has an entry.
        open: bool,
        /// True if this amends the list of the same task shown before (a late answer).
        amend: bool,
        /// The owner of the list: a client's task; empty for the task that runs, or ran last.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        of: String,
        /// The task.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        task: String,
        /// The diagnostics that it has fixed, at the places where they stood.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fixed: Vec<QuickfixEntry>,
    },
    /// A process died during this task. The task can be resumed or undone.
    Interrupted {
        request: String,
        /// Finished steps of its plan, and all of them; 0 of 0 without a plan.
        done: usize,
        of: usize,
        /// The half-done work that was found, and its outcome.
        notes: Vec<String>,
    },
    /// A plan of an earlier process waits. It can be resumed or undone.
    Waiting {
        request: String,
        /// Finished steps, and all of them.
        done: usize,
        of: usize,
    },
    Finished {
        ok: bool,
        summary: String,
        /// The model's closing words, without the reasons that it gave before them; for a front end in this process.
        #[serde(skip)]
        answer: String,
    },
    Failed {
        failure: Failure,
    },
    /// Something that was not accepted, or a look that failed: nothing began, and the current work goes on.
    Refused {
        failure: Failure,
        /// The text of the refused request; empty where something else was refused, as a look at the review.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        request: String,
    },
}

impl Event {
    /// True if it answers a question of a front end, or is about what waits, and not about the work of a task.
    pub fn is_aside(&self) -> bool {
        matches!(
            self,
            Self::Page { .. }
                | Self::Review { .. }
                | Self::Place { .. }
                | Self::BlockTarget { .. }
                | Self::Places { .. }
                | Self::Log { .. }
                | Self::Conversation { .. }
                | Self::Queued { .. }
                | Self::PlanChecked { .. }
                | Self::Trace { .. }
                | Self::Mode { .. }
                | Self::Refused { .. }
        )
    }

    /// Words of a model.
    pub(crate) fn spoken(words: Spoken<'_>) -> Self {
        Self::Words { text: words.text.to_owned(), thought: words.thought }
    }

    /// The refusal of something that is no request of its own.
    pub fn refused(failure: Failure) -> Self {
        Self::Refused { failure, request: String::new() }
    }
}
