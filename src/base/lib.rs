//! Floor 0: text and positions, paths and URIs, deadlines, locks. Knows nothing of code, editors or models.

#![deny(unreachable_pub)]

pub mod access_token;
pub mod clock;
pub mod deadline;
pub mod document_fault;
pub mod failure;
pub mod given_secrets;
pub mod hint;
pub mod lock;
pub mod one_line;
pub mod path;
pub mod plural;
pub mod positions;
pub mod printable;
pub mod private_files;
pub mod secrets;
pub mod suppressions;
pub mod token_estimate;
