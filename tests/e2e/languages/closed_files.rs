//! What an edit breaks in files that nobody has open, with real checkers of languages other than Python.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{configure, replace};
use crate::closed::shapes::{cases, reported};
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::{language_tools, tool};

const STRICT: &str = "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"target\": \"es2022\", \
                      \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"types\": []}}\n";

/// The cases of a fixture that break something, each with its name in place of CASE.
fn breaking(text: &str) -> String {
    let mut out = String::new();
    for case in text.split("### ").skip(1).filter(|case| case.contains("\n!!! ")) {
        let name = case.lines().next().unwrap_or_default();
        let lines = case.lines().filter(|line| !line.starts_with("=== "));
        out.push_str(&format!("### {}\n", lines.collect::<Vec<_>>().join("\n").replace("CASE", name)));
    }
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complete_answer_about_typescript_names_every_closed_file_that_an_edit_breaks() {
    let text = breaking(include_str!("../../fixtures/reach/typescript.txt"));
    let cases = cases(&text);
    assert!(cases.len() >= 30, "{} cases are read", cases.len());
    let mut files = vec![("tsconfig.json", STRICT)];
    files.extend(cases.iter().flat_map(|case| case.files.iter().map(|(path, text)| (*path, text.as_str()))));
    let project = Project::new(&files);
    let folder = language_tools("vtsls").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let mut wrong = Vec::new();
    for case in &cases {
        let write = |text: &str| json!({"path": case.edited, "content": text});
        let answer = client.edit("write_file", write(&case.after)).await;
        let missing: Vec<_> = case.broken.difference(&reported(&answer)).cloned().collect();
        if answer["diagnostics_status"] != "complete" || !missing.is_empty() {
            wrong.push(format!("{}: missing {missing:?} in {answer}", case.name));
        }
        client.edit("write_file", write(&case.files[case.edited])).await;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(client.end().await.success());
}

/// tsserver watches a folder so far below the root by itself, and is asked before it hears of the file.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_in_a_folder_is_answered_with_what_it_breaks_in_its_importer() {
    let importer = "import { rate } from './rate';\nexport const half: number = rate;\n";
    let project = Project::new(&[
        ("tsconfig.json", STRICT),
        ("shop/to/deep/user.ts", importer),
        ("shop/to/deep/apart.ts", "export const more = 1;\n"),
    ]);
    let folder = language_tools("vtsls").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    client.edit("edit_file", replace("shop/to/deep/apart.ts", "more = 1", "more = 2")).await;
    let given = json!({"path": "shop/to/deep/rate.ts", "content": "export const rate = 'a';\n"});
    let answer = client.edit("write_file", given).await;
    let expected = BTreeSet::from([("shop/to/deep/user.ts".to_owned(), "2322".to_owned())]);
    assert_eq!(reported(&answer), expected, "{answer}");
    assert!(client.end().await.success());
}

/// Declarations that other files need not import, in files that the edit makes.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_is_answered_with_what_its_global_names_and_augmentations_break() {
    let project = Project::new(&[
        ("tsconfig.json", STRICT),
        ("other.ts", "export const other = 1;\n"),
        ("constant.ts", "export const n: number = FIRST;\n"),
        ("module.ts", "export interface K {\n  one: number;\n}\n"),
        ("user.ts", "import type { K } from './module';\nexport const k: K = { one: 1 };\n"),
        ("script.ts", "interface Zed {\n  one: number;\n}\nconst zed: Zed = { one: 1 };\nconst second = 1;\n"),
        ("image.ts", "import image from './image.svg';\nexport const n: number = image;\n"),
        ("window.ts", "export const n: number = window.extra;\n"),
    ]);
    let folder = language_tools("vtsls").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    client.edit("edit_file", replace("other.ts", "other = 1", "other = 2")).await;
    let image = "declare module '*.svg' {\n  const path: string;\n  export default path;\n}\n";
    let window = "interface Window {\n  extra: string;\n}\n";
    for (file, text, broken) in [
        ("first.d.ts", "declare const FIRST: string;\n", "constant.ts"),
        (
            "more.ts",
            "import './module';\ndeclare module './module' {\n  interface K {\n    two: string;\n  }\n}\n",
            "user.ts",
        ),
        ("second.ts", "interface Zed {\n  two: number;\n}\nconst second = 2;\n", "script.ts"),
        ("svg.d.ts", image, "image.ts"),
        ("extra.d.ts", window, "window.ts"),
    ] {
        let answer = client.edit("write_file", json!({"path": file, "content": text})).await;
        assert_eq!(answer["diagnostics_status"], "complete", "{file}: {answer}");
        assert!(reported(&answer).iter().any(|(path, _)| path == broken), "{file}: {answer}");
    }
    assert!(client.end().await.success());
}

