//! The memory that a module sees: a few lines about its own files or words, and nothing else of it.

use crate::memory::{self, mode_of};
use crate::plan::work_mode::Mode;
use crate::state::notes::short;
use crate::state::task_store::TaskStore;
use crate::step_executors::module::ModuleContext;
use crate::step_executors::search_step::terms;
use sextant_base::clock::now_ms;
use sextant_base::token_estimate::estimate;
use sextant_store::memory::entry::{Entry, Kind};
use sextant_store::memory::recall_limits::WINDOW_MS;

/// Lines that a module gets.
const LINES: usize = 3;
/// Tokens that they may take together.
const TOKENS: usize = 60;
/// The newest entries of the session that are searched.
const NEWEST: usize = 200;
/// Failures, their repairs, and the user's opinion of them.
const KINDS: [Kind; 3] = [Kind::Error, Kind::Solution, Kind::UserFeedback];

/// True if an entry is about the module's own work: it names one of its files, or holds one of its words.
fn concerns(entry: &Entry, files: &[&str], words: &[String]) -> bool {
    let content = entry.entry.content.to_lowercase();
    entry.entry.files.iter().any(|file| files.contains(&file.as_str()))
        || files.iter().any(|file| content.contains(&file.to_lowercase()))
        || words.iter().any(|word| content.contains(word))
}

/// The newest that fit.
fn lines<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<String> {
    let (mut lines, mut left) = (Vec::new(), TOKENS);
    for entry in entries.take(LINES) {
        let line = format!("[{}] {}", entry.entry.kind.name(), short(&entry.entry.content, 120));
        let Some(rest) = left.checked_sub(estimate(&line) + 1) else { break };
        left = rest;
        lines.push(line);
    }
    lines
}

/// The lines for one module: of its session and mode, from the last 24 hours, the newest first.
pub(crate) async fn module_memory(store: &TaskStore, mode: Mode, context: &ModuleContext) -> Vec<String> {
    let Some(remember) = memory::remember(store).await else { return Vec::new() };
    let name = remember.session.clone();
    let newest = remember.run(move |memory| memory.history(&name, &KINDS, NEWEST)).await.unwrap_or_default();
    let files: Vec<&str> = context.symbols.iter().map(|symbol| symbol.file.as_str()).collect();
    // As they are written, and not as a search looks for them.
    let plain = |term: String| term.replace("\\b", "").replace('\\', "").to_lowercase();
    let words: Vec<String> = match files.as_slice() {
        [] => terms(&context.title, &context.inputs).into_iter().map(plain).collect(),
        _ => Vec::new(),
    };
    let (mode, since) = (mode_of(mode), now_ms().saturating_sub(WINDOW_MS));
    let own =
        |entry: &&Entry| entry.entry.mode == mode && entry.entry.timestamp > since && concerns(entry, &files, &words);
    lines(newest.iter().rev().filter(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_store::memory::entry::{EntryId, NewEntry};

    fn entry(content: &str, files: &[&str]) -> Entry {
        let entry = NewEntry::new("main", mode_of(Mode::Planner), Kind::Error, content, 1);
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Entry { id: EntryId(1), entry: NewEntry { files, ..entry } }
    }

    #[test]
    fn only_what_is_about_its_files_or_words_and_only_a_few_lines_of_it() {
        let about = entry("edit_file failed", &["a.py"]);
        assert!(concerns(&about, &["a.py"], &[]) && !concerns(&about, &["b.py"], &["total".to_owned()]));
        assert!(concerns(&entry("The user undid Cart::Total", &[]), &[], &["total".to_owned()]));
        let many: Vec<Entry> = (0..9).map(|n| entry(&format!("failed {n}"), &[])).collect();
        assert_eq!(lines(many.iter()), ["[error] failed 0", "[error] failed 1", "[error] failed 2"]);
        let long = entry(&"many words ".repeat(40), &[]);
        let cost: usize = lines([long.clone(), long.clone(), long].iter()).iter().map(|line| estimate(line)).sum();
        assert!((1..=TOKENS).contains(&cost), "{cost}");
    }
}
