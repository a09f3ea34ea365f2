//! Carries diagnostics over the aligned code: passes from the strongest evidence to the weakest, one to one.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::delta::anchors::{Anchored, NOWHERE};
use crate::delta::index_pairs::Matching;
use crate::delta::replaced;
use crate::delta::same_message;
use crate::delta::side::{NONE, Side};
use crate::delta::spelling::Votes;
use crate::model::Diagnostic;
use crate::pair_count::looked_at;

/// Groups up to this size are searched for the equal offset; in larger ones order decides.
const SEARCHED: usize = 64;

/// The tokens of one range whose partners are looked up; the beginning of a longer range identifies it.
const WALKED: usize = 4096;

/// The aligned code and the diagnostics on it.
pub(super) struct Carry<'c, 'a> {
    pub before: &'c Side<'a>,
    pub after: &'c Side<'a>,
    pub scopes: &'c Matching,
    pub units: &'c Matching,
    pub tokens: &'c Matching,
    /// The words that the edit put in the place of others.
    pub votes: &'c Votes,
    pub old: (&'c [Diagnostic], &'c [Anchored]),
    pub new: (&'c [Diagnostic], &'c [Anchored]),
}

/// The values that two diagnostics must agree on besides source and code.
type CarryKey = (u64, u64, u32);

impl Carry<'_, '_> {
    /// Pairs the persisting diagnostics.
    pub(super) fn run(&self) -> Matching {
        let mut out = Matching::new(self.old.0.len(), self.new.0.len());
        let known = |place: u64| place != NOWHERE;
        for level in 0..4 {
            self.pass(&mut out, |d| d.file_level.then_some((d.file, 0, d.texts[level])));
        }
        for level in 0..4 {
            self.pass(&mut out, |d| (known(d.start) && known(d.end)).then_some((d.start, d.end, d.texts[level])));
            self.pass(&mut out, |d| known(d.start).then_some((d.start, 0, d.texts[level])));
            self.pass(&mut out, |d| known(d.end).then_some((d.end, 0, d.texts[level])));
        }
        let shaped: HashSet<u32> =
            self.old.1.iter().chain(self.new.1).filter(|d| d.line_shaped).map(|d| d.kind).collect();
        for level in 2..4 {
            self.pass(&mut out, |d| (known(d.line) && shaped.contains(&d.kind)).then_some((d.line, 0, d.texts[level])));
        }
        self.blocks(&mut out);
        self.rewritten(&mut out);
        self.copies(&mut out);
        self.pass(&mut out, |d| (known(d.start) && known(d.end)).then_some((d.start, d.end, 0)));
        self.siblings(&mut out);
        self.replaced(&mut out);
        self.reworded(&mut out);
        out
    }

