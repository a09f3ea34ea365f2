//! Neovim as an editor: msgpack-RPC over stdio to the Lua layer. Only this folder names nvim-rs.

pub mod channel;
mod convert;
mod door;
mod editor;
mod handler;
mod wire;

pub use door::run;
