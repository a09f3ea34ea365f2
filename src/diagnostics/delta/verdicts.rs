//! Decides the lists of a delta: new or revealed, fixed or masked, and how a pair was matched.

use std::collections::{HashMap, HashSet};

use crate::delta::anchors::{Anchored, NOWHERE};
use crate::delta::index_pairs::Matching;
use crate::delta::pair_diagnostics::Carry;
use crate::delta::side::NONE;
use crate::delta::stages::Staged;
use crate::delta::syntax_errors::{is_import, is_syntax};
use crate::delta::{Delta, MatchedBy, Pair};
use crate::model::Diagnostic;
use crate::server_facts::way_out_of_fatal;

/// The change in the parse of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct View {
    /// It has new syntax errors, or a text that it needs was not found: a missing diagnostic may only be hidden.
    broke: bool,
    /// Its syntax errors, or an import that could not be followed, went away: a new diagnostic may only be uncovered.
    repaired: bool,
}

/// Sorts every diagnostic into its list.
pub(super) struct Verdicts<'v, 'a> {
    pub(super) carry: &'v Carry<'v, 'a>,
    pub(super) partner: &'v [u32],
    pub(super) pairs: &'v Matching,
    /// The paths with a text that changed.
    pub(super) changed: HashSet<&'a str>,
}

impl Verdicts<'_, '_> {
    pub(super) fn delta(&self) -> Delta {
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
        let mut lost: HashSet<u64> = HashSet::new();
        for (index, (d, anchored)) in new.0.iter().zip(new.1).enumerate() {
            if is_syntax(d) {
                seen.entry(anchored.file).or_default().1 += 1;
            } else if way_out_of_fatal(d).is_some() && self.pairs.before(index as u32) == NONE {
                lost.insert(anchored.file);
            }
        }
        let files: HashSet<u64> = errors.keys().chain(seen.keys()).chain(&cured).chain(&lost).copied().collect();
        let view = |file: u64| {
            let tree = errors.get(&file).copied().unwrap_or_default();
            let seen = seen.get(&file).copied().unwrap_or_default();
            let repaired = tree.0 > tree.1 || seen.0 > seen.1 || cured.contains(&file);
            let broke = tree.1 > tree.0 || seen.1 > seen.0 || lost.contains(&file);
            (file, View { broke, repaired })
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
