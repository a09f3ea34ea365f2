//! Reads one step of a plan reply. Fields that older prompts did not ask for may be missing; present ones must be
//! right.

use serde_json::{Map, Value};

use crate::reply::shorten;
use crate::step::PlanReplyStep;

pub(super) fn read(
    item: &Value,
    number: usize,
    kinds: &[&str],
    problems: &mut Vec<String>,
) -> Result<PlanReplyStep, String> {
    let object = item.as_object().ok_or_else(|| format!("step {number} is not an object"))?;
    let title = object.get("title").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if title.is_empty() {
        return Err(format!("step {number} has no title"));
    }
    if !object.contains_key("symbols") {
        return Err(format!("step {number} does not name its symbols"));
    }
    let mut field = |name: &str| match object.get(name).and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => {
            problems.push(format!("step {number}: `{name}` is missing"));
            String::new()
        }
    };
    let (because, expect) = (field("because"), field("expect"));
    let kind = text(object, "kind", number)?;
    if !kind.is_empty() && !kinds.contains(&kind.as_str()) {
        return Err(format!("step {number}: there is no kind `{}`; it is {}", shorten(&kind, 40), kinds.join(", ")));
    }
    Ok(PlanReplyStep {
        title: title.to_owned(),
        symbols: list(object, "symbols", number)?,
        because,
        expect,
        kind,
        with: list(object, "with", number)?,
        after: numbers(object, number)?,
        creates: list(object, "creates", number)?,
        checks: list(object, "check", number)?,
        fallback: text(object, "fallback", number)?,
    })
}

fn text(object: &Map<String, Value>, name: &str, number: usize) -> Result<String, String> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.trim().to_owned()),
        Some(_) => Err(format!("step {number}: `{name}` is not text")),
    }
}

fn list(object: &Map<String, Value>, name: &str, number: usize) -> Result<Vec<String>, String> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(list)) => list
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("step {number}: `{name}` holds something that is not text")),
        Some(_) => Err(format!("step {number}: `{name}` is not a list")),
    }
}

fn numbers(object: &Map<String, Value>, number: usize) -> Result<Vec<usize>, String> {
    let wrong = || format!("step {number}: `after` holds something that is not the number of a step");
    match object.get("after") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => list
            .iter()
            .map(|item| item.as_u64().and_then(|number| usize::try_from(number).ok()).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}
