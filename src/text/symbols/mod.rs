//! Code as symbols: languages, the outline of a text, symbol paths both ways.

pub mod imports;
pub mod interface;
pub mod language;
pub mod outline;
pub mod symbol_path;
