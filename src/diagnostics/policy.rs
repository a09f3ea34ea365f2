//! Decides how far a diagnostic is believed and what may be done about it: every rule by name, every use of one
//! recorded.
//!
//! A diagnostic is a hypothesis. The rules order, raise, lower, set aside and ask; they never act.

pub mod confidence;
pub mod confidence_words;
pub mod contradiction;
pub mod decide;
pub mod silencing_edits;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::merge::{Placed, agree};
use crate::model::{Confidence, Diagnostic, Severity};
use crate::policy::contradiction::Contradiction;

/// The bounds of unprompted actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyLimits {
    /// Diagnostics of one file above which nothing is begun without a request.
    pub noise: usize,
    /// Fixes that a diagnostic may survive before it is doubted.
    pub survived: u32,
    /// Files and symbols of a change above which it is wide.
    pub files: usize,
    pub symbols: usize,
}

impl Default for PolicyLimits {
    fn default() -> Self {
        Self { noise: 200, survived: 2, files: 1, symbols: 3 }
    }
}

/// The known facts about a diagnostic beside itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Every source that reports it, itself included.
    pub sources: Vec<String>,
    pub file_exists: bool,
    /// True if the text is still the one that it was reported for.
    pub text_current: bool,
    /// True if a newer report no longer has it.
    pub fixed: bool,
    /// True if its source reports it on every request.
    pub reproducible: bool,
    /// Fixes meant for it that it survived.
    pub survived: u32,
    /// The evidence against it in the project's texts.
    pub contradiction: Option<Contradiction>,
}

impl Evidence {
    /// For a report on the present text.
    pub fn fresh(source: &str) -> Self {
        Self {
            sources: vec![source.to_owned()],
            file_exists: true,
            text_current: true,
            fixed: false,
            reproducible: true,
            survived: 0,
            contradiction: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Kept,
    Merged,
    Raised,
    Lowered,
    SetAside,
    Asked,
    Stopped,
    /// A planned action.
    Planned,
    /// A finished action; written by the actor, never by a rule.
    Acted,
    /// A requested action that a rule forbids.
    Refused,
    /// The meaning that a request was taken for.
    Understood,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Merged => "merged",
            Self::Raised => "raised",
            Self::Lowered => "lowered",
            Self::SetAside => "set aside",
            Self::Asked => "asked",
            Self::Stopped => "stopped",
            Self::Planned => "planned",
            Self::Acted => "acted",
            Self::Refused => "refused",
            Self::Understood => "understood",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        use Effect::*;
        let all = [Kept, Merged, Raised, Lowered, SetAside, Asked, Stopped, Planned, Acted, Refused, Understood];
        all.into_iter().find(|effect| effect.name() == name)
    }
}

/// The rule, its effect on a diagnostic, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trace {
    pub effect: Effect,
    /// The diagnostic in words, or the entry's subject.
    pub about: String,
    pub rule: String,
    pub reason: String,
}

impl Trace {
    pub fn new(effect: Effect, about: impl Into<String>, rule: &str, reason: impl Into<String>) -> Self {
        Self { effect, about: about.into(), rule: rule.to_owned(), reason: reason.into() }
    }
}

/// The rules' result for one diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Into the given list.
    pub index: usize,
    pub confidence: Confidence,
    /// True if the state of the project speaks against it.
    pub contradicted: bool,
    pub doubtful: bool,
    pub supported: bool,
}

/// The rules' result for a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The diagnostics left to look at, in the order to look at them.
    pub kept: Vec<Judged>,
    pub set_aside: Vec<usize>,
    pub trace: Vec<Trace>,
}

/// Lets every rule of confidence see every diagnostic. `items` and `evidence` go together.
pub fn judge(items: &[Placed], evidence: &[Evidence], limits: &PolicyLimits) -> Judgement {
    let mut out = Judgement::default();
    for (index, (item, known)) in items.iter().zip(evidence).enumerate() {
        let about = confidence_words::about(item, &known.sources);
        if let Some(reason) = confidence::gone(known) {
            out.trace.push(Trace::new(Effect::SetAside, about, "gone", reason));
            out.set_aside.push(index);
            continue;
        }
        let others = items.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
        let agreeing = others.filter(|other| agree(item, other)).map(|other| other.diagnostic.source.clone());
        let sources: Vec<String> = known.sources.iter().cloned().chain(agreeing).collect();
        let mut belief = item.diagnostic.confidence;
        let supported = confidence::independent_sources(&sources) > 1;
        for (rule, apply) in confidence::RULES {
            let seen = confidence::ConfidenceInput { item, sources: &sources, evidence: known, limits };
            let Some((next, reason)) = apply(belief, &seen) else { continue };
            // The rule's name shows which texts contradict it.
            let rule = known
                .contradiction
                .as_ref()
                .filter(|_| *rule == confidence::CONTRADICTED)
                .map_or(*rule, |found| found.rule);
            if next != belief {
                let effect = if next > belief { Effect::Raised } else { Effect::Lowered };
                out.trace.push(Trace::new(effect, about.clone(), rule, format!("{reason}: {} now", word(next))));
                belief = next;
            }
        }
        out.kept.push(Judged {
            index,
            confidence: belief,
            contradicted: !known.text_current || known.contradiction.is_some(),
            doubtful: known.survived >= limits.survived,
            supported,
        });
    }
    out.kept.sort_by(|a, b| severity_orders(rank(items, a), rank(items, b)).then(a.index.cmp(&b.index)));
    out
}

fn rank(items: &[Placed], judged: &Judged) -> (Severity, Confidence) {
    (items[judged.index].diagnostic.severity, judged.confidence)
}

/// Severity orders the work, and within it confidence. Neither triggers anything.
pub fn severity_orders(a: (Severity, Confidence), b: (Severity, Confidence)) -> std::cmp::Ordering {
    a.0.cmp(&b.0).then(b.1.cmp(&a.1))
}

/// The reason why nothing is begun on these diagnostics at all; `None` without such a reason.
pub fn stop(
    items: &[&Diagnostic],
    any_fresh: bool,
    asked: bool,
    limits: &PolicyLimits,
) -> Option<(&'static str, String)> {
    decide::noise_stops(items, asked, limits)
        .map(|reason| ("noise", reason))
        .or_else(|| decide::no_evidence_stops(items, any_fresh).map(|reason| ("no_evidence", reason)))
}

pub fn word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}
