//! Calls of clients outside: whose edits they are, what they are told, and what neither undo nor stop takes along.

use std::sync::Arc;
use std::time::Duration;

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::base::failure::{Failure, FailureKind};
use sextant::engine::{Event, OutsideAnswer, OutsideClient, Target, mcp_tools};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::engine::{Setup, Stall, TestEngine, act};
use crate::support::project::Project;
use crate::support::replies::change;

const A: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn setup(memory: bool) -> Setup {
    Setup { syntax: true, memory, ..Setup::default() }
}

fn client(name: &str) -> OutsideClient {
    OutsideClient::new(format!("id of {name}"), name)
}

async fn call(engine: &TestEngine, who: &str, tool: &str, given: Value) -> Result<OutsideAnswer, Failure> {
    engine.session.call(&client(who), tool, given, None, &CancellationToken::new()).await
}

#[tokio::test]
async fn an_edit_answers_with_what_it_introduced_as_text_and_as_data() {
    let project = Project::new(&[("a.py", A)]);
    let engine = TestEngine::new(&project, setup(false));
    let read = call(&engine, "claude", "read_file", json!({"path": "a.py"})).await.expect("a text");
    assert!(read.text.contains("return 1") && read.data.is_none(), "{read:?}");
    let clean = call(&engine, "claude", "edit_file", change("a.py", "return 1", "return 3")).await.expect("an edit");
    let data = clean.data.expect("data");
    assert_eq!((&data["new_diagnostics"], &data["diagnostics_status"]), (&json!([]), &json!("partial")), "{data}");
    let broken = call(&engine, "claude", "edit_file", change("a.py", "return 2", "return (2")).await.expect("an edit");
    let data = broken.data.expect("data");
    assert_eq!(data["new_diagnostics"].as_array().map(Vec::len), Some(1), "{data}");
    assert_eq!(data["new_diagnostics"][0]["severity"], "error");
    let message = data["new_diagnostics"][0]["message"].as_str().expect("a message");
    assert!(broken.text.contains(message), "{}: {data}", broken.text);
    let markdown = engine.session.traced("").await.expect("a trace").markdown();
    assert!(markdown.contains("edits of claude") && markdown.contains("(claude)"), "{markdown}");
}

#[tokio::test]
async fn each_client_s_edits_are_a_task_and_an_undo_leaves_the_others() {
    for memory in [true, false] {
        let project = Project::new(&[("a.py", A), ("b.py", "x = 1\n")]);
        let mut engine = TestEngine::new(&project, setup(memory));
        for (who, path, old, new) in [
            ("claude", "a.py", "return 1", "return 10"),
            ("codex", "a.py", "return 2", "return 20"),
            ("claude", "b.py", "x = 1", "x = 11"),
            ("codex", "b.py", "x = 11\n", "x = 11\ny = (\n"),
        ] {
            call(&engine, who, "edit_file", change(path, old, new)).await.expect("an edit");
        }
        // It is shown behind the answer, which does not wait for it.
        let list = async {
            loop {
                if let Some(Event::Introduced { request, entries, of, .. }) = engine.events.recv().await {
                    return (request, entries.len(), of.is_empty());
                }
            }
        };
        let list = tokio::time::timeout(Duration::from_secs(30), list).await.expect("a list");
        assert_eq!(list, ("edits of codex".to_owned(), 1, false), "claude has introduced nothing");
        let undone = engine.session.undo().await.result.expect("an undo");
        assert!(undone.contains("edits of codex"), "{undone}");
        let both = (project.read("a.py"), project.read("b.py"));
        assert_eq!(both, (A.replace("return 1", "return 10"), "x = 11\n".into()), "memory {memory}");
        // What comes after an undo of everything is another task.
        let told =
            call(&engine, "codex", "edit_file", change("b.py", "x = 11", "x = 12")).await.expect("its line is there");
        assert!(told.text.contains("had changed since it was read"), "{told:?}");
        engine.session.undo().await.result.expect("an undo");
        assert_eq!(project.read("b.py"), "x = 11\n");
        let undone = engine.session.undo().await.result.expect("an undo");
        assert!(undone.contains("edits of claude"), "{undone}");
        assert_eq!((project.read("a.py"), project.read("b.py")), (A.into(), "x = 1\n".into()));
        assert!(engine.session.undo().await.result.is_err());
    }
}

