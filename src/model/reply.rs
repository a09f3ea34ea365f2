//! Reads a model's text into a reply: the readable parts, and the problems with it.
//!
//! Nothing is guessed that an edit depends on: half an object, an unknown tool, a missing or an unknown parameter makes
//! the reply unusable. Side parts (confidence, reasoning) are repaired, and the repair is reported.

mod plan_reply;
mod plan_step;
pub(crate) mod tool_objects;

use serde_json::{Map, Value};

use crate::plan_contract::StepDecision;
use crate::step::{Action, PlanReply, StepReply};
use crate::tools::{self, ToolSpec};

/// `value` is `None` when the reply cannot be used; `problems` are then for the model, otherwise for the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyReading<T> {
    pub value: Option<T>,
    pub problems: Vec<String>,
}

impl<T> ReplyReading<T> {
    fn unusable(problem: impl Into<String>) -> Self {
        Self { value: None, problems: vec![problem.into()] }
    }
}

/// The value of an unstated confidence: neither sure nor unsure.
const UNSTATED_CONFIDENCE: f64 = 0.5;

/// Reads one reply to a step, under any contract.
///
/// This is where the parameters of a call are validated, once: their problems go back to the model.
pub fn step(text: &str, tools: &[ToolSpec]) -> ReplyReading<StepReply> {
    let object = match find_object(text, &["action", "reasoning", "answer", "decision"]) {
        Ok(object) => object,
        Err(problem) => return ReplyReading::unusable(problem),
    };
    let mut problems = Vec::new();
    let wish = plan_reply::wish(&object, &mut problems);
    // A model that gives the reason why it does not act need not repeat it.
    let stops = wish.replan.is_some() || wish.decision.is_some_and(|decision| decision != StepDecision::Continue);
    let given = object.get("action").or(stops.then_some(&Value::Null));
    let read = action(given, tools, &mut problems)
        .and_then(|action| Ok((action, plan_reply::more(&object, tools, &mut problems)?)));
    let (action, more) = match read {
        Ok(read) => read,
        Err(problem) => {
            problems.push(problem);
            return ReplyReading { value: None, problems };
        }
    };
    let proceed = proceed(object.get("continue"), action.is_some(), &mut problems);
    let reasoning = words(&object, "reasoning", true, &mut problems);
    let mut answer = words(&object, "answer", false, &mut problems);
    let confidence = confidence(object.get("confidence"), &mut problems);
    if action.is_none() && reasoning.is_empty() && answer.is_empty() && !stops {
        problems.push("the reply has neither an action nor an answer".to_owned());
        return ReplyReading { value: None, problems };
    }
    if action.is_none() && answer.is_empty() {
        problems.push("`answer` is empty; the reasoning is taken for it".to_owned());
        answer.clone_from(&reasoning);
    }
    ReplyReading { value: Some(StepReply { action, reasoning, proceed, confidence, answer, more, wish }), problems }
}

/// Reads one plan. One unreadable step makes the plan unusable: the rest may depend on that step.
pub fn plan(text: &str, tools: &[ToolSpec]) -> ReplyReading<PlanReply> {
    let object = match find_object(text, &["steps", "title"]) {
        Ok(object) => object,
        Err(problem) => return ReplyReading::unusable(problem),
    };
    let mut problems = Vec::new();
    let Some(items) = object.get("steps").and_then(Value::as_array) else {
        return ReplyReading::unusable("`steps` is missing or not a list");
    };
    let kinds = tools::kinds(tools);
    let mut steps = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        match plan_step::read(item, i + 1, &kinds, &mut problems) {
            Ok(step) => steps.push(step),
            Err(problem) => {
                problems.push(problem);
                return ReplyReading { value: None, problems };
            }
        }
    }
    let title = words(&object, "title", true, &mut problems);
    let reason = words(&object, "reason", true, &mut problems);
    let confidence = confidence(object.get("confidence"), &mut problems);
    ReplyReading { value: Some(PlanReply { title, reason, steps, confidence, declined: false }), problems }
}

