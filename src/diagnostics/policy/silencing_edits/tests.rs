//! Each rule has edits that it must object to, and repairs that it must leave alone.

use super::*;

fn rules(path: &str, before: &str, after: &str) -> Vec<&'static str> {
    let edit = WholeEdit::of([(path, before, after)]);
    objections(path, before, after, &edit).into_iter().map(|objection| objection.rule).collect()
}

const F: &str = "from typing import cast\n\n\ndef f(x: int) -> str:\n    y = x.name\n    assert y\n    return y\n";

#[test]
fn every_way_of_hiding_has_a_rule_that_objects() {
    let with = |old: &str, new: &str| {
        assert!(F.contains(old), "{old}");
        rules("a.py", F, &F.replace(old, new))
    };
    for (old, new, rule) in [
        ("x.name\n", "x.name  # type: ignore\n", "suppression_comment"),
        ("x.name\n", "x.name  # type: ignore[attr-defined]\n", "suppression_comment"),
        ("x.name\n", "x.name  # pyright: ignore[reportAttributeAccessIssue]\n", "suppression_comment"),
        ("x.name\n", "x.name  # noqa\n", "suppression_comment"),
        ("x.name\n", "x.name  #noqa:F821\n", "suppression_comment"),
        ("x.name\n", "x.name  # pylint: disable=no-member\n", "suppression_comment"),
        ("x.name\n", "x.name  # ty: ignore[unresolved-attribute]\n", "suppression_comment"),
        ("from typing", "# pyright: basic\nfrom typing", "suppression_comment"),
        ("from typing", "# pyright: reportGeneralTypeIssues=false\nfrom typing", "suppression_comment"),
        ("from typing", "# mypy: ignore-errors\nfrom typing", "suppression_comment"),
        ("from typing", "# ruff: noqa\nfrom typing", "suppression_comment"),
        ("from typing", "# ruff: noqa: F821\nfrom typing", "suppression_comment"),
        ("from typing", "# pylint: skip-file\nfrom typing", "suppression_comment"),
        ("x.name", "cast(Any, x).name", "any_cast"),
        ("x.name", "typing.cast(\"Any\", x).name", "any_cast"),
        ("x.name", "globals()[\"x\"].name", "names_by_string"),
        ("x.name", "x.__dict__[\"name\"]", "names_by_string"),
        ("x.name", "getattr(x, \"name\")", "constant_getattr"),
        ("x.name", "getattr(x, \"name\", None)", "getattr_default"),
        ("x.name", "eval(\"x.name\")", "code_in_string"),
        ("def f", "@no_type_check\ndef f", "no_type_check"),
        ("def f", "@typing.no_type_check\ndef f", "no_type_check"),
        ("    y = x.name\n", "    if not TYPE_CHECKING:\n        y = x.name\n", "type_checking_guard"),
        (
            "    y = x.name\n",
            "    if TYPE_CHECKING:\n        y = ''\n    else:\n        y = x.name\n",
            "type_checking_guard",
        ),
        ("    y = x.name\n", "    y = ''\n    if False:\n        y = x.name\n", "dead_code"),
        ("    y = x.name\n", "    return ''\n    y = x.name\n", "dead_code"),
        ("def f", "@pytest.mark.skip\ndef f", "test_skipped"),
        ("def f", "@pytest.mark.xfail(reason='x')\ndef f", "test_skipped"),
        ("def f", "@unittest.skip('x')\ndef f", "test_skipped"),
        ("    y = x.name\n", "    pytest.skip('x')\n    y = x.name\n", "test_skipped"),
        ("    assert y\n", "", "check_removed"),
        ("assert y", "assert True", "check_removed"),
        ("    y = x.name\n    assert y\n    return y\n", "    pass\n", "body_emptied"),
        ("    y = x.name\n    assert y\n    return y\n", "    raise NotImplementedError\n", "body_emptied"),
        (
            "def f(x: int) -> str:\n    y = x.name\n    assert y\n",
            "def g(x: int) -> str:\n    y = x.name\n",
            "check_removed",
        ),
        ("x: int", "x: Any", "any_annotation"),
        ("x: int", "x: dict[str, Any]", "any_annotation"),
        ("import cast", "import Any as A, cast", "any_annotation"),
        ("x: int", "x", "annotation_removed"),
        ("    y = x.name\n", "    try:\n        y = x.name\n    except Exception:\n        pass\n", "error_swallowed"),
        ("from typing", "from shop import *\nfrom typing", "wildcard_import"),
    ] {
        assert!(with(old, new).contains(&rule), "{new:?}: {:?}", with(old, new));
    }
}

