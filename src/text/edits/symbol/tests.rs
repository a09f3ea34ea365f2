//! Symbol edits against the layouts that have gone wrong elsewhere.

use proptest::prelude::*;

use crate::edits::apply_text::apply;
use crate::edits::edit_zones;
use crate::edits::symbol::*;
use crate::symbols::language;

fn try_edit(text: &str, name: &str, action: SymbolAction, content: &str) -> Result<String, SymbolEditError> {
    let language = language::of_path("a.py").unwrap();
    let outline = Outline::parse(language, text);
    let symbol = outline.find(name).unwrap();
    let edit = edit(text, language, &outline, symbol, action, content)?;
    edit_zones::check(text, &outline, &edit_zones::EditScope::Symbols(vec![symbol]), std::slice::from_ref(&edit))
        .unwrap();
    Ok(apply(text, &[edit]).unwrap())
}

fn run(text: &str, name: &str, action: SymbolAction, content: &str) -> String {
    try_edit(text, name, action, content).unwrap()
}

const CART: &str = "\
import os


class Cart:
    \"\"\"A cart.\"\"\"

    # The price of everything.
    @property
    @cached(
        size=3,
    )
    def total(self):
        def one(item):
            return item.price

        return sum(one(i) for i in self.items)

    def empty(self):
        return not self.items  # for now


def main():
    pass
";

#[test]
fn replacing_keeps_comments_and_decorators_that_the_content_does_not_bring() {
    let after = run(CART, "Cart::total", SymbolAction::Replace, "def total(self):\n    return 0\n");
    let start = CART.find("    def total").unwrap();
    let end = CART.find("\n\n    def empty").unwrap();
    assert_eq!(after, format!("{}    def total(self):\n        return 0{}", &CART[..start], &CART[end..]));
}

#[test]
fn decorators_that_stay_are_named() {
    let text = "class A:\n    # why\n    @property\n    @cached\n    def x(self): ...\n    def y(self): ...\n";
    let language = language::of_path("a.py").unwrap();
    let outline = Outline::parse(language, text);
    let kept = |name: &str, content: &str| {
        kept_decorators(text, language, &outline, outline.find(name).unwrap(), content).map(str::to_owned)
    };
    assert_eq!(kept("A::x", "def x(self):\n    return 1\n").as_deref(), Some("@property\n    @cached"));
    assert_eq!(
        kept("A::x", "    # new\n    def x(self):\n        return 1\n").as_deref(),
        Some("@property\n    @cached")
    );
    assert_eq!(kept("A::x", "@property\ndef x(self):\n    return 1\n"), None);
    assert_eq!(kept("A::y", "def y(self):\n    return 1\n"), None);
    assert_eq!(kept("A::x", "import os\n\ndef x(self):\n    return 1\n"), None, "it takes the place of everything");
}

#[test]
fn replacing_takes_the_decorators_of_the_content_and_keeps_the_comment() {
    let after = run(CART, "Cart::total", SymbolAction::Replace, "@lazy\ndef total(self):\n    return 0");
    assert!(
        after.contains("everything.\n    @lazy\n    def total(self):\n        return 0\n\n    def empty"),
        "{after}"
    );
    assert!(!after.contains("@property"));
}

#[test]
fn replacing_takes_the_comments_of_the_content_and_keeps_the_decorators() {
    let after =
        run(CART, "Cart::total", SymbolAction::Replace, "    # Nothing.\n    def total(self):\n        return 0");
    let wanted = "\n    # Nothing.\n    @property\n    @cached(\n        size=3,\n    )\n    def total(self):\n        return 0\n";
    assert!(after.contains(wanted) && !after.contains("everything"), "{after}");
    let apart = run(CART, "Cart::total", SymbolAction::Replace, "# Nothing.\n\ndef total(self):\n    return 0");
    assert!(apart.contains("# Nothing.\n\n    @property\n"), "{apart}");
}

#[test]
fn replacing_all_three_replaces_the_whole_extent() {
    let content = "# New.\n@lazy\ndef total(self):\n    return 0";
    let after = run(CART, "Cart::total", SymbolAction::Replace, content);
    let wanted =
        "\"\"\"A cart.\"\"\"\n\n    # New.\n    @lazy\n    def total(self):\n        return 0\n\n    def empty";
    assert!(after.contains(wanted), "{after}");
    let after = run(CART, "Cart::total", SymbolAction::Replace, "total = 0");
    assert!(after.contains("\n\n    total = 0\n\n    def empty"), "{after}");
}

