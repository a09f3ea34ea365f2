//! Pairs the files of the two snapshots: equal paths, known renames, then likeness.

use std::collections::HashMap;

use crate::delta::sequence::dice;
use crate::delta::side::{NONE, Side};

/// Below this share of common tokens, two files are different files.
const LIKENESS: f32 = 0.5;

/// `partner[before] = after`, [`NONE`] for a file without one. Paths are those of the two sides' files, in order.
pub(super) fn pair(
    before: (&Side<'_>, &[&str]),
    after: (&Side<'_>, &[&str]),
    renames: &[(String, String)],
) -> Vec<u32> {
    let mut partner = vec![NONE; before.1.len()];
    let mut taken = vec![false; after.1.len()];
    let places: HashMap<&str, usize> = after.1.iter().enumerate().map(|(i, path)| (*path, i)).collect();
    let renamed: HashMap<&str, &str> = renames.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    let mut take = |b: usize, a: usize| {
        if partner[b] == NONE && !taken[a] {
            partner[b] = a as u32;
            taken[a] = true;
        }
    };
    for (b, path) in before.1.iter().enumerate() {
        // A renamed file's old path may stand for a new file.
        if let Some(a) = renamed.get(path).and_then(|new| places.get(new)) {
            take(b, *a);
        }
    }
    for (b, path) in before.1.iter().enumerate() {
        if let Some(a) = places.get(path) {
            take(b, *a);
        }
    }
    let left_before: Vec<usize> = (0..partner.len()).filter(|b| partner[*b] == NONE).collect();
    let left_after: Vec<usize> = (0..taken.len()).filter(|a| !taken[*a]).collect();
    if left_before.is_empty() || left_after.is_empty() {
        return partner;
    }
    let bags =
        |side: &Side<'_>, files: &[usize]| -> Vec<Vec<u32>> { files.iter().map(|file| bag(side, *file)).collect() };
    let (bags_before, bags_after) = (bags(before.0, &left_before), bags(after.0, &left_after));
    let mut ranked = Vec::new();
    for (i, b) in bags_before.iter().enumerate() {
        for (j, a) in bags_after.iter().enumerate() {
            let (short, long) = (b.len().min(a.len()), b.len().max(a.len()));
            // Even a contained file cannot reach the likeness when it is a third or less of the other.
            if short * 3 > long {
                let likeness = dice(b, a);
                if likeness >= LIKENESS {
                    ranked.push((likeness, i, j));
                }
            }
        }
    }
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    for (_, i, j) in ranked {
        let (b, a) = (left_before[i], left_after[j]);
        if partner[b] == NONE && !taken[a] {
            partner[b] = a as u32;
            taken[a] = true;
        }
    }
    partner
}

fn bag(side: &Side<'_>, file: usize) -> Vec<u32> {
    let mut bag: Vec<u32> = side.tokens[side.files[file].tokens.clone()].iter().map(|t| t.key).collect();
    bag.sort_unstable();
    bag
}
