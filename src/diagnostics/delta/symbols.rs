//! Pairs the symbols of the two snapshots: strongest evidence first, one to one.

use std::collections::HashMap;
use std::hash::Hash;

use crate::delta::index_pairs::Matching;
use crate::delta::sequence::dice;
use crate::delta::side::{NONE, Side, SideScope};
use sextant_text::symbols::outline::SymbolKind;

/// Fewer tokens than this prove nothing by themselves: trivial getters are all alike.
const TELLING: u32 = 8;
/// Pairs that are compared one by one; beyond this number, order decides.
pub(super) const COMPARED: usize = 10_000;
/// As [`COMPARED`], between one pair of siblings.
const CROWD: usize = 64;

/// A parent and the paired siblings around a place under it, as after-indices; [`NONE`] at either end.
type SymbolSlot = (u32, u32, u32);

struct SymbolPairing<'s, 'a> {
    before: &'s Side<'a>,
    after: &'s Side<'a>,
    files: &'s [u32],
    scopes: Matching,
}

/// Pairs the scopes; `files` is the pairing of files.
pub(super) fn pair(before: &Side<'_>, after: &Side<'_>, files: &[u32]) -> Matching {
    let scopes = Matching::new(before.scopes.len(), after.scopes.len());
    let mut p = SymbolPairing { before, after, files, scopes };
    for (b, a) in files.iter().enumerate().filter(|(_, a)| **a != NONE) {
        p.scopes.pair(before.files[b].scopes.start as u32, after.files[*a as usize].scopes.start as u32);
    }
    p.stage(|s, f| Some((f?, s.path, s.ordinal, s.own.body)), |_, _, _| true);
    p.stage(|s, f| Some((f?, s.path, s.own.body)), |_, _, _| true);
    p.stage(|s, f| Some((f?, s.path, s.ordinal)), |p, b, a| p.alike(b, a) >= 0.3);
    p.stage(|s, _| Some((s.path, s.own.body)), |p, b, a| p.telling(b, a));
    p.stage(|s, _| Some((s.name, s.own.body)), |p, b, a| p.telling(b, a));
    // A copy under another name must not take the place of the original that moved and was edited a little.
    p.by_likeness(true, |p, b, a| Some(p.family(b, a)).filter(|_| p.alike(b, a) >= 0.8));
    p.stage(|s, _| (s.own.weight >= TELLING).then_some(s.own.blanked), |_, _, _| true);
    p.stage(|s, f| Some((f?, s.path, s.ordinal)), |_, _, _| true);
    p.stage(|s, f| Some((f?, s.path)), |_, _, _| true);
    p.stage(|s, _| Some((s.name, s.ordinal)), |p, b, a| p.parents_paired(b, a) && p.alike(b, a) >= 0.3);
    p.by_likeness(true, |p, b, a| Some(p.alike(b, a)).filter(|d| *d >= 0.5));
    p.by_likeness(false, |p, b, a| Some(p.family(b, a)).filter(|d| *d >= 0.75));
    p.between_siblings();
    p.sole_namesakes();
    p.scopes
}

impl SymbolPairing<'_, '_> {
    fn b(&self, index: u32) -> &SideScope {
        &self.before.scopes[index as usize]
    }

    fn a(&self, index: u32) -> &SideScope {
        &self.after.scopes[index as usize]
    }

    fn alike(&self, b: u32, a: u32) -> f32 {
        dice(&self.b(b).own.bag, &self.a(a).own.bag)
    }

    fn parents_paired(&self, b: u32, a: u32) -> bool {
        let parent = self.scopes.after(self.b(b).parent);
        parent != NONE && parent == self.a(a).parent
    }

    fn telling(&self, b: u32, a: u32) -> bool {
        self.b(b).own.weight >= TELLING || self.parents_paired(b, a)
    }

    fn left(&self) -> (Vec<u32>, Vec<u32>) {
        let before = (0..self.before.scopes.len() as u32).filter(|b| self.scopes.after(*b) == NONE);
        let after = (0..self.after.scopes.len() as u32).filter(|a| self.scopes.before(*a) == NONE);
        (before.filter(|b| self.b(*b).kind.is_some()).collect(), after.filter(|a| self.a(*a).kind.is_some()).collect())
    }