#[test]
fn a_nested_function_is_replaced_alone() {
    let after = run(CART, "one", SymbolAction::Replace, "def one(item):\n    return 1");
    assert_eq!(after, CART.replace("item.price", "1"));
    let after = run(CART, "one", SymbolAction::InsertAfter, "def two(item):\n    return 2");
    assert!(
        after.contains("item.price\n\n        def two(item):\n            return 2\n\n        return sum"),
        "{after}"
    );
}

#[test]
fn content_is_brought_to_the_indentation_however_it_comes() {
    let wanted = CART.replace(
        "return not self.items  # for now",
        "if self.items:\n            return False\n        return True  # for now",
    );
    let flat = "def empty(self):\n    if self.items:\n        return False\n    return True  # for now";
    let right =
        "    def empty(self):\n        if self.items:\n            return False\n        return True  # for now\n\n";
    let cut = right.trim();
    let deep = "\n            def empty(self):\n                if self.items:\n                    return False\n                return True  # for now";
    let tabs = "def empty(self):\n\tif self.items:\n\t\treturn False\n\treturn True  # for now";
    for content in [flat, right, cut, deep, tabs, &flat.replace('\n', "\r\n")] {
        let after = run(CART, "Cart::empty", SymbolAction::Replace, content);
        assert_eq!(after, wanted, "{content}");
    }
}

#[test]
fn a_cut_decorator_and_a_cut_long_header_are_seen() {
    let after = run(CART, "Cart::empty", SymbolAction::Replace, "@lazy\n    def empty(self):\n        return 1");
    assert!(after.contains("\n    @lazy\n    def empty(self):\n        return 1\n"), "{after}");
    let long = "def empty(\n        self,\n    ) -> bool:\n        return True";
    let after = run(CART, "Cart::empty", SymbolAction::Replace, long);
    assert!(after.contains("\n    def empty(\n        self,\n    ) -> bool:\n        return True"), "{after}");
}

#[test]
fn comments_do_not_pass_for_headers_nor_hide_them() {
    let flat = "def empty(self):  # yes: or no\n    return 1";
    let after = run(CART, "Cart::empty", SymbolAction::Replace, flat);
    assert!(after.contains("    def empty(self):  # yes: or no\n        return 1\n"), "{after}");
    let cut = "# One of these:\n    def empty(self):\n        return 1";
    let after = run(CART, "Cart::empty", SymbolAction::Replace, cut);
    assert!(after.contains("    # One of these:\n    def empty(self):\n        return 1\n"), "{after}");
}

#[test]
fn strings_that_say_what_they_say_are_not_moved() {
    let content = "def empty(self):\n    \"\"\"No item.\n\n    None at all.\n    \"\"\"\n    return \"\"\"\\\nleft\n  two\n\"\"\"";
    let after = run(CART, "Cart::empty", SymbolAction::Replace, content);
    let wanted = "    def empty(self):\n        \"\"\"No item.\n\n        None at all.\n        \"\"\"\n        return \"\"\"\\\nleft\n  two\n\"\"\"";
    assert!(after.contains(wanted), "{after}");
}

#[test]
fn tabs_are_kept() {
    let text = "class A:\n\tdef f(self):\n\t\treturn 1\n";
    let after = run(text, "f", SymbolAction::Replace, "def f(self):\n    if x:\n        return 2");
    assert_eq!(after, "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 2\n");
    let after = run(text, "f", SymbolAction::InsertAfter, "\tdef g(self):\n\t\treturn 2\n");
    assert_eq!(after, "class A:\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn 2\n");
}

#[test]
fn insertions_stand_apart_like_their_siblings() {
    let after = run(CART, "Cart::empty", SymbolAction::InsertAfter, "def full(self):\n    return 1");
    assert!(after.contains("  # for now\n\n    def full(self):\n        return 1\n\n\ndef main"), "{after}");
    let after = run(CART, "Cart::total", SymbolAction::InsertBefore, "def full(self):\n    return 1");
    assert!(after.contains("cart.\"\"\"\n\n    def full(self):\n        return 1\n\n    # The price"), "{after}");
    let after = run(CART, "main", SymbolAction::InsertAfter, "def more():\n    pass\n");
    assert!(after.ends_with("def main():\n    pass\n\n\ndef more():\n    pass\n"), "{after}");
    let after = run(CART, "Cart", SymbolAction::InsertAfter, "X = 1");
    assert!(after.contains("  # for now\n\n\nX = 1\n\n\ndef main"), "{after}");
    let tight = "class A:\n    def f(self): ...\n    def g(self): ...\nx = 1\n";
    let after = run(tight, "f", SymbolAction::InsertAfter, "def h(self): ...");
    assert_eq!(after, "class A:\n    def f(self): ...\n    def h(self): ...\n    def g(self): ...\nx = 1\n");
    let after = run("def f():\n    pass\nx = 1", "f", SymbolAction::InsertAfter, "def g():\n    pass");
    assert_eq!(after, "def f():\n    pass\n\n\ndef g():\n    pass\n\n\nx = 1");
}

