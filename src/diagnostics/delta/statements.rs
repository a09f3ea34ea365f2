//! Pairs the statements of the two snapshots, given the pairing of symbols.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use crate::delta::index_pairs::Matching;
use crate::delta::sequence::{align, best_chain, dice};
use crate::delta::side::{NONE, Side, SideScope, Unit};
use crate::delta::symbols::COMPARED;

/// Tokens from which on a run of equal statements counts as moved.
const RUN: u32 = 6;
/// Tokens from which on a single statement counts as moved, if its text is unique on either side.
const UNIQUE: u32 = 3;
/// The most seeds of runs; rare statements first.
const SEEDS: usize = 250_000;
/// Cells of one gap's table; a larger gap is a rewrite, and is not paired by likeness.
const GAP: usize = 40_000;
/// Statements with this share of common tokens are the same one, changed.
const LIKENESS: f32 = 0.5;
/// A changed statement that also moved has this share of common tokens with one statement alone.
const MOVED_LIKENESS: f32 = 0.7;
/// A new symbol with this share of common tokens is a copy.
const COPY_LIKENESS: f32 = 0.9;
/// Lines with this share of common tokens were only wrapped again.
const REWRAPPED: f32 = 0.9;

/// Units of a before-scope and of its after-scope that were paired in order.
struct Chain {
    scopes: (u32, u32),
    units: Vec<(u32, u32)>,
}

/// Units in succession: the first of either side, and how many.
type UnitRun = (u32, u32, u32);

/// The heaviest run first; then inside one symbol, near, early.
type Rank = (u32, bool, Reverse<u32>, Reverse<UnitRun>);

struct StatementPairing<'s, 'a> {
    before: &'s Side<'a>,
    after: &'s Side<'a>,
    scopes: &'s Matching,
    units: Matching,
    /// A unit's text as a number, alike on both sides.
    keys: (Vec<u32>, Vec<u32>),
    /// Units that stayed in order inside their pair of scopes.
    chains: Vec<Chain>,
    doubtful: Vec<(u32, u32)>,
}

/// The pairing, and the part of it that rests on likeness inside texts that do not parse. Statements of a broken tree
/// are a poor measure, so equal lines have precedence over that part.
pub(super) struct Statements {
    pub units: Matching,
    pub doubtful: Vec<(u32, u32)>,
}

/// Pairs the units.
pub(super) fn pair(before: &Side<'_>, after: &Side<'_>, scopes: &Matching) -> Statements {
    let mut ids: HashMap<u64, u32> = HashMap::new();
    let mut number = |side: &Side<'_>| -> Vec<u32> {
        let id = |key| {
            let next = ids.len() as u32;
            *ids.entry(key).or_insert(next)
        };
        side.units.iter().map(|unit| unit.key).map(id).collect()
    };
    let keys = (number(before), number(after));
    let units = Matching::new(before.units.len(), after.units.len());
    let mut p = StatementPairing { before, after, scopes, units, keys, chains: Vec::new(), doubtful: Vec::new() };
    for (b, a) in scopes.pairs() {
        p.in_order(b, a);
    }
    let left = |p: &StatementPairing<'_, '_>| -> (Vec<u32>, Vec<u32>) {
        let (n, m) = (before.units.len() as u32, after.units.len() as u32);
        let b = (0..n).filter(|b| p.units.after(*b) == NONE && before.units[*b as usize].weight > 0);
        let a = (0..m).filter(|a| p.units.before(*a) == NONE && after.units[*a as usize].weight > 0);
        (b.collect(), a.collect())
    };
    let (b, a) = left(&p);
    p.within_scope(&b, &a);
    let (mut b, mut a) = left(&p);
    // Headers and decorators go with their symbols, which are paired already.
    b.retain(|u| !heads_symbol(before, *u));
    a.retain(|u| !heads_symbol(after, *u));
    p.beside_copies(&b, &a);
    b.retain(|u| p.units.after(*u) == NONE);
    a.retain(|u| p.units.before(*u) == NONE);
    p.runs(&b, &a);
    b.retain(|u| p.units.after(*u) == NONE);
    a.retain(|u| p.units.before(*u) == NONE);
    p.unique(&b, &a);
    p.gaps();
    p.spread();
    b.retain(|u| p.units.after(*u) == NONE && p.weight(*u) >= RUN);
    a.retain(|u| p.units.before(*u) == NONE && after.units[*u as usize].weight >= RUN);
    p.moved_and_changed(&b, &a);
    Statements { units: p.units, doubtful: p.doubtful }
}

