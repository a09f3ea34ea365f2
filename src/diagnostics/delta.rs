//! Decides which diagnostics a change introduced, fixed, hid or uncovered: the interface and the order of the work.
//!
//! The code is aligned once (files, symbols, statements, tokens), then the diagnostics are carried over it. Messages
//! only confirm a match: a token that survived elsewhere is not the diagnostic here.

mod anchors;
mod exchanged;
mod file_pairs;
pub(crate) mod hidden_checks;
mod index_pairs;
mod pair_diagnostics;
mod replaced;
mod reworded;
pub(crate) mod same_message;
mod sequence;
mod side;
mod spelling;
mod stages;
mod statements;
mod symbols;
pub(crate) mod syntax_errors;
mod tokenize;
mod units;
mod unparsed_lines;
mod verdicts;

#[cfg(test)]
mod benchmark;
#[cfg(test)]
#[path = "../../tests/fixtures/matchbench/cases.rs"]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

pub use crate::delta::hidden_checks::{HiddenChecks, hidden_checks};
pub use crate::delta::stages::{HiddenExtent, hidden_extent};

use crate::delta::anchors::{Ground, MessageIds, anchor};
use crate::delta::index_pairs::Matching;
use crate::delta::pair_diagnostics::Carry;
use crate::delta::side::{NONE, Side};
use crate::delta::tokenize::Spellings;
use crate::delta::verdicts::Verdicts;
use crate::model::Diagnostic;

/// One file before and after; a text is `None` if the file does not exist on that side.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotFile<'a> {
    pub path: &'a str,
    pub before: Option<&'a str>,
    pub after: Option<&'a str>,
}

/// Every change between two snapshots. Unchanged files may be left out or given twice the same.
#[derive(Clone, Debug, Default)]
pub struct SnapshotChange<'a> {
    pub files: Vec<SnapshotFile<'a>>,
    /// File renames that are known for certain (the agent's own), old path to new path.
    pub renames: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchedBy {
    /// The same place and message.
    Same,
    /// Carried along with its code.
    Moved,
    /// The same complaint about the same code with another message, sibling code or severity.
    Updated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    pub before: usize,
    pub after: usize,
    pub how: MatchedBy,
}

/// The answer: every index of `before` and of `after` stands in exactly one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Indices into `after`: introduced by the change.
    pub new: Vec<usize>,
    /// Indices into `after`: seen only because an error that hid it went away: of the parse, of an import, or of an
    /// earlier stage of its compiler.
    pub revealed: Vec<usize>,
    pub persisting: Vec<Pair>,
    /// Indices into `before`: gone.
    pub fixed: Vec<usize>,
    /// Indices into `before`: gone only because their file no longer parses, or their compiler stops at an earlier stage.
    pub masked: Vec<usize>,
}

/// Matches two snapshots of diagnostics over a change of text.
pub fn delta(change: &SnapshotChange<'_>, before: &[Diagnostic], after: &[Diagnostic]) -> Delta {
    if before.is_empty() && after.is_empty() {
        return Delta::default();
    }
    // A file with an unchanged text is compared by position, and never read.
    let changed = || change.files.iter().filter(|file| file.before != file.after);
    let old_texts: Vec<(&str, &str)> = changed().filter_map(|f| Some((f.path, f.before?))).collect();
    let new_texts: Vec<(&str, &str)> = changed().filter_map(|f| Some((f.path, f.after?))).collect();
    let structures = side::structures(&old_texts, &new_texts);
    let mut spellings = Spellings::default();
    let old = Side::read(&old_texts, &structures.0, &mut spellings);
    let new = Side::read(&new_texts, &structures.1, &mut spellings);
    let old_paths: Vec<&str> = old_texts.iter().map(|(path, _)| *path).collect();
    let new_paths: Vec<&str> = new_texts.iter().map(|(path, _)| *path).collect();
    let partner = file_pairs::pair((&old, &old_paths), (&new, &new_paths), &change.renames);
    let scopes = symbols::pair(&old, &new, &partner);
    let statements::Statements { units, doubtful } = statements::pair(&old, &new, &scopes);
    let mut votes = spelling::Votes::new();
    let mut tokens = Matching::new(old.tokens.len(), new.tokens.len());
    let late: HashSet<u32> = doubtful.iter().map(|(b, _)| *b).collect();
    let sure = units.pairs().filter(|(b, _)| !late.contains(b));
    spelling::pair(&old, &new, sure, &mut tokens, &mut votes);
    for (b, a) in partner.iter().enumerate().filter(|(_, a)| **a != NONE) {
        let (x, y) = (&old.files[b], &new.files[*a as usize]);
        if x.errors + y.errors > 0 || !(x.parsed && y.parsed) {
            unparsed_lines::pair_lines(&old, b, &new, *a as usize, &mut tokens, &mut votes);
        }
    }
    spelling::pair(&old, &new, doubtful.into_iter(), &mut tokens, &mut votes);
    let names = spellings.names();
    let mut renames: HashMap<&str, &str> = HashMap::new();
    for (from, to) in spelling::renames(&votes) {
        renames.insert(names[from as usize], names[to as usize]);
    }
    for (b, a) in partner.iter().enumerate().filter(|(_, a)| **a != NONE) {
        let (from, to) = (stem(old_paths[b]), stem(new_paths[*a as usize]));
        if from != to {
            renames.insert(from, to);
        }
    }
    let ground_before = Ground { side: &old, files: places(&old_paths), partner, tokens: Some(&tokens) };
    let identity = (0..new.files.len() as u32).collect();
    let ground_after = Ground { side: &new, files: places(&new_paths), partner: identity, tokens: None };
    let mut words = MessageIds::default();
    let anchored_before = anchor(&ground_before, before, &renames, &mut words);
    let anchored_after = anchor(&ground_after, after, &HashMap::new(), &mut words);
    let carry = Carry {
        before: &old,
        after: &new,
        scopes: &scopes,
        units: &units,
        tokens: &tokens,
        votes: &votes,
        old: (before, &anchored_before),
        new: (after, &anchored_after),
    };
    let pairs = carry.run();
    let changed = old_paths.iter().chain(&new_paths).copied().collect();
    Verdicts { carry: &carry, partner: &ground_before.partner, pairs: &pairs, changed }.delta()
}

fn places<'a>(paths: &[&'a str]) -> HashMap<&'a str, usize> {
    paths.iter().enumerate().map(|(i, path)| (*path, i)).collect()
}

/// The last component of a path without its extension: the name of a module in code.
fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
