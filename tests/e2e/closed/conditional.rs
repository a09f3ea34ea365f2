//! What an edit breaks in code that a check leaves out: code on a condition, in macros, and examples in comments.

use crate::mcp::replace;
use crate::support::mcp::{McpClient, servers};
use crate::support::project::Project;
use crate::support::servers::language_tools;

const MANIFEST: &str =
    "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nextra = []\n";
const ITEM: &str = "pub fn total() -> u32 {\n    1\n}\n";

/// A library with these texts of `item.rs` and `user.rs`, after its function returns another type.
async fn edited(item: &str, user: &str) -> serde_json::Value {
    let lib = "pub mod item;\npub mod user;\n";
    let readme = "# Shop\n\n```\nlet x: u32 = shop::item::total();\n```\n";
    let files = [
        ("Cargo.toml", MANIFEST),
        ("README.md", readme),
        ("src/lib.rs", lib),
        ("src/item.rs", item),
        ("src/user.rs", user),
    ];
    let project = Project::new(&files);
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "commands = [\"cargo\"]\n").expect("a file");
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    let broken = replace("src/item.rs", "u32 {\n    1", "&'static str {\n    \"1\"");
    let edited = client.edit("edit_file", broken).await;
    assert!(client.end().await.success());
    edited
}

#[tokio::test]
async fn a_use_in_code_that_cargo_leaves_out_leaves_the_answer_partial() {
    let body = "pub fn price() -> u32 {\n    crate::item::total()\n}\n";
    let example = "/// ```\n/// let x: u32 = shop::item::total();\n/// ```\npub fn price() {}\n";
    let (feature, condition) = (format!("#[cfg(feature = \"extra\")]\n{body}"), "on a condition");
    for (item, user, file, why) in [
        (ITEM.to_owned(), feature.clone(), "src/user.rs", condition),
        (ITEM.to_owned(), format!("#![cfg(windows)]\n{body}"), "src/user.rs", condition),
        (format!("{ITEM}{feature}"), String::new(), "src/item.rs", condition),
        (ITEM.to_owned(), example.to_owned(), "src/user.rs", "in an example"),
        (
            ITEM.to_owned(),
            "#[macro_export]\nmacro_rules! price {\n    () => {{ let x: u32 = $crate::item::total(); x }};\n}\n"
                .to_owned(),
            "src/user.rs",
            "of a macro",
        ),
        (ITEM.to_owned(), "#![doc = include_str!(\"../README.md\")]\n".to_owned(), "README.md", "in an example"),
        (
            format!("{}{ITEM}", example.replace("pub fn price() {}\n", "")),
            String::new(),
            "src/item.rs",
            "in an example",
        ),
    ] {
        let edited = edited(&item, &user).await;
        assert_eq!(edited["diagnostics_status"], "partial", "{user}: {edited}");
        let pending = edited["pending"].to_string();
        assert!(pending.contains(file) && pending.contains(why), "{user}: {edited}");
    }
}

#[tokio::test]
async fn a_use_in_the_tests_of_a_file_is_checked_and_the_answer_complete() {
    let user = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn price() {\n        let x: u32 = crate::item::total();\n        \
                assert_eq!(x, 1);\n    }\n}\n";
    let edited = edited(ITEM, user).await;
    assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
    assert!(edited["new_diagnostics"].to_string().contains("src/user.rs"), "{edited}");
}

