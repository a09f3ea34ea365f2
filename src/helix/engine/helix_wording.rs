//! Words a failure for an editor without a plugin: its commands, and one line without line ends.

use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_base::printable::printable;

/// The most characters of one line on an editor's status line.
const LINE: usize = 700;

/// The longest word, in bytes, that a cut line is left without. A longer one is cut itself.
const WORD: usize = 60;

/// A hint in the words of Helix.
fn hint(code: HintCode) -> &'static str {
    match code {
        HintCode::Undo => "agent.undo takes it back",
        HintCode::UndoRest => "agent.undo {\"partial\": true} takes back all the rest",
        HintCode::UndoOwn => "`u` undoes the rest",
        HintCode::Redo => "agent.redo brings back what was undone last",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_and_names_commands_of_the_editor() {
        assert_eq!(line(" one \n\n two\u{1b}[0m\r\n"), "one · two␛[0m");
        assert_eq!(line(&"é".repeat(LINE + 9)).chars().count(), LINE + 1);
        let cut = line(&"seven é ".repeat(LINE));
        assert!(cut.ends_with("seven é …") || cut.ends_with("é seven …"), "{cut}");
        let words = failure(&Failure::cancelled()).one_line();
        assert_eq!(words, "stopped (what was finished is kept; agent.undo takes it back)");
    }
}
