//! What a user may ask of the agent: one file a command.

pub mod agent;
pub(crate) mod answer_question;
pub(crate) mod approve;
pub(crate) mod ask;
pub mod client_call;
pub mod edit_plan;
pub mod forget;
pub mod intents;
pub(crate) mod plan;
pub(crate) mod remember;
pub(crate) mod resume;
pub mod turn;
pub mod undo;
