//! A tool call in a few words: the tool, the kind of access, and the target.

use serde::{Deserialize, Serialize};

use crate::events::fact::{CallFact, FixFact, TaskFact};
use crate::state::journal::Journal;
use crate::state::notes::{TAKEN_BACK, plain};
use crate::state::task::OfferReports;
use sextant_base::failure::FailureKind;
use sextant_base::one_line::clean;
use sextant_base::secrets::mask;
use sextant_model::tools::Access;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The target of a call, in the names that the call itself gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Subject {
    pub(crate) symbol: Option<String>,
    /// The one file that it reads or writes.
    pub(crate) file: Option<String>,
    /// The file or folder that it searches.
    pub(crate) within: Option<String>,
    /// The id of an offered fix.
    pub(crate) fix: Option<String>,
    /// The search words: they may be a piece of a file, and are not kept.
    pub(crate) words: Option<String>,
    pub(crate) command: Vec<String>,
}

impl Subject {
    pub(crate) fn symbol(symbol: &str) -> Self {
        Self { symbol: Some(symbol.to_owned()), ..Self::default() }
    }

    pub(crate) fn file(path: &str) -> Self {
        Self { file: Some(path.to_owned()), ..Self::default() }
    }

    pub(crate) fn fix(id: &str) -> Self {
        Self { fix: Some(id.to_owned()), ..Self::default() }
    }

    pub(crate) fn words(words: &str) -> Self {
        Self { words: Some(words.to_owned()), ..Self::default() }
    }

    /// The name of its target; empty where it names no target.
    pub(crate) fn named(&self) -> &str {
        [&self.symbol, &self.file, &self.within, &self.fix].into_iter().flatten().next().map_or("", String::as_str)
    }

    /// The text for the user while it runs.
    pub(crate) fn shown(&self) -> String {
        match (self.named(), &self.words) {
            ("", Some(words)) => words.clone(),
            ("", None) => clean(&mask(&command_line(&self.command))),
            (named, _) => named.to_owned(),
        }
    }

    /// The text in the trace.
    pub(crate) fn traced(&self) -> String {
        if self.named().is_empty() { self.command.join(" ") } else { self.named().to_owned() }
    }

    /// The one file that it reads or writes; `None` where it names no file.
    pub(crate) fn one_file(&self) -> Option<String> {
        let of_symbol = || self.symbol.as_ref().map(|symbol| SymbolPath::parse(symbol).file);
        self.file.clone().or_else(of_symbol).filter(|file| !file.is_empty())
    }

    /// The file or folder that it reaches into.
    pub(crate) fn place(&self) -> Option<String> {
        self.one_file().or_else(|| self.within.clone()).filter(|place| !place.is_empty())
    }
}

/// A command as a user reads it: an argument of more than one word is quoted.
pub(crate) fn command_line(command: &[String]) -> String {
    let plain = |word: &&String| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,@%+[]".contains(c))
    };
    command
        .iter()
        .map(|word| if plain(&word) { word.clone() } else { format!("{word:?}") })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A call as its observers see it, who run nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) tool: String,
    /// `None` where there is no such tool, or the call could not be read.
    pub(crate) access: Option<Access>,
    pub(crate) subject: Subject,
}

impl Called {
    /// True if it changes files: its success may repair any error before it.
    pub(crate) fn edits(&self) -> bool {
        self.access == Some(Access::Edit)
    }

    pub(crate) fn reads(&self) -> bool {
        self.access == Some(Access::Read)
    }
}

/// The result of a call, for observers that count and remember. `failed` is the kind of its failure.
pub(crate) fn came_back(
    journal: &Journal,
    request: &str,
    offers: &OfferReports,
    called: &Called,
    failed: Option<FailureKind>,
    text: &str,
) -> TaskFact {
    let ok = failed.is_none();
    let given = called.subject.named();
    let offer = offers.offered.iter().find(|offer| offer.id == given);
    let done = journal.checkpoints.last().filter(|_| ok && called.edits());
    TaskFact::ToolCalled {
        call: CallFact {
            tool: called.tool.clone(),
            ok,
            edits: called.edits(),
            subject: given.to_owned(),
            fix: offer.map(|offer| FixFact {
                title: offer.title().to_owned(),
                symbol: offer.symbol().to_owned(),
                code: offer.code.clone(),
            }),
            is_circumstance: failed.is_some_and(|kind| !kind.is_of_the_request()),
            problem: if ok { String::new() } else { plain(text) },
            taken_back: !ok && text.starts_with(TAKEN_BACK),
            goal: if called.edits() { request.to_owned() } else { String::new() },
            checkpoint: done.map(|checkpoint| checkpoint.id.clone()).unwrap_or_default(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_by_a_server_or_a_limit_is_no_fault_of_the_call() {
        use FailureKind::{Busy, Cancelled, Editor, Limit, Model, Tool, User};
        let wanted = [
            (Editor, true),
            (Model, true),
            (Limit, true),
            (Cancelled, true),
            (Busy, true),
            (Tool, false),
            (User, false),
        ];
        for (kind, is_circumstance) in wanted {
            let (journal, offers) = (Journal::default(), OfferReports::default());
            let fact = came_back(&journal, "", &offers, &Called::default(), Some(kind), "it failed");
            assert!(
                matches!(fact, TaskFact::ToolCalled { call } if call.is_circumstance == is_circumstance),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_subject_is_named_by_the_narrowest_that_it_names() {
        let both = Subject { symbol: Some("f".into()), ..Subject::file("a.py") };
        assert_eq!((both.named(), both.one_file().as_deref()), ("f", Some("a.py")));
        assert_eq!(Subject::symbol("a.py::f").one_file().as_deref(), Some("a.py"));
        assert_eq!((Subject::symbol("f").one_file(), Subject::symbol("f").named()), (None, "f"));
        let search = Subject { within: Some("src".into()), ..Subject::words("secret") };
        assert_eq!((search.shown().as_str(), search.one_file(), search.place().as_deref()), ("src", None, Some("src")));
        let words = Subject::words("secret");
        assert_eq!((words.shown().as_str(), words.named(), words.traced().as_str()), ("secret", "", ""));
        let command = Subject { command: vec!["ls".into(), "-l".into()], ..Subject::default() };
        assert_eq!((command.shown().as_str(), command.traced().as_str()), ("ls -l", "ls -l"));
    }

    #[test]
    fn a_command_line_quotes_what_is_more_than_one_word() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(command_line(&words("pytest -q tests/a.py::b[1]")), "pytest -q tests/a.py::b[1]");
        assert_eq!(
            command_line(&["sh".into(), "-c".into(), "rm -rf \"x\"".into(), String::new()]),
            r#"sh -c "rm -rf \"x\"" """#
        );
    }
}
