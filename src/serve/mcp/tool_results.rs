//! Converts tools and answers to the protocol's types: the text and the data of an answer have the same content.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use sextant_base::failure::Failure;
use sextant_engine::api::{OutsideAnswer, OutsideTool};

pub(in crate::mcp) fn tool(known: OutsideTool) -> Tool {
    let schema: JsonObject = match known.schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let hints = if known.edits {
        // An edit can be undone, and its answer reports what it broke.
        ToolAnnotations::new().read_only(false).destructive(false).open_world(false)
    } else {
        ToolAnnotations::new().read_only(true).open_world(false)
    };
    Tool::new(known.name, known.description, schema).with_annotations(hints)
}

/// True if a tool changes nothing.
pub(in crate::mcp) fn only_reads(tool: &Tool) -> bool {
    tool.annotations.as_ref().and_then(|hints| hints.read_only_hint).unwrap_or(false)
}

pub(in crate::mcp) fn done(answer: OutsideAnswer) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
    result.structured_content = answer.data;
    result
}

/// A refusal for the model to read, and to do better after.
pub(in crate::mcp) fn refused(failure: &Failure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(failure.one_line())]);
    let mut data = json!({"ok": false, "kind": failure.kind, "message": failure.message});
    if !failure.hint.text().is_empty() {
        data["hint"] = json!(failure.hint.text());
    }
    result.structured_content = Some(data);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::token_estimate::estimate;
    use sextant_engine::api::mcp_tools;

    #[test]
    fn the_list_of_tools_costs_at_most_twelve_hundred_tokens() {
        let list: Vec<Tool> = mcp_tools().into_iter().map(tool).collect();
        let json = serde_json::to_string(&list).unwrap();
        assert!(estimate(&json) <= 1200, "{} tokens: {json}", estimate(&json));
        assert!(list.iter().all(|tool| tool.name.chars().all(|c| c.is_ascii_lowercase() || c == '_')), "{json}");
    }

    #[test]
    fn a_refusal_says_the_same_as_text_and_as_data() {
        let result = refused(&Failure::user("a.py is gone", "name another file"));
        let data = result.structured_content.clone().unwrap();
        assert_eq!(data, json!({"ok": false, "kind": "user", "message": "a.py is gone", "hint": "name another file"}));
        assert_eq!(result.is_error, Some(true));
        assert!(serde_json::to_string(&result.content).unwrap().contains("a.py is gone (name another file)"));
    }
}
