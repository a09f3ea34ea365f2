//! Lists the tools, for the built-in agent and for other agents (MCP).

use std::sync::LazyLock;

use crate::tools::tool::{OutsideTool, ToolDefinition};
use crate::tools::{
    apply_fix, edit_file, edit_in_file, edit_symbol, find_definition, find_references, hover, list_symbols, read_file,
    read_symbol, rename_symbol, run_command, search_tool, write_file,
};
use sextant_model::tools::ToolSpec;

/// Every tool, in the order in which a model reads about them.
const TOOLS: &[ToolDefinition] = &[
    read_file::TOOL,
    read_symbol::TOOL,
    list_symbols::TOOL,
    search_tool::TOOL,
    find_references::TOOL,
    find_definition::TOOL,
    hover::TOOL,
    edit_file::TOOL,
    edit_symbol::TOOL,
    write_file::TOOL,
    rename_symbol::TOOL,
    apply_fix::TOOL,
    run_command::TOOL,
];

/// Tools that only MCP clients call: they may give several replacements at once.
const MCP_ONLY: &[ToolDefinition] = &[edit_in_file::TOOL];

static SPECS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| TOOLS.iter().map(ToolDefinition::spec).collect());

/// The same list as data.
pub fn specs() -> &'static [ToolSpec] {
    &SPECS
}

pub(crate) fn definition(name: &str) -> Option<&'static ToolDefinition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools that an MCP client may call, in the order of the list.
pub fn for_clients() -> impl Iterator<Item = &'static ToolDefinition> {
    let instead = |tool: &'static ToolDefinition| MCP_ONLY.iter().find(|own| own.name == tool.name).unwrap_or(tool);
    TOOLS.iter().map(instead).filter(|tool| tool.outside_spec().is_some())
}

/// The tools of MCP clients, as data.
pub fn mcp_tools() -> Vec<OutsideTool> {
    for_clients().filter_map(ToolDefinition::outside_spec).collect()
}
