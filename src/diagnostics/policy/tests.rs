//! Every rule by its table, and the properties of all of them together.

use Confidence::{High, Low, Medium};
use proptest::prelude::*;

use crate::merge::Placed;
use crate::model::{Confidence, Diagnostic, Location, Severity};
use crate::policy::confidence::{self, ConfidenceInput};
use crate::policy::decide::{self, ChangeSize, PolicyDecision};
use crate::policy::{
    Effect, Evidence, Judged, Judgement, PolicyLimits, confidence_words, judge, severity_orders, stop,
};
use sextant_base::positions::{Position, Range};
use sextant_text::symbols::symbol_path::SymbolPath;

fn diag(source: &str, severity: Severity, confidence: Confidence) -> Diagnostic {
    let range = Range { start: Position { line: 3, character: 4 }, end: Position { line: 3, character: 5 } };
    Diagnostic {
        source: source.into(),
        severity,
        code: Some("F821".into()),
        message: "Undefined name `x`.\nmore".into(),
        location: Location::Range { file: "a.py".into(), range },
        confidence,
        suggested_action: None,
        evidence: None,
    }
}

fn error(confidence: Confidence) -> Diagnostic {
    diag("lsp:basedpyright", Severity::Error, confidence)
}

fn symbol() -> SymbolPath {
    SymbolPath::new("a.py", "f")
}

fn sure(judged: impl Fn(&mut Judged)) -> Judged {
    let mut out = Judged { index: 0, confidence: High, contradicted: false, doubtful: false, supported: false };
    judged(&mut out);
    out
}

fn judged(list: &[(Diagnostic, Evidence)]) -> Judgement {
    let symbol = symbol();
    let items: Vec<Placed> = list.iter().map(|(diagnostic, _)| Placed { diagnostic, symbol: &symbol }).collect();
    let evidence: Vec<Evidence> = list.iter().map(|(_, evidence)| evidence.clone()).collect();
    judge(&items, &evidence, &PolicyLimits::default())
}

fn by(sources: &[&str]) -> Evidence {
    let fresh = Evidence::fresh("");
    Evidence { sources: sources.iter().map(|source| (*source).to_owned()).collect(), ..fresh }
}

/// The result of a rule of confidence for a medium one.
fn ruled(rule: confidence::ConfidenceRule, diagnostic: &Diagnostic, evidence: &Evidence) -> Option<Confidence> {
    let symbol = symbol();
    let item = Placed { diagnostic, symbol: &symbol };
    let limits = PolicyLimits::default();
    rule(Medium, &ConfidenceInput { item: &item, sources: &evidence.sources, evidence, limits: &limits })
        .map(|(next, _)| next)
}

#[test]
fn severity_orders_and_confidence_after_it() {
    let mut list = [(Severity::Warning, High), (Severity::Error, Low), (Severity::Error, High), (Severity::Hint, High)];
    list.sort_by(|a, b| severity_orders(*a, *b));
    assert_eq!(
        list,
        [(Severity::Error, High), (Severity::Error, Low), (Severity::Warning, High), (Severity::Hint, High)]
    );
}

#[test]
fn severity_alone_never_triggers_action() {
    let (limits, change, symbol) = (PolicyLimits::default(), ChangeSize::default(), symbol());
    for confidence in [Low, Medium] {
        let diagnostic = error(confidence);
        let item = Placed { diagnostic: &diagnostic, symbol: &symbol };
        let judged = sure(|judged| judged.confidence = confidence);
        let (decision, _) = decide::decide(&item, &by(&["lsp:basedpyright"]), &judged, &change, &limits);
        assert!(matches!(decision, PolicyDecision::Ask(_)), "{confidence:?}: {decision:?}");
    }
}

#[test]
fn agreement_raises() {
    let rule = confidence::agreement_raises;
    for (sources, expected) in [
        (&["lsp:basedpyright", "lsp:ruff"][..], Some(High)),
        (&["lsp:basedpyright", "tool:pyright"], None),
        (&["lsp:ruff", "tool:ruff"], None),
        (&["lsp:ruff"], None),
    ] {
        assert_eq!(ruled(rule, &error(Medium), &by(sources)), expected, "{sources:?}");
    }
    let found =
        judged(&[(error(Low), by(&["lsp:basedpyright"])), (diag("lsp:ruff", Severity::Error, Low), by(&["lsp:ruff"]))]);
    assert!(found.kept.iter().all(|judged| judged.confidence == Medium && judged.supported), "on one symbol, unmerged");
}

#[test]
fn changed_text_lowers() {
    let rule = confidence::changed_text_lowers;
    assert_eq!(ruled(rule, &error(Medium), &Evidence { text_current: false, ..by(&["x"]) }), Some(Low));
    assert_eq!(ruled(rule, &error(Medium), &by(&["x"])), None);
}

