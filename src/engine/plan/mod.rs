//! Holds the plan: steps with their symbols, reasons and expectations. It is data here, with a document beside it.

pub(crate) mod as_text;
pub(crate) mod check_criteria;
pub(crate) mod depends;
pub mod document;
pub(crate) mod inputs;
pub(crate) mod next_decision;
pub(crate) mod output;
mod pair_leftovers;
pub(crate) mod plan_event;
pub(crate) mod plan_limits;
pub(crate) mod plan_progress;
pub(crate) mod step_errors;
pub(crate) mod step_numbers;
pub(crate) mod user_question;
pub(crate) mod work_mode;

use serde::{Deserialize, Serialize};

use crate::plan::check_criteria::Criterion;
use crate::plan::inputs::Input;
use crate::plan::output::StepOutput;
use crate::plan::work_mode::Phase;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The outcome of a step that the user has skipped.
pub(crate) const SKIPPED_BY_USER: &str = "skipped by you";

/// Where a step stands, with its mark in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// `[ ]`
    #[default]
    Open,
    /// `[>]`
    Running,
    /// `[x]`, or `[~]` with errors that were reported late.
    Done,
    /// `[!]`
    Failed,
    /// `[-]`
    Skipped,
}

/// The kind of work of a step, which chooses the module that carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Changes its symbols; the model is asked.
    #[default]
    Edit,
    /// Reads its symbols and the reports in them; no model is asked.
    Examine,
    /// Looks for words in the project and reads the symbols that hold them; no model is asked.
    Search,
}

impl StepKind {
    pub const ALL: [(&'static str, Self); 3] =
        [("edit", Self::Edit), ("examine", Self::Examine), ("search", Self::Search)];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("edit", |(name, _)| *name)
    }

    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        if name.is_empty() {
            return Some(Self::Edit);
        }
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// True if it changes nothing, so that several of them may run at once.
    pub fn only_looks(self) -> bool {
        self != Self::Edit
    }
}

/// One part of a step, where its module has made a plan of its own.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepPart {
    pub title: String,
    pub state: StepState,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    pub title: String,
    pub kind: StepKind,
    #[serde(with = "as_text")]
    pub symbols: Vec<SymbolPath>,
    #[serde(flatten)]
    pub extent: StepExtent,
    pub because: String,
    pub expect: String,
    /// Values that earlier steps and the session hand to it.
    pub inputs: Vec<Input>,
    /// Numbers (from 1) of earlier steps that must be done before it, besides those that its inputs name.
    pub after: Vec<usize>,
    /// The checks that must hold after it.
    pub checks: Vec<Criterion>,
    /// The fallback that is tried once where the step fails; empty where there is none.
    pub fallback: String,
    pub state: StepState,
    #[serde(flatten)]
    pub result: StepResult,
}

impl Step {
    /// True if the user has skipped the step, which no undo takes back.
    pub(crate) fn is_skipped_by_user(&self) -> bool {
        self.state == StepState::Skipped && self.result.outcome == SKIPPED_BY_USER
    }

    /// True if the step is done and an answer that came late has reported new errors.
    pub fn has_late_errors(&self) -> bool {
        self.state == StepState::Done && self.result.late_errors > 0
    }
}

/// How far a step goes beyond its symbols.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepExtent {
    /// True if a path without names is a file as a whole, and not its module level: the user means it so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Symbols and files that exist after it and not before.
    #[serde(with = "as_text")]
    pub creates: Vec<SymbolPath>,
    /// Those of its symbols and new ones that the scope of the request does not hold. The user sees them before the
    /// approval, which is the consent.
    #[serde(with = "as_text", skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<SymbolPath>,
}

/// Outcome of a step; empty before it ran.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepResult {
    /// In one line.
    pub outcome: String,
    pub parts: Vec<StepPart>,
    /// New errors of a step that is done, by an answer that came late.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_errors: usize,
    /// The output for later steps; `None` before the step is done.
    pub output: Option<StepOutput>,
    /// Checkpoints of the task before it, where the step was stopped in the middle and its work so far stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub title: String,
    pub reason: String,
    pub steps: Vec<Step>,
    /// The model that made it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// True if there are no steps because its model cannot serve the request; `reason` has the cause.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
}

impl Plan {
    /// The phase of a plan with open steps that does not run: it waits for approval until a step has been run.
    pub(crate) fn resting_phase(&self) -> Phase {
        if self.steps.iter().any(|step| step.result.output.is_some()) { Phase::Paused } else { Phase::Planning }
    }
}

/// How many steps an approval runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steps {
    #[default]
    All,
    One,
}
