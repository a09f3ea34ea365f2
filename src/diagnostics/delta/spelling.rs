//! Pairs the tokens inside paired units, and finds the renamed words.

use std::collections::HashMap;

use crate::delta::index_pairs::Matching;
use crate::delta::sequence::align;
use crate::delta::side::Side;
use crate::delta::tokenize::Class;

/// Replaced runs up to this length are the same tokens with a new spelling.
const REPLACED: usize = 4;

/// Votes for `old → new`, in spellings.
pub(super) type Votes = HashMap<(u32, u32), u32>;

/// Pairs the tokens of pairs of units.
pub(super) fn pair(
    before: &Side<'_>,
    after: &Side<'_>,
    units: impl Iterator<Item = (u32, u32)>,
    tokens: &mut Matching,
    votes: &mut Votes,
) {
    for (b, a) in units {
        let same = before.units[b as usize].key == after.units[a as usize].key;
        pair_lists((before, before.unit_tokens(b)), (after, after.unit_tokens(a)), same, tokens, votes);
    }
}

/// Pairs two lists of tokens; `same` if they are known to differ in layout only.
pub(super) fn pair_lists(
    before: (&Side<'_>, &[u32]),
    after: (&Side<'_>, &[u32]),
    same: bool,
    tokens: &mut Matching,
    votes: &mut Votes,
) {
    let ((x, before), (y, after)) = (before, after);
    let key_b = |i: usize| x.tokens[before[i] as usize].key;
    let key_a = |j: usize| y.tokens[after[j] as usize].key;
    if same && before.len() == after.len() && (0..before.len()).all(|i| key_b(i) == key_a(i)) {
        before.iter().zip(after).for_each(|(b, a)| {
            tokens.pair(*b, *a);
        });
        return;
    }
    let solid = |side: &Side<'_>, list: &[u32]| -> Vec<usize> {
        (0..list.len()).filter(|i| side.tokens[list[*i] as usize].class != Class::Layout).collect()
    };
    let (solid_b, solid_a) = (solid(x, before), solid(y, after));
    let mut chain = if same {
        solid_b.into_iter().zip(solid_a).collect()
    } else {
        solid_pairs(x, before, &solid_b, y, after, &solid_a, votes)
    };
    // Layout stands between the same solid neighbours.
    chain.push((before.len(), after.len()));
    pair_between(x, before, y, after, chain, tokens);
}

/// Pairs the tokens other than layout, in order, by equal keys and by equal runs of few replaced tokens between them.
fn solid_pairs(
    x: &Side<'_>,
    before: &[u32],
    solid_b: &[usize],
    y: &Side<'_>,
    after: &[u32],
    solid_a: &[usize],
    votes: &mut Votes,
) -> Vec<(usize, usize)> {
    let mut chain = Vec::with_capacity(solid_b.len() + 1);
    let keys_b: Vec<u32> = solid_b.iter().map(|i| x.tokens[before[*i] as usize].key).collect();
    let keys_a: Vec<u32> = solid_a.iter().map(|j| y.tokens[after[*j] as usize].key).collect();
    let weight = |i: usize| if x.tokens[before[solid_b[i]] as usize].class == Class::Word { 3 } else { 1 };
    let mut equal = Vec::new();
    align(&keys_b, &keys_a, weight, |i, j| equal.push((i, j)));
    equal.sort_unstable();
    equal.push((solid_b.len(), solid_a.len()));
    let (mut i, mut j) = (0, 0);
    for (end_b, end_a) in equal {
        let length = end_b - i;
        if length == end_a - j && length <= REPLACED {
            for step in 0..length {
                let (b, a) = (solid_b[i + step], solid_a[j + step]);
                let (old, new) = (&x.tokens[before[b] as usize], &y.tokens[after[a] as usize]);
                if old.class == new.class {
                    chain.push((b, a));
                    if old.class == Class::Word {
                        *votes.entry((old.key, new.key)).or_default() += 1;
                    }
                }
            }
        }
        if end_b < solid_b.len() {
            chain.push((solid_b[end_b], solid_a[end_a]));
        }
        (i, j) = (end_b + 1, end_a + 1);
    }
    chain
}

/// Pairs a chain of neighbours, and the layout between each two of them.
fn pair_between(
    x: &Side<'_>,
    before: &[u32],
    y: &Side<'_>,
    after: &[u32],
    chain: Vec<(usize, usize)>,
    tokens: &mut Matching,
) {
    let (mut i, mut j) = (0, 0);
    for (end_b, end_a) in chain {
        let layout = |side: &Side<'_>, list: &[u32]| -> Vec<u32> {
            list.iter().copied().filter(|t| side.tokens[*t as usize].class == Class::Layout).collect()
        };
        if i < end_b && j < end_a {
            let (gap_b, gap_a) = (layout(x, &before[i..end_b]), layout(y, &after[j..end_a]));
            let keys = |side: &Side<'_>, list: &[u32]| -> Vec<u32> {
                list.iter().map(|t| side.tokens[*t as usize].key).collect()
            };
            align(
                &keys(x, &gap_b),
                &keys(y, &gap_a),
                |_| 1,
                |m, n| {
                    tokens.pair(gap_b[m], gap_a[n]);
                },
            );
        }
        if end_b < before.len() {
            tokens.pair(before[end_b], after[end_a]);
        }
        (i, j) = (end_b + 1, end_a + 1);
    }
}

/// The renamed words: for every old spelling the new one with most votes, if most votes agree on it.
pub(super) fn renames(votes: &Votes) -> HashMap<u32, u32> {
    let mut best: HashMap<u32, (u32, u32, u32)> = HashMap::new();
    let mut sorted: Vec<(&(u32, u32), &u32)> = votes.iter().filter(|((old, new), _)| old != new).collect();
    sorted.sort_unstable();
    for ((old, new), count) in sorted {
        let entry = best.entry(*old).or_insert((*new, 0, 0));
        if *count > entry.1 {
            (entry.0, entry.1) = (*new, *count);
        }
        entry.2 += count;
    }
    best.into_iter().filter(|(_, (_, top, all))| top * 2 > *all).map(|(old, (new, _, _))| (old, new)).collect()
}
