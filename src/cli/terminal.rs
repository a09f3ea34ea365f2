//! Writes everything that the command line prints: no output can steer the reader's terminal.
//!
//! A reader that went away (`| head`) is not an error.

use std::io::{Result, Write};

use crate::cli::cli_wording;
use crate::cli::exit_status::CommandStatus;
use sextant_base::failure::Failure;
use sextant_base::printable::{escaped, printable};

/// One line on standard output.
pub(super) fn line(text: &str) {
    piece(&format!("{text}\n"));
}

/// A piece of a text on standard output, which is seen at once.
pub(super) fn piece(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(printable(text).as_bytes()).and_then(|()| out.flush());
}

/// One line of JSON on standard output.
pub(super) fn json(value: &serde_json::Value) {
    json_text(&value.to_string());
}

/// The same of JSON that is a text already.
pub(super) fn json_text(json: &str) {
    let _ = json_to(&mut std::io::stdout().lock(), json);
}

/// One line of JSON on standard output, or on its substitute.
///
/// # Errors
/// The output is no longer read.
pub(super) fn json_to(out: &mut impl Write, json: &str) -> Result<()> {
    writeln!(out, "{}", escaped(json))?;
    out.flush()
}

/// One line on standard error.
pub(super) fn complain(text: &str) {
    note(&format!("{text}\n"));
}

/// A piece of a text on standard error: text for the terminal and not for the output.
pub(super) fn note(text: &str) {
    let _ = std::io::stderr().lock().write_all(printable(text).as_bytes());
}

/// A failure with its hint, on standard error.
pub(super) fn fail(failure: &Failure) {
    let failure = cli_wording::failure(failure);
    complain(&format!("sextant: {}\n  → {}", failure.message, failure.hint));
}

/// Sends the message of a panic the same way: it may quote a text.
pub(super) fn catch_panics() {
    std::panic::set_hook(Box::new(|info| {
        let trace = std::backtrace::Backtrace::capture();
        complain(&info.to_string());
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            complain(&trace.to_string());
        }
    }));
}

/// The output of the command line's parser: help, or the fault of the arguments, which it quotes.
pub(super) fn usage(error: &clap::Error) -> CommandStatus {
    let text = error.render().to_string();
    if printable(&text) == text {
        // Nothing in it steers a terminal: it may keep its colours.
        let _ = error.print();
    } else if error.use_stderr() {
        note(&text);
    } else {
        piece(&text);
    }
    if error.use_stderr() { CommandStatus::Invalid } else { CommandStatus::Done }
}
