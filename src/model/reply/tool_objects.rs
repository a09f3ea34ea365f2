//! A conversation with a model that has no tools of its own: the rules list them, and one JSON object calls them.

use serde_json::{Map, Value, json};

use crate::answer::{AnswerEnd, UseIds, checked};
use crate::chat::{ChatMessage, ChatReply, ToolResult, ToolUse};
use crate::reply::{ReplyReading, find_object, without_thinking, words};
use crate::tools::{self, ToolSpec};

/// The keys for the name and the input of a call, in the words that models have been taught.
const TOOL: [&str; 3] = ["tool", "name", "function"];
const GIVEN: [&str; 3] = ["parameters", "arguments", "args"];

/// The rules with the tools and the form of an answer.
pub(crate) fn rules(system: &str, given: &[ToolSpec]) -> String {
    if given.is_empty() {
        return system.to_owned();
    }
    let tools: Vec<String> = given.iter().map(ToolSpec::signature).collect();
    format!(
        "{system}\n\nTools:\n{}\n\nReply with one JSON object and nothing else: {{\"text\": \"what you tell the \
         user\", \"calls\": [{{\"tool\": \"NAME\", \"parameters\": {{}}}}]}}. The results of the calls come with the \
         next message; with no calls you are done.",
        tools.join("\n")
    )
}

/// The messages in text alone.
pub(crate) fn messages<'m>(messages: &'m [ChatMessage]) -> Vec<ChatMessage> {
    let mut open: &'m [ToolUse] = &[];
    let text = |message: &'m ChatMessage| match message {
        ChatMessage::User(text) => ChatMessage::User(text.clone()),
        ChatMessage::Model(reply) => {
            open = &reply.uses;
            ChatMessage::Model(ChatReply { text: as_json(reply), ..ChatReply::default() })
        }
        ChatMessage::Results(given) => {
            let shown: Vec<String> = given.iter().map(|result| shown(result, open, given.len())).collect();
            ChatMessage::User(shown.join("\n\n"))
        }
    };
    messages.iter().map(text).collect()
}

/// A reply as the model would write it again.
fn as_json(reply: &ChatReply) -> String {
    if reply.uses.is_empty() {
        return reply.text.clone();
    }
    let call = |call: &ToolUse| json!({"tool": call.tool, "parameters": call.parameters});
    let calls: Vec<Value> = reply.uses.iter().map(call).collect();
    json!({"text": reply.text, "calls": calls}).to_string()
}

/// Numbered if there are several, since two calls may be of one tool.
fn shown(result: &ToolResult, uses: &[ToolUse], count: usize) -> String {
    let place = uses.iter().position(|call| call.id == result.id).filter(|_| count > 1);
    let number = place.map(|place| format!("{}. ", place + 1)).unwrap_or_default();
    let came = if result.ok { "ok" } else { "failed" };
    format!("{number}Result of {} ({came}):\n{}", result.tool, result.text)
}

/// Reads one answer. An answer without a call is prose, and valid as it is.
pub(crate) fn read(
    text: &str,
    tools: &[ToolSpec],
    ending: AnswerEnd,
    before: &[ChatMessage],
) -> ReplyReading<ChatReply> {
    let prose = without_thinking(text).trim();
    let cut = ending == AnswerEnd::Limit;
    let only = |reply| ReplyReading { value: Some(reply), problems: Vec::new() };
    let object = match find_object(text, &["calls", "text", "tool", "name"]) {
        Ok(object) => object,
        Err(problem) => {
            let calls = ["\"calls\"", "\"tool\""].iter().any(|key| prose.contains(key)) || prose.starts_with('{');
            return match (ending, calls, prose.is_empty()) {
                (AnswerEnd::Limit, _, _) | (AnswerEnd::Whole, false, false) => {
                    only(ChatReply { text: prose.to_owned(), cut, ..ChatReply::default() })
                }
                _ => ReplyReading::unusable(problem),
            };
        }
    };
    let calls = match listed(&object) {
        Ok(calls) => calls,
        Err(problem) => return ReplyReading::unusable(problem),
    };
    let mut problems = Vec::new();
    let mut ids = UseIds::after(before);
    let uses = calls.into_iter().map(|(name, given)| checked(ids.take(None), &name, given, tools)).collect();
    let text = words(&object, "text", false, &mut problems);
    let reply = ChatReply { text, uses, cut, opaque: Vec::new() };
    if reply.uses.is_empty() && reply.text.is_empty() {
        return match ending {
            // An object of something else, in an answer that is meant for a reader.
            AnswerEnd::Whole if !object.contains_key("calls") && !object.contains_key("text") => {
                only(ChatReply { text: prose.to_owned(), ..ChatReply::default() })
            }
            _ => ReplyReading::unusable("the reply has neither text nor calls"),
        };
    }
    ReplyReading { value: Some(reply), problems }
}

