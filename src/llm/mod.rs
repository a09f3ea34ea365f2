//! Models: what they are asked, what they answer, and the ways to reach them.

pub mod step;
