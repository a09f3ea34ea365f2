//! Runs one task from its start to its end: the facts for the model, its actions, and when it stops.

pub(crate) mod choose_loop;
pub(crate) mod compact_loop;
pub(crate) mod compaction_summary;
pub(crate) mod completion_checks;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod conventions;
pub(crate) mod converse;
pub(crate) mod early_stop;
pub(crate) mod file_list;
pub(crate) mod finish;
pub(crate) mod model_turn;
pub(crate) mod paragraphs;
pub(crate) mod quickfix_lists;
pub(crate) mod repair_scope;
pub(crate) mod request_names;
pub(crate) mod requested;
pub(crate) mod run_loop;
pub(crate) mod run_tool_call;
pub(crate) mod schedule_calls;
pub(crate) mod sources;
pub(crate) mod start;
pub(crate) mod step_contract;
pub(crate) mod unfit_ending;
pub(crate) mod wait_for_late;
pub(crate) mod widen_scope;
