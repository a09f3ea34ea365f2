//! Words a failure for an editor without a plugin: its commands, and one line without line ends.

use crate::message_line::{ALL, NARROW, fit};
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;

/// The outcome of a refused undo or redo, before its places.
const OUTCOMES: &[&str] = &["nothing was undone: ", "nothing was brought back: "];

/// The reason of it begins with one of these, behind the places.
const SINCE: &[&str] = &[" was changed since", " were changed since"];

/// A hint in the words of Helix.
fn hint(code: HintCode) -> &'static str {
    match code {
        HintCode::Undo => "agent.undo takes it back",
        HintCode::UndoRest => "space a: undo the rest",
        HintCode::UndoOwn => "`u` undoes the rest",
        HintCode::UndoByHand => "`u` undoes your change first",
        HintCode::Redo => "agent.redo brings it back",
        HintCode::Stop => "agent.stop stops it",
        HintCode::Resume => "agent.resume goes on with it",
        HintCode::ShowWaiting => "agent.resume shows where it stands",
        HintCode::ResumeEarlier => "agent.resume goes on with the plan before it",
        HintCode::Plan => "agent.plan \"make this file type-clean\" makes one",
        HintCode::Start => "agent.ask or agent.plan starts something",
        HintCode::Request => "for example agent.ask \"fix this\"",
        HintCode::Servers => "see `hx --health` and doc/helix.md",
        HintCode::Models | HintCode::Commands | HintCode::Memory => "see the README",
        HintCode::Remembered => "agent.ask \"what do you remember?\" shows what is remembered",
        HintCode::Buffer => ":write keeps the buffer, :reload takes the file",
        HintCode::Encoding => ":encoding utf-8 and :write",
        HintCode::Log => "`sextant lsp --log FILE` writes one",
    }
}

/// A failure in the words for a reader in the editor.
pub(super) fn failure(failure: &Failure) -> Failure {
    let words = failure.worded(hint);
    match own_undo(words.hint.text()) {
        Some(hint) => Failure { hint: hint.into(), ..words },
        None => words,
    }
}

/// The words of an undo that names its task (`…: undo task 2f-1`, `…: undo "fix it"`) as the command of Helix. The first
/// one counts where they are several.
fn own_undo(hint: &str) -> Option<String> {
    let (_, named) =
        hint.split_once(": undo ").filter(|(_, named)| named.starts_with('"') || named.starts_with("task "))?;
    let first = named.split(", undo ").next().unwrap_or(named);
    let bare = first.trim_matches('"');
    // A single word alone would be a symbol.
    let first = if bare != first && !bare.contains(' ') { format!("“{bare}”") } else { bare.to_owned() };
    Some(format!("agent.undo \"{first}\" takes it back"))
}

/// The line of a failure. The places of a refused undo, of any number, give way to the fact and to the command that
/// leads out where they are too long for a narrow screen.
pub(super) fn failure_line(failed: &Failure) -> String {
    let words = failure(failed);
    let (whole, hint) = (words.one_line(), words.hint.text());
    if whole.chars().count() > NARROW
        && let Some((outcome, places, reason)) = refused_undo(&words.message)
        && let frame = format!("{outcome}{reason} ({hint})").chars().count()
        && let Some(place) = short_places(places, NARROW.saturating_sub(frame))
    {
        return format!("{outcome}{place}{reason} ({hint})");
    }
    fit(&whole, ALL)
}

/// The outcome of a refused undo or redo, its places, and the reason.
fn refused_undo(message: &str) -> Option<(&str, &str, &str)> {
    let outcome = OUTCOMES.iter().find(|outcome| message.starts_with(**outcome))?;
    let rest = &message[outcome.len()..];
    let at = SINCE.iter().find_map(|since| rest.find(since))?;
    Some((outcome, &rest[..at], &rest[at..]))
}

/// Places of an undo, such as `src/a.py::Cart::total (line 3), b.py`, in at most so many characters.
fn short_places(places: &str, room: usize) -> Option<String> {
    let first = places.split(", ").next().filter(|first| !first.is_empty())?;
    let more = match places.split(", ").count() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let name = first.rsplit('/').next().unwrap_or(first);
    let bare = name.split(" (").next().unwrap_or(name);
    let symbol = bare.split_once("::").map_or(bare, |(_, symbol)| symbol);
    let last = symbol.rsplit("::").next().unwrap_or(symbol);
    let forms = [first, name, bare, symbol, last].map(|form| format!("{form}{more}"));
    forms.into_iter().find(|form| form.chars().count() <= room)
}

/// A summary with the sentence of its cost at its end: a narrow screen shows the reasons.
pub(super) fn cost_last(summary: &str) -> String {
    let sentences: Vec<&str> = summary.trim_end_matches('.').split(". ").collect();
    let is_cost = |sentence: &&str| sentence.contains(" token") && sentence.contains(" call");
    let (cost, rest): (Vec<&str>, Vec<&str>) = sentences.into_iter().partition(is_cost);
    let end = if summary.ends_with('.') { "." } else { "" };
    [rest, cost].concat().join(". ") + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_refusal_ends_with_its_way_out_on_a_narrow_screen() {
        let refused = |place: &str, code: HintCode| {
            let verb = if place.contains(", ") { "were" } else { "was" };
            failure_line(&Failure::user(format!("nothing was undone: {place} {verb} changed since"), code))
        };
        assert_eq!(
            refused("src/price.py::total (line 11)", HintCode::UndoByHand),
            "nothing was undone: total was changed since (`u` undoes your change first)"
        );
        assert_eq!(
            refused("src/shop/report.py::Report::line (line 36)", HintCode::UndoRest),
            "nothing was undone: Report::line was changed since (space a: undo the rest)"
        );
        assert_eq!(
            refused("src/a.py::f (line 3), src/b.py::g (line 8)", HintCode::UndoRest),
            "nothing was undone: f and 1 more were changed since (space a: undo the rest)"
        );
        assert_eq!(
            refused("a.py", HintCode::UndoByHand),
            "nothing was undone: a.py was changed since (`u` undoes your change first)"
        );
    }

    #[test]
    fn an_undo_of_a_named_task_is_a_command_of_the_editor() {
        let hint = |hint: &str| failure_line(&Failure::user("the last change is by the client walker", hint));
        assert_eq!(
            hint("an undo that names it takes it back: undo task 337b-1"),
            "the last change is by the client … (agent.undo \"task 337b-1\" takes it back)"
        );
        assert!(
            hint("an undo that names it takes it back: undo \"edits of walker\"")
                .ends_with(" (agent.undo \"edits of walker\" takes it back)")
        );
        assert!(hint("an undo of one of them: undo task 2f-1, undo task 2f-2").contains("(agent.undo \"task 2f-1\" "));
    }

    #[test]
    fn a_message_names_commands_of_the_editor_and_its_cost_last() {
        let summary = "nothing was changed. about 1,2 tokens in 2 calls. Not done: x. y.";
        assert_eq!(cost_last(summary), "nothing was changed. Not done: x. y. about 1,2 tokens in 2 calls.");
        assert_eq!(cost_last("undone: a.py"), "undone: a.py");
        let words = failure(&Failure::cancelled()).one_line();
        assert_eq!(words, "stopped (what was finished is kept; agent.undo takes it back)");
    }
}
