//! Defines the messages between the binary and the Lua layer.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use sextant_base::positions::{Encoding, Range};
use sextant_diagnostics::model::{Freshness, Severity};
use sextant_engine::api::{Attachments, Document, EditorError};

/// An error of a Lua handler.
#[derive(Debug, Deserialize)]
pub(super) struct LuaError {
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) path: String,
    #[serde(default)]
    pub(super) ms: u64,
}

impl LuaError {
    pub(super) fn into_editor(self, about: &str) -> EditorError {
        let path = if self.path.is_empty() { about.to_owned() } else { self.path };
        match self.kind.as_str() {
            "not_found" => EditorError::NotFound(path),
            "exists" => EditorError::Exists(path),
            "stale" => EditorError::Stale(path),
            "conflict" => EditorError::Conflict(path),
            "locked" => EditorError::Locked { path, reason: self.message },
            "fix_gone" => EditorError::FixGone(about.to_owned()),
            "unsupported" => EditorError::Unsupported(self.message),
            "timeout" => EditorError::Timeout(self.ms),
            _ => EditorError::Other(self.message),
        }
    }
}

/// An answer. Its result is read once, as the type that the caller wants.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(default)]
    pub(super) error: Option<LuaError>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
}

/// A buffer, with its text only if the call asked for it and the buffer has changed.
#[derive(Debug, Deserialize)]
pub(super) struct BufferState {
    #[serde(default)]
    pub(super) version: i64,
    #[serde(default)]
    pub(super) exists: bool,
    #[serde(default)]
    pub(super) unsaved: bool,
    #[serde(default)]
    pub(super) locked: Option<String>,
    #[serde(default)]
    pub(super) newline: bool,
    #[serde(default)]
    pub(super) parts: Option<Vec<String>>,
    #[serde(default)]
    pub(super) empty: bool,
    #[serde(default)]
    pub(super) saved: bool,
    #[serde(default)]
    pub(super) note: Option<String>,
    #[serde(default)]
    pub(super) reformatted: bool,
    #[serde(default)]
    pub(super) deleted: bool,
}

impl BufferState {
    /// The buffer as a document with this text.
    pub(super) fn document(&self, path: &str, text: Arc<str>) -> Document {
        Document {
            path: path.to_owned(),
            text,
            version: self.version,
            exists: self.exists,
            unsaved: self.unsaved,
            locked: self.locked.clone(),
        }
    }
}

/// `nvim_buf_set_text`: start row, start byte, end row, end byte, lines.
pub(super) type Hunk = (usize, usize, usize, usize, Vec<String>);

#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum BufferEdit {
    Change { path: String, version: i64, hunks: Vec<Hunk>, kept: Vec<i64>, newline: bool, empty: bool },
    Create { path: String, hunks: Vec<Hunk>, newline: bool, empty: bool },
    Delete { path: String, version: i64 },
}

#[derive(Debug, Deserialize)]
pub(super) struct WireDiagnostic {
    pub(super) range: Range,
    #[serde(default)]
    pub(super) severity: Option<u64>,
    #[serde(default)]
    pub(super) code: Option<String>,
    #[serde(default)]
    pub(super) message: String,
}

