//! Importers of every form, in a workspace on disk.

use super::*;

fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Importers) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut importers = Importers::default();
    importers.refresh(&Root::new(dir.path()).unwrap(), &HashMap::new());
    (dir, importers)
}

#[test]
fn importers_are_found_in_every_form_of_an_import_and_through_others() {
    let (_dir, importers) = workspace(&[
        ("shop/__init__.py", "from .cart import Cart\n"),
        ("shop/cart.py", "import json\n"),
        ("shop/deep/a.py", "from ..cart import (\n    Cart,\n)\n"),
        ("shop/deep/b.py", "    from .. import cart\n"),
        ("shop/deep/c.py", "from .. import \\\n    cart as c\n"),
        ("shop/deep/d.py", "from . import e\n"),
        ("app.py", "import shop\n"),
        ("main.py", "import app\n"),
        ("other.py", "import json\ncart = 1\n"),
    ]);
    let expected = ["shop/__init__.py", "shop/deep/a.py", "shop/deep/b.py", "shop/deep/c.py", "app.py", "main.py"];
    assert_eq!(importers.of("shop/cart.py"), expected);
    assert_eq!(importers.of("main.py"), Vec::<String>::new());
}

#[test]
fn an_import_behind_another_statement_or_before_a_comment_is_one() {
    let (_dir, importers) = workspace(&[
        ("cart.py", ""),
        ("a.py", "if True: import cart\n"),
        ("b.py", "x = 1; from cart import *\n"),
        ("c.py", "from shop import (  # all of them (but one)\n    other,  # not (this)\n    cart,\n)\n"),
        ("d.py", "\u{feff}import cart\r\n"),
        ("e.py", "x = {'import': 1}  # import cart\n"),
        ("f.py", "x = '#'; from cart import Cart\n"),
        ("g.py", "from typing import (Any); from shop import (\n    cart,\n)\n"),
        ("shop/h.py", "import os; from . import x\n"),
        ("shop/__init__.py", ""),
    ]);
    assert_eq!(importers.of("cart.py"), ["a.py", "b.py", "c.py", "d.py", "f.py", "g.py"]);
    assert!(importers.of("shop/__init__.py").contains(&"shop/h.py".to_owned()));
    assert!(importers.imports_name("b.py", "anything") && !importers.imports_name("a.py", "anything"));
}

#[test]
fn an_example_in_a_comment_is_no_import_and_a_type_of_a_comment_is_one() {
    let (_dir, importers) = workspace(&[
        ("cart.ts", "export const x = 1\n"),
        ("a.ts", "/**\n * import { x } from 'cart';\n */\n// import 'cart'\nlet y = 1;\n"),
        ("b.ts", "/* of old */ import { x } from './cart';\n"),
        ("c.ts", "import\n  * as cart from './cart';\n"),
        ("d.js", "/** @typedef {import('./cart').X} X */\n"),
        ("e.js", "/**\n * @import { X } from './cart'\n */\n"),
        ("f.ts", "/* old\n */ import { x } from './cart';\n"),
        ("g.ts", "import {\n  x\n} from\n  './cart';\n"),
        ("h.ts", "import {\n  // }\n  x,\n} from // here\n  './cart';\n"),
        ("i.ts", "export {};\ndeclare module './cart' {\n  interface X { y: string }\n}\n"),
    ]);
    assert_eq!(importers.of("cart.ts"), ["b.ts", "c.ts", "d.js", "e.js", "f.ts", "g.ts", "h.ts", "i.ts"]);
    assert!(importers.imports_name("h.ts", "x"));
    assert!(!importers.imports_name("a.ts", "anything"));
}

