//! Sums up a task so far in a few lines, which replace the omitted part of a conversation.

use std::collections::BTreeSet;

use crate::state::journal::{Checkpoint, Journal};
use crate::state::transcript::Transcript;
use sextant_base::plural::counted;
use sextant_base::token_estimate::newest_within;
use sextant_model::prompt::prompt_budget::PromptBudget;

/// Most names of one edit.
const NAMES: usize = 4;

/// Keeps the conversation of a task within the context of its model.
pub(crate) fn shorten(journal: &Journal, talked: &mut Transcript, budget: PromptBudget) {
    let mut transcript = std::mem::take(talked);
    transcript.shorten(budget.conversation, || so_far(journal, budget.conversation / 8));
    *talked = transcript;
}

/// The edits, the newest ones by name, as many as the budget in tokens has room for. Request, plan and the newest
/// messages stay as they are.
fn so_far(journal: &Journal, budget: usize) -> String {
    let mut lines = vec!["(Earlier messages are left out here. What was done in them:)".to_owned()];
    let edits: Vec<&Checkpoint> = journal.checkpoints.iter().filter(|row| !row.files.is_empty()).collect();
    let summaries: Vec<String> = edits.iter().map(|edit| line(edit)).collect();
    let shown = newest_within(&summaries, budget);
    let older = &edits[..edits.len() - shown.len()];
    if !older.is_empty() {
        let files: BTreeSet<&str> = older.iter().flat_map(|edit| &edit.files).map(|file| file.path.as_str()).collect();
        lines.push(format!("- {} before that, in {}", counted(older.len(), "edit"), counted(files.len(), "file")));
    }
    lines.extend_from_slice(shown);
    if edits.is_empty() {
        lines.push("- nothing was edited".to_owned());
    }
    lines.push("Read again what you need: texts that you read before may be left out.".to_owned());
    lines.join("\n")
}

fn line(edit: &Checkpoint) -> String {
    let files: BTreeSet<&str> = edit.files.iter().map(|file| file.path.as_str()).collect();
    let symbols: Vec<&str> = edit.symbols.iter().map(String::as_str).collect();
    let names = if (1..=NAMES).contains(&symbols.len()) { symbols } else { files.into_iter().collect() };
    let more = match names.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("- edited {}{more}", names[..names.len().min(NAMES)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Marks;
    use crate::plan::work_mode::Mode;
    use crate::state::journal::FileChange;
    use crate::state::task::Task;
    use crate::state::task_scope::Scope;
    use sextant_base::token_estimate::estimate;

    #[test]
    fn thousands_of_edits_take_no_more_than_their_budget() {
        let mut task = Task::new("x", Mode::Simple, None, Scope::Workspace);
        for number in 0..2000 {
            let file = FileChange {
                path: format!("src/file{number}.py"),
                before: None,
                after: Some("x".into()),
                marks_before: Marks::Null,
                marks_after: Marks::Null,
            };
            let symbols = (0..500).map(|symbol| format!("src/file{number}.py::symbol{symbol}")).collect();
            task.work.journal.checkpoints.push(Checkpoint { files: vec![file], symbols, ..Checkpoint::default() });
        }
        let summary = so_far(&task.work.journal, 300);
        assert!(estimate(&summary) < 400, "{}", estimate(&summary));
        assert!(
            summary.contains("- edited src/file1999.py\n") && summary.contains("edits before that, in"),
            "{summary}"
        );
    }
}
