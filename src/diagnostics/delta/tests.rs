//! Small changes, and the diagnostics that are new, old, fixed, hidden or uncovered by them.
//!
//! A diagnostic is written behind the word it is about: `tottl⟨F821 Undefined name "tottl"⟩`. Without a message the
//! code is the message; `⟨code ^…⟩` puts it on the file instead (an empty range at 0:0). `⟦a + b⟧⟨…⟩` is about more
//! than a word.

use proptest::prelude::*;

use crate::delta::*;
use crate::model::{Confidence, Location, Severity};
use sextant_base::positions::{Encoding, LineIndex, Position, Range};

fn diag(file: &str, range: Range, code: &str, message: &str) -> Diagnostic {
    Diagnostic {
        source: "lsp:x".into(),
        severity: Severity::Error,
        code: Some(code.into()).filter(|c: &String| c != "-"),
        message: message.into(),
        location: Location::Range { file: file.into(), range },
        confidence: Confidence::High,
        suggested_action: None,
        evidence: None,
    }
}

/// Splits a marked text into the text and its diagnostics.
fn read(file: &str, marked: &str) -> (String, Vec<Diagnostic>) {
    let (mut text, mut marks, mut rest) = (String::new(), Vec::new(), marked);
    while let Some((plain, behind)) = rest.split_once('⟨') {
        text.push_str(plain);
        let (mark, behind) = behind.split_once('⟩').expect("a closed mark");
        let (code, message) = mark.split_once(' ').unwrap_or((mark, mark));
        let word = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
        let start = word.map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
        let mut bytes = if message.starts_with('^') { 0..0 } else { start.min(text.len())..text.len() };
        if text.ends_with('⟧') {
            text.pop();
            let open = text.rfind('⟦').expect("an opened mark");
            text.remove(open);
            bytes = open..text.len();
        }
        marks.push((bytes, code, message));
        rest = behind;
    }
    text.push_str(rest);
    let index = LineIndex::new(&text);
    let make = |(bytes, code, message)| diag(file, index.range(&text, bytes, Encoding::Utf16), code, message);
    let diagnostics = marks.into_iter().map(make).collect();
    (text, diagnostics)
}