fn heads_symbol(side: &Side<'_>, unit: u32) -> bool {
    let Unit { scope, comment, .. } = side.units[unit as usize];
    let header = side.scopes[scope as usize].header;
    header != NONE && unit <= header && !comment
}

impl StatementPairing<'_, '_> {
    fn weight(&self, before: u32) -> u32 {
        self.before.units[before as usize].weight
    }

    /// Equal statements in order; headers of paired symbols are always paired.
    fn in_order(&mut self, b: u32, a: u32) {
        let (x, y) = (&self.before.scopes[b as usize], &self.after.scopes[a as usize]);
        let split = |units: &[u32], header: u32| units.binary_search(&header).ok();
        let mut chain = Vec::new();
        match (split(&x.units, x.header), split(&y.units, y.header)) {
            (Some(i), Some(j)) => {
                self.stretch(&x.units[..i], &y.units[..j], &mut chain);
                chain.push((x.header, y.header));
                self.stretch(&x.units[i + 1..], &y.units[j + 1..], &mut chain);
            }
            _ => self.stretch(&x.units, &y.units, &mut chain),
        }
        for (b, a) in &chain {
            self.units.pair(*b, *a);
        }
        self.chains.push(Chain { scopes: (b, a), units: chain });
    }

    fn stretch(&self, before: &[u32], after: &[u32], chain: &mut Vec<(u32, u32)>) {
        let b: Vec<u32> = before.iter().map(|u| self.keys.0[*u as usize]).collect();
        let a: Vec<u32> = after.iter().map(|u| self.keys.1[*u as usize]).collect();
        let first = chain.len();
        align(&b, &a, |i| self.weight(before[i]), |i, j| chain.push((before[i], after[j])));
        chain[first..].sort_unstable();
    }

    /// Moved inside its symbol.
    fn within_scope(&mut self, before: &[u32], after: &[u32]) {
        let mut places: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        for a in after.iter().rev() {
            places.entry((self.after.units[*a as usize].scope, self.keys.1[*a as usize])).or_default().push(*a);
        }
        for b in before {
            let scope = self.scopes.after(self.before.units[*b as usize].scope);
            if let Some(a) = places.get_mut(&(scope, self.keys.0[*b as usize])).and_then(Vec::pop) {
                self.units.pair(*b, a);
            }
        }
    }

    /// Changed inside a symbol that has a new copy: the equal statement of the copy is another one.
    fn beside_copies(&mut self, before: &[u32], after: &[u32]) {
        let is_new = |(index, scope): &(usize, &SideScope)| {
            scope.kind.is_some() && self.scopes.before(*index as u32) == NONE && scope.own.weight >= RUN
        };
        let new: Vec<&SideScope> =
            self.after.scopes.iter().enumerate().filter(is_new).map(|(_, scope)| scope).collect();
        let mut open: BTreeMap<u32, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for b in before {
            open.entry(self.before.units[*b as usize].scope).or_default().0.push(*b);
        }
        for a in after {
            let scope = self.scopes.before(self.after.units[*a as usize].scope);
            if let Some((_, own)) = open.get_mut(&scope) {
                own.push(*a);
            }
        }
        open.retain(|_, (b, a)| !b.is_empty() && !a.is_empty());
        if open.len() * new.len() > COMPARED {
            return;
        }
        for (scope, (b, a)) in open {
            let original = &self.before.scopes[scope as usize];
            if original.kind.is_some() && new.iter().any(|copy| dice(&original.own.bag, &copy.own.bag) >= COPY_LIKENESS)
            {
                self.moved_and_changed(&b, &a);
            }
        }
    }

