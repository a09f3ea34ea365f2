//! Replies as models really write them, whole and broken.

use proptest::prelude::*;
use serde_json::json;

use crate::reply::{self, ReplyReading};
use crate::step::{PlanReply, StepReply};
use crate::tools::sample_tools;

const READ: &str = r#"{"reasoning":"Look first.","action":{"tool":"read_symbol","parameters":{"symbol":"a.py::f"}},"continue":true,"confidence":0.8,"answer":""}"#;

fn step(text: &str) -> ReplyReading<StepReply> {
    reply::step(text, sample_tools::tools())
}

fn plan(text: &str) -> ReplyReading<PlanReply> {
    reply::plan(text, sample_tools::tools())
}

fn problems(reading: &ReplyReading<StepReply>) -> String {
    reading.problems.join("; ")
}

#[track_caller]
fn usable(text: &str) -> StepReply {
    let reading = step(text);
    let flaw = problems(&reading);
    reading.value.unwrap_or_else(|| panic!("{flaw}: {text}"))
}

#[track_caller]
fn refused(text: &str, because: &str) {
    let reading = step(text);
    assert_eq!(reading.value, None, "{text}");
    assert!(problems(&reading).contains(because), "{}", problems(&reading));
}

#[test]
fn a_whole_object_is_read_wherever_it_stands() {
    for text in [
        READ.to_owned(),
        format!("```json\n{READ}\n```"),
        format!("Here is my answer:\n\n{READ}\nI hope that helps {{smile}}."),
        format!("<think>{{\"action\":null}} hm, {{</think>\n{READ}"),
        format!("so I should read it.</think>{READ}"),
        format!("The set {{a, b}} matters. {READ}"),
    ] {
        let reply = usable(&text);
        let action = reply.action.expect("action");
        assert_eq!((action.tool.as_str(), &action.parameters), ("read_symbol", &json!({"symbol": "a.py::f"})));
        assert!(reply.proceed && reply.reasoning == "Look first." && reply.confidence == 0.8);
    }
    assert_eq!(step(READ).problems, Vec::<String>::new());
}

#[test]
fn nulls_are_dropped_and_parameters_may_be_text() {
    let text = r#"{"reasoning":"r","action":{"tool":"read_file","parameters":{"path":"a.py","offset":null,"limit":5}},"continue":true,"confidence":1}"#;
    assert_eq!(usable(text).action.expect("action").parameters, json!({"path": "a.py", "limit": 5}));
    let text = r#"{"reasoning":"r","action":{"tool":"apply_fix","parameters":"{\"fix\":\"f1\"}"},"continue":true,"confidence":1}"#;
    assert_eq!(usable(text).action.expect("action").parameters, json!({"fix": "f1"}));
    assert!(problems(&step(text)).contains("given as text"));
}

