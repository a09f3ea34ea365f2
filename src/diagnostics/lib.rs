//! Diagnostics: the model, the claims of a report, and the diagnostics that a change introduced.

#![deny(unreachable_pub)]

pub mod benchmark_case;
mod cargo_units;
pub mod code_aliases;
pub mod command;
pub mod confined_git;
pub mod delta;
pub mod disk;
pub mod environment;
pub mod files_outside_root;
pub mod finding;
pub mod grouping;
pub mod language_checkers;
pub mod late_signal;
pub mod located;
pub mod merge;
pub mod model;
pub mod pair_count;
pub mod policy;
pub mod program;
pub mod render_located;
mod repository_bounds;
pub mod sarif;
pub mod server;
pub mod server_facts;
pub mod syntax;
pub mod unrequested_files;
