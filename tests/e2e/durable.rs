//! What outlives a process: resume, undo of all and of parts, and the repair of an edit that was cut in half.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use sextant::memory::checkpoints::{CheckpointFile, FileState, NewCheckpoint};

use crate::cli::{outcome, sextant};
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::servers::tool;

pub const TEXT: &str =
    "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n\n\ndef h() -> int:\n    return 3\n";

pub fn plan(symbols: &[&str]) -> Reply {
    let step = |symbol: &&str| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = symbols.iter().map(step).collect();
    Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}))
}

pub fn replace(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

fn with_model<'a>(server: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--model", "openai_compatible:m", "--base-url", server]].concat()
}

fn run(project: &Project, server: &str, arguments: &[&str]) -> Output {
    tokio::task::block_in_place(|| sextant(project, &with_model(server, arguments)))
}

fn start(project: &Project, server: &str, arguments: &[&str]) -> Child {
    let tools = tool("ruff").parent().expect("a folder").to_owned();
    Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(with_model(server, arguments))
        .args(["--timeout-ms", "60000", "--servers"])
        .arg(tools)
        .current_dir(project.root())
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary")
}

pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn undo(project: &Project, arguments: &[&str]) -> Output {
    sextant(project, &[&["undo"], arguments].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_plan_is_resumed_taken_back_whole_and_in_parts_and_brought_back() {
    // Windows' line ends and a mark have to come back as they were.
    let text = format!("\u{feff}{}", TEXT.replace('\n', "\r\n"));
    let project = Project::new(&[("a.py", &text)]);
    let before = project.bytes();
    let server = ModelServer::start([
        plan(&["f", "g", "h"]),
        replace("return 1", "return 11", false),
        replace("return 2", "return 99", true),
        Reply::Stall("{".into()),
    ])
    .await;
    let url = server.url();
    let mut process = start(&project, &url, &["plan", "change all", "--file", "a.py", "--approve"]);
    server.requests_seen(4).await;
    process.kill().expect("killed");
    process.wait().expect("gone");
    let half = project.read("a.py");
    assert!(half.contains("return 11\r\n") && half.contains("return 99\r\n"), "one step and a half: {half}");

    server.push(replace("return 2", "return 22", false));
    server.push(replace("return 3", "return 33", false));
    let resumed = run(&project, &url, &["resume", "--json"]);
    let done = text.replace("return 1", "return 11").replace("return 2", "return 22").replace("return 3", "return 33");
    assert_eq!(project.read("a.py"), done, "the half step was taken back and done again: {}", said(&resumed));
    let outcome = outcome(&resumed)["outcome"].clone();
    assert!(outcome["summary"].as_str().is_some_and(|text| text.contains("3 of 3 steps done")), "{outcome}");
    assert_eq!(outcome["new_diagnostics"], json!([]), "{outcome}");

    let again = said(&run(&project, &url, &["resume"]));
    assert!(again.contains("nothing to resume"), "{again}");
    let why = said(&sextant(&project, &["why"]));
    assert!(why.contains("# Trace: change all") && why.contains("## Step 2, call 1"), "{why}");
    let lines = crate::cli::outcome(&sextant(&project, &["why", "1", "--json"]));
    let entries = lines["outcome"]["entries"].as_array().cloned().unwrap_or_default();
    let own = |process: &Value| process["step"] == 1 && process["effect"] == "acted" && process["call"].is_u64();
    assert!(entries.iter().any(own), "of the process that was killed, too: {entries:?}");
    let none = said(&sextant(&project, &["why", "9"]));
    assert!(none.contains("there is no trace of a task 9"), "{none}");
    assert!(said(&sextant(&project, &["why", "--list"])).contains("1. “change all”"));
    let one = said(&undo(&project, &["2"]));
    assert!(one.contains("undone step 2 of “change all”"), "{one}");
    assert_eq!(project.read("a.py"), done.replace("return 22", "return 2"));
    let back = said(&sextant(&project, &["redo"]));
    assert!(back.contains("brought back step 2"), "{back}");
    assert_eq!(project.read("a.py"), done);
    undo(&project, &["f"]);
    assert_eq!(project.read("a.py"), done.replace("return 11", "return 1"), "what was done in one symbol");
    let twice = said(&undo(&project, &["f"]));
    assert!(twice.contains("already"), "{twice}");
    undo(&project, &[]);
    assert_eq!(project.bytes(), before, "the rest of the task, byte for byte");
    assert!(said(&undo(&project, &[])).contains("nothing to undo"));
    let list = said(&undo(&project, &["--list"]));
    assert!(list.contains("- “change all” (undone)") && list.contains("step 2: a.py::g (undone)"), "{list}");
    assert_eq!(project.bytes(), before, "an undo brings nothing back");
    for _ in 0..2 {
        assert!(sextant(&project, &["redo"]).status.success());
    }
    assert_eq!(project.read("a.py"), done, "and forth again");
    let end = said(&sextant(&project, &["redo"]));
    assert!(end.contains("nothing to bring back"), "{end}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_request_is_told_of_resumed_and_undone() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let before = project.bytes();
    let server = ModelServer::start([replace("return 1", "return 11", true), Reply::Stall("{".into())]).await;
    let url = server.url();
    let mut process = start(&project, &url, &["ask", "change f", "--file", "a.py"]);
    server.requests_seen(2).await;
    let busy = said(&run(&project, &url, &["resume"]));
    assert!(busy.contains("a task is running already") && busy.contains("“change f”"), "{busy}");
    let beside = said(&run(&project, &url, &["resume", "--headless"]));
    assert!(beside.contains("another process is working"), "{beside}");
    process.kill().expect("killed");
    process.wait().expect("gone");

    server.push(replace("return 11", "return 111", false));
    let resumed = said(&run(&project, &url, &["resume"]));
    assert_eq!(project.read("a.py"), TEXT.replace("return 1\n", "return 111\n"), "{resumed}");
    let result = server.requests()[2].said_by("user").to_owned();
    assert!(result.contains("edit_file"), "it knows what it did last: {result}");
    undo(&project, &[]);
    assert_eq!(project.bytes(), before, "what both processes did");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_command_tells_of_an_interrupted_plan() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let server = ModelServer::start([
        plan(&["f", "g"]),
        replace("return 1", "return 11", false),
        Reply::Stall("{".into()),
        says("hello"),
    ])
    .await;
    let url = server.url();
    let mut process = start(&project, &url, &["plan", "change both", "--file", "a.py", "--approve"]);
    server.requests_seen(3).await;
    process.kill().expect("killed");
    process.wait().expect("gone");
    let text = said(&run(&project, &url, &["ask", "say hello", "--file", "b.py"]));
    assert!(text.contains("interrupted: “change both”, 1 of 2 steps done. `sextant resume` goes on"), "{text}");
    // The other task changed nothing, so the interrupted one is what is undone.
    undo(&project, &[]);
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_plan_shows_its_question_again_and_takes_the_answer() {
    let project = Project::new(&[("a.py", TEXT)]);
    let config = project.beside("config").join("sextant");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("config.toml"), "mode = \"supervised\"\n").expect("a file");
    let server = ModelServer::start([plan(&["f", "g"]), replace("return 1", "return missing", false)]).await;
    let url = server.url();
    let paused = said(&run(&project, &url, &["plan", "change both", "--file", "a.py", "--approve"]));
    assert!(paused.contains("? Step 1"), "{paused}");
    let asked = said(&run(&project, &url, &["resume"]));
    assert!(asked.contains("? Step 1") && asked.contains("3. take this step back and pause"), "{asked}");
    let answered = run(&project, &url, &["resume", "--answer", "3"]);
    assert_eq!(project.read("a.py"), TEXT, "{}", said(&answered));
    server.push(replace("return 1", "return 11", false));
    server.push(replace("return 2", "return 22", false));
    let done = said(&run(&project, &url, &["resume"]));
    assert!(done.contains("2 of 2 steps done"), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_leaves_what_the_user_changed_since_and_says_where() {
    let project = Project::new(&[("a.py", TEXT)]);
    let both = TEXT.replace("return 1", "return 11").replace("return 2", "return 22");
    let edits = [replace("return 1", "return 11", true), replace("return 2", "return 22", false)];
    let server = ModelServer::start(edits).await;
    let url = server.url();
    run(&project, &url, &["ask", "change both", "--file", "a.py"]);
    assert_eq!(project.read("a.py"), both);
    let mine = format!("# mine\n{}", both.replace("return 22", "return 22 + 5"));
    project.write("a.py", &mine);
    let refused = undo(&project, &[]);
    let text = said(&refused);
    assert!(!refused.status.success() && text.contains("a.py::g (line 7)") && text.contains("--partial"), "{text}");
    assert_eq!(project.read("a.py"), mine, "nothing was undone");
    let partial = said(&undo(&project, &["--partial"]));
    assert!(partial.contains("Left, since it was changed in the same place: a.py::g (line 7)"), "{partial}");
    assert_eq!(project.read("a.py"), mine.replace("return 11", "return 1"));
    assert!(said(&undo(&project, &[])).contains("nothing to undo"), "the rest was left for good");
    assert!(sextant(&project, &["redo"]).status.success());
    assert_eq!(project.read("a.py"), mine, "brought back");
}

pub fn record(project: &Project, files: &[(&str, Option<&str>, Option<&str>)]) {
    let memory = project.memory();
    let state = |text: &Option<&str>| text.map_or(FileState::Absent, |text| FileState::Bytes(text.into()));
    let file = |(path, before, after): &(&str, Option<&str>, Option<&str>)| CheckpointFile {
        path: (*path).to_owned(),
        before: state(before),
        after: Some(state(after)),
    };
    let new = NewCheckpoint {
        once: None,
        session: "main".into(),
        task: "t".into(),
        step: 1,
        reason: "edit".into(),
        state: json!({"name": "c1"}),
        files: files.iter().map(file).collect(),
        created: 1,
    };
    memory.open_checkpoint(new, "a-process-that-died").expect("kept");
}

#[test]
fn an_edit_of_three_files_that_was_cut_in_half_is_taken_back() {
    let project =
        Project::new(&[("a.py", "new = 1\r\n"), ("b.py", "old = 2\n"), ("c.py", "mine = 3\n"), ("made.py", "x = 1\n")]);
    project.write(".b.py.sextant-999999999-0", "new = 2\n");
    record(
        &project,
        &[
            ("a.py", Some("old = 1\n"), Some("new = 1\n")),
            ("b.py", Some("old = 2\n"), Some("new = 2\n")),
            ("c.py", Some("old = 3\n"), Some("new = 3\n")),
            ("made.py", None, Some("x = 1\n")),
        ],
    );
    let text = said(&undo(&project, &[]));
    assert!(text.contains("taken back: a.py, made.py") && text.contains("c.py is not as"), "{text}");
    assert_eq!(project.read("a.py"), "old = 1\r\n", "with its own line ends");
    assert_eq!((project.read("b.py"), project.read("c.py")), ("old = 2\n".into(), "mine = 3\n".into()));
    assert!(!project.root().join("made.py").exists());
    assert!(!project.root().join(".b.py.sextant-999999999-0").exists(), "what the dead process left beside it");
    let memory = project.memory();
    assert_eq!(memory.open_checkpoints().expect("read"), []);
}

/// Puts the record into the form of before calls had names, which is read as well.
fn as_before(project: &Project) {
    let db = rusqlite::Connection::open(project.memory_file()).expect("a database");
    // Two tables of an early version that a later one drops.
    let early = include_str!("../../src/store/memory/schema/002_knowledge.sql");
    let dropped = early.split_inclusive(";\n").filter(|statement| statement.contains("CREATE TABLE project_"));
    db.execute_batch(&dropped.collect::<String>()).expect("the tables of before");
    db.execute_batch(
        "DROP TABLE conversations; DROP INDEX checkpoints_once; ALTER TABLE checkpoints DROP COLUMN once; \
         PRAGMA user_version = 7",
    )
    .expect("the schema of before");
}

#[test]
fn a_file_that_something_runs_is_put_back_by_no_record_without_a_question() {
    let project = Project::new(&[("a.py", TEXT)]);
    record(&project, &[(".nvim.lua", Some("evil()\n"), Some("x = 1\n"))]);
    as_before(&project);
    let text = said(&undo(&project, &[]));
    assert!(text.contains("an edit of .nvim.lua") && text.contains("something runs that file"), "{text}");
    assert!(!project.root().join(".nvim.lua").exists(), "{text}");
    assert_eq!(project.memory().open_checkpoints().expect("read").len(), 1, "the next process asks again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_something_runs_is_written_on_the_words_of_no_record() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let url = server.url();
    // A record can be altered: the names in it are not known to be the user's.
    let request = "change f, and write x = 1 into conftest.py";
    let mut process = start(&project, &url, &["ask", request, "--file", "a.py"]);
    server.requests_seen(1).await;
    process.kill().expect("killed");
    process.wait().expect("gone");

    let writes = || step("write_file", json!({"path": "conftest.py", "content": "x = 1\n"}), false);
    let done = || says("no");
    server.push(writes());
    server.push(done());
    let resumed = said(&run(&project, &url, &["resume"]));
    assert!(resumed.contains("conftest.py") && !project.root().join("conftest.py").exists(), "{resumed}");
    let told = server.requests()[2].said_by("user").to_owned();
    assert!(told.contains("Change conftest.py?"), "{told}\n{resumed}");
}

#[test]
fn where_nothing_was_done_there_is_nothing_to_take_back_and_no_record_is_made() {
    let project = Project::new(&[("a.py", TEXT)]);
    let (undone, resumed) = (said(&undo(&project, &[])), said(&sextant(&project, &["resume"])));
    assert!(undone.contains("nothing to undo") && resumed.contains("nothing to resume"), "{undone}{resumed}");
    assert_eq!(std::fs::read_dir(project.state_home()).expect("a folder").count(), 0);
}

#[test]
fn six_runs_killed_at_random_moments_leave_whole_tool_calls() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(tool("python3"))
        .arg(repository.join("tests/kill/run.py"))
        .args(["-n", "6", "--nvim", "0.34", "--binary", env!("CARGO_BIN_EXE_sextant")])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SEXTANT_TOOLS", tool("ruff").parent().expect("a folder"))
        .env("SEXTANT_NVIM", crate::support::nvim::binary())
        .output()
        .expect("python3");
    let text = said(&output);
    assert!(output.status.success() && text.contains("6 of 6 held"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_killed_while_it_is_made_anew_is_made_anew_by_the_next_process() {
    let project = Project::new(&[("a.py", TEXT)]);
    let before = project.bytes();
    let objects =
        json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "replan": "g is generated"});
    let server = ModelServer::start([
        plan(&["f", "g", "h"]),
        replace("return 1", "return 11", false),
        Reply::Json(objects),
        Reply::Stall("{".into()),
    ])
    .await;
    let url = server.url();
    let mut process = start(&project, &url, &["plan", "change all", "--file", "a.py", "--approve"]);
    server.requests_seen(4).await;
    assert!(server.requests()[3].said_by("user").contains("g is generated"), "it was about to plan again");
    process.kill().expect("killed");
    process.wait().expect("gone");
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));

    server.push(plan(&["h"]));
    server.push(replace("return 3", "return 33", false));
    let resumed = run(&project, &url, &["resume", "--json"]);
    let said_so = said(&resumed);
    assert!(server.requests()[4].said_by("user").contains("g is generated"), "it plans anew for the same reason");
    assert!(server.requests()[4].said_by("user").contains("change f"), "and knows what is done: {said_so}");
    assert_eq!(server.requests().len(), 6, "the step that was done is not run again: {said_so}");
    let done = TEXT.replace("return 1\n", "return 11\n").replace("return 3", "return 33");
    assert_eq!(project.read("a.py"), done, "{said_so}");
    let summary = outcome(&resumed)["outcome"]["summary"].as_str().unwrap_or_default().to_owned();
    assert!(summary.contains("2 of 3 steps done, replanned 1 time"), "{summary}");
    undo(&project, &[]);
    assert_eq!(project.bytes(), before, "what both processes did");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_run_knows_what_was_allowed_and_goes_on_counting() {
    let project = Project::new(&[("a.py", TEXT)]);
    let delete = || step("edit_symbol", json!({"symbol": "a.py::h", "action": "delete", "content": ""}), false);
    let done = || says("not without");
    let server =
        ModelServer::start([plan(&["f", "h"]), replace("return 1", "return 11", false), delete(), done()]).await;
    let url = server.url();
    let asked = said(&run(&project, &url, &["plan", "change both", "--file", "a.py", "--approve"]));
    assert!(asked.contains("would delete a.py::h"), "{asked}");
    let calls = server.requests().len();
    server.push(Reply::Stall("{".into()));
    let mut process = start(&project, &url, &["resume", "--answer", "2"]);
    server.requests_seen(calls + 1).await;
    process.kill().expect("killed");
    process.wait().expect("gone");

    server.push(delete());
    server.push(done());
    let resumed = said(&run(&project, &url, &["resume"]));
    assert!(!project.read("a.py").contains("def h"), "what was allowed is not asked for again: {resumed}");
    assert!(resumed.contains("2 of 2 steps done"), "{resumed}");
    let figures = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["stats", "--json"])
        .current_dir(project.root())
        .env("XDG_STATE_HOME", project.state_home())
        .output()
        .expect("the binary");
    let stats: Value = serde_json::from_slice(&figures.stdout).expect("JSON");
    let planner = &stats["modes"][1];
    let counted = (&planner["runs"], &planner["steps"], &planner["escalated"]);
    assert_eq!(counted, (&json!(1), &json!(3), &json!(1.0)), "{stats}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_goes_on_with_another_model_says_so() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([plan(&["f", "g"]), replace("return 1", "return 11", false)]).await;
    let url = server.url();
    run(&project, &url, &["plan", "change both", "--file", "a.py"]);
    let with = |model: &str, arguments: &[&str]| {
        let model = format!("openai_compatible:{model}");
        let arguments = [arguments, &["--model", &model, "--base-url", &url]].concat();
        said(&tokio::task::block_in_place(|| sextant(&project, &arguments)))
    };
    let same = with("m", &["resume"]);
    assert!(same.contains("Changes") && !same.contains("was made with"), "{same}");
    server.push(replace("return 2", "return 22", false));
    let other = with("n", &["resume", "--approve"]);
    assert!(
        other.contains("the plan was made with openai_compatible:m; it goes on with openai_compatible:n"),
        "{other}"
    );
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11").replace("return 2", "return 22"), "{other}");
}
