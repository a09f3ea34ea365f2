//! The product in a real Neovim with real basedpyright and ruff.

pub mod ask;
mod buffers;
mod failures;
mod modes;
mod plan;
