//! In which language the user is answered.

use crate::base::plural::counted;

/// In which of the two languages a direct request is answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Say {
    pub spanish: bool,
}

impl Say {
    /// The language of a request.
    pub(crate) fn to(request: &str) -> Self {
        Self { spanish: crate::llm::ask::is_spanish(request) }
    }

    /// A number of things, in either language.
    pub(crate) fn counted(self, count: usize, english: &str, one: &str, many: &str) -> String {
        self.of(counted(count, english), format!("{count} {}", if count == 1 { one } else { many }))
    }

    pub(crate) fn of(self, english: impl Into<String>, spanish: impl Into<String>) -> String {
        if self.spanish { spanish.into() } else { english.into() }
    }
}