/// A program with a function, its importer and a file that has nothing to do with it.
struct Program {
    files: &'static [(&'static str, &'static str)],
    edited: &'static str,
    removed: (&'static str, &'static str),
    importer: &'static str,
    code: &'static str,
    commands: &'static str,
}

const TYPESCRIPT: Program = Program {
    files: &[
        ("tsconfig.json", STRICT),
        (
            "src/items.ts",
            "export function makeItem(name: string): string {\n  return name;\n}\n\nexport const limit = 1;\n",
        ),
        ("src/user.ts", "import { makeItem } from './items';\n\nexport const item = makeItem('a');\n"),
        ("src/apart.ts", "import { limit } from './items';\n\nexport const more: number = limit + 1;\n"),
    ],
    edited: "src/items.ts",
    removed: ("export function makeItem(name: string): string {\n  return name;\n}\n\n", ""),
    importer: "src/user.ts",
    code: "2305",
    commands: "",
};

const RUST: Program = Program {
    files: &[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub mod apart;\npub mod items;\npub mod user;\n"),
        (
            "src/items.rs",
            "pub fn make_item(name: &str) -> String {\n    name.to_owned()\n}\n\npub const LIMIT: u32 = 1;\n",
        ),
        ("src/user.rs", "use crate::items::make_item;\n\npub fn item() -> String {\n    make_item(\"a\")\n}\n"),
        ("src/apart.rs", "pub fn more() -> u32 {\n    crate::items::LIMIT + 1\n}\n"),
    ],
    edited: "src/items.rs",
    removed: ("pub fn make_item(name: &str) -> String {\n    name.to_owned()\n}\n\n", ""),
    importer: "src/user.rs",
    code: "E0432",
    commands: "commands = [\"cargo\"]\n",
};

/// The answer to the removal of the function, with these lines in the configuration.
async fn removal(program: &Program, more: &str) -> Value {
    let project = Project::new(program.files);
    configure(&project, &format!("{}{more}", program.commands));
    removal_in(&project, program).await
}