/// Everything but the plain pairs: `new 1; fixed 0; updated 0-0`.
fn shown(delta: &Delta) -> String {
    let list = |name: &str, list: Vec<String>| (!list.is_empty()).then(|| format!("{name} {}", list.join(" ")));
    let plain = |list: &[usize]| list.iter().map(usize::to_string).collect();
    let updated = delta.persisting.iter().filter(|p| p.how == MatchedBy::Updated);
    let parts = [
        list("new", plain(&delta.new)),
        list("revealed", plain(&delta.revealed)),
        list("fixed", plain(&delta.fixed)),
        list("masked", plain(&delta.masked)),
        list("updated", updated.map(|p| format!("{}-{}", p.before, p.after)).collect()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn changed(file: &str, before: &str, after: &str) -> Delta {
    let ((old, b), (new, a)) = (read(file, before), read(file, after));
    let change = SnapshotChange {
        files: vec![SnapshotFile { path: file, before: Some(&old), after: Some(&new) }],
        renames: Vec::new(),
    };
    delta(&change, &b, &a)
}

fn check(rows: &[(&str, &str, &str, &str)], files: &[&str]) {
    for (name, before, after, expected) in rows {
        for file in files {
            assert_eq!(shown(&changed(file, before, after)), *expected, "{name} in {file}\n{before}---\n{after}");
        }
    }
}

const BIG: &str = "def big(a, b):\n    first = a + b\n    second = first * a\n    third = second - b\n    return first, second, third\n";

#[test]
fn what_stands_in_place_of_gone_code_and_says_the_same_is_no_other() {
    let rows = [
        (
            "a class becomes a dataclass",
            "class Item:\n    def __init__(self, code, price: Money⟨F821 Undefined name Money⟩):\n        self.code = code\n        self.cost = price\n\n    def total(self):\n        return self.cost\n",
            "@dataclass\nclass Item:\n    code: str\n    price: Money⟨F821 Undefined name Money⟩\n\n    def total(self):\n        return self.cost\n",
            "",
        ),
        (
            "another message is another complaint",
            "class Item:\n    def __init__(self, code, price: Money⟨F821 Undefined name Money⟩):\n        self.code = code\n\n    def total(self):\n        return self.code\n",
            "class Item:\n    code: str\n    price: Cash⟨F821 Undefined name Cash⟩\n\n    def total(self):\n        return self.code\n",
            "new 0; fixed 0",
        ),
        (
            "on the other side of what stands it is another one",
            "def f(a):\n    tottl⟨F821 no⟩(a)\n    keep(a, 1)\n    return a\n",
            "def f(a):\n    keep(a, 1)\n    print(tottl⟨F821 no⟩, 'x', 9)\n    return a\n",
            "new 0; fixed 0",
        ),
    ];
    check(&rows, &["a.py"]);
}

#[test]
fn the_counter_examples_of_simpler_matchers() {
    let f = "def f(a):\n    use(a)\n    x = bad⟨E m⟩\n    return x\n";
    let small = "def small(n):\n    return n.wrong⟨E m⟩ + n.right\n";
    let rows: &[(&str, String, String, &str)] = &[
        ("a line above two old errors", format!("{f}y = bad⟨E m⟩\n"), format!("import os\n{f}y = bad⟨E m⟩\n"), ""),
        (
            "a second one above the old one, same function",
            f.into(),
            "def f(a):\n    w = other.bad⟨E m⟩\n    use(a)\n    x = bad⟨E m⟩\n    return x\n".into(),
            "new 0",
        ),
        (
            "the same message in another function",
            format!("{f}\n{BIG}"),
            format!("{f}\n{BIG}").replace("third = second - b", "third = second - bad⟨E m⟩"),
            "new 1",
        ),
        ("the old one's own line edited", f.into(), f.replace("x = bad", "xx = 1 + bad"), ""),
        ("the column shifts", f.into(), f.replace("x = bad", "much_longer_name = bad"), ""),
        ("a small function moves below a big one", format!("{small}\n\n{BIG}"), format!("{BIG}\n\n{small}"), ""),
        ("a function is renamed", f.into(), f.replace("def f", "def renamed"), ""),
        (
            "one fixed, one added, same message, same function",
            f.into(),
            "def f(a):\n    use(a)\n    x = good\n    y = worse(bad⟨E m⟩)\n    return x\n".into(),
            "new 0; fixed 0",
        ),
        (
            "a line number in the message",
            "def g(): pass\ndef g⟨E obscured by line 1⟩(): return 1\n".into(),
            "import os\n\ndef g(): pass\ndef g⟨E obscured by line 3⟩(): return 1\n".into(),
            "",
        ),
        (
            "one fixed, a different one added",
            f.into(),
            f.replace("bad⟨E m⟩", "good").replace("use(a)", "use⟨F n⟩(a)"),
            "new 0; fixed 0",
        ),
    ];
    for (name, before, after, expected) in rows {
        check(&[(name, before, after, expected)], &["a.py", "a.txt"]);
    }
}

#[test]
fn code_that_moves_takes_its_diagnostics_along() {
    check(
        &[
            (
                "wrapped in a class and indented",
                "def f(a):\n    return a.b⟨E⟩(1, 2)\n",
                "class W:\n    def f(self, a):\n        return a.b⟨E⟩(\n            1,\n            2,\n        )\n",
                "",
            ),
            (
                "extracted, while the same message appears where it stood",
                "def f(a):\n    use(a)\n    x = a.one⟨E⟩ + a.two\n    y = x * a.three\n    return y\n",
                "def part(a):\n    x = a.one⟨E⟩ + a.two\n    y = x * a.three\n    return y\n\ndef f(a):\n    use(a)\n    return part(a).other⟨E⟩\n",
                "new 1",
            ),
            (
                "extracted, and changed by a word",
                "def f(a, b):\n    use(a)\n    total = sum(a.one⟨E⟩, b.two, limit(9), name='x')\n    return total\n",
                "def part(a, b):\n    total = sum(a.one⟨E⟩, b.two, limit(12), name='x')\n    return total\n\ndef f(a, b):\n    use(a)\n    return part(a, b)\n",
                "",
            ),
            (
                "extracted twice, each changed: nobody can say which it was",
                "def f(a, b):\n    use(a)\n    total = sum(a.one⟨E⟩, b.two, limit(9), name='x')\n    return 0\n",
                "def p(a, b):\n    total = sum(a.one⟨E⟩, b.two, limit(1), name='x')\n\ndef q(a, b):\n    total = sum(a.one⟨E⟩, b.two, limit(2), name='x')\n\ndef f(a, b):\n    use(a)\n    return 0\n",
                "new 0 1; fixed 0",
            ),
            (
                "swapped methods with equal decorators",
                "class A:\n    @deco⟨E⟩\n    def f(self): return self.one(1)\n    @deco\n    def g(self): return self.two(2)\n",
                "class A:\n    @deco\n    def g(self): return self.two(2)\n    @deco⟨E⟩\n    def f(self): return self.one(1)\n",
                "",
            ),
            (
                "quotes, brackets and commas of a formatter",
                "x = f('a', bad⟨E⟩, [1, 2])\n",
                "x = f(\n    \"a\",\n    bad⟨E⟩,\n    [\n        1,\n        2,\n    ],\n)\n",
                "",
            ),
            ("a trailing comment", "x = bad⟨E⟩\ny = 1\n", "x = bad⟨E⟩  # why\ny = 1\n", ""),
            (
                "deleted here, alike elsewhere",
                "def f():\n    g(a.b⟨E⟩)\n    return 1\n\ndef h():\n    return 2\n",
                "def f():\n    return 1\n\ndef h():\n    w = [z.b⟨E⟩ for z in y]\n    return 2\n",
                "new 0; fixed 0",
            ),
        ],
        &["a.py"],
    );
}

#[test]
fn the_same_complaint_in_other_words_is_updated() {
    check(
        &[
            ("another template", "f(x⟨E one⟩)\n", "f(x⟨E two words⟩)\n", "updated 0-0"),
            (
                "a quoted name only",
                "def f(a):\n    return a.b⟨E no \"b\"⟩\n",
                "def f(a):\n    return a.c⟨E no \"c\"⟩\n",
                "",
            ),
            (
                "the same words, though one of them is a name that changed",
                "def f(a: int) -> int:\n    return a\n\ndef g() -> int:\n    return x⟨E no int⟩\n",
                "def f(a: str) -> str:\n    return a\n\n\ndef g() -> int:\n    return x⟨E no int⟩\n",
                "",
            ),
            (
                "a sibling code",
                "def f⟨D103 Missing docstring in public function⟩(): pass\n",
                "def f⟨D102 Missing docstring in public method⟩(): pass\nx = 1\n",
                "updated 0-0",
            ),
            (
                "an unrelated code",
                "x = f⟨F401 imported but unused⟩\n",
                "y = 0\nx = f⟨F821 undefined name⟩\n",
                "new 0; fixed 0",
            ),
            ("the file as a whole", "⟨D100 ^no docstring⟩import os\n", "⟨D100 ^no docstring⟩x = 1\nimport sys\n", ""),
        ],
        &["a.py", "a.txt"],
    );
}

#[test]
fn another_undefined_name_in_the_place_of_one_is_new() {
    let rows = [
        (
            "misspelt",
            "x = json⟨F821 Undefined name `json`⟩.dumps(1)\n",
            "x = jsonn⟨F821 Undefined name `jsonn`⟩.dumps(1)\n",
            "new 0; fixed 0",
        ),
        (
            "without quotes",
            "x = json⟨UndeclaredName undefined: json⟩.dumps(1)\n",
            "x = jsonn⟨UndeclaredName undefined: jsonn⟩.dumps(1)\n",
            "new 0; fixed 0",
        ),
        (
            "with a hint, under a sibling code",
            "x = json⟨2304 Cannot find name 'json'.⟩.dumps(1)\n",
            "x = jsonn⟨2552 Cannot find name 'jsonn'. Did you mean 'JSON'?⟩.dumps(1)\n",
            "new 0; fixed 0",
        ),
        (
            "only one of two",
            "x = json⟨F821 Undefined name `json`⟩.dumps(1)\ny = json⟨F821 Undefined name `json`⟩.loads(x)\n",
            "x = jsonn⟨F821 Undefined name `jsonn`⟩.dumps(1)\ny = json⟨F821 Undefined name `json`⟩.loads(x)\n",
            "new 0; fixed 0",
        ),
        (
            "a name that others have too was renamed",
            "def f(a):\n    return a\n\nx = f(1) + f⟨F821 Undefined name `f`⟩\n",
            "def g(a):\n    return a\n\nx = g(1) + g⟨F821 Undefined name `g`⟩\n",
            "",
        ),
        (
            "the same name with another hint",
            "x = json⟨2304 Cannot find name 'json'.⟩.dumps(1)\n",
            "y = json⟨2552 Cannot find name 'json'. Did you mean 'y'?⟩.dumps(1)\n",
            "updated 0-0",
        ),
        (
            "an unused name",
            "def f():\n    x⟨F841 Local variable `x` is unused⟩ = 1\n",
            "def f():\n    y⟨F841 Local variable `y` is unused⟩ = 1\n",
            "",
        ),
        (
            "a name of a type beside the one that was replaced",
            "x = a.b⟨F821 no `b` for `A`⟩\n",
            "x = a.b⟨F821 no `b` for `B`⟩\n",
            "updated 0-0",
        ),
    ];
    check(&rows, &["a.py", "a.txt"]);
}

#[test]
fn a_rewritten_statement_keeps_its_complaint_about_another_type() {
    let function = |body: &str| format!("def f(a, b) -> int:\n    use(a)\n    {body}\n");
    let class = |body: &str| format!("class C:\n    x: int = ⟦{body}⟧⟨E type \"{body}\" is not \"int\"⟩\n");
    let rows = [
        (
            "rewritten",
            "return ⟦(n for n in a)⟧⟨E type \"gen\" is not \"int\"⟩",
            "return ⟦[n for n in a]⟧⟨E type \"list\" is not \"int\"⟩",
            "updated 0-0",
        ),
        (
            "unlike",
            "return ⟦sorted(x for x in a if x)⟧⟨E type \"gen\" is not \"int\"⟩",
            "return ⟦len⟧⟨E type \"fun\" is not \"int\"⟩",
            "updated 0-0",
        ),
        (
            "wrapped",
            "return ⟦a⟧⟨E type \"gen\" is not \"int\"⟩",
            "return ⟦list(a)⟧⟨E type \"list\" is not \"int\"⟩",
            "updated 0-0",
        ),
        (
            "one argument",
            "g(⟦a⟧⟨E type \"gen\" is not \"int\"⟩, b, 1)",
            "g(⟦list(a)⟧⟨E type \"list\" is not \"int\"⟩, b, 1)",
            "updated 0-0",
        ),
        (
            "another expected type",
            "return ⟦a⟧⟨E type \"gen\" is not \"int\"⟩",
            "return ⟦list(a)⟧⟨E type \"list\" is not \"str\"⟩",
            "new 0; fixed 0",
        ),
        (
            "another argument",
            "g(⟦a⟧⟨E type \"gen\" is not \"int\"⟩, b, 1)",
            "g(a, ⟦b(0)⟧⟨E type \"list\" is not \"int\"⟩, 1)",
            "new 0; fixed 0",
        ),
        (
            "another name",
            "return ⟦aa(b)⟧⟨E no name \"aa\"⟩",
            "return ⟦b + bb(b, 1)⟧⟨E no name \"bb\"⟩",
            "new 0; fixed 0",
        ),
        (
            "another target",
            "x = ⟦a⟧⟨E type \"gen\" is not \"int\"⟩",
            "y = ⟦list(a, b)⟧⟨E type \"list\" is not \"int\"⟩",
            "new 0; fixed 0",
        ),
        (
            "another template",
            "return ⟦a⟧⟨E type \"gen\" is not \"int\"⟩",
            "return ⟦list(a)⟧⟨E a \"list\" never is an \"int\"⟩",
            "new 0; fixed 0",
        ),
        (
            "two of them",
            "return ⟦a⟧⟨E type \"gen\" is not \"int\"⟩",
            "if b: return ⟦list(a)⟧⟨E type \"list\" is not \"int\"⟩\n    return ⟦tuple(a)⟧⟨E type \"tuple\" is not \"int\"⟩",
            "new 1; updated 0-0",
        ),
        (
            "the old statement stands, and is right",
            "return ⟦a⟧⟨E type \"gen\" is not \"int\"⟩",
            "if b: return ⟦list(a)⟧⟨E type \"list\" is not \"int\"⟩\n    return a",
            "new 0; fixed 0",
        ),
    ];
    for (name, before, after, expected) in rows {
        check(&[(name, &function(before), &function(after), expected)], &["a.py"]);
    }
    check(
        &[
            ("a field", &class("a"), &class("list(a)"), "updated 0-0"),
            (
                "another function in its place",
                "def f() -> int:\n    return ⟦a⟧⟨E type \"gen\" is not \"int\"⟩\n",
                "def g() -> int:\n    return ⟦list(a)⟧⟨E type \"list\" is not \"int\"⟩\n",
                "new 0; fixed 0",
            ),
        ],
        &["a.py"],
    );
}

#[test]
fn columns_are_utf16() {
    let before = "s = '😀😀'; x = bad⟨E⟩; y = bad⟨E⟩\nß = 1\n";
    let after = "# ü😀\ns = '😀😀😀'; x = bad⟨E⟩; y = bad⟨E⟩\nß = 1\n";
    for file in ["a.py", "a.txt"] {
        let delta = changed(file, before, after);
        assert_eq!(shown(&delta), "");
        let pairs: Vec<_> = delta.persisting.iter().map(|p| (p.before, p.after, p.how)).collect();
        assert_eq!(pairs, [(0, 0, MatchedBy::Moved), (1, 1, MatchedBy::Moved)]);
    }
    // The first of two is repaired: counted in code points or bytes, the range would fall on the other.
    let one = "s = '😀😀😀😀'; x = good; y = bad⟨E⟩\n";
    check(&[("first repaired", "s = '😀😀😀😀'; x = bad⟨E⟩; y = bad⟨E⟩\n", one, "fixed 0")], &["a.py", "a.txt"]);
}

#[test]
fn broken_syntax_hides_and_repaired_syntax_uncovers() {
    let good = "import os⟨F401⟩\n\nclass A:\n    def h(self):\n        return self.one⟨E⟩\n\n    def k(self):\n        return self.two⟨E⟩\n\ndef top(a):\n    return a.three⟨E⟩\n";
    for (from, to) in [
        ("def h(self):", "def h(self:"),
        ("def h(self):", "def h(self)"),
        ("return self.two", "return (self.two"),
        ("class A:", "class A"),
        ("def top(a):", "def top(a):\n    x = [1,"),
        ("class A:", "x = '''\nclass A:"),
        ("def k(self):", "def k(self):\n        if a ="),
    ] {
        // The analyser goes on as before and adds its syntax error.
        let broken = good.replace(from, to);
        let all = format!("{broken}-⟨- Expected expression (syntax error)⟩\n");
        let delta = changed("a.py", good, &all);
        assert_eq!(shown(&delta), "new 4", "{from} -> {to}");
        // The analyser gives up.
        let silent = read("a.py", &broken).0 + "-⟨- Expected expression (syntax error)⟩\n";
        let delta = changed("a.py", good, &silent);
        assert_eq!(shown(&delta), "new 0; masked 0 1 2 3", "{from} -> {to}");
        // And back again.
        let delta = changed("a.py", &silent, good);
        assert_eq!(shown(&delta), "revealed 0 1 2 3; fixed 0", "{to} -> {from}");
    }
    let without = good.replace("        return self.two⟨E⟩", "        return (");
    check(&[("what was deleted is fixed", good, &without.replace("one⟨E⟩", "one"), "fixed 2; masked 1")], &["a.py"]);
}

#[test]
fn a_cured_import_uncovers() {
    let before = "import lib⟨reportMissingImports Import \"lib\" could not be resolved⟩\nlib.gone()\nx = 1\n";
    let after = "import lib\nlib.gone⟨E⟩()\nx = 1\ny = lib.bad⟨E⟩\n";
    let corrected = before.replace("import lib⟨", "import lbi⟨");
    let deleted = "lib⟨E⟩.gone()\nx = 1\n";
    check(
        &[
            ("import found", before, after, "new 1; revealed 0; fixed 0"),
            ("import corrected", &corrected, after, "new 1; revealed 0; fixed 0"),
            ("import deleted", before, deleted, "new 0; fixed 0"),
        ],
        &["a.py", "a.txt"],
    );
}

#[test]
fn an_include_that_is_not_found_hides_and_one_that_is_found_again_uncovers() {
    let with = |include: &str| format!("{include}\nint one() {{ return area(1); }}\nint two() {{ return side; }}\n");
    let of_clangd = |found: Vec<Diagnostic>| -> Vec<Diagnostic> {
        found.into_iter().map(|one| Diagnostic { source: "lsp:clangd".into(), ..one }).collect()
    };
    let compared = |before: &str, after: &str| {
        let ((old, b), (new, a)) = (read("a.cpp", before), read("a.cpp", after));
        let file = SnapshotFile { path: "a.cpp", before: Some(&old), after: Some(&new) };
        shown(&delta(&SnapshotChange { files: vec![file], renames: Vec::new() }, &of_clangd(b), &of_clangd(a)))
    };
    let found = with("#include \"a.hpp\"").replace("area(", "area⟨ovl_no_viable_function⟩(");
    let missing = with("#include \"b.hpp\"⟨pp_file_not_found 'b.hpp' file not found⟩");
    assert_eq!(compared(&found, &missing), "new 0; masked 0");
    assert_eq!(compared(&missing, &found), "revealed 0; fixed 0");
}

#[test]
fn a_changed_and_moved_statement_is_not_the_equal_one_of_a_new_copy() {
    let with = |name: &str, body: &str| format!("def {name}(cache, line, tag):\n{body}    return first + second\n\n\n");
    let (first, second) = ("    first = cache.get(line, tag + 1)\n", "    second = cache.total⟨E⟩(line * size, tag)\n");
    let whole = format!("{first}{second}");
    let edited = format!("{}{first}", second.replace("size", "size_2"));
    let before = with("fetch", &whole);
    let after = with("fetch", &edited) + &with("fetch_copy", &whole);
    assert_eq!(shown(&changed("a.py", &before, &after)), "new 1");
    // Without a statement like it in the symbol, the block was moved out.
    let moved = with("fetch", "    first, second = both(cache, line, tag)\n") + &with("both", &whole);
    assert_eq!(shown(&changed("a.py", &before, &moved)), "");
}

#[test]
fn files_are_paired_by_path_rename_and_likeness() {
    let (old, b) = read("old.py", "def f(a):\n    return a.one⟨E⟩ + a.two\n");
    let (new, a) = read("new.py", "import os\ndef f(a):\n    return a.one⟨E⟩ + a.two⟨E⟩\n");
    let moved = [
        SnapshotFile { path: "old.py", before: Some(&old), after: None },
        SnapshotFile { path: "new.py", before: None, after: Some(&new) },
    ];
    let rename = ("old.py".to_owned(), "new.py".to_owned());
    for renames in [Vec::new(), vec![rename]] {
        let change = SnapshotChange { files: moved.to_vec(), renames };
        assert_eq!(shown(&delta(&change, &b, &a)), "new 1");
    }
}

#[test]
fn what_has_no_place_or_no_text_is_matched_by_what_it_says() {
    let mut whole = diag("x.py", Range::default(), "E", "3 files fail");
    whole.location = Location::Project;
    let mut other = whole.clone();
    other.message = "5 files fail".into();
    let mut more = whole.clone();
    more.message = "cannot build".into();
    let mut in_file = more.clone();
    in_file.location = Location::File { file: "x.py".into() };
    let at = |line| {
        let place = Position { line, character: 4 };
        diag("untouched.py", Range { start: place, end: place }, "E", "m")
    };
    let found = delta(
        &SnapshotChange::default(),
        &[whole, at(1), at(2), in_file.clone()],
        &[other, more, at(2), at(3), in_file],
    );
    assert_eq!(shown(&found), "new 1 3; fixed 1");
    assert_eq!(found.persisting.len(), 3);
}

#[test]
fn severity_is_no_part_of_identity() {
    let (text, before) = read("a.py", "x = bad⟨E⟩\n");
    let mut after = before.clone();
    after[0].severity = Severity::Warning;
    let change = SnapshotChange {
        files: vec![SnapshotFile { path: "a.py", before: Some(&text), after: Some(&text) }],
        renames: Vec::new(),
    };
    assert_eq!(shown(&delta(&change, &before, &after)), "updated 0-0");
}

#[test]
fn what_a_tool_suggests_is_no_part_of_identity() {
    let (text, mut before) = read("a.rs", "let x = bad⟨E⟩;\n");
    let mut after = before.clone();
    before[0].suggested_action = Some("cannot infer type".to_owned());
    after[0].suggested_action = Some("consider giving `x` an explicit type".to_owned());
    let change = SnapshotChange {
        files: vec![SnapshotFile { path: "a.rs", before: Some(&text), after: Some(&text) }],
        renames: Vec::new(),
    };
    assert_eq!(shown(&delta(&change, &before, &after)), "");
}

#[test]
fn a_large_file_is_matched_whole() {
    let function = |i: usize| {
        format!(
            "def f{i}(a, b):\n    x = a.one{i}⟨E no \"one{i}\"⟩ + b\n    if x:\n        return None\n    return x.two⟨E m⟩\n\n\n"
        )
    };
    let before: String = (0..500).map(function).collect();
    let mut order: Vec<usize> = (0..500).filter(|i| i % 100 != 7).collect();
    order.extend((0..500).filter(|i| i % 100 == 7));
    let after: String = order.into_iter().map(function).collect();
    let after = after.replace("def f250(", "import os\n\n\ndef g250(").replacen(
        "    if x:",
        "    y = x.two⟨E m⟩\n    if x:",
        1,
    );
    for file in ["a.py", "a.txt"] {
        assert_eq!(shown(&changed(file, &before, &after)), "new 1");
    }
}

fn lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "def f(a):",
        "    return a.b",
        "class C:",
        "    x = 1",
        "y = (",
        ")",
        "# ü 😀 c",
        "",
        "  @d",
        "f('a', b)",
        "'''",
    ]);
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
}

