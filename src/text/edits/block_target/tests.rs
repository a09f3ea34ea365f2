//! Tests of the rules: which symbol a block is for, where a new one goes, which blocks go nowhere.

use super::*;
use crate::symbols::language;

/// The target of a block in a text, with the cursor at `$0`: how, and the text after it.
fn applied(path: &str, marked: &str, block: &str, wanted: &str) -> Result<(String, String), BlockFault> {
    let text = marked.replacen("$0", "", 1);
    let language = language::of_path(path).unwrap();
    let outline = Outline::parse(language, &text);
    let file = CodeFile { language, text: &text, outline: &outline, cursor: marked.find("$0") };
    let target = target(file, block, wanted)?;
    let how = match target.anchor.map(|anchor| outline.path_of(anchor)) {
        Some(anchor) if target.is_new => format!("{} after {anchor}", target.names),
        Some(_) => target.names,
        None => format!("{} at the end", target.names),
    };
    Ok((how, target.after))
}

fn how(path: &str, marked: &str, block: &str, wanted: &str) -> String {
    applied(path, marked, block, wanted).map_or_else(|fault| fault.to_string(), |(how, _)| how)
}

const CART: &str = "import os$0\n\n\nclass Cart:\n    def total(self):\n        return 1\n\n    def add(self, x):\n        \
                    return x\n\n\nclass Shop:\n    def total(self):\n        return 2\n\n    def close(self):\n        \
                    return 3\n\n\ndef main():\n    pass\n";

/// The cart with the cursor behind this text.
fn at(place: &str) -> String {
    let text = CART.replace("$0", "");
    let end = text.find(place).unwrap() + place.len();
    format!("{}$0{}", &text[..end], &text[end..])
}

#[test]
fn the_name_that_the_block_defines_is_the_target() {
    assert_eq!(how("a.py", CART, "def main():\n    return 1\n", ""), "main");
    assert_eq!(how("a.py", CART, "def add(self, x):\n    return 2 * x\n", ""), "Cart::add", "the only one");
    assert_eq!(how("a.py", &at("return 3"), "def total(self):\n    return 9\n", ""), "Shop::total", "the nearest");
    let both = "Cart::total, Shop::total is in several places";
    assert_eq!(how("a.py", CART, "def total(self):\n    return 9\n", ""), both);
    assert_eq!(how("a.py", &at("def main"), "def total(self):\n    return 9\n", "Shop::total"), "Shop::total");
}

#[test]
fn a_block_without_a_definition_is_for_the_symbol_under_the_cursor_if_it_keeps_its_name() {
    let lost = "the code block defines no symbol and would take Cart::add away";
    assert_eq!(how("a.py", &at("return x"), "return 2 * x\n", ""), lost);
    let nothing = "the code block defines no symbol, and no symbol is under the cursor";
    assert_eq!(how("a.py", CART, "x = 1\n", ""), nothing);
    assert_eq!(how("a.py", CART, " \n", ""), "the code block is empty");
    let other = "def sum(self):\n    return 1\n";
    let taken = "the code block defines sum and would take Cart::total away";
    assert_eq!(how("a.py", CART, other, "Cart::total"), taken);
}

#[test]
fn a_method_at_the_margin_gets_the_indentation_of_its_place() {
    let (how, after) = applied("a.py", CART, "def add(self, x):\n    return 2 * x\n", "").unwrap();
    assert_eq!(how, "Cart::add");
    assert_eq!(after, CART.replace("$0", "").replace("        return x\n", "        return 2 * x\n"));
    let (how, after) = applied("a.py", &at("return 1"), "def sum(self):\n    return 4\n", "").unwrap();
    assert_eq!(how, "Cart::sum after Cart::total");
    let wanted = "        return 1\n\n    def sum(self):\n        return 4\n\n    def add";
    assert!(after.contains(wanted), "{after}");
}

#[test]
fn a_new_symbol_goes_behind_the_one_at_the_cursor_or_to_the_end() {
    let new = "def more():\n    return 1\n";
    assert_eq!(how("a.py", &at("def main"), new, ""), "more after main");
    assert_eq!(how("a.py", CART, new, ""), "more after main");
    assert_eq!(how("a.py", &at("class Cart"), new, ""), "Cart::more after Cart::add", "the end of its container");
    assert_eq!(how("a.py", &at("return 1\n"), new, ""), "Cart::more after Cart::total", "the gap between two members");
    assert_eq!(how("a.py", &at("return 1"), "class Basket:\n    pass\n", ""), "Basket after Cart");
    assert_eq!(how("a.py", &at("return 1"), new, "more"), "more after Cart");
    assert_eq!(how("a.py", &at("return 1"), new, "Shop::more"), "Shop::more after Shop::close");
    assert_eq!(how("a.py", CART, new, "Basket::more"), "there is no Basket that the new symbol could go into");
    assert_eq!(how("a.py", CART, new, "other"), "the code block defines more, and other does not exist");
    let (how, after) = applied("a.py", "import os\n$0", new, "").unwrap();
    assert_eq!((how.as_str(), after.as_str()), ("more at the end", "import os\n\n\ndef more():\n    return 1\n"));
}

