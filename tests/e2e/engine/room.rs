//! Checkpoints under a small limit: the newest task can be undone, and of one that was removed it is said why not.

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::engine::Request;

use crate::support::engine::{Setup, TestEngine, act};
use crate::support::project::Project;
use crate::support::replies::change;

/// Digits that pack to half of their size: 1.3 MB of them, so that one change of them is over the limit.
fn filler() -> String {
    let mut seed: u64 = 7;
    let mut digits = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:08x}", seed >> 32)
    };
    (0..160_000).map(&mut digits).collect()
}

fn engine(project: &Project, session: &str, replies: &[(u32, u32)]) -> TestEngine {
    let edit = |(old, new): &(u32, u32)| {
        let edit = change("n.txt", format!("n = {old}\n"), format!("n = {new}\n"));
        let mut reply = act("edit_file", edit);
        reply.proceed = false;
        reply
    };
    let config: Value = json!({"memory": {"enabled": true, "checkpoints_mb": 1, "session": session}});
    TestEngine::new(project, Setup { replies: replies.iter().map(edit).collect(), config, ..Setup::default() })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_task_can_be_undone_and_an_old_one_says_why_not() {
    let filler = filler();
    let number = |n: u32| format!("n = {n}\n{filler}\n");
    let project = Project::new(&[("n.txt", &number(1))]);
    let ask = async |engine: &TestEngine, text: &str| {
        let request = Request { text: text.into(), path: Some("n.txt".into()), ..Request::default() };
        engine.ask_about(&request).await
    };
    let first = engine(&project, "first", &[(1, 11)]);
    ask(&first, "raise n to 11").await;
    assert!(project.read("n.txt") == number(11));

    let second = engine(&project, "second", &[(11, 12), (12, 13), (13, 14)]);
    for _ in 0..3 {
        ask(&second, "raise n by one").await;
    }
    // A question that changes nothing does not make the last change the oldest.
    ask(&second, "what is n?").await;
    assert!(project.read("n.txt") == number(14));
    let memory = project.memory();
    let changed = |session: &str| {
        let all = memory.checkpoints(session, None).expect("read");
        all.iter().filter(|info| info.reason == "edit").count()
    };
    assert_eq!((changed("first"), changed("second")), (0, 1), "the limit holds");

    // New processes know of both what the file says.
    drop((first, second));
    let refused = engine(&project, "first", &[]).session.undo().await.result.expect_err("it is gone");
    let wanted = "“raise n to 11” cannot be undone any more: what it changed was removed to make room";
    assert_eq!(refused.message, wanted);
    assert!(refused.hint.text().contains("1 MB here; `memory.checkpoints_mb`"), "{refused:?}");
    assert!(project.read("n.txt") == number(14), "nothing was touched");
    let undone = engine(&project, "second", &[]).session.undo().await.result.expect("undone");
    assert!(project.read("n.txt") == number(13), "{undone}");
}
