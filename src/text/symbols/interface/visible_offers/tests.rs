//! Covers the offers of a text whose language hides the rest. A case marks its edit: `⟦before⇒after⟧`.

use std::collections::BTreeSet;

use crate::symbols::interface::{EVERYTHING, Offer, changed_words, following, offers};
use crate::symbols::language;

fn read(path: &str, text: &str) -> Vec<Offer> {
    offers(language::of_path(path).unwrap(), text).unwrap()
}

/// The text before and after the edit that it marks.
fn sides(marked: &str) -> [String; 2] {
    let (head, rest) = marked.split_once('⟦').unwrap();
    let (edit, tail) = rest.split_once('⟧').unwrap();
    let (before, after) = edit.split_once('⇒').unwrap();
    [before, after].map(|side| format!("{head}{side}{tail}"))
}

/// The names that the marked edit changes for other files.
fn changed(path: &str, marked: &str) -> BTreeSet<String> {
    let [before, after] = sides(marked).map(|text| read(path, &text));
    changed_words(&before, &after, &|_| false).all()
}

/// Holds cases that change a name against those that do not.
fn hold(path: &str, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (marked, name) in cases {
        let found = changed(path, marked);
        let is_right = if name.is_empty() { found.is_empty() } else { found.contains(*name) };
        if !is_right {
            wrong.push(format!("{marked}: {found:?}, not {name}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn mentions(path: &str, text: &str) -> bool {
    read(path, text).iter().any(|offer| offer.name == "f" && offer.mentions.contains("size"))
}

#[test]
fn a_local_name_hides_others_in_its_own_scope_alone() {
    for (path, text) in [
        ("a.ts", "export function f() {\n  { const size = 1; g(size); }\n  return size;\n}\n"),
        ("a.ts", "export function f() {\n  xs.forEach((size: number) => g(size));\n  return size;\n}\n"),
        (
            "a.ts",
            "export function f() {\n  const g = function () { let size = 'x'; return size; };\n  return [g(), size];\n}\n",
        ),
        ("a.ts", "export function f() {\n  for (const size = 1; g(size);) {}\n  return size;\n}\n"),
        ("a.ts", "export const f = (g: (size: number) => void) => size;\n"),
        ("a.ts", "export class A {\n  f() { xs.map(function (size?: number) { return size; }); return size; }\n}\n"),
        ("a.js", "export function f() {\n  xs.forEach(size => g(size));\n  return size;\n}\n"),
        ("a.js", "export function f() {\n  xs.forEach((size) => g(size));\n  return size;\n}\n"),
    ] {
        assert!(mentions(path, text), "{text}");
    }
    for (path, text) in [
        ("a.ts", "export function f() {\n  const size = 1;\n  { return size; }\n}\n"),
        ("a.ts", "export function f(size: number) {\n  return () => size;\n}\n"),
        ("a.ts", "export const f = (size: number) => size;\n"),
        ("a.js", "export function f(size) {\n  return () => size;\n}\n"),
        ("a.js", "export const f = size => size;\n"),
    ] {
        assert!(!mentions(path, text), "{text}");
    }
}

#[test]
fn the_head_of_an_enumeration_concerns_its_members() {
    for (path, text) in [("a.hpp", "enum ⟦⇒class ⟧E { f };\n"), ("a.h", "enum E { ⟦g, ⇒⟧f };\n")] {
        hold(path, &[(text, "f")]);
    }
    hold("a.h", &[("enum E { f };\nint ⟦g⇒h⟧(void);\n", "g")]);
}

#[test]
fn a_body_behind_which_nothing_runs_decides_the_type_of_an_expression() {
    hold(
        "a.ts",
        &[
            ("export const f = () => { ⟦fail();⇒g(fail);⟧ };\n", "f"),
            ("export const f = () => { while (⟦true⇒g()⟧) { h(); } };\n", "f"),
            ("export const f = function () { for (;⟦⇒g()⟧;) { h(); } };\n", "f"),
            ("export const f = () => { if (g) fail(); else ⟦fail()⇒g = 1⟧; };\n", "f"),
            ("export const f = { run() { ⟦fail();⇒g(fail);⟧ } };\n", "f"),
            ("export class A {\n  f = () => { ⟦this.g();⇒void this.g;⟧ };\n}\n", "f"),
            ("export const f = (): void => { ⟦fail();⇒g(fail);⟧ };\n", ""),
            ("export function f() { ⟦fail();⇒g(fail);⟧ }\n", ""),
            ("export class A {\n  f() { ⟦fail();⇒g(fail);⟧ }\n}\n", ""),
            ("export function f() { xs.forEach(() => { ⟦fail();⇒g(fail);⟧ }); }\n", ""),
            ("export const f = () => { ⟦g = 1;⇒g = 2;⟧ };\n", ""),
        ],
    );
}

#[test]
fn a_free_operator_is_used_under_any_name_and_one_of_a_class_through_it() {
    hold(
        "a.h",
        &[
            ("struct P { int x; };\n⟦inline P operator+(P a, P b) { return a; }\n⇒⟧", EVERYTHING),
            ("struct P { int x; };\n⟦⇒inline P operator+(P a, P b) { return a; }\n⟧", EVERYTHING),
            ("struct P { int x; };\ninline ⟦int⇒P⟧ operator+(P a, P b) { return {}; }\n", EVERYTHING),
            ("struct A { int x; };\n⟦bool operator==(const A& a, const A& b);\n⇒⟧", EVERYTHING),
            ("struct A { int x; };\nOs& operator<<(Os& o, const A⟦&⇒*⟧ a);\n", EVERYTHING),
            ("namespace n {\nstruct A { int x; };\nOs& operator<<(Os& o, const A⟦&⇒*⟧ a);\n}\n", EVERYTHING),
            (
                "namespace n {\nstruct A {};\ninline int operator-(A a) { return 1; }\n⟦⇒inline A operator+(A a) { return a; }\n⟧}\n",
                EVERYTHING,
            ),
            ("constexpr long double operator\"\"_⟦km⇒mi⟧(long double v) { return v; }\n", EVERYTHING),
            ("template <class T> T operator+(T a, ⟦T⇒int⟧ b) { return a; }\n", EVERYTHING),
            ("struct P {\n  P operator+(⟦P⇒int⟧ b) { return b; }\n};\n", "P"),
            ("struct P { int x; };\ninline P operator+(P a, P b) { return ⟦a⇒b⟧; }\n", ""),
        ],
    );
    assert!(!changed("a.h", "struct P {\n  P operator+(⟦P⇒int⟧ b) { return b; }\n};\n").contains(EVERYTHING));
    hold("a.ts", &[("export const operatorName = (x: ⟦number⇒string⟧): void => {};\n", "operatorName")]);
}

#[test]
fn a_line_for_the_compiler_concerns_all_that_include_it() {
    for guard in [("#pragma once\n", ""), ("#ifndef A_H\n#define A_H\n", "#endif\n")] {
        for line in [
            "⟦#pragma once\n⇒⟧struct A { int x; };\n",
            "#pragma pack(⟦1⇒4⟧)\n",
            "⟦⇒#undef K\n⟧int f(void);\n",
            "namespace n { struct A {}; }\n⟦using namespace n;\n⇒⟧",
            "namespace n {\n⟦inline ⇒⟧namespace v1 { struct T { int x; }; }\n}\n",
            "namespace n {\n⟦⇒inline ⟧namespace v1 { struct T { int x; }; }\n}\n",
        ] {
            let text = format!("{}{line}{}", guard.0, guard.1);
            assert!(changed("a.h", &text).contains(EVERYTHING), "{text}");
        }
        for line in [
            "#pragma pack(1)\nextern int f(⟦int⇒long⟧);\n",
            "#pragma pack(1)\ntypedef struct P { ⟦int⇒long⟧ x; } P;\n",
            "namespace n {\ninline namespace v1 { struct T { ⟦int⇒long⟧ x; }; }\n}\n",
        ] {
            let text = format!("{}{line}{}", guard.0, guard.1);
            let found = changed("a.h", &text);
            assert!(!found.is_empty() && !found.contains(EVERYTHING), "{text}: {found:?}");
        }
    }
}

#[test]
fn a_macro_that_makes_a_declaration_is_followed_under_any_name() {
    let follows = |text: &str, word: &str| {
        let offers = read("a.h", text);
        let words = BTreeSet::from([word.to_owned()]);
        following(&offers, &words).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert!(follows("#define MK(n) int get_##n(void);\nROWS(MK)\n#undef MK\n", "ROWS").contains(EVERYTHING));
    assert!(follows("#ifndef A_H\n#define A_H\nROWS(MK)\n#endif\n", "ROWS").contains(EVERYTHING));
    assert!(follows("struct B FINAL { int x; };\n", "FINAL").contains("B"));
    hold("a.h", &[("class API B {\n public:\n  int x(⟦int⇒long⟧ y);\n};\n", "x")]);
}

#[test]
fn what_a_script_makes_by_syntax_or_by_comments_has_a_name() {
    hold(
        "a.js",
        &[
            ("/** @typedef {{ aa: ⟦number⇒string⟧ }} T */\nexport const q = 1;\n", "T"),
            ("export function f(a) { g(a⟦, arguments⇒⟧); }\n", "f"),
            ("export function F() {}\nObject.defineProperty(F, \"x\", { value: ⟦1⇒\"a\"⟧ });\n", "F"),
        ],
    );
    for fields in ["constructor() { this.x = h(); }\n  x;", "x;\n  constructor() { this.x = h(); }"] {
        let offers = read("a.ts", &format!("export class A {{\n  {fields}\n}}\n"));
        assert!(offers.iter().any(|offer| offer.mentions.contains("h")), "{fields}");
    }
}

#[test]
fn what_elements_use_without_a_name_is_known_by_that_of_their_types() {
    hold(
        "a.d.ts",
        &[
            ("declare namespace JSX {\n  interface IntrinsicAttributes { k⟦?⇒⟧: string }\n}\n", "IntrinsicAttributes"),
            (
                "declare namespace JSX {\n  interface IntrinsicElements { [k: string]: { b: ⟦1⇒2⟧ } }\n}\n",
                "IntrinsicElements",
            ),
            ("interface Array<T> { code?: ⟦number⇒string⟧ }\n", "Array"),
        ],
    );
}

#[test]
fn a_body_of_a_template_is_offered_wherever_it_stands() {
    hold(
        "a.h",
        &[
            ("template <class T>\nvoid f(T t) { t.⟦foo⇒bar⟧(); }\n", "f"),
            ("void f(auto t) { t.⟦foo⇒bar⟧(); }\n", "f"),
            ("int &f(const auto &t) { return t.⟦foo⇒bar⟧(); }\n", "f"),
            ("template <class T>\nstruct O {\n  struct In { void f(T t) { t.⟦foo⇒bar⟧(); } };\n};\n", "f"),
            ("template <class T>\nstruct O {\n  friend void f(O o) { o.v.⟦foo⇒bar⟧(); }\n};\n", "O"),
            ("template <class T>\nstruct O {\n  O(T t) try { t.⟦foo⇒bar⟧(); } catch (...) {}\n};\n", "O"),
            ("inline void f(int t) { ⟦foo⇒bar⟧(t); }\n", ""),
        ],
    );
}

#[test]
fn a_statement_of_a_module_that_is_no_symbol_concerns_each_name_in_it() {
    hold(
        "a.ts",
        &[
            ("export {};\ndeclare global { var one: ⟦number⇒string⟧ }\n", "one"),
            ("namespace N { var ⟦one⇒two⟧: number }\n", "one"),
            ("namespace N { namespace M { var one: number; export const two = ⟦1⇒2⟧ } }\n", "two"),
        ],
    );
}

#[test]
fn a_member_with_a_computed_name_follows_from_it_and_concerns_its_class() {
    let offers = read("a.ts", "import { key } from './k';\nexport interface Op {\n  [key]: number;\n}\n");
    let changed = BTreeSet::from(["key".to_owned()]);
    let found: BTreeSet<&str> = following(&offers, &changed).collect();
    assert!(found.contains("Op"), "{found:?}");
}