#[test]
fn of_several_definitions_one_must_be_the_target_and_the_others_new() {
    let two = "def total(self):\n    return 1\n\n\ndef add(self, x):\n    return x\n";
    assert_eq!(
        how("a.py", &at("return 1"), two, ""),
        "the code block defines total and add, and one symbol is applied at a time"
    );
    let helper = "def one():\n    return 1\n\n\ndef main():\n    return one()\n";
    assert_eq!(how("a.py", CART, helper, ""), "main");
    let none = "def one():\n    return 1\n\n\ndef two():\n    return 1\n";
    assert_eq!(how("a.py", CART, none, ""), "the code block defines one and two, and one symbol is applied at a time");
}

#[test]
fn a_class_around_one_member_is_its_frame_and_the_other_members_stay() {
    let framed = "class Cart:\n    # ...\n\n    def add(self, x):\n        return 2 * x\n\n    # the rest\n";
    let (target, after) = applied("a.py", CART, framed, "").unwrap();
    assert_eq!(target, "Cart::add");
    assert_eq!(after, CART.replace("$0", "").replace("        return x\n", "        return 2 * x\n"));
    let new = "class Cart:\n    def sum(self):\n        return 4\n";
    assert_eq!(how("a.py", CART, new, ""), "Cart::sum after Cart::add");
    assert_eq!(how("a.py", CART, framed, "Cart::add"), "Cart::add");
    let whole = "class Cart:\n    items = 1\n\n    def add(self, x):\n        return x\n";
    assert_eq!(how("a.py", CART, whole, ""), "Cart", "it says more than where the member belongs");
}

#[test]
fn a_block_that_does_not_parse_goes_nowhere() {
    assert_eq!(how("a.py", CART, "def main(:\n    return\n", ""), "the code block does not parse");
    assert_eq!(how("a.py", CART, "- return 1\n+ return 2 +\n", ""), "the code block does not parse");
}

#[cfg(feature = "lang-web")]
#[test]
fn a_member_that_means_nothing_alone_is_read_in_its_place() {
    let text = "class Cart {\n  total() {\n    return 1;\n  }\n}\n\nfunction main() {$0}\n";
    let (target, after) = applied("a.js", text, "total() {\n  return 2;\n}\n", "").unwrap();
    assert_eq!(target, "Cart::total");
    assert!(after.contains("  total() {\n    return 2;\n  }\n}\n"), "{after}");
    let inside = text.replace("$0", "").replace("return 1;", "return 1;$0");
    assert_eq!(how("a.js", &inside, "sum() {\n  return 2;\n}\n", ""), "Cart::sum after Cart::total");
    let outside = "function sum() {\n  return 2;\n}\n";
    assert_eq!(how("a.js", &inside, outside, ""), "sum after Cart", "no function stands in a class");
}

#[cfg(feature = "lang-system")]
#[test]
fn a_method_with_its_type_in_front_goes_to_that_type() {
    let text = "package a\n\ntype Cart struct {\n\tn int\n}\n\nfunc (c *Cart) Total() int {\n\treturn 1\n}\n\nfunc main() {$0}\n";
    assert_eq!(how("a.go", text, "func (c *Cart) Total() int {\n\treturn 2\n}\n", ""), "Cart::Total");
    assert_eq!(how("a.go", text, "func (c *Cart) Sum() int {\n\treturn 2\n}\n", ""), "Cart::Sum after Cart::Total");
    let rust = "struct Cart;\n\nimpl Cart {\n    fn total(&self) -> u8 {\n        1\n    }\n\n    fn add(&self) {}\n}\n\nfn main() {$0}\n";
    let framed = "impl Cart {\n    fn total(&self) -> u8 {\n        2\n    }\n}\n";
    assert_eq!(how("a.rs", rust, framed, ""), "Cart::total");
    assert_eq!(how("a.rs", rust, &framed.replace("total", "sum"), ""), "Cart::sum after Cart::add");
}

#[test]
fn imports_of_a_block_go_to_those_of_the_file() {
    let block =
        "from __future__ import annotations\nimport os\nimport re\n\n\ndef add(self, x):\n    return re.sub(x, x, x)\n";
    let (how, after) = applied("a.py", CART, block, "").unwrap();
    let text = CART.replace("$0", "").replace("        return x\n", "        return re.sub(x, x, x)\n");
    let wanted = text.replace("import os\n", "from __future__ import annotations\nimport os\nimport re\n");
    assert_eq!((how.as_str(), after), ("Cart::add", wanted));
    let (how, after) = applied("a.py", "x = 1$0\n", "import re\n\ndef f():\n    return re\n", "").unwrap();
    assert_eq!((how.as_str(), after.as_str()), ("f at the end", "import re\n\nx = 1\n\n\ndef f():\n    return re\n"));
}

#[test]
fn the_last_line_of_a_file_without_symbols_keeps_its_blanks() {
    for (text, above) in [("x = 1\t \n\n\n\n", "x = 1\t \n"), ("x = 1  ", "x = 1  \n"), ("x = 1 \r\n", "x = 1 \n")] {
        let (_, after) = applied("a.py", text, "def f():\n    return 2\n", "f").unwrap();
        assert_eq!(after, format!("{above}\n\ndef f():\n    return 2\n"));
    }
}