#[test]
fn notebooks_other_encodings_and_stubs_of_a_package_are_read() {
    let notebook = r#"{"cells": [{"cell_type": "code", "source": ["import os\n", "import cart\n"]}]}"#;
    let (dir, mut importers) = workspace(&[
        ("cart.py", ""),
        ("a.ipynb", notebook),
        ("shop-stubs/__init__.pyi", "from .deep import x as x\n"),
        ("shop-stubs/deep.pyi", "from . import y\n"),
        ("b.py", "import shop\n"),
    ]);
    std::fs::write(dir.path().join("c.py"), b"# caf\xe9\nfrom cart import Cart\n").unwrap();
    importers.refresh(&Root::new(dir.path()).unwrap(), &HashMap::new());
    assert_eq!(importers.of("cart.py"), ["a.ipynb", "c.py"]);
    assert_eq!(importers.of("shop-stubs/__init__.pyi"), ["b.py", "shop-stubs/deep.pyi"]);
}

#[test]
fn an_alias_may_mean_any_file_where_no_file_has_the_name_that_it_ends_with() {
    let (_dir, importers) = workspace(&[
        ("src/impl/main.ts", "export const total = 1;\n"),
        ("src/shop/cart.ts", "export const x = 1;\n"),
        ("a.ts", "import { total } from '#core';\n"),
        ("b.ts", "import { x } from '@/shop/cart';\n"),
        ("c.ts", "import { y } from '@/gone';\n"),
        ("d.ts", "import { x } from './a';\n"),
        ("e.py", "import core\n"),
    ]);
    assert_eq!(importers.of("src/impl/main.ts"), ["a.ts", "c.ts", "d.ts"]);
    assert_eq!(importers.of("src/shop/cart.ts"), ["a.ts", "b.ts", "c.ts", "d.ts"]);
    assert!(!importers.is_direct("a.ts", "src/impl/main.ts"), "a server may know better");
}

#[test]
fn headers_are_imported_by_macros_by_settings_and_through_files_of_other_endings() {
    let (_dir, importers) = workspace(&[
        ("compile_flags.txt", "-I.\n-include\nlib/forced.h\n"),
        ("lib/forced.h", "#include \"base.h\"\n"),
        ("base.h", ""),
        ("cart.h", ""),
        ("all.inc", "#include \"cart.h\"\n"),
        ("a.c", "#include \"all.inc\"\n"),
        ("b.c", "#include \\\n  \"cart.h\"\n"),
        ("c.c", "#include CONFIG\n"),
        ("d.c", "int x;\n"),
    ]);
    assert_eq!(importers.of("cart.h"), ["all.inc", "b.c", "c.c", "a.c"]);
    assert_eq!(importers.of("base.h")[..2], ["c.c", "lib/forced.h"]);
    assert_eq!(importers.of("base.h").len(), 7);
}

#[test]
fn a_file_with_elements_imports_the_module_that_makes_them() {
    let (_dir, importers) =
        workspace(&[("lib/jsx-runtime.ts", "export {};\n"), ("a.tsx", "<a />;\n"), ("b.ts", "1;\n")]);
    assert_eq!(importers.of("lib/jsx-runtime.ts"), ["a.tsx"]);
}

#[test]
fn the_files_that_others_import_are_found_through_headers() {
    let (_dir, importers) = workspace(&[
        ("a.cpp", "#include \"b.h\"\n"),
        ("b.h", "#include \"c.h\"\n#include \"a.h\"\n"),
        ("c.h", "#include \"b.h\"\n"),
        ("a.h", ""),
        ("d.h", ""),
    ]);
    let found = importers.imported_by(&["a.cpp".to_owned()], 9);
    assert_eq!(found, ["b.h", "a.h", "c.h"]);
    assert_eq!(importers.imported_by(&["a.cpp".to_owned()], 1), ["b.h"]);
}