#[test]
fn survivor_lowers() {
    for (survived, expected) in [(0, None), (1, None), (2, Some(Low)), (3, Some(Low))] {
        assert_eq!(ruled(confidence::survivor_lowers, &error(Medium), &Evidence { survived, ..by(&["x"]) }), expected);
    }
}

#[test]
fn unplaced_is_low() {
    for (location, expected) in
        [(Location::Project, Some(Low)), (Location::Global, Some(Low)), (Location::File { file: "a.py".into() }, None)]
    {
        let diagnostic = Diagnostic { location, ..error(Medium) };
        assert_eq!(ruled(confidence::unplaced_is_low, &diagnostic, &by(&["x"])), expected);
    }
    let both = Diagnostic { location: Location::Project, ..error(High) };
    let found = judged(&[(both, by(&["lsp:basedpyright", "lsp:ruff"]))]);
    assert_eq!(found.kept[0].confidence, Low, "agreement does not give it a place");
}

#[test]
fn irreproducible_is_low() {
    let rule = confidence::irreproducible_is_low;
    assert_eq!(ruled(rule, &error(High), &Evidence { reproducible: false, ..by(&["x"]) }), Some(Low));
    assert_eq!(ruled(rule, &error(High), &by(&["x"])), None);
}

#[test]
fn what_is_gone_is_set_aside_with_its_reason() {
    let gone = Evidence { file_exists: false, ..by(&["lsp:x"]) };
    let fixed = Evidence { fixed: true, ..by(&["lsp:x"]) };
    let found = judged(&[(error(High), gone), (error(High), fixed), (error(High), by(&["lsp:x"]))]);
    assert_eq!((found.set_aside.as_slice(), found.kept.len()), ([0, 1].as_slice(), 1));
    let reasons: Vec<&str> = found.trace.iter().map(|entry| entry.reason.as_str()).collect();
    assert_eq!(reasons, ["its file does not exist any more", "a newer report no longer has it"]);
    assert!(found.trace.iter().all(|entry| entry.effect == Effect::SetAside && entry.rule == "gone"));
}

#[test]
fn each_rule_that_asks() {
    let (limits, symbol) = (PolicyLimits::default(), symbol());
    let small = ChangeSize { files: 1, symbols: 1, destructive: false };
    let warning = diag("lsp:ruff", Severity::Warning, Medium);
    let hard = error(High);
    for (rule, diagnostic, judged, change) in [
        ("contradiction_asks", &hard, sure(|judged| judged.contradicted = true), small),
        ("survivor_asks", &hard, sure(|judged| judged.doubtful = true), small),
        ("destructive_asks", &hard, sure(|_| {}), ChangeSize { destructive: true, ..small }),
        ("wide_asks", &hard, sure(|_| {}), ChangeSize { files: 2, ..small }),
        ("wide_asks", &hard, sure(|_| {}), ChangeSize { symbols: 4, ..small }),
        ("unsupported_asks", &warning, sure(|judged| judged.confidence = Medium), small),
        ("unsure_asks", &hard, sure(|judged| judged.confidence = Medium), small),
    ] {
        let item = Placed { diagnostic, symbol: &symbol };
        let (decision, trace) = decide::decide(&item, &by(&["lsp:ruff"]), &judged, &change, &limits);
        assert_eq!((trace.rule.as_str(), trace.effect), (rule, Effect::Asked));
        assert!(
            matches!(&decision, PolicyDecision::Ask(question) if question.starts_with("Change a.py::f? ")),
            "{decision:?}"
        );
    }
    let item = Placed { diagnostic: &hard, symbol: &symbol };
    let (decision, trace) = decide::decide(&item, &by(&["lsp:ruff"]), &sure(|_| {}), &small, &limits);
    assert_eq!((decision, trace.effect), (PolicyDecision::Act, Effect::Kept));
    let supported = sure(|judged| (judged.confidence, judged.supported) = (Medium, true));
    assert_eq!(
        decide::unsupported_asks(&Placed { diagnostic: &warning, symbol: &symbol }, &supported, &small, &limits),
        None
    );
}

#[test]
fn what_is_mild_and_hardly_believed_is_ignored() {
    let symbol = symbol();
    for (severity, confidence, ignored) in [
        (Severity::Hint, Low, true),
        (Severity::Info, Low, true),
        (Severity::Info, Medium, false),
        (Severity::Warning, Low, false),
    ] {
        let diagnostic = diag("lsp:x", severity, confidence);
        let item = Placed { diagnostic: &diagnostic, symbol: &symbol };
        let reason = decide::faint_is_ignored(&item, &sure(|judged| judged.confidence = confidence));
        assert_eq!(reason.is_some(), ignored, "{severity} {confidence:?}");
    }
}

