//! Replies of a small model whose code does not stand as its symbol does in the file.

use serde_json::{Value, json};
use sextant::symbols::language;
use sextant::symbols::outline::Outline;

use super::rows::{ROWS, Row};
use super::{configure, project, sextant};
use crate::cli::outcome;
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::change;

/// A file with one symbol to change, a reply, and the file after it.
struct SmallReply {
    file: &'static str,
    text: &'static str,
    line: usize,
    reply: &'static str,
    after: &'static str,
}

/// Asks at the line of a file without any checker but that of the syntax.
async fn ask(project: &Project, given: &SmallReply, request: &str, replies: &[&str]) -> (Value, Vec<String>) {
    let fenced = |code: &&str| Reply::Text(format!("```\n{code}\n```"));
    ask_in("compact", project, given, request, replies.iter().map(fenced).collect()).await
}

async fn ask_in(
    style: &str,
    project: &Project,
    given: &SmallReply,
    request: &str,
    replies: Vec<Reply>,
) -> (Value, Vec<String>) {
    let server = ModelServer::start(replies).await;
    let model = "provider = \"openai_compatible\"\nmodel = \"m\"\ncontext = 8192\nmax_attempts = 1";
    configure(project, &format!("[model]\n{model}\nstyle = \"{style}\"\nbase_url = \"{}\"\n", server.url()));
    let place = format!("{}:{}", given.file, given.line);
    let empty = project.beside("no-servers").display().to_string();
    let output = sextant(project, &["ask", request, "--file", &place, "--json", "--servers", &empty]);
    let asked = server.requests().iter().map(|request| request.said_by("user").to_owned()).collect();
    (outcome(&output)["outcome"].clone(), asked)
}