    /// Moved or extracted blocks, in any file: the longest equal runs first.
    fn runs(&mut self, before: &[u32], after: &[u32]) {
        let mut places: HashMap<u32, (Vec<u32>, Vec<u32>)> = HashMap::new();
        before.iter().for_each(|b| places.entry(self.keys.0[*b as usize]).or_default().0.push(*b));
        after.iter().for_each(|a| places.entry(self.keys.1[*a as usize]).or_default().1.push(*a));
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> =
            places.into_values().filter(|(b, a)| !b.is_empty() && !a.is_empty()).collect();
        groups.sort_by_key(|(b, a)| (b.len() * a.len(), b[0]));
        let mut heap = BinaryHeap::new();
        let mut seen: HashMap<(i64, u32), u32> = HashMap::new();
        let mut budget = SEEDS;
        for (befores, afters) in groups {
            let Some(rest) = budget.checked_sub(befores.len() * afters.len()) else { break };
            budget = rest;
            for b in &befores {
                for a in &afters {
                    // The runs of one diagonal do not overlap: the last one that was found covers this seed or not.
                    let diagonal = i64::from(*b) - i64::from(*a);
                    if seen.contains_key(&(diagonal, *b)) {
                        continue;
                    }
                    let run = self.extend(*b, *a);
                    (run.0..run.0 + run.2).for_each(|i| {
                        seen.insert((diagonal, i), run.0);
                    });
                    self.push_run(&mut heap, run);
                }
            }
        }
        while let Some((_, _, _, Reverse((b, a, len)))) = heap.pop() {
            let free: Vec<bool> = (0..len).map(|i| self.units.free(b + i, a + i)).collect();
            if free.iter().all(|f| *f) {
                (0..len).for_each(|i| {
                    self.units.pair(b + i, a + i);
                });
                continue;
            }
            let mut start = 0;
            for part in free.chunk_by(|x, y| x == y) {
                if part[0] {
                    self.push_run(&mut heap, (b + start, a + start, part.len() as u32));
                }
                start += part.len() as u32;
            }
        }
    }

    /// The whole run of equal free statements around a pair.
    fn extend(&self, b: u32, a: u32) -> UnitRun {
        let (files_b, files_a) = (
            &self.before.files[self.before.units[b as usize].file as usize].units,
            &self.after.files[self.after.units[a as usize].file as usize].units,
        );
        let same = |b: u32, a: u32| {
            files_b.contains(&(b as usize))
                && files_a.contains(&(a as usize))
                && self.keys.0[b as usize] == self.keys.1[a as usize]
                && self.units.free(b, a)
        };
        let mut up = 0;
        while b > up && a > up && same(b - up - 1, a - up - 1) {
            up += 1;
        }
        let mut down = 1;
        while same(b + down, a + down) {
            down += 1;
        }
        (b - up, a - up, up + down)
    }

    fn push_run(&self, heap: &mut BinaryHeap<Rank>, run: UnitRun) {
        let (b, a, len) = run;
        let weight = (b..b + len).map(|i| self.weight(i)).sum();
        if weight >= RUN {
            let home = self.scopes.after(self.before.units[b as usize].scope) == self.after.units[a as usize].scope;
            heap.push((weight, home, Reverse(b.abs_diff(a)), Reverse(run)));
        }
    }

    /// A statement whose text is left over once on either side.
    fn unique(&mut self, before: &[u32], after: &[u32]) {
        let mut counts: HashMap<u32, (u32, u32, u32, u32)> = HashMap::new();
        for b in before {
            let entry = counts.entry(self.keys.0[*b as usize]).or_default();
            (entry.0, entry.1) = (entry.0 + 1, *b);
        }
        for a in after {
            let entry = counts.entry(self.keys.1[*a as usize]).or_default();
            (entry.2, entry.3) = (entry.2 + 1, *a);
        }
        for (seen_before, b, seen_after, a) in counts.into_values() {
            if (seen_before, seen_after) == (1, 1) && self.weight(b) >= UNIQUE {
                self.units.pair(b, a);
            }
        }
    }

    /// Changed statements between unchanged neighbours.
    fn gaps(&mut self) {
        let chains = std::mem::take(&mut self.chains);
        for Chain { scopes: (b, a), units } in &chains {
            let (x, y) = (&self.before.scopes[*b as usize].units, &self.after.scopes[*a as usize].units);
            let (mut i, mut j) = (0, 0);
            for (b, a) in units.iter().copied().chain([(NONE, NONE)]) {
                let end_b = x.partition_point(|u| *u < b);
                let end_a = y.partition_point(|u| *u < a);
                if i < end_b && j < end_a {
                    let free_b: Vec<u32> =
                        x[i..end_b].iter().copied().filter(|u| self.units.after(*u) == NONE).collect();
                    let free_a: Vec<u32> =
                        y[j..end_a].iter().copied().filter(|u| self.units.before(*u) == NONE).collect();
                    self.gap(&free_b, &free_a);
                }
                (i, j) = (end_b + 1, end_a + 1);
            }
        }
        self.chains = chains;
    }

