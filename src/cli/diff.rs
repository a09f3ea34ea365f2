//! `sextant diff`: reports the diagnostics that a change introduced, fixed, hid or uncovered, and sets the exit status.

mod batch_cases;
mod beyond_git;
mod checkout;
mod collect_side;
mod compare;
mod compare_sides;
mod confirm;
mod diff_arguments;
mod diff_progress;
mod git;
mod json;
mod report;
mod revisions;
mod sarif;
mod selection;

use crate::cli::exit_status::CommandStatus;
use std::time::Duration;

use crate::cli::diff::compare::Comparison;
use crate::cli::diff::diff_arguments::OutputFormat;
use crate::cli::{cli_wording, log, runtime, terminal};
use sextant_base::failure::{Failure, FailureKind};

pub(super) use crate::cli::diff::diff_arguments::DiffArguments;

pub(super) fn run(arguments: &DiffArguments) -> CommandStatus {
    if let Some(path) = &arguments.files.log {
        log::start(path);
    }
    if arguments.batch {
        return match batch_cases::run(std::io::stdin().lock(), std::io::stdout().lock()) {
            Ok(()) => CommandStatus::Done,
            Err(failure) => fail(&failure, arguments.format),
        };
    }
    let ended = match runtime::start() {
        Ok(runtime) => {
            let ended = runtime.block_on(async {
                tokio::select! {
                    ended = compare_sides::answer(arguments) => ended,
                    () = runtime::interrupted() => Err(Failure::new(FailureKind::Cancelled, "stopped", "nothing was changed")),
                }
            });
            runtime.shutdown_timeout(Duration::from_millis(200));
            ended
        }
        Err(failure) => Err(failure),
    };
    match ended {
        Ok(mut found) => {
            let status = status(&found, arguments);
            found.keep_from(arguments.thresholds.severity.severity());
            print(&found, arguments.format);
            status
        }
        Err(failure) => fail(&failure, arguments.format),
    }
}

fn status(found: &Comparison, arguments: &DiffArguments) -> CommandStatus {
    let fails = arguments.thresholds.fail_on.severity().is_some_and(|severity| found.has_new(severity));
    CommandStatus::of_diff(fails, arguments.thresholds.strict && found.is_partial())
}

fn print(found: &Comparison, format: OutputFormat) {
    let text = match format {
        OutputFormat::Text => report::text(found),
        OutputFormat::Json => json::json(found).to_string(),
        OutputFormat::Sarif => sarif::sarif(found).to_string(),
        OutputFormat::Errorformat => {
            // Unknown results must not look like empty ones: they go where they disturb no reader of lines.
            report::unknown(found).iter().for_each(|what| complain(&format!("not known: {what}")));
            report::errorformat(found)
        }
    };
    if !text.is_empty() {
        match format {
            OutputFormat::Json | OutputFormat::Sarif => terminal::json_text(&text),
            OutputFormat::Text | OutputFormat::Errorformat => terminal::line(&text),
        }
    }
}

fn complain(text: &str) {
    terminal::complain(&format!("sextant: {text}"));
}

fn fail(failure: &Failure, format: OutputFormat) -> CommandStatus {
    let failure = &cli_wording::failure(failure);
    complain(&format!("{}\n  → {}", failure.message, failure.hint));
    if format == OutputFormat::Json {
        terminal::json(&serde_json::json!({"type": "failed", "failure": failure}));
    }
    CommandStatus::Invalid
}
