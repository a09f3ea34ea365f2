//! Tests of the table of languages and of its queries.

use super::*;

#[test]
fn texts_use_the_types_of_literals_and_of_elements_without_a_mention() {
    let implies = |path: &str, name: &str| of_path(path).unwrap().implied_names.concat().contains(&name);
    for path in ["a.ts", "a.tsx", "a.js", "a.jsx"] {
        assert!(implies(path, "Array"), "{path}");
        assert_eq!(implies(path, "IntrinsicElements"), path != "a.ts", "{path}");
    }
}

#[test]
fn every_query_compiles_and_names_its_captures() {
    let known: [&[&str]; 6] = [
        &["name", "owner", "members", "declarator", "wrapper", "wrapped", "prefix", "suffix", "decorator", "comment"],
        &["import", "guard", "guarded", "comment", "opening"],
        &[
            "function",
            "class",
            "body",
            "shaped",
            "structural",
            "returns",
            "result",
            "end",
            "tail",
            "exit",
            "value",
            "constant",
            "attribute",
            "receiver",
            "global",
            "name",
            "type",
            "import",
            "star",
            "branch",
            "test",
            "literal",
            "effect",
            "own",
            "comment",
            "abstract",
            "beside",
            "exact",
            "first",
            "kind",
            "label",
            "pattern",
            "scope",
            "target",
            "unfilled",
            "alias",
            "assigned",
            "base",
            "comprehension",
            "generic",
            "made",
            "plain",
            "step",
        ],
        &[
            "hidden",
            "shown",
            "body",
            "result",
            "star",
            "own",
            "inner",
            "led",
            "nameless",
            "effect",
            "comment",
            "names",
            "scope",
            "value",
            "endless",
            "condition",
            "conditional",
        ],
        &["visibility", "modifier", "async", "await", "follows", "place", "alone"],
        &[
            "conditional",
            "conditional.behind",
            "conditional.around",
            "expanded",
            "instantiated",
            "excluded",
            "excluded.around",
            "checked",
            "module",
            "example",
            "examples_of",
        ],
    ];
    for language in LANGUAGES {
        let Language { query, imports, interface, hidden, modifiers, unchecked, .. } = *language;
        for (text, known) in [query, imports, interface, hidden, modifiers, unchecked].into_iter().zip(known) {
            let query = tree_sitter::Query::new(&(language.grammar)(), text)
                .unwrap_or_else(|error| panic!("{}: {error}", language.name));
            for name in query.capture_names() {
                // An underscore marks a capture that only a predicate looks at.
                let is_kind = SymbolKind::of_name(name).is_some() && text == language.query;
                let is_known = is_kind || known.contains(name) || name.starts_with('_');
                assert!(is_known, "{}: @{name} means nothing", language.name);
            }
        }
        assert!(language.symbols_query().is_some());
        let grammar = (language.grammar)();
        let kinds = [language.blocks, language.strings, language.exact_strings].concat();
        for kind in kinds.into_iter().chain(language.filler.map(|(block, _)| block)) {
            assert_ne!(grammar.id_for_node_kind(kind, true), 0, "{} has no node {kind}", language.name);
        }
        assert_eq!(language.imports_query().is_some(), !language.imports.is_empty());
        assert_eq!(language.interface_query().is_some(), !language.interface.is_empty());
        assert_eq!(language.hidden_query().is_some(), !language.hidden.is_empty());
        assert_eq!(language.modifiers_query().is_some(), !language.modifiers.is_empty());
        assert_eq!(language.unchecked_query().is_some(), !language.unchecked.is_empty());
    }
}

#[test]
fn a_text_that_is_too_long_dense_or_deep_has_no_tree() {
    let tree = |text: &str| of_path("a.py").and_then(|language| language.tree(text)).is_some();
    assert!(tree(&"value = call(1)\n".repeat(15_000)) && !tree(&"x = 1\n".repeat(60_000)));
    assert!(!tree(&format!("x = \"{}\"\n", "a".repeat(LARGEST_PARSED))));
    let nested = |deep: usize| format!("{}{}\n", "(".repeat(deep), ")".repeat(deep));
    assert!(tree(&nested(200)) && !tree(&nested(50_000)));
    assert!(!tree(&format!("x = {}1\n", "1 + ".repeat(20_000))));
    assert!(!tree(&"[".repeat(60_000)) && !tree(&format!("{}x", "not ".repeat(40_000))));
    assert!(!tree(&"{".repeat(100_000)) && tree(&"{".repeat(1_000)));
}

#[test]
fn a_file_is_known_by_its_extension() {
    assert_eq!(of_path("src/a.pyi").map(|l| l.name), Some("python"));
    assert!(of_path("no_such").is_none() && of_path("a.py/b").is_none());
}
