//! Asks before an undo or a redo writes a file that something runs, with a text that only the record knows.
//!
//! A command of the task, or anybody who can write the record, may have changed the texts in it.

use crate::edit::questions::{self, UserQuestion};
use crate::edit::shown_change::written;
use crate::editor::event::QuestionKind;
use crate::state::approvals::{Approvals, UserAnswer};
use crate::state::edit_service::EditService;
use crate::state::journal::FileChange;
use sextant_base::failure::Failure;
use sextant_base::one_line::{capital, clean};
use sextant_store::workspace::auto_executed;
use sextant_store::workspace::root::Root;

const OPTIONS: [&str; 2] = ["write it", "leave the file, and undo nothing"];

/// Notes the texts of runnable files in a change that this process has made: they may be written again.
pub(crate) fn note(approvals: &Approvals, root: &Root, files: &[FileChange]) {
    for file in files.iter().filter(|file| runs(root, file).is_some()) {
        let texts = [&file.before, &file.after].into_iter().flatten();
        texts.for_each(|text| approvals.saw_text(&file.path, text));
    }
}

/// Asks about each runnable file that would get a text which this process has neither written nor replaced.
///
/// # Errors
/// The user refused, or cannot be asked. Nothing was written then.
pub(crate) async fn confirm(edits: &EditService, files: &[FileChange]) -> Result<(), Failure> {
    for file in files {
        let (Some(runs), Some(text)) = (runs(&edits.workspace.root, file), &file.after) else { continue };
        if edits.approvals.allowed_file(&file.path) || edits.approvals.knows_text(&file.path, text) {
            continue;
        }
        let (name, runs) = (clean(&file.path), capital(runs));
        let asked = format!("Write {name} as the record of an earlier run has it? {runs}.");
        let options = OPTIONS.map(str::to_owned);
        let shows = written(file.before.as_deref().unwrap_or_default(), text);
        let question = UserQuestion { kind: QuestionKind::File, text: &asked, options: &options, shows: Some(&shows) };
        if questions::ask_user(&edits.approvals, question).await? != UserAnswer::Option(1) {
            return Err(Failure::user(
                format!("{name} is left as it is, and nothing was written"),
                "take back the other files by a step's number or a symbol",
            ));
        }
    }
    Ok(())
}

fn runs(root: &Root, file: &FileChange) -> Option<&'static str> {
    let texts = [&file.before, &file.after].map(|text| text.as_deref().unwrap_or_default());
    auto_executed::runs(root, &file.path, texts)
}
