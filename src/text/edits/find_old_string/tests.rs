//! The ladder, rung by rung, and its errors.

use proptest::prelude::*;

use super::*;
use crate::edits::apply_text::apply;

fn once<'a>(old: &'a str, new: &'a str) -> Replace<'a> {
    Replace { old, new, all: false, within: None }
}

/// The text after the replacement, and the rung.
fn run(text: &str, old: &str, new: &str) -> (String, Rung) {
    let found = find(text, &once(old, new)).unwrap();
    (apply(text, &found.edits).unwrap(), found.rung)
}

const CART: &str = "class Cart:\n    def total(self):\n        sum = 0\n        return sum\n\n    def empty(self):\n        return not self.items\n";

#[test]
fn an_exact_match_comes_first() {
    let (text, rung) = run("a  b\na b\n", "a b", "c");
    assert_eq!((text.as_str(), rung), ("a  b\nc\n", Rung::Exact));
}

#[test]
fn line_ends_do_not_hide_a_match_and_are_kept() {
    let (text, rung) = run("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz");
    assert_eq!((text.as_str(), rung), ("x\r\ny\r\nz\r\nc\r\n", Rung::LineEnds));
    let (text, rung) = run("a\r\r\nb\r\r\nc", "a\nb", "x\ny");
    assert_eq!((text.as_str(), rung), ("x\r\r\ny\r\r\nc", Rung::LineEnds));
    let (text, rung) = run("a\nb\n", "a\r\nb\r\n", "x\r\n");
    assert_eq!((text.as_str(), rung), ("x\n", Rung::LineEnds));
    let (text, rung) = run("a\r\nb\r\n", "\nb", "\nc");
    assert_eq!((text.as_str(), rung), ("a\r\nc\r\n", Rung::Exact), "the line feed alone is there byte for byte");
    let (text, _) = run("a\r\nb\r\n", "b", "b\nc");
    assert_eq!(text, "a\r\nb\r\nc\r\n", "a line that is added ends like the others");
}

#[test]
fn new_text_is_indented_like_the_place() {
    let (text, rung) = run(CART, "def total(self):\n    sum = 0\n", "def total(self):\n    sum = 1\n");
    assert_eq!((text.as_str(), rung), (CART.replace("sum = 0", "sum = 1").as_str(), Rung::Whitespace));
    let deeper = "                sum = 0\n                return sum";
    let (text, _) = run(CART, deeper, "                return 0");
    assert_eq!(text, CART.replace("sum = 0\n        return sum", "return 0"));
}

#[test]
fn a_quote_that_lacks_the_first_indentation_only_is_understood() {
    let old = "def total(self):   \n        sum = 0";
    let (text, rung) = run(CART, old, "def total(self):\n        # none yet\n        sum = 0");
    assert_eq!(rung, Rung::Whitespace);
    assert_eq!(text, CART.replace("        sum", "        # none yet\n        sum"));
}

#[test]
fn tabs_and_spaces_stand_for_each_other() {
    let tabs = "class A:\n\tdef f(self):\n\t\treturn 1\n";
    let (text, rung) =
        run(tabs, "    def f(self):\n        return 1", "    def f(self):\n        if x:\n            return 2");
    assert_eq!((text.as_str(), rung), ("class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 2\n", Rung::Whitespace));
    let (text, _) = run(CART, "\t\treturn not self.items", "\t\tif x:\n\t\t\treturn 1");
    assert!(text.ends_with("        if x:\n            return 1\n"), "{text}");
}

#[test]
fn other_indentation_against_each_other_is_other_code() {
    let text = "if a:\n    b()\n    c()\n";
    let error = find(text, &once("b()\nif c()", "")).unwrap_err();
    assert!(matches!(error, FindError::NotFound { .. }));
    let error = find(text, &once("  b()\nc()", "x")).unwrap_err();
    let FindError::NotFound { nearest: Some(nearest) } = &error else { panic!("{error}") };
    assert_eq!((nearest.line, nearest.text.as_str()), (2, "    b()"));
    assert!(error.to_string().contains("white space"), "{error}");
}

#[test]
fn a_second_place_is_named_and_never_guessed() {
    let text = "x = 1\ny = 2\nx = 1\n";
    let error = find(text, &once("x = 1", "x = 2")).unwrap_err();
    assert_eq!(error, FindError::Ambiguous { count: 2, lines: vec![1, 3], rung: Rung::Exact });
    assert!(error.to_string().contains("2 times (lines 1, 3)"), "{error}");
    let all = Replace { all: true, ..once("x = 1", "x = 2") };
    assert_eq!(apply(text, &find(text, &all).unwrap().edits).unwrap(), "x = 2\ny = 2\nx = 2\n");
    let indented = "a:\n  x\nb:\n    x\n";
    let error = find(indented, &once("x  \n", "y\n")).unwrap_err();
    assert!(matches!(error, FindError::Ambiguous { count: 2, rung: Rung::Whitespace, .. }), "{error}");
    let overlapping = find("aaa", &once("aa", "b")).unwrap_err();
    assert!(matches!(overlapping, FindError::Ambiguous { count: 2, .. }));
}

