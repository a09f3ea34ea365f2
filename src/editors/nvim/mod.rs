//! Neovim as an editor: msgpack-RPC over stdio to the Lua layer. Only this folder names nvim-rs.

pub mod channel;
mod convert;
mod door;
pub mod editor;
mod handler;
mod joined;
pub mod wire;

pub use door::run;
