//! An adversary's suite: what a record, a model or a language server says may not reach outside, run or hang anything.
//!
//! Every case is made from a seed, which a failure prints: `ADVERSARY_SEED=7 cargo test --test adversary` repeats
//! it, `ADVERSARY_N=1000` has more of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod cheats;
mod dawdle;
mod files;
mod git;
mod hostile;
mod lines;
mod measure;
mod model;
mod nvim;
mod paths;
mod plant;
mod record;
mod sandbox;
mod seed;
mod servers;
mod stop;
#[path = "../e2e/support/mod.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod support;
mod swaps;
mod variants;