    /// Pairs scopes with the same key. The key is given the after-file that a scope's file is paired with.
    fn stage<K: Hash + Eq>(
        &mut self,
        key: impl Fn(&SideScope, Option<u32>) -> Option<K>,
        accept: impl Fn(&Self, u32, u32) -> bool,
    ) {
        let (before, after) = self.left();
        if before.is_empty() || after.is_empty() {
            return;
        }
        let mut places: HashMap<(bool, K), usize> = HashMap::new();
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for b in before {
            let scope = self.b(b);
            let file = Some(self.files[scope.file as usize]).filter(|f| *f != NONE);
            if let Some(key) = key(scope, file) {
                let place = *places.entry((is_class(scope), key)).or_insert_with(|| {
                    groups.push((Vec::new(), Vec::new()));
                    groups.len() - 1
                });
                groups[place].0.push(b);
            }
        }
        for a in after {
            let scope = self.a(a);
            if let Some(key) = key(scope, Some(scope.file))
                && let Some(place) = places.get(&(is_class(scope), key))
            {
                groups[*place].1.push(a);
            }
        }
        // In source order of the before side, so that parents are paired before their children.
        for (before, after) in groups {
            self.group(&before, &after, &accept);
        }
    }

    fn group(&mut self, before: &[u32], after: &[u32], accept: &impl Fn(&Self, u32, u32) -> bool) {
        let mut ranked = Vec::new();
        if before.len() * after.len() > COMPARED {
            ranked.extend(before.iter().zip(after).map(|(b, a)| (0, 0, *b, *a)));
        } else {
            for (i, b) in before.iter().enumerate() {
                for (j, a) in after.iter().enumerate() {
                    let stranger = !self.parents_paired(*b, *a);
                    let elsewhere = self.files[self.b(*b).file as usize] != self.a(*a).file;
                    let other = self.b(*b).ordinal != self.a(*a).ordinal;
                    let rank = usize::from(stranger) * 4 + usize::from(elsewhere) * 2 + usize::from(other);
                    ranked.push((rank, i.abs_diff(j), *b, *a));
                }
            }
            ranked.sort_unstable();
        }
        for (_, _, b, a) in ranked {
            if self.scopes.free(b, a) && accept(self, b, a) {
                self.scopes.pair(b, a);
            }
        }
    }

    /// Pairs the rest best-first by a score.
    fn by_likeness(&mut self, same_name: bool, score: impl Fn(&Self, u32, u32) -> Option<f32>) {
        let (before, after) = self.left();
        let mut by_name: HashMap<u32, Vec<u32>> = HashMap::new();
        if same_name {
            after.iter().for_each(|a| by_name.entry(self.a(*a).name).or_default().push(*a));
        } else if before.len() * after.len() > COMPARED {
            return;
        }
        let mut ranked = Vec::new();
        let mut budget = COMPARED;
        for b in before {
            let candidates = if same_name { by_name.get(&self.b(b).name) } else { Some(&after) };
            for a in candidates.into_iter().flatten().copied() {
                let (x, y) = (self.b(b).own.bag.len(), self.a(a).own.bag.len());
                let fits = is_class(self.b(b)) == is_class(self.a(a)) && x.min(y) * 3 >= x.max(y);
                if !fits || budget == 0 {
                    continue;
                }
                budget -= 1;
                if let Some(score) = score(self, b, a) {
                    ranked.push((score, b, a));
                }
            }
        }
        ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        for (_, b, a) in ranked {
            self.scopes.pair(b, a);
        }
    }

    /// Likeness, with the bonus of the surroundings: the name, children in common, the parent.
    fn family(&self, b: u32, a: u32) -> f32 {
        let mut score = self.alike(b, a);
        if self.b(b).name == self.a(a).name {
            score += 0.15;
        }
        if self.parents_paired(b, a) {
            score += 0.1;
        }
        if is_class(self.b(b)) && self.shares_children(b, a) {
            score += 0.2;
        }
        score
    }

    fn shares_children(&self, b: u32, a: u32) -> bool {
        // Children follow their parent, so the subtree is a run of scopes of the same file.
        let run = self.before.scopes.iter().enumerate().skip(b as usize + 1);
        let mut children = run.take_while(|(_, s)| s.parent >= b && s.parent != NONE).filter(|(_, s)| s.parent == b);
        children.any(|(child, _)| {
            let partner = self.scopes.after(child as u32);
            partner != NONE && self.a(partner).parent == a
        })
    }

