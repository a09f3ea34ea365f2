//! The tools of a model, as data: the facts that prompt, reply schema and the reading of a reply need of each.
//!
//! The list itself is the agent's (`src/engine/tools/mod.rs`) and comes with every question.

use serde_json::{Map, Value};

/// The effect of a tool on the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Edit,
    Run,
}

/// The JSON type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterType {
    Text,
    /// A list of texts.
    Texts,
    Whole,
    Flag,
    /// One of these words.
    OneOf(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub kind: ParameterType,
    pub required: bool,
    /// True if a call without it may still have one meaning only: its tool decides.
    pub is_inferred: bool,
    /// True if the prompt shows it to a model. A hidden parameter is accepted if it is given.
    pub is_shown: bool,
}

/// The key of a parameter's schema that hides it from a model.
pub const HIDDEN: &str = "x-hidden";
/// The key of a required parameter's schema whose tool reads a call without it too.
pub const INFERRED: &str = "x-inferred";

#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    /// Its purpose, in a few words; empty if the name shows it.
    pub purpose: String,
    pub access: Access,
    /// The kinds of a plan's steps that are carried out with it.
    pub steps: Vec<&'static str>,
    /// The whole JSON schema of its parameters.
    pub schema: Value,
    /// The same, as far as prompt and reply need it.
    pub parameters: Vec<Parameter>,
}

impl ToolSpec {
    /// `schema` is that of an object; a property of a type that no reply can have is left out.
    pub fn new(name: &str, purpose: &str, access: Access, steps: Vec<&'static str>, schema: Value) -> Self {
        let required = |name: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|list| list.iter().any(|required| required.as_str() == Some(name)))
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let parameters = properties
            .filter_map(|(name, property)| {
                let (kind, is_shown) = (kind_of(property)?, property.get(HIDDEN).is_none());
                let is_inferred = property.get(INFERRED).is_some();
                Some(Parameter { name: name.clone(), kind, required: required(name), is_inferred, is_shown })
            })
            .collect();
        Self { name: name.to_owned(), purpose: purpose.to_owned(), access, steps, schema, parameters }
    }

    /// The parameters that a model sees.
    pub fn shown(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.is_shown)
    }

    /// `search(pattern, path?) - regular expression`.
    pub fn signature(&self) -> String {
        let parameters: Vec<String> = self
            .shown()
            .map(|parameter| {
                let mark = if parameter.required { "" } else { "?" };
                match &parameter.kind {
                    ParameterType::OneOf(words) => format!("{}{mark}: {}", parameter.name, words.join("|")),
                    ParameterType::Texts => format!("{}{mark}: [text]", parameter.name),
                    _ => format!("{}{mark}", parameter.name),
                }
            })
            .collect();
        let head = format!("{}({})", self.name, parameters.join(", "));
        if self.purpose.is_empty() { head } else { format!("{head} - {}", self.purpose) }
    }

    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|known| known.name == name)
    }

    /// The parameter of a tool that has just one, where one value was given under another name: it can mean no other.
    fn only_parameter(&self, count: usize, value: &Value) -> Option<&Parameter> {
        let [only] = self.parameters.as_slice() else { return None };
        (count == 1 && only.required && only.kind.misses(value).is_none()).then_some(only)
    }

    /// The given parameters without nulls, or their problem. An unknown parameter may be a limit that the model meant;
    /// it is not dropped.
    pub fn fit(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut kept = Map::new();
        let given = || given.iter().filter(|(_, value)| !value.is_null());
        let count = given().count();
        for (name, value) in given() {
            let Some(parameter) = self.parameter(name).or_else(|| self.only_parameter(count, value)) else {
                // A list of objects is read by the tool itself.
                if self.schema["properties"].get(name).is_some() {
                    continue;
                }
                let shown: String = name.chars().take(LONGEST_NAME).collect();
                let more = if shown.len() < name.len() { "…" } else { "" };
                return Err(format!("{} takes no parameter `{shown}{more}`: {}", self.name, self.signature()));
            };
            if let Some(wanted) = parameter.kind.misses(value) {
                return Err(format!("`{name}` of {} must be {wanted}", self.name));
            }
            kept.insert(parameter.name.clone(), value.clone());
        }
        let lacks = |known: &&Parameter| known.required && !known.is_inferred && !kept.contains_key(&known.name);
        match self.parameters.iter().find(lacks) {
            Some(missing) => Err(format!("{} needs `{}`: {}", self.name, missing.name, self.signature())),
            None => Ok(kept),
        }
    }
}

/// Characters of an unknown parameter's name that are repeated to the model.
const LONGEST_NAME: usize = 40;

impl ParameterType {
    /// The expected form of the value; `None` if it fits.
    fn misses(&self, value: &Value) -> Option<String> {
        let (fits, wanted) = match self {
            Self::Text => (value.is_string(), "text".to_owned()),
            Self::Texts => {
                let fits = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
                (fits, "a list of texts".to_owned())
            }
            Self::Whole => (value.is_u64(), "a whole number, 0 or more".to_owned()),
            Self::Flag => (value.is_boolean(), "true or false".to_owned()),
            Self::OneOf(words) => {
                let fits = value.as_str().is_some_and(|word| words.iter().any(|known| known == word));
                (fits, format!("one of {}", words.join(", ")))
            }
        };
        (!fits).then_some(wanted)
    }
}

