//! The texts of a workspace as their names are compared.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use sextant_store::workspace::root::Root;
use sextant_store::workspace::source_text;
use sextant_text::symbols::spelled_text::SpelledText;

/// The texts of a workspace: those that are open, and those on disk.
pub(super) struct WorkspaceTexts<'a> {
    pub(super) root: &'a Root,
    pub(super) open: &'a HashMap<String, Arc<str>>,
}

impl WorkspaceTexts<'_> {
    /// A text with one spelling for each name.
    pub(super) fn text(&self, path: &str) -> Option<Arc<str>> {
        let text = self.open.get(path).cloned().or_else(|| source_text::of(self.root, path).map(Arc::from));
        text.map(|text| spelled(path, &text))
    }

    /// True if a server can be asked about a file.
    pub(super) fn is_plain(&self, path: &str) -> bool {
        self.open.contains_key(path) || source_text::is_plain(self.root, path)
    }
}

/// A text with one spelling for each name.
pub(super) fn spelled(path: &str, text: &Arc<str>) -> Arc<str> {
    let language = source_text::language_of(path);
    match language.map(|language| SpelledText::of(language, text).text) {
        Some(Cow::Owned(text)) => text.into(),
        _ => Arc::clone(text),
    }
}
