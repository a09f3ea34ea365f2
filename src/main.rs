//! The `sextant` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    sextant::cli::run().into()
}
