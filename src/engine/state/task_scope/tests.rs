//! Covers the scope of a cursor, the reach of an edit, and the scope after it.

use crate::editor::Document;
use crate::state::task_scope::*;
use sextant_text::edits::TextEdit;
use sextant_text::edits::hunks::hunks;

const CART: &str = "\
import os

class Cart:
    def total(self):
        return 1

    def count(self):
        return 2
";

fn want(after: &str) -> EditRequest {
    let document =
        Document { path: "cart.py".into(), text: CART.into(), version: 1, exists: true, unsaved: false, locked: None };
    EditRequest::change(document, hunks(CART, after), true)
}

fn names(scope: &Scope) -> Vec<String> {
    scope.names()
}

#[test]
fn cursor_and_range_choose_the_innermost_symbol_around_them() {
    assert_eq!(names(&Scope::at("cart.py", CART, 4, 4)), ["cart.py::Cart::total"]);
    assert_eq!(names(&Scope::at("cart.py", CART, 4, 8)), ["cart.py::Cart"]);
    assert_eq!(names(&Scope::at("cart.py", CART, 1, 1)), ["cart.py"]);
    assert_eq!(names(&Scope::at("cart.py", CART, 1, 5)), ["cart.py"]);
    assert_eq!(names(&Scope::at("notes.txt", "x", 1, 1)), ["notes.txt"]);
}

#[test]
fn an_edit_outside_is_refused_and_one_inside_is_not() {
    let scope = Scope::at("cart.py", CART, 4, 4);
    assert!(scope.check(&want(&CART.replace("return 1", "return 10"))).is_ok());
    let failure = scope.check(&want(&CART.replace("return 2", "return 20"))).expect_err("outside");
    assert!(failure.message.contains("Cart::count"), "{failure}");
    let module = Scope::Symbols(vec![SymbolPath::new("cart.py", "")]);
    assert!(module.check(&want(&CART.replace("import os\n", ""))).is_ok());
    assert!(module.check(&want(&CART.replace("return 2", "return 20"))).is_err());
    assert!(Scope::Files(vec!["other.py".into()]).check(&want("")).is_err());
}

#[test]
fn a_file_that_a_step_creates_is_its_own() {
    let scope = Scope::Symbols(vec![SymbolPath::new("new.py", ""), SymbolPath::new("cart.py", "Cart::total")]);
    let create = |path: &str| EditRequest::Create { path: path.into(), text: CART.into() };
    assert!(scope.check(&create("new.py")).is_ok());
    assert!(scope.check(&create("other.py")).is_err() && scope.check(&create("cart.py")).is_err());
    assert_eq!(names(&scope.follow(&[create("new.py")])), ["cart.py::Cart::total", "new.py"]);
}

#[test]
fn the_scope_follows_a_rename() {
    let scope = Scope::at("cart.py", CART, 4, 4);
    let renamed = scope.follow(&[want(&CART.replace("def total", "def whole_sum"))]);
    assert_eq!(names(&renamed), ["cart.py::Cart::whole_sum"]);
}

#[test]
fn a_blank_line_is_in_what_holds_the_lines_around_it() {
    let text = "import os\n\nclass C:\n    def a(self):\n        x = 1\n\n        return x\n\n    def b(self):\n        def c():\n            pass\n\n        return c\n\n\ndef f():\n    return 1\n\n";
    let at = |line: usize| names(&Scope::at("a.py", text, line, line)).join(" ");
    let found: Vec<String> = [2, 6, 8, 12, 14, 15, 18].into_iter().map(at).collect();
    assert_eq!(found, ["a.py", "a.py::C::a", "a.py::C", "a.py::C::b", "a.py", "a.py", "a.py"]);
    assert_eq!(names(&Scope::at("a.py", text, 14, 15)), ["a.py"]);
    assert_eq!(names(&Scope::at("a.py", "\n\n", 1, 2)), ["a.py"]);
}

