//! What a task has done so far, in a few lines: what stands in for the part of a conversation that is left out.

use std::collections::BTreeSet;

use crate::agent::state::task::Task;

/// The edits; request, plan and the newest messages stay as they are.
pub(crate) fn so_far(task: &Task) -> String {
    let mut lines = vec!["(Earlier messages are left out here. What was done in them:)".to_owned()];
    for checkpoint in &task.journal.checkpoints {
        let files: BTreeSet<&str> = checkpoint.files.iter().map(|file| file.path.as_str()).collect();
        let symbols = checkpoint.symbols.join(", ");
        let what = if symbols.is_empty() { files.into_iter().collect::<Vec<_>>().join(", ") } else { symbols };
        lines.push(format!("- edited {what}"));
    }
    if task.journal.is_empty() {
        lines.push("- nothing was edited".to_owned());
    }
    lines.push("Read again what you need: texts that you read before may be left out.".to_owned());
    lines.join("\n")
}