#[test]
fn a_range_narrows_the_search_and_says_where_else_it_is() {
    let text = "def a():\n    return 1\n\ndef b():\n    return 1\n";
    let at = text.find("def b").unwrap();
    let within = Some(at..text.len() - 1);
    let found = find(text, &Replace { within: within.clone(), ..once("return 1", "return 2") }).unwrap();
    assert_eq!(found.edits.len(), 1);
    assert!(found.edits[0].range.start > at);
    let error = find(text, &Replace { within: within.clone(), ..once("def a", "def c") }).unwrap_err();
    assert_eq!(error, FindError::Elsewhere { line: 1 });
    let error = find(text, &Replace { within: Some(3..999), ..once("x", "y") }).unwrap_err();
    assert_eq!(error, FindError::BadRange);
}

#[test]
fn an_edit_found_by_white_space_stays_inside_its_symbol() {
    let at = CART.find("def total").unwrap();
    let within = at..CART.find("return sum").unwrap() + "return sum".len();
    let replace = Replace {
        within: Some(within.clone()),
        ..once("def total(self):\n    sum = 0\n", "def total(self):\n    sum = 1\n")
    };
    let found = find(CART, &replace).unwrap();
    assert!(found.edits[0].range.start >= within.start && found.edits[0].range.end <= within.end, "{found:?}");
}

#[test]
fn what_cannot_be_done_says_why() {
    assert_eq!(find("a", &once("", "x")).unwrap_err(), FindError::EmptyOld);
    assert_eq!(find("a", &once("a", "a")).unwrap_err(), FindError::NoChange);
    assert_eq!(find("  a\n", &once("a  ", "a")).unwrap_err(), FindError::NoChange, "the place already is as wanted");
    assert_eq!(find("", &once("a", "b")).unwrap_err(), FindError::NotFound { nearest: None });
    let error = find(CART, &once("        sum = 0\n        return total", "x")).unwrap_err();
    let wanted = "the nearest place is line 3: `        sum = 0`; it differs first on line 4: \
                  `        return total` was asked for, `        return sum` is there";
    assert!(error.to_string().contains(wanted), "{error}");
    let error = find(CART, &once("return not self.item_list", "x")).unwrap_err();
    assert!(error.to_string().contains("line 7"), "{error}");
}

fn code() -> impl Strategy<Value = String> {
    let line = prop_oneof!["[ab]{1,2}", "[ \t]{1,3}[abü]{1,2}", Just(String::new()), Just("😀 ".into())];
    let end = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    proptest::collection::vec((line, end).prop_map(|(line, end)| line + end), 0..8).prop_map(|all| all.concat())
}

#[test]
fn a_quote_that_repeats_itself_takes_no_longer_than_another() {
    let text = "x = 1\n".repeat(40_000);
    let old = "x = 1\n".repeat(30_000);
    let found = find(&text, &once(&old, "y"));
    assert!(matches!(&found, Err(FindError::Ambiguous { count: 10_001, .. })), "{found:?}");
    // By white space each of the 40,000 lines begins a place, and each place is compared: that is given up.
    let old = "x = 1 \n".repeat(20_000);
    assert!(matches!(find(&text, &once(&old, "y")), Err(FindError::NotFound { .. })));
}

proptest! {
    #[test]
    fn every_occurrence_is_found_overlapping_or_not(text in "[ab]{0,60}", old in "[ab]{1,12}|(ab){1,6}|a{1,12}") {
        let naive: Vec<_> =
            (0..text.len()).filter(|at| text[*at..].starts_with(&old)).map(|at| at..at + old.len()).collect();
        prop_assert_eq!(occurrences(&text, &old, 0), naive);
    }

    #[test]
    fn a_find_never_panics_and_its_edits_apply(text in code(), old in code(), new in code(), all: bool) {
        if let Ok(found) = find(&text, &Replace { old: &old, new: &new, all, within: None }) {
            let after = apply(&text, &found.edits).unwrap();
            prop_assert_ne!(after, text);
            prop_assert!(all || found.edits.len() == 1);
        }
    }

    #[test]
    fn a_quote_of_the_text_itself_is_found_exactly(text in code(), from in 0usize..40, len in 1usize..20) {
        let old = text.get(from..(from + len).min(text.len())).unwrap_or("");
        prop_assume!(!old.is_empty());
        match find(&text, &Replace { old, new: "NEW", all: false, within: None }) {
            Ok(found) => {
                prop_assert_eq!(found.rung, Rung::Exact);
                prop_assert_eq!(apply(&text, &found.edits).unwrap(), text.replacen(old, "NEW", 1));
            }
            Err(error) => prop_assert!(matches!(error, FindError::Ambiguous { .. }), "{}", error),
        }
    }
}