/// The type of a property; `None` if no reply can have it.
fn kind_of(property: &Value) -> Option<ParameterType> {
    // An optional property is this or null.
    if let Some(branches) = property["anyOf"].as_array() {
        return branches.iter().find(|branch| branch["type"] != "null").and_then(kind_of);
    }
    if let Some(words) = property["enum"].as_array() {
        return Some(ParameterType::OneOf(words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()));
    }
    let name = match &property["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null")?,
        name => name.as_str()?,
    };
    match name {
        "string" => Some(ParameterType::Text),
        "integer" => Some(ParameterType::Whole),
        "boolean" => Some(ParameterType::Flag),
        "array" if property["items"]["type"] == "string" => Some(ParameterType::Texts),
        _ => None,
    }
}

/// The tools of a question: those that run commands only if a command could be allowed.
pub fn offered(tools: &[ToolSpec], commands: bool) -> impl Iterator<Item = &ToolSpec> {
    tools.iter().filter(move |tool| commands || tool.access != Access::Run)
}

/// The tools that change nothing.
pub fn looks(tools: &[ToolSpec]) -> impl Iterator<Item = &ToolSpec> {
    tools.iter().filter(|tool| tool.access == Access::Read)
}

pub fn find<'t>(tools: &'t [ToolSpec], name: &str) -> Option<&'t ToolSpec> {
    tools.iter().find(|tool| tool.name == name)
}

/// `read_file, read_symbol, …`.
pub fn names<'t>(tools: impl IntoIterator<Item = &'t ToolSpec>) -> String {
    tools.into_iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The kinds of a plan's steps that some tool carries out, each once.
pub fn kinds(tools: &[ToolSpec]) -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> = Vec::new();
    for kind in tools.iter().flat_map(|tool| &tool.steps) {
        if !kinds.contains(kind) {
            kinds.push(kind);
        }
    }
    kinds
}

#[cfg(test)]
pub(crate) mod sample_tools;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn signatures_are_compact() {
        let tools = sample_tools::tools();
        let of = |name: &str| find(tools, name).expect(name).signature();
        assert_eq!(of("search"), "search(pattern, path?) - regular expression");
        assert_eq!(
            of("edit_symbol"),
            "edit_symbol(symbol, action: replace|insert_before|insert_after|delete, content) - replace: content is \
             the complete definition"
        );
        assert!(find(tools, "rm").is_none());
        assert_eq!(names(looks(tools)), "read_file, read_symbol, list_symbols, search");
        assert_eq!(kinds(tools), ["edit", "examine", "search"]);
        assert!(offered(tools, true).any(|tool| tool.access == Access::Run));
        assert!(!offered(tools, false).any(|tool| tool.access == Access::Run));
    }

    #[test]
    fn a_parameter_s_type_is_read_from_its_schema() {
        let one_of = |words: &[&str]| ParameterType::OneOf(words.iter().map(|word| (*word).to_owned()).collect());
        for (property, wanted) in [
            (json!({"type": "string"}), Some(ParameterType::Text)),
            (json!({"type": ["integer", "null"], "minimum": 0}), Some(ParameterType::Whole)),
            (json!({"type": "boolean", "default": false}), Some(ParameterType::Flag)),
            (json!({"type": "array", "items": {"type": "string"}}), Some(ParameterType::Texts)),
            (json!({"type": "string", "enum": ["a", "b"]}), Some(one_of(&["a", "b"]))),
            (json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}), Some(one_of(&["a"]))),
            (json!({"type": ["string", "null"], "enum": ["a", null]}), Some(one_of(&["a"]))),
            (json!({"type": "object"}), None),
            (json!({"type": "array", "items": {"type": "integer"}}), None),
        ] {
            assert_eq!(kind_of(&property), wanted, "{property}");
        }
    }

    #[test]
    fn the_only_parameter_of_a_tool_is_meant_by_any_name() {
        let check = |tool: &str, given: Value| {
            find(sample_tools::tools(), tool).expect(tool).fit(given.as_object().expect("an object"))
        };
        assert_eq!(Value::Object(check("apply_fix", json!({"id": "f4"})).unwrap()), json!({"fix": "f4"}));
        for given in [json!({"id": 4}), json!({"id": "f4", "dry_run": "yes"}), json!({"fix": "f4", "id": "f4"})] {
            assert!(check("apply_fix", given.clone()).is_err(), "{given}");
        }
        assert!(check("search", json!({"exclude": "a"})).is_err(), "another parameter may be meant");
    }

    #[test]
    fn what_does_not_fit_is_reported() {
        let check = |tool: &str, given: Value| {
            find(sample_tools::tools(), tool).expect(tool).fit(given.as_object().expect("an object"))
        };
        assert_eq!(
            Value::Object(check("read_file", json!({"path": "a", "limit": null})).unwrap()),
            json!({"path": "a"})
        );
        assert!(check("run_command", json!({"command": ["pytest", "-q"]})).is_ok());
        for (tool, given, why) in [
            ("read_file", json!({"path": 1}), "`path` of read_file must be text"),
            ("read_file", json!({"path": "a.py", "user_approved": true}), "takes no parameter `user_approved`"),
            ("edit_symbol", json!({"symbol": "f", "action": "rm", "content": ""}), "must be one of replace, insert_b"),
            ("edit_symbol", json!({"symbol": "f", "action": "replace"}), "edit_symbol needs `content`"),
            ("run_command", json!({"command": "rm -rf /"}), "must be a list of texts"),
            ("run_command", json!({"command": [1]}), "must be a list of texts"),
            ("edit_file", json!({"path": "a", "old_string": "", "new_string": "", "diagnostics": "now"}), "of defer"),
        ] {
            let fault = check(tool, given.clone()).unwrap_err();
            assert!(fault.contains(why), "{tool} {given}: {fault}");
        }
    }
}
