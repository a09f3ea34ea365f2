//! Tests which text is taken of replies as small models give them.

use super::*;
use sextant_text::symbols::language;

const CART: &str = "\
\"\"\"A cart.\"\"\"

import os


class Cart:
    # The sum.
    def total(self):
        return 1

    def count(self):
        return 2


def total():
    return 3
";

fn asked<'t>(names: &'t str, request: &'t str) -> AskedPiece<'t> {
    AskedPiece { text: CART, language: language::of_path("a.py"), names, request }
}

fn fenced(code: &str) -> String {
    format!("```python\n{code}\n```")
}

/// The file after a reply about a symbol.
fn after(names: &str, reply: &str) -> Result<String, CompactFault> {
    let asked = asked(names, "make it so");
    let taken = take(asked, reply, false)?;
    if names.is_empty() { Ok(taken.content) } else { placed(asked, asked.language.unwrap(), &taken) }
}

fn refused(names: &str, reply: &str) -> String {
    match after(names, reply) {
        Ok(text) => panic!("it was taken: {text}"),
        Err(fault) => fault.problems.join("; "),
    }
}

#[test]
fn a_method_is_taken_whatever_way_it_is_indented() {
    let wanted = CART.replace("return 1", "return 10");
    for code in [
        "def total(self):\n    return 10",
        "    def total(self):\n        return 10",
        "def total(self):\n        return 10",
        "        def total(self):\n            return 10\n\n",
        "\n\ndef total(self):\n\treturn 10",
        "# The sum.\ndef total(self):\n    return 10",
        "class Cart:\n    def total(self):\n        return 10",
        "class Cart:\n    # The sum.\n    def total(self):\n        return 10\n\n    def count(self):\n        return 99",
    ] {
        assert_eq!(after("Cart::total", &fenced(code)).as_deref(), Ok(wanted.as_str()), "{code}");
    }
    let whole = wanted.replace("return 3", "return 33");
    assert_eq!(after("Cart::total", &fenced(&whole)).as_deref(), Ok(wanted.as_str()), "of a whole file only that");
}

#[test]
fn prose_several_fences_and_none_are_read() {
    let wanted = CART.replace("return 3", "return 30");
    let code = "def total():\n    return 30";
    for reply in [
        format!("Sure, here it is:\n\n{}\n\nIt returns 30 now.", fenced(code)),
        format!("Before:\n{}\nAfter:\n{}", fenced("def total():\n    return 3"), fenced(code)),
        format!("{}\nUse it so:\n{}", fenced(code), fenced("print(total())")),
        format!("{}\nAnd it was:\n{}", fenced(code), fenced("def total():\n    return 3")),
        code.to_owned(),
        format!("{code}\n"),
        format!("~~~py\r\n{}\r\n~~~", code.replace('\n', "\r\n")),
    ] {
        assert_eq!(after("total", &reply).as_deref(), Ok(wanted.as_str()), "{reply}");
    }
}

#[test]
fn what_is_not_the_whole_symbol_is_refused() {
    assert!(refused("total", "```python\ndef total():\n    return").contains("not closed"));
    assert!(take(asked("total", "x"), "def total():\n    ret", true).unwrap_err().problems[0].contains("the middle"));
    assert!(refused("total", &fenced("def other():\n    return 1")).contains("`other` and not `total`"));
    assert!(refused("total", &fenced("return 30")).contains("does not define `total`"));
    assert!(refused("total", "I cannot do that.").contains("does not define"));
    assert!(refused("total", "").contains("does not define"));
    assert!(refused("total", &fenced("def total():\n    # ... rest of the code\n    return 1")).contains("left out"));
    assert!(refused("total", &fenced("def total():\n    return (1")).contains("does not parse"));
    assert!(refused("total", &fenced("def total():\n    return 3   ")).contains("nothing was changed"));
    let beside = "def total():\n    return half() * 2\n\n\ndef half():\n    return 1";
    assert!(refused("total", &fenced(beside)).contains("`half`"));
}

#[test]
fn a_name_that_the_request_gives_is_the_symbol_s_new_one() {
    let reply = fenced("def whole_sum():\n    return 3");
    assert!(take(asked("total", "rename it to whole_sum"), &reply, false).is_ok());
    assert!(take(asked("total", "make it quicker"), &reply, false).is_err());
}

