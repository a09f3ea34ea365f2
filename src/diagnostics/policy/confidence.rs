//! The rules of confidence: agreement, contradiction, place, repetition, survival of fixes.

use crate::code_aliases::independent;
use crate::merge::Placed;
use crate::model::{Confidence, Freshness, Location};
use crate::policy::{Evidence, PolicyLimits};
use sextant_base::plural::counted;

/// The input of a rule.
#[derive(Clone, Copy, Debug)]
pub struct ConfidenceInput<'a> {
    pub item: &'a Placed<'a>,
    /// All sources that report it, for the same place or the same symbol.
    pub sources: &'a [String],
    pub evidence: &'a Evidence,
    pub limits: &'a PolicyLimits,
}

/// The confidence after a rule, with the reason; `None` if the rule does not apply.
pub type ConfidenceRule = fn(Confidence, &ConfidenceInput) -> Option<(Confidence, String)>;

/// The rule that reports the name of its evidence instead of its own.
pub const CONTRADICTED: &str = "contradicted_lowers";

/// In the order in which they apply: lowering rules go after raising ones.
pub const RULES: &[(&str, ConfidenceRule)] = &[
    ("agreement_raises", agreement_raises),
    ("changed_text_lowers", changed_text_lowers),
    (CONTRADICTED, contradicted_lowers),
    ("survivor_lowers", survivor_lowers),
    ("unplaced_is_low", unplaced_is_low),
    ("irreproducible_is_low", irreproducible_is_low),
];

/// The confidence in the report of one language server before any rule, through any door: one opinion of the present
/// text, or of some text.
pub fn of_server(freshness: Freshness) -> Confidence {
    if freshness.is_fresh() { Confidence::Medium } else { Confidence::Low }
}

pub fn raised(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::Low => Confidence::Medium,
        Confidence::Medium | Confidence::High => Confidence::High,
    }
}

pub fn lowered(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::High => Confidence::Medium,
        Confidence::Medium | Confidence::Low => Confidence::Low,
    }
}

/// The number of opinions: a tool and its relatives count as one.
pub fn independent_sources(sources: &[String]) -> usize {
    let mut opinions: Vec<&str> = Vec::new();
    for source in sources {
        if opinions.iter().all(|known| independent(known, source)) {
            opinions.push(source);
        }
    }
    opinions.len()
}

/// The reason why the project's state leaves nothing of a diagnostic.
pub fn gone(evidence: &Evidence) -> Option<&'static str> {
    if !evidence.file_exists {
        Some("its file does not exist any more")
    } else if evidence.fixed {
        Some("a newer report no longer has it")
    } else {
        None
    }
}

/// Independent sources that agree on one symbol.
pub fn agreement_raises(confidence: Confidence, seen: &ConfidenceInput) -> Option<(Confidence, String)> {
    let opinions = independent_sources(seen.sources);
    (opinions > 1).then(|| (raised(confidence), format!("{opinions} independent sources agree")))
}

/// The text is no longer the one that it was reported for.
pub fn changed_text_lowers(confidence: Confidence, seen: &ConfidenceInput) -> Option<(Confidence, String)> {
    (!seen.evidence.text_current).then(|| (lowered(confidence), "the text has changed since".to_owned()))
}

/// The project's texts contradict it.
pub fn contradicted_lowers(confidence: Confidence, seen: &ConfidenceInput) -> Option<(Confidence, String)> {
    seen.evidence.contradiction.as_ref().map(|found| (lowered(confidence), found.reason.clone()))
}

/// It survived fixes that were meant for it.
pub fn survivor_lowers(confidence: Confidence, seen: &ConfidenceInput) -> Option<(Confidence, String)> {
    let survived = seen.evidence.survived;
    (survived >= seen.limits.survived)
        .then(|| (lowered(confidence), format!("it survived {}, possibly a false positive", counted(survived, "fix"))))
}

/// A signal without a place is a hint.
pub fn unplaced_is_low(_: Confidence, seen: &ConfidenceInput) -> Option<(Confidence, String)> {
    matches!(seen.item.diagnostic.location, Location::Project | Location::Global)
        .then(|| (Confidence::Low, "it names no place".to_owned()))
}

/// A signal that does not come back is a hint.
pub fn irreproducible_is_low(_: Confidence, seen: &ConfidenceInput) -> Option<(Confidence, String)> {
    (!seen.evidence.reproducible).then(|| (Confidence::Low, "it was not reported again".to_owned()))
}
