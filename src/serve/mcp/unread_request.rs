//! The error for a request that the protocol's types could not read: an unknown method, or a known one given otherwise.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::Value;

/// The one method whose parameters a model writes.
const CALL: &str = "tools/call";

/// The error for a request that no other handler has taken.
pub(in crate::mcp) fn error_of(method: String, params: Option<&Value>) -> ErrorData {
    if method == CALL {
        return ErrorData::invalid_params(why(params.unwrap_or(&Value::Null)), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

fn why(params: &Value) -> String {
    let expected = "give `name` and `arguments`, an object of the tool's parameters";
    if !params.is_object() {
        return format!("params is {}, not an object; {expected}", form(params));
    }
    match (&params["name"], &params["arguments"]) {
        (Value::String(_), Value::Null | Value::Object(_)) => format!("the request cannot be read; {expected}"),
        (Value::String(_), given) => format!("arguments is {}, not an object; {expected}", form(given)),
        (name, _) => format!("name is {}, not a text; {expected}", form(name)),
    }
}

fn form(value: &Value) -> &'static str {
    match value {
        Value::Null => "missing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
