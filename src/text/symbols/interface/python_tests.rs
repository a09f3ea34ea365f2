//! Covers the offers of a Python text beyond its headers, by examples.

use super::tests::{changed, read};
use super::*;
use crate::symbols::language;

#[test]
fn what_a_function_binds_for_others_is_read_through_its_locals() {
    let global = |body: &str| format!("from a import op\ncur = None\n\n\ndef run(n: int) -> None:\n    {body}\n");
    let method = |body: &str| format!("class A:\n    def run(self, raw: object, n: int) -> None:\n        {body}\n");
    for (old, new) in [
        ("v = n + 1; self.cur = v", "v = str(n); self.cur = v"),
        ("v = 1; w = v; self.cur = w", "v = 'a'; w = v; self.cur = w"),
        ("v, w = op(); self.cur = w", "v, w = other(); self.cur = w"),
        ("print(v := op()); self.cur = v", "print(v := other()); self.cur = v"),
        ("from a import v; self.cur = v", "from b import v; self.cur = v"),
        ("raw.x = 1; self.cur = raw.x", "raw.x = 'a'; self.cur = raw.x"),
        ("assert isinstance(raw, int); self.cur = raw", "assert isinstance(raw, str); self.cur = raw"),
        ("self.all = op(); self.cur = self.all", "self.all = other(); self.cur = self.all"),
        ("with op() as f:\n            self.cur = f", "with other() as f:\n            self.cur = f"),
        ("for v in op():\n            self.cur = v", "for v in other():\n            self.cur = v"),
        (
            "if isinstance(raw, int):\n            self.cur = raw",
            "if isinstance(raw, str):\n            self.cur = raw",
        ),
        ("if raw is None: raise E\n        self.cur = raw", "if raw is None: log()\n        self.cur = raw"),
        ("def f(): return 1\n        self.cur = f()", "def f(): return 'a'\n        self.cur = f()"),
        (
            "try: v = op()\n        except E: v = 1\n        self.cur = v",
            "try: v = op()\n        except E: v = ''\n        self.cur = v",
        ),
    ] {
        let found = changed(&method(old), &method(new));
        assert!(found.contains(&"cur".to_owned()), "{old} -> {new}: {found:?}");
    }
    for (old, new) in [
        ("v = n + 1; cur = v", "v = str(n); cur = v"),
        ("pass\n    with op() as f: cur = f", "pass\n    with other() as f: cur = f"),
        ("[(v := x) for x in op()]; cur = v", "[(v := x) for x in other()]; cur = v"),
    ] {
        let found = changed(&global(&format!("global cur; {old}")), &global(&format!("global cur; {new}")));
        assert_eq!(found, ["cur"], "{old} -> {new}");
    }
    let far = read(&method("v = op()\n        w = v\n        self.cur = w"));
    assert!(far.iter().any(|offer| offer.name == "cur" && offer.mentions.contains("op")), "{far:?}");
    let typed = |kind: &str| global("global cur; cur = n").replace("n: int", kind);
    assert_eq!(changed(&typed("n: int"), &typed("n: str")), ["cur", "run"]);
    for (old, new) in [
        ("v = 1; self.cur = v", "v = 2; self.cur = v"),
        ("self.cur = raw", "print(raw); self.cur = raw"),
        ("self.cur = raw", "self.cur = raw; assert raw"),
        ("self.n = 0; self.n = self.n + 1", "self.n = 1; self.n = self.n + 2"),
        ("v = op(); self.cur = raw", "v = other(); self.cur = raw"),
        ("if n: print(n)\n        self.cur = raw", "if n: print(1)\n        self.cur = raw"),
        ("v = op(); self.cur: int = v", "v = other(); self.cur: int = v"),
    ] {
        assert_eq!(changed(&method(old), &method(new)), [""; 0], "{old} -> {new}");
    }
}

