//! How fast memory answers over a million entries.
fn main() {}
