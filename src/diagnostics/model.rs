//! A diagnostic and a provider's report, as data. A diagnostic is a hypothesis of its source, not a fact.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use sextant_base::deadline::Deadline;
use sextant_base::positions::{Encoding, LineIndex, Range};

/// LSP's four severities; smaller is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error = 1,
    Warning = 2,
    Info = 3,
    Hint = 4,
}

impl Severity {
    /// LSP leaves a missing severity to the client; it is read as an error, so that nothing is hidden.
    pub fn from_lsp(number: Option<u64>) -> Self {
        match number {
            Some(2) => Self::Warning,
            Some(3) => Self::Info,
            Some(4) => Self::Hint,
            _ => Self::Error,
        }
    }
}

/// The most diagnostics of one file that a report holds. The report of a server that sends more is incomplete. Matching
/// takes time and memory by the square of them.
pub const MOST: usize = 2_000;

/// The most characters of a message that are kept.
pub(crate) const MESSAGE: usize = 4_000;

/// The most characters of a code or a title.
const NAME: usize = 200;

/// A message as it is kept: the end of an overlong message is cut off.
pub fn message(text: &str) -> String {
    cut(text, MESSAGE)
}

/// A code or a title as it is kept.
pub fn name(text: &str) -> String {
    cut(text, NAME)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Hint => "hint",
        })
    }
}

/// The reach of a diagnostic's subject. Files are paths relative to the workspace root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// UTF-16 positions, as LSP's default.
    Range {
        file: String,
        range: Range,
    },
    File {
        file: String,
    },
    Project,
    Global,
}

impl Location {
    /// The place that a server names in a text; the whole file where the server's lines may not be ours.
    pub fn sent(file: &str, text: &str, index: &LineIndex, range: Range, encoding: Encoding) -> Self {
        let file = file.to_owned();
        if index.has_lone_return() {
            return Self::File { file };
        }
        Self::Range { file, range: index.convert(text, range, encoding, Encoding::Utf16) }
    }

    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Range { file, .. } | Self::File { file } => Some(file),
            Self::Project | Self::Global => None,
        }
    }

    pub fn range(&self) -> Option<Range> {
        match self {
            Self::Range { range, .. } => Some(*range),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `lsp:NAME`, `analyzer:NAME` or `tool:NAME`.
    pub source: String,
    pub severity: Severity,
    pub code: Option<String>,
    pub message: String,
    pub location: Location,
    pub confidence: Confidence,
    /// The proposed action, from its source, an offered fix or the policy; `None` without a proposal.
    pub suggested_action: Option<String>,
    pub evidence: Option<String>,
}

/// The known age of a report. Only `Exact` and `Versioned` are fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Freshness {
    /// Pulled for this very text.
    Exact,
    /// Published with this text's version.
    Versioned,
    /// Published without a version and then quiet for a while: a guess.
    Quiet,
    /// No answer for this text before the deadline.
    Timeout,
    /// The provider could not answer at all: dead, refusing, not attached.
    Unavailable,
}

impl Freshness {
    pub fn is_fresh(self) -> bool {
        matches!(self, Self::Exact | Self::Versioned)
    }
}

/// One provider's report on one file. A failing provider is a report, never an error of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// `lsp:NAME`, `analyzer:NAME` or `tool:NAME`.
    pub provider: String,
    /// Path relative to the root.
    pub file: String,
    /// Empty means "no diagnostics" only if `freshness` is fresh.
    pub diagnostics: Vec<Diagnostic>,
    pub freshness: Freshness,
    /// The document version of the diagnostics, if known.
    pub version: Option<i64>,
    /// The document version of the request.
    pub wanted_version: Option<i64>,
    pub elapsed_ms: u64,
    /// The reason why it is not fresh, for a reader.
    pub note: Option<String>,
    /// Set for a file that nobody asked about.
    #[serde(skip)]
    pub unasked: Option<Unasked>,
}

/// The rest of a report on a file that nobody asked about: the provider reads the whole project, and its last run has
/// said something else of this file.
#[derive(Clone, Debug, PartialEq)]
pub struct Unasked {
    /// The text that the run has read.
    pub text: Arc<str>,
    /// The diagnostics of the run before; `None` if that has read another text.
    pub earlier: Option<Vec<Diagnostic>>,
}

/// The part of the project that a provider's report depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    File,
    Project,
    Global,
}

/// One file in a request to a provider.
#[derive(Clone, Debug)]
pub struct FileText {
    /// Path relative to the root.
    pub path: String,
    pub text: Arc<str>,
}

/// A source of diagnostics: it delivers signals and never acts.
#[async_trait]
pub trait DiagnosticsProvider: Send + Sync {
    fn name(&self) -> &str;
    /// Language names (`symbols::language`); empty means any.
    fn languages(&self) -> &[String];
    fn reach(&self) -> Reach;
    /// Requests diagnostics of the given texts and returns one report a file before the deadline.
    async fn fetch(&self, files: &[FileText], deadline: Deadline) -> Vec<Report>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_text_whose_lines_a_server_counts_otherwise_is_the_file() {
        let is_range = |text: &str| {
            let index = LineIndex::new(text);
            Location::sent("a.py", text, &index, Range::default(), Encoding::Utf16).range().is_some()
        };
        assert!(is_range("a\r\nb\n"));
        assert!(!is_range("a\rb\n") && !is_range("a\r\r\nb\r\r\n") && !is_range("a\r"));
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        assert_eq!(message("as it is"), "as it is");
        assert_eq!(name(&"é".repeat(NAME + 1)), format!("{}…", "é".repeat(NAME)));
    }
}
