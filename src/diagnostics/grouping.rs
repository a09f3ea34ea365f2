//! Groups many diagnostics by symbol or by theme, each group with one line that sums it up.

use std::collections::BTreeMap;

use crate::code_aliases::label;
use crate::merge::Placed;
use crate::model::Severity;
use sextant_base::plural::counted;

/// Names of themes or symbols in one summary; the rest is a number.
const NAMED: usize = 3;

/// Characters of a label; a masked message can be long.
const LABEL: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticGroup {
    /// A symbol path, or a theme.
    pub key: String,
    /// Indices, in their order.
    pub members: Vec<usize>,
    pub worst: Severity,
    /// `src/cart.py::Cart::total: 2 errors, 1 warning (undefined name, unused import)`.
    pub summary: String,
}

/// The groups of each symbol; those with the worst diagnostics first, then the largest, then by name.
pub fn by_symbol(items: &[Placed]) -> Vec<DiagnosticGroup> {
    group(items, |item| item.symbol.to_string(), |item| short(&label(item.diagnostic)))
}

/// The groups of each theme, as [`by_symbol`].
pub fn by_theme(items: &[Placed]) -> Vec<DiagnosticGroup> {
    group(items, |item| short(&label(item.diagnostic)), |item| item.symbol.to_string())
}

/// At most `most` lines; the last one is a number if there are more groups.
pub fn lines(groups: &[DiagnosticGroup], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = groups.iter().take(most).map(|group| group.summary.clone()).collect();
    let (rest, count) = groups.iter().skip(most).fold((0, 0), |(n, count), group| (n + 1, count + group.members.len()));
    if rest > 0 {
        lines.push(format!("and {count} more in {}", counted(rest, "group")));
    }
    lines
}

fn group(
    items: &[Placed],
    key: impl Fn(&Placed) -> String,
    detail: impl Fn(&Placed) -> String,
) -> Vec<DiagnosticGroup> {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        members.entry(key(item)).or_default().push(index);
    }
    let mut groups: Vec<DiagnosticGroup> = members
        .into_iter()
        .map(|(key, members)| {
            let worst = members.iter().map(|index| items[*index].diagnostic.severity).min().unwrap_or(Severity::Hint);
            let summary = format!("{key}: {} ({})", counts(items, &members), details(items, &members, &detail));
            DiagnosticGroup { key, members, worst, summary }
        })
        .collect();
    groups.sort_by(|a, b| (a.worst, b.members.len(), &a.key).cmp(&(b.worst, a.members.len(), &b.key)));
    groups
}

/// `2 errors, 1 warning`.
fn counts(items: &[Placed], members: &[usize]) -> String {
    let mut by_severity: BTreeMap<Severity, usize> = BTreeMap::new();
    for index in members {
        *by_severity.entry(items[*index].diagnostic.severity).or_default() += 1;
    }
    let word =
        |(severity, count): (Severity, usize)| format!("{count} {severity}{}", if count == 1 { "" } else { "s" });
    by_severity.into_iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The most frequent details.
fn details(items: &[Placed], members: &[usize], detail: &impl Fn(&Placed) -> String) -> String {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for index in members {
        *seen.entry(detail(&items[*index])).or_default() += 1;
    }
    let mut seen: Vec<(String, usize)> = seen.into_iter().collect();
    seen.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    let mut names: Vec<String> = seen.iter().take(NAMED).map(|(name, _)| name.clone()).collect();
    if seen.len() > NAMED {
        names.push(format!("{} more", seen.len() - NAMED));
    }
    names.join(", ")
}

fn short(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).take(LABEL).collect();
    if clean.is_empty() { "without a message".to_owned() } else { clean }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Confidence, Diagnostic, Location};
    use sextant_text::symbols::symbol_path::SymbolPath;

    fn diag(severity: Severity, code: &str) -> Diagnostic {
        Diagnostic {
            source: "lsp:x".into(),
            severity,
            code: (!code.is_empty()).then(|| code.into()),
            message: "line 3 is \"long\"\nand more".into(),
            location: Location::Project,
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }

    fn with<T>(list: &[(Severity, &str, &str)], work: impl Fn(&[Placed]) -> T) -> T {
        let owned: Vec<(Diagnostic, SymbolPath)> =
            list.iter().map(|(s, code, names)| (diag(*s, code), SymbolPath::new("a.py", *names))).collect();
        let items: Vec<Placed> = owned.iter().map(|(diagnostic, symbol)| Placed { diagnostic, symbol }).collect();
        work(&items)
    }

    #[test]
    fn groups_are_summed_up_in_a_line_worst_first() {
        let list = [
            (Severity::Warning, "F401", ""),
            (Severity::Warning, "F401", ""),
            (Severity::Error, "F821", "f"),
            (Severity::Warning, "X9", "f"),
            (Severity::Hint, "", "g"),
        ];
        let symbols: Vec<String> = with(&list, by_symbol).into_iter().map(|group| group.summary).collect();
        assert_eq!(
            symbols,
            [
                "a.py::f: 1 error, 1 warning (X9, undefined name)",
                "a.py: 2 warnings (unused import)",
                "a.py::g: 1 hint (line # is \")",
            ]
        );
        let themes: Vec<String> = with(&list, by_theme).into_iter().map(|group| group.summary).collect();
        assert_eq!(themes[..2], ["undefined name: 1 error (a.py::f)", "unused import: 2 warnings (a.py)"]);
        assert_eq!(with(&list, |items| lines(&by_symbol(items), 1))[1], "and 3 more in 2 groups");
    }

    #[test]
    fn few_names_and_the_rest_as_a_number() {
        let list: Vec<(Severity, &str, &str)> =
            ["A1", "A2", "A3", "A4", "A5"].iter().map(|code| (Severity::Error, *code, "f")).collect();
        assert_eq!(with(&list, by_symbol)[0].summary, "a.py::f: 5 errors (A1, A2, A3, 2 more)");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_reported_twice(picks in proptest::collection::vec((0usize..3, 0usize..3), 0..30)) {
            let list: Vec<(Severity, &str, &str)> =
                picks.iter().map(|(c, n)| (Severity::Error, ["F821", "X", ""][*c], ["f", "g", ""][*n])).collect();
            for groups in [with(&list, by_symbol), with(&list, by_theme)] {
                let mut all: Vec<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
                all.sort_unstable();
                prop_assert_eq!(all, (0..list.len()).collect::<Vec<_>>());
                prop_assert!(groups.iter().all(|group| !group.summary.contains('\n')));
            }
        }
    }
}