/// The marks that models put around a call in their words.
const AROUND: [(&str, &str); 3] = [("```json", "```"), ("```", "```"), ("<tool_call>", "</tool_call>")];

/// The problem of a text that begins as a call of a known tool and is not one: it is no answer for a reader.
pub(crate) fn broken_call(text: &str, tools: &[ToolSpec]) -> Option<String> {
    let mut inner = without_thinking(text).trim();
    for (open, _) in AROUND {
        inner = inner.strip_prefix(open).map_or(inner, str::trim);
    }
    let rest = inner.strip_prefix('{')?.trim_start();
    let rest = ["tool", "name", "function"].iter().find_map(|key| rest.strip_prefix(&format!("\"{key}\"")))?;
    let name = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split('"').next()?;
    tools::find(tools, name).map(|tool| format!("the call of {} is not whole JSON", tool.name))
}

/// A call that a model with tools of its own has still written into its text, with nothing else.
pub(crate) fn written(text: &str, tools: &[ToolSpec], before: &[ChatMessage]) -> Option<Vec<ToolUse>> {
    let mut inner = without_thinking(text).trim();
    for (open, close) in AROUND {
        if let Some(inside) = inner.strip_prefix(open).and_then(|rest| rest.trim_end().strip_suffix(close)) {
            inner = inside.trim();
        }
    }
    let object: Map<String, Value> = serde_json::from_str(inner).ok()?;
    let calls = listed(&object).ok().filter(|calls| !calls.is_empty())?;
    let mut ids = UseIds::after(before);
    let all_known = calls.iter().all(|(name, _)| tools::find(tools, name).is_some());
    all_known.then(|| calls.into_iter().map(|(name, given)| checked(ids.take(None), &name, given, tools)).collect())
}

type NamedCall = (String, Map<String, Value>);

/// The calls of an object: its list, or itself.
fn listed(object: &Map<String, Value>) -> Result<Vec<NamedCall>, String> {
    let single = |object| call(object).transpose().map(|call| call.into_iter().collect());
    match object.get("calls") {
        Some(Value::Array(list)) => list
            .iter()
            .map(|item| {
                let object = item.as_object().ok_or("a call is not an object")?;
                call(object).ok_or_else(|| "a call names no `tool`".to_owned())?
            })
            .collect(),
        Some(Value::Object(one)) => single(one),
        Some(Value::Null) | None => single(object),
        Some(_) => Err("`calls` is not a list".to_owned()),
    }
}

