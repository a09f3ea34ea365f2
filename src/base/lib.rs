//! Floor 0: text and positions, paths and URIs, deadlines, locks. Knows nothing of code, editors or models.

#![deny(unreachable_pub)]

pub mod clock;
pub mod deadline;
pub mod failure;
pub mod hint;
pub mod lock;
pub mod message;
pub mod own;
pub mod path;
pub mod plural;
pub mod printable;
pub mod secrets;
pub mod text;
pub mod token;
