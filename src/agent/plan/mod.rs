//! The plan: steps with their symbols, why, what is expected. As data here, as a document beside it.

pub mod document;
pub(in crate::agent) mod make;
pub mod question;
mod run;

use serde::{Deserialize, Serialize};

use crate::symbols::path::SymbolPath;

/// Where a step stands, with its mark in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// `[ ]`
    #[default]
    Open,
    /// `[>]`
    Running,
    /// `[x]`
    Done,
    /// `[!]`
    Failed,
    /// `[-]`
    Skipped,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    pub title: String,
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub symbols: Vec<SymbolPath>,
    pub because: String,
    pub expect: String,
    pub state: State,
    /// What came of it, in one line; empty before it ran.
    pub outcome: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub title: String,
    pub reason: String,
    pub steps: Vec<Step>,
}

/// How many steps an approval runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    All,
    One,
}

fn as_text<S: serde::Serializer>(symbols: &[SymbolPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(symbols.iter().map(ToString::to_string))
}

/// A step's symbols are whole paths, so that what stands before the names is a file however it is named.
fn from_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<SymbolPath>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let path = |text: String| match text.split_once("::") {
        Some((file, names)) => SymbolPath::new(file, names),
        None => SymbolPath::new(text, ""),
    };
    Ok(texts.into_iter().map(path).collect())
}