fn call(object: &Map<String, Value>) -> Option<Result<NamedCall, String>> {
    let name = TOOL.iter().find_map(|key| object.get(*key)?.as_str())?.trim().to_owned();
    let given = match GIVEN.iter().find_map(|key| object.get(*key)) {
        Some(Value::Object(given)) => Ok(given.clone()),
        Some(Value::String(text)) => serde_json::from_str(text)
            .map_err(|error| format!("`parameters` of {name} is text and not a whole JSON object: {error}")),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(format!("`parameters` of {name} is not an object")),
    };
    Some(given.map(|given| (name, given)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::sample_tools;
    use proptest::prelude::*;

    fn reading(text: &str, ending: AnswerEnd) -> ReplyReading<ChatReply> {
        read(text, sample_tools::tools(), ending, &[])
    }

    fn shown(text: &str) -> String {
        match reading(text, AnswerEnd::Whole) {
            ReplyReading { value: Some(reply), .. } => {
                let of = |call: &ToolUse| format!(" {}({}){}", call.tool, call.parameters, call.problem.is_some());
                format!("{}:{}", reply.text, reply.uses.iter().map(of).collect::<String>())
            }
            ReplyReading { problems, .. } => format!("!{}", problems.join("; ")),
        }
    }

    #[test]
    fn calls_are_read_in_every_form_that_models_write_them_in() {
        let search = "hm: search({\"pattern\":\"x\"})false";
        for text in [
            r#"{"text":"hm","calls":[{"tool":"search","parameters":{"pattern":"x"}}]}"#,
            r#"```json
            {"text":" hm ","calls":{"name":"search","arguments":"{\"pattern\":\"x\"}"}}
            ```"#,
            r#"<think>{"calls":[]}</think>I call: {"text":"hm","tool":"search","parameters":{"pattern":"x"}}"#,
        ] {
            assert_eq!(shown(text), search, "{text}");
        }
        assert_eq!(
            shown(r#"{"text":"","calls":[{"tool":"rm","parameters":{}},{"tool":"search"}]}"#),
            ": rm({})true search({})true"
        );
        assert_eq!(shown(r#"{"text":"done","calls":[]}"#), "done:");
    }

    #[test]
    fn prose_is_an_answer_and_half_an_object_is_none() {
        for prose in ["It adds one.", "Use `{}` here:\n```\nf\"{x}\"\n```", "A dict like {\"name\": 1} is read."] {
            assert_eq!(shown(prose), format!("{prose}:"), "{prose}");
        }
        for broken in
            ["", r#"{"text":"a","calls":[{"tool":"se"#, r#"{"calls":[7]}"#, r#"{"calls":7}"#, r#"{"calls":[]}"#]
        {
            assert!(shown(broken).starts_with('!'), "{broken}: {}", shown(broken));
        }
        let half = reading(r#"{"text":"a","calls":[{"tool":"se"#, AnswerEnd::Limit).value.unwrap();
        assert!(half.cut && half.uses.is_empty() && half.text.contains("\"se"), "{half:?}");
        assert_eq!(reading("It adds", AnswerEnd::Broken).value, None);
    }

    #[test]
    fn only_a_text_that_is_a_call_and_nothing_else_is_taken_for_one() {
        let tools = sample_tools::tools();
        for text in [
            "```json\n{\"name\": \"search\", \"arguments\": {\"pattern\": \"x\"}}\n```",
            "<tool_call>\n{\"name\":\"search\",\"arguments\":{\"pattern\":\"x\"}}\n</tool_call>",
        ] {
            assert_eq!(written(text, tools, &[]).unwrap()[0].parameters, json!({"pattern": "x"}), "{text}");
        }
        for text in
            ["{}", "search", "{\"name\": \"rm\"}", "So: {\"name\": \"search\", \"arguments\": {\"pattern\": \"x\"}}"]
        {
            assert_eq!(written(text, tools, &[]), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_begins_as_a_call_of_a_known_tool_and_breaks_off_is_not_an_answer() {
        let tools = sample_tools::tools();
        let problem = Some("the call of search is not whole JSON".to_owned());
        for text in [
            r#"{"tool": "search", "arguments": {"pattern": 12,,,"#,
            "<tool_call>\n{\"name\": \"search\", \"argum",
            "```json\n{\"function\":\"search\", \"args\": \"{x\"}\n```",
        ] {
            assert_eq!((written(text, tools, &[]), broken_call(text, tools)), (None, problem.clone()), "{text}");
        }
        for text in ["{\"tool\": \"rm\", ", "{}", "A dict like {\"tool\": \"search\"", "{\"tool\": 1", "```\n{\n```"] {
            assert_eq!(broken_call(text, tools), None, "{text}");
        }
    }

    #[test]
    fn a_conversation_is_written_as_text() {
        let reply = reading(
            r#"{"text":"a","calls":[{"tool":"search","parameters":{"pattern":"x"}},{"tool":"rm"}]}"#,
            AnswerEnd::Whole,
        );
        let reply = reply.value.unwrap();
        let result = |at: usize, ok| {
            let (id, tool) = (reply.uses[at].id.clone(), reply.uses[at].tool.clone());
            ToolResult { id, tool, ok, text: "t".into() }
        };
        let results = vec![result(0, true), result(1, false)];
        let sent =
            messages(&[ChatMessage::User("do".into()), ChatMessage::Model(reply), ChatMessage::Results(results)]);
        let ChatMessage::Model(reply) = &sent[1] else { panic!("{sent:?}") };
        assert_eq!(
            reply.text,
            r#"{"text":"a","calls":[{"tool":"search","parameters":{"pattern":"x"}},{"tool":"rm","parameters":{}}]}"#
        );
        assert_eq!(sent[2], ChatMessage::User("1. Result of search (ok):\nt\n\n2. Result of rm (failed):\nt".into()));
        assert!(rules("Be brief.", sample_tools::tools()).contains("search(pattern, path?)"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[{}\[\]":,a-z]{0,60}|[{]("calls"|"tool"|:|,|\[|\]|[{}]|"x"| ){0,30}"#) {
            reading(&text, AnswerEnd::Whole);
            written(&text, sample_tools::tools(), &[]);
            broken_call(&text, sample_tools::tools());
        }
    }
}
