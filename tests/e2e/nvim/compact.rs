//! The compact style in Neovim: an unsaved buffer, a stop in the middle, the undo.

use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn options(server: &ModelServer) -> String {
    format!(
        "{{ model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}', style = 'compact', context = 8192, \
         max_attempts = 1 }}, diagnostics = {{ timeout_ms = 60000, start_timeout_ms = 120000 }} }}",
        server.url()
    )
}

fn fence(code: &str) -> Reply {
    Reply::Text(format!("Here it is:\n```python\n{code}\n```"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_function_at_the_cursor_gets_its_new_text_and_an_undo_takes_it_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([fence("def f() -> int:\n    return 11")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("2").await;
    let summary = nvim.task("AgentAsk f returns eleven").await;
    let wanted = TEXT.replace("return 1", "return 11");
    assert_eq!((nvim.text().await, project.read("a.py")), (wanted.clone(), wanted), "{summary}");
    nvim.task("AgentUndo").await;
    assert_eq!((nvim.text().await.as_str(), project.read("a.py").as_str()), (TEXT, TEXT));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsaved_buffer_is_what_counts_and_is_not_written() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([fence("def f() -> int:\n    return 77")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("call setline(2, '    return 7')").await;
    nvim.command("2").await;
    nvim.task("AgentAsk f returns another seven").await;
    assert!(server.requests()[0].said_by("user").contains("return 7\n"), "it is given the text of the buffer");
    assert_eq!(nvim.text().await, TEXT.replace("return 1", "return 77"));
    assert_eq!(project.read("a.py"), TEXT, "the user's own changes are theirs to write");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_it_is_asked_again_leaves_the_text_before_the_first_try() {
    let project = Project::new(&[("a.py", TEXT)]);
    let wrong = fence("def f() -> int:\n    return missing");
    let server = ModelServer::start([wrong, Reply::Stall("```".into())]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("2").await;
    nvim.command("AgentAsk f returns eleven").await;
    server.requests_seen(2).await;
    let failure = nvim.failed_task("AgentStop").await;
    assert_eq!(failure["kind"], "cancelled", "{failure}");
    assert_eq!((nvim.text().await.as_str(), project.read("a.py").as_str()), (TEXT, TEXT));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_of_the_editor_s_servers_mends_what_the_new_text_caused() {
    let rules = "[tool.ruff.lint]\nselect = [\"RUF013\"]\n";
    let project = Project::new(&[("a.py", TEXT), ("pyproject.toml", rules)]);
    let server = ModelServer::start([fence("def f(x: int = None) -> int:\n    return x or 1")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright", "ruff"], "a.py").await;
    nvim.command("2").await;
    let summary = nvim.task("AgentAsk f returns its x, or one").await;
    let wanted = TEXT.replace("f()", "f(x: int | None = None)").replace("return 1", "return x or 1");
    assert_eq!(nvim.text().await, wanted, "{summary}");
    assert_eq!(server.requests().len(), 1, "{summary}");
    nvim.task("AgentUndo").await;
    assert_eq!((nvim.text().await.as_str(), project.read("a.py").as_str()), (TEXT, TEXT));
}
