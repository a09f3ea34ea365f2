//! Writes the answer as lines: for a reader, and for an editor's quickfix list.

use crate::cli::diff::collect_side::short;
use crate::cli::diff::compare::{ComparedDiagnostic, ComparedState, Comparison};
use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_diagnostics::model::Severity;
use sextant_diagnostics::render_located;

/// The number of files that are named out of many.
const NAMED: usize = 3;

/// Grouped by file, one line a diagnostic with its symbol first; the sums last.
pub(super) fn text(found: &Comparison) -> String {
    let mut out = Vec::new();
    let mut file = None;
    for entry in found.entries.iter().filter(|entry| entry.state != ComparedState::Unchanged) {
        if file != Some(entry.file()) {
            file = Some(entry.file());
            out.push(if entry.file().is_empty() { "(project)".to_owned() } else { clean(entry.file()) });
        }
        out.push(format!("  {}", line(entry)));
    }
    if !out.is_empty() {
        out.push(String::new());
    }
    out.push(sums(found));
    if found.unconfirmed > 0 {
        let what = counted(found.unconfirmed, "difference");
        out.push(format!("left out: {what} in files that did not change, which another run did not show"));
    }
    out.extend(unknown(found).into_iter().map(|what| format!("not known: {what}")));
    out.join("\n")
}

/// The sums in one line: `HEAD~1 → working tree: 2 new (1 error, 1 warning), …`.
fn sums(found: &Comparison) -> String {
    let new: Vec<String> = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint]
        .into_iter()
        .filter_map(|severity| {
            let is_it = |entry: &&ComparedDiagnostic| entry.state == ComparedState::New && entry.severity() == severity;
            let count = found.entries.iter().filter(is_it).count();
            (count > 0).then(|| counted(count, &severity.to_string()))
        })
        .collect();
    let new = if new.is_empty() { String::new() } else { format!(" ({})", new.join(", ")) };
    let rest: Vec<String> = ComparedState::ALL[1..]
        .iter()
        .map(|state| (found.count(*state), state))
        .filter(|(count, state)| *count > 0 || matches!(state, ComparedState::Fixed | ComparedState::Unchanged))
        .map(|(count, state)| format!("{count} {}", state.name()))
        .collect();
    let by: Vec<&str> = found.providers.iter().map(|provider| short(provider)).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    format!(
        "{} → {}: {} new{new}, {} ({} checked{by}, {} of them changed)",
        clean(&found.before.name),
        clean(found.after_name()),
        found.count(ComparedState::New),
        rest.join(", "),
        counted(found.checked, "file"),
        found.changed,
    )
}

/// The requested results that are not known, a sentence each.
pub(super) fn unknown(found: &Comparison) -> Vec<String> {
    let silent = found.silent.iter().map(|silent| {
        let what = if silent.guess { "answered without a proof" } else { "did not answer" };
        let names: Vec<String> = silent.files.iter().take(NAMED).map(|file| clean(file)).collect();
        let more = silent.files.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (who, side, why) = (short(&silent.provider), clean(&silent.side), clean(&silent.why));
        format!("{who} {what} for {}{more} in {side}: {why}", names.join(", "))
    });
    silent.chain(found.gaps.iter().map(|gap| clean(gap))).collect()
}

/// The new diagnostics as `file:line:col: severity: symbol: message [code]`; Vim reads it with
/// `%f:%l:%c: %t%*[^:]: %m`. Columns are bytes, from 1.
pub(super) fn errorformat(found: &Comparison) -> String {
    let new = found.entries.iter().filter(|entry| entry.state == ComparedState::New);
    let lines: Vec<String> = new.map(|entry| render_located::errorformat(&entry.found)).collect();
    lines.join("\n")
}