const SHORTENED: &[SmallReply] = &[
    SmallReply {
        file: "a.ts",
        text: "export function total(prices: number[]): number {\n  return prices.length + 1;\n}\n",
        line: 2,
        reply: "function total(prices: number[]): number {\n  return prices.length;\n}",
        after: "export function total(prices: number[]): number {\n  return prices.length;\n}\n",
    },
    SmallReply {
        file: "a.rs",
        text: "pub struct Cart;\n\nimpl Cart {\n    pub(crate) fn total(&self) -> u8 {\n        2\n    }\n}\n",
        line: 5,
        reply: "fn total(&self) -> u8 {\n    1\n}",
        after: "pub struct Cart;\n\nimpl Cart {\n    pub(crate) fn total(&self) -> u8 {\n        1\n    }\n}\n",
    },
    SmallReply {
        file: "a.lua",
        text: "local function total(a)\n  return a + 1\nend\n\nreturn { total }\n",
        line: 2,
        reply: "function total(a)\n  return a\nend",
        after: "local function total(a)\n  return a\nend\n\nreturn { total }\n",
    },
    SmallReply {
        file: "A.java",
        text: "class A {\n  public static int total(int a) {\n    return a + 1;\n  }\n}\n",
        line: 3,
        reply: "int total(int a) {\n  return a;\n}",
        after: "class A {\n  public static int total(int a) {\n    return a;\n  }\n}\n",
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_modifier_that_a_reply_loses_stays_and_the_summary_says_so() {
    for given in SHORTENED {
        let project = Project::new(&[(given.file, given.text)]);
        let (outcome, asked) = ask(&project, given, "total is one too much", &[given.reply]).await;
        assert_eq!(project.read(given.file), given.after, "{}: {outcome} {asked:#?}", given.file);
        assert_eq!(outcome["ok"], true, "{}: {outcome}", given.file);
        let summary = outcome["summary"].as_str().unwrap_or_default();
        assert!(summary.contains("stays, which the reply left out"), "{}: {summary}", given.file);
    }
    let given = &SHORTENED[0];
    let project = Project::new(&[(given.file, given.text)]);
    let (outcome, _) = ask(&project, given, "total is one too much, and no longer exported", &[given.reply]).await;
    assert_eq!(project.read(given.file), given.after.replace("export ", ""), "the request speaks of it: {outcome}");
    assert!(!outcome["summary"].as_str().unwrap_or_default().contains("left out"), "{outcome}");
}

const ALONE: &[SmallReply] = &[
    SmallReply {
        file: "a.ts",
        text: "class Cart {\n  prices = [1];\n\n  total(): number {\n    return 2;\n  }\n}\n",
        line: 5,
        reply: "function total(): number {\n  return 1;\n}",
        after: "class Cart {\n  prices = [1];\n\n  total(): number {\n    return 1;\n  }\n}\n",
    },
    SmallReply {
        file: "a.hpp",
        text: "class Cart {\n  int total() { return 2; }\n};\n",
        line: 2,
        reply: "int Cart::total() { return 1; }",
        after: "class Cart {\n  int total() { return 1; }\n};\n",
    },
    SmallReply {
        file: "a.rs",
        text: "struct Cart;\n\nimpl Cart {\n    fn total(&self) -> u8 {\n        2\n    }\n}\n",
        line: 5,
        reply: "impl Cart {\n    fn total(&self) -> u8 {\n        1\n    }\n}",
        after: "struct Cart;\n\nimpl Cart {\n    fn total(&self) -> u8 {\n        1\n    }\n}\n",
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_a_reply_writes_as_if_it_stood_alone_is_taken_as_a_member() {
    for given in ALONE {
        let project = Project::new(&[(given.file, given.text)]);
        let (outcome, asked) = ask(&project, given, "total is one too much", &[given.reply]).await;
        assert_eq!(project.read(given.file), given.after, "{}: {outcome} {asked:#?}", given.file);
        assert_eq!((&outcome["ok"], asked.len()), (&Value::Bool(true), 1), "{}: {outcome}", given.file);
    }
    let (given, wrong) = (&ALONE[0], "const total = (): number => {\n  return 1;\n};");
    let project = Project::new(&[(given.file, given.text)]);
    let (outcome, asked) = ask(&project, given, "total is one too much", &[wrong, given.reply]).await;
    assert_eq!(project.read(given.file), given.after, "{outcome}");
    let line = "`const total = (): number => {` does not fit in the place of `total(): number {`";
    assert!(asked.len() == 2 && asked[1].contains(line), "{asked:#?}");
}

/// A row with an error in its symbol, a text that only hides it, and one that repairs it.
struct HiddenError {
    row: &'static str,
    error: (&'static str, &'static str),
    hides: &'static str,
    reason: &'static str,
    repairs: &'static str,
}

const HIDDEN: &[HiddenError] = &[
    HiddenError {
        row: "typescript",
        error: ("return this.prices.reduce((sum, price) => sum + price, 1);", "return this.prices.size;"),
        hides: "total(): number {\n  return (this.prices as any).size;\n}",
        reason: "it widens a type to Any",
        repairs: "total(): number {\n  return this.prices.length;\n}",
    },
    HiddenError {
        row: "rust",
        error: ("self.prices.iter().sum::<u32>() + 1", "self.prices.first()"),
        hides: "pub fn total(&self) -> u32 {\n    *self.prices.first().unwrap()\n}",
        reason: "it stops the program where a value is missing",
        repairs: "pub fn total(&self) -> u32 {\n    self.prices.first().copied().unwrap_or(0)\n}",
    },
];

async fn repair(row: &Row, case: &HiddenError, style: &str, replies: Vec<Reply>) -> (Value, Vec<String>, String) {
    let project = project(row);
    let before = project.read(row.file).replace(case.error.0, case.error.1);
    project.write(row.file, &before);
    let (outcome, asked) = super::ask(&project, row, "fix the type errors in total", style, replies).await;
    (outcome, asked, project.read(row.file))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_is_only_hidden_is_asked_for_again_and_is_no_success() {
    for case in HIDDEN {
        let row = ROWS.iter().find(|row| row.name == case.row).expect("a row");
        let before = row.files[1].1.replace(case.error.0, case.error.1);
        let fence = |code: &str| Reply::Text(format!("```\n{code}\n```"));
        let (outcome, asked, text) = repair(row, case, "compact", vec![fence(case.hides), fence(case.repairs)]).await;
        assert!(asked.len() == 2 && asked[1].contains(case.reason), "{}: {outcome} {asked:#?}", case.row);
        assert_eq!((&outcome["ok"], &outcome["fixed"]), (&json!(true), &json!(1)), "{}: {outcome}", case.row);
        assert_ne!(text, before, "{}", case.row);
        let cheats = vec![fence(case.hides), fence(case.hides), fence(case.hides)];
        let (outcome, _, text) = repair(row, case, "compact", cheats).await;
        assert_eq!((&outcome["ok"], &text), (&json!(false), &before), "{}: {outcome}", case.row);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_deletes_what_the_request_asks_to_write_is_refused() {
    for (given, symbol) in SHORTENED.iter().zip(["total", "Cart::total", "total", "A::total"]) {
        let path = format!("{}::{symbol}", given.file);
        let edit = |action: &str, content: &str| {
            step("edit_symbol", json!({"symbol": path, "action": action, "content": content}), true)
        };
        let source = project_source(given);
        let delete = step("edit_file", change(given.file, source, ""), true);
        for first in [edit("delete", ""), delete] {
            let project = Project::new(&[(given.file, given.text)]);
            let end = json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "ok"});
            let replies = vec![first, edit("replace", given.reply), Reply::Json(end)];
            let (outcome, asked) = ask_in("step", &project, given, "write total, without the one", replies).await;
            let refused = asked.iter().any(|asked| asked.contains("does not ask for its deletion"));
            assert!(refused && project.read(given.file).contains("total"), "{}: {outcome} {asked:#?}", given.file);
        }
        let project = Project::new(&[(given.file, given.text)]);
        let (outcome, _) = ask_in("step", &project, given, "delete total", vec![edit("delete", "")]).await;
        assert!(!project.read(given.file).contains("total("), "{}: {outcome}", given.file);
    }
}

/// The symbol of a file as it stands there.
fn project_source(given: &SmallReply) -> String {
    let outline = Outline::parse(language::of_path(given.file).expect("a row"), given.text);
    let symbol = outline.symbols.iter().find(|symbol| symbol.name == "total").expect("the symbol");
    given.text[symbol.extent.clone()].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_reads_what_rustc_says_beside_its_message() {
    let row = ROWS.iter().find(|row| row.name == "rust").expect("a row");
    let project = project(row);
    let broken =
        "    pub fn total(&self) -> u32 {\n        let found = \"1\".parse().unwrap_or_default();\n        1\n    }";
    let fence = |code: &str| Reply::Text(format!("```\n{code}\n```"));
    let replies = vec![fence(broken), fence(row.answer)];
    let (outcome, asked) = super::ask(&project, row, "total is one too much", "compact", replies).await;
    assert_eq!(asked.len(), 2, "{outcome} {asked:#?}");
    assert!(asked[1].contains("type annotations needed"), "{}", asked[1]);
    assert!(asked[1].contains("consider giving `found` an explicit type"), "{}", asked[1]);
    let project = self::project(row);
    let first = super::edit(row, ("self.prices.iter().sum::<u32>() + 1", "\"1\""), true);
    let (_, asked) = super::ask(
        &project,
        row,
        "total is one too much",
        "step",
        vec![first, super::edit(row, ("\"1\"", "1"), false)],
    )
    .await;
    assert!(asked[1].contains("help: expected `u32`, found `&str`"), "{}", asked[1]);
}
