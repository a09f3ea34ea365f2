//! One entry of memory: its kind, its mode, its content and its subject.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::memory::memory_error::{MemoryError, Result};
use sextant_base::plural::counted;

/// A named set of values, written the same in JSON and in the file.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$each])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(rusqlite::types::ToSqlOutput::from(self.name()))
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                Self::from_name(value.as_str()?).ok_or(rusqlite::types::FromSqlError::InvalidType)
            }
        }
    };
}
pub(in crate::memory) use names;

names! {
    Kind {
        Chat = "chat",
        Project = "project",
        Preference = "preference",
        Learning = "learning",
        /// Kept until its session ends.
        ShortTerm = "short_term",
        Error = "error",
        Solution = "solution",
        Success = "success",
        Pattern = "pattern",
        Plan = "plan",
        ToolResult = "tool_result",
        UserFeedback = "user_feedback",
    }
}

names! {
    /// The mode of execution in which an entry was made.
    Mode { Simple = "simple", Planner = "planner", Supervised = "supervised" }
}

names! {
    /// The author of an entry of a chat.
    Role { User = "user", Assistant = "assistant", Tool = "tool" }
}

/// An entry's number: larger is later, and no number is given out twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub i64);

/// The longest content of one entry, in bytes: a tool's output is capped long before it comes here.
pub const CONTENT_LIMIT: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewEntry {
    pub session: String,
    pub mode: Mode,
    pub kind: Kind,
    pub role: Option<Role>,
    pub content: String,
    /// Names of the tools that it is about.
    pub tools: Vec<String>,
    /// Paths relative to the root.
    pub files: Vec<String>,
    /// Larger is more useful; 1.0 is the neutral start.
    pub relevance: f64,
    pub related: Vec<EntryId>,
    /// Milliseconds since 1970 (UTC).
    pub timestamp: i64,
}

impl NewEntry {
    pub fn new(session: impl Into<String>, mode: Mode, kind: Kind, content: impl Into<String>, timestamp: i64) -> Self {
        Self {
            session: session.into(),
            mode,
            kind,
            role: None,
            content: content.into(),
            tools: Vec::new(),
            files: Vec::new(),
            relevance: 1.0,
            related: Vec::new(),
            timestamp,
        }
    }

    pub(in crate::memory) fn check(&self) -> Result<()> {
        if self.session.is_empty() {
            return Err(MemoryError::invalid("session", "it is empty"));
        }
        if self.content.len() > CONTENT_LIMIT {
            let problem = format!("{}, {CONTENT_LIMIT} at most", counted(self.content.len(), "byte"));
            return Err(MemoryError::invalid("content", problem));
        }
        if !self.relevance.is_finite() {
            return Err(MemoryError::invalid("relevance", "it is not a finite number"));
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub id: EntryId,
    #[serde(flatten)]
    pub entry: NewEntry,
}

/// The columns that [`from_row`] reads, in its order.
pub(in crate::memory) const COLUMNS: &str = "entries.id, sessions.name, entries.mode, entries.kind, entries.role, \
    entries.content, entries.tools, entries.files, entries.relevance, entries.related, entries.timestamp";

/// A list column that cannot be read is empty: only the content is essential.
pub(in crate::memory) fn from_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let texts = |at: usize| -> rusqlite::Result<Vec<String>> {
        Ok(serde_json::from_str(row.get_ref(at)?.as_str()?).unwrap_or_default())
    };
    let related: Vec<EntryId> = serde_json::from_str(row.get_ref(9)?.as_str()?).unwrap_or_default();
    let entry = NewEntry {
        session: row.get(1)?,
        mode: row.get(2)?,
        kind: row.get(3)?,
        role: row.get(4)?,
        content: row.get(5)?,
        tools: texts(6)?,
        files: texts(7)?,
        relevance: row.get(8)?,
        related,
        timestamp: row.get(10)?,
    };
    Ok(Entry { id: EntryId(row.get(0)?), entry })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_written_the_same_in_json() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(Kind::from_name("chats"), None);
        assert_eq!(Kind::ALL.len(), 12);
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let good = NewEntry::new("s", Mode::Simple, Kind::Error, "x", 1);
        assert!(good.check().is_ok());
        assert!(NewEntry { session: String::new(), ..good.clone() }.check().is_err());
        assert!(NewEntry { relevance: f64::NAN, ..good.clone() }.check().is_err());
        assert!(NewEntry { content: "x".repeat(CONTENT_LIMIT + 1), ..good }.check().is_err());
    }
}