/// `Cart::total: new error: Type "str" is … [reportReturnType] basedpyright, line 42`.
fn line(entry: &ComparedDiagnostic) -> String {
    let severity = match entry.was.as_ref().map(|was| was.diagnostic.severity) {
        Some(was) if was != entry.severity() => format!("{} (was {was})", entry.severity()),
        _ => entry.severity().to_string(),
    };
    let gone = matches!(entry.state, ComparedState::Masked | ComparedState::Fixed);
    let state = format!("{} {severity}", entry.state.name());
    render_located::compared(&entry.found, &state, short(&entry.found.diagnostic.source), gone)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::diff::collect_side::Silent;
    use crate::cli::diff::revisions::Revision;
    use sextant_diagnostics::located::LocatedDiagnostic;
    use sextant_diagnostics::model::{Confidence, Diagnostic, Location};
    use sextant_text::symbols::symbol_path::SymbolPath;

    fn found(file: &str, names: &str, line: u32, severity: Severity, message: &str) -> LocatedDiagnostic {
        LocatedDiagnostic {
            diagnostic: Diagnostic {
                source: "lsp:basedpyright".into(),
                severity,
                code: Some("reportX".into()),
                message: message.into(),
                location: Location::File { file: file.into() },
                confidence: Confidence::Medium,
                suggested_action: None,
                evidence: None,
            },
            sources: vec!["lsp:basedpyright".into()],
            symbol: SymbolPath::new(file, names),
            line,
            column: 5,
        }
    }

    /// A comparison with something in every state.
    pub(crate) fn sample() -> Comparison {
        let entry = |state, found, was| ComparedDiagnostic { state, found, was };
        let warning = found("a b.py", "f", 3, Severity::Warning, "old words");
        let entries = vec![
            entry(ComparedState::New, found("a b.py", "Cart::total", 42, Severity::Error, "bad\n  in detail"), None),
            entry(ComparedState::Updated, found("a b.py", "f", 4, Severity::Error, "new words"), Some(warning.clone())),
            entry(ComparedState::Fixed, found("a b.py", "", 1, Severity::Warning, "un\u{1b}used"), None),
            entry(ComparedState::Unchanged, warning.clone(), Some(warning)),
        ];
        Comparison {
            before: Revision { name: "HEAD~1".into(), commit: "1234".into() },
            after: None,
            entries,
            providers: vec!["lsp:basedpyright".into()],
            silent: Vec::new(),
            gaps: Vec::new(),
            unconfirmed: 0,
            checked: 1,
            changed: 1,
        }
    }

    #[test]
    fn one_line_a_diagnostic_with_its_symbol_first() {
        let expected = "a b.py\n\
            \x20 Cart::total: new error: bad [reportX] basedpyright, line 42\n\
            \x20 f: updated error (was warning): new words [reportX] basedpyright, line 4\n\
            \x20 a b.py: fixed warning: un used [reportX] basedpyright, was line 1\n\
            \n\
            HEAD~1 → working tree: 1 new (1 error), 1 updated, 1 fixed, 1 unchanged \
            (1 file checked by basedpyright, 1 of them changed)";
        assert_eq!(text(&sample()), expected);
    }

    #[test]
    fn only_what_is_new_goes_to_the_quickfix_list() {
        assert_eq!(errorformat(&sample()), "a b.py:42:5: error: Cart::total: bad [reportX]");
    }

    #[test]
    fn who_did_not_answer_is_named() {
        let files = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let silent = |guess| Silent {
            provider: "lsp:ruff".into(),
            side: "HEAD".into(),
            why: "dead".into(),
            guess,
            files: files.clone(),
        };
        let found = Comparison { silent: vec![silent(false)], gaps: vec!["too many".into()], ..sample() };
        assert!(found.is_partial() && !sample().is_partial());
        assert!(
            text(&found).ends_with(
                "\nnot known: ruff did not answer for a, b, c and 1 more in HEAD: dead\nnot known: too many"
            )
        );
        let found = Comparison { silent: vec![silent(true)], ..sample() };
        assert!(unknown(&found)[0].starts_with("ruff answered without a proof for "));
    }
}
