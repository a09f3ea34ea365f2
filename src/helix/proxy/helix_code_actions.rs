//! Makes Sextant's code actions at a place, for the server's answer to the editor.

use serde_json::{Value, json};

use crate::link::{ACTION_KIND, OwnAction};
use crate::proxy::comment_request;
use crate::proxy::proxy_state::{AskedActions, ProxyState, Table};
use sextant_base::positions::Range;

/// The characters of one diagnostic's message that a request to fix it quotes.
const QUOTED: usize = 200;
/// The diagnostics that one request quotes.
const DIAGNOSTICS: usize = 20;

/// Sextant's actions at a place; none where a proxy beside this one offers them.
pub(super) fn actions(shared: &ProxyState, table: &Table, asked: &AskedActions) -> Vec<Value> {
    if shared.options.quiet {
        return Vec::new();
    }
    let own = table.known(&asked.uri).map(|file| file.actions.as_slice()).unwrap_or_default();
    let here = own.iter().filter(|action| action.range.is_none_or(|range| touch(&range, &asked.range))).cloned();
    let by_user = || general(asked).into_iter().chain(comment_request::action(shared, asked));
    let is_of_code = !asked.automatic && !shared.is_page(&asked.uri);
    let general: Vec<OwnAction> = if is_of_code { by_user().collect() } else { Vec::new() };
    let wanted = |kind: &str| {
        let within = |only: &String| only.is_empty() || kind == only || kind.starts_with(&format!("{only}."));
        asked.only.is_empty() || asked.only.iter().any(within)
    };
    here.chain(general).filter(|action| wanted(&action.kind)).map(|action| as_action(&action)).collect()
}

fn as_action(action: &OwnAction) -> Value {
    let OwnAction { title, kind, command, arguments, is_preferred, .. } = action;
    let command = json!({"title": title, "command": command, "arguments": arguments});
    let mut action = json!({"title": title, "kind": kind, "command": command});
    if *is_preferred {
        action["isPreferred"] = Value::Bool(true);
    }
    action
}

fn general(asked: &AskedActions) -> Vec<OwnAction> {
    let lines = json!([asked.range.start.line + 1, asked.range.end.line + 1]);
    let ask = |title: &str, text: String, place: Value| OwnAction {
        range: None,
        title: title.to_owned(),
        kind: ACTION_KIND.to_owned(),
        is_preferred: false,
        command: "agent.ask".to_owned(),
        arguments: vec![Value::String(text), place],
    };
    let mut actions = Vec::new();
    let quoted = |diagnostic: &Value| {
        let message = sextant_base::one_line::headline(diagnostic["message"].as_str()?);
        let line = diagnostic["range"]["start"]["line"].as_u64()? + 1;
        Some(format!("{} (line {line})", message.chars().take(QUOTED).collect::<String>()))
    };
    let messages: Vec<String> = asked.diagnostics.iter().take(DIAGNOSTICS).filter_map(quoted).collect();
    if !messages.is_empty() {
        let text = format!("Fix these diagnostics: {}", messages.join("; "));
        let place = json!({"file": asked.uri, "lines": lines});
        actions.push(ask("Sextant: fix these diagnostics", text, place));
    }
    let place = json!({"file": asked.uri, "lines": lines, "forbidEdits": true});
    actions.push(ask("Sextant: ask about this symbol", "Explain this symbol".to_owned(), place));
    actions
}

pub(super) fn touch(one: &Range, other: &Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

#[cfg(test)]
mod tests {
    use sextant_base::positions::Position;

    use super::*;

    #[test]
    fn what_is_reported_is_quoted_with_its_line_and_the_question_changes_nothing() {
        let at = |line| Position { line, character: 0 };
        let asked = AskedActions {
            uri: "file:///a".into(),
            range: Range { start: at(1), end: at(3) },
            diagnostics: vec![json!({"message": "no such\nname", "range": {"start": {"line": 2}}}), json!({})],
            only: Vec::new(),
            automatic: false,
        };
        let [fix, explain] = &general(&asked)[..] else { panic!("two") };
        assert_eq!(fix.arguments[0], "Fix these diagnostics: no such (line 3)");
        assert_eq!(fix.arguments[1], json!({"file": "file:///a", "lines": [2, 4]}));
        assert_eq!(explain.arguments[1]["forbidEdits"], true);
        assert_eq!(general(&AskedActions { diagnostics: Vec::new(), ..asked }).len(), 1);
    }
}
