//! Each rule with its evidence and, more, with the diagnostics that it must leave alone.

use super::*;
use crate::model::{Confidence, Location, Severity};

/// A diagnostic at the part of the text between two `$`, and the text without them.
fn case(marked: &str, code: &str, message: &str) -> (Diagnostic, String) {
    let parts: Vec<&str> = marked.split('$').collect();
    assert_eq!(parts.len(), 3, "{marked}");
    let text = parts.concat();
    let (start, end) = (parts[0].len(), parts[0].len() + parts[1].len());
    let range = LineIndex::new(&text).range(&text, start..end, Encoding::Utf16);
    let diagnostic = Diagnostic {
        source: "lsp:x".into(),
        severity: Severity::Error,
        code: Some(code.into()),
        message: message.into(),
        location: Location::Range { file: "shop/cart.py".into(), range },
        confidence: Confidence::High,
        suggested_action: None,
        evidence: None,
    };
    (diagnostic, text)
}

fn rule(marked: &str, code: &str, message: &str, others: &[(&str, &str)]) -> Option<&'static str> {
    let (diagnostic, text) = case(marked, code, message);
    let others: Others = depends_on(&diagnostic, &text, &mut Trees::new())
        .into_iter()
        .map(|file| {
            let text = others.iter().find(|(known, _)| *known == file).map(|(_, text)| (*text).into());
            (file, text)
        })
        .collect();
    against(&diagnostic, &text, &others, &mut Trees::new()).map(|found| found.rule)
}

#[test]
fn a_name_that_does_not_stand_at_the_place_was_said_of_another_text() {
    let note = "\"total\" is not defined";
    assert_eq!(rule("a = $other$\n", "reportUndefinedVariable", note, &[]), Some("misplaced_lowers"));
    assert_eq!(rule("a = 1\n$$", "F821", "Undefined name `total`", &[]), Some("misplaced_lowers"));
    for (text, code, message) in [
        ("a = $total$\n", "reportUndefinedVariable", note),
        // The place is the whole statement, or only its first word.
        ("$a$ = total\n", "reportUndefinedVariable", note),
        ("$import$ os.path\n", "F401", "`os.path` imported but unused"),
        ("import numpy as $np$\n", "F401", "`numpy` imported but unused"),
        // A message about types quotes words that no text holds.
        ("a: int = $f()$\n", "reportAssignmentType", "\"str\" is not assignable to \"int\""),
        ("a = $other$\n", "reportUndefinedVariable", "a name is not defined"),
    ] {
        assert_eq!(rule(text, code, message, &[]), None, "{text}");
    }
    let (diagnostic, text) = case("a = $other$\n", "E0425", "cannot find value `total` in this scope");
    let location = Location::Range { file: "a.rs".into(), range: diagnostic.location.range().unwrap() };
    let rust = Diagnostic { location, ..diagnostic };
    assert_eq!(against(&rust, &text, &Others::new(), &mut Trees::new()), None, "a macro may define it");
}

#[test]
fn a_name_that_the_module_defines_is_not_undefined() {
    let undefined = |text: &str| rule(text, "F821", "Undefined name `f`", &[]);
    for text in [
        "def f(): ...\nx = $f$()\n",
        "def g():\n    return $f$()\n\n\ndef f(): ...\n",
        "@a\nclass f: ...\nx = $f$\n",
        "f = 1\nclass C:\n    x = $f$\n",
        "from a import b as f\nx = $f$\n",
        "import f.g\nx = $f$\n",
    ] {
        assert_eq!(undefined(text), Some("defined_name_lowers"), "{text}");
    }
    for text in [
        // Before its definition, as a default too.
        "x = $f$()\n\n\ndef f(): ...\n",
        "def g(x=$f$): ...\n\n\ndef f(): ...\n",
        "f = 1\ndel f\nx = $f$\n",
        "if a:\n    f = 1\nx = $f$\n",
        "f: int\nx = $f$\n",
        "class C:\n    f = 1\nx = $f$\n",
        "def h():\n    f = 1\nx = $f$\n",
        "def f(): ...\nx = $f$(\n",
        "x.f = 1\nx = $f$\n",
    ] {
        assert_eq!(undefined(text), None, "{text}");
    }
}

