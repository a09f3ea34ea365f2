//! What only hides a complaint is not done where it was asked to mend it, or is done and not counted; what runs by
//! being there, and how strict the checkers are, is asked about.

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "class Item:\n    name: str = \"\"\n\n\ndef f(x: Item) -> str:\n    return x.nam\n";

/// Runs a request with a scripted model, and gives back the outcome and the last prompt.
async fn ask(project: &Project, request: &str, more: &[&str], edits: Vec<Reply>) -> (Value, String) {
    let end = says("ok");
    let server = ModelServer::start(edits.into_iter().chain([end.clone(), end])).await;
    let url = server.url();
    let arguments = [&["ask", request, "--json", "--model", "openai_compatible:m", "--base-url", &url], more].concat();
    let output = tokio::task::block_in_place(|| sextant(project, &arguments));
    let last = server.requests().last().map(|request| request.said_by("user").to_owned()).unwrap_or_default();
    (outcome(&output)["outcome"].clone(), last)
}

fn edit(old: &str, new: &str) -> Reply {
    step("edit_file", change("a.py", old, new), true)
}

fn whole(text: &str) -> Reply {
    step("write_file", json!({"path": "a.py", "content": text}), true)
}

const FILE: &[&str] = &["--file", "a.py"];

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_only_hides_is_refused_with_its_rule_and_a_repair_is_counted() {
    let hidden = [
        edit("x.nam\n", "x.nam  # type: ignore\n"),
        edit("x.nam\n", "x.nam  # pyright: ignore[reportAttributeAccessIssue]\n"),
        edit("class Item", "# pyright: basic\nclass Item"),
        whole(&format!("# ruff: noqa\n{TEXT}")),
        edit("x.nam\n", "getattr(x, \"nam\")\n"),
        edit("x.nam\n", "globals()[\"x\"].nam\n"),
        step(
            "edit_symbol",
            json!({"symbol": "a.py::f", "action": "replace", "content":
                "def f(x: Item) -> str:\n    if not TYPE_CHECKING:\n        return x.nam\n    return \"\"\n"}),
            true,
        ),
    ];
    let rules = [
        "suppression_comment",
        "suppression_comment",
        "suppression_comment",
        "suppression_comment",
        "constant_getattr",
        "names_by_string",
        "type_checking_guard",
    ];
    for (cheat, rule) in hidden.into_iter().zip(rules) {
        let project = Project::new(&[("a.py", TEXT)]);
        let (outcome, last) = ask(&project, "fix the errors", FILE, vec![cheat]).await;
        assert_eq!(project.read("a.py"), TEXT, "{rule}: {outcome}");
        assert!(last.contains(&format!("({rule}); nothing was written")), "{rule}: {last}");
        assert_eq!(outcome["fixed"], 0, "{outcome}");
    }
    let project = Project::new(&[("a.py", TEXT)]);
    let (outcome, _) = ask(&project, "fix the errors", FILE, vec![edit("x.nam\n", "x.name\n")]).await;
    assert_eq!(outcome["fixed"], 1, "a repair is one: {outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_meant_well_is_done_and_not_counted_also_over_two_edits() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edits = vec![edit("class Item", "from typing import Any\n\n\nclass Item"), edit("x: Item", "x: Any")];
    let (outcome, _) = ask(&project, "fix the errors", FILE, edits).await;
    assert!(project.read("a.py").contains("x: Any"), "{outcome}");
    assert_eq!(outcome["fixed"], 0, "{outcome}");
    let summary = outcome["summary"].as_str().unwrap_or_default();
    assert!(summary.contains("1 not counted as fixed: it widens a type to Any"), "{summary}");
    assert!(summary.contains("Not done: what was reported is hidden: it widens"), "{summary}");
    assert_eq!(outcome["ok"], false, "nothing was repaired: {outcome}");
    assert_eq!(outcome["usage"]["calls"], 4, "the end was objected to once: {outcome}");
    // Repaired after all: then it counts.
    let project = Project::new(&[("a.py", TEXT)]);
    let edits = vec![
        edit("class Item", "from typing import Any\n\n\nclass Item"),
        edit("x: Item", "x: Any"),
        edit("from typing import Any\n\n\n", ""),
        edit("x: Any", "x: Item"),
        edit("x.nam\n", "x.name\n"),
    ];
    let (outcome, _) = ask(&project, "fix the errors", FILE, edits).await;
    assert_eq!((project.read("a.py").contains("Any"), &outcome["fixed"]), (false, &json!(1)), "{outcome}");
    assert_eq!(outcome["ok"], true, "{outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_the_suppression_is_the_user_s_word() {
    for request in
        ["ignora este aviso en f", "silence this error in f", "fix the errors, add a type: ignore where it has to be"]
    {
        let project = Project::new(&[("a.py", TEXT)]);
        let (outcome, _) = ask(&project, request, FILE, vec![edit("x.nam\n", "x.nam  # type: ignore\n")]).await;
        assert!(project.read("a.py").contains("# type: ignore"), "{request}: {outcome}");
        assert_eq!(outcome["fixed"], 1, "{request}: {outcome}");
    }
    let project = Project::new(&[("a.py", TEXT)]);
    let denied = "fix the errors, but do not add a type: ignore";
    let (outcome, _) = ask(&project, denied, FILE, vec![edit("x.nam\n", "x.nam  # type: ignore\n")]).await;
    assert_eq!(project.read("a.py"), TEXT, "what is forbidden is not named: {outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_check_and_a_checker_s_configuration_are_asked_about() {
    let text = "def f(x: int) -> int:\n    assert x > 0\n    return x + y\n";
    let drop_check = || vec![edit("    assert x > 0\n", "")];
    let project = Project::new(&[("a.py", text)]);
    let (outcome, last) = ask(&project, "fix the errors", FILE, drop_check()).await;
    assert_eq!(project.read("a.py"), text, "{outcome}");
    assert!(last.contains("it takes a check away"), "{last}");
    let answered = [FILE, &["--answer", "edit=1"]].concat();
    let (outcome, _) = ask(&project, "fix the errors", &answered, drop_check()).await;
    assert!(!project.read("a.py").contains("assert"), "the answer is a word: {outcome}");

    let config = || {
        let content = "[tool.basedpyright]\ntypeCheckingMode = \"off\"\n";
        vec![step("write_file", json!({"path": "pyproject.toml", "content": content}), true)]
    };
    let project = Project::new(&[("a.py", text), ("pyproject.toml", "[project]\nname = \"x\"\n")]);
    let before = project.read("pyproject.toml");
    let everywhere = [];
    let (outcome, last) = ask(&project, "fix the errors", &everywhere, config()).await;
    assert_eq!(project.read("pyproject.toml"), before, "{outcome}");
    assert!(last.contains("[tool.basedpyright] configures a tool of the project"), "{last}");
    let named = "fix the errors in a.py, set the mode in pyproject.toml";
    let (outcome, _) = ask(&project, named, &everywhere, config()).await;
    assert!(project.read("pyproject.toml").contains("off"), "the request names it: {outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_run_are_asked_about_unless_the_request_names_them() {
    for path in ["conftest.py", ".nvim.lua", ".github/workflows/ci.yml", "Makefile", ".vscode/tasks.json", "x.pth"] {
        // A text that its language reads, where it has one.
        let text = if path.ends_with(".json") { "{}\n" } else { "x = 1\n" };
        let write = || vec![step("write_file", json!({"path": path, "content": text}), true)];
        let project = Project::new(&[("a.py", "x = 1\n")]);
        let made = || project.root().join(path).exists();
        let (outcome, last) = ask(&project, "set the project up", &[], write()).await;
        assert!(!made(), "{path}: {outcome}");
        assert!(last.contains(&format!("Change {path}?")) && last.contains("runs"), "{path}: {last}");
        let (outcome, _) = ask(&project, &format!("do not touch {path}"), &[], write()).await;
        assert!(!made(), "{path}: {outcome}");
        for passing in [format!("leave {path} alone and set it up"), format!("what does {path} do?")] {
            let (outcome, _) = ask(&project, &passing, &[], write()).await;
            assert!(!made(), "{passing}: {outcome}");
        }
        let (outcome, _) = ask(&project, "set it up", &["--answer", "3"], write()).await;
        assert!(!made(), "{path}: {outcome}");
        let (outcome, _) = ask(&project, &format!("set the project up with {path}"), &[], write()).await;
        assert!(made(), "{path}: {outcome}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_look_like_others_are_refused() {
    for path in ["a\u{202e}yp.py", "a\u{200b}.py", "b\u{7}.py", "\u{2066}c.py", "d\n.py", "e\u{feff}.py"] {
        let project = Project::new(&[("a.py", "x = 1\n")]);
        let before = project.bytes();
        let write = vec![step("write_file", json!({"path": path, "content": "x\n"}), true)];
        let (outcome, last) = ask(&project, &format!("make {path}"), &[], write).await;
        assert_eq!(project.bytes(), before, "{path:?}: {outcome}");
        assert!(last.contains("not seen") || outcome.is_null(), "{path:?}: {last}");
    }
}

const ITEM: &str = "from dataclasses import dataclass\nfrom typing import Any\n\n\n@dataclass\nclass Unit:\n    name: Any\n\n\nclass Item:\n    def __init__(self, code: str, price: Any) -> None:\n        self.code = code\n        self.price: Any = price\n\n    def cost(self) -> str:\n        return self.cod\n";

#[tokio::test(flavor = "multi_thread")]
async fn what_stood_there_in_other_words_is_no_widened_type() {
    let project = Project::new(&[("a.py", ITEM)]);
    let (head, _) = ITEM.split_once("class Item").expect("the class");
    let fields = "@dataclass\nclass Item:\n    code: str\n    price: Any\n\n    def cost(self) -> str:\n        return self.code\n";
    let edits = vec![whole(&format!("{head}{fields}"))];
    let (outcome, _) = ask(&project, "turn Item into a dataclass", FILE, edits).await;
    assert!(project.read("a.py").ends_with(fields), "{outcome}");
    let summary = outcome["summary"].as_str().unwrap_or_default();
    assert!(outcome["fixed"] == 1 && !summary.contains("not counted"), "{outcome}");
}
