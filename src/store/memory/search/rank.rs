//! Orders the hits: more of the words first, then BM25, then the newest.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::memory::search::search_words::{Term, words};

/// The usual constants of BM25 (Robertson and Zaragoza, 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Bytes of a text that ranking reads: a long output must not make a search slow.
const READ: usize = 4096;

#[derive(Clone, Debug)]
pub(in crate::memory) struct Candidate {
    pub id: i64,
    /// A bit for each term of the question that the index found in it.
    pub matched: u32,
    pub content: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::memory) struct Ranked {
    pub id: i64,
    pub score: f64,
    /// The number of terms of the question that it holds.
    pub terms: u32,
}

/// Ranks candidates. `holders` gives for each term how many of the `total` entries hold it, or an estimate.
pub(in crate::memory) fn rank(candidates: &[Candidate], terms: &[Term], holders: &[f64], total: f64) -> Vec<Ranked> {
    let counted: Vec<(Vec<f64>, f64)> = candidates.iter().map(|candidate| count(candidate, terms)).collect();
    let average = counted.iter().map(|(_, length)| length).sum::<f64>() / counted.len().max(1) as f64;
    let weight = |at: usize| {
        let holders = holders.get(at).copied().unwrap_or(0.0).min(total);
        ((total - holders + 0.5) / (holders + 0.5)).ln_1p()
    };
    let weights: Vec<f64> = (0..terms.len()).map(weight).collect();
    let mut out: Vec<Ranked> = Vec::with_capacity(candidates.len());
    for (candidate, (counts, length)) in candidates.iter().zip(&counted) {
        let norm = K1 * (1.0 - B + B * length / average.max(1.0));
        let score = counts.iter().zip(&weights).map(|(tf, weight)| weight * tf * (K1 + 1.0) / (tf + norm)).sum();
        let terms = counts.iter().filter(|tf| **tf > 0.0).count() as u32;
        out.push(Ranked { id: candidate.id, score, terms });
    }
    out.sort_by(order);
    out
}

fn order(a: &Ranked, b: &Ranked) -> Ordering {
    b.terms.cmp(&a.terms).then(b.score.total_cmp(&a.score)).then(b.id.cmp(&a.id))
}

pub(in crate::memory) fn holds_any(candidate: &Candidate, terms: &[Term]) -> bool {
    candidate.matched != 0 || count(candidate, terms).0.iter().any(|tf| *tf > 0.0)
}

/// The count of each term, and the length in words. A term that the index found counts once at least. The index may
/// fold letters that we do not, or the term may lie behind the part that is read here.
fn count(candidate: &Candidate, terms: &[Term]) -> (Vec<f64>, f64) {
    let end = (0..=READ.min(candidate.content.len())).rev().find(|at| candidate.content.is_char_boundary(*at));
    let read = &candidate.content[..end.unwrap_or(0)];
    let text: Vec<Cow<'_, str>> = words(read).collect();
    let counts = terms.iter().enumerate().map(|(bit, term)| {
        let found = text.windows(term.words.len().max(1)).filter(|part| *part == term.words).count();
        let least = f64::from(candidate.matched >> bit & 1);
        (found as f64).max(least)
    });
    (counts.collect(), text.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::search::search_words::terms;

    fn ids(question: &str, texts: &[&str]) -> Vec<i64> {
        let terms = terms(question);
        let candidate =
            |(at, text): (usize, &&str)| Candidate { id: at as i64, matched: 0, content: (*text).to_owned() };
        let candidates: Vec<Candidate> = texts.iter().enumerate().map(candidate).collect();
        let holders = vec![2.0; terms.len()];
        rank(&candidates, &terms, &holders, 100.0).into_iter().map(|ranked| ranked.id).collect()
    }

    #[test]
    fn more_words_then_more_often_then_shorter_then_newer() {
        assert_eq!(ids("tax rate", &["tax tax tax", "rate and tax"]), [1, 0]);
        assert_eq!(ids("tax", &["tax here", "tax tax"]), [1, 0]);
        assert_eq!(ids("tax", &["tax and a good deal more of words", "tax"]), [1, 0]);
        assert_eq!(ids("tax", &["tax one", "tax two"]), [1, 0]);
    }

    #[test]
    fn a_part_with_a_separator_is_a_phrase() {
        assert_eq!(ids("cart_total", &["total of the cart", "Cart::total fails"]), [1, 0]);
    }
}
