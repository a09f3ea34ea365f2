//! The effects of a change of a text on others, by examples.

use super::*;
use crate::symbols::language;

const SHOP: &str = r#"
from prices import rate, tax as vat

limit = 10
NAME: str = "shop"


def make_item(name: str, price: float) -> dict[str, float]:
    """An item."""
    total = price * 2  # doubled
    return {name: total}


def _base(price):
    extra = rate(price)
    return extra + 1


def shown(price):
    return str(_base(price))


def log(text):
    print(text)


class Cart(object):
    size = 3

    def __init__(self, owner: str):
        self.owner = owner
        self.items = []

    def total(self, discount: float = 0.0) -> float:
        local = 3
        return local * discount

    def first(self):
        for item in self.items:
            return item
"#;

pub(super) fn read(text: &str) -> Vec<Offer> {
    offers(language::of_path("a.py").unwrap(), text).unwrap()
}

/// The effect on others of a change at one place of the text.
fn change(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    assert_eq!(SHOP.matches(old).count(), 1, "{old}");
    let changed = changed_words(&read(SHOP), &read(&SHOP.replace(old, new)), &|_| false);
    (changed.words.into_iter().collect(), changed.added.into_iter().collect())
}

fn words(old: &str, new: &str) -> Vec<String> {
    change(old, new).0
}

#[test]
fn what_a_module_offers_is_named_with_its_owner() {
    let named: Vec<String> = read(SHOP).iter().map(|offer| format!("{}.{}", offer.owner, offer.name)).collect();
    assert_eq!(
        named,
        [
            ".rate",
            ".vat",
            ".limit",
            ".NAME",
            ".make_item",
            "._base",
            ".shown",
            ".log",
            ".Cart",
            "Cart.size",
            "Cart.__init__",
            "Cart.owner",
            "Cart.items",
            "Cart.total",
            "Cart.first",
        ]
    );
}

#[test]
fn an_edit_of_a_body_whose_result_is_declared_reaches_nothing() {
    for (old, new) in [
        ("total = price * 2  # doubled", "total = price * 3"),
        ("return {name: total}", "return {}"),
        ("\"\"\"An item.\"\"\"", "\"\"\"One item, doubled.\"\"\""),
        ("local = 3", "local = 4; other = local"),
        ("print(text)", "print(text, text)"),
        ("limit = 10", "limit = 11"),
        ("NAME: str = \"shop\"", "NAME: str = make()"),
        ("# doubled", "# twice"),
        ("def log(text):", "# logs\ndef log(text):"),
        ("def make_item(name: str, price: float)", "def make_item(\n    name: str, price: float\n)"),
    ] {
        let changed = change(old, new);
        assert_eq!(changed, (Vec::new(), Vec::new()), "{old} -> {new}");
    }
}

#[test]
fn what_is_gone_or_used_in_another_way_is_named() {
    for (old, new, wanted) in [
        ("def make_item(name: str, price: float)", "def make_item(name: str, price: float, tax: float)", "make_item"),
        ("-> dict[str, float]", "-> dict[str, int]", "make_item"),
        ("def make_item(name", "def make_items(name", "make_item"),
        ("def log(text):", "def log(text, end):", "log"),
        ("    print(text)", "    raise ValueError(text)", "log"),
        ("limit = 10", "limit = 'ten'", "limit"),
        ("NAME: str", "NAME: bytes", "NAME"),
        ("import rate, tax as vat", "import rate", "vat"),
        ("    size = 3\n", "", "size"),
        ("self.items = []", "self.items = {}", "items"),
        ("def total(self, discount: float = 0.0)", "def total(self)", "total"),
        ("-> float:\n        local", "-> int:\n        local", "total"),
    ] {
        let found = words(old, new);
        assert!(found.contains(&wanted.to_owned()), "{old} -> {new}: {found:?}");
    }
}

#[test]
fn an_inferred_type_follows_from_what_the_body_says() {
    assert_eq!(words("extra + 1", "str(extra)"), ["_base", "shown"]);
    assert_eq!(words("extra = rate(price)", "extra = str(rate(price))"), ["_base", "shown"]);
    assert_eq!(words("import rate,", "import price as rate,"), ["_base", "rate", "shown"]);
    assert!(words("return item", "return str(item)").contains(&"first".to_owned()));
}

#[test]
fn what_is_used_by_syntax_is_used_through_its_class() {
    let changed = words("def __init__(self, owner: str):", "def __init__(self, owner: str, size: int):");
    assert!(changed.contains(&"Cart".to_owned()) && !changed.contains(&"__init__".to_owned()), "{changed:?}");
    assert!(words("class Cart(object):", "class Cart(dict):").contains(&"Cart".to_owned()));
    let (words, added) = change("    size = 3\n", "    size = 3\n\n    def __iter__(self):\n        return iter([])\n");
    assert!(words.contains(&"Cart".to_owned()) && added.is_empty(), "{words:?} {added:?}");
}

