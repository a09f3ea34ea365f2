//! Defines the input of a module of a plan, its tools, and its result.

use async_trait::async_trait;
use serde_json::Value;

use crate::plan::output::StepOutput;
use crate::plan::{StepKind, StepPart};
use sextant_base::failure::Failure;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The facts of a module: its step, and its inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModuleContext {
    /// Number of the step, from 1.
    pub(crate) number: usize,
    pub(crate) title: String,
    pub(crate) kind: StepKind,
    /// Resolved, as `(name, text)`.
    pub(crate) inputs: Vec<(String, String)>,
    /// The symbols that the step names, and those that its target brought.
    pub(crate) symbols: Vec<SymbolPath>,
    /// The memory of its files or words. Empty where a model is asked: the model has a part of memory of its own.
    pub(crate) memory: Vec<String>,
}

/// The access of a module to the project, by the tools that only look.
#[async_trait]
pub(crate) trait ReadOnlyTools: Send + Sync {
    /// Runs a tool that changes nothing, as a part of a step.
    async fn look(&self, context: &ModuleContext, tool: &str, parameters: Value) -> Result<String, Failure>;

    /// The reports in a symbol now, one line each.
    async fn reported(&self, context: &ModuleContext, symbol: &SymbolPath) -> Vec<String>;
}

/// One action of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadAction {
    /// The symbols of a file.
    Outline(String),
    /// The source of a symbol; of the whole file where it has no names.
    Read(SymbolPath),
    /// The reports in a symbol.
    Reported(SymbolPath),
    /// The lines that hold a word, or match an expression.
    Search(String),
}

impl ReadAction {
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Outline(file) => format!("list the symbols of {file}"),
            Self::Read(symbol) => format!("read {symbol}"),
            Self::Reported(symbol) => format!("see what is reported in {symbol}"),
            Self::Search(pattern) => format!("look for {pattern}"),
        }
    }
}

/// The result of a module, done or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModuleResult {
    pub(crate) output: StepOutput,
    pub(crate) parts: Vec<StepPart>,
    /// Why it failed.
    pub(crate) error: Option<String>,
}

impl ModuleResult {
    pub(crate) fn failed(parts: Vec<StepPart>, error: impl Into<String>) -> Self {
        Self { parts, error: Some(error.into()), ..Self::default() }
    }
}
