//! The declaration of a tool for a provider: name, purpose, and the shortest schema of its parameters.

use serde_json::{Map, Value, json};

use crate::tools::{Parameter, ParameterType, ToolSpec};

/// The schema of the parameters that a model gets. Optional ones are left out of `required`, rather than nullable: a
/// call leaves them out, and every token of this is sent with every question.
pub(super) fn parameters(tool: &ToolSpec) -> Value {
    let properties: Map<String, Value> = tool.shown().map(|known| (known.name.clone(), schema(known))).collect();
    let required: Vec<&str> = tool.shown().filter(|known| known.required).map(|known| known.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn schema(parameter: &Parameter) -> Value {
    match &parameter.kind {
        ParameterType::Text => json!({"type": "string"}),
        ParameterType::Texts => json!({"type": "array", "items": {"type": "string"}}),
        ParameterType::Whole => json!({"type": "integer"}),
        ParameterType::Flag => json!({"type": "boolean"}),
        ParameterType::OneOf(words) => json!({"type": "string", "enum": words}),
    }
}

/// Its purpose, unless its name shows it.
pub(super) fn purpose(tool: &ToolSpec) -> Option<&str> {
    (!tool.purpose.is_empty()).then_some(tool.purpose.as_str())
}

/// A tool under these keys: `description` only for a tool with a purpose.
pub(super) fn function(tool: &ToolSpec, schema_key: &str) -> Value {
    let mut declared = json!({"name": tool.name});
    if let Some(purpose) = purpose(tool) {
        declared["description"] = purpose.into();
    }
    declared[schema_key] = parameters(tool);
    declared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{find, sample_tools};
    use sextant_base::token_estimate;

    #[test]
    fn a_tool_is_described_in_few_words() {
        let edit = parameters(find(sample_tools::tools(), "edit_file").unwrap());
        let text = edit.to_string();
        assert_eq!(edit["required"], json!(["path", "old_string", "new_string"]));
        assert_eq!(edit["properties"]["replace_all"], json!({"type": "boolean"}));
        for kept_back in ["diagnostics", "null", "title", "description", "x-hidden"] {
            assert!(!text.contains(kept_back), "{kept_back}: {text}");
        }
        let all: String = sample_tools::tools().iter().map(|tool| function(tool, "parameters").to_string()).collect();
        let each = token_estimate::estimate(&all) / sample_tools::tools().len();
        assert!(each <= 60, "{each} tokens a tool");
    }
}
