//! The diagnostics of the providers: collected, compared with the baseline, ranked, with the fixes that they offer.

pub(crate) mod code_actions;
pub(crate) mod collect_diagnostics;
pub(crate) mod edit_reach;
mod gone_commands;
pub(crate) mod importer_chain;
mod included_texts;
mod line_reach;
pub(crate) mod look_before;
mod merged_types;
pub(crate) mod outside_look;
mod pasted_names;
pub(crate) mod reached;
pub(crate) mod references;
pub(crate) mod relevant;
pub(crate) mod reported;
pub(crate) mod step_verdict;
pub(crate) mod triage;
mod unchecked_uses;
mod untyped_files;
pub(crate) mod workspace_look;
mod workspace_texts;