#[test]
fn imports_that_come_along_are_put_behind_the_others() {
    let reply = fenced("import os\nfrom math import pi\n\ndef total():\n    return pi");
    let wanted = CART.replace("return 3", "return pi").replace("import os\n", "import os\nfrom math import pi\n");
    assert_eq!(after("total", &reply).as_deref(), Ok(wanted.as_str()));
    let alone = CART.replace("import os\n", "import os\nfrom math import pi\n");
    assert_eq!(
        after("total", &fenced("from math import pi")).as_deref(),
        Ok(alone.as_str()),
        "alone, they are the change"
    );
    assert!(refused("total", &fenced("from math import pi\nreturn pi")).contains("does not define"));
    let python = language::of_path("a.py").unwrap();
    let import = ["import re".to_owned()];
    assert_eq!(
        with_imports("\"\"\"Doc.\"\"\"\n\n\nx = 1\n", python, &import),
        "\"\"\"Doc.\"\"\"\n\nimport re\n\n\nx = 1\n"
    );
    assert_eq!(with_imports("x = 1\n", python, &import), "import re\n\nx = 1\n");
    assert_eq!(with_imports("", python, &import), "import re\n");
}

#[test]
fn of_a_file_the_whole_is_taken_or_the_symbols_that_are_given() {
    let wanted = CART.replace("return 3", "return 30");
    assert_eq!(after("", &fenced(&wanted)).as_deref(), Ok(wanted.as_str()));
    assert_eq!(after("", &fenced("def total():\n    return 30")).as_deref(), Ok(wanted.as_str()));
    assert!(refused("", &fenced("def new():\n    return 30")).contains("`Cart` is missing"));
    assert!(refused("", &fenced("# ... existing code\ndef total():\n    return 30")).contains("left out"));
    assert!(refused("", &fenced(CART)).contains("nothing was changed"));
    let more = format!("{CART}\n\ndef new():\n    return 4\n");
    assert_eq!(after("", &fenced(&more)).as_deref(), Ok(more.as_str()));
    let text = AskedPiece { text: "a = 1\n", language: None, names: "", request: "a is 2" };
    assert_eq!(take(text, &fenced("a = 2"), false).unwrap().content, "a = 2\n");
}

#[test]
fn a_symbol_of_any_language_is_taken_as_one_of_python_is() {
    for (file, text, names, reply, old, new) in [
        (
            "a.ts",
            "import x from 'x';\n\nclass Cart {\n  /** Sums. */\n  @dec()\n  total(): number {\n    return 1;\n  }\n}\n",
            "Cart::total",
            "total(): number {\n  const one = () => 2;\n  return one();\n}",
            "    return 1;\n",
            "    const one = () => 2;\n    return one();\n",
        ),
        (
            "a.rs",
            "use std::fmt;\n\nimpl Cart {\n    /// Sums.\n    #[inline]\n    fn total(&self) -> u8 {\n        1\n    }\n}\n",
            "Cart::total",
            "use std::io;\n\nfn total(&self) -> u8 {\n    2\n}",
            "use std::fmt;\n\nimpl Cart {\n    /// Sums.\n    #[inline]\n    fn total(&self) -> u8 {\n        1\n",
            "use std::fmt;\nuse std::io;\n\nimpl Cart {\n    /// Sums.\n    #[inline]\n    fn total(&self) -> u8 {\n        2\n",
        ),
        (
            "a.go",
            "package a\n\nfunc (c *Cart) Total() int {\n\treturn 1\n}\n",
            "Cart::Total",
            "import \"fmt\"\n\nfunc (c *Cart) Total() int {\n\treturn 2\n}",
            "package a\n\nfunc (c *Cart) Total() int {\n\treturn 1\n",
            "package a\n\nimport \"fmt\"\n\nfunc (c *Cart) Total() int {\n\treturn 2\n",
        ),
        (
            "a.lua",
            "local M = {}\n\nfunction M.f()\n  return 1\nend\n\nreturn M\n",
            "M::f",
            "function M.f()\n  return 2\nend",
            "1",
            "2",
        ),
        ("a.hpp", "class A {\n  int f() { return 1; }\n};\n", "A::f", "int f() { return 2; }", "1", "2"),
        ("A.java", "class A {\n  @Override\n  int f() { return 1; }\n}\n", "A::f", "int f() { return 2; }", "1", "2"),
        ("a.sh", "#!/bin/sh\nf() {\n  echo 1\n}\n", "f", "f() {\n  echo 2\n}", "echo 1", "echo 2"),
    ] {
        let asked = AskedPiece { text, language: language::of_path(file), names, request: "make it so" };
        let taken =
            take(asked, &format!("```\n{reply}\n```"), false).unwrap_or_else(|fault| panic!("{file}: {fault:?}"));
        let after = placed(asked, asked.language.unwrap(), &taken).unwrap();
        assert_eq!(after, text.replace(old, new), "{file}");
        let other = take(asked, "```\nx\n```", false);
        assert!(other.is_err(), "{file}");
    }
}

