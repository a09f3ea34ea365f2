//! The symbols that an edit has changed, or inserted, by name.

use crate::state::edit_request::EditRequest;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::offset_after;
use sextant_text::edits::hunks::hunks as lines_of;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The symbols that hold the text an edit changes, as full paths; the file for its module level. Text inserted beside a
/// symbol counts as its own symbol, and not as that one.
pub(crate) fn touched(want: &EditRequest) -> Vec<String> {
    let EditRequest::Change { document, hunks, .. } = want else { return vec![want.path().to_owned()] };
    let Some(language) = language::of_path(&document.path) else { return vec![document.path.clone()] };
    let outline = Outline::parse(language, &document.text);
    let after = want.after().map(|text| Outline::parse(language, text)).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    let mut name = |symbol: String| {
        let name = SymbolPath::new(&document.path, symbol).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for hunk in hunks {
        let new = put_there(&outline, &after, hunks, hunk);
        if !new.is_empty() {
            new.into_iter().for_each(&mut name);
            continue;
        }
        // One edit may reach over several symbols: its lines count, not its edges.
        for part in lines_of(&document.text[hunk.range.clone()], &hunk.text) {
            let at = hunk.range.start + part.range.start;
            name(outline.at(at).map(|symbol| outline.path_of(symbol)).unwrap_or_default());
        }
    }
    names
}

/// The insertions of an edit that only inserts: the outermost new symbols and, where there are some, the symbols that
/// hold its other lines.
fn put_there(before: &Outline, after: &Outline, hunks: &[TextEdit], hunk: &TextEdit) -> Vec<String> {
    if !hunk.range.is_empty() {
        return Vec::new();
    }
    let old: Vec<usize> = before.symbols.iter().map(|symbol| offset_after(symbol.name_range.start, hunks)).collect();
    let shift: isize = hunks
        .iter()
        .filter(|other| other.range.start < hunk.range.start)
        .map(|other| other.text.len() as isize - other.range.len() as isize)
        .sum();
    let start = hunk.range.start.saturating_add_signed(shift);
    let inserted = start..start + hunk.text.len();
    let is_new = |index: usize| {
        let name = &after.symbols[index].name_range;
        inserted.contains(&name.start) && !old.contains(&name.start)
    };
    let outermost = |index: &usize| is_new(*index) && !after.symbols[*index].parent.is_some_and(is_new);
    let new: Vec<usize> = (0..after.symbols.len()).filter(outermost).collect();
    let mut names: Vec<String> = Vec::new();
    let mut at = start;
    for line in hunk.text.split_inclusive('\n').filter(|_| !new.is_empty()) {
        let first = at + line.len() - line.trim_start().len();
        at += line.len();
        let holds = |index: &&usize| after.symbols[**index].extent.contains(&first);
        if !line.trim().is_empty() {
            let holder = new.iter().find(holds).copied().or_else(|| after.at(first));
            names.push(holder.map(|index| after.path_of(index)).unwrap_or_default());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Document;

    fn of(text: &str, hunks: &[(usize, usize, &str)]) -> Vec<String> {
        let document =
            Document { path: "a.py".into(), text: text.into(), version: 0, exists: true, unsaved: false, locked: None };
        let hunks = hunks.iter().map(|(from, to, new)| TextEdit::new(*from..*to, *new)).collect();
        touched(&EditRequest::change(document, hunks, true))
    }

    #[test]
    fn what_is_put_beside_a_symbol_is_named_and_not_that_symbol() {
        let text = "class A:\n    def f(self):\n        return 1\n\n\ndef g():\n    return 2\n";
        let behind_f = text.find("\n\n\ndef g").unwrap();
        let method = "\n\n    def h(self):\n        return 3";
        assert_eq!(of(text, &[(behind_f, behind_f, method)]), ["a.py::A::h"]);
        let before_g = text.find("def g").unwrap();
        assert_eq!(of(text, &[(before_g, before_g, "def k():\n    return 4\n\n\n")]), ["a.py::k"]);
        let two = [(behind_f, behind_f, method), (text.len(), text.len(), "\n\nclass B:\n    def f(self): ...\n")];
        assert_eq!(of(text, &two), ["a.py::A::h", "a.py::B"]);
    }

    #[test]
    fn what_is_put_into_a_symbol_changes_that_symbol() {
        let text = "def g():\n    return 2\n";
        let body = text.find("    return").unwrap();
        assert_eq!(of(text, &[(body, body, "    x = 1\n")]), ["a.py::g"]);
        assert_eq!(of(text, &[(body, text.len(), "    return 3\n")]), ["a.py::g"]);
        let both = "    return 3\n\n\ndef k():\n    return 4\n";
        assert_eq!(of(text, &[(text.len(), text.len(), both)]), ["a.py::g", "a.py::k"], "with a new one behind it");
        let method = "class A:\n    x = 1\n";
        let inside = "    y = 2\n\n    def f(self):\n        return 1\n";
        assert_eq!(of(method, &[(method.len(), method.len(), inside)]), ["a.py::A", "a.py::A::f"]);
        let module = "\n\ndef k():\n    return 4\n\n\nK = k()\n";
        assert_eq!(of(text, &[(text.len(), text.len(), module)]), ["a.py::k", "a.py"]);
    }
}
