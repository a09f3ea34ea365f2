//! Lists the tools: one file each, listed here once. They are the same for the built-in agent and for other agents.

pub(crate) mod apply_fix;
pub(crate) mod check;
pub(crate) mod command_permission;
pub(crate) mod definition;
pub(crate) mod edit_checks;
pub(crate) mod edit_file;
pub(crate) mod edit_in_file;
pub(crate) mod edit_symbol;
pub(crate) mod find_references;
mod git_objects;
pub(crate) mod hover;
mod known_options;
pub(crate) mod list_symbols;
mod passed;
pub(crate) mod read_file;
pub(crate) mod read_once;
pub(crate) mod read_symbol;
mod reading_commands;
pub(crate) mod rename_symbol;
pub(crate) mod run_command;
pub(crate) mod search_tool;
pub(crate) mod sweeps;
pub(crate) mod symbol_lookup;
pub(crate) mod text_page;
pub(crate) mod tool;
pub(crate) mod tool_answer;
pub(crate) mod unnumbered;
pub(crate) mod validate_call;
mod withheld;
pub(crate) mod write_file;

use std::sync::LazyLock;

use crate::tools::tool::{OutsideTool, ToolDefinition};
use sextant_model::tools::ToolSpec;

/// Every tool, in the order in which a model reads about them.
const TOOLS: &[ToolDefinition] = &[
    read_file::TOOL,
    read_symbol::TOOL,
    list_symbols::TOOL,
    search_tool::TOOL,
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

/// Tools that only clients outside call: they may give several replacements at once.
const OUTSIDE_ONLY: &[ToolDefinition] = &[edit_in_file::TOOL];

static SPECS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| TOOLS.iter().map(ToolDefinition::spec).collect());

/// The same list as data.
pub fn specs() -> &'static [ToolSpec] {
    &SPECS
}

pub(crate) fn definition(name: &str) -> Option<&'static ToolDefinition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools that a client outside may call, in the order of the list.
pub fn for_clients() -> impl Iterator<Item = &'static ToolDefinition> {
    let instead = |tool: &'static ToolDefinition| OUTSIDE_ONLY.iter().find(|own| own.name == tool.name).unwrap_or(tool);
    TOOLS.iter().map(instead).filter(|tool| tool.outside_spec().is_some())
}

/// The tools of a client outside, as data.
pub fn outside() -> Vec<OutsideTool> {
    for_clients().filter_map(ToolDefinition::outside_spec).collect()
}

#[cfg(test)]
mod tests;
