//! `sextant sessions`: lists the editors and other programs that have a session open, in every workspace.

use crate::cli::exit_status::CommandStatus;

use clap::Args;
use serde_json::json;

use crate::cli::settings::session_folders;
use crate::cli::terminal;
use sextant_base::clock::now_ms;
use sextant_serve::discovery::{SessionEntry, find_sessions};

#[derive(Debug, Args)]
pub(super) struct SessionsArguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &SessionsArguments) -> CommandStatus {
    let found = find_sessions::everywhere(&session_folders());
    if arguments.json {
        terminal::json(&json!({"sessions": found.entries, "problems": found.problems}));
        return CommandStatus::Done;
    }
    if found.entries.is_empty() {
        terminal::line("No session runs. The first command in an editor opens one.");
    }
    found.entries.iter().map(line).for_each(|text| terminal::line(&text));
    found.problems.iter().for_each(|problem| terminal::complain(&format!("sextant: {problem}")));
    CommandStatus::Done
}

/// `nvim-4242  the/project  process 4243, for 12 min`.
fn line(entry: &SessionEntry) -> String {
    let seconds = now_ms().saturating_sub(entry.started).max(0) / 1000;
    let age = match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    };
    format!("{}  {}  process {}, for {age}", entry.name, entry.root.display(), entry.pid)
}
