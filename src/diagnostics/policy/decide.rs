//! Decides what to do about a diagnostic: act, ask first, leave it alone, or begin nothing at all.

use std::collections::BTreeMap;

use crate::merge::Placed;
use crate::model::{Confidence, Diagnostic, Severity};
use crate::policy::{Effect, Evidence, Judged, PolicyLimits, Trace, confidence_words};
use sextant_base::plural::counted;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyDecision {
    Act,
    /// With the question.
    Ask(String),
    /// With the reason.
    Ignore(String),
    Stop(String),
}

impl PolicyDecision {
    /// The decision in a few words; `None` if nothing speaks against acting.
    pub fn suggestion(&self, reason: &str) -> Option<String> {
        match self {
            Self::Act => None,
            Self::Ask(_) => Some(format!("ask before changing it: {reason}")),
            Self::Ignore(_) => Some(format!("leave it: {reason}")),
            Self::Stop(_) => Some(format!("begin nothing: {reason}")),
        }
    }
}

/// The known effects of a change, before it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeSize {
    pub files: usize,
    pub symbols: usize,
    /// True if it deletes a symbol, a file or a check.
    pub destructive: bool,
}

/// The question that must be answered before a change; `None` if the rule does not object.
pub type PolicyRule = fn(&Placed, &Judged, &ChangeSize, &PolicyLimits) -> Option<String>;

/// In the order of their use; the first that objects gives the question.
pub const ASKS: &[(&str, PolicyRule)] = &[
    ("contradiction_asks", contradiction_asks),
    ("survivor_asks", survivor_asks),
    ("destructive_asks", destructive_asks),
    ("wide_asks", wide_asks),
    ("unsupported_asks", unsupported_asks),
    ("unsure_asks", unsure_asks),
];

/// Decides on one diagnostic and a change meant for it, and names the deciding rule.
pub fn decide(
    item: &Placed,
    evidence: &Evidence,
    judged: &Judged,
    change: &ChangeSize,
    limits: &PolicyLimits,
) -> (PolicyDecision, Trace) {
    let about = confidence_words::about(item, &evidence.sources);
    if let Some(reason) = crate::policy::confidence::gone(evidence) {
        let trace = Trace::new(Effect::SetAside, about, "gone", reason);
        return (PolicyDecision::Ignore(reason.to_owned()), trace);
    }
    if let Some(reason) = faint_is_ignored(item, judged) {
        let trace = Trace::new(Effect::SetAside, about, "faint_is_ignored", reason.clone());
        return (PolicyDecision::Ignore(reason), trace);
    }
    for (rule, objection) in ASKS {
        if let Some(reason) = objection(item, judged, change, limits) {
            let claim = confidence_words::claim(item, &evidence.sources, judged.confidence);
            let question = format!("Change {}? {claim} {reason}.", item.symbol);
            return (PolicyDecision::Ask(question), Trace::new(Effect::Asked, about, rule, reason));
        }
    }
    let reason = "the confidence is high and the change is small and takes nothing away";
    (PolicyDecision::Act, Trace::new(Effect::Kept, about, "sure_and_safe", reason))
}

/// A hint or a remark of low confidence.
pub fn faint_is_ignored(item: &Placed, judged: &Judged) -> Option<String> {
    let mild = item.diagnostic.severity >= Severity::Info;
    (mild && judged.confidence == Confidence::Low).then(|| "it is mild and its confidence low".to_owned())
}

pub fn contradiction_asks(_: &Placed, judged: &Judged, _: &ChangeSize, _: &PolicyLimits) -> Option<String> {
    judged.contradicted.then(|| "The text as it is now speaks against it".to_owned())
}

pub fn survivor_asks(_: &Placed, judged: &Judged, _: &ChangeSize, limits: &PolicyLimits) -> Option<String> {
    let fixes = limits.survived;
    judged
        .doubtful
        .then(|| format!("It is still there after {}, so it is possibly a false positive", counted(fixes, "fix")))
}

pub fn destructive_asks(_: &Placed, _: &Judged, change: &ChangeSize, _: &PolicyLimits) -> Option<String> {
    takes_away(change).map(str::to_owned)
}

/// The reason why a change needs a question, for any purpose.
pub fn takes_away(change: &ChangeSize) -> Option<&'static str> {
    change.destructive.then_some("The change takes something away")
}

pub fn wide_asks(_: &Placed, _: &Judged, change: &ChangeSize, limits: &PolicyLimits) -> Option<String> {
    is_wide(change, limits)
}

/// The same for a change that touches much.
pub fn is_wide(change: &ChangeSize, limits: &PolicyLimits) -> Option<String> {
    let wide = change.files > limits.files || change.symbols > limits.symbols;
    wide.then(|| {
        format!("The change is wide ({} in {})", counted(change.symbols, "symbol"), counted(change.files, "file"))
    })
}

/// Of low or medium severity, and reported by one source only.
pub fn unsupported_asks(item: &Placed, judged: &Judged, _: &ChangeSize, _: &PolicyLimits) -> Option<String> {
    let mild = item.diagnostic.severity > Severity::Error;
    (mild && !judged.supported && judged.confidence < Confidence::High).then(|| "Nothing else supports it".to_owned())
}

pub fn unsure_asks(_: &Placed, judged: &Judged, _: &ChangeSize, _: &PolicyLimits) -> Option<String> {
    (judged.confidence < Confidence::High).then(|| "That is not certain".to_owned())
}

/// More diagnostics in one file than anybody can weigh, and no request about them.
pub fn noise_stops(items: &[&Diagnostic], asked: bool, limits: &PolicyLimits) -> Option<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        *files.entry(item.location.file().unwrap_or_default()).or_default() += 1;
    }
    let (file, count) = files.into_iter().max_by_key(|(_, count)| *count)?;
    (!asked && count > limits.noise).then(|| {
        format!("{file} has {}: too many to weigh. Ask about a symbol or a kind of them", counted(count, "diagnostic"))
    })
}

/// No report is of the present text, or no diagnostic has a place or is believed.
pub fn no_evidence_stops(items: &[&Diagnostic], any_fresh: bool) -> Option<String> {
    if !any_fresh {
        return Some("no provider has answered for the present text: there is too little evidence".to_owned());
    }
    let weak = |item: &&Diagnostic| item.confidence == Confidence::Low && item.location.range().is_none();
    let nothing = !items.is_empty() && items.iter().all(weak);
    nothing
        .then(|| "every diagnostic is of low confidence and without a place: there is too little evidence".to_owned())
}