#[test]
fn an_import_that_alone_can_be_meant_and_is_read_is_not_unused() {
    let unused = |text: &str| rule(text, "F401", "`os` imported but unused", &[]);
    for text in [
        "import $os$\n\n\ndef f() -> str:\n    return os.sep\n",
        "$import os$\nprint(os)\n",
        "from a import $os$\n@os\ndef f(): ...\n",
        "from a import b as $os$\nx = y.os(os=1) + os[0]\n",
    ] {
        assert_eq!(unused(text), Some("used_import_lowers"), "{text}");
    }
    for text in [
        "import $os$\nx.os = f(os=1)\n",
        "import $os$\n\n\ndef f(os):\n    return os.sep\n",
        "import $os$\nos = g()\nprint(os)\n",
        "import $os$\nfor os in x:\n    print(os)\n",
        "import $os$\nfrom a import *\nprint(os)\n",
        "try:\n    import $os$\nexcept ImportError:\n    pass\nprint(os)\n",
        "def f():\n    import $os$\n\n\ndef g():\n    print(os)\n",
        "import $os$ as system\nprint(os.sep)\n",
        "import $os$\nprint('os')  # os\n",
        "import $os$\nx = [os for os in y]\n",
        "import $os$\nprint(os\n",
    ] {
        assert_eq!(unused(text), None, "{text}");
    }
}

#[test]
fn a_relative_import_is_held_against_the_files_of_the_project() {
    let missing = |text: &str, others: &[(&str, &str)]| {
        rule(text, "reportMissingImports", "Import \".price\" could not be resolved", others)
    };
    let price = "def price(): ...\n";
    assert_eq!(missing("from $.price$ import price\n", &[("shop/price.py", price)]), Some("present_module_lowers"));
    assert_eq!(missing("from .$price$ import x\n", &[("shop/price/__init__.py", "")]), Some("present_module_lowers"));
    assert_eq!(missing("from $..price$ import x\n", &[("price.py", "")]), Some("present_module_lowers"));
    assert_eq!(missing("from $.price$ import price\n", &[]), None);
    assert_eq!(missing("from $...price$ import price\n", &[("price.py", "")]), None, "above the root");
    assert_eq!(missing("from $price$ import price\n", &[("shop/price.py", price)]), None, "a path decides that");
    let unknown = |text: &str, there: &str| {
        rule(text, "reportAttributeAccessIssue", "\"price\" is unknown import symbol", &[("shop/price.py", there)])
    };
    assert_eq!(unknown("from .price import $price$\n", price), Some("present_name_lowers"));
    assert_eq!(unknown("from .price import $price$\n", "def cost(): ...\n"), None);
    assert_eq!(unknown("from .price import $price$\n", "def price(: ...\n"), None, "it does not parse");
    assert_eq!(unknown("from .$price$ import cost\n", price), None, "the module is meant");
    assert_eq!(unknown("from .price import cost\nx = cost.$price$\n", price), None, "no import");
}

/// True diagnostics of real servers, each with its text.
#[test]
fn nothing_that_is_right_is_contradicted() {
    let (mut weighed, mut wrong) = (0, Vec::new());
    for line in crate::delta::sample::cases() {
        let case: serde_json::Value = serde_json::from_str(&line).unwrap();
        for side in ["before", "after"] {
            for given in case[side].as_array().unwrap() {
                let file = given["file"].as_str().unwrap_or_default();
                let Some(text) = case["files"][file][side].as_str() else { continue };
                let Ok(range) = serde_json::from_value(given["range"].clone()) else { continue };
                let diagnostic = Diagnostic {
                    source: "lsp:x".into(),
                    severity: Severity::Error,
                    code: given["code"].as_str().map(str::to_owned),
                    message: given["message"].as_str().unwrap_or_default().to_owned(),
                    location: Location::Range { file: file.to_owned(), range },
                    confidence: Confidence::High,
                    suggested_action: None,
                    evidence: None,
                };
                let files = depends_on(&diagnostic, text, &mut Trees::new()).into_iter().map(|file| {
                    let text = case["files"][&file][side].as_str().map(Into::into);
                    (file, text)
                });
                let others: Others = files.collect();
                weighed += usize::from(Claim::new(&diagnostic, text, &mut Trees::new()).is_some());
                wrong.extend(against(&diagnostic, text, &others, &mut Trees::new()).map(|found| (found, diagnostic)));
            }
        }
    }
    let first: Vec<_> = wrong.iter().take(5).collect();
    assert!(weighed > 300 && wrong.is_empty(), "{} of {weighed}: {first:#?}", wrong.len());
}