#[tokio::test]
async fn reads_make_no_task_and_no_record() {
    let project = Project::new(&[("a.py", A)]);
    let engine = TestEngine::new(&project, setup(true));
    for (tool, given) in [
        ("read_file", json!({"path": "a.py"})),
        ("read_symbol", json!({"symbol": "a.py::f"})),
        ("list_symbols", json!({"query": "a.py"})),
        ("search", json!({"pattern": "return"})),
    ] {
        let answer = call(&engine, "codex", tool, given).await.expect(tool);
        assert!(answer.data.is_none() && !answer.text.is_empty(), "{tool}: {answer:?}");
    }
    let refused = call(&engine, "codex", "edit_file", change("../x.py", "a", "b")).await.unwrap_err();
    assert!(refused.message.contains("outside the workspace"), "{refused:?}");
    assert!(engine.session.undo().await.result.is_err());
}

#[tokio::test]
async fn several_edits_of_a_call_are_made_together_or_not_at_all() {
    let project = Project::new(&[("a.py", A)]);
    let engine = TestEngine::new(&project, setup(false));
    let edits = |list: Value| json!({"path": "a.py", "edits": list});
    let one = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let refused = [
        (edits(json!([one("return 1", "return 3"), one("return 9", "return 4")])), "edit 2 of 2: old_string was not"),
        (edits(json!([])), "needs `old_string`"),
        (json!({"path": "a.py"}), "needs `old_string`"),
        (json!({"path": "a.py", "old_string": "return 1"}), "needs `new_string`"),
        (json!({"path": "a.py", "old_string": "a", "new_string": "b", "edits": [one("c", "d")]}), "not both"),
        (edits(json!([one("return 1", "return 3"), one("return 3", "return 1")])), "leave the text as it is"),
        (edits(json!([{"old_string": "return 1"}])), "new_string"),
        (edits(json!(vec![one("return 1", "return 3"); 101])), "100 is the most"),
    ];
    for (given, why) in refused {
        let refused = call(&engine, "codex", "edit_file", given.clone()).await.unwrap_err();
        assert!(refused.message.contains(why), "{given}: {refused:?}");
        assert_eq!(project.read("a.py"), A);
    }
    let list = json!([one("return 1", "return 3"), one("return 3", "return 33"), one("g()", "h()")]);
    let answer = call(&engine, "codex", "edit_file", edits(list)).await.expect("an edit");
    assert_eq!(project.read("a.py"), A.replace("return 1", "return 33").replace("g()", "h()"), "{answer:?}");
    engine.session.undo().await.result.expect("one undo");
    assert_eq!(project.read("a.py"), A);
}

#[tokio::test]
async fn a_stop_of_the_running_task_is_none_of_a_client_s() {
    let project = Project::new(&[("a.py", A)]);
    let replies = vec![act("read_file", json!({"path": "a.py"}))];
    let engine = TestEngine::new(&project, Setup { replies, ..setup(false) });
    engine.calls.stop_at(2, engine.cancel.clone());
    let stopped = engine.ask("explain f, then change it").await;
    assert_eq!(stopped["failed"]["kind"], "cancelled", "{stopped}");
    let answer = call(&engine, "codex", "edit_file", change("a.py", "return 2", "return (2")).await.expect("an edit");
    let data = answer.data.expect("data");
    assert_eq!(data["new_diagnostics"].as_array().map(Vec::len), Some(1), "{data}");
}

#[tokio::test]
async fn a_call_that_is_stopped_leaves_a_whole_edit_that_can_be_undone() {
    for memory in [true, false] {
        let project = Project::new(&[("a.py", A)]);
        let engine = TestEngine::new(&project, setup(memory));
        call(&engine, "codex", "edit_file", change("a.py", "return 1", "return 10")).await.expect("an edit");
        let go = Arc::new(Notify::new());
        engine.calls.stall(Some(Stall::Before(Arc::clone(&go))));
        let cancel = CancellationToken::new();
        let (session, own) = (Arc::clone(&engine.session), cancel.clone());
        let called = tokio::spawn(async move {
            session.call(&client("codex"), "edit_file", change("a.py", "return 2", "return 20"), None, &own).await
        });
        while engine.calls.names().iter().filter(|name| **name == "apply").count() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        let stopped = called.await.expect("no panic").unwrap_err();
        assert_eq!(stopped.kind, FailureKind::Cancelled);
        engine.calls.stall(None);
        go.notify_one();
        // The next edit of the client, and an undo, know of it.
        call(&engine, "codex", "read_file", json!({"path": "a.py"})).await.expect("a text");
        let next = call(&engine, "codex", "write_file", json!({"path": "c.py", "content": "z = 1\n"})).await;
        next.expect("an edit");
        let done = A.replace("return 1", "return 10").replace("return 2", "return 20");
        assert_eq!(project.read("a.py"), done);
        engine.session.undo_part(&Target::Step(None), false).await.result.expect("an undo of the last step");
        assert!(!project.root().join("c.py").exists());
        engine.session.undo().await.result.expect("an undo of all");
        assert_eq!(project.read("a.py"), A, "memory {memory}");
    }
}

