//! Finds longest common subsequences: exact and weighted for small inputs, Myers with its usual shortcuts for large
//! ones.

use std::collections::HashMap;

/// Above this many cells the exact table gives way to Myers: 4 MB of table, a few milliseconds.
const CELLS: usize = 1 << 20;

/// Calls `pair(before, after)` for the elements of a heaviest common subsequence, in order of `before` within each
/// part.
pub(super) fn align(before: &[u32], after: &[u32], weight: impl Fn(usize) -> u32, mut pair: impl FnMut(usize, usize)) {
    let head = before.iter().zip(after).take_while(|(b, a)| b == a).count();
    (0..head).for_each(|i| pair(i, i));
    let (before, after) = (&before[head..], &after[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(b, a)| b == a).count();
    let (n, m) = (before.len() - tail, after.len() - tail);
    (0..tail).for_each(|i| pair(head + n + i, head + m + i));
    let (before, after) = (&before[..n], &after[..m]);
    if n == 0 || m == 0 {
        return;
    }
    if n.saturating_mul(m) <= CELLS {
        exact(before, after, |i| weight(head + i), |i, j| pair(head + i, head + j));
    } else {
        myers(before, after, |i, j| pair(head + i, head + j));
    }
}

fn exact(before: &[u32], after: &[u32], weight: impl Fn(usize) -> u32, pair: impl FnMut(usize, usize)) {
    let same = |i: usize, j: usize| if before[i] == after[j] { weight(i).max(1) } else { 0 };
    best_chain(before.len(), after.len(), same, pair);
}

/// The order-preserving pairing of `0..n` with `0..m` of greatest total worth; a worth of 0 is not a pair.
pub(super) fn best_chain(n: usize, m: usize, worth: impl Fn(usize, usize) -> u32, mut pair: impl FnMut(usize, usize)) {
    let width = m + 1;
    let mut best = vec![0u32; (n + 1) * width];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let here = worth(i, j);
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let take = if here > 0 { best[(i + 1) * width + j + 1] + here } else { 0 };
            best[i * width + j] = skip.max(take);
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < n && j < m {
        let here = worth(i, j);
        let value = best[i * width + j];
        if here > 0 && value == best[(i + 1) * width + j + 1] + here {
            pair(i, j);
            i += 1;
            j += 1;
        } else if value == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

fn myers(before: &[u32], after: &[u32], mut pair: impl FnMut(usize, usize)) {
    let mut ids: HashMap<u32, u32> = HashMap::new();
    let mut dense = |keys: &[u32]| -> Vec<imara_diff::Token> {
        let id = |key: &u32| {
            let next = ids.len() as u32;
            imara_diff::Token(*ids.entry(*key).or_insert(next))
        };
        keys.iter().map(id).collect()
    };
    let (b, a) = (dense(before), dense(after));
    let mut diff = imara_diff::Diff::default();
    diff.compute_with(imara_diff::Algorithm::Myers, &b, &a, ids.len() as u32);
    let (mut i, mut j) = (0, 0);
    while i < b.len() && j < a.len() {
        if diff.is_removed(i as u32) {
            i += 1;
        } else if diff.is_added(j as u32) {
            j += 1;
        } else {
            pair(i, j);
            i += 1;
            j += 1;
        }
    }
}

/// Twice the common part of two sorted bags over their whole size: 0 to 1.
pub(super) fn dice<T: Ord>(before: &[T], after: &[T]) -> f32 {
    let total = before.len() + after.len();
    if total == 0 {
        return 1.0;
    }
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < before.len() && j < after.len() {
        match before[i].cmp(&after[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
        }
    }
    2.0 * common as f32 / total as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        align(before, after, |_| 1, |b, a| out.push((b, a)));
        out.sort_unstable();
        out
    }

    #[test]
    fn the_heavier_subsequence_wins() {
        let mut out = Vec::new();
        align(&[1, 2, 9], &[2, 1, 8], |i| [5, 1, 1][i], |b, a| out.push((b, a)));
        assert_eq!(out, [(0, 1)]);
    }

    #[test]
    fn the_large_way_finds_what_the_exact_one_finds() {
        let before: Vec<u32> = (0..3000).collect();
        let after: Vec<u32> = (0..3000).filter(|i| i % 97 != 5).flat_map(|i| [i, 100_000 + i]).collect();
        let found = pairs(&before, &after);
        assert_eq!(found.len(), before.iter().filter(|i| *i % 97 != 5).count());
        assert!(found.iter().all(|(b, a)| before[*b] == after[*a]));
    }

    proptest! {
        #[test]
        fn pairs_are_equal_rising_and_both_ways_alike(b in prop::collection::vec(0u32..4, 0..12), a in prop::collection::vec(0u32..4, 0..12)) {
            let there = pairs(&b, &a);
            for window in there.windows(2) {
                prop_assert!(window[0].0 < window[1].0 && window[0].1 < window[1].1);
            }
            prop_assert!(there.iter().all(|(i, j)| b[*i] == a[*j]));
            prop_assert_eq!(there.len(), pairs(&a, &b).len());
        }
    }
}
