//! Words the hints that the engine names by code for a shell.

use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_engine::api::Event;

/// A hint in the words of a shell; empty if only an editor has it.
fn hint(code: HintCode) -> &'static str {
    match code {
        HintCode::Undo => "`sextant undo` takes it back",
        HintCode::UndoRest => "`sextant undo --partial` takes back all the rest",
        HintCode::UndoOwn | HintCode::Buffer | HintCode::Encoding => "",
        HintCode::UndoByHand => "change it by hand",
        HintCode::Redo => "`sextant redo` brings back what was undone last",
        HintCode::Stop => "`sextant stop` stops it",
        HintCode::Resume => "`sextant resume` goes on with it",
        HintCode::ShowWaiting => "`sextant resume` takes up where it stands",
        HintCode::ResumeEarlier => "`sextant resume` goes on with the plan before it",
        HintCode::Plan => "`sextant plan 'make this file type-clean'` makes one",
        HintCode::Start => "`sextant ask` or `sextant plan` starts something",
        HintCode::Request => "for example `sextant ask 'fix the errors'`",
        HintCode::Servers => "--servers FOLDER names its folder; see the README",
        HintCode::Models | HintCode::Commands | HintCode::Memory => "see the README",
        HintCode::Remembered => "`sextant ask 'what do you remember about …'` shows what is remembered",
        HintCode::Log => "--log FILE records more",
    }
}

pub(super) fn failure(failure: &Failure) -> Failure {
    failure.worded(hint)
}

/// An event in the words of a shell. The words of a model, a file or a plan stay as they are.
pub(super) fn event(event: Event) -> Event {
    match event {
        Event::Failed { failure: failed } => Event::Failed { failure: failure(&failed) },
        Event::Refused { failure: failed, request } => Event::Refused { failure: failure(&failed), request },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::hint::Hint;

    #[test]
    fn a_shell_gets_its_own_commands_and_nothing_of_an_editor() {
        let words = failure(&Failure::cancelled()).one_line();
        assert_eq!(words, "stopped (what was finished is kept; `sextant undo` takes it back)");
        let own = Hint::from("only ours is undone here").and(HintCode::UndoOwn);
        assert_eq!(failure(&Failure::user("none", own)).one_line(), "none (only ours is undone here)");
        let refused = event(Event::refused(Failure::user("none", HintCode::Plan)));
        let Event::Refused { failure, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(failure.hint.text(), "`sextant plan 'make this file type-clean'` makes one");
    }
}
