//! The disappeared diagnostics that an edit is not credited with, and the reason for the doubt.

use serde::{Deserialize, Serialize};

use sextant_diagnostics::model::Diagnostic;

/// The reason not to credit an edit: the file, the rule and its explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    pub(crate) path: String,
    pub(crate) rule: String,
    pub(crate) reason: String,
}

/// A complaint that disappeared with an edit that is not known to repair it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uncounted {
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) file: String,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
}

impl Uncounted {
    pub(crate) fn is(&self, gone: &Diagnostic) -> bool {
        let place = gone.location.file().unwrap_or_default();
        (self.file.as_str(), &self.code, &self.message) == (place, &gone.code, &gone.message)
    }
}