fn action(value: Option<&Value>, tools: &[ToolSpec], problems: &mut Vec<String>) -> Result<Option<Action>, String> {
    let object = match value {
        Some(Value::Null) => return Ok(None),
        Some(Value::Object(object)) => object,
        Some(_) => return Err("`action` must be null or an object with `tool` and `parameters`".to_owned()),
        None => return Err("`action` is missing; null means that nothing is left to do".to_owned()),
    };
    let name = match object.get("tool") {
        Some(Value::Null) => return Ok(None),
        Some(Value::String(name)) => name.trim(),
        _ => return Err("`action.tool` is missing or not text".to_owned()),
    };
    let tool = tools::find(tools, name)
        .ok_or_else(|| format!("there is no tool `{}`; the tools are {}", shorten(name, 60), tools::names(tools)))?;
    let parsed;
    let given = match object.get("parameters") {
        Some(Value::Object(given)) => given,
        Some(Value::String(text)) => {
            parsed = serde_json::from_str::<Map<String, Value>>(text)
                .map_err(|e| format!("`parameters` of {name} is text and not a whole JSON object: {e}"))?;
            problems.push("`parameters` was given as text".to_owned());
            &parsed
        }
        _ => return Err(format!("`parameters` of {name} is missing or not an object")),
    };
    Ok(Some(Action { tool: tool.name.clone(), parameters: Value::Object(tool.fit(given)?) }))
}

fn proceed(value: Option<&Value>, acts: bool, problems: &mut Vec<String>) -> bool {
    let goes_on = match value {
        Some(Value::Bool(goes_on)) => *goes_on,
        Some(Value::String(text)) if matches!(text.trim(), "true" | "false") => {
            problems.push("`continue` was given as text".to_owned());
            text.trim() == "true"
        }
        _ => {
            problems.push("`continue` is missing or not true or false".to_owned());
            acts
        }
    };
    if goes_on && !acts {
        problems.push("`continue` is true without an action; taken as done".to_owned());
    }
    goes_on && acts
}

fn confidence(value: Option<&Value>, problems: &mut Vec<String>) -> f64 {
    let number = match value {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    match number.filter(|n: &f64| n.is_finite()) {
        Some(n) if (0.0..=1.0).contains(&n) => n,
        Some(n) => {
            problems.push(format!("confidence {n} is not between 0 and 1"));
            n.clamp(0.0, 1.0)
        }
        None => {
            problems.push("`confidence` is missing or not a number".to_owned());
            UNSTATED_CONFIDENCE
        }
    }
}

fn words(object: &Map<String, Value>, name: &str, expected: bool, problems: &mut Vec<String>) -> String {
    match object.get(name) {
        Some(Value::String(text)) => text.trim().to_owned(),
        None | Some(Value::Null) if !expected => String::new(),
        _ => {
            problems.push(format!("`{name}` is missing or not text"));
            String::new()
        }
    }
}

/// The first whole JSON object that has one of the keys, at any place in the text.
fn find_object(text: &str, keys: &[&str]) -> Result<Map<String, Value>, String> {
    let text = without_thinking(text);
    let mut rest = text;
    let mut broken: Option<String> = None;
    let mut foreign = false;
    while let Some(start) = rest.find('{') {
        let from = &rest[start..];
        let mut stream = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Value>>();
        match stream.next() {
            Some(Ok(object)) => {
                if keys.iter().any(|key| object.contains_key(*key)) {
                    return Ok(object);
                }
                foreign = true;
                rest = &from[stream.byte_offset()..];
            }
            Some(Err(e)) => {
                // An outer object that is cut off must not be skipped for one that lies inside it.
                if e.is_eof() {
                    return Err("the JSON object is cut off".to_owned());
                }
                if from[1..].trim_start().starts_with(['"', '}']) {
                    return Err(format!("the JSON object is broken: {e}"));
                }
                broken.get_or_insert_with(|| format!("the JSON object is broken: {e}"));
                rest = &from[1..];
            }
            None => break,
        }
    }
    if foreign {
        return Err(format!("the JSON object has none of {}", keys.join(", ")));
    }
    Err(broken.unwrap_or_else(|| {
        if text.trim().is_empty() { "the answer is empty" } else { "there is no JSON object in the answer" }.to_owned()
    }))
}

/// The text after the model's thinking aloud; empty if that never ends.
pub(crate) fn without_thinking(text: &str) -> &str {
    let trimmed = text.trim_start();
    if trimmed.starts_with("<think>") {
        return trimmed.split_once("</think>").map_or("", |(_, after)| after);
    }
    // Some templates put the opening tag into the prompt, so that only the closing one is seen.
    match text.split_once("</think>") {
        Some((before, after)) if !before.contains('{') => after,
        _ => text,
    }
}

fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max { text.to_owned() } else { text.chars().take(max).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
