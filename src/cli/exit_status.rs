//! The exit statuses of every subcommand. README lists them.

use std::process::ExitCode;

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
