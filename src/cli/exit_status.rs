//! The exit statuses of every subcommand. README lists them.

use std::process::ExitCode;

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStatus {
    Done,
    /// Not done, or only in part; for `diff`, a new error.
    NotDone,
    /// An invalid command line; for `diff`, a check that was not possible.
    Invalid,
    /// The status of the language server behind `sextant lsp`.
    OfServer(u8),
}

impl CommandStatus {
    /// The status after a command's outcome: everything that was asked is done.
    pub(super) fn of_outcome(outcome: &Value) -> Self {
        Self::of(outcome["ok"] == true)
    }

    /// The status of `diff`: a finding fails it, and so does an unknown result under `--strict`.
    pub(super) fn of_diff(fails: bool, is_unknown: bool) -> Self {
        if is_unknown { Self::Invalid } else { Self::of(!fails) }
    }

    pub(super) fn of(done: bool) -> Self {
        if done { Self::Done } else { Self::NotDone }
    }
}

impl From<CommandStatus> for ExitCode {
    fn from(status: CommandStatus) -> Self {
        Self::from(match status {
            CommandStatus::Done => 0,
            CommandStatus::NotDone => 1,
            CommandStatus::Invalid => 2,
            CommandStatus::OfServer(code) => code,
        })
    }
}