    /// Changed lines right beside lines that moved: no scope holds them together.
    fn spread(&mut self) {
        let stayed: HashSet<u32> = self.chains.iter().flat_map(|chain| &chain.units).map(|(b, _)| *b).collect();
        let mut open: Vec<(u32, u32)> = self.units.pairs().filter(|(b, _)| !stayed.contains(b)).collect();
        while let Some((b, a)) = open.pop() {
            for (x, y) in [(b.wrapping_sub(1), a.wrapping_sub(1)), (b + 1, a + 1)] {
                if self.may_spread(b, a, x, y)
                    && dice(&self.before.unit_bag(x), &self.after.unit_bag(y)) >= LIKENESS
                    && self.units.pair(x, y)
                {
                    open.push((x, y));
                }
            }
        }
    }

    /// A statement that moved and was changed: each of the two is like the other, and like nothing else that is left.
    fn moved_and_changed(&mut self, before: &[u32], after: &[u32]) {
        if before.len() * after.len() > GAP {
            return;
        }
        let bags: Vec<Vec<u32>> = after.iter().map(|u| self.after.unit_bag(*u)).collect();
        let like = |b: u32| -> Vec<usize> {
            let bag = self.before.unit_bag(b);
            let is_comment = self.before.units[b as usize].comment;
            let alike = |i: &usize| {
                self.after.units[after[*i] as usize].comment == is_comment && dice(&bag, &bags[*i]) >= MOVED_LIKENESS
            };
            (0..after.len()).filter(alike).collect()
        };
        let found: Vec<Vec<usize>> = before.iter().map(|b| like(*b)).collect();
        let mut named = vec![0; after.len()];
        found.iter().flatten().for_each(|i| named[*i] += 1);
        for (b, alike) in before.iter().zip(&found) {
            if let [only] = alike[..]
                && named[only] == 1
            {
                self.units.pair(*b, after[only]);
            }
        }
    }

    fn may_spread(&self, b: u32, a: u32, x: u32, y: u32) -> bool {
        let units = (self.before.units.get(x as usize), self.after.units.get(y as usize));
        let (Some(old), Some(new)) = units else { return false };
        let home = old.file == self.before.units[b as usize].file && new.file == self.after.units[a as usize].file;
        home && !self.before.files[old.file as usize].parsed
            && !self.after.files[new.file as usize].parsed
            && old.weight > 0
            && self.units.free(x, y)
    }

    fn gap(&mut self, before: &[u32], after: &[u32]) {
        if before.is_empty() || after.is_empty() || before.len() * after.len() > GAP {
            return;
        }
        let (file_b, file_a) = (self.before.file_of(before[0]), self.after.file_of(after[0]));
        let bags_b: Vec<Vec<u32>> = before.iter().map(|u| self.before.unit_bag(*u)).collect();
        let bags_a: Vec<Vec<u32>> = after.iter().map(|u| self.after.unit_bag(*u)).collect();
        if !file_b.parsed && !file_a.parsed {
            // Lines that were wrapped again belong together; they are compared token by token later.
            let whole = |bags: &[Vec<u32>]| {
                let mut whole = bags.concat();
                whole.sort_unstable();
                whole
            };
            if dice(&whole(&bags_b), &whole(&bags_a)) >= REWRAPPED {
                return;
            }
        }
        let comment = |b: usize, a: usize| {
            self.before.units[before[b] as usize].comment != self.after.units[after[a] as usize].comment
        };
        let mut worths = vec![0u32; before.len() * after.len()];
        for (i, b) in bags_b.iter().enumerate() {
            for (j, a) in bags_a.iter().enumerate() {
                let likeness = if comment(i, j) || b.is_empty() { 0.0 } else { dice(b, a) };
                worths[i * after.len() + j] = if likeness >= LIKENESS { (likeness * 1000.0) as u32 } else { 0 };
            }
        }
        let mut found = Vec::new();
        best_chain(before.len(), after.len(), |i, j| worths[i * after.len() + j], |i, j| found.push((i, j)));
        let broken = file_b.errors + file_a.errors > 0;
        for (i, j) in found {
            self.units.pair(before[i], after[j]);
            if broken {
                self.doubtful.push((before[i], after[j]));
            }
        }
    }
}