#[test]
fn the_imports_of_a_symbol_s_file_may_change_and_nothing_else_of_it() {
    let scope = Scope::at("cart.py", CART, 4, 4);
    for after in [
        CART.replace("import os\n", "import os\nimport sys\n"),
        CART.replace("import os\n\n", ""),
        CART.replace("import os", "from os import path").replace("return 1", "return path"),
    ] {
        let want = want(&after);
        assert!(scope.check(&want).is_ok(), "{after}");
        assert_eq!(scope.imports_changed(&[want]), ["cart.py"]);
    }
    for after in [
        CART.replace("import os\n", "import os\nX = 1\n"),
        CART.replace("import os\n", "import os\nimport sys\n").replace("return 2", "return sys"),
    ] {
        assert!(scope.check(&want(&after)).is_err(), "{after}");
    }
    assert_eq!(scope.described(), ["cart.py::Cart::total", "the imports of cart.py"]);
    assert!(scope.imports_changed(&[want(&CART.replace("return 1", "return 10"))]).is_empty());
    let module = Scope::Symbols(vec![SymbolPath::new("cart.py", "")]);
    assert!(module.imports_changed(&[want(&CART.replace("import os", "import re"))]).is_empty(), "they are its own");
    assert_eq!(module.described(), ["cart.py"]);
}

#[test]
fn one_edit_that_quotes_what_it_does_not_change_is_judged_by_what_it_changes() {
    let scope = Scope::at("cart.py", CART, 4, 4);
    let document = want(CART).document().cloned().unwrap();
    let whole = |text: String| EditRequest::change(document.clone(), vec![TextEdit::new(0..CART.len(), text)], true);
    assert!(scope.check(&whole(CART.replace("import os", "import re").replace("return 1", "return 3"))).is_ok());
    assert!(scope.check(&whole(CART.replace("import os", "import re").replace("class Cart", "class Car"))).is_err());
}

#[test]
fn a_file_without_symbols_is_changed_anywhere_where_it_is_in_scope() {
    let text = "# Notes\n\none\n".to_owned();
    let want = |path: &str| {
        let document = Document {
            path: path.into(),
            text: text.as_str().into(),
            version: 1,
            exists: true,
            unsaved: false,
            locked: None,
        };
        EditRequest::change(document, hunks(&text, "# Notes\n\ntwo\n"), true)
    };
    let scope = Scope::Symbols(vec![SymbolPath::new("README.md", ""), SymbolPath::new("Makefile", "")]);
    assert!(scope.check(&want("README.md")).is_ok() && scope.check(&want("Makefile")).is_ok());
    assert!(scope.check(&want("pyproject.toml")).is_err());
    assert_eq!(scope.described(), ["README.md", "Makefile"]);
}

#[test]
fn a_scope_grows_by_symbols_and_by_whole_files() {
    let path = SymbolPath::parse;
    let scope = Scope::Symbols(vec![path("a.py::f")]);
    let wide = scope.widened(&[path("b.py"), path("c.py::g"), path("a.py::f::inner"), path("b.py::x")]);
    let (files, symbols) = (vec!["b.py".to_owned()], vec![path("a.py::f"), path("c.py::g")]);
    assert_eq!(wide, Scope::Parts { files, symbols });
    assert_eq!(wide.files(), ["b.py", "a.py", "c.py"]);
    assert_eq!(wide.described(), ["a.py::f", "c.py::g", "b.py", "the imports of a.py and c.py"]);
    assert!(wide.holds(&path("b.py::anything")) && wide.holds(&path("c.py::g::x")) && !wide.holds(&path("c.py")));
    assert_eq!(scope.widened(&[path("a.py")]), Scope::Files(vec!["a.py".into()]));
    assert_eq!(scope.widened(&[path("b.py::g")]), Scope::Symbols(vec![path("a.py::f"), path("b.py::g")]));
    assert_eq!(Scope::Workspace.widened(&[path("a.py")]), Scope::Workspace);
    let kept = serde_json::to_string(&wide).unwrap();
    assert_eq!(serde_json::from_str::<Scope>(&kept).unwrap(), wide, "{kept}");
}

#[test]
fn what_an_edit_puts_beside_a_symbol_belongs_to_the_scope() {
    let scope = Scope::at("cart.py", CART, 4, 4);
    let after =
        CART.replace("        return 1\n", "        return self.one()\n\n    def one(self):\n        return 1\n");
    assert!(scope.check(&want(&after)).is_ok());
    assert_eq!(names(&scope.follow(&[want(&after)])), ["cart.py::Cart::total", "cart.py::Cart::one"]);
    let twin =
        CART.replace("    def total(self):\n", "    def total(self, x):\n        return x\n\n    def total(self):\n");
    let grown = scope.follow(&[want(&twin)]);
    assert_eq!(names(&grown).len(), 2, "{grown:?}");
}
