//! One engine a workspace: from the first proxy to the last, and what a second one is told.

use std::time::Duration;

use serde_json::{Value, json};
use sextant::editors::lsp::link::{ENGINE_SOCKET, LINK_VERSION};
use sextant::serve::discovery::of_workspace;

use crate::helix::CART;
use crate::helix::servers::{proxy, served};
use crate::rpc::{sextant, stdout};
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::link_client::{EditorLink, engine, hello};
use crate::support::project::Project;
use crate::support::servers::tool;

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_ends_with_its_last_proxy_and_a_second_one_at_once() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut first = engine(&project);
    let one = EditorLink::to(&project).await;
    let other = EditorLink::to(&project).await;
    let mut second = engine(&project);
    let ended = tokio::time::timeout(Duration::from_secs(60), second.wait()).await.expect("it ends").unwrap();
    assert!(ended.success());
    let listed = sextant(&project, &["sessions"]).await;
    assert!(stdout(&listed).contains("lsp-"), "{}", stdout(&listed));
    drop(one);
    other.command("agent.stop", json!([]), None);
    let mut other = other;
    other.message("nothing is running").await;
    drop(other);
    let ended = tokio::time::timeout(Duration::from_secs(60), first.wait()).await.expect("it ends").unwrap();
    assert!(ended.success());
    let folder = of_workspace(&[project.beside("runtime").join("sextant")], project.root()).unwrap();
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_editor_cannot_have_is_refused_with_the_way_out() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let refused = async |change: fn(&mut sextant::editors::lsp::link::Hello)| {
        let mut hello = hello(&project, None, Value::Null);
        change(&mut hello);
        EditorLink::with(&project, hello).await.err().expect("refused")
    };
    let version = refused(|hello| hello.version = LINK_VERSION + 1).await;
    assert!(version.hint().contains("two versions"), "{version:?}");
    assert!(refused(|hello| hello.root = "/elsewhere".into()).await.message.contains("this is the engine of"));
    let options = refused(|hello| hello.options = json!({"mdoe": "planner"})).await;
    assert!(options.message.contains("unknown field") && !options.hint().is_empty(), "{options:?}");
    // The next one is not refused for it.
    let mut hello = hello(&project, None, Value::Null);
    hello.options = json!({"mode": "supervised", "model": {"provider": "offline"}});
    EditorLink::with(&project, hello).await.expect("taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_that_was_killed_left_is_in_nobodys_way() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut first = engine(&project);
    drop(EditorLink::to(&project).await);
    first.kill().await.expect("killed");
    let folder = of_workspace(&[project.beside("runtime").join("sextant")], project.root()).unwrap();
    assert!(folder.join(ENGINE_SOCKET).exists());
    let _second = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_of_a_proxy_that_was_killed_is_removed_by_the_engine() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let _other = EditorLink::to(&project).await;
    let server = [tool("ruff").display().to_string(), "server".to_owned()];
    let mut helix = HelixClient::start(HelixVersion::Release, &mut proxy(&project, &[], &server), project.root());
    helix.open("cart.py", "python");
    served(&helix);
    let folder = of_workspace(&[project.beside("runtime").join("sextant")], project.root()).unwrap();
    let sockets = || {
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("proxy-")).count()
    };
    assert_eq!(sockets(), 1);
    helix.child.kill().expect("killed");
    helix.child.wait().expect("ended");
    let gone = async {
        while sockets() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("the socket goes");
}
