//! Answers held against the truth, counted by kind of edit and by door.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::reach::doors::{Answer, DoorKind};
use crate::reach::edits::Kind;
use crate::reach::truth::typescript::plain;
use crate::reach::truth::{Change, Place};

#[derive(Default)]
struct Count {
    edits: usize,
    complete: usize,
    /// Diagnostics that the edits introduced, and those of them that an answer reported as new.
    broken: usize,
    told: usize,
    milliseconds: Vec<u128>,
}

#[derive(Default)]
pub struct Verdicts {
    /// Answers that call themselves complete and are not what the checker says.
    pub wrong: Vec<String>,
    counts: BTreeMap<(Kind, DoorKind), Count>,
}

impl Verdicts {
    pub fn hold(&mut self, kind: Kind, door: DoorKind, about: &str, answer: &Answer, change: &Change) {
        let data = &answer.data;
        let new = places(&data["new_diagnostics"], data["path"].as_str().unwrap_or_default());
        let count = self.counts.entry((kind, door)).or_default();
        count.edits += 1;
        count.broken += change.new.len();
        count.told += change.new.intersection(&new).count();
        count.milliseconds.push(answer.elapsed.as_millis());
        let is_complete = data["diagnostics_status"] == "complete";
        count.complete += usize::from(is_complete);
        let missing: BTreeSet<&Place> = change.new.difference(&new).collect();
        let invented: BTreeSet<&Place> =
            new.difference(&change.new).filter(|place| !change.revealed.contains(*place)).collect();
        let is_wrong = (is_complete && !missing.is_empty()) || !invented.is_empty();
        if std::env::var_os("REACH_SHOW").is_some() {
            println!(
                "{}{about}: {} {} ms, {} of {} new, pending {}",
                if is_wrong { "WRONG " } else { "" },
                data["diagnostics_status"],
                answer.elapsed.as_millis(),
                change.new.intersection(&new).count(),
                change.new.len(),
                data["pending"]
            );
        }
        if is_wrong {
            let words =
                |place: &&Place| format!("{place:?} {}", change.messages.get(*place).cloned().unwrap_or_default());
            let missing: Vec<String> = missing.iter().map(words).collect();
            self.wrong.push(format!(
                "{about} ({}): missing {missing:#?}, invented {invented:?}, of {}",
                data["diagnostics_status"], data["new_diagnostics"]
            ));
        }
    }

    /// The part of what was broken that was reported.
    pub fn told(&self) -> f64 {
        let sum = |part: fn(&Count) -> usize| self.counts.values().map(part).sum::<usize>();
        #[allow(clippy::cast_precision_loss, reason = "some thousands")]
        let part = sum(|count| count.told) as f64 / sum(|count| count.broken).max(1) as f64;
        part
    }

    pub fn print(&self) {
        println!(
            "{:<12}{:<8}{:>7}{:>10}{:>9}{:>9}{:>11}{:>8}",
            "edit", "door", "edits", "complete", "broken", "told", "median ms", "p95"
        );
        for ((kind, door), count) in &self.counts {
            let mut times = count.milliseconds.clone();
            times.sort_unstable();
            let at =
                |part: usize| times.get((times.len() * part / 100).min(times.len() - 1)).copied().unwrap_or_default();
            println!(
                "{:<12}{:<8}{:>7}{:>10}{:>9}{:>9}{:>11}{:>8}",
                format!("{kind:?}"),
                format!("{door:?}"),
                count.edits,
                count.complete,
                count.broken,
                count.told,
                at(50),
                at(95)
            );
        }
        println!("wrong {}, reported {:.4} of what was broken", self.wrong.len(), self.told());
    }
}

/// A list of an answer; a line without a path is of the edited file.
fn places(list: &Value, edited: &str) -> BTreeSet<Place> {
    let lines = list.as_array().map(Vec::as_slice).unwrap_or_default().iter();
    let place = |line: &Value| {
        let number = u32::try_from(line["line"].as_u64().unwrap_or_default()).unwrap_or_default();
        let path = line["path"].as_str().unwrap_or(edited).to_owned();
        (path, number, plain(line["code"].as_str().unwrap_or_default()).to_owned())
    };
    lines.map(place).collect()
}
