//! Sextant: an AI agent inside Neovim that navigates by symbols instead of line numbers.
//!
//! The crates and what each may use are drawn in `doc/architecture.md`. This one is the command line, and gives the
//! tests the others by one name each.

#![deny(unreachable_pub)]

pub mod cli;

pub use sextant_base as base;
pub use sextant_diagnostics as diagnostics;
pub use sextant_engine::api as engine;
pub use sextant_model as llm;
pub use sextant_serve as serve;
pub use sextant_store::{memory, workspace};
pub use sextant_text::{edits, symbols};

/// The editors that Sextant works in.
pub mod editors {
    pub use sextant_headless as headless;
    pub use sextant_helix as lsp;
    pub use sextant_nvim as nvim;
}