#[test]
fn a_new_member_may_be_overridden_elsewhere_and_a_new_function_concerns_nobody() {
    let member = change("    size = 3\n", "    size = 3\n\n    def pay(self) -> None:\n        pass\n");
    assert_eq!(member, (Vec::new(), vec!["pay".to_owned()]));
    let function = change("def log(text):", "def pay() -> None:\n    pass\n\n\ndef log(text):");
    assert_eq!(function, (Vec::new(), Vec::new()));
    let after = SHOP.replace("def log(text):", "def pay() -> None:\n    pass\n\n\ndef log(text):");
    let created = changed_words(&read(SHOP), &read(&after), &|_| false).created;
    assert_eq!(created.into_iter().collect::<Vec<_>>(), ["pay"]);
}

#[test]
fn locals_and_parameters_are_no_uses_of_what_others_offer() {
    let offers = read("def f(total, *, size=LIMIT):\n    price = total\n    return price + size + self.name\n");
    let mentions: Vec<&str> = offers[0].mentions.iter().map(String::as_str).collect();
    assert!(mentions.contains(&"LIMIT") && mentions.contains(&"name"), "{mentions:?}");
    assert!(
        !mentions.contains(&"total") && !mentions.contains(&"price") && !mentions.contains(&"size"),
        "{mentions:?}"
    );
}

/// The words that an edit of a text changes.
pub(super) fn changed(before: &str, after: &str) -> Vec<String> {
    changed_words(&read(before), &read(after), &|_| false).words.into_iter().collect()
}

#[test]
fn a_literal_of_another_type_changes_the_name_and_one_of_the_same_type_does_not() {
    for (old, new, is_changed) in [
        ("20", "0.2", true),
        ("0", "0.2", true),
        ("20", "2j", true),
        ("20", "2e3", true),
        ("0x1e", "0.5", true),
        ("20", "0x2e", false),
        ("0.5", ".25", false),
        ("20", "30", false),
        ("20", "True", true),
        ("'a'", "b'a'", true),
        ("'a'", "f'a'", true),
        ("'a'", "'b'", false),
        ("(1, 2)", "(1, 2, 3)", true),
        ("(1, 'a')", "(1, 'b')", true),
        ("[1]", "[2]", false),
        ("lambda: 1", "lambda: 1.5", true),
    ] {
        let module = |value: &str| format!("rate = {value}\n");
        let member = |value: &str| format!("class A:\n    def __init__(self):\n        self.rate = {value}\n");
        for text in [&module as &dyn Fn(&str) -> String, &member] {
            let found = changed(&text(old), &text(new));
            assert_eq!(found == ["rate"], is_changed, "{old} -> {new}: {found:?}");
        }
    }
    // The type of a constant is its very value.
    assert_eq!(changed("MODE = 'r'\n", "MODE = 'w'\n"), ["MODE"]);
}

#[test]
fn every_form_of_a_binding_is_read() {
    for (old, new, name) in [
        ("(a, (b, *c)), d = pair()", "(a, (b, *x)), d = pair()", "c"),
        ("(a, b), c = 1, 2", "(b, a), c = 1, 2", "a"),
        ("for (a, b), c in pairs:\n    print(a)", "for (b, a), c in pairs:\n    print(a)", "b"),
        ("for a, b in pairs:\n    print(a)", "for b, a in pairs:\n    print(a)", "b"),
        ("for a in one():\n    print(a)", "for a in two():\n    print(a)", "a"),
        ("with one() as (a, b):\n    pass", "with two() as (a, b):\n    pass", "b"),
        ("with one() as a:\n    pass", "with one() as b:\n    pass", "a"),
        ("print(a := 1)", "print(a := 'x')", "a"),
        ("import x.y as a", "import x.z as a", "a"),
        ("import x.y, x.z", "import x.y, x.w", "x"),
        ("from x import y as a", "from w import y as a", "a"),
        ("try:\n    pass\nexcept A as a:\n    pass", "try:\n    pass\nexcept B as a:\n    pass", "a"),
        ("match x:\n    case [a, *b]:\n        pass", "match x:\n    case [a, *c]:\n        pass", "b"),
        ("match x:\n    case P(y=a) as b:\n        pass", "match x:\n    case P(y=_) as b:\n        pass", "a"),
        ("match x:\n    case {'k': a, **b}:\n        pass", "match x:\n    case {'k': b}:\n        pass", "a"),
        ("match x:\n    case [_] as a:\n        pass", "match x:\n    case [_]:\n        pass", "a"),
    ] {
        let found = changed(&format!("{old}\n"), &format!("{new}\n"));
        assert!(found.contains(&name.to_owned()), "{old} -> {new}: {found:?}");
    }
}

