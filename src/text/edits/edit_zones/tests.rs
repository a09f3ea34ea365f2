//! Changes outside of a scope, and changes that only look so.

use crate::edits::edit_zones::*;
use crate::edits::hunks::hunks;
use crate::symbols::language;

const TEXT: &str = "\
import os


def a():
    return 1  # one


def b():
    return 2


class C:
    def m(self):
        pass

    def n(self):
        pass
";

/// Checks the edit of `TEXT` that replaces `old` by `new`.
fn change(scope: &[&str], old: &str, new: &str) -> Result<(), ScopeError> {
    assert_eq!(TEXT.matches(old).count(), 1, "{old}");
    let outline = outline();
    let scope = match scope {
        ["module"] => EditScope::Module,
        names => EditScope::Symbols(names.iter().map(|name| outline.find(name).unwrap()).collect()),
    };
    let at = TEXT.find(old).unwrap();
    let whole = check(TEXT, &outline, &scope, &[TextEdit::new(at..at + old.len(), new)]);
    let by_hunks = check(TEXT, &outline, &scope, &hunks(TEXT, &TEXT.replace(old, new)));
    assert_eq!(whole.is_ok(), by_hunks.is_ok(), "however the edit is written: {whole:?} {by_hunks:?}");
    whole
}

fn outline() -> Outline {
    Outline::parse(language::of_path("a.py").unwrap(), TEXT)
}

#[test]
fn inside_is_fine_with_the_rest_of_its_lines() {
    change(&["a"], "return 1", "return 3").unwrap();
    change(&["a"], "  # one", "").unwrap();
    change(&["a", "b"], "return 2", "return 3").unwrap();
    change(&["C"], "def n(self)", "def n(self, x)").unwrap();
    change(&["a"], "def a():\n    return 1  # one\n\n\n", "").unwrap();
    change(&["a"], "def a():", "@dec\ndef a():").unwrap();
    change(&["a"], "# one\n", "# one\n\n\ndef more():\n    return 1\n").unwrap();
    change(&["b"], "def b", "def more():\n    return 2\n\n\ndef b").unwrap();
    change(&["m"], "        pass\n\n", "        pass\n\n    def more(self):\n        pass\n\n").unwrap();
}

#[test]
fn outside_is_refused_and_named() {
    let error = change(&["a"], "return 2", "return 3").unwrap_err();
    assert_eq!(error, ScopeError::Outside { line: 9, text: "return 2".into(), symbol: Some("b".into()) });
    // The caller may have named that symbol: the way out is the scope's.
    assert_eq!(error.to_string(), "the edit reaches outside its scope on line 9 (`return 2`, in b)");
    let error = change(&["a"], "import os", "import sys").unwrap_err();
    assert!(error.to_string().contains("line 1 (`import os`, module level)"), "{error}");
    let error = change(&["m"], "def n(self)", "def n(self, x)").unwrap_err();
    assert!(matches!(error, ScopeError::Outside { line: 16, .. }), "{error}");
    let error = change(&["a"], "# one\n\n\ndef b", "# one\n\n\ndef c").unwrap_err();
    assert!(matches!(error, ScopeError::Outside { line: 8, .. }), "{error}");
    change(&["a"], "return 1  # one\n\n\ndef b():\n    return 2", "return 2").unwrap_err();
    change(&["a"], "class C:", "x = 1\n\n\nclass C:").unwrap_err();
    change(&["a"], "  # one\n", "  # one\n\n\n@cache\n").unwrap_err();
}

#[test]
fn an_edit_that_only_quotes_what_is_outside_is_inside() {
    change(&["a"], "import os\n\n\ndef a():\n    return 1", "import os\n\n\ndef a():\n    return 3").unwrap();
}

#[test]
fn module_level_is_what_no_symbol_holds() {
    change(&["module"], "import os", "import os\nimport sys").unwrap();
    change(&["module"], "\n\n\nclass C:", "\n\n\nX = 1\n\n\nclass C:").unwrap();
    let error = change(&["module"], "return 2", "return 3").unwrap_err();
    assert!(matches!(error, ScopeError::Outside { line: 9, .. }), "{error}");
    change(&["module"], "    def n(self):\n        pass\n", "    def n(self):\n        pass\n\n\nX = 1\n").unwrap();
    for (old, new) in [("return 2", "return 20"), ("def b", "async def b"), ("def b", "@x\ndef b"), ("  # one", "")] {
        let error = change(&["module"], old, new).unwrap_err();
        assert!(matches!(error, ScopeError::Outside { .. }), "{old}");
    }
    let tight = "def a(): ...\ndef b(): ...\n";
    let parsed = Outline::parse(language::of_path("a.py").unwrap(), tight);
    for at in [12, 13] {
        let new = if at == 12 { "\nX = 1" } else { "X = 1\n" };
        check(tight, &parsed, &EditScope::Module, &[TextEdit::new(at..at, new)]).unwrap();
        check(tight, &parsed, &EditScope::Module, &[TextEdit::new(at..at, "X")]).unwrap_err();
    }
    let open = TEXT.trim_end();
    let append = |new| check(open, &outline(), &EditScope::Module, &[TextEdit::new(open.len()..open.len(), new)]);
    append("\n\n\nX = 1").unwrap();
    append("_not").unwrap_err();
    check(TEXT, &outline(), &EditScope::File, &[TextEdit::new(0..TEXT.len(), "")]).unwrap();
}

#[test]
fn edits_that_do_not_fit_the_text_are_errors() {
    let error = check(TEXT, &outline(), &EditScope::File, &[TextEdit::new(0..9999, "")]).unwrap_err();
    assert!(matches!(error, ScopeError::Apply(_)));
}
