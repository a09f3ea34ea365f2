//! Aligns by lines the text that no syntax tree covers: languages without a grammar, files that do not parse.
//!
//! A lost bracket collapses the tree, yet most analysers keep reporting. Equal lines between aligned lines are paired;
//! the rest between two such lines is compared token by token.

use std::collections::HashMap;

use crate::delta::index_pairs::Matching;
use crate::delta::sequence::{align, dice};
use crate::delta::side::{NONE, Side, hash_of};
use crate::delta::spelling::{Votes, pair_lists};
use crate::delta::tokenize::Class;

/// Below this share of common tokens, two stretches of lines have no relation.
const LIKENESS: f32 = 0.5;

/// A line with tokens: their range, their spellings, and the key of the comparison.
struct TokenLine {
    tokens: Vec<u32>,
    text: u64,
    key: u64,
    /// True if all of its tokens are unpaired.
    free: bool,
}

/// Pairs the tokens that are still free on equal lines of two files.
pub(super) fn pair_lines(
    before: &Side<'_>,
    file_b: usize,
    after: &Side<'_>,
    file_a: usize,
    tokens: &mut Matching,
    votes: &mut Votes,
) {
    let line_of = |token: u32| after.files[file_a].lines.line_of(after.tokens[token as usize].start as usize);
    let range_a = &after.files[file_a].tokens;
    let lines_b = lines(before, file_b, |token| {
        let partner = tokens.after(token);
        let here = partner != NONE && range_a.contains(&(partner as usize));
        if here { Some(line_of(partner)) } else { (partner != NONE).then_some(usize::MAX) }
    });
    let lines_a = lines(after, file_a, |token| (tokens.before(token) != NONE).then(|| line_of(token)));
    let mut ids: HashMap<u64, u32> = HashMap::new();
    let mut number = |lines: &[TokenLine]| -> Vec<u32> {
        let id = |line: &TokenLine| {
            let next = ids.len() as u32;
            *ids.entry(line.key).or_insert(next)
        };
        lines.iter().map(id).collect()
    };
    let (keys_b, keys_a) = (number(&lines_b), number(&lines_a));
    let mut found = Vec::new();
    align(&keys_b, &keys_a, |i| lines_b[i].tokens.len() as u32, |i, j| found.push((i, j)));
    found.sort_unstable();
    found.push((lines_b.len(), lines_a.len()));
    let (mut i, mut j) = (0, 0);
    for (end_b, end_a) in found {
        let (gap_b, gap_a) = (free_tokens(&lines_b[i..end_b]), free_tokens(&lines_a[j..end_a]));
        if !gap_b.is_empty() && !gap_a.is_empty() && dice(&bag(before, &gap_b), &bag(after, &gap_a)) >= LIKENESS {
            pair_lists((before, &gap_b), (after, &gap_a), false, tokens, votes);
        }
        if let (Some(b), Some(a)) = (lines_b.get(end_b), lines_a.get(end_a))
            && b.text == a.text
        {
            pair_lists((before, &b.tokens), (after, &a.tokens), true, tokens, votes);
        }
        (i, j) = (end_b + 1, end_a + 1);
    }
}

fn free_tokens(lines: &[TokenLine]) -> Vec<u32> {
    lines.iter().filter(|line| line.free).flat_map(|line| line.tokens.iter().copied()).collect()
}

fn bag(side: &Side<'_>, tokens: &[u32]) -> Vec<u32> {
    let solid = tokens.iter().map(|t| &side.tokens[*t as usize]).filter(|t| t.class != Class::Layout);
    let mut bag: Vec<u32> = solid.map(|t| t.key).collect();
    bag.sort_unstable();
    bag
}

/// `aligned` gives the after-line of a token that is paired.
fn lines(side: &Side<'_>, file: usize, aligned: impl Fn(u32) -> Option<usize>) -> Vec<TokenLine> {
    let file = &side.files[file];
    let mut out: Vec<(usize, TokenLine)> = Vec::new();
    for index in file.tokens.clone() {
        let line = file.lines.line_of(side.tokens[index].start as usize);
        match out.last_mut() {
            Some((last, entry)) if *last == line => entry.tokens.push(index as u32),
            _ => out.push((line, TokenLine { tokens: vec![index as u32], text: 0, key: 0, free: true })),
        }
    }
    for (_, line) in &mut out {
        let anchor = line.tokens.iter().find_map(|token| aligned(*token));
        line.free = anchor.is_none();
        let solid = line.tokens.iter().map(|t| &side.tokens[*t as usize]);
        let keys: Vec<u32> = solid.filter(|t| t.class != Class::Layout).map(|t| t.key).collect();
        line.text = hash_of(&keys);
        line.key = hash_of(&(anchor.is_some(), anchor.map_or(line.text, |place| place as u64)));
    }
    out.into_iter().map(|(_, line)| line).collect()
}
