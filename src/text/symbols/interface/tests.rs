//! The effects of a change of a text on others, by examples.

use super::*;
use crate::symbols::language;

const SHOP: &str = r#"
from prices import rate, tax as vat

LIMIT = 10
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

fn read(text: &str) -> Vec<Offer> {
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
            ".LIMIT",
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
        ("LIMIT = 10", "LIMIT = 11"),
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
        ("LIMIT = 10", "LIMIT = 'ten'", "LIMIT"),
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
