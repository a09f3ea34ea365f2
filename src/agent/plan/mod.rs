//! The plan: steps with their symbols, why, what is expected. As data here, as a document beside it.

pub mod document;
mod make;
pub mod question;
mod run;

use serde::Serialize;

use crate::symbols::path::SymbolPath;

/// Where a step stands, with its mark in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
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

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Step {
    pub title: String,
    #[serde(serialize_with = "as_text")]
    pub symbols: Vec<SymbolPath>,
    pub because: String,
    pub expect: String,
    pub state: State,
    /// What came of it, in one line; empty before it ran.
    pub outcome: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
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