/// One client's diagnostics on one buffer.
#[derive(Debug, Deserialize)]
pub struct ClientReport {
    pub(super) client: String,
    pub(super) path: String,
    pub(super) how: ReportedBy,
    pub(super) tick: i64,
    pub(super) ms: u64,
    pub(super) encoding: Encoding,
    /// An empty Lua table is an empty object in JSON.
    #[serde(default, deserialize_with = "list")]
    pub(super) items: Vec<WireDiagnostic>,
    /// The items in their place if they are many: lists, each a text of its own.
    #[serde(default, deserialize_with = "slices")]
    pub(super) slices: Vec<WireDiagnostic>,
    #[serde(default)]
    pub(super) note: Option<String>,
    /// True if the server changed, unasked, its earlier answer for this very text.
    #[serde(default)]
    pub(super) amends: bool,
    /// The news of a compiler of files that nobody asked about.
    #[serde(default, deserialize_with = "list")]
    pub(super) elsewhere: Vec<CompiledElsewhere>,
    /// The first file of the news that is left out, and the number of these files.
    #[serde(default)]
    pub(super) more: Option<MoreFiles>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MoreFiles {
    pub(super) path: String,
    pub(super) files: usize,
}

/// A file that nobody asked about and of which the compiler's last run says something else than the run before.
#[derive(Debug, Deserialize)]
pub(super) struct CompiledElsewhere {
    pub(super) path: String,
    /// Missing if the run before has read another text.
    pub(super) earlier: Option<List<WireDiagnostic>>,
    #[serde(deserialize_with = "list")]
    pub(super) items: Vec<WireDiagnostic>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportedBy {
    Exact,
    Versioned,
    Quiet,
    Timeout,
    Unavailable,
}

impl From<ReportedBy> for Freshness {
    fn from(how: ReportedBy) -> Self {
        match how {
            ReportedBy::Exact => Self::Exact,
            ReportedBy::Versioned => Self::Versioned,
            ReportedBy::Quiet => Self::Quiet,
            ReportedBy::Timeout => Self::Timeout,
            ReportedBy::Unavailable => Self::Unavailable,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WireAction {
    pub(super) id: String,
    pub(super) client: String,
    pub(super) encoding: Encoding,
    pub(super) title: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) preferred: bool,
    #[serde(default, deserialize_with = "list")]
    pub(super) repairs: Vec<WireDiagnostic>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FixEdit {
    pub(super) edit: Value,
    pub(super) encoding: Encoding,
}

/// The cursor or range of a command. Lines are one-based, the column is in bytes.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct CommandPlace {
    #[serde(default)]
    pub(super) path: String,
    #[serde(default)]
    pub(super) buftype: String,
    #[serde(default)]
    pub(super) line: usize,
    #[serde(default)]
    pub(super) first: Option<usize>,
    #[serde(default)]
    pub(super) last: Option<usize>,
    /// The text of the entry of a list that the command was given on.
    #[serde(default)]
    pub(super) entry: String,
    /// True if the whole workspace is meant (`:AgentAsk!`).
    #[serde(default)]
    pub(super) workspace: bool,
}

/// The clients of Neovim and the files that they are attached to.
#[derive(Debug, Default, Deserialize)]
pub(super) struct WireAttachments {
    #[serde(deserialize_with = "list")]
    pub(super) files: Vec<String>,
    #[serde(deserialize_with = "list")]
    pub(super) pairs: Vec<(String, String)>,
    #[serde(deserialize_with = "list")]
    pub(super) running: Vec<String>,
    #[serde(deserialize_with = "list")]
    pub(super) stopped: Vec<String>,
}

impl WireAttachments {
    /// The same with paths relative to the workspace, and the names of providers.
    pub(super) fn read(self, relative: impl Fn(&str) -> String) -> Attachments {
        let provider = |client: &String| format!("lsp:{client}");
        Attachments {
            files: self.files.iter().map(|path| relative(path)).collect(),
            pairs: self.pairs.iter().map(|(path, client)| (relative(path), provider(client))).collect(),
            running: self.running.iter().map(provider).collect(),
            stopped: self.stopped.iter().map(provider).collect(),
        }
    }
}

/// The fixes that the clients offer, and the clients that have not answered.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireActions {
    #[serde(deserialize_with = "list")]
    pub(super) found: Vec<WireAction>,
    #[serde(deserialize_with = "list")]
    pub(super) silent: Vec<String>,
}

/// A Lua list as a whole answer.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for List<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        list(deserializer).map(Self)
    }
}

/// Reads a Lua list: an empty one arrives as `{}`.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    deserializer.deserialize_any(ListItems(PhantomData))
}

struct ListItems<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListItems<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = items.next_element()? {
            found.push(item);
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Vec<T>, A::Error> {
        while table.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Vec::new())
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }
}

fn slices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<WireDiagnostic>, D::Error> {
    let mut items = Vec::new();
    for slice in Vec::<String>::deserialize(deserializer)? {
        items.extend(serde_json::from_str::<Vec<WireDiagnostic>>(&slice).map_err(serde::de::Error::custom)?);
    }
    Ok(items)
}

pub(super) fn severity(item: &WireDiagnostic) -> Severity {
    Severity::from_lsp(item.severity)
}

/// Replaces the absolute paths of the Lua layer by those of the workspace, as errors name them.
pub(super) fn name_relative(error: EditorError, relative: impl Fn(&str) -> String) -> EditorError {
    match error {
        EditorError::Stale(path) => EditorError::Stale(relative(&path)),
        EditorError::Exists(path) => EditorError::Exists(relative(&path)),
        EditorError::Conflict(path) => EditorError::Conflict(relative(&path)),
        EditorError::Locked { path, reason } => EditorError::Locked { path: relative(&path), reason },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_once_and_an_empty_table_of_lua_is_an_empty_list() {
        let read = |text: &str| -> Vec<String> {
            let envelope: Envelope<'_> = serde_json::from_str(text).expect("an answer");
            serde_json::from_str::<List<String>>(envelope.result.map_or("null", RawValue::get)).expect("a list").0
        };
        assert_eq!(read(r#"{"result": ["a", "b"]}"#), ["a", "b"]);
        for empty in
            [r#"{"result": []}"#, r#"{"result": {}}"#, r#"{"result": {"x": [1]}}"#, r#"{"result": null}"#, "{}"]
        {
            assert_eq!(read(empty), [""; 0], "{empty}");
        }
        assert!(
            serde_json::from_str::<List<String>>("[1]").is_err() && serde_json::from_str::<List<String>>("7").is_err()
        );
    }
}