#[tokio::test]
async fn what_needs_the_user_s_word_is_asked_with_the_client_s_name_or_refused() {
    let project = Project::new(&[("conftest.py", "x = 1\n")]);
    let mut engine = TestEngine::new(&project, setup(false));
    let given = change("conftest.py", "x = 1", "x = 2");
    let refused = call(&engine, "codex", "edit_file", given.clone()).await.unwrap_err();
    assert!(refused.message.contains("cannot be asked here"), "{refused:?}");
    assert_eq!(project.read("conftest.py"), "x = 1\n");
    engine.session.answers_come();
    let session = Arc::clone(&engine.session);
    let called = tokio::spawn(async move {
        session.call(&client("codex"), "edit_file", given, None, &CancellationToken::new()).await
    });
    let (text, _) = engine.question().await;
    assert!(text.starts_with("codex: Change conftest.py?"), "{text}");
    engine.session.answer_waiting(1).expect("a question").expect("an answer");
    called.await.expect("no panic").expect("an edit");
    assert_eq!(project.read("conftest.py"), "x = 2\n");
}

#[tokio::test]
async fn clients_edit_beside_each_other_and_nothing_is_lost() {
    let lines: String = (0..40).map(|n| format!("v{n} = 0\n")).collect();
    let project = Project::new(&[("a.py", &lines), ("b.py", &lines)]);
    let engine = Arc::new(TestEngine::new(&project, setup(true)));
    let work = |who: usize| {
        let engine = Arc::clone(&engine);
        async move {
            let name = format!("client {who}");
            for n in (who..40).step_by(4) {
                for path in ["a.py", "b.py"] {
                    let given = change(path, format!("v{n} = 0\n"), format!("v{n} = {who}1\n"));
                    // Another one's edit comes in between: the text is shown, and the edit given again.
                    while let Err(refused) = call(&engine, &name, "edit_file", given.clone()).await {
                        assert!(refused.message.contains("changed since it was read"), "{refused:?}");
                    }
                }
            }
        }
    };
    tokio::join!(work(0), work(1), work(2), work(3));
    let done: String = (0..40).map(|n| format!("v{n} = {}1\n", n % 4)).collect();
    assert_eq!((project.read("a.py"), project.read("b.py")), (done.clone(), done));
    engine.session.undo().await.result.expect("an undo");
    let left = project.read("a.py").lines().filter(|line| line.ends_with(" = 0")).count();
    assert_eq!((left, project.read("a.py")), (10, project.read("b.py")), "the edits of one client, and of no other");
    for _ in 0..3 {
        engine.session.undo().await.result.expect("an undo");
    }
    assert_eq!((project.read("a.py"), project.read("b.py")), (lines.clone(), lines));
}

#[test]
fn the_list_of_tools_is_short() {
    let tools = mcp_tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    for name in ["read_file", "read_symbol", "list_symbols", "search", "edit_file", "edit_symbol", "write_file"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in ["run_command", "apply_fix", "diagnostics"] {
        assert!(!names.contains(&name), "{names:?}");
    }
    let of = |name: &str| tools.iter().find(|tool| tool.name == name).expect(name);
    assert_eq!(of("edit_file").schema["required"], json!(["path"]), "{}", of("edit_file").schema);
    assert_eq!(of("edit_file").schema["properties"]["edits"]["type"], "array", "{}", of("edit_file").schema);
    assert!(of("read_file").schema["properties"].get("plain").is_none(), "{}", of("read_file").schema);
    assert!(!serde_json::to_string(&tools).expect("JSON").contains("x-hidden"));
}

#[tokio::test]
async fn what_the_process_no_longer_holds_is_undone_from_memory() {
    let lines: Vec<String> = (0..20).map(|line| format!("value{line} = 0\n")).collect();
    let project = Project::new(&[("a.md", &lines.concat())]);
    let before = project.read("a.md");
    let engine = TestEngine::new(&project, setup(true));
    for line in 0..20 {
        let edit = change("a.md", format!("value{line} = 0\n"), format!("value{line} = 1\n"));
        call(&engine, &format!("client {line}"), "edit_file", edit).await.expect("an edit");
    }
    assert!(!project.read("a.md").contains("= 0"));
    for line in (0..20).rev() {
        let undone = engine.session.undo().await.result.expect("an undo");
        assert!(undone.contains(&format!("edits of client {line}")), "{undone}");
    }
    assert_eq!(project.read("a.md"), before);
}
