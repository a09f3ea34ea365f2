//! Tests the properties that every tool of the list must have.

use serde_json::{Value, json};

use crate::plan::StepKind;
use crate::tools::{tool_list, validate_call};
use sextant_model::prompt;
use sextant_model::tools::{Access, kinds, looks};

#[path = "../../model/prompt/sample_step.rs"]
mod facts;

#[test]
fn every_tool_is_listed_once_with_parameters_that_a_reply_can_hold() {
    for spec in tool_list::specs() {
        let same = tool_list::specs().iter().filter(|other| other.name == spec.name).count();
        assert_eq!(same, 1, "{}", spec.name);
        let properties = spec.schema["properties"].as_object().unwrap();
        assert_eq!(spec.parameters.len(), properties.len(), "{}: {}", spec.name, spec.schema);
        assert_eq!(spec.schema["additionalProperties"], json!(false), "{} takes what it does not name", spec.name);
    }
    let only_look: Vec<&str> = looks(tool_list::specs()).map(|spec| spec.name.as_str()).collect();
    for name in ["read_file", "read_symbol", "list_symbols", "search"] {
        assert!(only_look.contains(&name), "{name} changes nothing: {only_look:?}");
    }
    for name in ["edit_file", "edit_symbol", "write_file", "apply_fix", "run_command"] {
        assert!(!only_look.contains(&name), "{name} does more than look: {only_look:?}");
    }
    assert!(tool_list::specs().iter().any(|spec| spec.access == Access::Run));
    assert_eq!(kinds(tool_list::specs()), StepKind::ALL.map(|(name, _)| name));
}

#[test]
fn a_call_that_does_not_fit_is_refused_in_the_words_of_the_reply_s_reading() {
    assert!(validate_call::call("read_file", &json!({"path": "a.py", "limit": null})).is_ok());
    assert!(validate_call::call("run_command", &json!({"command": ["pytest", "-q"]})).is_ok());
    let burst = json!({"path": "a", "old_string": "b", "new_string": "c", "replace_all": null, "diagnostics": "defer"});
    assert!(validate_call::call("edit_file", &burst).is_ok());
    for (tool, given, why) in [
        ("rm", json!({}), "there is no tool named \"rm\""),
        ("read_file", json!([]), "read_file takes an object"),
        ("read_file", json!({"path": 1}), "`path` of read_file must be text"),
        ("read_file", json!({"path": "a.py", "limit": -1}), "`limit` of read_file must be a whole number"),
        ("read_file", json!({"path": "a.py", "user_approved": true}), "read_file takes no parameter `user_approved`"),
        ("edit_symbol", json!({"symbol": "f", "action": "rm", "content": ""}), "`action` of edit_symbol must be one"),
        ("edit_symbol", json!({"symbol": "f", "action": "replace"}), "edit_symbol needs `content`"),
        ("edit_file", json!({"path": "a", "old_string": null, "new_string": ""}), "edit_file needs `old_string`"),
        ("write_file", json!({"path": "a", "content": "", "diagnostics": "now"}), "must be one of defer"),
        ("run_command", json!({"command": "rm -rf /"}), "`command` of run_command must be a list of texts"),
        ("run_command", json!({"command": [1]}), "must be a list of texts"),
    ] {
        let refused = validate_call::call(tool, &given).expect_err(&format!("{tool} {given}"));
        assert!(refused.message.contains(why), "{tool} {given}: {}", refused.message);
    }
}

#[test]
fn a_misnamed_field_in_a_list_is_named_and_not_the_list() {
    let given = json!({"path": "a.py", "edits": [{"old": "x", "new": "y"}]});
    let refused = validate_call::call_outside("edit_file", &given).expect_err("a misnamed field");
    assert!(refused.message.contains("unknown field `old`, expected one of `old_string`"), "{}", refused.message);
}

#[test]
fn a_type_and_its_spec_take_the_same_parameters() {
    // One value of each type for each parameter: the type must read exactly the values that the spec accepts.
    let values =
        [json!("replace"), json!("defer"), json!("x"), json!(3), json!(true), json!(["a"]), json!({}), json!(0.5)];
    for spec in tool_list::specs() {
        let fitting = |name: &str| {
            let parameter = spec.parameters.iter().find(|known| known.name == name).unwrap();
            let alone = |value: &&Value| {
                spec.fit(json!({name: value}).as_object().unwrap()).err().is_none_or(|why| why.contains("needs"))
            };
            values.iter().find(alone).unwrap_or_else(|| panic!("{} {parameter:?}", spec.name)).clone()
        };
        let whole: Value = spec
            .parameters
            .iter()
            .map(|known| (known.name.clone(), fitting(&known.name)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert!(validate_call::call(&spec.name, &whole).is_ok(), "{} {whole}", spec.name);
        for name in spec.parameters.iter().map(|known| &known.name) {
            for value in &values {
                let mut changed = whole.clone();
                changed[name] = value.clone();
                let fits = spec.fit(changed.as_object().unwrap()).is_ok();
                assert_eq!(validate_call::call(&spec.name, &changed).is_ok(), fits, "{} {changed}", spec.name);
            }
            let mut less = whole.as_object().unwrap().clone();
            less.shift_remove(name);
            assert_eq!(validate_call::call(&spec.name, &Value::Object(less.clone())).is_ok(), spec.fit(&less).is_ok());
        }
    }
}

#[test]
fn two_calls_with_the_same_parameters_have_the_same_key() {
    let key = |given: Value| validate_call::call("read_file", &given).unwrap().key();
    assert_eq!(key(json!({"path": "a.py", "limit": 3})), key(json!({"limit": 3, "offset": null, "path": "a.py"})));
    assert_ne!(key(json!({"path": "a.py"})), key(json!({"path": "b.py"})));
}

#[test]
fn a_step_with_the_tools_in_use_keeps_to_the_tokens_of_its_mode() {
    for (contract, most) in facts::contracts() {
        let input = facts::under(contract, tool_list::specs());
        let step = prompt::step(&input);
        let (bytes, words) = (step.tokens(), facts::upper_estimate(&facts::both(&step)));
        assert!(bytes < most && words < most, "{bytes} tokens by bytes, {words} by words, at most {most}");
    }
}
