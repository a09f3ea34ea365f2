//! The product in a real Neovim, with real basedpyright and ruff, and with a server that misbehaves.

mod apply;
mod ask;
mod failures;
mod plan;
mod servers;