fn diagnostics() -> impl Strategy<Value = Vec<Diagnostic>> {
    let place = || (0u32..16, 0u32..14).prop_map(|(line, character)| Position { line, character });
    let one = (place(), place(), 0..3usize, prop::sample::select(vec!["a.py", "b.txt", "c.py"]), 0..6usize);
    let one = one.prop_map(|(start, end, code, file, what)| {
        let mut d = diag(file, Range { start, end }, ["A", "B1", "B2"][code], ["m 1", "m 2", "\"q\""][code]);
        match what {
            0 => d.location = Location::Project,
            1 => d.location = Location::File { file: file.into() },
            2 => d.message = "syntax error".into(),
            _ => {}
        }
        d
    });
    prop::collection::vec(one, 0..12)
}

proptest! {
    #[test]
    fn every_diagnostic_stands_in_exactly_one_list(
        old in lines(), new in lines(), other in lines(), b in diagnostics(), a in diagnostics())
    {
        let change = SnapshotChange {
            files: vec![
                SnapshotFile { path: "a.py", before: Some(&old), after: Some(&new) },
                SnapshotFile { path: "b.txt", before: Some(&other), after: Some(&new) },
                SnapshotFile { path: "c.py", before: None, after: Some(&other) },
            ],
            renames: Vec::new(),
        };
        let found = delta(&change, &b, &a);
        let mut before: Vec<usize> = found.persisting.iter().map(|p| p.before).collect();
        before.extend(found.fixed.iter().chain(&found.masked));
        before.sort_unstable();
        prop_assert_eq!(before, (0..b.len()).collect::<Vec<_>>());
        let mut after: Vec<usize> = found.persisting.iter().map(|p| p.after).collect();
        after.extend(found.new.iter().chain(&found.revealed));
        after.sort_unstable();
        prop_assert_eq!(after, (0..a.len()).collect::<Vec<_>>());
        for pair in &found.persisting {
            prop_assert_eq!(&b[pair.before].source, &a[pair.after].source);
        }
    }

    #[test]
    fn nothing_changes_when_nothing_changes(text in lines(), all in diagnostics(), above in 0..3usize) {
        let shifted = format!("{}{text}", "# above\n".repeat(above));
        let change = SnapshotChange {
            files: vec![SnapshotFile { path: "a.py", before: Some(&text), after: Some(&text) }],
            renames: Vec::new(),
        };
        let found = delta(&change, &all, &all);
        prop_assert_eq!(found.persisting.len(), all.len());
        prop_assert!(found.persisting.iter().all(|p| p.how == MatchedBy::Same));
        let change = SnapshotChange {
            files: vec![SnapshotFile { path: "a.py", before: Some(&text), after: Some(&shifted) }],
            renames: Vec::new(),
        };
        let found = delta(&change, &[], &[]);
        prop_assert_eq!(found, Delta::default());
    }
}
