//! The command line: one file a subcommand, and the wiring of rooms to each other.

mod log;
mod models;
mod nvim;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// An AI agent inside Neovim and Helix that navigates by symbols instead of line numbers.
#[derive(Debug, Parser)]
#[command(name = "sextant", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the Neovim that starts this process, over standard input and output
    Nvim(nvim::Arguments),
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    match Cli::parse().command {
        Command::Nvim(arguments) => nvim::run(&arguments),
    }
}
