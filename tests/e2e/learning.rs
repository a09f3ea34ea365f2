//! What the user undoes, prefers and forgets, in one session of the engine: a fix refused twice is not offered again.

use std::fs;
use std::sync::Arc;

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::base::deadline::Deadline;
use sextant::base::path::to_uri;
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{Config, Engine, Outcome, Request};
use sextant::llm::endpoint::{Provider, RemoteConfig};
use sextant::llm::offline::OfflineModel;
use sextant::llm::remote::RemoteModel;
use sextant::llm::step::Model;
use sextant::workspace::root::Root;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::memory::{memory_of, on_disk};
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::says;
use crate::support::servers::tool;

struct Desk {
    project: Project,
    editor: Arc<HeadlessEditor>,
    session: Engine,
}

impl Desk {
    fn new(project: Project, servers: Vec<ServerConfig>, model: Arc<dyn Model>, config: Value) -> Self {
        let editor = HeadlessEditor::new(project.root(), servers, unbounded_channel().0).expect("a folder");
        let editor = Arc::new(editor);
        let mut config: Config = serde_json::from_value(config).expect("a configuration");
        config.memory.state = Some(project.state_folder());
        let root = Root::new(project.root()).expect("a root");
        let session = Engine::new(Arc::<HeadlessEditor>::clone(&editor), model, root, config);
        Self { project, editor, session }
    }

    async fn ask(&self, request: &str) -> Outcome {
        let request = Request { text: request.into(), path: Some("a.py".into()), ..Request::default() };
        self.session.ask(&request, &CancellationToken::new()).await.result.expect("an outcome")
    }

    async fn undo(&self) -> String {
        self.session.undo().await.result.expect("undone")
    }
}

