//! What a task has changed in an open file: kept or taken back by code actions, each change alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sextant::engine::Engine;

use super::Place;
use super::before::{OwnEngine, own_engine};
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::servers::tool;

const KEEP: &str = "Sextant: keep this change";
const BACK: &str = "Sextant: take this change back";

/// Two things that ruff mends, apart from each other.
const BEFORE: &str =
    "import os\n\n\ndef f() -> int:\n    import sys\n\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
const MENDED: &str = "\n\ndef f() -> int:\n\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

/// An editor with a file in which a task has mended both.
async fn mended(place: &Place) -> (OwnEngine, Arc<Engine>, HelixClient, String) {
    mended_to(place, MENDED).await
}

async fn mended_to(place: &Place, text: &str) -> (OwnEngine, Arc<Engine>, HelixClient, String) {
    let mut own = own_engine(place);
    let command = vec![tool("ruff").display().to_string(), "server".to_owned()];
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &command), &place.root);
    let agent = (&mut own.agent).await.expect("a session");
    let uri = helix.open("a.py", "python");
    assert_eq!(offered(&helix, &uri, 0), Vec::<Value>::new());
    helix.command("agent.ask", json!(["fix the warnings"]));
    helix.wait("the end", |seen| seen.said.iter().any(|said| said.contains(":wa writes 1 buffer")).then_some(()));
    assert_eq!(helix.text(&uri), text);
    (own, agent, helix, uri)
}

/// Our actions of a change that are offered on a line.
fn offered(helix: &HelixClient, uri: &str, line: u64) -> Vec<Value> {
    let mut actions = helix.actions(uri, line..line);
    actions.retain(|action| [KEEP, BACK].iter().any(|title| action["title"] == *title));
    actions
}

/// The same, once there are so many.
fn offers(helix: &HelixClient, uri: &str, line: u64, count: usize) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let found = offered(helix, uri, line);
        if found.len() == count {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "line {line}: {found:?} in {:?}", helix.text(uri));
    }
}

fn take(helix: &HelixClient, actions: &[Value], title: &str) {
    let action = actions.iter().find(|action| action["title"] == title).expect("it is offered");
    helix.take(action);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_change_is_taken_back_and_the_others_stay() {
    let place = Place::new(&[("a.py", BEFORE)]);
    let (_own, _agent, helix, uri) = mended(&place).await;
    let actions = offers(&helix, &uri, 3, 2);
    assert_eq!((offered(&helix, &uri, 6).len(), offered(&helix, &uri, 8).len()), (0, 0), "nothing was changed there");
    // Typed above: the change is where its lines are.
    helix.edit(&uri, 0..0, "# mine\n");
    offers(&helix, &uri, 4, 2);
    take(&helix, &actions, BACK);
    let back = format!("# mine\n{}", MENDED.replace("int:\n\n", "int:\n    import sys\n\n"));
    helix.wait("the change back", |seen| (seen.buffers[&uri].text == back).then_some(()));
    helix.wait("its end", |seen| seen.said.iter().any(|said| said.contains("undone one change")).then_some(()));
    // It is not offered again, and to take it twice is refused.
    offers(&helix, &uri, 4, 0);
    take(&helix, &actions, BACK);
    helix.wait("a refusal", |seen| seen.said.iter().any(|said| said.contains("taken back already")).then_some(()));
    assert_eq!(helix.text(&uri), back);
    helix.quit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_kept_is_offered_no_more_and_one_that_was_typed_over_is_not_taken_back() {
    let place = Place::new(&[("a.py", BEFORE)]);
    let (_own, _agent, helix, uri) = mended(&place).await;
    let (first, second) = (offers(&helix, &uri, 0, 2), offers(&helix, &uri, 3, 2));
    take(&helix, &first, KEEP);
    offers(&helix, &uri, 0, 0);
    assert_eq!(offered(&helix, &uri, 3).len(), 2);
    take(&helix, &first, KEEP);
    helix.wait("a refusal", |seen| seen.said.iter().any(|said| said.contains("left to keep")).then_some(()));
    // Where the user types, nothing is offered, and what was offered before is refused with the reason.
    helix.replace(&uri, "int:\n\n    return 1", "int:\n    mine = 1\n    return mine");
    offers(&helix, &uri, 3, 0);
    let typed = helix.text(&uri);
    take(&helix, &second, BACK);
    helix.wait("a refusal", |seen| seen.said.iter().any(|said| said.contains("nothing was undone: ")).then_some(()));
    assert_eq!(helix.text(&uri), typed);
    helix.quit();
}

#[tokio::test(flavor = "multi_thread")]
async fn all_changes_in_a_symbol_are_kept_or_taken_back_at_once() {
    let body = |name: &str, first: &str, second: &str| {
        format!("def {name}() -> int:\n{first}    one = 1\n{second}    return one\n")
    };
    let (unused, other) = ("    import os\n\n", "    import sys\n\n");
    let (before, clean) = (|name: &str| body(name, unused, other), |name: &str| body(name, "\n", "\n"));
    let place = Place::new(&[("a.py", &format!("{}\n\n{}", before("f"), before("g")))]);
    let text = format!("{}\n\n{}", clean("f"), clean("g"));
    let (_own, _agent, helix, uri) = mended_to(&place, &text).await;
    offers(&helix, &uri, 1, 2);
    let titled = |line: u64, title: &str| {
        let actions = helix.actions(&uri, line..line);
        actions.into_iter().filter(|action| action["title"] == title).collect::<Vec<_>>()
    };
    let (keep, back) = ("Sextant: keep all 2 changes in g", "Sextant: take all 2 changes in f back");
    assert_eq!((titled(1, back).len(), titled(3, back).len(), titled(1, keep).len()), (1, 1, 0));
    take(&helix, &titled(3, back), back);
    let restored = format!("{}\n\n{}", before("f"), clean("g"));
    helix.wait("both of f back", |seen| (seen.buffers[&uri].text == restored).then_some(()));
    helix.wait("its end", |seen| seen.said.iter().any(|said| said.contains("undone a.py::f")).then_some(()));
    let line = restored.lines().position(|line| line.starts_with("def g")).expect("g") as u64 + 1;
    offers(&helix, &uri, line, 2);
    take(&helix, &titled(line, keep), keep);
    offers(&helix, &uri, line, 0);
    assert_eq!(helix.text(&uri), restored);
    helix.quit();
}
