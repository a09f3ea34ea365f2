//! Selects the reports in scope that a request is about, and counts the others: nothing is hidden, nothing distracts.

use std::collections::BTreeSet;

use crate::diagnostics::{collect_diagnostics, reported, triage};
use crate::plan::work_mode::Mode;
use crate::state::comparison;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::journal::Journal;
use crate::state::task::{TaskReports, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::{analysis::Analysis, authority, wanted_diagnostics};
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge;
use sextant_diagnostics::model::Severity;
use sextant_model::request_kind::{self, Ask};

/// The reports in scope that a model gets.
#[derive(Debug, Default)]
pub(crate) struct Relevant {
    /// The reports that come first for a fix.
    pub(crate) found: Vec<LocatedDiagnostic>,
    /// The number of reports that a fix may be offered for.
    pub(crate) fixable: usize,
    /// The number of older reports in scope that the request is not about.
    pub(crate) older: usize,
}

/// Words of a request that is no more than a name: `Cart.total in src/shop/cart.py`.
const NAME_WORDS: usize = 6;

/// The wish of a request about the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// To fix them.
    Fix,
    /// It speaks of them.
    Speak,
    /// To fix a failure at run time: an error in the named code may be the reason.
    Run,
    Nothing,
}

/// The reports in scope that the task has introduced, that the request asks to fix, or that it speaks of.
pub(crate) async fn relevant(hub: &DiagnosticsHub, work: &TaskWork) -> Relevant {
    let found = reported::in_scope(hub, &work.intent.analysis.read(&work.scope)).await;
    if hub.needs_providers {
        let narrowed = wanted_diagnostics::wanted(work);
        let split = move || {
            let (found, others) = wanted_diagnostics::split(&narrowed, found);
            (found, merge::count(&others))
        };
        let (found, older) = tokio::task::spawn_blocking(split).await.unwrap_or_default();
        return Relevant { fixable: found.len(), older, found };
    }
    let wish = wish(&work.request, work.mode != Mode::Simple).or_stronger(wish(&work.journal.request, false));
    if wish == Wish::Fix {
        return Relevant { fixable: found.len(), found, older: 0 };
    }
    let brought = brought(hub, &work.reports, &work.journal).await;
    let (mut found, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| brought.contains(&identity(one)));
    let fixable = found.len();
    let about = |one: &LocatedDiagnostic| {
        authority::is_named(&work.request, &one.diagnostic)
            || (wish == Wish::Speak && is_about(&work.intent.analysis, &work.scope, one))
            || (wish == Wish::Run && may_be_why(&work.intent.analysis, one))
    };
    let (more, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(about);
    found.extend(more);
    let older = tokio::task::spawn_blocking(move || merge::count(&others)).await.unwrap_or_default();
    Relevant { older, fixable, found }
}

impl Wish {
    /// The stronger of two.
    fn or_stronger(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fix, _) | (_, Self::Fix) => Self::Fix,
            (Self::Speak, _) | (_, Self::Speak) => Self::Speak,
            (Self::Run, _) | (_, Self::Run) => Self::Run,
            _ => Self::Nothing,
        }
    }
}

fn wish(request: &str, is_step: bool) -> Wish {
    let kind = if is_step { request_kind::classify_step(request) } else { request_kind::classify(request) };
    match kind {
        Ask::Repair | Ask::Work
            if !is_step && request_kind::asks_repair(request) && request_kind::speaks_of_running(request) =>
        {
            Wish::Run
        }
        Ask::Repair => Wish::Fix,
        // A name alone is no objection; further words without a known meaning are one.
        Ask::Unclear if request.split_whitespace().count() <= NAME_WORDS => Wish::Fix,
        _ if request_kind::asks_report_repair(request) => Wish::Fix,
        _ if request_kind::asks_repair(request) || request_kind::speaks_of_reports(request) => Wish::Speak,
        _ => Wish::Nothing,
    }
}

/// In a whole workspace, and outside of the scope, whether the request names the diagnostic, where it names anything.
fn is_about(analysis: &Analysis, scope: &Scope, one: &LocatedDiagnostic) -> bool {
    let names = !(analysis.symbols.is_empty() && analysis.files.is_empty() && analysis.codes.is_empty());
    let is_own = !matches!(scope, Scope::Workspace) && scope.holds(&one.symbol);
    is_own || !names || analysis.bears_on(one)
}

/// True if it is an error of a symbol that the request names.
fn may_be_why(analysis: &Analysis, one: &LocatedDiagnostic) -> bool {
    one.diagnostic.severity == Severity::Error
        && !analysis.symbols.is_empty()
        && Scope::Symbols(analysis.symbols.clone()).holds(&one.symbol)
}

/// The diagnostics that the task has introduced so far, by symbol, message and place.
async fn brought(hub: &DiagnosticsHub, reports: &TaskReports, journal: &Journal) -> BTreeSet<String> {
    if journal.is_empty() {
        return BTreeSet::new();
    }
    let verdict = comparison::compared(&reports.start, &collect_diagnostics::known(hub).await, &[]).await;
    verdict.new.iter().chain(&verdict.revealed).map(identity).collect()
}

/// Two reports of one text may have the same message on two lines.
fn identity(found: &LocatedDiagnostic) -> String {
    format!("{} {} {}", triage::key(found), found.line, found.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_about_reports_where_it_fixes_or_names_them() {
        for request in [
            "fix the errors",
            "make this file type-clean",
            "remove the unused imports",
            "fix f39()",
            "f",
            "fix tests/test_cart.py",
            "fix the unused imports in tests/test_cart.py",
            "fix `test_total`",
            "Cart.total in src/shop/cart.py",
        ] {
            assert_eq!(wish(request, false), Wish::Fix, "{request}");
        }
        for request in ["why is there a type error here?", "explain the warnings"] {
            assert_eq!(wish(request, false), Wish::Speak, "{request}");
        }
        for request in ["test_f in t.py fails. Find out why and repair the code.", "fix the failing test"] {
            assert_eq!(wish(request, false), Wish::Run, "{request}");
        }
        for request in [
            "rename the parameter",
            "why does this fail?",
            "add a docstring to f",
            "write a test for g",
            "In a.py f, g and h repeat the same branches. Put that into one private function and use it in these.",
            "merge f and g, but leave the signatures and the warning of h as they are",
        ] {
            assert_eq!(wish(request, false), Wish::Nothing, "{request}");
        }
    }
}
