//! Decides which diagnostics a change introduced, fixed, hid or uncovered: the interface and the order of the work.
//!
//! The code is aligned once (files, symbols, statements, tokens), then the diagnostics are carried over it. Messages
//! only confirm a match: a token that survived elsewhere is not the diagnostic here.

mod anchors;
mod file_pairs;
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
mod tokenize;
mod units;
mod unparsed_lines;
pub(crate) mod verdict;

#[cfg(test)]
mod benchmark;
#[cfg(test)]
#[path = "../../tests/fixtures/matchbench/cases.rs"]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

pub use crate::delta::stages::{HiddenExtent, hidden_extent};

use crate::delta::anchors::{Anchored, Ground, MessageIds, NOWHERE, anchor};
use crate::delta::index_pairs::Matching;
use crate::delta::pair_diagnostics::Carry;
use crate::delta::side::{NONE, Side};
use crate::delta::stages::Staged;
use crate::delta::tokenize::Spellings;
use crate::delta::verdict::{View, is_import, is_syntax};
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

/// Sorts every diagnostic into its list.
struct Verdicts<'v, 'a> {
    carry: &'v Carry<'v, 'a>,
    partner: &'v [u32],
    pairs: &'v Matching,
    /// The paths with a text that changed.
    changed: HashSet<&'a str>,
}

impl Verdicts<'_, '_> {
    fn delta(&self) -> Delta {
        let (old, new) = (self.carry.old, self.carry.new);
        let mut out = Delta::default();
        let views = self.views();
        let view = |file: u64| views.get(&file).copied().unwrap_or_default();
        let (came, stay, went) = self.staged_errors();
        for (index, anchored) in old.1.iter().enumerate() {
            let after = self.pairs.after(index as u32);
            if after != NONE {
                let how = self.how(index, after as usize);
                out.persisting.push(Pair { before: index, after: after as usize, how });
            } else if self.survived(anchored)
                && (view(anchored.file).broke && !is_syntax(&old.0[index]) || self.hides(&came, &old.0[index]))
            {
                out.masked.push(index);
            } else {
                out.fixed.push(index);
            }
        }
        for (index, anchored) in new.1.iter().enumerate() {
            if self.pairs.before(index as u32) != NONE {
                continue;
            }
            let is_uncovered = |d| self.hides(&went, d) && !self.hides(&came, d) && !self.hides(&stay, d);
            if self.was_there(anchored)
                && (view(anchored.file).repaired && !is_syntax(&new.0[index]) || is_uncovered(&new.0[index]))
            {
                out.revealed.push(index);
            } else {
                out.new.push(index);
            }
        }
        out
    }

    /// The errors of compilers with stages: those that came, those that stay, and those that went away.
    fn staged_errors(&self) -> (Vec<Staged<'_>>, Vec<Staged<'_>>, Vec<Staged<'_>>) {
        let (mut came, mut stay, mut went) = (Vec::new(), Vec::new(), Vec::new());
        for (index, d) in self.carry.new.0.iter().enumerate() {
            let list = if self.pairs.before(index as u32) == NONE { &mut came } else { &mut stay };
            list.extend(Staged::of_error(d));
        }
        let is_gone = |index: &usize| self.pairs.after(*index as u32) == NONE;
        let gone = (0..self.carry.old.0.len()).filter(is_gone);
        went.extend(gone.filter_map(|index| Staged::of_error(&self.carry.old.0[index])));
        (came, stay, went)
    }

    fn hides(&self, errors: &[Staged<'_>], d: &Diagnostic) -> bool {
        let is_unchanged = d.location.file().is_some_and(|file| !self.changed.contains(file));
        !errors.is_empty()
            && Staged::of(d).is_some_and(|staged| errors.iter().any(|error| error.hides(&staged, is_unchanged)))
    }

    /// The code of a before-diagnostic is still there, as it was or rewritten.
    fn survived(&self, d: &Anchored) -> bool {
        let unit = self.carry.before.tokens.get(d.span.0 as usize).map_or(NONE, |token| token.unit);
        d.file_level || d.start != NOWHERE || d.end != NOWHERE || self.carry.units.after(unit) != NONE
    }

    /// The code of an after-diagnostic stood there before, untouched.
    fn was_there(&self, d: &Anchored) -> bool {
        d.file_level || d.span.0 == NONE || self.carry.tokens.before(d.span.0) != NONE
    }

    /// The change in the parse of every file that has one of the diagnostics or was read.
    fn views(&self) -> HashMap<u64, View> {
        let (old, new) = (self.carry.old, self.carry.new);
        let mut errors: HashMap<u64, (usize, usize)> = HashMap::new();
        for (b, a) in self.partner.iter().enumerate().filter(|(_, a)| **a != NONE) {
            let counts = (self.carry.before.files[b].errors, self.carry.after.files[*a as usize].errors);
            errors.insert(u64::from(*a), counts);
        }
        let mut seen: HashMap<u64, (usize, usize)> = HashMap::new();
        let mut cured: HashSet<u64> = HashSet::new();
        for (index, (d, anchored)) in old.0.iter().zip(old.1).enumerate() {
            if is_syntax(d) {
                seen.entry(anchored.file).or_default().0 += 1;
            } else if is_import(d) && self.pairs.after(index as u32) == NONE && self.survived(anchored) {
                // A deleted import uncovers nothing: the new complaints about its users come from the change itself.
                cured.insert(anchored.file);
            }
        }
        for (_, anchored) in new.0.iter().zip(new.1).filter(|(d, _)| is_syntax(d)) {
            seen.entry(anchored.file).or_default().1 += 1;
        }
        let files: HashSet<u64> = errors.keys().chain(seen.keys()).chain(&cured).copied().collect();
        let view = |file: u64| {
            let tree = errors.get(&file).copied().unwrap_or_default();
            let seen = seen.get(&file).copied().unwrap_or_default();
            let repaired = tree.0 > tree.1 || seen.0 > seen.1 || cured.contains(&file);
            (file, View { broke: tree.1 > tree.0 || seen.1 > seen.0, repaired })
        };
        files.into_iter().map(view).collect()
    }

    fn how(&self, before: usize, after: usize) -> MatchedBy {
        let (b, a) = (&self.carry.old.0[before], &self.carry.new.0[after]);
        let (x, y) = (&self.carry.old.1[before], &self.carry.new.1[after]);
        // Another spelling of the same words by the change is not a new message, and equal messages are always the
        // same.
        let says_other = b.message != a.message && x.texts[2] != y.texts[2];
        if b.severity != a.severity || b.code != a.code || says_other {
            MatchedBy::Updated
        } else if b.location == a.location && b.message == a.message {
            MatchedBy::Same
        } else {
            MatchedBy::Moved
        }
    }
}