/// A server that reports every `bad` and offers two words in its place.
fn offering(project: &Project) -> ServerConfig {
    let file = to_uri(&project.root().join("a.py")).expect("a URI");
    let range = json!({"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 14}});
    let action = |word: &str| {
        let change = json!({"range": range, "newText": word});
        json!({"title": format!("Use {word}"), "kind": "quickfix", "edit": {"changes": {file.clone(): [change]}}})
    };
    let script = json!({
        "capabilities": {"codeActionProvider": true, "textDocumentSync": 1,
                         "diagnosticProvider": {"interFileDependencies": false, "workspaceDiagnostics": false}},
        "on": {"textDocument/diagnostic": [{"reply": {"pull": "scan"}}],
               "textDocument/codeAction": [{"reply": [action("good"), action("fine")]}]},
    });
    let path = project.beside("fake").join("script.json");
    fs::write(&path, script.to_string()).expect("a script");
    let program = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let command = [tool("python3"), program, path].map(|part| part.display().to_string()).to_vec();
    ServerConfig { name: "fake".into(), command, publishes_once: true, ..ServerConfig::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_that_was_undone_twice_gives_way_to_another_one() {
    let project = Project::new(&[("a.py", "def f():\n    return bad\n")]);
    let server = offering(&project);
    let patient = json!({"diagnostics": {"timeout_ms": 60_000, "start_timeout_ms": 60_000}});
    let desk = Desk::new(project, vec![server], Arc::new(OfflineModel), patient);
    for _ in 0..2 {
        let outcome = desk.ask("fix this").await;
        assert!(desk.project.read("a.py").contains("return good"), "{}", outcome.summary);
        desk.undo().await;
        assert!(desk.project.read("a.py").contains("return bad"));
    }
    let outcome = desk.ask("fix this").await;
    assert!(desk.project.read("a.py").contains("return fine"), "{}", outcome.summary);
    let trace = serde_json::to_value(&outcome.trace).expect("JSON");
    let entry = trace.as_array().into_iter().flatten().find(|entry| entry["rule"] == "learned").expect("an entry");
    assert_eq!((&entry["effect"], &entry["about"]), (&json!("set_aside"), &json!("the fix “Use good” in a.py::f")));
    let reason = entry["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("bad 2 of 2 times: undone by the user; another one is offered"), "{reason}");

    // An undo of the undo speaks for the fix again.
    desk.undo().await;
    let redone = desk.session.redo().await.result.expect("brought back");
    assert!(redone.contains("brought back"), "{redone}");
    assert!(desk.project.read("a.py").contains("return fine"));
    let known = desk.session.learned().await.expect("a page");
    assert!(known.contains("“Use fine” good 1 of 1 time"), "one undo, one return: {known}");

    // What the offline model can only decline is no success.
    assert!(desk.ask("write a test for f").await.answer.contains("needs a language model"));
    desk.session.close().await;
    let stats = desk.session.statistics().await.expect("a page");
    assert!(stats.contains("| runs                 |          4 |"), "{stats}");
    assert!(stats.contains("| success              |       25 % |"), "{stats}");
    desk.editor.shutdown(Deadline::after_ms(5_000)).await;
}

fn talking(server: &ModelServer) -> Arc<dyn Model> {
    let mut config = RemoteConfig::new(Provider::COMPATIBLE, "m");
    config.base_url = Some(server.url());
    Arc::new(RemoteModel::new(&config).expect("a model"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preference_is_kept_told_and_forgotten_in_so_many_words() {
    let server = ModelServer::start([]).await;
    let project = Project::new(&[("a.py", "def f():\n    return 1\n"), ("pyproject.toml", "[tool.pytest]\n")]);
    let config = json!({"preferences": {"style": "short functions"}, "diagnostics": {"start_timeout_ms": 1000}});
    let desk = Desk::new(project, Vec::new(), talking(&server), config);
    let told = |count: usize| memory_of(&server.requests()[count - 1]);

    let kept = desk.ask("remember that I like Zweihander names").await.summary;
    assert!(kept.starts_with("Kept for this project: “I like Zweihander names”."), "{kept}");
    let kept = desk.ask("recuerda que style: long functions").await.summary;
    assert!(kept.contains("“style: long functions”"), "{kept}");
    server.push(says("yes"));
    desk.ask("name it").await;
    // The project's word counts, and what the request is about comes first.
    assert_eq!(told(1), "prefers I like Zweihander names\nprefers style: long functions");

    let secret = Request { text: "remember that the api key is sk-abcdefghijklmnop1234".into(), ..Request::default() };
    let secret = desk.session.ask(&secret, &CancellationToken::new()).await;
    assert!(secret.result.is_err_and(|failure| failure.message.contains("nothing was kept")));
    let about = desk.session.recall_about("what do you know about zweihander?").await.expect("an answer");
    assert!(about.contains("- prefers I like Zweihander names"), "{about}");

    let gone = desk.session.forget("olvida todo sobre zweihander", &CancellationToken::new()).await.expect("forgotten");
    assert!(gone.starts_with("“zweihander”: forgotten: preferences: 1."), "{gone}");
    assert!(gone.contains("- preference i-like-zweihander-names"), "{gone}");
    assert!(!on_disk(&desk.project.record().folder(), "weihander"));
    server.push(says("yes"));
    desk.ask("name it").await;
    assert_eq!(told(2), "prefers style: long functions");
    let gone = desk.session.forget("forget style", &CancellationToken::new()).await.expect("forgotten");
    assert!(gone.contains("Your configuration still has preferences.style"), "{gone}");
    let none = desk.session.forget("forget style", &CancellationToken::new()).await.expect("an answer");
    assert!(none.contains("nothing was found to forget"), "{none}");
    for vague in ["forget ", "forget it", "olvida eso"] {
        assert!(desk.session.forget(vague, &CancellationToken::new()).await.is_err(), "{vague}");
    }

    let page = desk.session.learned().await.expect("a page");
    assert!(
        page.contains("- 2 files\n- `pytest` (pyproject.toml)\n") && page.contains("- style: short functions"),
        "{page}"
    );
    assert!(page.contains("[chat] name it"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_chat_is_summarised_and_the_next_session_knows_it() {
    let server = ModelServer::start((0..8).map(|n| says(format!("answer {n}")))).await;
    let project = Project::new(&[("a.py", "def f():\n    return 1\n")]);
    let quick = json!({"diagnostics": {"start_timeout_ms": 1000}});
    let desk = Desk::new(project, Vec::new(), talking(&server), quick.clone());
    for n in 0..7 {
        desk.ask(&format!("request {n} {}", "with many words ".repeat(10))).await;
    }
    desk.session.close().await;
    let Desk { project, session, .. } = desk;
    drop(session);
    let memory = project.memory();
    let summary = memory.summary("main").expect("read").expect("a summary");
    assert!(summary.text.starts_with("asked: request 0") && summary.text.contains("outcome: answer 6"), "{summary:?}");
    drop(memory);
    let desk = Desk::new(project, Vec::new(), talking(&server), quick);
    desk.ask("do that again").await;
    let told = memory_of(server.requests().last().expect("a request"));
    assert!(told.starts_with("earlier asked: request 6 with many words"), "{told}");
    let trace = desk.session.statistics().await.expect("a page");
    assert!(trace.contains("Memory, found : sent to the model: "), "{trace}");
}