#[test]
fn deleting_leaves_the_neighbours_where_they_were() {
    let after = run(CART, "Cart::total", SymbolAction::Delete, "");
    let start = CART.find("    # The price").unwrap();
    let end = CART.find("    def empty").unwrap();
    assert_eq!(after, format!("{}{}", &CART[..start], &CART[end..]));
    let after = run(CART, "Cart::empty", SymbolAction::Delete, "");
    assert!(after.contains("self.items)\n\n\ndef main"), "{after}");
    let after = run(CART, "main", SymbolAction::Delete, "");
    assert!(after.ends_with("# for now\n"), "{after}");
    let after = run(CART, "Cart", SymbolAction::Delete, "");
    assert_eq!(after, "import os\n\n\ndef main():\n    pass\n");
    let first = "class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n";
    assert_eq!(run(first, "f", SymbolAction::Delete, ""), "class A:\n    def g(self):\n        pass\n");
    assert_eq!(run("def f():\n    pass\n", "f", SymbolAction::Delete, ""), "");
    assert_eq!(run("x = 1\n\ndef f():\n    pass", "f", SymbolAction::Delete, ""), "x = 1");
    let tight = "import os\ndef f(): ...\n\n\nx = 1\n";
    assert_eq!(run(tight, "f", SymbolAction::Delete, ""), "import os\n\n\nx = 1\n");
}

#[test]
fn deleting_the_only_statement_leaves_pass() {
    let text = "class A:\n    # c\n    @x\n    def f(self):\n        pass  # d\n\n\ny = 1\n";
    assert_eq!(run(text, "f", SymbolAction::Delete, ""), "class A:\n    pass\n\n\ny = 1\n");
    let text = "if x:\n    def f():\n        pass\nelse:\n    def f():\n        return 1\n";
    assert_eq!(run(text, "f#2", SymbolAction::Delete, ""), "if x:\n    def f():\n        pass\nelse:\n    pass\n");
}

#[test]
fn what_cannot_be_done_says_why() {
    let fail = |action, content| try_edit(CART, "main", action, content).unwrap_err();
    assert_eq!(fail(SymbolAction::Replace, " \n"), SymbolEditError::NoContent(SymbolAction::Replace));
    assert_eq!(fail(SymbolAction::Delete, "x"), SymbolEditError::Superfluous);
    assert_eq!(fail(SymbolAction::Replace, "def main():\n    pass"), SymbolEditError::NoChange);
    let language = language::of_path("a.py").unwrap();
    let outline = Outline::parse(language, CART);
    let gone = edit("x", language, &outline, 1, SymbolAction::Delete, "").unwrap_err();
    assert_eq!(gone, SymbolEditError::NoSuchSymbol);
}

/// Modules of a few definitions, laid out in all kinds of ways.
fn module() -> impl Strategy<Value = String> {
    let body = prop_oneof![
        Just("    return 1\n"),
        Just("    return 1  # c\n"),
        Just("    def inner():\n        pass\n    return inner\n"),
        Just("    if x:\n        return \"\"\"\nleft\n\"\"\"\n"),
    ];
    let head =
        prop_oneof![Just(""), Just("# c\n"), Just("@d\n"), Just("# c\n# d\n@d(\n    1,\n)\n"), Just("# far\n\n")];
    let function = (head, 0..3u8, body).prop_map(|(head, name, body)| format!("{head}def f{name}():\n{body}"));
    let indent = |text: &str| {
        // Lines of strings would get another meaning, so they are not indented.
        let lines = text
            .lines()
            .map(|l| if l.is_empty() || l == "left" || l == "\"\"\"" { l.into() } else { format!("    {l}") });
        lines.collect::<Vec<String>>().join("\n") + "\n"
    };
    let class =
        (proptest::collection::vec((function.clone(), 0..2usize), 1..3), any::<bool>()).prop_map(move |(all, doc)| {
            let doc = if doc { "    \"\"\"A class.\"\"\"\n\n" } else { "" };
            let methods: String = all.iter().map(|(text, gap)| indent(text) + &"\n".repeat(*gap)).collect();
            format!("class C:\n{doc}{methods}")
        });
    let piece = prop_oneof![3 => function, 2 => class, 1 => Just("x = 1\n".to_owned())];
    proptest::collection::vec((piece, 0..3usize), 1..5)
        .prop_map(|all| all.into_iter().map(|(piece, gap)| piece + &"\n".repeat(gap)).collect())
}

