//! The tools: one file each, registered here. They are the same for the built-in agent and for other agents.

use crate::tools::tool::ToolDefinition;

pub(crate) mod apply_fix;
pub(crate) mod check;
pub(crate) mod command_permission;
pub(crate) mod edit_checks;
pub(crate) mod edit_file;
pub(crate) mod edit_in_file;
pub(crate) mod edit_symbol;
pub(crate) mod find_definition;
pub(crate) mod find_references;
mod git_objects;
pub(crate) mod hover;
mod known_options;
pub(crate) mod list_symbols;
mod name_occurrences;
mod passed;
pub(crate) mod read_file;
pub(crate) mod read_once;
pub(crate) mod read_symbol;
mod reading_commands;
pub(crate) mod rename_symbol;
pub(crate) mod run_command;
pub(crate) mod search_tool;
mod stub_twin;
pub(crate) mod sweeps;
pub(crate) mod symbol_lookup;
pub(crate) mod text_page;
pub(crate) mod tool;
pub(crate) mod tool_answer;
pub(crate) mod tool_list;
pub(crate) mod unnumbered;
pub(crate) mod validate_call;
mod withheld;
pub(crate) mod write_file;

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

#[cfg(test)]
mod tests;
