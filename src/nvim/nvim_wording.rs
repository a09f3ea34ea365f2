//! Words an event for Neovim: nothing that steers a terminal, the root of its workspace, and Neovim's own settings.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};

use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_base::printable::printable;
use sextant_engine::api::Event;
use sextant_model::offline::HOW_TO_CONFIGURE;
use sextant_model::step::REPLY_IN_TRACE;

/// The replacement of [`HOW_TO_CONFIGURE`], which names the configuration file.
const HOW_IN_NEOVIM: &str = "To use a language model, set `model` in `setup()`: see `:help sextant-models`.";

/// The replacement of [`REPLY_IN_TRACE`].
const REPLY_IN_NEOVIM: &str = "`:AgentTrace` shows the reply";

/// The beginning of the sentence in a summary that names an outcome other than success.
const NOT_DONE: &str = " Not done: ";

/// A hint in the words of Neovim.
fn hint(code: HintCode) -> &'static str {
    match code {
        HintCode::Undo => ":AgentUndo takes it back",
        HintCode::UndoRest => ":AgentUndo! takes back all the rest",
        HintCode::UndoOwn => "`u` undoes the rest",
        HintCode::UndoByHand => "`u` undoes your change first; :AgentUndo! leaves it",
        HintCode::Redo => ":AgentRedo brings back what was undone last",
        HintCode::Stop => ":AgentStop stops it",
        HintCode::Resume => ":AgentResume goes on with it",
        HintCode::ShowWaiting => ":AgentResume shows where it stands",
        HintCode::ResumeEarlier => ":AgentResume goes on with the plan before it",
        HintCode::Plan => "`:AgentPlan make this file type-clean` makes one",
        HintCode::Start => ":AgentAsk or :AgentPlan starts something",
        HintCode::Request => "for example `:AgentAsk fix this`",
        HintCode::Servers => "see :checkhealth vim.lsp and :help sextant-models",
        HintCode::Models => "see :help sextant-models",
        HintCode::Commands => "see :help sextant-option-commands",
        HintCode::Memory => "see :help sextant-memory",
        HintCode::Remembered => ":AgentMemory shows what is remembered",
        HintCode::Buffer => ":write keeps the buffer, :edit! takes the file",
        HintCode::Encoding => ":set fileencoding=utf-8 and :write",
        HintCode::Log => ":checkhealth sextant names it",
    }
}

/// A failure in the words for a reader in Neovim.
pub(super) fn failure(failure: &Failure) -> Failure {
    failure.worded(hint)
}

fn worded(event: &Event) -> Cow<'_, Event> {
    match event {
        Event::Failed { failure: failed } => Cow::Owned(Event::Failed { failure: failure(failed) }),
        Event::Refused { failure: failed, request } => {
            Cow::Owned(Event::Refused { failure: failure(failed), request: request.clone() })
        }
        other => Cow::Borrowed(other),
    }
}

/// The summary of a task for one narrow line: the outcome is before the figures. `None` where it has no other form.
fn short(event: &Event) -> Option<String> {
    let Event::Finished { summary, .. } = event else { return None };
    let split =
        |line: &str| line.split_once(NOT_DONE).map(|(rest, why)| format!("{}{why} {rest}", NOT_DONE.trim_start()));
    summary.lines().find_map(split)
}

/// An event as JSON for the Lua layer.
pub(super) fn json(root: Option<&Path>, event: &Event) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(worded(event))?;
    if let (Some(short), Some(fields)) = (short(event), value.as_object_mut()) {
        fields.insert("short".to_owned(), json!(short));
    }
    reword(&mut value);
    if let (Some(root), Some(fields)) = (root, value.as_object_mut()) {
        fields.insert("root".to_owned(), json!(root));
    }
    serde_json::to_string(&value)
}

/// Paths stay as they are, since Neovim opens them.
fn reword(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(marked) = printable(text) {
                *text = marked;
            }
            if text.contains(HOW_TO_CONFIGURE) {
                *text = text.replace(HOW_TO_CONFIGURE, HOW_IN_NEOVIM);
            }
            if text.contains(REPLY_IN_TRACE) {
                *text = text.replace(REPLY_IN_TRACE, REPLY_IN_NEOVIM);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(reword),
        Value::Object(fields) => {
            fields.iter_mut().filter(|(key, _)| *key != "path").for_each(|(_, value)| reword(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(ok: bool, summary: String) -> Event {
        Event::Finished { ok, summary, answer: String::new() }
    }
    use sextant_engine::api::QuickfixEntry;

    #[test]
    fn an_event_names_its_root_and_recommends_what_neovim_has() {
        let event = finished(true, format!("Nothing. {HOW_TO_CONFIGURE} “Done”"));
        let read: Value = serde_json::from_str(&json(Some(Path::new("/one")), &event).unwrap()).unwrap();
        assert_eq!(read["root"], "/one");
        assert_eq!(read["summary"], format!("Nothing. {HOW_IN_NEOVIM} “Done”"));
        assert!(!json(None, &event).unwrap().contains("root"));
        assert!(read.get("short").is_none(), "{read}");
    }

    #[test]
    fn a_narrow_line_has_the_outcome_before_the_figures() {
        let summary =
            "changed a.py. 2 new diagnostics. 9 tokens in 1 call. Not done: 2 new errors stay.\n  2 of x".to_owned();
        let read: Value = serde_json::from_str(&json(None, &finished(false, summary.clone())).unwrap()).unwrap();
        let short = "Not done: 2 new errors stay. changed a.py. 2 new diagnostics. 9 tokens in 1 call.";
        assert_eq!((read["summary"].as_str(), read["short"].as_str()), (Some(summary.as_str()), Some(short)));
    }

    #[test]
    fn a_way_out_is_a_command_of_neovim() {
        let hint = |failure| {
            let read: Value = serde_json::from_str(&json(None, &Event::Failed { failure }).unwrap()).unwrap();
            read["failure"]["hint"].as_str().map(str::to_owned)
        };
        let kept = "what was finished is kept; :AgentUndo takes it back";
        assert_eq!(hint(Failure::cancelled()).as_deref(), Some(kept));
        let own = HintCode::UndoOwn;
        assert_eq!(hint(Failure::user("none", own)).as_deref(), Some("`u` undoes the rest"));
    }

    #[test]
    fn an_event_steers_no_terminal_and_its_paths_can_still_be_opened() {
        let entry = QuickfixEntry {
            path: "a\u{1b}.py".into(),
            line: 1,
            column: 1,
            kind: "E".into(),
            text: "b\u{9b}c".into(),
            sources: vec![],
        };
        let event = Event::Introduced {
            request: "t\u{202e}".to_owned(),
            unknown: String::new(),
            entries: vec![entry],
            open: false,
            amend: false,
            of: String::new(),
            task: String::new(),
            fixed: Vec::new(),
        };
        let read: Value = serde_json::from_str(&json(None, &event).unwrap()).unwrap();
        assert_eq!(read["request"], "t\u{fffd}");
        assert_eq!(read["entries"][0]["text"], "b\u{fffd}c");
        assert_eq!(read["entries"][0]["path"], "a\u{1b}.py");
        let words = Event::Words { text: "a\n\u{1b}]0;x\u{7}".into(), thought: false };
        assert!(json(None, &words).unwrap().contains("a\\n␛]0;x␇"));
    }
}
