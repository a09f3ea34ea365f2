//! Outlines of small texts, written as one line a symbol.

use proptest::prelude::*;

use crate::symbols::language;
use crate::symbols::outline::*;

fn parse(text: &str) -> Outline {
    Outline::parse(language::of_path("a.py").expect("Python"), text)
}

/// `path kind` a symbol.
fn shown(outline: &Outline) -> Vec<String> {
    outline.symbols.iter().map(|symbol| format!("{} {}", symbol.path(), symbol.kind.name())).collect()
}

#[test]
fn what_is_a_symbol_and_whose_child() {
    for (text, expected) in [
        ("", vec![]),
        ("x = lambda a: a\n", vec![]),
        ("async def f(): pass\n", vec!["f function"]),
        (
            "def f():\n    def g():\n        class C:\n            def h(self): pass\n    return g\n",
            vec!["f function", "f::g function", "f::g::C class", "f::g::C::h method"],
        ),
        (
            "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, v): pass\n    y = 2\n",
            vec!["A class", "A::x method", "A::x#2 method"],
        ),
        (
            "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): return a\n",
            vec!["f function", "f#2 function", "f#3 function"],
        ),
        (
            "class A:\n    if TYPE_CHECKING:\n        def f(self): ...\n    else:\n        def f(self): return 1\n",
            vec!["A class", "A::f method", "A::f#2 method"],
        ),
        (
            "try:\n    import x\nexcept ImportError:\n    def x(): ...\nelse:\n    class Y: pass\n",
            vec!["x function", "Y class"],
        ),
        (
            "@a\nclass A:\n    @b\n    class B:\n        @c\n        def f(self):\n            @d\n            def g(): pass\n",
            vec!["A class", "A::B class", "A::B::f method", "A::B::f::g function"],
        ),
        ("def größe(): pass\nclass Ä: ...\n", vec!["größe function", "Ä class"]),
    ] {
        let outline = parse(text);
        assert_eq!(shown(&outline), expected, "{text}");
        assert!(!outline.has_errors, "{text}");
    }
}

#[test]
fn extents_take_comments_and_decorators_along() {
    let text = "# far\n\n# near\n# nearer\n@d(1)\n# inside\n@e\nasync def f():\n    x = 1  # tail\n    # in body\n    return x\n\n# after\nx = 1  # not own line\ndef g(): pass\n\n\nclass C:\n    # of m\n    def m(self):\n        pass\n  # other indent\n    # of n\n    def n(self): return '''a\nb'''\n# end\n";
    let outline = parse(text);
    let cut = |name: &str, whole: bool| {
        let symbol = &outline.symbols[outline.find(name).expect(name)];
        &text[if whole { symbol.extent.clone() } else { symbol.declaration.clone() }]
    };
    let f = "@d(1)\n# inside\n@e\nasync def f():\n    x = 1  # tail\n    # in body\n    return x";
    assert_eq!(cut("f", false), f);
    assert_eq!(cut("f", true), format!("# near\n# nearer\n{f}"));
    assert_eq!(cut("g", true), "def g(): pass");
    assert_eq!(cut("C::m", true), "# of m\n    def m(self):\n        pass");
    assert_eq!(cut("C::n", true), "# of n\n    def n(self): return '''a\nb'''");
    assert_eq!(cut("C::n", false), "def n(self): return '''a\nb'''");
    assert!(cut("C", true).ends_with("b'''"));
    for symbol in &outline.symbols {
        assert_eq!(&text[symbol.name_range.clone()], symbol.name);
    }
}

#[test]
fn trailing_comments_and_blank_lines_are_outside() {
    for tail in ["\n\n\n", "\n# last\n", "\n\n# last\n\n\nx = 1\n", "", "\r\n\r\n", "\n  # last\n"] {
        let text = format!("def f():\n    return 1{tail}");
        let outline = parse(&text);
        assert_eq!(&text[outline.symbols[0].extent.clone()], "def f():\n    return 1", "{tail:?}");
    }
    let inside = "def f():\n    return 1\n    # a comment of the body\n\nx = 1\n";
    assert!(inside[parse(inside).symbols[0].extent.clone()].ends_with("of the body"));
}

#[test]
fn the_innermost_symbol_holds_an_offset() {
    let text = "x = 1\n# of A\n@d\nclass A:\n    y = 2\n    def f(self):\n        return 3\n\nz = 4\ndef g(): pass\n";
    let outline = parse(text);
    for (needle, expected) in [
        ("x = 1", None),
        ("of A", Some("A")),
        ("@d", Some("A")),
        ("y = 2", Some("A")),
        ("self", Some("A::f")),
        ("return 3", Some("A::f")),
        ("z = 4", None),
        ("pass", Some("g")),
    ] {
        let offset = text.find(needle).expect(needle);
        let path = outline.at(offset).map(|i| outline.path_of(i));
        assert_eq!(path.as_deref(), expected, "{needle}");
    }
    assert_eq!(outline.at(text.find("3\n").expect("3") + 1).map(|i| outline.path_of(i)).as_deref(), Some("A::f"));
    assert_eq!(outline.at(text.len() + 9), None);
}

#[test]
fn symbols_around_a_syntax_error_remain() {
    let text = "def a():\n    return 1\n\ndef b(:\n    return (\n\ndef c():\n    return 3\n";
    let outline = parse(text);
    assert!(outline.has_errors);
    let names = shown(&outline);
    assert!(names.contains(&"a function".to_owned()), "{names:?}");
    assert!(parse("def f(:\n").has_errors);
}

#[test]
fn twenty_eight_thousand_lines_and_deep_nesting_are_read() {
    let mut wide = String::new();
    for i in 0..7_000 {
        wide.push_str(&format!("# about\n@d\ndef f{i}(a):\n    return a + {i}\n"));
    }
    let outline = parse(&wide);
    assert_eq!(outline.symbols.len(), 7_000);
    assert!(outline.symbols.iter().all(|s| s.extent.start + 8 == s.declaration.start));
    let mut deep = String::new();
    for i in 0..300 {
        deep.push_str(&format!("{}def f{i}():\n", " ".repeat(i)));
    }
    deep.push_str(&format!("{}pass\n", " ".repeat(300)));
    let outline = parse(&deep);
    assert_eq!(outline.symbols.last().and_then(|s| s.parent), Some(298));
}

proptest! {
    #[test]
    fn children_lie_in_their_parents_and_siblings_apart(lines in prop::collection::vec(
        ("( {0,8})", prop::sample::select(vec!["def f():", "class C:", "@d", "# c", "x = 1", "", "if a:", "ü = (", "):"])), 0..30))
    {
        let text: String = lines.iter().map(|(indent, line)| format!("{indent}{line}\n")).collect();
        let outline = parse(&text);
        for (i, symbol) in outline.symbols.iter().enumerate() {
            prop_assert!(text.get(symbol.extent.clone()).is_some());
            prop_assert!(symbol.extent.start <= symbol.declaration.start);
            if let Some(parent) = symbol.parent {
                prop_assert!(parent < i);
                prop_assert!(outline.symbols[parent].extent.start <= symbol.extent.start);
                prop_assert!(outline.symbols[parent].extent.end >= symbol.extent.end);
            }
            prop_assert!(i == 0 || outline.symbols[i - 1].extent.start <= symbol.extent.start);
            prop_assert!(outline.at(symbol.name_range.start).is_some());
        }
    }
}
