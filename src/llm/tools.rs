//! The tools a model may ask for: their names and parameters, once for prompt, schema and reading.

/// The JSON type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    Text,
    /// A list of texts.
    Texts,
    Whole,
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: ParameterType,
    pub required: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    /// What it is for, in a few words; empty where the name says it.
    pub purpose: &'static str,
    pub parameters: &'static [Parameter],
}

const fn text(name: &'static str) -> Parameter {
    Parameter { name, kind: ParameterType::Text, required: true }
}

const fn optional(name: &'static str, kind: ParameterType) -> Parameter {
    Parameter { name, kind, required: false }
}

/// Leaves the diagnostics of an edit to the next result, so that a burst of edits is settled once. Taken where it is
/// given; but no model is told of it: next to a call of a model a settling costs nothing, and a small one puts off
/// every answer, and then mends what it has mended.
const DEFER: Parameter = optional("diagnostics", ParameterType::OneOf(&["defer"]));

/// Every tool of a step, in the order in which a model reads about them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "read_file",
        purpose: "offset, limit: lines",
        parameters: &[text("path"), optional("offset", ParameterType::Whole), optional("limit", ParameterType::Whole)],
    },
    Tool { name: "read_symbol", purpose: "", parameters: &[text("symbol")] },
    Tool { name: "list_symbols", purpose: "query: path or name", parameters: &[text("query")] },
    Tool {
        name: "search",
        purpose: "regular expression",
        parameters: &[text("pattern"), optional("path", ParameterType::Text)],
    },
    Tool {
        name: "edit_file",
        purpose: "old_string: exact copy, occurs once",
        parameters: &[
            text("path"),
            text("old_string"),
            text("new_string"),
            optional("replace_all", ParameterType::Flag),
            optional("symbol", ParameterType::Text),
            DEFER,
        ],
    },
    Tool {
        name: "edit_symbol",
        purpose: "replace: content is the complete definition",
        parameters: &[
            text("symbol"),
            Parameter {
                name: "action",
                kind: ParameterType::OneOf(&["replace", "insert_before", "insert_after", "delete"]),
                required: true,
            },
            text("content"),
            DEFER,
        ],
    },
    Tool { name: "write_file", purpose: "whole file", parameters: &[text("path"), text("content"), DEFER] },
    Tool { name: "apply_fix", purpose: "id of an offered fix", parameters: &[text("fix")] },
    Tool {
        name: RUN,
        purpose: "program and arguments, no shell; needs the user's leave",
        parameters: &[Parameter { name: "command", kind: ParameterType::Texts, required: true }],
    },
];

/// The tool that is offered only where a command could be allowed.
pub const RUN: &str = "run_command";

/// The tools of a question.
pub fn offered(commands: bool) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| commands || tool.name != RUN)
}

/// The tools that change nothing.
pub const LOOKS: &[&str] = &["read_file", "read_symbol", "list_symbols", "search"];

/// The parameters that a model is told of.
pub fn told(tool: &Tool) -> impl Iterator<Item = &'static Parameter> {
    tool.parameters.iter().filter(|parameter| parameter.name != DEFER.name)
}

pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// `search(pattern, path?) - regular expression`.
pub fn signature(tool: &Tool) -> String {
    let parameters: Vec<String> = told(tool)
        .map(|parameter| {
            let mark = if parameter.required { "" } else { "?" };
            match parameter.kind {
                ParameterType::OneOf(words) => format!("{}{mark}: {}", parameter.name, words.join("|")),
                ParameterType::Texts => format!("{}{mark}: [text]", parameter.name),
                _ => format!("{}{mark}", parameter.name),
            }
        })
        .collect();
    let head = format!("{}({})", tool.name, parameters.join(", "));
    if tool.purpose.is_empty() { head } else { format!("{head} - {}", tool.purpose) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_compact() {
        let search = find("search").expect("search");
        assert_eq!(signature(search), "search(pattern, path?) - regular expression");
        let edit = find("edit_symbol").expect("edit_symbol");
        assert!(
            signature(edit)
                .starts_with("edit_symbol(symbol, action: replace|insert_before|insert_after|delete, content) ")
        );
        assert!(find("rm").is_none());
        assert!(LOOKS.iter().all(|name| find(name).is_some()));
    }
}
