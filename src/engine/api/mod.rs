//! Exports the engine's one door: the requests to a session, its events, and the duties of an editor. Doors and editors
//! name nothing else of the engine.

mod changed_texts;
mod command;
mod engine;
mod file_symbols;
mod late_outcomes;
mod turn;
mod user_edits;
mod user_talk;
mod waiting_tasks;

pub use changed_texts::{ChangedText, ReachOfTexts, reach_of_texts};
pub use command::{Command, CommandOutcome, Submitted};
pub use engine::Engine;
pub use turn::{Origin, TaskInTurn, TaskTurn, TurnHeld, busy};

// Requests and their outcomes.
pub use crate::commands::block_edit::{BlockRequest, FoundTarget};
pub use crate::commands::changed_text::ReviewedDiff;
pub use crate::commands::client_call::OutsideAnswer;
pub use crate::commands::edit_plan::{EditedPlan, PlanRefused};
pub use crate::commands::file_outline::OutlinedSymbol;
pub use crate::commands::locate_name::LocatedName;
pub use crate::commands::names_starting::StartingNames;
pub use crate::commands::undo::list::{self as history, History, UndoState};
pub use crate::commands::undo::undo_lines::StandingChange;
pub use crate::commands::undo::{UndoRequest, Undone};
pub use crate::diagnostics::outside_look::SETTINGS;
pub use crate::durable::stored_traces::{Traced, list_markdown as traces_markdown};
pub use crate::edit::idempotent_edit::EditMade;
pub use crate::memory::statistics;
pub use crate::state::agent_config::{Config, PlanMode};
pub use crate::state::approvals::UserAnswer;
pub use crate::state::neighbour_sessions::{HeldElsewhere, Holding, Neighbours};
pub use crate::state::outcome::{Ending, Outcome};
pub use crate::state::outside_clients::OutsideClient;
pub use crate::state::request::Request;
pub use crate::state::undo_target::{ChangedLines, Target};

// Requests of before.
pub use crate::commands::ask_again::AskedBefore;
pub use crate::state::request::EarlierTask;

// Reviews.
pub use crate::commands::edit_diff::DiffRefused;
pub use crate::commands::review_changes::{ReviewAction, ReviewRequest, ReviewScope, ReviewState};
pub use crate::state::review::review_hunk::{HunkWords, ReviewHunk, ReviewedFile};
pub use crate::state::review::workspace_review::ReviewNote;

// Plans.
pub use crate::commands::intents::is_stop;
pub use crate::plan::document as plan_document;
pub use crate::plan::work_mode::Phase;
pub use crate::plan::{Plan, Step, StepState, Steps};
pub use crate::planner::replan::change as plan_change;

// Events.
pub use crate::editor::event::{Event, Exchange, LoggedConversation, QuestionKind, QuickfixEntry, WaitPhase};
pub use crate::events::envelope::{EventEnvelope, TaskEvent};
pub use crate::events::events_state::StreamState;
pub use crate::events::fact::TaskFact;
pub use crate::events::subscription::{Delivery, Subscription};

// Duties of an editor.
pub use crate::editor::editor_error::EditorError;
pub use crate::editor::editor_lookup::{LookupAnswer, MOST_PLACES, NameLookup, SaidOfName, Worth, worth};
pub use crate::editor::workspace_edit;
pub use crate::editor::{
    Applied, Attachments, Diagnostics, Document, Documents, Editor, FileEdit, FileMarks, Fix, FixAnswers, HalfDone,
    HeldFile, LanguageServers, Marks, Save, Ui, WorkspaceChange,
};

// Tools.
pub use crate::tools::command_permission::objection as command_objection;
pub use crate::tools::tool::{OutsideTool, ToolDefinition};
pub use crate::tools::tool_list::{for_clients as client_tools, mcp_tools, specs as tool_specs};