#[test]
fn every_form_of_a_binding_of_an_attribute_is_read() {
    let method = |line: &str| format!("class A:\n    def run[T](self, x: T) -> None:\n        {line}\n");
    for (old, new) in [
        ("self.a = 1", "self.a = 'x'"),
        ("self.a += 1", "self.a += 0.5"),
        ("pass", "self.a += 0.5"),
        ("[self.a, self.b] = 1, 2", "[self.a, self.b] = 1.5, 2"),
        ("(x, (self.a, y)), z = one()", "(x, (self.a, y)), z = two()"),
        ("for x, self.a in one(): pass", "for self.a, x in one(): pass"),
        ("with one() as self.a: pass", "with two() as self.a: pass"),
    ] {
        let found = changed_words(&read(&method(old)), &read(&method(new)), &|_| false).all();
        assert!(found.contains("a"), "{old} -> {new}: {found:?}");
    }
}

#[test]
fn a_declared_result_leaves_the_kind_of_a_function_and_an_abstract_body_to_read() {
    let method = |head: &str, body: &str| format!("{head}\n    def run(self) -> int:\n        {body}\n");
    for head in ["class A(Protocol):", "class A(ABC):\n    @abstractmethod"] {
        for body in ["...", "raise NotImplementedError", "raise NotImplementedError('later')"] {
            let found = changed(&method(head, "return 1"), &method(head, body));
            assert!(found.contains(&"run".to_owned()), "{head} {body}: {found:?}");
        }
        assert_eq!(changed(&method(head, "return 1"), &method(head, "return 2")), Vec::<String>::new());
    }
    assert_eq!(changed(&method("class A:", "raise NotImplementedError"), &method("class A:", "return 1")), [""; 0]);
    for head in ["async def f() -> A:", "def f() -> A:"] {
        let changed = changed(&format!("{head}\n    yield 1\n"), &format!("{head}\n    return other()\n"));
        assert_eq!(changed, ["f"]);
    }
    let ends = |error: &str| format!("def f(x):\n    raise {error}\n");
    assert_eq!(changed(&ends("ValueError"), &ends("NotImplementedError")), ["f"]);
}

#[test]
fn a_mention_counts_where_no_local_name_hides_it() {
    for text in [
        "def f():\n    return dict(total=total())\n",
        "def f(total=total()):\n    return total\n",
        "def f(total: total):\n    return 1\n",
        "def f():\n    return [total for total in total()]\n",
        "def f():\n    g = lambda total: total\n    return g(total())\n",
        "def f():\n    def g(total):\n        return total\n    return g(total())\n",
        "class A:\n    def total(self):\n        return super().total()\n",
        "class total(a.total):\n    pass\n",
    ] {
        assert!(read(text).iter().any(|offer| offer.mentions.contains("total")), "{text}");
    }
    for text in [
        "def total():\n    return 1\n",
        "def f(total):\n    return total\n",
        "def f():\n    return [total for total in g()]\n",
        "def f():\n    return lambda total=1: total\n",
        "def f():\n    for (total, x) in g():\n        return total\n",
        "def f():\n    return g(total=1)\n",
        "from a import total\n",
    ] {
        assert!(read(text).iter().all(|offer| !offer.mentions.contains("total")), "{text}");
    }
}

#[test]
fn the_names_that_a_module_lists_no_longer_are_changed() {
    let list = |names: &str| format!("__all__ = [{names}]\n\n\ndef f() -> int:\n    return 1\n");
    let found = changed(&list("'f', 'g'"), &list("'g'"));
    assert!(found.contains(&"f".to_owned()) && found.contains(&EVERYTHING.to_owned()), "{found:?}");
    assert!(!found.contains(&"g".to_owned()), "{found:?}");
}

#[test]
fn any_text_can_be_read() {
    for text in
        ["", "def", "class A(:\n  x = ", "from x import *\n", "\u{feff}x: int = 1\n", "def f():\n\treturn 'ü'\n"]
    {
        let offers = read(text);
        assert_eq!(changed_words(&offers, &offers, &|_| false), ChangedWords::default(), "{text:?}");
    }
    assert!(words("from prices import rate, tax as vat", "from prices import *").contains(&"rate".to_owned()));
}

#[test]
fn a_number_in_a_statement_that_does_not_parse_is_not_a_name() {
    let language = language::of_path("cart.cpp").unwrap();
    let words = unreadable_words(language, "int f( { return 3 + size2; }\n", "int f() { return 3; }\n");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words, ["f", "int", "return", "size2"]);
}
