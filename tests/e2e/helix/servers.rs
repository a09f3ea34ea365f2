//! The engine asks the language server that the editor runs, through a real proxy before it.

use std::process::Command;

use futures::FutureExt;
use serde_json::{Value, json};
use sextant::base::path;
use sextant::editors::lsp::link::{NamedDocument, ProxySays};

use crate::helix::{CART, PRICE, with_model};
use crate::nvim::ask::step;
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::link_client::{EditorLink, engine};
use crate::support::mcp::McpClient;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::tool;

/// `sextant lsp` before a server, which starts the engine as it does for an editor. Nothing of it is looked for outside
/// of the project's own folders.
pub fn proxy(project: &Project, options: &[&str], server: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.arg("lsp").args(options);
    if !server.is_empty() {
        command.arg("--").args(server);
    }
    command
        .env("HOME", project.beside("home"))
        .env_remove("XDG_CONFIG_HOME")
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"));
    command
}

/// Once the engine has taken the proxy.
pub fn served(helix: &HelixClient) {
    helix.wait("the engine", |seen| {
        let said = |message: &serde_json::Value| {
            message["method"] == "window/logMessage"
                && message["params"]["message"].as_str().is_some_and(|text| text.contains(" serves "))
        };
        seen.messages.iter().any(said).then_some(())
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_asks_the_editors_own_server_of_an_edit_and_of_a_look() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = [tool("ruff").display().to_string(), "server".to_owned()];
    let mut command = proxy(&project, &[], &server);
    // The engine finds no server of its own there.
    command.env("PATH", "/usr/bin:/bin");
    let patient = json!({"sextant": {"diagnostics": {"timeout_ms": 60_000, "start_timeout_ms": 120_000}}});
    let helix = HelixClient::configured(HelixVersion::Release, &mut command, project.root(), patient);
    let uri = helix.open("cart.py", "python");
    served(&helix);
    let mut client = McpClient::open(&project, "probe", &[]).await;
    let edit = change("cart.py", "sum(prices)", "sum(price)");
    let answer = client.call("edit_file", edit).await;
    assert_eq!(answer["structuredContent"]["ok"], true, "{answer}");
    let new = answer["structuredContent"]["new_diagnostics"].to_string();
    assert!(new.contains("F821"), "the server behind the proxy has seen the edit: {answer}");
    assert_eq!(helix.text(&uri), CART.replace("sum(prices)", "sum(price)"));
    assert_eq!(project.read("cart.py"), CART, "what is open is never written");
    helix.command("agent.diagnostics", json!([]));
    let page = helix.wait("the page", |seen| seen.shown.last().cloned());
    helix.wait("what the server says", |seen| {
        seen.buffers[&page].text.contains("lsp:ruff: 2 diagnostics\n").then_some(())
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diagnostic_that_the_editors_server_shows_is_not_shown_twice_and_known_as_introduced() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let server = [tool("ruff").display().to_string(), "server".to_owned()];
    let mut command = proxy(&project, &[], &server);
    command.env("PATH", "/usr/bin:/bin");
    let edit = |path: &str, old: &str, new: &str, more| step("edit_file", change(path, old, new), more);
    let replies =
        [edit("cart.py", "sum(prices)", "sum(price)", true), edit("price.py", "len(name)", "len(nam)", false)];
    let model = ModelServer::start(replies).await;
    let config = json!({"sextant": with_model(&model)});
    let helix = HelixClient::configured(HelixVersion::Release, &mut command, project.root(), config);
    let uri = helix.open("cart.py", "python");
    served(&helix);
    helix.command("agent.ask", json!(["change them", {"workspace": true}]));
    let ours = |list: &[Value]| list.iter().filter(|one| one["source"] == "sextant").count();
    let known =
        |list: &[Value]| list.iter().filter(|one| one["message"].to_string().contains("Undefined name")).count();
    // The file that is not open has Sextant's alone.
    let closed = path::to_uri(&project.root().join("price.py")).expect("absolute");
    helix.wait("the closed file", |seen| {
        seen.diagnostics.get(&closed).filter(|list| ours(list) == 1 && known(list) == 1).map(drop)
    });
    helix.wait("the server's own", |seen| {
        seen.diagnostics.get(&uri).filter(|list| ours(list) == 0 && known(list) == 1).map(drop)
    });
    let hover = |uri: &str, line: usize| {
        let answer = helix.request(
            "textDocument/hover",
            json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 1}}),
        );
        answer["result"]["contents"].to_string()
    };
    assert!(
        hover(&uri, 4).contains("Introduced by the agent** (error): total: Undefined name `price` [F821]"),
        "{}",
        hover(&uri, 4)
    );
    assert!(!hover(&uri, 0).contains("Introduced"), "{}", hover(&uri, 0));
    // Once it is open, its server shows it.
    let opened = helix.open("price.py", "python");
    assert_eq!(opened, closed);
    helix.wait("the server's own", |seen| {
        seen.diagnostics.get(&closed).filter(|list| ours(list) == 0 && known(list) == 1).map(drop)
    });
    assert!(hover(&closed, 4).contains("Introduced by the agent** (error): price:"), "{}", hover(&closed, 4));
    helix.close(&closed);
    helix.wait("Sextant's again", |seen| seen.diagnostics.get(&closed).filter(|list| ours(list) == 1).map(drop));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_editors_with_a_file_the_server_of_the_one_that_asks_judges_the_edit() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = [tool("ruff").display().to_string(), "server".to_owned()];
    let replies = [
        step("edit_file", change("cart.py", "sum(prices)", "sum(price)"), true),
        step("edit_file", change("cart.py", "sum(price)", "max(prices)"), false),
    ];
    let model = ModelServer::start(replies).await;
    let editor = |process| {
        let mut command = proxy(&project, &[], &server);
        command.env("PATH", "/usr/bin:/bin");
        let config = json!({"sextant": with_model(&model)});
        HelixClient::of_process(process, HelixVersion::Release, &mut command, project.root(), config)
    };
    let asks = editor(std::process::id());
    let other = editor(std::os::unix::process::parent_id());
    let uri = asks.open("cart.py", "python");
    other.open("cart.py", "python");
    served(&asks);
    served(&other);
    // Its text is never that of the editor that asks again.
    other.edit(&uri, 0..0, "# typed elsewhere\n");
    other.command("agent.stop", json!([]));
    other.wait("the engine has the text", |seen| {
        seen.said.iter().any(|text| text.contains("nothing is running")).then_some(())
    });
    asks.command("agent.ask", json!(["change it"]));
    asks.wait("the repaired edit", |seen| seen.buffers[&uri].text.contains("max(prices)").then_some(()));
    let requests = model.requests();
    let told = requests[1].said_by("user");
    assert!(told.contains("F821"), "the model is told what its edit introduced: {told}");
    asks.wait("the verdict", |seen| seen.said.iter().any(|text| text.contains(":wa writes 1 buffer")).then_some(()));
    let said = asks.seen().said.clone();
    assert!(!said.iter().any(|text| text.contains("not known")), "{said:?}");
    assert!(other.text(&uri).starts_with("# typed elsewhere"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_proxies_of_an_editor_the_one_that_offers_actions_answers_first() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut offers = EditorLink::to(&project).await;
    let mut quiet = EditorLink::to(&project).await;
    let uri = offers.uri("cart.py");
    let file = || NamedDocument { uri: uri.clone() };
    offers.out.notify(&ProxySays::ActionsAsked(file()));
    offers.command("agent.stop", json!([]), None);
    offers.message("nothing is running").await;
    let turn = quiet.out.request(&ProxySays::ActionsTurn(file()));
    tokio::pin!(turn);
    quiet.command("agent.stop", json!([]), None);
    quiet.message("nothing is running").await;
    assert!(turn.as_mut().now_or_never().is_none(), "it has not answered");
    offers.out.notify(&ProxySays::ActionsAnswered(file()));
    assert_eq!(turn.await, Ok(json!(null)));
}
