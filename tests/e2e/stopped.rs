//! Ctrl-C in the middle of a check: the edit is not called clean, and `resume` knows that it stands.

use std::time::Duration;

use rustix::process::{Signal, test_kill_process};
use serde_json::json;

use crate::nvim::ask::step;
use crate::support::model_server::Reply;
use crate::support::replies::says;
use crate::support::scripted::{Scripted, publish, said};
use crate::support::servers::fake_process;

const TEXT: &str = "def f() -> int:\n    return 1\n";

/// The whole function with this in it, as a model sends it.
fn edit(new: &str) -> Reply {
    let whole = format!("def f() -> int:\n    {new}\n");
    step("edit_symbol", json!({"symbol": "a.py::f", "action": "replace", "content": whole}), true)
}

fn plan() -> Reply {
    let step = json!({"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"});
    Reply::Json(json!({"title": "Change", "reason": "asked", "steps": [step], "confidence": 1}))
}

fn end() -> Reply {
    says("done")
}

/// A server that says nothing about a change until it is let.
async fn slow(script: Vec<Reply>) -> Scripted {
    Scripted::new(&[("a.py", TEXT)], "step", json!([{"wait_for": "go"}, publish()]), 60_000, script).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_whose_check_was_stopped_is_not_known_to_be_clean() {
    for json in [false, true] {
        let scripted = slow(vec![edit("return bad")]).await;
        let asked = ["ask", "change f", "--file", "a.py:2", "--json"];
        let stopped = scripted.stopped_at("return bad", &asked[..if json { 5 } else { 4 }]).await;
        let shown = said(&stopped);
        assert!(scripted.project.read("a.py").contains("return bad"), "{shown}");
        assert!(!stopped.status.success() && !shown.contains("0 new"), "{shown}");
        assert!(shown.contains("not known yet: fake (a.py, stopped while it was checked)"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_ends_with_a_process_that_is_terminated() {
    let scripted = slow(vec![edit("return bad")]).await;
    let ended = scripted.signalled_at("return bad", Signal::TERM, &["ask", "change f", "--file", "a.py:2"]).await;
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    let gone = || test_kill_process(fake_process(&scripted.project)).is_err();
    let wait = async {
        while !gone() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("the server has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_knows_the_edit_that_a_stopped_step_has_made() {
    for (new, status) in [("return 2", 0), ("return bad", 1)] {
        let scripted = slow(vec![plan(), edit(new)]).await;
        let stopped = scripted.stopped_at(new, &["plan", "change f", "--file", "a.py", "--approve"]).await;
        assert!(!stopped.status.success(), "{}", said(&stopped));
        assert!(scripted.project.read("a.py").contains(new), "{}", said(&stopped));
        scripted.go();
        for reply in [edit(new), end()] {
            scripted.model.push(reply);
        }
        let resumed = scripted.run(&["resume", "--json"]);
        let shown = said(&resumed);
        assert!(shown.contains("this edit stands already"), "{new}: {shown}");
        assert_eq!(resumed.status.code(), Some(status), "{new}: {shown}");
        assert_eq!(shown.contains("1 of 1 step done"), status == 0, "{new}: {shown}");
    }
}
