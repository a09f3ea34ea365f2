//! A hunk under review as a front end shows it, and the name by which a front end means it.

use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::editor::event::QuickfixEntry;
use crate::state::review::file_review::{FileReview, WaitingHunk};
use sextant_base::positions::LineIndex;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::offset_after;
use sextant_text::edits::hunks::{hunks, trim};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// The hunks of a file that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedFile {
    /// Relative to the root.
    pub path: String,
    /// True if the agent made the file.
    pub made: bool,
    pub hunks: Vec<ReviewHunk>,
}

/// A hunk that waits for a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewHunk {
    /// Its name: the same hunk has the same one wherever it moves.
    pub id: String,
    /// The symbol that holds it, without the file; empty outside of every symbol.
    pub symbol: String,
    /// The first line in the buffer, from 0, and how many lines the agent put there.
    pub line: usize,
    pub count: usize,
    /// The lines that the agent removed.
    pub removed: Vec<String>,
    /// The lines that it put in their place.
    pub added: Vec<String>,
    /// The changed part of each pair of lines; only in hunks of as many lines on both sides.
    pub words: Vec<HunkWords>,
    /// True if its lines were changed since: it can be accepted, and not rejected.
    pub conflict: bool,
    /// The diagnostics that the task introduced in it.
    pub diagnostics: Vec<QuickfixEntry>,
}

/// The part of a line that a hunk changes, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkWords {
    /// The line of the hunk, from 0.
    pub line: usize,
    pub removed: Range<usize>,
    pub added: Range<usize>,
}

/// The hunks of a file for a front end. `introduced` are the new diagnostics of the file.
pub(crate) fn shown(file: &FileReview, now: &str, introduced: &[QuickfixEntry]) -> ReviewedFile {
    let pending = file.pending(now);
    let outline = language::of_path(&file.path).map(|language| Outline::parse(language, now));
    let then = EarlierOutline { text: &file.baseline, path: &file.path, outline: OnceCell::new() };
    let index = LineIndex::new(now);
    let names = names(file, &pending);
    let mut hunks: Vec<ReviewHunk> = Vec::with_capacity(pending.len());
    for (hunk, id) in pending.iter().zip(names) {
        let at = hunk.place.clone().unwrap_or_else(|| roughly(file, hunk, now));
        let (old, new) = (&file.baseline[hunk.old.clone()], &file.agent[hunk.new.clone()]);
        let holder = || {
            let outline = outline.as_ref()?;
            Some(outline.path_of(outline.at(first_word(now, &at))?))
        };
        let deleted = if new.trim().is_empty() { then.deleted(&hunk.old, outline.as_ref()) } else { None };
        let symbol = deleted.or_else(holder);
        hunks.push(ReviewHunk {
            id,
            symbol: symbol.unwrap_or_default(),
            line: index.line_of(at.start),
            count: new.lines().count(),
            removed: old.lines().map(str::to_owned).collect(),
            added: new.lines().map(str::to_owned).collect(),
            words: words(old, new),
            conflict: hunk.place.is_none(),
            diagnostics: Vec::new(),
        });
    }
    for entry in introduced {
        if let Some(hunk) = holder(&hunks, entry) {
            hunks[hunk].diagnostics.push(entry.clone());
        }
    }
    ReviewedFile { path: file.path.clone(), made: file.made, hunks }
}

/// The outline of the text before the agent's changes, parsed at the first deleted hunk.
struct EarlierOutline<'a> {
    text: &'a str,
    path: &'a str,
    outline: OnceCell<Option<Outline>>,
}

impl EarlierOutline<'_> {
    /// The first symbol that begins in a range and is not there any more.
    fn deleted(&self, range: &Range<usize>, now: Option<&Outline>) -> Option<String> {
        let parse = || language::of_path(self.path).map(|language| Outline::parse(language, self.text));
        let outline = self.outline.get_or_init(parse).as_ref()?;
        let begins = outline.symbols.iter().enumerate().filter(|(_, symbol)| range.contains(&symbol.extent.start));
        let mut names = begins.map(|(index, _)| outline.path_of(index));
        names.find(|name| now.is_none_or(|now| now.symbols.iter().all(|symbol| symbol.path() != *name)))
    }
}

/// The names of the hunks: a digest of both sides, and a number where several are equal.
pub(crate) fn names(file: &FileReview, pending: &[WaitingHunk]) -> Vec<String> {
    let mut found: Vec<String> = Vec::with_capacity(pending.len());
    for hunk in pending {
        let mut digest = DefaultHasher::new();
        (&file.baseline[hunk.old.clone()], &file.agent[hunk.new.clone()]).hash(&mut digest);
        let name = format!("{:016x}", digest.finish());
        let same = found.iter().filter(|known| known.split('#').next() == Some(&name)).count();
        found.push(if same == 0 { name } else { format!("{name}#{}", same + 1) });
    }
    found
}

/// The hunk that a new diagnostic stands beside: the one with its line, else the nearest one of its symbol.
fn holder(hunks: &[ReviewHunk], entry: &QuickfixEntry) -> Option<usize> {
    let line = usize::try_from(entry.line).unwrap_or(0).saturating_sub(1);
    let distance = |hunk: &ReviewHunk| {
        let end = hunk.line + hunk.count.max(1) - 1;
        if line < hunk.line { hunk.line - line } else { line.saturating_sub(end) }
    };
    let symbol = entry.text.split(": ").next().unwrap_or_default();
    let fits = |hunk: &ReviewHunk| distance(hunk) == 0 || !hunk.symbol.is_empty() && hunk.symbol == symbol;
    let fitting = hunks.iter().enumerate().filter(|(_, hunk)| fits(hunk));
    fitting.min_by_key(|(_, hunk)| distance(hunk)).map(|(index, _)| index)
}

/// Where a hunk without a place stands: the beginning of its lines, moved by what was typed before them.
fn roughly(file: &FileReview, hunk: &WaitingHunk, now: &str) -> Range<usize> {
    let start = offset_after(hunk.new.start, &hunks(&file.agent, now)).min(now.len());
    start..start
}

/// The first position in a range that is no white space, where a symbol begins.
fn first_word(now: &str, range: &Range<usize>) -> usize {
    let text = &now[range.clone()];
    range.start + text.find(|c: char| !c.is_whitespace()).unwrap_or(0)
}

fn words(old: &str, new: &str) -> Vec<HunkWords> {
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if olds.len() != news.len() {
        return Vec::new();
    }
    let pair = |(line, (old, new)): (usize, (&&str, &&str))| {
        let edit = trim(old, &TextEdit::new(0..old.len(), *new));
        let added = edit.range.start..edit.range.start + edit.text.len();
        (old != new).then_some(HunkWords { line, removed: edit.range, added })
    };
    olds.iter().zip(&news).enumerate().filter_map(pair).collect()
}
