//! The JSON schemas of the two replies, within what strict modes and grammars accept.
//!
//! Every property is required and `additionalProperties` is false (OpenAI's strict mode); optional parameters are
//! nullable; one small object per tool, so that a model need not write out the nulls of all the others; `enum`
//! rather than `const`, and no numeric bounds (Gemini and Anthropic refuse those).

use serde_json::{Map, Value, json};

use crate::llm::tools::{self, Parameter, ParameterType, TOOLS, Tool};

/// Names under which the schemas are sent; letters and `_` only.
pub const STEP_NAME: &str = "step_reply";
pub const PLAN_NAME: &str = "plan_reply";

/// Reasoning comes first: it is what the user sees while the rest is written, and what the action follows from.
pub fn step() -> Value {
    let mut actions = vec![json!({"type": "null"})];
    actions.extend(TOOLS.iter().map(action));
    object([
        ("reasoning", json!({"type": "string"})),
        ("action", json!({"anyOf": actions})),
        ("continue", json!({"type": "boolean"})),
        ("confidence", json!({"type": "number"})),
        ("answer", json!({"type": "string"})),
    ])
}

pub fn plan() -> Value {
    let step = object([
        ("title", json!({"type": "string"})),
        ("symbols", json!({"type": "array", "items": {"type": "string"}})),
        ("because", json!({"type": "string"})),
        ("expect", json!({"type": "string"})),
    ]);
    object([
        ("title", json!({"type": "string"})),
        ("reason", json!({"type": "string"})),
        ("steps", json!({"type": "array", "items": step})),
        ("confidence", json!({"type": "number"})),
    ])
}

fn action(tool: &Tool) -> Value {
    let parameters = object(tools::told(tool).map(|p| (p.name, parameter(p))));
    object([("tool", json!({"type": "string", "enum": [tool.name]})), ("parameters", parameters)])
}

fn parameter(parameter: &Parameter) -> Value {
    let name = match parameter.kind {
        // A null inside of the `enum` is refused by some; without it a grammar would make every reply name a word.
        ParameterType::OneOf(words) if !parameter.required => {
            return json!({"anyOf": [{"type": "string", "enum": words}, {"type": "null"}]});
        }
        ParameterType::OneOf(words) => return json!({"type": "string", "enum": words}),
        ParameterType::Text => "string",
        ParameterType::Whole => "integer",
        ParameterType::Flag => "boolean",
    };
    if parameter.required { json!({"type": name}) } else { json!({"type": [name, "null"]}) }
}

fn object<'a>(properties: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let properties: Map<String, Value> = properties.into_iter().map(|(name, v)| (name.to_owned(), v)).collect();
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What OpenAI's strict mode asks of every object schema, and what grammars ask of the rest.
    fn check(schema: &Value, at: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], json!(false), "{at}");
            let required: Vec<&str> =
                schema["required"].as_array().expect(at).iter().filter_map(Value::as_str).collect();
            assert_eq!(required, properties.keys().map(String::as_str).collect::<Vec<_>>(), "{at}");
            for (name, property) in properties {
                check(property, &format!("{at}.{name}"));
            }
        }
        for (i, branch) in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate() {
            check(branch, &format!("{at}|{i}"));
        }
        if let Some(items) = schema.get("items") {
            check(items, &format!("{at}[]"));
        }
        for refused in ["const", "minimum", "maximum", "oneOf", "allOf", "$ref", "default", "pattern"] {
            assert!(schema.get(refused).is_none(), "{at} uses {refused}");
        }
    }

    #[test]
    fn both_schemas_are_strict_at_every_level() {
        check(&step(), "step");
        check(&plan(), "plan");
        assert_eq!(step()["type"], "object", "the root may not be a union");
    }

    #[test]
    fn every_tool_has_its_own_branch_and_null_means_done() {
        let schema = step();
        let branches = schema["properties"]["action"]["anyOf"].as_array().expect("union");
        assert_eq!(branches.len(), TOOLS.len() + 1);
        assert_eq!(branches[0], json!({"type": "null"}));
        let read = &branches[1]["properties"]["parameters"]["properties"];
        assert_eq!(read["path"], json!({"type": "string"}));
        assert_eq!(read["limit"], json!({"type": ["integer", "null"]}));
        let edit = branches.iter().find(|branch| branch["properties"]["tool"]["enum"][0] == "edit_symbol");
        let edit = &edit.expect("edit_symbol")["properties"]["parameters"]["properties"];
        assert_eq!(edit["action"]["enum"][0], "replace");
        assert!(edit.get("diagnostics").is_none(), "what must be written is written: every answer would be put off");
        let word = Parameter { name: "when", kind: ParameterType::OneOf(&["now"]), required: false };
        assert_eq!(parameter(&word)["anyOf"][1], json!({"type": "null"}), "what is optional may be left out");
    }

    #[test]
    fn reasoning_is_written_before_the_action() {
        let keys: Vec<String> = step()["properties"].as_object().expect("object").keys().cloned().collect();
        assert_eq!(keys, ["reasoning", "action", "continue", "confidence", "answer"]);
    }
}