/// The problem of a reply about a symbol of a text in any language, or the text after it.
fn of_text(path: &str, text: &str, names: &str, code: &str) -> Result<String, String> {
    let asked = AskedPiece { text, language: language::of_path(path), names, request: "make it so" };
    let taken = take(asked, &fenced(code), false).map_err(|fault| fault.problems.join("; "))?;
    if names.is_empty() {
        return Ok(taken.content);
    }
    placed(asked, asked.language.unwrap(), &taken).map_err(|fault| fault.problems.join("; "))
}

#[test]
fn what_stands_behind_a_mark_that_closes_too_much_is_not_lost() {
    for (path, text, code, wanted) in [
        ("a.ts", "function f() {\n  return 1;\n}\n", "function f() {\n  if (a) {\n  }\n  }\n  return 2;\n}", "`}`"),
        ("a.rs", "fn f() -> u8 {\n    1\n}\n", "fn f() -> u8 {\n    if true {\n    }\n    }\n    2\n}", "`2`"),
        (
            "a.lua",
            "local function f()\n  return 1\nend\n",
            "local function f()\n  x()\n  end\n  return 2\nend",
            "`end`",
        ),
        ("a.py", "def f():\n    return 1\n", "def f():\n    return (2\n", "`return (2`"),
    ] {
        let problem = of_text(path, text, "f", code).expect_err(path);
        assert_eq!(problem, format!("it does not parse: syntax error at {wanted}"), "{path}");
    }
    let code = "fn f() -> u8 {\n    2\n}\n\nfn main() {\n    f();\n}";
    assert_eq!(of_text("a.rs", "fn f() -> u8 {\n    1\n}\n", "f", code).as_deref(), Ok("fn f() -> u8 {\n    2\n}\n"));
}

#[test]
fn a_symbol_keeps_the_holder_that_its_header_names() {
    let lua = "local M = {}\n\nfunction M.split(text)\n  return text\nend\n\nreturn M\n";
    for code in ["function split(text)\n  return 2\nend", "local function split(text)\n  return 2\nend"] {
        let problem = of_text("a.lua", lua, "M::split", code).expect_err(code);
        assert!(problem.ends_with("it has to begin with `function M.split(text)`"), "{problem}");
    }
    let go = "package a\n\nfunc (c *Cart) Total() int {\n\treturn 1\n}\n";
    let problem = of_text("a.go", go, "Cart::Total", "func Total() int {\n\treturn 2\n}").expect_err("a function");
    assert!(problem.contains("`func (c *Cart) Total() int {`"), "{problem}");
    let code = "function M.split(text)\n  return 2\nend";
    assert_eq!(of_text("a.lua", lua, "M::split", code), Ok(lua.replace("return text", "return 2")));
    let rust = "impl Cart {\n    fn total(&self) -> u8 {\n        1\n    }\n}\n";
    let taken = of_text("a.rs", rust, "Cart::total", "fn total(&self) -> u8 {\n    2\n}");
    assert_eq!(taken, Ok(rust.replace('1', "2")));
}

