//! Reports syntax errors as tree-sitter sees them: at once, without a server, and only that a text does not parse.

use async_trait::async_trait;
use tree_sitter::Node;

use crate::model::{
    Confidence, Diagnostic, DiagnosticsProvider, FileText, Freshness, Location, Reach, Report, Severity,
};
use sextant_base::deadline::Deadline;
use sextant_base::positions::{Encoding, LineIndex};
use sextant_text::symbols::language;

/// The provider's name and the source of its diagnostics.
pub const NAME: &str = "analyzer:syntax";

/// The most diagnostics of one file. A text that does not parse has few causes and many consequences.
const MOST: usize = 10;

/// Characters of source that a message shows.
const SHOWN: usize = 30;

/// True if the provider covers a file.
pub fn covers(path: &str) -> bool {
    language::of_path(path).is_some_and(|language| language.reports_syntax)
}

/// The syntax errors of a text in source order, at most [`MOST`]; `None` without a grammar.
///
/// A grammar may lag behind its language, so each is of medium confidence.
pub fn check(path: &str, text: &str) -> Option<Vec<Diagnostic>> {
    let tree = language::of_path(path).filter(|language| language.reports_syntax)?.tree(text)?;
    let index = LineIndex::new(text);
    let mut found = Vec::new();
    topmost(tree.root_node(), &mut |node| {
        found.push(diagnostic(path, text, &index, node));
        found.len() < MOST
    });
    Some(found)
}

/// A report on a text, exact since it is made from that very text.
pub fn report(path: &str, text: &str, version: Option<i64>, elapsed_ms: u64) -> Option<Report> {
    let diagnostics = check(path, text)?;
    Some(Report {
        provider: NAME.to_owned(),
        file: path.to_owned(),
        diagnostics,
        freshness: Freshness::Exact,
        version,
        wanted_version: version,
        elapsed_ms,
        note: None,
        unasked: None,
    })
}

/// Visits the error nodes that stand in no other, in source order, as long as the visitor wants more. A root that is an
/// error itself only means that there are some inside.
fn topmost<'t>(root: Node<'t>, visit: &mut impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    let mut any = false;
    'walk: loop {
        let node = cursor.node();
        let is_root = node.id() == root.id();
        let here = (node.is_error() || node.is_missing()) && !is_root;
        if here {
            any = true;
            if !visit(node) {
                return;
            }
        }
        if !here && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    if !any && root.has_error() {
        visit(root);
    }
}

fn diagnostic(path: &str, text: &str, index: &LineIndex, node: Node) -> Diagnostic {
    let bytes = node.byte_range();
    // A syntax error can reach far; it begins at the place where a reader has to look.
    let line_end = index.line_range(text, index.line_of(bytes.start)).end;
    let bytes = bytes.start..bytes.end.min(line_end).max(bytes.start);
    let message = if node.is_missing() {
        format!("syntax error: `{}` is missing here", node.kind())
    } else {
        let shown: String = text[bytes.clone()].trim().chars().filter(|c| !c.is_control()).take(SHOWN).collect();
        if shown.is_empty() { "syntax error".to_owned() } else { format!("syntax error at `{shown}`") }
    };
    Diagnostic {
        source: NAME.to_owned(),
        severity: Severity::Error,
        code: Some("syntax-error".to_owned()),
        message,
        location: Location::Range { file: path.to_owned(), range: index.range(text, bytes, Encoding::Utf16) },
        confidence: Confidence::Medium,
        suggested_action: None,
        evidence: Some("tree-sitter".to_owned()),
    }
}

/// The provider over every language that has a grammar.
#[derive(Debug)]
pub struct Syntax {
    languages: Vec<String>,
}

impl Default for Syntax {
    fn default() -> Self {
        Self {
            languages: language::LANGUAGES
                .iter()
                .filter(|language| language.reports_syntax)
                .map(|language| language.name.to_owned())
                .collect(),
        }
    }
}

#[async_trait]
impl DiagnosticsProvider for Syntax {
    fn name(&self) -> &str {
        NAME
    }

    fn languages(&self) -> &[String] {
        &self.languages
    }

    fn reach(&self) -> Reach {
        Reach::File
    }

    async fn fetch(&self, files: &[FileText], deadline: Deadline) -> Vec<Report> {
        files.iter().filter_map(|file| report(&file.path, &file.text, None, deadline.elapsed_ms())).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(text: &str) -> Vec<(u32, u32, String)> {
        let found = check("a.py", text).expect("a grammar");
        let place = |d: &Diagnostic| d.location.range().expect("a range").start;
        found.iter().map(|d| (place(d).line, place(d).character, d.message.clone())).collect()
    }

    #[test]
    fn one_diagnostic_for_each_topmost_error() {
        for (text, expected) in [
            ("x = 1\n", vec![]),
            ("", vec![]),
            ("def f(:\n    pass\n", vec![(0, 6, "syntax error: `)` is missing here")]),
            ("s = '😀'; x = = 1\n", vec![(0, 14, "syntax error at `=`")]),
            ("f(1\n", vec![(0, 0, "syntax error at `f(1`")]),
        ] {
            let found = seen(text);
            let expected: Vec<_> =
                expected.into_iter().map(|(l, c, m): (u32, u32, &str)| (l, c, m.to_owned())).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn they_are_few_and_no_claim_is_strong() {
        let text = "x = = 1\ny = 2\n".repeat(50);
        let found = check("a.py", &text).expect("a grammar");
        assert_eq!(found.len(), MOST);
        assert!(
            found.iter().all(|d| d.confidence == Confidence::Medium && d.evidence.as_deref() == Some("tree-sitter"))
        );
        assert!(check("a.unknown", "x").is_none());
    }

    proptest! {
        #[test]
        fn a_text_has_errors_exactly_where_the_tree_has_some(text in "[a-c=():\\[\\] \n'😀]{0,40}") {
            let tree = language::of_path("a.py").and_then(|l| l.tree(&text)).expect("a tree");
            let found = check("a.py", &text).expect("a grammar");
            prop_assert_eq!(found.is_empty(), !tree.root_node().has_error());
            let index = LineIndex::new(&text);
            for d in &found {
                let range = d.location.range().expect("a range");
                prop_assert!((range.start.line as usize) < index.line_count() && range.start <= range.end);
            }
        }
    }
}
