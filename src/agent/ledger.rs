//! What is known of diagnostics: for each file and provider the last fresh report, with the text it is of.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostics::model::{Diagnostic, Report};

/// A fresh report and its text. `text` is `None` where the file does not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Snap {
    pub text: Option<Arc<str>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Path relative to the root, and provider.
pub type Key = (String, String);

/// Fresh knowledge at one moment; cheap to keep as a baseline.
pub type Snaps = BTreeMap<Key, Arc<Snap>>;

/// The live store: every baseline comes from here, so that no edit waits for one without need.
#[derive(Debug, Default)]
pub struct Ledger {
    last: Snaps,
}

impl Ledger {
    /// Takes a report that is of this very text. One that is not fresh changes nothing.
    pub fn take(&mut self, report: &Report, text: &Arc<str>) {
        if report.freshness.is_fresh() {
            let key = (report.file.clone(), report.provider.clone());
            let snap = Snap { text: Some(Arc::clone(text)), diagnostics: report.diagnostics.clone() };
            self.last.insert(key, Arc::new(snap));
        }
    }

    /// The file is gone, and with it everything that was said about it.
    pub fn remove(&mut self, file: &str) {
        for (_, snap) in self.last.iter_mut().filter(|((known, _), _)| known == file) {
            *snap = Arc::new(Snap { text: None, diagnostics: Vec::new() });
        }
    }

    /// The texts are what they were: so is what was known of them.
    pub fn restore(&mut self, known: &Snaps) {
        self.last.extend(known.iter().map(|(key, snap)| (key.clone(), Arc::clone(snap))));
    }

    /// A file was created: nothing was said about it before by those who speak about it now.
    pub fn absent(file: &str, providers: impl IntoIterator<Item = String>) -> Snaps {
        let nothing = Arc::new(Snap { text: None, diagnostics: Vec::new() });
        providers.into_iter().map(|provider| ((file.to_owned(), provider), Arc::clone(&nothing))).collect()
    }

    /// Whether everything known of the file is of this text, and something is known.
    pub fn is_current(&self, file: &str, text: &str) -> bool {
        let mut of_file = self.of(file).peekable();
        of_file.peek().is_some() && of_file.all(|(_, snap)| snap.text.as_deref() == Some(text))
    }

    pub fn of<'a>(&'a self, file: &'a str) -> impl Iterator<Item = (&'a str, &'a Snap)> {
        self.last
            .iter()
            .filter(move |((known, _), _)| known == file)
            .map(|((_, provider), snap)| (provider.as_str(), snap.as_ref()))
    }

    pub fn snaps(&self) -> Snaps {
        self.last.clone()
    }
}
