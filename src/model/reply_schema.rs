//! The JSON schemas of the replies, within what strict modes and grammars accept.
//!
//! Every property is required and `additionalProperties` is false (OpenAI's strict mode); optional parameters are
//! nullable. There is one small object per tool, so that a model need not write out the nulls of all the others. `enum`
//! replaces `const`, and there are no numeric bounds (Gemini and Anthropic refuse those).

use serde_json::{Map, Value, json};

use crate::plan_contract::{Contract, StepDecision};
use crate::tools::{self, Parameter, ParameterType, ToolSpec};

/// Names under which the schemas are sent; letters and `_` only.
pub const PLAN_NAME: &str = "plan_reply";
pub const CHAT_NAME: &str = "chat_reply";

/// The name of a step's schema: each contract has its own.
pub fn step_name(contract: &Contract) -> &'static str {
    match contract {
        Contract::Simple => "step_reply",
        Contract::Planner(_) => "planner_step_reply",
        Contract::Supervised(_) => "supervised_step_reply",
    }
}

/// Reasoning comes first: the user sees it while the rest is written, and the action follows from it. The fields of the
/// contract come next, since the action depends on them.
pub fn step(contract: &Contract, given: &[ToolSpec], commands: bool) -> Value {
    let mut actions = vec![json!({"type": "null"})];
    actions.extend(tools::offered(given, commands).map(action));
    let looks: Vec<Value> = tools::looks(given).map(action).collect();
    let mut properties = vec![("reasoning", text())];
    match contract {
        Contract::Simple => {}
        Contract::Planner(_) => properties.push(("replan", json!({"type": ["string", "null"]}))),
        Contract::Supervised(_) => {
            let words: Vec<&str> = StepDecision::WORDS.iter().map(|(word, _)| *word).collect();
            let escalation = object([("reason", text()), ("question", text()), ("options", texts())]);
            properties.extend([
                ("decision", json!({"type": "string", "enum": words})),
                ("adherence", json!({"type": "number"})),
                ("escalation", json!({"anyOf": [{"type": "null"}, escalation]})),
            ]);
        }
    }
    properties.extend([
        ("action", json!({"anyOf": actions})),
        ("more", json!({"type": "array", "items": {"anyOf": looks}})),
        ("continue", json!({"type": "boolean"})),
        ("confidence", json!({"type": "number"})),
        ("answer", text()),
    ]);
    object(properties)
}

/// An answer in a conversation with a model whose prompt lists its tools.
pub fn chat(given: &[ToolSpec]) -> Value {
    let calls = json!({"type": "array", "items": {"anyOf": given.iter().map(action).collect::<Vec<_>>()}});
    object([("text", text()), ("calls", calls)])
}

pub fn plan(given: &[ToolSpec]) -> Value {
    let step = object([
        ("title", text()),
        ("kind", json!({"type": "string", "enum": tools::kinds(given)})),
        ("symbols", texts()),
        ("because", text()),
        ("with", texts()),
        ("after", json!({"type": "array", "items": {"type": "integer"}})),
        ("creates", texts()),
        ("expect", text()),
        ("check", texts()),
        ("fallback", text()),
    ]);
    object([
        ("title", text()),
        ("reason", text()),
        ("steps", json!({"type": "array", "items": step})),
        ("confidence", json!({"type": "number"})),
    ])
}

fn text() -> Value {
    json!({"type": "string"})
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn action(tool: &ToolSpec) -> Value {
    let parameters = object(tool.shown().map(|known| (known.name.as_str(), parameter(known))));
    object([("tool", json!({"type": "string", "enum": [tool.name]})), ("parameters", parameters)])
}

fn parameter(parameter: &Parameter) -> Value {
    let name = match &parameter.kind {
        // Some refuse a null inside of the `enum`; without it a grammar would make every reply name a word.
        ParameterType::OneOf(words) if !parameter.required => {
            return json!({"anyOf": [{"type": "string", "enum": words}, {"type": "null"}]});
        }
        ParameterType::OneOf(words) => return json!({"type": "string", "enum": words}),
        ParameterType::Texts => return json!({"type": "array", "items": {"type": "string"}}),
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
    use crate::tools::sample_tools;

    /// The demands of OpenAI's strict mode on every object schema, and of grammars on the rest.
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
    fn every_schema_is_strict_at_every_level() {
        for contract in contracts() {
            check(&chat(sample_tools::tools()), CHAT_NAME);
            check(&step(&contract, sample_tools::tools(), true), step_name(&contract));
            assert_eq!(step(&contract, sample_tools::tools(), true)["type"], "object", "the root may not be a union");
        }
        check(&plan(sample_tools::tools()), "plan");
    }

    fn contracts() -> [Contract; 3] {
        [Contract::Simple, Contract::Planner(Default::default()), Contract::Supervised(Default::default())]
    }

    #[test]
    fn each_mode_asks_for_what_its_contract_says_and_only_looks_come_in_numbers() {
        let has = |contract: &Contract, name: &str| {
            step(contract, sample_tools::tools(), true)["properties"].get(name).is_some()
        };
        let [simple, planner, supervised] = contracts();
        for (name, wanted) in
            [("replan", [false, true, false]), ("decision", [false, false, true]), ("escalation", [false, false, true])]
        {
            assert_eq!([has(&simple, name), has(&planner, name), has(&supervised, name)], wanted, "{name}");
        }
        let more = step(&simple, sample_tools::tools(), true)["properties"]["more"].to_string();
        assert!(more.contains("read_symbol") && !more.contains("edit_"), "{more}");
    }

    #[test]
    fn every_tool_has_its_own_branch_and_null_means_done() {
        let without = step(&Contract::Simple, sample_tools::tools(), false);
        assert_eq!(
            without["properties"]["action"]["anyOf"].as_array().map(Vec::len),
            Some(sample_tools::tools().len())
        );
        let schema = step(&Contract::Simple, sample_tools::tools(), true);
        let branches = schema["properties"]["action"]["anyOf"].as_array().expect("union");
        assert_eq!(branches.len(), sample_tools::tools().len() + 1);
        assert_eq!(branches[0], json!({"type": "null"}));
        let read = &branches[1]["properties"]["parameters"]["properties"];
        assert_eq!(read["path"], json!({"type": "string"}));
        assert_eq!(read["limit"], json!({"type": ["integer", "null"]}));
        let edit = branches.iter().find(|branch| branch["properties"]["tool"]["enum"][0] == "edit_symbol");
        let edit = &edit.expect("edit_symbol")["properties"]["parameters"]["properties"];
        assert_eq!(edit["action"]["enum"][0], "replace");
        assert!(edit.get("diagnostics").is_none(), "a required property is written: every answer would be put off");
        let kind = ParameterType::OneOf(vec!["now".to_owned()]);
        let word = Parameter { name: "when".to_owned(), kind, required: false, is_inferred: false, is_shown: true };
        assert_eq!(parameter(&word)["anyOf"][1], json!({"type": "null"}), "an optional property may be left out");
    }

    #[test]
    fn reasoning_is_written_before_the_action() {
        let keys: Vec<String> = step(&Contract::Simple, sample_tools::tools(), true)["properties"]
            .as_object()
            .expect("object")
            .keys()
            .cloned()
            .collect();
        assert_eq!(keys, ["reasoning", "action", "more", "continue", "confidence", "answer"]);
    }
}
