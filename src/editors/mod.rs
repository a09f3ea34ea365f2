//! The editors: each room implements `Editor` for one of them.

pub mod headless;