/// A project with uses that its checker leaves out, the server, and the edit.
struct Skipped {
    server: &'static str,
    files: &'static [(&'static str, &'static str)],
    edit: (&'static str, &'static str, &'static str),
    file: &'static str,
    why: &'static str,
}

const ITEM_H: &str = "#pragma once\nint total(void);\n";
const ITEM_PY: &str = "def total() -> int:\n    return 1\n";
const SHOW_H: &str = "#pragma once\ntemplate <class T>\nvoid show(T t) { t.total(); }\n";
const SHOWN_H: &str = "#pragma once\nstruct Item {\n  void total() {}\n};\n";
const SKIPPED: &[Skipped] = &[
    Skipped {
        server: "clangd",
        files: &[
            ("show.h", SHOW_H),
            ("item.h", SHOWN_H),
            ("user.cpp", "#include \"show.h\"\n#include \"item.h\"\nvoid f() { show(Item()); }\n"),
        ],
        edit: ("show.h", "t.total()", "t.sum()"),
        file: "show.h",
        why: "in a template",
    },
    // A member that a template of another header uses.
    Skipped {
        server: "clangd",
        files: &[
            ("item.h", SHOWN_H),
            ("make.h", "#pragma once\n#include \"item.h\"\ninline Item make() { return Item(); }\n"),
            ("show.h", SHOW_H),
            ("user.cpp", "#include \"show.h\"\n#include \"make.h\"\nvoid f() { show(make()); }\n"),
        ],
        edit: ("item.h", "void total()", "void sum()"),
        file: "show.h",
        why: "in a template",
    },
    Skipped {
        server: "clangd",
        files: &[
            ("item.h", ITEM_H),
            ("user.c", "#include \"item.h\"\n#ifdef DEBUG\nint price(void) { return total(); }\n#endif\n"),
        ],
        edit: ("item.h", "int total(void)", "char *total(int)"),
        file: "user.c",
        why: "on a condition",
    },
    Skipped {
        server: "",
        files: &[
            ("item.py", ITEM_PY),
            (
                "user.py",
                "from typing import TYPE_CHECKING\n\nimport item\n\nif TYPE_CHECKING:\n    PRICE = 1\nelse:\n    PRICE = item.total()\n",
            ),
        ],
        edit: ("item.py", "def total", "def sums"),
        file: "user.py",
        why: "on a condition",
    },
    Skipped {
        server: "",
        files: &[
            ("item.py", ITEM_PY),
            (
                "user.py",
                "import sys\n\nimport item\n\n\ndef price() -> int:\n    if sys.version_info < (3, 6):\n        return item.total()\n    return 1\n",
            ),
        ],
        edit: ("item.py", "def total", "def sums"),
        file: "user.py",
        why: "on a condition",
    },
    // A name that is local to a function, in code of the same function.
    Skipped {
        server: "",
        files: &[(
            "item.py",
            "import sys\n\n\ndef price() -> int:\n    total = 1\n    if sys.version_info < (3, 6):\n        return total\n    return 2\n",
        )],
        edit: ("item.py", "    total = 1", "    sums = 1"),
        file: "item.py",
        why: "on a condition",
    },
    Skipped {
        server: "vtsls",
        files: &[
            ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"types\": []}}\n"),
            ("item.ts", "export function total(): number {\n  return 1;\n}\n"),
            ("user.ts", "// @ts-nocheck\nimport { total } from './item';\n\nexport const price: number = total();\n"),
        ],
        edit: ("item.ts", "total(): number {\n  return 1;", "total(): string {\n  return '1';"),
        file: "user.ts",
        why: "its own text excludes",
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_use_that_a_checker_of_another_language_leaves_out_leaves_the_answer_partial() {
    for case in SKIPPED {
        let project = Project::new(case.files);
        let folder = if case.server.is_empty() { servers() } else { language_tools(case.server).display().to_string() };
        let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
        let (path, old, new) = case.edit;
        let edited = client.edit("edit_file", replace(path, old, new)).await;
        assert_eq!(edited["diagnostics_status"], "partial", "{}: {edited}", case.file);
        let found = edited["new_diagnostics"].as_array().expect("a list");
        assert!(found.iter().all(|one| one["source"] == "lsp:ruff"), "the type checker is silent: {edited}");
        let pending = edited["pending"].to_string();
        assert!(pending.contains(case.file) && pending.contains(case.why), "{}: {edited}", case.file);
        assert!(client.end().await.success());
    }
}