#[test]
fn what_a_module_declares_for_all_needs_no_import() {
    let (_dir, importers) = workspace(&[
        ("g.ts", "export {};\ndeclare global { interface Window { foo: number } }\n"),
        ("lib.d.ts", "export as namespace Cart;\nexport function total(): number;\n"),
        ("app.ts", "export const x = window.foo + Cart.total();\n"),
    ]);
    assert!(importers.of("g.ts").contains(&"app.ts".to_owned()));
    assert!(importers.of("lib.d.ts").contains(&"app.ts".to_owned()));
    assert!(!importers.of("app.ts").contains(&"g.ts".to_owned()));
}

#[test]
fn a_star_import_passes_everything_on() {
    let (_dir, importers) = workspace(&[
        ("core.py", ""),
        ("api.py", "from core import *\n"),
        ("shop/__init__.py", "from api import *\n"),
        ("app.py", "from shop import feature\n"),
    ]);
    assert_eq!(importers.passing_on("core.py"), ["api.py", "shop/__init__.py"]);
    assert_eq!(importers.named(&BTreeSet::from(["shop", "core"])), ["core.py", "shop/__init__.py"]);
}

#[test]
fn the_names_that_a_package_lists_may_be_its_files_and_one_file_is_seen_by_all() {
    let (_dir, importers) = workspace(&[
        ("shop/__init__.py", "__all__: list[str] = [\n    'cart',\n]\n"),
        ("shop/cart.py", "__all__ = ['app']\n"),
        ("app.py", "from shop import *\n"),
        ("stubs/__builtins__.pyi", ""),
    ]);
    assert_eq!(importers.of("shop/cart.py"), ["shop/__init__.py", "app.py"]);
    assert_eq!(importers.of("app.py"), [""; 0]);
    assert_eq!(importers.of("stubs/__builtins__.pyi"), ["app.py", "shop/__init__.py", "shop/cart.py"]);
}

#[test]
fn a_text_that_is_open_counts_and_not_the_one_on_disk() {
    let (dir, mut importers) = workspace(&[("a.py", ""), ("b.py", "import json\n"), ("c.py", "import a\n")]);
    let open = HashMap::from([
        ("b.py".to_owned(), "import a\n".into()),
        ("c.py".to_owned(), "class P(Protocol):\n    def run(self): ...\n".into()),
    ]);
    let root = Root::new(dir.path()).unwrap();
    importers.refresh(&root, &open);
    assert_eq!(importers.of("a.py"), ["b.py"]);
    assert!(importers.is_structural_member("run") && !importers.is_structural_member("walk"));
    importers.refresh(&root, &HashMap::new());
    assert_eq!(importers.of("a.py"), ["c.py"]);
}

#[test]
fn a_changed_file_is_read_again_and_a_removed_one_forgotten() {
    let (dir, mut importers) = workspace(&[("a.py", "x = 1\n"), ("b.py", "import a\n"), ("c.py", "import a\n")]);
    assert_eq!(importers.of("a.py"), ["b.py", "c.py"]);
    std::fs::write(dir.path().join("b.py"), "import json\n").unwrap();
    std::fs::remove_file(dir.path().join("c.py")).unwrap();
    std::fs::write(dir.path().join("d.py"), "from a import x\n").unwrap();
    importers.refresh(&Root::new(dir.path()).unwrap(), &HashMap::new());
    assert_eq!(importers.of("a.py"), ["d.py"]);
}

#[test]
fn a_circle_of_imports_ends_and_a_file_is_no_importer_of_itself() {
    let (_dir, importers) = workspace(&[("a.py", "import a\nimport b\n"), ("b.py", "import a\n")]);
    assert_eq!(importers.of("a.py"), ["b.py"]);
}

#[test]
fn an_importer_whose_name_is_not_seen_is_one_that_is_not_opened() {
    let (_dir, importers) =
        workspace(&[("cart.py", ""), ("b\nc.py", "from cart import f\n"), ("d\u{200b}.txt", "cart")]);
    assert_eq!(importers.of("cart.py"), ["b\nc.py"]);
    assert_eq!(importers.out_of_sight("b\nc.py"), Some(OutOfSight::BadName));
}
