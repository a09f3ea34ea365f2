//! Defines the command line of `sextant diff`: its options, and their defaults.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::settings::{ServerFolders, UserFiles};
use sextant_diagnostics::model::Severity;

const EXAMPLES: &str = "\
Examples:
  sextant diff                          what the uncommitted changes introduced
  sextant diff HEAD~1                   what the last commit and the uncommitted changes introduced
  sextant diff origin/main...HEAD       what this branch introduced since it left main
  sextant diff v1.0 v1.1 src/shop       between two tags, in one folder
  sextant diff --format sarif HEAD~1 > new.sarif
  vim -q <(sextant diff --format errorformat) --cmd 'set efm=%f:%l:%c:\\ %t%*[^:]:\\ %m'

Both sides are checked by the same language servers and commands: a revision in a temporary folder, the working tree
where it is (commands in a copy of it). Ignored environments and generated files are found from both.
Nothing is written to the repository.

Exit status: 0 where nothing new is as bad as --fail-on, 1 where something is, 2 where the question cannot be answered
(no repository, no such revision, no provider; with --strict also where a part is not known).";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(in crate::cli) struct DiffArguments {
    /// `REV`, `REV REV2`, `A..B` or `A...B`, then files and folders to hear about. One revision is compared with the
    /// working tree [default: HEAD]
    #[arg(value_name = "REV|PATH")]
    pub words: Vec<String>,
    /// Files and folders to hear about
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Answer cases, as JSON lines on standard input, without a repository and without servers
    #[arg(long, exclusive = true)]
    pub batch: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "text")]
    pub format: OutputFormat,
    #[command(flatten)]
    pub thresholds: Thresholds,
    #[command(flatten)]
    pub bounds: CheckBounds,
    /// Say on standard error how far it is, also where that is no terminal
    #[arg(long)]
    pub progress: bool,
    /// Project folder in the repository [default: the project around the current folder]
    #[arg(long)]
    pub root: Option<PathBuf>,
    #[command(flatten)]
    pub servers: ServerFolders,
    #[command(flatten)]
    pub files: UserFiles,
}

/// The severities that count, and their exit status.
#[derive(Debug, Args)]
pub(in crate::cli) struct Thresholds {
    /// The least severe diagnostics to hear about
    #[arg(long, value_enum, default_value = "warning")]
    pub severity: Floor,
    /// The least severe new diagnostic that makes the exit status 1
    #[arg(long, value_enum, default_value = "error")]
    pub fail_on: FailOn,
    /// Exit with 2 where a provider did not answer or files were left out
    #[arg(long)]
    pub strict: bool,
}

/// The extent of the check, and its time limit.
#[derive(Debug, Args)]
pub(in crate::cli) struct CheckBounds {
    /// Check the changed files alone, not what may have broken elsewhere
    #[arg(long)]
    pub changed_only: bool,
    /// The most files that are checked; the changed ones come first
    #[arg(long, value_name = "COUNT", default_value_t = 2000)]
    pub max_files: usize,
    /// Seconds that the providers may take for everything, their start included
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum OutputFormat {
    /// Grouped by file, one line a diagnostic
    Text,
    /// One object
    Json,
    /// A SARIF 2.1.0 log with baseline states and fingerprints, the unchanged diagnostics included
    Sarif,
    /// The new ones as `file:line:col: severity: symbol: message [code]`
    Errorformat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Floor {
    Error,
    Warning,
    Info,
    Hint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FailOn {
    Error,
    Warning,
    Never,
}

impl Floor {
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Hint => Severity::Hint,
        }
    }
}

impl FailOn {
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Never => None,
        }
    }
}
