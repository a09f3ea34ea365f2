//! Counts the reports of several providers at one place as one, over both sides of a change, with every provider named.

use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge::{self, Merged, Placed};
use sextant_diagnostics::model::{Diagnostic, Severity};
use sextant_diagnostics::policy::confidence::{independent_sources, raised};
use sextant_text::symbols::symbol_path::SymbolPath;

/// The fate of one provider's diagnostic over a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    New,
    Revealed,
    Stays,
    Fixed,
    Masked,
    /// Its provider has not reported on the text after the change.
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) struct DedupItem {
    pub diagnostic: Diagnostic,
    pub fate: Fate,
    /// Its earlier message, where it stays in other words.
    pub was: Option<String>,
}

impl DedupItem {
    pub(crate) fn new(diagnostic: Diagnostic, fate: Fate) -> Self {
        Self { diagnostic, fate, was: None }
    }
}

/// One complaint with all providers that report it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    /// The worst of them; its confidence is raised where two providers found it on their own.
    pub diagnostic: Diagnostic,
    /// Its source first.
    pub sources: Vec<String>,
    pub fate: Fate,
    pub was: Option<String>,
}

/// The complaints after a change: new, revealed, or there before.
///
/// A new complaint of one provider is not new where another has reported it all along, no milder.
pub(crate) fn after(items: &[DedupItem]) -> Vec<Complaint> {
    complaints(items, |members| {
        let worst = |fate: Fate| members.iter().filter(|item| item.fate == fate).map(|item| severity(item)).min();
        let known = worst(Fate::Stays);
        let seen = |fate| worst(fate).is_some_and(|now| known.is_none_or(|before| now < before));
        match (seen(Fate::New), seen(Fate::Revealed)) {
            (_, true) => Fate::Revealed,
            (true, false) => Fate::New,
            (false, false) => Fate::Stays,
        }
    })
}

/// The complaints before a change: fixed only where every provider that reported it does so no longer.
pub(crate) fn before(items: &[DedupItem]) -> Vec<Complaint> {
    const KEPT: [Fate; 3] = [Fate::Stays, Fate::Unknown, Fate::Masked];
    complaints(items, |members| {
        KEPT.into_iter().find(|fate| members.iter().any(|item| item.fate == *fate)).unwrap_or(Fate::Fixed)
    })
}

fn severity(item: &DedupItem) -> Severity {
    item.diagnostic.severity
}

fn complaints(items: &[DedupItem], fate: impl Fn(&[&DedupItem]) -> Fate) -> Vec<Complaint> {
    let files: Vec<SymbolPath> =
        items.iter().map(|item| SymbolPath::new(item.diagnostic.location.file().unwrap_or_default(), "")).collect();
    // The symbol of two that overlap does not matter: a checker may point at a whole statement, another at a name in
    // it.
    let placed: Vec<Placed> =
        items.iter().zip(&files).map(|(item, symbol)| Placed { diagnostic: &item.diagnostic, symbol }).collect();
    let complaint = |group: Merged| {
        let members: Vec<&DedupItem> = group.members.iter().map(|index| &items[*index]).collect();
        let mut diagnostic = items[group.shown].diagnostic.clone();
        if independent_sources(&group.sources) > 1 {
            diagnostic.confidence = raised(diagnostic.confidence);
        }
        let suggested = || members.iter().find_map(|item| item.diagnostic.suggested_action.clone());
        diagnostic.suggested_action = diagnostic.suggested_action.or_else(suggested);
        let was = items[group.shown].was.clone();
        Complaint { diagnostic, fate: fate(&members), sources: group.sources, was }
    };
    merge::merge(&placed).into_iter().map(complaint).collect()
}

