//! Tests of unchecked code: a text a case, in which the unchecked names say so by themselves.

use super::*;
use crate::symbols::language::of_path;

/// A text in which `conditional_…`, `expanded_…`, `instantiated_…`, `excluded_…` and `example_…` stand in such code, and
/// `checked_…` does not.
const CASES: &[(&str, &str)] = &[
    (
        "a.rs",
        "\
#[cfg(feature = \"extra\")]
#[inline]
// Of old.
fn conditional_one() {}
#[cfg(test)]
mod checked_tests {}
#[cfg(any(test, windows))]
fn checked_two() {}
/// Words.
/// ```
/// example_three();
/// ```
/// ```text
/// checked_four();
/// ```
fn checked_five() {
    #[cfg(not(unix))]
    conditional_six();
}
mod inner {
    #![cfg(windows)]
    fn conditional_seven() {}
}
cfg_if! { if #[cfg(windows)] { fn conditional_eight() {} } }
macro_rules! checked_nine {
    ($checked_ten:expr) => { expanded_eleven() };
}
/**
 * ```no_run
 * example_thirteen();
 */
fn checked_fourteen() {}
",
    ),
    (
        "a.c",
        "\
#ifdef DEBUG
int conditional_one(void);
#else
int conditional_two(void);
#endif
int checked_three(void) {
#if 0
    conditional_four();
#elif defined(X)
    conditional_five();
#endif
    return 1;
}
struct checked_six {
#if LONG
    int conditional_seven;
#endif
    int checked_eight;
};
",
    ),
    (
        "a.h",
        "\
#ifndef checked_A_H
#define checked_A_H
#ifdef __cplusplus
extern \"C\" {
#endif
int checked_one(void);
#ifdef _WIN32
int conditional_two(void);
#endif
#ifdef __cplusplus
}
#endif
#endif
",
    ),
    ("b.h", "#if !defined(B_H)\n#define B_H\nint checked_one(void);\n#endif\n"),
    (
        "a.cpp",
        "\
int checked_one() { return 1; }
int two(int n) {
#ifdef A
    if (conditional_three(n)) {
#else
    if (conditional_four(n)) {
#endif
        return 1;
    }
    return 2;
}
",
    ),
    ("a.go", "package a\n\nfunc checked_one() {}\n"),
    ("a_test.go", "package a\n\nfunc checked_one() {}\n"),
    ("a_windows.go", "package a\n\nfunc conditional_one() {}\n"),
    ("a_linux_arm64_test.go", "package a\n\nfunc conditional_one() {}\n"),
    ("a.go", "//go:build integration\n\npackage a\n\nfunc conditional_one() {}\n"),
    ("a.go", "// Words.\n\n//go:build !windows\n\npackage a\n\nfunc checked_one() {}\n"),
    ("a.go", "// +build ignore\n\npackage a\n\nfunc conditional_one() {}\n"),
    (
        "a.py",
        "\
import os
import sys
from typing import TYPE_CHECKING, no_type_check

if TYPE_CHECKING:
    import checked_one
else:
    import conditional_two
if not TYPE_CHECKING:
    import conditional_three
else:
    import checked_four
if sys.platform == 'win32':
    conditional_five()
elif conditional_six():
    conditional_seven()
else:
    conditional_eight()
if sys.version_info >= (3, 11):
    conditional_nine()
if checked_ten():
    checked_eleven()
elif os.name == 'nt':
    conditional_twelve()
else:
    conditional_thirteen()
x = conditional_a() if sys.platform == 'darwin' else conditional_b()
y = sys.platform == 'win32' and conditional_c()


def checked_f():
    assert sys.platform == 'linux'
    conditional_fourteen()
    conditional_fifteen()


def checked_g():
    if sys.platform != 'linux':
        raise OSError
    conditional_sixteen()
    return 1


def checked_h():
    if os.name == 'nt':
        conditional_d()
        sys.exit(1)
    conditional_seventeen()


def checked_i():
    if sys.version_info < (3, 9):
        raise OSError
    checked_eighteen()
    if False:
        conditional_nineteen()


@no_type_check
def excluded_j():
    excluded_twenty()
",
    ),
    ("a.py", "# type: ignore\nexcluded_one()\n"),
    ("a.py", "import checked_one\n# type: ignore\nchecked_two()\n"),
    ("a.ts", "// @ts-nocheck\nexcluded_one();\n"),
    ("a.tsx", "/* @ts-nocheck */\nexcluded_one();\n"),
    ("a.js", "// @ts-ignore\nchecked_one();\n"),
    (
        "a.h",
        "\
template <class T>
void checked_a(T checked_b) { instantiated_one(); }
template <class T> requires checked_c<T>
struct checked_d {
  struct In { void go(T t) { t.instantiated_two(); } };
  friend void instantiated_three(T t) { t.foo(); }
  void run(T t) try { t.instantiated_four(); } catch (...) {}
};
template <class T>
template <class U>
void checked_e<T>::f(U u) { u.instantiated_five(); }
void checked_f(auto t) { t.instantiated_six(); }
int &checked_g(const auto &t) { return t.instantiated_seven(); }
inline auto checked_h = [](auto x) { return x.instantiated_eight(); };
template <> struct checked_i<int> { int checked_j() { return checked_k(); } };
inline int checked_l(int x) { return checked_m(x); }
template <class T> T checked_n(T);
",
    ),
    ("a.cpp", "template <class T>\nvoid checked_a(T t) { checked_b(t); }\n"),
    #[cfg(feature = "lang-more")]
    ("a.cs", "class A {\n#if DEBUG\n  void conditional_one() {}\n#endif\n  void checked_two() {}\n}\n"),
];

const KINDS: &[(&str, Unchecked)] = &[
    ("conditional_", Unchecked::Conditional),
    ("expanded_", Unchecked::Expanded),
    ("instantiated_", Unchecked::Instantiated),
    ("excluded_", Unchecked::Excluded),
    ("example_", Unchecked::Example),
];

#[test]
fn unchecked_code_is_found_by_its_reason_and_no_other_code_is() {
    for (path, text) in CASES {
        let found = of(of_path(path).unwrap(), path, text);
        let has = |kind: &Unchecked, word: &str| {
            found.parts.get(kind).is_some_and(|parts| parts.iter().any(|part| part.contains(word)))
        };
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let words =
            words.filter(|word| KINDS.iter().any(|(start, _)| word.starts_with(start)) || word.starts_with("checked_"));
        for word in words {
            for (start, kind) in KINDS {
                assert_eq!(has(kind, word), word.starts_with(start), "{path}: {word} {kind:?}: {found:?}");
            }
            if KINDS[..4].iter().any(|(start, _)| word.starts_with(start)) {
                assert!(!found.checked.contains(word), "{path}: {word}: {found:?}");
            } else if word.starts_with("checked_") {
                assert!(found.checked.contains(word), "{path}: {word}: {found:?}");
            }
        }
    }
}

#[test]
fn modules_and_files_of_examples_are_named() {
    let text =
        "#![doc = include_str!(\"../README.md\")]\n#[cfg(windows)]\nmod win;\nmod plain;\n#[cfg(x)]\nuse a::b;\n";
    let found = of(of_path("src/lib.rs").unwrap(), "src/lib.rs", text);
    assert_eq!(found.modules, ["win"]);
    let [(path, fences)] = found.examples_of.as_slice() else { panic!("{found:?}") };
    assert_eq!(path, "../README.md");
    let markdown = "# A\n\n```toml\na = 1\n```\n\n```rust,no_run\none();\n```\n";
    assert_eq!(fences.examples(markdown), ["one();\n"]);
}