async fn removal_in(project: &Project, program: &Program) -> Value {
    tool("cargo");
    let folder = language_tools("vtsls").display().to_string();
    let mut client = McpClient::open(project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let answer = client.edit("edit_file", replace(program.edited, program.removed.0, program.removed.1)).await;
    assert!(client.end().await.success());
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn the_removal_of_a_function_is_answered_with_the_error_of_its_closed_importer() {
    for program in [&TYPESCRIPT, &RUST] {
        let answer = removal(program, "").await;
        assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
        let expected = BTreeSet::from([(program.importer.to_owned(), program.code.to_owned())]);
        assert_eq!(reported(&answer), expected, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compiler_of_a_whole_package_reports_on_more_files_than_a_server_is_given() {
    let names: Vec<String> = (0..35).map(|number| format!("user{number}")).collect();
    let lib: String = names.iter().map(|name| format!("pub mod {name};\n")).collect();
    let files: Vec<(String, String)> = names
        .iter()
        .map(|name| {
            (format!("src/{name}.rs"), "pub fn item() -> String {\n    crate::items::make_item(\"a\")\n}\n".to_owned())
        })
        .chain([("src/lib.rs".to_owned(), format!("pub mod items;\n{lib}"))])
        .collect();
    let project = Project::new(&RUST.files[..1]);
    project.write(RUST.edited, RUST.files[2].1);
    files.iter().for_each(|(path, text)| project.write(path, text));
    configure(&project, RUST.commands);
    let answer = removal_in(&project, &RUST).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
    assert_eq!((reported(&answer).len(), &answer["more"]), (20, &json!(15)), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_the_closed_importer_is_not_complete() {
    for program in [&TYPESCRIPT, &RUST] {
        let answer = removal(program, "[diagnostics]\nreach = 0\n").await;
        assert_eq!(answer["diagnostics_status"], "partial", "{answer}");
        assert!(answer["pending"].to_string().contains(program.importer), "{answer}");
    }
}

/// A file of a language that its command over the whole project does not read.
struct Outside {
    files: &'static [(&'static str, &'static str)],
    command: &'static str,
    path: &'static str,
    edit: (&'static str, &'static str),
}

const OUTSIDE: &[Outside] = &[
    Outside {
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nmore = []\n",
            ),
            ("src/lib.rs", "#[cfg(feature = \"more\")]\npub mod more;\n"),
            ("src/more.rs", "pub fn more() -> u32 {\n    1\n}\n"),
        ],
        command: "cargo",
        path: "src/more.rs",
        edit: ("    1\n", "    \"one\"\n"),
    },
    Outside {
        files: &[
            ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
            ("tools/lonely.rs", "pub fn lonely() -> u32 {\n    1\n}\n"),
        ],
        command: "cargo",
        path: "tools/lonely.rs",
        edit: ("    1\n", "    \"one\"\n"),
    },
    Outside {
        files: &[
            ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}, \"include\": [\"src\"]}\n"),
            ("src/a.ts", "export const one: number = 1;\n"),
            ("scripts/b.ts", "import { one } from '../src/a';\n\nexport const two: number = one + 1;\n"),
        ],
        command: "tsc",
        path: "scripts/b.ts",
        edit: ("one + 1", "'two'"),
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_compiler_has_not_read_is_not_called_clean() {
    tool("cargo");
    let folder = language_tools("vtsls");
    for outside in OUTSIDE {
        let project = Project::new(outside.files);
        configure(&project, &format!("commands = [{:?}]\n", outside.command));
        let programs = project.beside("programs");
        std::os::unix::fs::symlink(folder.join("../node_modules/.bin/tsc"), programs.join("tsc")).expect("a link");
        let options = ["--servers", &programs.display().to_string(), "--timeout-ms", "120000"];
        let mut client = McpClient::open(&project, "codex", &options).await;
        let answer = client.edit("edit_file", replace(outside.path, outside.edit.0, outside.edit.1)).await;
        assert_ne!(answer["diagnostics_status"], "complete", "{}: {answer}", outside.path);
        assert!(answer.to_string().contains("in no part of the project"), "{}: {answer}", outside.path);
        // What is read stays known.
        let (path, text) = outside.files[1];
        let answer = client.edit("write_file", json!({"path": path, "content": format!("{text}\n")})).await;
        assert_eq!(answer["new_diagnostics"], json!([]), "{path}: {answer}");
        let others = answer["pending"].to_string();
        assert!(!others.contains(path), "{path}: {answer}");
        assert!(client.end().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tsconfig_that_only_refers_to_others_has_read_nothing() {
    let project = Project::new(&[
        ("tsconfig.json", "{\"files\": [], \"references\": [{\"path\": \"./app\"}]}\n"),
        ("app/tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"composite\": true}}\n"),
        ("app/a.ts", "export const one: number = 1;\n"),
    ]);
    configure(&project, "commands = [\"tsc\"]\n");
    let programs = project.beside("programs");
    let tsc = language_tools("vtsls").join("../node_modules/.bin/tsc");
    std::os::unix::fs::symlink(tsc, programs.join("tsc")).expect("a link");
    let options = ["--servers", &programs.display().to_string(), "--timeout-ms", "120000"];
    let mut client = McpClient::open(&project, "codex", &options).await;
    let answer = client.edit("edit_file", replace("app/a.ts", "= 1", "= 'one'")).await;
    assert_ne!(answer["diagnostics_status"], "complete", "{answer}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_use_in_a_file_whose_types_nobody_checks_is_not_called_clean() {
    let files = [
        ("sum.mjs", "export function sum(list) {\n  return list.length;\n}\n"),
        ("use.mjs", "import { sum } from './sum.mjs';\n\nconsole.log(sum([1]));\n"),
    ];
    let renamed = json!({"symbol": "sum.mjs::sum", "action": "replace",
        "content": "export function plus(list) {\n  return list.length;\n}"});
    let body = json!({"symbol": "sum.mjs::sum", "action": "replace",
        "content": "export function sum(list) {\n  return list.length + 1;\n}"});
    for settings in [None, Some("{ \"compilerOptions\": { \"checkJs\": true, \"module\": \"nodenext\" } }\n")] {
        let project = Project::new(&files);
        if let Some(settings) = settings {
            project.write("jsconfig.json", settings);
        }
        let folder = language_tools("vtsls").display().to_string();
        let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
        let same = client.edit("edit_symbol", body.clone()).await;
        assert_eq!(same["diagnostics_status"], "complete", "{same:#}");
        let answer = client.edit("edit_symbol", renamed.clone()).await;
        let pending = answer["pending"].to_string();
        if settings.is_none() {
            assert_eq!(answer["diagnostics_status"], "partial", "{answer:#}");
            assert!(pending.contains("use.mjs (may use `sum`, in a file whose types are not checked)"), "{answer:#}");
        } else {
            assert_eq!(answer["diagnostics_status"], "complete", "{answer:#}");
            assert!(answer["new_diagnostics"].to_string().contains("use.mjs"), "{answer:#}");
        }
        assert!(client.end().await.success());
    }
}
