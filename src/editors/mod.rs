//! The editors that Sextant works in, each an implementation of [`crate::editor::Editor`].

pub mod headless;
pub mod lsp;
pub mod nvim;
