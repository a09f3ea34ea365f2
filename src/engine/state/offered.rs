//! A fix that was offered to the model.

/// An offer as the task stores it: its id changes with every edit, its key does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub id: String,
    /// Title, symbol and diagnostic.
    pub key: String,
    /// Its target: symbol and diagnostic.
    pub about: String,
    /// The diagnostic's code; empty where it has none.
    pub code: String,
}

impl Offered {
    pub(crate) fn title(&self) -> &str {
        self.key.strip_suffix(&self.about).map_or(&self.key, |title| title.trim_end_matches('|'))
    }

    pub(crate) fn symbol(&self) -> &str {
        self.about.split('|').next().unwrap_or_default()
    }
}