#[test]
fn a_symbol_keeps_the_modifiers_that_a_reply_has_lost() {
    for (path, text, names, code, wanted) in [
        (
            "a.ts",
            "export async function f(): Promise<number> {\n  return 1;\n}\n",
            "f",
            "function f(): Promise<number> {\n  return 2;\n}",
            "export async function f(): Promise<number> {\n  return 2;\n}\n",
        ),
        (
            "a.ts",
            "class Cart {\n  /** Sums. */\n  private total(): number {\n    return 1;\n  }\n}\n",
            "Cart::total",
            "total(): number {\n  return 2;\n}",
            "class Cart {\n  /** Sums. */\n  private total(): number {\n    return 2;\n  }\n}\n",
        ),
        (
            "a.rs",
            "impl Cart {\n    /// Sums.\n    pub(crate) fn total(&self) -> u8 {\n        1\n    }\n}\n",
            "Cart::total",
            "fn total(&self) -> u8 {\n    2\n}",
            "impl Cart {\n    /// Sums.\n    pub(crate) fn total(&self) -> u8 {\n        2\n    }\n}\n",
        ),
        (
            "A.java",
            "class A {\n  @Override\n  public int f() { return 1; }\n}\n",
            "A::f",
            "int f() { return 2; }",
            "class A {\n  @Override\n  public int f() { return 2; }\n}\n",
        ),
        (
            "a.c",
            "static int f(void) { return 1; }\n",
            "f",
            "int f(void) { return 2; }",
            "static int f(void) { return 2; }\n",
        ),
        (
            "a.lua",
            "local function f()\n  return 1\nend\n",
            "f",
            "function f()\n  return 2\nend",
            "local function f()\n  return 2\nend\n",
        ),
        ("a.py", "async def f():\n    return 1\n", "f", "def f():\n    return 2", "async def f():\n    return 2\n"),
        (
            "a.ts",
            "export function f() {\n  return 1;\n}\n\nexport const g = 2;\n",
            "",
            "function f() {\n  return 3;\n}\n\nconst g = 2;\n",
            "export function f() {\n  return 3;\n}\n\nexport const g = 2;\n",
        ),
    ] {
        assert_eq!(of_text(path, text, names, code).as_deref(), Ok(wanted), "{path} {names}: {code}");
    }
    let (text, code) = ("export function f() {\n  return 1;\n}\n", "function f() {\n  return 1;\n}");
    let problem = of_text("a.ts", text, "f", code).expect_err("nothing but a modifier is lost");
    assert!(problem.contains("nothing was changed"), "{problem}");
    let asked = AskedPiece { text, language: language::of_path("a.ts"), names: "f", request: "f is internal now" };
    assert_eq!(take(asked, &fenced(code), false).unwrap().content, code, "the request speaks of it");
}

#[test]
fn a_member_that_is_answered_as_if_it_stood_alone_is_brought_into_its_class() {
    let ts = "class Cart {\n  total(): number {\n    return 1;\n  }\n\n  count() {\n    return 2;\n  }\n}\n";
    let js = "const cart = {\n  total() {\n    return 1;\n  },\n};\n";
    let hpp = "class Cart {\n  int total() { return 1; }\n};\n";
    let rs = "impl Cart {\n    /// Sums.\n    fn total(&self) -> u8 {\n        1\n    }\n}\n";
    for (path, text, code) in [
        ("a.ts", ts, "function total(): number {\n  return 3;\n}"),
        ("a.ts", ts, "export function total(): number {\n  return 3;\n}"),
        ("a.ts", ts, "class Cart {\n  total(): number {\n    return 3;\n  }\n}"),
        ("a.js", js, "function total() {\n  return 3;\n}"),
        ("a.js", js, "const cart = {\n  total() {\n    return 3;\n  },\n};"),
        ("a.hpp", hpp, "int Cart::total() { return 3; }"),
        ("a.rs", rs, "impl Cart {\n    fn total(&self) -> u8 {\n        3\n    }\n}"),
        ("a.rs", rs, "impl Cart {\n    /// Sums.\n    fn total(&self) -> u8 {\n        3\n    }\n\n    fn x() {}\n}"),
    ] {
        let names = if path == "a.js" { "cart::total" } else { "Cart::total" };
        assert_eq!(of_text(path, text, names, code), Ok(text.replace('1', "3")), "{path}: {code}");
    }
    let ts = ts.replace("total()", "async *total()").replace(": number", "");
    let code = "async function* total() {\n  return 3;\n}";
    assert_eq!(of_text("a.ts", &ts, "Cart::total", code), Ok(ts.replace('1', "3").replace("*total", "* total")));
}

#[test]
fn a_text_that_does_not_fit_in_its_place_is_refused_with_its_line() {
    let ts = "class Cart {\n  total(): number {\n    return 1;\n  }\n}\n";
    let go = "package a\n\nfunc (c *Cart) Total() int {\n\treturn 1\n}\n";
    let rs = "impl Cart {\n    fn total(&self) -> u8 {\n        1\n    }\n}\n";
    for (path, text, names, code, line) in [
        (
            "a.ts",
            ts,
            "Cart::total",
            "const total = (): number => {\n  return 3;\n};",
            "`const total = (): number => {`",
        ),
        ("a.go", go, "Cart::Total", "func Total() int {\n\treturn 3\n}", "`func (c *Cart) Total() int {`"),
        ("a.rs", rs, "Cart::total", "let total = |cart: &Cart| 3;", "`total`"),
    ] {
        let problem = of_text(path, text, names, code).expect_err(path);
        assert!(problem.contains(line), "{path}: {problem}");
    }
}

