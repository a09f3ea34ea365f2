//! Neovim as an editor: msgpack-RPC over stdio to the Lua layer. Only this folder names nvim-rs.

#![deny(unreachable_pub)]

mod beside;
pub mod channel;
mod convert;
mod door;
pub mod editor;
mod handler;
mod joined;
mod late;
mod lookup;
mod offers;
mod pages;
mod parts;
mod torn;
pub mod wire;
mod wording;

pub use door::{OnOpen, run};