#[test]
fn noise_and_want_of_evidence_stop() {
    let limits = PolicyLimits { noise: 3, ..PolicyLimits::default() };
    let one = error(High);
    let many = [&one; 4];
    assert_eq!(stop(&many, true, false, &limits).map(|(rule, _)| rule), Some("noise"));
    assert_eq!(stop(&many, true, true, &limits), None, "they were asked about");
    assert_eq!(stop(&many[..3], true, false, &limits), None);
    assert_eq!(stop(&[], false, true, &limits).map(|(rule, _)| rule), Some("no_evidence"));
    assert_eq!(stop(&[], true, true, &limits), None, "clean is evidence");
    let vague = Diagnostic { location: Location::Project, ..error(Low) };
    assert_eq!(stop(&[&vague], true, true, &limits).map(|(rule, _)| rule), Some("no_evidence"));
    assert_eq!(stop(&[&vague, &one], true, true, &limits), None);
}

#[test]
fn words_are_humble() {
    let (diagnostic, symbol) = (error(Medium), symbol());
    let item = Placed { diagnostic: &diagnostic, symbol: &symbol };
    let sources = |list: &[&str]| list.iter().map(|source| (*source).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        confidence_words::claim(&item, &sources(&["lsp:basedpyright"]), Medium),
        "basedpyright reports Undefined name `x` in a.py::f, confidence medium."
    );
    let both = sources(&["lsp:basedpyright", "lsp:ruff", "tool:ruff"]);
    assert!(confidence_words::claim(&item, &both, High).starts_with("basedpyright and ruff report "));
    assert_eq!(confidence_words::about(&item, &both), "F821 of basedpyright and ruff in a.py::f: Undefined name `x`");
    let long = Diagnostic { message: format!("{}\u{1b}", "é".repeat(500)), ..diagnostic.clone() };
    assert!(confidence_words::about(&Placed { diagnostic: &long, symbol: &symbol }, &both).chars().count() < 180);
}

proptest! {
    #[test]
    fn every_diagnostic_is_kept_or_set_aside_and_every_change_of_belief_is_traced(
        picks in proptest::collection::vec(
            (0usize..3, 0usize..3, 1usize..4, any::<bool>(), any::<bool>(), any::<bool>(), 0u32..4, any::<bool>()), 0..8),
    ) {
        let all = ["lsp:basedpyright", "lsp:ruff", "tool:mypy"];
        let list: Vec<(Diagnostic, Evidence)> = picks
            .iter()
            .map(|(severity, belief, count, file_exists, text_current, fixed, survived, reproducible)| {
                let severity = [Severity::Error, Severity::Warning, Severity::Hint][*severity];
                let evidence = Evidence {
                    file_exists: *file_exists, text_current: *text_current, fixed: *fixed, survived: *survived,
                    reproducible: *reproducible, ..by(&all[..*count])
                };
                (diag(all[0], severity, [Low, Medium, High][*belief]), evidence)
            })
            .collect();
        let found = judged(&list);
        let mut indices: Vec<usize> = found.kept.iter().map(|judged| judged.index).chain(found.set_aside.clone()).collect();
        indices.sort_unstable();
        prop_assert_eq!(indices, (0..list.len()).collect::<Vec<_>>());
        let severities: Vec<Severity> = found.kept.iter().map(|judged| list[judged.index].0.severity).collect();
        prop_assert!(severities.is_sorted(), "severity orders");
        for judged in &found.kept {
            let (diagnostic, evidence) = &list[judged.index];
            if judged.confidence > diagnostic.confidence {
                prop_assert!(confidence::independent_sources(&evidence.sources) > 1, "only agreement raises");
            }
            if !evidence.reproducible {
                prop_assert_eq!(judged.confidence, Low);
            }
            let symbol = symbol();
            let item = Placed { diagnostic, symbol: &symbol };
            let change = ChangeSize { files: 1, symbols: 1, destructive: false };
            let (decision, _) = decide::decide(&item, evidence, judged, &change, &PolicyLimits::default());
            if decision == PolicyDecision::Act {
                prop_assert!(judged.confidence == High && evidence.text_current && evidence.survived < 2);
            }
        }
        let moved = found.kept.iter().filter(|judged| list[judged.index].0.confidence != judged.confidence).count();
        let traced = found.trace.iter().filter(|entry| matches!(entry.effect, Effect::Raised | Effect::Lowered)).count();
        prop_assert!(traced >= moved);
        prop_assert_eq!(found.trace.iter().filter(|entry| entry.effect == Effect::SetAside).count(), found.set_aside.len());
    }
}
