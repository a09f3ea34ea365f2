//! Sextant: an AI agent inside Neovim that navigates by symbols instead of line numbers.
//!
//! The rooms and what each may import are drawn in `doc/architecture.md`; `tests/tidy.rs` holds them to it.

#![deny(unreachable_pub)]

pub mod agent;
pub mod base;
pub mod cli;
pub mod diagnostics;
pub mod editor;
pub mod editors;
pub mod edits;
pub mod llm;
pub mod memory;
pub mod serve;
pub mod symbols;
pub mod workspace;
