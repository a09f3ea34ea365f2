//! The requests that a user may make of the agent: one file a command.

pub(crate) mod answer_question;
pub(crate) mod apply_block;
pub(crate) mod approve;
pub(crate) mod ask;
pub(crate) mod ask_again;
pub(crate) mod block_edit;
mod block_home;
pub(crate) mod changed_text;
pub(crate) mod client_call;
pub(crate) mod conversations;
pub(crate) mod direct_action;
pub(crate) mod edit_diff;
pub(crate) mod edit_plan;
pub(crate) mod file_outline;
pub(crate) mod forget;
pub(crate) mod intents;
pub(crate) mod locate_name;
pub(crate) mod names_starting;
pub(crate) mod noted_diff;
pub(crate) mod plan;
pub(crate) mod remember;
pub(crate) mod rename_request;
pub(crate) mod resume;
pub(crate) mod review_changes;
pub(crate) mod undo;
