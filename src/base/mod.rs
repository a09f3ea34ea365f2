//! Floor 0: text and positions, paths and URIs, deadlines. Knows nothing of code, editors or models.

pub mod deadline;
pub mod failure;
pub mod path;
pub mod text;
