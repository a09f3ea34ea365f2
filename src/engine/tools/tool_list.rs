//! Gives the list of tools to the built-in agent and to other agents (MCP).

use std::sync::LazyLock;

use crate::tools::tool::{OutsideTool, ToolDefinition};
use crate::tools::{MCP_ONLY, TOOLS};
use sextant_model::tools::ToolSpec;

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
