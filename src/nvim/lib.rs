//! Neovim as an editor: msgpack-RPC over stdio to the Lua layer. Only this folder names nvim-rs.

#![deny(unreachable_pub)]

mod answer_texts;
mod buffer_edits;
mod client_lookup;
mod command_providers;
mod compiler_reports;
mod door;
mod edit_parts;
pub mod editor;
mod handler;
mod joined_hunks;
mod late;
pub mod lua_channel;
pub mod lua_messages;
mod nvim_marks;
mod nvim_requests;
mod nvim_wording;
mod offers;
mod outside_files;
mod text_pages;
mod write_recovery;

pub use door::{OnOpen, run};