#[test]
fn an_import_stands_below_the_others_or_below_what_opens_the_file() {
    for (path, text, import, wanted) in [
        ("a.py", "# About f.\ndef f(): ...\n", "import re", "import re\n\n# About f.\ndef f(): ...\n"),
        (
            "a.py",
            "#!/usr/bin/python\n# About f.\ndef f(): ...\n",
            "import re",
            "#!/usr/bin/python\n\nimport re\n\n# About f.\ndef f(): ...\n",
        ),
        (
            "a.py",
            "\"\"\"Doc.\"\"\"\n# About f.\ndef f(): ...\n",
            "import re",
            "\"\"\"Doc.\"\"\"\n\nimport re\n\n# About f.\ndef f(): ...\n",
        ),
        (
            "a.py",
            "import os\n\nif TYPE_CHECKING:\n    import a\n\n\ndef f(): ...\n\n\nimport late\n",
            "import re",
            "import os\nimport re\n\nif TYPE_CHECKING:\n    import a\n\n\ndef f(): ...\n\n\nimport late\n",
        ),
        (
            "a.ts",
            "/** About f. */\nfunction f() {}\n",
            "import r from 'r';",
            "import r from 'r';\n\n/** About f. */\nfunction f() {}\n",
        ),
        (
            "a.ts",
            "// Licence.\n\n/** About f. */\nfunction f() {}\n",
            "import r from 'r';",
            "// Licence.\n\nimport r from 'r';\n\n/** About f. */\nfunction f() {}\n",
        ),
        (
            "a.js",
            "#!/usr/bin/env node\n'use strict';\n// About f.\nfunction f() {}\n",
            "import r from 'r';",
            "#!/usr/bin/env node\n'use strict';\n\nimport r from 'r';\n\n// About f.\nfunction f() {}\n",
        ),
        (
            "a.rs",
            "//! Module.\n\n#![allow(dead_code)]\n\n/// About f.\nfn f() {}\n",
            "use std::io;",
            "//! Module.\n\n#![allow(dead_code)]\n\nuse std::io;\n\n/// About f.\nfn f() {}\n",
        ),
        (
            "a.rs",
            "/// About f.\nfn f() {}\n\nmod b {\n    use c;\n}\n",
            "use std::io;",
            "use std::io;\n\n/// About f.\nfn f() {}\n\nmod b {\n    use c;\n}\n",
        ),
        (
            "a.go",
            "// Package a.\npackage a\n\n// F does.\nfunc F() {}\n",
            "import \"fmt\"",
            "// Package a.\npackage a\n\nimport \"fmt\"\n\n// F does.\nfunc F() {}\n",
        ),
        (
            "A.java",
            "package a;\n/** About. */\nclass A {}\n",
            "import b.C;",
            "package a;\n\nimport b.C;\n\n/** About. */\nclass A {}\n",
        ),
        (
            "a.h",
            "#ifndef A_H\n#define A_H\n#include \"b.h\"\n\n// About f.\nint f();\n#endif\n",
            "#include <x.h>",
            "#ifndef A_H\n#define A_H\n#include \"b.h\"\n#include <x.h>\n\n// About f.\nint f();\n#endif\n",
        ),
        (
            "a.h",
            "// Licence.\n#pragma once\n// About f.\nint f();\n",
            "#include <x.h>",
            "// Licence.\n#pragma once\n\n#include <x.h>\n\n// About f.\nint f();\n",
        ),
        (
            "a.c",
            "#include <a.h>\n#ifdef W\n#include <w.h>\n#endif\n\nint f(void) { return 1; }\n",
            "#include <x.h>",
            "#include <a.h>\n#include <x.h>\n#ifdef W\n#include <w.h>\n#endif\n\nint f(void) { return 1; }\n",
        ),
        (
            "a.lua",
            "-- About f.\nlocal function f() end\n",
            "local r = require('r')",
            "local r = require('r')\n\n-- About f.\nlocal function f() end\n",
        ),
        (
            "a.sh",
            "#!/bin/bash\n# About f.\nf() { :; }\n",
            ". ./r.sh",
            "#!/bin/bash\n\n. ./r.sh\n\n# About f.\nf() { :; }\n",
        ),
    ] {
        let language = language::of_path(path).unwrap();
        assert_eq!(with_imports(text, language, &[import.to_owned()]), wanted, "{path}: {text}");
    }
}
