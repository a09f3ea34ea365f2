//! Makes, judges, carries out and replaces plans.

pub(crate) mod alternatives;
pub(crate) mod complete_step;
pub(crate) mod ending;
pub(crate) mod evaluate_checks;
pub(crate) mod make;
pub(crate) mod plan_chat;
pub(crate) mod read_only_steps;
pub(crate) mod replan;
pub(crate) mod run_edit_step;
pub(crate) mod run_plan;
pub(crate) mod run_step;
pub(crate) mod step_judgement;
pub(crate) mod step_result;
mod step_rollback;
pub(crate) mod validate_edited_plan;
pub(crate) mod validate_plan;
pub(crate) mod waiting_list;
pub(crate) mod waiting_plan;
