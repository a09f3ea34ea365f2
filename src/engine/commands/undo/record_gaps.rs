//! Names the changes that an undo cannot take back, since they could not be recorded when they were made.

use crate::durable::change_record::RecordGap;
use crate::durable::stack::{self, Stack};
use crate::state::journal::Journal;
use crate::state::task_store::TaskStore;
use sextant_base::one_line::clean;

/// The gaps of one task, without the files that its own process has taken back.
pub(super) fn of_task(stack: &Stack, journal: &Journal) -> Vec<RecordGap> {
    let own = stack.gaps.iter().filter(|gap| gap.task == journal.task);
    own.filter_map(|gap| without_taken(gap, journal)).collect()
}

/// The gaps of all tasks.
pub(super) async fn of_all(store: &TaskStore, stack: &Stack) -> Vec<RecordGap> {
    let mut found = Vec::new();
    for gap in &stack.gaps {
        let journal = match stack.find(&gap.task) {
            Some(known) => stack::journal(store, known).await.ok(),
            None => None,
        };
        match journal {
            Some(journal) => found.extend(without_taken(gap, &journal)),
            None => found.push(gap.clone()),
        }
    }
    found
}

fn without_taken(gap: &RecordGap, journal: &Journal) -> Option<RecordGap> {
    let taken = journal.taken();
    let stays = |file: &&String| !taken.contains_key(&(gap.edit.as_str(), file.as_str()));
    let files: Vec<String> = gap.files.iter().filter(stays).cloned().collect();
    (!files.is_empty()).then(|| RecordGap { files, ..gap.clone() })
}

/// The sentence about gaps; `None` without any.
pub(super) fn words(gaps: &[RecordGap]) -> Option<String> {
    let one = |gap: &RecordGap| {
        let files: Vec<String> = gap.files.iter().map(|file| clean(file)).collect();
        format!("{} (step {})", files.join(", "), gap.step)
    };
    let all: Vec<String> = gaps.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("not recorded when it was changed, so it stays: {}", all.join(", ")))
}
