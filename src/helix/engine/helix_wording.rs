//! Words a failure for an editor without a plugin: its commands, and one line without line ends.

use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_base::printable::printable;

/// The columns of a narrow screen.
pub(super) const NARROW: usize = 79;

/// The least characters of a message before its way out.
const LEAST: usize = 20;

/// The most characters of one line on an editor's status line.
const LINE: usize = 700;

/// The longest word, in bytes, that a cut line is left without. A longer one is cut itself.
const WORD: usize = 60;

/// A hint in the words of Helix.
fn hint(code: HintCode) -> &'static str {
    match code {
        HintCode::Undo => "agent.undo takes it back",
        HintCode::UndoRest => "space a: undo the rest",
        HintCode::UndoOwn => "`u` undoes the rest",
        HintCode::UndoByHand => "`u` undoes it",
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
    failure.worded(hint)
}

/// The line of a failure. The places of a refused undo, of any number, give way to the command that leads out where they
/// are too long for a narrow screen.
pub(super) fn failure_line(failed: &Failure) -> String {
    let words = failure(failed);
    let (whole, hint) = (words.one_line(), words.hint.text());
    let room = NARROW.saturating_sub(hint.chars().count() + " ()".len());
    let is_undo = failed.hint.codes().iter().any(|code| matches!(code, HintCode::UndoRest | HintCode::UndoByHand));
    if is_undo && room >= LEAST && whole.chars().count() > NARROW {
        return format!("{} ({hint})", cut(&words.message, room));
    }
    whole
}

/// A text as one line that steers no terminal. Line ends become marks, since an editor may leave them out.
pub(super) fn line(text: &str) -> String {
    let parts: Vec<&str> = text.lines().map(str::trim).filter(|part| !part.is_empty()).collect();
    let mut out = printable(&parts.join(" · ")).replace('\t', " ");
    if let Some((most, _)) = out.char_indices().nth(LINE) {
        let word = out[..most].rfind(' ').filter(|start| most - start <= WORD);
        out.truncate(word.map_or(most, |start| start + 1));
        out.push('…');
    }
    out
}

/// The beginning of a line of at most so many characters. It ends with a word.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most.saturating_sub(2)).map_or(text.len(), |(at, _)| at);
    let is_whole = text[end..].starts_with(' ');
    let word = text[..end].rfind(' ').filter(|start| !is_whole && end - start <= WORD).unwrap_or(end);
    format!("{} …", text[..word].trim_end_matches([',', ' ']))
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
            failure_line(&Failure::user(format!("{place} was changed since; nothing was undone"), code))
        };
        assert_eq!(
            refused("src/price.py::total (line 11)", HintCode::UndoByHand),
            "src/price.py::total (line 11) was changed since; nothing was … (`u` undoes it)"
        );
        assert_eq!(
            refused("src/price.py::total (line 11)", HintCode::UndoRest),
            "src/price.py::total (line 11) was changed since; … (space a: undo the rest)"
        );
        assert_eq!(refused("a.py", HintCode::UndoByHand), "a.py was changed since; nothing was undone (`u` undoes it)");
        let plain = Failure::user("é".repeat(90), "try again");
        assert_eq!(failure_line(&plain), plain.one_line(), "no undo");
    }

    #[test]
    fn a_message_is_one_line_and_names_commands_of_the_editor() {
        assert_eq!(line(" one \n\n two\u{1b}[0m\r\n"), "one · two␛[0m");
        assert_eq!(line(&"é".repeat(LINE + 9)).chars().count(), LINE + 1);
        let long = line(&"seven é ".repeat(LINE));
        assert!(long.ends_with("seven é …") || long.ends_with("é seven …"), "{long}");
        assert_eq!(cut("changed a.py. 2 new diagnostics, 1 fixed.", 35), "changed a.py. 2 new diagnostics …");
        assert_eq!(cut("changed a.py. 2 new diagnostics, 1 fixed.", 34), "changed a.py. 2 new diagnostics …");
        assert_eq!(cut("changed a.py.", 35), "changed a.py.");
        let summary = "nothing was changed. about 1,2 tokens in 2 calls. Not done: x. y.";
        assert_eq!(cost_last(summary), "nothing was changed. Not done: x. y. about 1,2 tokens in 2 calls.");
        assert_eq!(cost_last("undone: a.py"), "undone: a.py");
        let words = failure(&Failure::cancelled()).one_line();
        assert_eq!(words, "stopped (what was finished is kept; agent.undo takes it back)");
    }
}
