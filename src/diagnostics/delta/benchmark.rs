//! Holds the matcher's figures on the development sample of the benchmark at their present values.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::benchmark_case;

#[derive(Deserialize)]
struct Truth {
    new: Vec<usize>,
    preexisting: Vec<(usize, usize)>,
    fixed: Vec<usize>,
    masked: Vec<usize>,
    ambiguous_after: Vec<usize>,
    ambiguous_before: Vec<usize>,
    equiv_after: Vec<Vec<usize>>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    before: Vec<Value>,
    after: Vec<Value>,
    truth: Truth,
}

#[derive(Deserialize)]
struct Answer {
    new: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    fixed: Vec<usize>,
}

/// True positives, false positives, false negatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts(usize, usize, usize);

impl Counts {
    fn add(&mut self, other: Self) {
        *self = Self(self.0 + other.0, self.1 + other.1, self.2 + other.2);
    }

    fn f1(self) -> f64 {
        if self.1 + self.2 == 0 { 1.0 } else { 2.0 * self.0 as f64 / (2 * self.0 + self.1 + self.2) as f64 }
    }
}

/// Maps every index to the first index that is equal to it.
fn classes(diagnostics: &[Value], equal: &[Vec<usize>]) -> Vec<usize> {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut class: Vec<usize> =
        diagnostics.iter().enumerate().map(|(i, d)| *first.entry(d.to_string()).or_insert(i)).collect();
    for group in equal {
        for other in &group[1..] {
            let (from, to) = (class[*other], class[group[0]]);
            class.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
        }
    }
    class
}

fn compare<K: Ord>(truth: impl Iterator<Item = K>, ours: impl Iterator<Item = K>) -> Counts {
    let mut balance: BTreeMap<K, (usize, usize)> = BTreeMap::new();
    truth.for_each(|key| balance.entry(key).or_default().0 += 1);
    ours.for_each(|key| balance.entry(key).or_default().1 += 1);
    let mut out = Counts::default();
    for (truth, ours) in balance.into_values() {
        let both = truth.min(ours);
        out.add(Counts(both, ours - both, truth - both));
    }
    out
}

#[test]
fn the_reached_figures_hold() {
    let (mut new, mut errors, mut fixed, mut pairs) = <(Counts, Counts, Counts, Counts)>::default();
    let mut failing = Vec::new();
    let lines = crate::delta::sample::cases();
    for line in &lines {
        let case: Case = serde_json::from_str(line).expect("a case");
        let answer = benchmark_case::answer(line).expect("an answer");
        let answer: Answer = serde_json::from_str(&answer).expect("JSON");
        let t = &case.truth;
        let (class_b, class_a) = (classes(&case.before, &[]), classes(&case.after, &t.equiv_after));
        let unsure_a: BTreeSet<usize> = t.ambiguous_after.iter().copied().collect();
        let unsure_b: BTreeSet<usize> = t.ambiguous_before.iter().copied().collect();
        let hidden: BTreeSet<usize> = t.masked.iter().copied().chain(unsure_b.iter().copied()).collect();
        let after = |list: &[usize], error: bool| -> Vec<usize> {
            let sure = list.iter().filter(|a| !unsure_a.contains(a));
            sure.filter(|a| !error || case.after[**a]["severity"] == 1).map(|a| class_a[*a]).collect()
        };
        let before = |list: &[usize]| -> Vec<usize> {
            list.iter().filter(|b| !hidden.contains(b)).map(|b| class_b[*b]).collect()
        };
        let here = compare(after(&t.new, false).into_iter(), after(&answer.new, false).into_iter());
        let gone = compare(before(&t.fixed).into_iter(), before(&answer.fixed).into_iter());
        errors.add(compare(after(&t.new, true).into_iter(), after(&answer.new, true).into_iter()));
        let sure = |(b, a): &&(usize, usize)| !unsure_a.contains(a) && !hidden.contains(b);
        let classed = |(b, a): &(usize, usize)| (class_b[*b], class_a[*a]);
        pairs.add(compare(t.preexisting.iter().map(classed), answer.pairs.iter().filter(sure).map(classed)));
        if here.1 + here.2 + gone.1 + gone.2 > 0 {
            failing.push(format!("{} {}", case.id, case.kind));
        }
        new.add(here);
        fixed.add(gone);
    }
    let exact = 1.0 - failing.len() as f64 / lines.len() as f64;
    assert_eq!(lines.len(), 163, "the sample is whole");
    assert!(new.0 > 500 && errors.0 > 100, "the sample is scored: {new:?} {errors:?}");
    for (name, figure, reached) in [
        ("exact", exact, 1.0),
        ("newF1", new.f1(), 1.0),
        ("errF1", errors.f1(), 1.0),
        ("fixF1", fixed.f1(), 1.0),
        ("pairF1", pairs.f1(), 0.999),
    ] {
        assert!(figure >= reached, "{name} {figure:.4} < {reached}; failing: {failing:?}");
    }
}
