//! Models: what they are asked, what they answer, and the ways to reach them.

pub mod ask;
pub mod call;
pub mod endpoint;
pub mod offline;
pub mod price;
pub mod prompt;
pub mod remote;
pub mod reply;
pub mod retry;
pub mod schema;
pub mod step;
pub mod tokens;
pub mod tools;
pub mod words;