#[test]
fn a_list_that_a_text_gives_of_itself_is_read_beside_its_declared_type() {
    for (list, class) in [("__all__: list[str]", EVERYTHING), ("class A:\n    __slots__: tuple[str, ...]", "A")] {
        let found = changed(&format!("{list} = 'f', 'g'\n"), &format!("{list} = 'f',\n"));
        assert!(found.contains(&class.to_owned()), "{list}: {found:?}");
    }
}

#[test]
fn a_method_that_has_to_be_filled_in_from_now_on_concerns_its_class() {
    let class = |mark: &str| format!("class A(ABC):\n    {mark}\n    def run(self) -> int:\n        return 1\n");
    for (old, new) in [("", "@abstractmethod"), ("@property", "@property\n    @abstractmethod")] {
        for (old, new) in [(old, new), (new, old)] {
            let found = changed(&class(old), &class(new));
            assert!(found.contains(&"A".to_owned()), "{old} -> {new}: {found:?}");
        }
    }
}

#[test]
fn members_decide_how_the_type_arguments_of_a_class_may_differ() {
    let class = |head: &str, more: &str| format!("class A{head}:\n    def run(self) -> T: ...\n{more}");
    let more = "    def put(self, v: T) -> None: ...\n";
    assert_eq!(changed(&class("[T]", ""), &class("[T]", more)), ["A"]);
    assert_eq!(changed(&class("[T]", more), &class("[T]", &more.replace("v: T", "v: int"))), ["A", "put"]);
    assert_eq!(changed(&class("", ""), &class("", more)), [""; 0]);
    let members = structural_members(language::of_path("a.py").unwrap(), &class("[T]", more));
    assert!(members.is_empty(), "{members:?}");
}

#[test]
fn a_class_of_several_bases_is_known_and_so_are_the_classes_with_other_members() {
    let offers =
        read("class A(B, C):\n    pass\n\n\nclass D(B[int]):\n    pass\n\n\nclass E(a.B, metaclass=M):\n    pass\n");
    assert_eq!(offers.iter().map(|offer| offer.bases).collect::<Vec<_>>(), [2, 1, 1]);
    let class = |result: &str| read(&format!("class A:\n    class B:\n        def run(self) -> {result}: ...\n"));
    assert_eq!(changed_words(&class("int"), &class("str"), &|_| false).classes, BTreeSet::from(["B".to_owned()]));
    let added = changed_words(&read("class A: ...\n"), &class("int"), &|_| false).classes;
    assert_eq!(added, ["A", "B"].map(str::to_owned).into());
}

#[test]
fn a_protocol_under_another_name_is_one() {
    for text in [
        "from typing import Protocol as P\nclass A(P):\n    def run(self): ...\n",
        "from typing import Protocol as P\nclass A(P[T]):\n    def run(self): ...\n",
    ] {
        let members = structural_members(language::of_path("a.py").unwrap(), text);
        assert_eq!(members, BTreeSet::from(["run".to_owned()]), "{text}");
    }
}

#[test]
fn literals_that_choose_between_types_are_read() {
    for (old, new) in [
        ("v = 1 or 'x'", "v = 0 or 'x'"),
        ("v = 1 and 'x'", "v = 0 and 'x'"),
        ("v = 1 if 1 else 'x'", "v = 1 if 0 else 'x'"),
        ("v = (1, 'a', x)  [0]", "v = (1, 'a', x)  [1]"),
        ("print([(v := i) for i in [1]])", "print([(v := i) for i in ['1']])"),
        ("[x for i in op() if (v := i)]", "[x for i in other() if (v := i)]"),
    ] {
        let found = changed(&format!("{old}\n"), &format!("{new}\n"));
        assert!(found.contains(&"v".to_owned()), "{old} -> {new}: {found:?}");
    }
    let method = |value: &str| format!("class A:\n    def __init__(self):\n        self.v = {value}\n");
    assert_eq!(changed(&method("'a' or None"), &method("'' or None")), ["v"]);
    assert_eq!(changed("v = [1]\n", "v = [2]\n"), [""; 0]);
}
