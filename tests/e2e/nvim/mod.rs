//! The product in a real Neovim, with real basedpyright and ruff, and with a server that misbehaves.

mod apply;
pub mod ask;
mod between;
mod buffers;
mod commands;
mod compact;
mod confidence;
mod doors;
mod durable;
mod failures;
mod gone;
mod memory;
mod mended;
mod modes;
mod moods;
mod plan;
mod reach;
mod record;
mod said;
mod seen;
mod servers;
mod stops;
mod tabs;
mod tasks;
mod trace;
mod wide;
mod windows;