    /// The only scope left between the same paired siblings, with a like header.
    fn between_siblings(&mut self) {
        let (before, after) = self.left();
        if before.is_empty() || after.is_empty() {
            return;
        }
        let (befores, mut afters) = (self.slots(true), self.slots(false));
        let mut slots: Vec<(SymbolSlot, Vec<u32>)> = befores.into_iter().collect();
        slots.sort_unstable();
        for (slot, old) in slots {
            let Some(new) = afters.remove(&slot) else { continue };
            if let ([b], [a]) = (old.as_slice(), new.as_slice()) {
                if self.headers(*b, *a) >= 0.5 {
                    self.scopes.pair(*b, *a);
                }
            } else if old.len() * new.len() <= CROWD {
                let all = old.iter().flat_map(|b| new.iter().map(move |a| (*b, *a)));
                let mut ranked: Vec<(f32, u32, u32)> = all
                    .filter(|(b, a)| self.telling_headers(*b, *a))
                    .map(|(b, a)| (self.headers(b, a), b, a))
                    .filter(|(likeness, _, _)| *likeness >= 0.75)
                    .collect();
                ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
                for (_, b, a) in ranked {
                    self.scopes.pair(b, a);
                }
            }
        }
    }

    /// The unpaired scopes, by the paired siblings they stand between.
    fn slots(&self, forward: bool) -> HashMap<SymbolSlot, Vec<u32>> {
        let side = if forward { self.before } else { self.after };
        // All names are after-indices.
        let mate = |s: u32| if forward { self.scopes.after(s) } else { self.scopes.before(s) };
        let name = |s: u32| if forward { self.scopes.after(s) } else { s };
        let mut waiting: HashMap<u32, (u32, Vec<u32>)> = HashMap::new();
        let mut out: HashMap<SymbolSlot, Vec<u32>> = HashMap::new();
        for (index, scope) in side.scopes.iter().enumerate().filter(|(_, s)| s.kind.is_some()) {
            let entry = waiting.entry(scope.parent).or_insert((NONE, Vec::new()));
            if mate(index as u32) == NONE {
                entry.1.push(index as u32);
                continue;
            }
            let next = name(index as u32);
            let slot = (name(scope.parent), entry.0, next);
            if !entry.1.is_empty() {
                out.insert(slot, std::mem::take(&mut entry.1));
            }
            entry.0 = next;
        }
        for (parent, (previous, rest)) in waiting.into_iter().filter(|(_, (_, rest))| !rest.is_empty()) {
            out.insert((name(parent), previous, NONE), rest);
        }
        out.retain(|slot, _| slot.0 != NONE);
        out
    }

    /// The likeness of the headers of two scopes, 0 to 1.
    fn headers(&self, b: u32, a: u32) -> f32 {
        let (x, y) = (self.b(b), self.a(a));
        if x.header == NONE || y.header == NONE || is_class(x) != is_class(y) {
            return 0.0;
        }
        dice(&self.before.unit_bag(x.header), &self.after.unit_bag(y.header))
    }

    /// Headers with more to them than `def f(self):`.
    fn telling_headers(&self, b: u32, a: u32) -> bool {
        let weight = |side: &Side<'_>, header: u32| side.units.get(header as usize).map_or(0, |unit| unit.weight);
        weight(self.before, self.b(b).header).min(weight(self.after, self.a(a).header)) >= TELLING
    }

    /// Moved and rewritten: the only one of its name on either side, with a like header. Also the last unpaired one of
    /// its name, if it stands at the top of a file or under the same parent.
    fn sole_namesakes(&mut self) {
        let (before, after) = self.left();
        if before.is_empty() || after.is_empty() {
            return;
        }
        let (befores, afters) = (namesakes(self.before, &before), namesakes(self.after, &after));
        let top = |side: &Side<'_>, scope: &SideScope| side.scopes[scope.parent as usize].kind.is_none();
        for (name, old) in befores.iter().filter(|(_, old)| old.left == 1) {
            let Some(new) = afters.get(name).filter(|new| new.left == 1) else { continue };
            let (b, a) = (old.scope, new.scope);
            let placed = old.all == 1 && new.all == 1
                || top(self.before, self.b(b)) && top(self.after, self.a(a))
                || self.parents_paired(b, a);
            if placed && self.headers(b, a) >= 0.5 {
                self.scopes.pair(b, a);
            }
        }
    }
}

/// The number and the places of a name's unpaired scopes, and its number in all.
#[derive(Default)]
struct Namesakes {
    scope: u32,
    left: usize,
    all: usize,
}

fn namesakes(side: &Side<'_>, left: &[u32]) -> HashMap<u32, Namesakes> {
    let mut counts: HashMap<u32, Namesakes> = HashMap::new();
    for index in left {
        let entry = counts.entry(side.scopes[*index as usize].name).or_default();
        entry.scope = *index;
        entry.left += 1;
    }
    for scope in side.scopes.iter().filter(|scope| scope.kind.is_some()) {
        if let Some(entry) = counts.get_mut(&scope.name) {
            entry.all += 1;
        }
    }
    counts
}

fn is_class(scope: &SideScope) -> bool {
    scope.kind.is_some_and(SymbolKind::holds_members)
}
