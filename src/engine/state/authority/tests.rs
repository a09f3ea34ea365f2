//! Covers the loss of symbols by an edit, the permissions in words, and whose word counts.

use crate::editor::Document;
use crate::state::authority::*;
use sextant_base::positions::{Position, Range};
use sextant_diagnostics::model::{Confidence, Location, Severity};
use sextant_text::edits::hunks::hunks;

const CART: &str = "\
class Cart:
    def total(self):
        def inner():
            return 1
        return inner()

    def count(self):
        return 2


def helper():
    return 3
";

fn change(path: &str, before: &str, after: &str) -> EditRequest {
    let document =
        Document { path: path.into(), text: before.into(), version: 1, exists: true, unsaved: false, locked: None };
    EditRequest::change(document, hunks(before, after), true)
}

fn names(lost: &[SymbolPath]) -> Vec<String> {
    lost.iter().map(ToString::to_string).collect()
}

fn lost_by(after: &str) -> Vec<String> {
    names(&lost(&[change("cart.py", CART, after)]))
}

#[test]
fn a_symbol_that_is_there_no_longer_is_lost_and_one_that_has_another_name_or_place_is_not() {
    let helper = "\n\ndef helper():\n    return 3\n";
    assert_eq!(lost_by(&CART.replace(helper, "")), ["cart.py::helper"]);
    assert_eq!(lost_by(&CART.replace("def helper", "def assistant")), Vec::<String>::new(), "renamed");
    assert_eq!(lost_by("def helper():\n    return 3\n"), ["cart.py::Cart"], "the outermost only");
    assert_eq!(lost_by(""), ["cart.py::Cart", "cart.py::helper"]);
    let inlined =
        CART.replace("        def inner():\n            return 1\n        return inner()", "        return 1");
    assert_eq!(lost_by(&inlined), Vec::<String>::new(), "what is in a function is its own affair");
    let broken = CART.replace("def helper():", "def helper(:");
    assert_eq!(lost_by(&broken), Vec::<String>::new(), "what does not parse is not lost");
    let moved = [
        change("cart.py", CART, &CART.replace(helper, "")),
        EditRequest::Create { path: "help.py".into(), text: "def helper():\n    return 3\n".into() },
    ];
    assert_eq!(lost(&moved), [], "moved in one edit");
    for file in ["notes.txt", "Makefile"] {
        assert_eq!(lost(&[change(file, "words\n", "")]), [SymbolPath::new(file, "")]);
        assert_eq!(lost(&[change(file, "words\n", "word\n")]), []);
    }
}

#[test]
fn words_allow_what_they_name_and_what_they_speak_of_without_a_name() {
    let symbols = |names: &[&str]| Scope::Symbols(names.iter().map(|name| SymbolPath::new("cart.py", *name)).collect());
    let both = symbols(&["helper", "Cart::total"]);
    for (words, symbol, expected) in [
        ("Delete `helper`. Expected after it: nothing new", "cart.py::helper", true),
        ("Delete `helper`, adapt total", "cart.py::helper", true),
        ("Delete helper from Cart::total", "cart.py::Cart::total", false),
        ("Remove the unused variable in helper", "cart.py::helper", false),
        ("Remove the dead code", "cart.py::helper", true),
        ("Remove the dead code", "cart.py::Cart::count", false),
        ("Make total return a number", "cart.py::Cart::total", false),
        ("Elimina la función helper", "cart.py::helper", true),
        ("delete `impl Debug for Cart` from cart.rs", "cart.rs::impl Debug for Cart", true),
        ("describe `impl Debug for Cart`", "cart.rs::impl Debug for Cart", false),
        ("delete the section `Use it from a shell`", "a.md::`Use it from a shell`", true),
    ] {
        assert_eq!(says(words, &SymbolPath::parse(symbol), &both), expected, "{words}: {symbol}");
    }
    // A name without a dot is a file all the same.
    for file in ["notes.txt", "Makefile"].map(|name| SymbolPath::new(name, "")) {
        assert!(says("empty it: delete the file", &file, &Scope::Workspace), "{file}");
        assert!(!says("fix the typing errors", &file, &Scope::Workspace), "{file}");
    }
}

#[test]
fn what_the_user_asks_for_is_asked_for_and_what_is_reported_is_fixed() {
    for (mode, request, offline, expected) in [
        (Mode::Simple, "simplify helper", false, Basis::Asked),
        (Mode::Simple, "delete helper", false, Basis::Asked),
        (Mode::Simple, "fix the errors", false, Basis::Reported),
        (Mode::Simple, "simplify helper", true, Basis::Reported),
        (Mode::Planner, "delete helper", false, Basis::Approved),
        (Mode::Supervised, "delete helper", false, Basis::Approved),
    ] {
        assert_eq!(basis(mode, request, offline), expected, "{request}");
    }
}

#[test]
fn a_step_that_lacks_a_word_is_asked_about_and_one_that_found_another_way_is_not() {
    let mut consent = Consent::default();
    assert_eq!(consent.question(1, "Fix total", StepState::Failed, 3), None);
    consent.withheld.insert("cart.py::helper".into());
    let question = consent.question(1, "Fix total", StepState::Failed, 3).expect("a question");
    assert!(question.text.starts_with("Step 2 (“Fix total”) would delete cart.py::helper"), "{}", question.text);
    assert_eq!(
        (question.step, question.mark, question.allows.as_slice()),
        (1, 3, ["cart.py::helper".to_owned()].as_slice())
    );
    assert_eq!(consent.question(1, "Fix total", StepState::Done, 3), None);
}

#[test]
fn a_kind_is_named_by_its_code_or_its_theme() {
    let place = Position { line: 0, character: 0 };
    let diagnostic = Diagnostic {
        source: "lsp:ruff".into(),
        severity: Severity::Warning,
        code: Some("F401".into()),
        message: "`os` imported but unused".into(),
        location: Location::Range { file: "a.py".into(), range: Range { start: place, end: place } },
        confidence: Confidence::High,
        suggested_action: None,
        evidence: None,
    };
    for (request, expected) in
        [("fix the unused imports", true), ("fix f401", true), ("fix all errors", false), ("fix the imports", false)]
    {
        assert_eq!(names_a_kind(request, &[&diagnostic]), expected, "{request}");
    }
}

#[test]
fn what_the_task_has_put_into_another_file_is_moved_and_not_lost() {
    use crate::state::journal::{Checkpoint, FileChange};

    let put = |path: &str, before: Option<&str>, after: &str| FileChange {
        path: path.into(),
        before: before.map(Into::into),
        after: Some(after.into()),
        marks_before: serde_json::Value::Null,
        marks_after: serde_json::Value::Null,
    };
    let journal = |change| Journal {
        checkpoints: vec![Checkpoint { files: vec![change], ..Checkpoint::default() }],
        ..Journal::default()
    };
    let lost = &SymbolPath::new("cart.py", "helper");
    assert!(put_elsewhere(&journal(put("other.py", Some(""), "def helper(): ...\n")), lost));
    assert!(put_elsewhere(&journal(put("new.py", None, "def helper(): ...\n")), lost));
    let was_there = put("other.py", Some("def helper(): ...\n"), "def helper(): ...\nx = 1\n");
    assert!(!put_elsewhere(&journal(was_there), lost), "it was there before");
    assert!(!put_elsewhere(&journal(put("cart.py", Some(""), "def helper(): ...\n")), lost), "the same file");
}
