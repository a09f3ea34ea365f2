//! The tools: one file each, one row here. The same for the built-in agent and for other agents.

pub(crate) mod apply_fix;
pub(crate) mod arguments;
pub(crate) mod check;
pub(crate) mod edit;
pub(crate) mod edit_file;
pub(crate) mod edit_symbol;
pub(crate) mod list_symbols;
pub(crate) mod read_file;
pub mod read_once;
pub(crate) mod read_symbol;
pub(crate) mod run_command;
pub(crate) mod search;
pub(crate) mod sweeps;
pub mod tool_answer;
pub(crate) mod validate;
pub(crate) mod write_file;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::{Failure, FailureKind};

/// The names a model may use.
pub const NAMES: &[&str] = &[
    "read_file",
    "read_symbol",
    "list_symbols",
    "search",
    "edit_file",
    "edit_symbol",
    "write_file",
    "apply_fix",
    "run_command",
];

/// Runs a tool by name. Bad parameters and refusals are failures; nothing was changed then.
pub(crate) async fn run_tool(
    session: &Session,
    task: &mut Task,
    name: &str,
    given: &Value,
) -> Result<ToolAnswer, Failure> {
    match name {
        "read_file" => read_file::run(session, task, parameters(name, given)?).await,
        "read_symbol" => read_symbol::run(session, task, parameters(name, given)?).await,
        "list_symbols" => list_symbols::run(session, parameters(name, given)?).await,
        "search" => search::run(session, parameters(name, given)?).await,
        "edit_file" => edit_file::run(session, task, parameters(name, given)?).await,
        "edit_symbol" => edit_symbol::run(session, task, parameters(name, given)?).await,
        "write_file" => write_file::run(session, task, parameters(name, given)?).await,
        "apply_fix" => apply_fix::run(session, task, parameters(name, given)?).await,
        "run_command" => run_command::run(session, task, parameters(name, given)?).await,
        _ => Err(Failure::new(
            FailureKind::Tool,
            format!("there is no tool named {name:?}"),
            format!("the tools are {}", NAMES.join(", ")),
        )),
    }
}

fn parameters<T: DeserializeOwned>(name: &str, given: &Value) -> Result<T, Failure> {
    serde_json::from_value(given.clone()).map_err(|error| {
        Failure::new(FailureKind::Tool, format!("{name}: {error}"), "give the parameters that the tool names")
    })
}
