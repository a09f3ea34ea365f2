//! Floor 0: text and positions, paths and URIs, deadlines, locks. Knows nothing of code, editors or models.

pub(crate) mod clock;
pub mod deadline;
pub mod failure;
pub mod hint;
pub mod lock;
pub(crate) mod message;
pub mod own;
pub mod path;
pub mod plural;
pub mod printable;
pub mod secrets;
pub mod text;
pub mod token;