#[test]
fn repairs_are_left_alone() {
    for (before, after) in [
        ("import os\nx = 1  # noqa\n", "x = 1  # noqa\n"),
        ("x = 1  # noqa\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # type: ignore\ny = 2\n", "y = 2\nx = 1  # type: ignore\n"),
        ("if x == None:\n    y()\n", "if x is None:\n    y()\n"),
        ("def f(x):\n    return x.nam\n", "def f(x):\n    return x.name\n"),
        ("def f():\n    return y\n", "import y\n\n\ndef f():\n    return y\n"),
        ("import a\n", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import a\n"),
        ("# pyright: basic\n", "# pyright: strict\n"),
        ("x = 1\n", "# pyright: strict\nx = 1\n"),
        ("x = 1\n", "# fmt: off\nx = 1\n"),
        ("x = 1\n", "x = '# type: ignore'\n"),
        ("x = 1\n", "x = 1  # the type: ignored by nobody\n"),
        ("def f(x):\n    return x\n", "def f(x: int) -> int:\n    return x\n"),
        ("def f(x):\n    return getattr(x, n)\n", "def f(x, n):\n    return getattr(x, n)\n"),
        ("assert a == None\n", "assert a is None\n"),
        ("def f():\n    pass\n", "def f():\n    return 1\n"),
        ("def f():\n    pass\n", "def f():\n    pass\n\n\ndef g():\n    ...\n"),
        ("def f():\n    assert x\n    return 1\n\n\ny = 1\n", "y = 1\n"),
        ("try:\n    a()\nexcept:\n    raise\n", "try:\n    a()\nexcept ValueError:\n    raise\n"),
        ("for x in y:\n    if x:\n        continue\n    a()\n", "for x in y:\n    if not x:\n        a()\n"),
    ] {
        assert_eq!(rules("a.py", before, after), Vec::<&str>::new(), "{after}");
    }
}

#[test]
fn other_languages_are_read_by_their_marks() {
    for (path, added, rule) in [
        ("a.ts", "// @ts-ignore", "suppression_comment"),
        ("a.js", "/* eslint-disable no-undef */", "suppression_comment"),
        ("a.ts", "const x = y as any;", "any_annotation"),
        ("a.js", "it.skip('x', () => {});", "test_skipped"),
        ("a.js", "try { x() } catch (e) {}", "error_swallowed"),
        ("a.rs", "#[allow(dead_code)]", "suppression_comment"),
        ("a.rs", "#![allow(clippy::all)]", "suppression_comment"),
        ("a.rs", concat!("#[", "ignore]"), "test_skipped"),
        ("a.go", "x() //nolint:errcheck", "suppression_comment"),
        ("a.c", "int x; // NOLINT", "suppression_comment"),
        ("A.java", "@SuppressWarnings(\"unchecked\")", "suppression_comment"),
        ("a.rb", "# rubocop:disable Metrics/AbcSize", "suppression_comment"),
        ("a.sh", "# shellcheck disable=SC2086", "suppression_comment"),
        ("a.lua", "---@diagnostic disable: undefined-global", "suppression_comment"),
        ("a.lua", "if false then x() end", "dead_code"),
        ("a.lua", "pcall(x)", "error_swallowed"),
        ("a.sh", "if false; then x; fi", "dead_code"),
        ("a.sh", "y || true", "error_swallowed"),
        ("a.rs", "if false { x() }", "dead_code"),
        ("a.rs", "let _ = y();", "error_swallowed"),
        ("a.go", "v, _ := y()", "error_swallowed"),
        ("a.cpp", "#if 0\n#endif", "dead_code"),
        ("a.cpp", "auto z = const_cast<T *>(y);", "type_asserted"),
        ("a.ts", "if (false) { x(); }", "dead_code"),
        ("a.ts", "const z = y!.name;", "type_asserted"),
        ("a.ts", "const z = y as Cart;", "type_asserted"),
        ("a.ts", "const z = y as string;", "type_asserted"),
        ("a.ts", "const z = (y as unknown) as Set<string>", "any_annotation"),
        ("a.ts", "const z = <Cart><unknown>y", "any_annotation"),
        ("a.vue", "const z = y as any;", "any_annotation"),
        ("a.rs", "let y = z().unwrap();", "unwrapped"),
        ("a.lua", "local z = y --[[@as any]]", "any_cast"),
        ("a.lua", "---@cast y any", "any_cast"),
        ("a.js", "y().catch(() => {});", "error_swallowed"),
    ] {
        assert_eq!(rules(path, "x\n", &format!("{added}\nx\n")), [rule], "{added}");
        assert_eq!(rules(path, &format!("{added}\nx\n"), &format!("x\n{added}\n")), Vec::<&str>::new());
    }
    assert_eq!(rules("a.rs", "assert!(x);\n", "x;\n"), ["check_removed"]);
    assert_eq!(rules("a.lua", "assert(x)\n", "x()\n"), ["check_removed"]);
    assert_eq!(rules("a.sh", "exit 1\n", "x\n"), ["check_removed"]);
}

#[test]
fn what_only_looks_like_a_cheat_in_another_language_is_left_alone() {
    for (path, added) in [
        ("a.ts", "const text = '// @ts-ignore';"),
        ("a.ts", "import { a as B, c } from './x';"),
        ("a.ts", "const same = a != b && !c;"),
        ("a.ts", "const list = [1] as const;"),
        ("a.rs", "const TEXT: &str = \"#[allow(dead_code)]\";"),
        ("a.go", "for _, one := range all {\n}"),
        ("a.lua", "local ok = pcall(x)"),
        ("a.sh", "echo '# shellcheck disable=SC2086'"),
    ] {
        assert_eq!(rules(path, "x\n", &format!("x\n{added}\n")), Vec::<&str>::new(), "{added}");
    }
}

#[test]
fn a_checker_s_configuration_is_distinguished_from_the_rest_of_a_project() {
    let asks = |path: &str, before: &str, after: &str| configures_checker(path, before, after).is_some();
    for path in ["ruff.toml", "sub/mypy.ini", "pyrightconfig.json", "tsconfig.build.json", ".eslintrc.js", "tox.ini"] {
        assert!(asks(path, "", "x"), "{path}");
    }
    let project = "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 80\n";
    assert!(asks("pyproject.toml", project, &project.replace("80", "99")));
    assert!(asks("pyproject.toml", project, &format!("{project}[tool.mypy]\nignore_errors = true\n")));
    assert!(!asks("pyproject.toml", project, &project.replace("\"x\"", "\"y\"")));
    assert!(asks("Cargo.toml", "[package]\n", "[package]\n[lints.rust]\nunused = \"allow\"\n"));
    assert!(!asks("Cargo.toml", "[package]\n", "[package]\n[dependencies]\na = \"1\"\n"));
    assert!(!asks("a.py", "", "x"));
}

/// An import that nobody uses, and two findings more.
const UNUSED: &str =
    "import os\nimport sys\nimport typing\nfrom typing import Any\n\n\ndef f(x: int) -> str:\n    return x.name\n";

#[test]
fn what_is_known_by_another_name_is_known() {
    for (old, new, rule) in [
        ("import os\n", "import os as os\n", "import_kept"),
        ("import os\n", "from os import path as path\n", "import_kept"),
        ("import os\n", "import os\n\n__all__ = [\"os\", \"f\"]\n", "import_kept"),
        ("import os\n", "import os\n\n__all__ += ('os',)\n", "import_kept"),
        ("import os\n", "import os\n\n__all__.append('os')\n", "import_kept"),
        ("import os\n", "import os\n\n__all__.extend(['os'])\n", "import_kept"),
        ("import os\n", "import os\n\n_ = os\n", "import_kept"),
        ("import os\n", "import os\n\n_used = (os, sys)\n", "import_kept"),
        ("import os\n", "import os\n\nos\n", "import_kept"),
        ("import os\n", "import os\n\nos.path\n", "import_kept"),
        ("import os\n", "import os\n\nassert os\n", "import_kept"),
        ("import os\n", "import os\n\ndel os\n", "import_kept"),
        ("import os\n", "import os\n\nprint(os)\n", "import_kept"),
        ("import os\n", "import os\n\nif os:\n    pass\n", "import_kept"),
        ("def f", "class X(Any):\n    pass\n\n\ndef f", "any_annotation"),
        ("def f", "class X(typing.Any, metaclass=type):\n    pass\n\n\ndef f", "any_annotation"),
        ("def f", "A = Any\n\n\nclass X(A):\n    pass\n\n\ndef f", "any_annotation"),
        ("def f", "X = typing.NewType('X', Any)\n\n\ndef f", "any_annotation"),
        ("x.name", "typing.cast(str, x)", "type_asserted"),
        ("    return x", "    if sys.version_info < (3, 0):\n        return x", "dead_code"),
        ("    return x", "    if sys.version_info[0] == 2:\n        return x", "dead_code"),
        ("    return x", "    if sys.version_info >= (4,):\n        return x", "dead_code"),
        ("    return x", "    if not sys.version_info >= (3, 0):\n        return x", "dead_code"),
        (
            "    return x.name",
            "    if sys.version_info >= (3, 0):\n        return ''\n    else:\n        return x.name",
            "dead_code",
        ),
        ("    return x", "    if sys.platform == 'win32':\n        return x", "one_platform"),
        ("    return x", "    if sys.version_info >= (3, 11):\n        return x", "one_platform"),
        ("    return x", "    c = typing.cast\n    return c(Any, x)", "any_cast"),
        ("    return x", "    a = typing\n    c = a.cast\n    d = c\n    return d(Any, x)", "any_cast"),
        ("    return x", "    c, a = typing.cast, Any\n    return c(a, x)", "any_cast"),
        ("import typing\n", "import typing as t\nt.cast(t.Any, 1)\n", "any_cast"),
        ("import typing\n", "from typing import cast as c\nc(Any, 1)\n", "any_cast"),
        ("import typing\n", "from typing import Any as A, cast as c\nc(A, 1)\n", "any_cast"),
        ("import typing\n", "from typing import cast as c\nc('Any', 1)\n", "any_cast"),
        ("def f(", "def g(x, c=typing.cast):\n    return c(Any, x)\n\n\ndef f(", "any_cast"),
        ("    return x", "    (c := typing.cast)\n    return c(Any, x)", "any_cast"),
        ("    return x", "    g = getattr\n    return g(x, 'name')", "constant_getattr"),
        ("    return x", "    import builtins as b\n    return b.getattr(x, 'name')", "constant_getattr"),
        ("    return x", "    n = 'name'\n    return getattr(x, n)", "constant_getattr"),
        ("    return x", "    return object.__getattribute__(x, 'name')", "constant_getattr"),
        ("    return x", "    from operator import attrgetter as g\n    return g('name')(x)", "constant_getattr"),
        ("    return x", "    g = globals\n    return g()['x']", "names_by_string"),
        ("    return x", "    import builtins\n    return builtins.globals()['x']", "names_by_string"),
        ("    return x", "    return sys.modules[__name__].x", "names_by_string"),
        ("    return x", "    return __builtins__.x", "names_by_string"),
        ("    return x", "    e = eval\n    return e('x.name')", "code_in_string"),
        ("    return x", "    return [eval][0]('x.name')", "handed_on"),
        ("    return x", "    return next(map(globals, ()))['x']", "handed_on"),
        ("def f", "from typing import no_type_check as n\n\n\n@n\ndef f", "no_type_check"),
        (
            "    return x",
            "    from typing import TYPE_CHECKING as T\n    if not T:\n        return x",
            "type_checking_guard",
        ),
    ] {
        assert!(UNUSED.contains(old), "{old}");
        let found = rules("a.py", UNUSED, &UNUSED.replacen(old, new, 1));
        assert!(found.contains(&rule), "{new:?}: {found:?}");
    }
}

#[test]
fn what_looks_like_another_name_and_is_none_is_left_alone() {
    for (old, new) in [
        ("import os\n", ""),
        ("import os\n", "import os as system\n\nprint(system.getcwd())\n"),
        ("import os\n", "import os\n\nHERE = os.getcwd()\n"),
        ("import os\n", "import os\n\nprint(os.getcwd())\n"),
        ("import os\n", "import os\n\n__all__ = [\"f\"]\n"),
        ("import os\n", "import os\n\nos.chdir('/')\n"),
        ("import os\n", "import os\n\nif os.environ.get('X'):\n    print(1)\n"),
        ("import os\n", "if sys.version_info >= (3, 11):\n    import tomllib\nelse:\n    import tomli as tomllib\n"),
        (
            "    return x.name",
            "    if sys.version_info >= (3, 11):\n        return x.a()\n    else:\n        return x.b()",
        ),
        ("    return x.name", "    if sys.platform == 'win32':\n        return a(x)\n    else:\n        return b(x)"),
        ("import os\n", "if sys.platform == 'win32':\n    import winreg\n"),
        ("import os\n", "import os\n\nsystem = os\nprint(system.getcwd())\n"),
        ("import os\n", "from settings import DEBUG\n\nif DEBUG:\n    print(1)\n"),
        ("x.name", "getattr(x, name)"),
        ("x.name", "x.cast(1)"),
        ("x.name", "x.eval()"),
        ("x.name", "run(x, exec=1)"),
        ("x.name", "sorted(vars.items())"),
        ("x.name", "modules[x]"),
        ("def f", "class X(Base):\n    pass\n\n\ndef f"),
    ] {
        assert!(UNUSED.contains(old), "{old}");
        let after = UNUSED.replacen(old, new, 1);
        assert_eq!(rules("a.py", UNUSED, &after), Vec::<&str>::new(), "{after}");
    }
}

#[test]
fn what_moves_within_an_edit_is_neither_added_nor_taken_away() {
    let class = "from typing import Any\n\n\nclass Item:\n    def __init__(self, code: str, price: Any):\n        self.code = code\n        self.price: Any = price\n";
    let fields = "from dataclasses import dataclass\nfrom typing import Any\n\n\n@dataclass\nclass Item:\n    code: str\n    price: Any\n";
    assert_eq!(rules("a.py", class, fields), Vec::<&str>::new(), "its fields are what its parameters were");
    let other = fields.replace("code: str", "code: Any");
    assert_eq!(rules("a.py", class, &other), ["any_annotation"], "another one is widened");
    let twice = format!("{fields}\n\ndef cost(price: Any) -> str:\n    return str(price)\n");
    assert_eq!(rules("a.py", fields, &twice), Vec::<&str>::new(), "a function that was taken out of it");

    let (test, none) = ("def test_f():\n    assert f() == 1  # noqa: S101\n", "import os\n");
    let moved = format!("{none}{test}");
    let edit = [("tests/a.py", moved.as_str(), none), ("tests/b.py", "", test)];
    let whole = WholeEdit::of(edit);
    for (path, before, after) in edit {
        assert_eq!(objections(path, before, after, &whole), [], "{path}");
        assert_ne!(objections(path, before, after, &WholeEdit::of([(path, before, after)])), [], "{path} alone");
    }
    let copied = WholeEdit::of([("tests/b.py", "", test)]);
    assert_eq!(objections("tests/b.py", "", test, &copied)[0].rule, "suppression_comment");
}