proptest! {
    #[test]
    fn an_edit_leaves_every_other_symbol_as_it_is(text in module(), pick in 0usize..20, action in 0..4u8, trim: bool) {
        let text = if trim { text.trim_end() } else { &text };
        let language = language::of_path("a.py").unwrap();
        let outline = Outline::parse(language, text);
        prop_assume!(!outline.symbols.is_empty() && !outline.has_errors);
        let symbol = pick % outline.symbols.len();
        let (action, content) = match action {
            0 => (SymbolAction::Replace, "@e\ndef new():\n    return 2"),
            1 => (SymbolAction::InsertBefore, "def new():\n    return 2\n"),
            2 => (SymbolAction::InsertAfter, "# n\ndef new():\n    return 2\n"),
            _ => (SymbolAction::Delete, ""),
        };
        let edit = edit(text, language, &outline, symbol, action, content).unwrap();
        let scope = edit_zones::EditScope::Symbols(vec![symbol]);
        prop_assert_eq!(edit_zones::check(text, &outline, &scope, std::slice::from_ref(&edit)), Ok(()));
        let after = apply(text, &[edit]).unwrap();
        let parsed = Outline::parse(language, &after);
        prop_assert!(!parsed.has_errors, "{}", after);
        let own = outline.symbols[symbol].extent.clone();
        let apart = |other: &std::ops::Range<usize>| other.end <= own.start || other.start >= own.end;
        let mut kept: Vec<&str> = outline.symbols.iter().filter(|s| apart(&s.extent)).map(|s| &text[s.declaration.clone()]).collect();
        let mut there: Vec<&str> = parsed.symbols.iter().map(|s| &after[s.declaration.clone()]).collect();
        kept.sort_unstable();
        there.sort_unstable();
        for one in kept {
            let at = there.iter().position(|other| *other == one);
            prop_assert!(at.is_some(), "lost: {}\nin: {}", one, after);
            there.remove(at.unwrap());
        }
        prop_assert_eq!(parsed.symbols.iter().filter(|s| s.name == "new").count(), usize::from(action != SymbolAction::Delete));
    }
}

#[test]
fn lines_end_as_those_of_their_symbol_and_no_other_line_end_changes() {
    let text = "import os\n\n\n# one\n@cached\ndef f():\n    return 1\n\n\nclass A:\n    def g(self):\n        pass\n\n    def h(self):\n        return 2\n";
    let cases = [
        ("f", SymbolAction::Replace, "def f():\n    x = 2\n    return x\n"),
        ("A::g", SymbolAction::Replace, "def g(self):\r\n    return 3\r\n"),
        ("A::h", SymbolAction::InsertAfter, "def i(self):\n    return 4"),
        ("f", SymbolAction::InsertBefore, "def e():\n    return 0"),
        ("f", SymbolAction::Delete, ""),
        ("A::h", SymbolAction::Delete, ""),
    ];
    for end in ["\r\n", "\r\r\n"] {
        for (name, action, content) in cases {
            let plain = run(text, name, action, content);
            let other = run(&text.replace('\n', end), name, action, content);
            assert_eq!(other, plain.replace('\n', end), "{name} {action} {end:?}");
        }
    }
}

#[test]
fn a_part_of_a_symbol_is_not_taken_for_the_whole() {
    let part = try_edit(CART, "Cart::total", SymbolAction::Replace, "items: list[int]");
    assert_eq!(part, Err(SymbolEditError::NotWhole("total".into())));
    assert!(
        try_edit(CART, "Cart::total", SymbolAction::Replace, "def sum(self):\n    return 0").is_ok(),
        "another name"
    );
    assert!(try_edit(CART, "Cart::total", SymbolAction::Replace, "total = 0").is_ok(), "another kind of definition");
}
