//! Reads the parts of a step's reply besides its action: further looks, and its words on the plan.

use serde_json::{Map, Value};

use crate::plan_contract::{Escalation, PlanFeedback, StepDecision};
use crate::reply;
use crate::step::Action;
use crate::tools::ToolSpec;

/// Further actions of one reply.
const MORE: usize = 6;
/// Options of one escalation; the rest is left out, and a problem reports that.
const OPTIONS: usize = 4;

/// An unknown decision is ignored: the words of the plan's own rules count then.
pub(super) fn wish(object: &Map<String, Value>, problems: &mut Vec<String>) -> PlanFeedback {
    let text = |object: &Map<String, Value>, name: &str| {
        object.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default().to_owned()
    };
    let decision = object.get("decision").filter(|given| !given.is_null()).and_then(|given| {
        let known = StepDecision::WORDS.iter().find(|(word, _)| given.as_str().map(str::trim) == Some(*word));
        if known.is_none() {
            problems.push("`decision` is not one of continue, escalate, pause, complete".to_owned());
        }
        known.map(|(_, decision)| *decision)
    });
    let adherence = object.get("adherence").filter(|given| !given.is_null()).and_then(|given| match given.as_f64() {
        Some(number) if number.is_finite() => Some(number.clamp(0.0, 1.0)),
        _ => {
            problems.push("`adherence` is not a number".to_owned());
            None
        }
    });
    let escalation = object.get("escalation").and_then(Value::as_object).map(|given| {
        let all: Vec<String> = given
            .get("options")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|option| option.as_str().map(|text| text.trim().to_owned()))
            .filter(|option| !option.is_empty())
            .collect();
        if all.len() > OPTIONS {
            problems.push(format!("only the first {OPTIONS} options are offered"));
        }
        let options = all.into_iter().take(OPTIONS).collect();
        Escalation { reason: text(given, "reason"), question: text(given, "question"), options }
    });
    let escalation = escalation.filter(|asked| !asked.reason.is_empty() || !asked.question.is_empty());
    let replan = Some(text(object, "replan")).filter(|reason| !says_no(reason));
    PlanFeedback { replan, decision, adherence, escalation }
}

/// Small models write `null` as a word.
fn says_no(reason: &str) -> bool {
    let word = reason.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(word.as_str(), "" | "null" | "none" | "no" | "false" | "n/a")
}

/// Each must be a whole action; whether it may run is not decided here.
pub(super) fn more(
    object: &Map<String, Value>,
    tools: &[ToolSpec],
    problems: &mut Vec<String>,
) -> Result<Vec<Action>, String> {
    let given = match object.get("more") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(given)) => given,
        Some(_) => return Err("`more` must be a list of actions".to_owned()),
    };
    if given.len() > MORE {
        problems.push(format!("only the first {MORE} of `more` are run"));
    }
    let mut actions = Vec::new();
    for item in given.iter().take(MORE) {
        actions.extend(reply::action(Some(item), tools, problems)?);
    }
    Ok(actions)
}