/// The diagnostics that no other source reports at the same place, no milder.
pub(crate) fn unsaid(found: Vec<LocatedDiagnostic>, others: &[Diagnostic]) -> Vec<LocatedDiagnostic> {
    let file = |diagnostic: &Diagnostic| SymbolPath::new(diagnostic.location.file().unwrap_or_default(), "");
    let symbols: Vec<SymbolPath> = others.iter().map(file).collect();
    let placed: Vec<Placed> =
        others.iter().zip(&symbols).map(|(diagnostic, symbol)| Placed { diagnostic, symbol }).collect();
    let mut known = merge::KnownStatements::new(&placed);
    let is_new = |found: &LocatedDiagnostic| {
        let symbol = file(&found.diagnostic);
        !known.holds(&Placed { diagnostic: &found.diagnostic, symbol: &symbol })
    };
    found.into_iter().filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::positions::{Position, Range};
    use sextant_diagnostics::model::{Confidence, Location};

    fn reported(source: &str, code: &str, severity: Severity, line: u32) -> Diagnostic {
        let at = |character| Position { line, character };
        Diagnostic {
            source: source.into(),
            severity,
            code: Some(code.into()),
            message: "Undefined name `x`".into(),
            location: Location::Range { file: "a.py".into(), range: Range { start: at(4), end: at(5) } },
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }

    fn pyright(fate: Fate) -> DedupItem {
        DedupItem::new(reported("lsp:basedpyright", "reportUndefinedVariable", Severity::Error, 3), fate)
    }

    fn ruff(fate: Fate) -> DedupItem {
        DedupItem::new(reported("lsp:ruff", "F821", Severity::Error, 3), fate)
    }

    fn fates(complaints: &[Complaint]) -> Vec<Fate> {
        complaints.iter().map(|complaint| complaint.fate).collect()
    }

    #[test]
    fn two_that_agree_are_one_with_both_named_and_more_confidence() {
        let found = after(&[pyright(Fate::New), ruff(Fate::New)]);
        assert_eq!(fates(&found), [Fate::New]);
        assert_eq!(found[0].sources, ["lsp:basedpyright", "lsp:ruff"]);
        assert_eq!(found[0].diagnostic.confidence, Confidence::High);
        let alone = after(&[pyright(Fate::New)]);
        assert_eq!((alone[0].sources.len(), alone[0].diagnostic.confidence), (1, Confidence::Medium));
    }

    #[test]
    fn what_only_one_of_two_has_lost_is_not_fixed() {
        for (other, expected) in [
            (Fate::Fixed, Fate::Fixed),
            (Fate::Stays, Fate::Stays),
            (Fate::Unknown, Fate::Unknown),
            (Fate::Masked, Fate::Masked),
        ] {
            assert_eq!(fates(&before(&[pyright(Fate::Fixed), ruff(other)])), [expected]);
        }
    }

    #[test]
    fn what_another_has_said_all_along_is_not_new_unless_it_is_worse_now() {
        assert_eq!(fates(&after(&[pyright(Fate::New), ruff(Fate::Stays)])), [Fate::Stays]);
        let mut hint = ruff(Fate::Stays);
        hint.diagnostic.severity = Severity::Hint;
        assert_eq!(fates(&after(&[pyright(Fate::New), hint])), [Fate::New]);
        assert_eq!(fates(&after(&[pyright(Fate::Revealed), ruff(Fate::New)])), [Fate::Revealed]);
        let elsewhere = DedupItem::new(reported("lsp:ruff", "F821", Severity::Error, 9), Fate::Stays);
        assert_eq!(fates(&after(&[pyright(Fate::New), elsewhere])), [Fate::New, Fate::Stays]);
    }

    #[test]
    fn a_late_word_that_was_said_already_is_known() {
        let late = || {
            let diagnostic = pyright(Fate::New).diagnostic;
            let symbol = SymbolPath::new("a.py", "f");
            vec![LocatedDiagnostic { sources: vec![diagnostic.source.clone()], diagnostic, symbol, line: 4, column: 5 }]
        };
        let new = |other: Diagnostic| unsaid(late(), &[other]).len();
        assert_eq!(new(ruff(Fate::New).diagnostic), 0);
        assert_eq!(new(reported("lsp:ruff", "F821", Severity::Error, 9)), 1);
        assert_eq!(new(reported("lsp:ruff", "F821", Severity::Hint, 3)), 1, "it was milder then");
    }
}