    pub(super) fn left<'s>(
        &'s self,
        out: &'s Matching,
    ) -> (impl Iterator<Item = u32> + 's, impl Iterator<Item = u32> + 's) {
        let old = (0..self.old.0.len() as u32).filter(|b| out.after(*b) == NONE);
        (old, (0..self.new.0.len() as u32).filter(|a| out.before(*a) == NONE))
    }

    pub(super) fn b(&self, index: u32) -> &Anchored {
        &self.old.1[index as usize]
    }

    pub(super) fn a(&self, index: u32) -> &Anchored {
        &self.new.1[index as usize]
    }

    fn pass(&self, out: &mut Matching, key: impl Fn(&Anchored) -> Option<CarryKey>) {
        self.pass_by(out, |d, _| key(d), |d, _| key(d), |_, _| true);
    }

    /// Pairs diagnostics with the same kind and key that `accept` passes; equal offsets first, then in order.
    fn pass_by(
        &self,
        out: &mut Matching,
        key_b: impl Fn(&Anchored, u32) -> Option<CarryKey>,
        key_a: impl Fn(&Anchored, u32) -> Option<CarryKey>,
        accept: impl Fn(&Anchored, &Anchored) -> bool,
    ) {
        let accepted = |b: u32, a: u32| accept(self.b(b), self.a(a)) && !self.is_exchanged(b, a);
        let mut places: HashMap<(u32, CarryKey), usize> = HashMap::new();
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        let (old, new) = self.left(out);
        for b in old {
            let anchored = self.b(b);
            if let Some(key) = key_b(anchored, b) {
                let place = *places.entry((anchored.kind, key)).or_insert_with(|| {
                    groups.push((Vec::new(), Vec::new()));
                    groups.len() - 1
                });
                groups[place].0.push(b);
            }
        }
        if groups.is_empty() {
            return;
        }
        for a in new {
            let anchored = self.a(a);
            if let Some(key) = key_a(anchored, a)
                && let Some(place) = places.get(&(anchored.kind, key))
            {
                groups[*place].1.push(a);
            }
        }
        for (old, new) in groups {
            if old.len() > SEARCHED || new.len() > SEARCHED {
                old.iter().zip(&new).filter(|(b, a)| accepted(**b, **a)).for_each(|(b, a)| {
                    out.pair(*b, *a);
                });
                continue;
            }
            looked_at(old.len() * new.len());
            let mut ranked = Vec::new();
            for (i, b) in old.iter().enumerate() {
                for (j, a) in new.iter().enumerate() {
                    let offset = self.b(*b).offset.abs_diff(self.a(*a).offset);
                    ranked.push((offset, i.abs_diff(j), i, j));
                }
            }
            ranked.sort_unstable();
            for (_, _, i, j) in ranked {
                if accepted(old[i], new[j]) {
                    out.pair(old[i], new[j]);
                }
            }
        }
    }

    /// Ranges over several units (an import block, unreachable code): any token in common, most first.
    fn blocks(&self, out: &mut Matching) {
        let wide = |side: &Side<'_>, span: (u32, u32)| {
            span.0 != NONE && side.tokens[span.0 as usize].unit != side.tokens[span.1 as usize].unit
        };
        let (old, new) = self.left(out);
        let mut by_kind: HashMap<u32, Vec<u32>> = HashMap::new();
        new.filter(|a| self.a(*a).span.0 != NONE).for_each(|a| by_kind.entry(self.a(a).kind).or_default().push(a));
        let mut ranked = Vec::new();
        for b in old {
            let (kind, span) = (self.b(b).kind, self.b(b).span);
            let Some(candidates) = by_kind.get(&kind).filter(|list| span.0 != NONE && list.len() <= SEARCHED) else {
                continue;
            };
            looked_at(candidates.len());
            let walked = (span.0..=span.1).take(WALKED).map(|token| self.tokens.after(token));
            let mut partners: Vec<u32> = walked.filter(|partner| *partner != NONE).collect();
            partners.sort_unstable();
            for a in candidates {
                let other = self.a(*a).span;
                if !wide(self.before, span) && !wide(self.after, other) {
                    continue;
                }
                let common = partners.partition_point(|partner| *partner <= other.1)
                    - partners.partition_point(|partner| *partner < other.0);
                if common > 0 {
                    ranked.push((std::cmp::Reverse(common), b, *a));
                }
            }
        }
        ranked.sort_unstable();
        for (_, b, a) in ranked {
            out.pair(b, a);
        }
    }

    pub(super) fn unit(side: &Side<'_>, anchored: &Anchored) -> u32 {
        side.tokens.get(anchored.span.0 as usize).map_or(NONE, |token| token.unit)
    }

    /// Both tokens are gone, but the statement is the same one, and so is the message.
    fn rewritten(&self, out: &mut Matching) {
        let fresh = |d: &Anchored| {
            self.tokens.before(d.span.0) == NONE && self.tokens.before(d.span.1) == NONE && d.span.0 != NONE
        };
        let gone = |d: &Anchored| d.start == NOWHERE && d.end == NOWHERE && d.span.0 != NONE;
        self.pass_by(
            out,
            |d, _| {
                let unit = self.units.after(Self::unit(self.before, d));
                (gone(d) && unit != NONE).then_some((u64::from(unit), 0, d.texts[2]))
            },
            |d, _| fresh(d).then_some((u64::from(Self::unit(self.after, d)), 0, d.texts[2])),
            |_, _| true,
        );
    }

    /// Pairs the same complaint about the code in the place of removed code: an `__init__` that has become the fields
    /// of a dataclass. Code that survives elsewhere gives no such evidence.
    fn replaced(&self, out: &mut Matching) {
        let fresh = |d: &Anchored| {
            self.tokens.before(d.span.0) == NONE && self.tokens.before(d.span.1) == NONE && d.span.0 != NONE
        };
        let gone = |d: &Anchored| d.start == NOWHERE && d.end == NOWHERE && d.span.0 != NONE;
        let may_pair = {
            let (mut old, mut new) = self.left(out);
            old.any(|b| gone(self.b(b))) && new.any(|a| fresh(self.a(a)))
        };
        if !may_pair {
            return;
        }
        let around = replaced::find(self.before, self.after, self.units);
        let key =
            |file: u64, (last, next): (u32, u32), text: u32| (file, u64::from(last) << 32 | u64::from(next), text);
        for level in 0..2 {
            self.pass_by(
                out,
                |d, _| gone(d).then(|| key(d.file, around.before[Self::unit(self.before, d) as usize], d.texts[level])),
                |d, _| fresh(d).then(|| key(d.file, around.after[Self::unit(self.after, d) as usize], d.texts[level])),
                |_, _| true,
            );
        }
    }

    /// Twins of one statement in one symbol, where the analyser now complains about the other twin.
    fn copies(&self, out: &mut Matching) {
        let within = |side: &Side<'_>, d: &Anchored| {
            let unit = Self::unit(side, d);
            let place = side.unit_tokens(unit).binary_search(&d.span.0);
            (side.units[unit as usize].key, side.units[unit as usize].scope, place.unwrap_or_default() as u64)
        };
        self.pass_by(
            out,
            |d, _| {
                (d.span.0 != NONE).then(|| {
                    let (key, scope, place) = within(self.before, d);
                    (key, u64::from(self.scopes.after(scope)) << 32 | place, d.texts[2])
                })
            },
            |d, _| {
                (d.span.0 != NONE).then(|| {
                    let (key, scope, place) = within(self.after, d);
                    (key, u64::from(scope) << 32 | place, d.texts[2])
                })
            },
            |b, a| b.start == NOWHERE || self.tokens.before(a.span.0) == NONE,
        );
    }

    /// The same place under a neighbouring code (D102 for D103, 2552 for 2304): one complaint in another guise.
    fn siblings(&self, out: &mut Matching) {
        let place = |d: &Anchored| (d.start != NOWHERE && d.end != NOWHERE).then_some((d.start, d.end));
        let (old, new) = self.left(out);
        let mut places: BTreeMap<(u64, u64), (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        old.filter_map(|b| Some((place(self.b(b))?, b))).for_each(|(at, b)| places.entry(at).or_default().0.push(b));
        new.filter_map(|a| Some((place(self.a(a))?, a))).for_each(|(at, a)| places.entry(at).or_default().1.push(a));
        let siblings = |b: u32, a: u32| {
            looked_at(1);
            are_siblings(&self.old.0[b as usize], &self.new.0[a as usize]) && !self.is_exchanged(b, a)
        };
        let mut found = Vec::new();
        for (old, new) in places.into_values() {
            if old.len() > SEARCHED || new.len() > SEARCHED {
                found.extend(old.into_iter().zip(new).filter(|(b, a)| siblings(*b, *a)));
                continue;
            }
            for b in old {
                found.extend(new.iter().map(|a| (b, *a)).filter(|(b, a)| siblings(*b, *a)));
            }
        }
        for (b, a) in found {
            out.pair(b, a);
        }
    }
}

/// Codes that one compiler swaps for each other as it knows more or less: TypeScript's, from its message table.
const FAMILIES: &[&[&str]] = &[
    &["6133", "6138", "6192", "6196", "6198"],
    &["2304", "2552", "2503", "2580"],
    &["2339", "2551", "2568"],
    &["2305", "2724"],
];

fn are_siblings(before: &Diagnostic, after: &Diagnostic) -> bool {
    let (Some(old), Some(new)) = (&before.code, &after.code) else { return false };
    if before.source != after.source || before.severity != after.severity {
        return false;
    }
    if FAMILIES.iter().any(|family| family.contains(&old.as_str()) && family.contains(&new.as_str())) {
        return true;
    }
    let letters = |code: &str| code.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let prefix = letters(old);
    !prefix.is_empty()
        && prefix.len() < old.len()
        && prefix.len() < new.len()
        && prefix == letters(new)
        && same_message::likeness(&before.message, &after.message) >= 0.5
}
