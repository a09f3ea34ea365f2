//! The tools: one file each, listed here once. The same for the built-in agent and for other agents.

pub(crate) mod apply_fix;
pub(crate) mod arguments;
pub(crate) mod check;
pub(crate) mod definition;
pub(crate) mod edit;
pub(crate) mod edit_file;
pub(crate) mod edit_in_file;
pub(crate) mod edit_symbol;
pub(crate) mod find_references;
pub(crate) mod hover;
pub(crate) mod list_symbols;
pub(crate) mod lookup;
pub(crate) mod page;
pub(crate) mod read_file;
pub mod read_once;
pub(crate) mod read_symbol;
pub(crate) mod rename_symbol;
pub(crate) mod run_command;
pub(crate) mod search;
pub(crate) mod sweeps;
pub mod tool;
pub mod tool_answer;
pub(crate) mod validate;
mod withheld;
pub(crate) mod write_file;

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::agent::tools::tool::{OutsideTool, ToolCall, ToolDefinition};
use crate::base::failure::{Failure, tool_failure};
use crate::llm::tools::{self, ToolSpec};

/// Every tool, in the order in which a model reads about them.
const TOOLS: &[ToolDefinition] = &[
    read_file::TOOL,
    read_symbol::TOOL,
    list_symbols::TOOL,
    search::TOOL,
    find_references::TOOL,
    definition::TOOL,
    hover::TOOL,
    edit_file::TOOL,
    edit_symbol::TOOL,
    write_file::TOOL,
    rename_symbol::TOOL,
    apply_fix::TOOL,
    run_command::TOOL,
];

/// What only clients outside call: they may give several replacements at once.
const OUTSIDE_ONLY: &[ToolDefinition] = &[edit_in_file::TOOL];

static SPECS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| TOOLS.iter().map(ToolDefinition::spec).collect());

/// The same list as data.
pub fn specs() -> &'static [ToolSpec] {
    &SPECS
}

/// A call as its tool takes it. What a model asks for was validated where its reply was read; a call from elsewhere
/// that does not fit is refused here, in the same words.
pub(crate) fn call(name: &str, given: &Value) -> Result<ToolCall, Failure> {
    let unknown =
        || tool_failure(format!("there is no tool named {name:?}"), format!("the tools are {}", tools::names(specs())));
    read(TOOLS.iter().find(|tool| tool.name == name).ok_or_else(unknown)?, given)
}

/// Those that a client outside may call, in the order of the list.
fn for_clients() -> impl Iterator<Item = &'static ToolDefinition> {
    let instead = |tool: &'static ToolDefinition| OUTSIDE_ONLY.iter().find(|own| own.name == tool.name).unwrap_or(tool);
    TOOLS.iter().map(instead).filter(|tool| tool.outside_spec().is_some())
}

/// The tools of a client outside, as data.
pub fn outside() -> Vec<OutsideTool> {
    for_clients().filter_map(ToolDefinition::outside_spec).collect()
}

/// A call of a client outside.
pub(crate) fn call_outside(name: &str, given: &Value) -> Result<ToolCall, Failure> {
    let names = || for_clients().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let unknown = || {
        let shown: String = name.chars().take(40).collect();
        tool_failure(format!("there is no tool named {shown:?}"), format!("the tools are {}", names()))
    };
    read(for_clients().find(|tool| tool.name == name).ok_or_else(unknown)?, given)
}

fn read(tool: &'static ToolDefinition, given: &Value) -> Result<ToolCall, Failure> {
    let name = tool.name;
    let Some(object) = given.as_object() else {
        return Err(tool_failure(format!("{name} takes an object of parameters"), "give the parameters that it names"));
    };
    let present = object.iter().filter(|(_, value)| !value.is_null());
    let present: Map<String, Value> = present.map(|(name, value)| (name.clone(), value.clone())).collect();
    tool.call(Value::Object(present)).map_err(|error| {
        let why = tool.spec().fit(object).err().unwrap_or_else(|| format!("{name}: {error}"));
        tool_failure(why, "give the parameters that the tool names")
    })
}

#[cfg(test)]
mod tests;