#[test]
fn what_only_colours_the_reply_is_fixed_and_said() {
    let reply = usable(r#"{"action":null,"continue":"false","confidence":85,"answer":"Done."}"#);
    assert_eq!((reply.action, reply.proceed, reply.confidence, reply.answer.as_str()), (None, false, 1.0, "Done."));
    let text = r#"{"action":{"tool":"apply_fix","parameters":{"fix":"1"}},"reasoning":7}"#;
    let reading = step(text);
    let flaw = problems(&reading);
    assert!(flaw.contains("`continue`") && flaw.contains("`confidence`") && flaw.contains("`reasoning`"), "{flaw}");
    assert!(reading.value.is_some_and(|reply| reply.proceed && reply.confidence == 0.5));
    let done = usable(r#"{"action":null,"reasoning":"It adds up.","continue":true,"confidence":-1,"answer":""}"#);
    assert_eq!((done.proceed, done.answer.as_str()), (false, "It adds up."));
}

#[test]
fn half_json_is_never_an_action() {
    for end in 1..READ.len() {
        let reading = step(&READ[..end]);
        assert_eq!(reading.value, None, "{}", &READ[..end]);
    }
    refused(&READ[..READ.len() - 1], "cut off");
    let text = r#"{"reasoning":"r","action":{"tool":"edit_file","parameters":"{\"path\":\"a.py\",\"old_str"}}"#;
    refused(text, "not a whole JSON object");
    let nested = r#"{"plan": {"action":null,"answer":"inner","continue":false}, "reason"#;
    refused(nested, "cut off");
}

#[test]
fn an_edit_with_anything_unclear_is_refused() {
    let with = |action: &str| format!(r#"{{"reasoning":"r","action":{action},"continue":true,"confidence":1}}"#);
    refused(&with(r#"{"tool":"rm","parameters":{"path":"/"}}"#), "no tool `rm`");
    refused(&with(r#"{"tool":"edit_file","parameters":{"path":"a.py","new_string":"x"}}"#), "needs `old_string`");
    refused(
        &with(
            r#"{"tool":"edit_symbol","parameters":{"symbol":"f","action":"replace","content":"x","old_string":"y"}}"#,
        ),
        "takes no parameter `old_string`",
    );
    refused(&with(r#"{"tool":"edit_symbol","parameters":{"symbol":"f","action":"erase","content":""}}"#), "one of");
    refused(&with(r#"{"tool":"read_file","parameters":{"path":"a.py","limit":-1}}"#), "whole number");
    refused(&with(r#"{"tool":"read_symbol"}"#), "`parameters` of read_symbol");
    refused(&with(r#""read_file""#), "`action` must be");
    refused(r#"{"reasoning":"I will do it"}"#, "`action` is missing");
    refused(r#"{"action":null,"continue":false,"confidence":1}"#, "neither an action nor an answer");
}

#[test]
fn prose_alone_and_other_objects_are_named_for_what_they_are() {
    refused("I would fix the return type.", "no JSON object");
    refused("", "empty");
    refused("<think>still thinking {\"action\":null}", "empty");
    refused(r#"{"name":"apply_fix","arguments":{"fix":"1"}}"#, "has none of");
    refused(r#"{"action": nil}"#, "broken");
    refused("use {x} or {y}", "broken");
}

#[test]
fn a_plan_is_read_whole_or_not_at_all() {
    let text = r#"{"title":"t","reason":"r","confidence":0.5,"steps":[
        {"title":"one","symbols":["a.py::f"],"because":"b","expect":"e"},{"title":"two","symbols":"a.py::g"}]}"#;
    let reading = plan(text);
    assert_eq!(reading.problems.len(), 2, "{:?}", reading.problems);
    let value = reading.value.expect("plan");
    assert_eq!((value.steps.len(), value.steps[1].symbols.as_slice()), (2, ["a.py::g".to_owned()].as_slice()));
    for (broken, because) in [
        (r#"{"title":"t","steps":[{"title":"one","symbols":[]},{"symbols":["f"]}]}"#, "step 2 has no title"),
        (r#"{"title":"t","steps":[{"title":"one"}]}"#, "does not name its symbols"),
        (r#"{"title":"t","steps":"none"}"#, "`steps`"),
        (r#"{"title":"t","steps":[{"title":"one","symb"#, "cut off"),
        ("1. Fix it", "no JSON object"),
    ] {
        let reading = plan(broken);
        assert_eq!(reading.value, None, "{broken}");
        assert!(reading.problems.join("; ").contains(because), "{:?}", reading.problems);
    }
    let nothing = plan(r#"{"title":"Nothing to do","reason":"no diagnostics","steps":[],"confidence":1}"#);
    assert!(nothing.value.is_some_and(|plan| plan.steps.is_empty()) && nothing.problems.is_empty());
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic_or_act_unasked(text in r#"[{}\[\]":,\\a-z0-9 <think>/é]{0,120}"#) {
        let reading = step(&text);
        prop_assert!(reading.value.is_none_or(|reply| reply.action.is_none()));
        plan(&text);
    }
}

#[test]
fn further_looks_are_read_as_strictly_as_the_action() {
    let with = |more: &str| READ.replace(r#""continue""#, &format!(r#""more":{more},"continue""#));
    let reply = usable(&with(r#"[{"tool":"read_symbol","parameters":{"symbol":"a.py::g"}}]"#));
    assert_eq!(reply.more.len(), 1);
    assert_eq!(reply.more[0].parameters, json!({"symbol": "a.py::g"}));
    refused(&with(r#"[{"tool":"rm","parameters":{}}]"#), "no tool `rm`");
    refused(&with(r#"{"tool":"read_symbol"}"#), "`more` must be a list");
    assert!(usable(&with("null")).more.is_empty());
}

#[test]
fn what_a_mode_s_contract_asks_for_is_read() {
    use crate::plan_contract::StepDecision;
    let reply = usable(r#"{"reasoning":"r","replan":" f is gone ","action":null,"continue":false,"confidence":1}"#);
    assert_eq!(reply.wish.replan.as_deref(), Some("f is gone"));
    for no in ["", "null", "None.", "\u{2014}", "false"] {
        let text =
            json!({"reasoning": "r", "replan": no, "action": null, "continue": false, "confidence": 1}).to_string();
        assert_eq!(usable(&text).wish.replan, None, "{no}");
    }
    let reply = usable(
        r#"{"reasoning":"r","decision":"escalate","adherence":3,"continue":false,"confidence":1,
            "escalation":{"reason":"two ways","question":"Which?","options":["a"," ",7,"b","c","d","e"]}}"#,
    );
    assert_eq!((reply.wish.decision, reply.wish.adherence), (Some(StepDecision::Escalate), Some(1.0)));
    assert_eq!(reply.wish.escalation.expect("asked").options, ["a", "b", "c", "d"]);
    let reading = step(r#"{"reasoning":"r","decision":"maybe","action":null,"continue":false,"confidence":1}"#);
    assert!(problems(&reading).contains("`decision`") && reading.value.is_some_and(|r| r.wish.decision.is_none()));
    refused(r#"{"reasoning":"r","decision":"continue","continue":true,"confidence":1}"#, "`action` is missing");
}

#[test]
fn a_plan_s_step_may_hold_more_and_all_of_it_must_be_right() {
    let with = |fields: &str| {
        format!(
            r#"{{"title":"t","reason":"r","confidence":1,"steps":[{{"title":"one","symbols":[],"because":"b","expect":"e",{fields}}}]}}"#
        )
    };
    let text = with(
        r#""kind":"search","with":["target = step1.symbol"],"after":[1,2],"creates":["b.py"],"check":["no errors"],"fallback":"x""#,
    );
    let step = plan(&text).value.expect("a plan").steps.remove(0);
    assert_eq!((step.kind.as_str(), step.after.as_slice(), step.fallback.as_str()), ("search", &[1, 2][..], "x"));
    assert_eq!((step.with.len(), step.creates.len(), step.checks.len()), (1, 1, 1));
    for (fields, because) in [
        (r#""kind":"dance""#, "no kind `dance`"),
        (r#""after":[-1]"#, "`after`"),
        (r#""with":{"a":"b"}"#, "`with` is not a list"),
        (r#""check":[1]"#, "not text"),
        (r#""fallback":[]"#, "`fallback` is not text"),
    ] {
        let reading = plan(&with(fields));
        assert!(reading.value.is_none() && reading.problems.join("; ").contains(because), "{:?}", reading.problems);
    }
}
