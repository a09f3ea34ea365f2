//! End-to-end tests: the real programs, and fakes where a program cannot be made to misbehave.

mod headless;
mod servers;
mod support;
