//! What goes wrong: each ends in one clear message, with nothing lost.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def alpha() -> int:\n    return 1\n";

fn said(failure: &Value) -> String {
    format!("{} → {}", failure["message"].as_str().unwrap_or_default(), failure["hint"].as_str().unwrap_or_default())
}

/// Asks with a scripted model and gives back how it failed. The file must be as it was.
async fn fails(script: Vec<Reply>) -> String {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    let failure = nvim.failed_task("AgentAsk fix this").await;
    assert_eq!(nvim.text().await, TEXT);
    assert_eq!(project.read("a.py"), TEXT);
    said(&failure)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_named_with_the_way_out() {
    let status = |code: u16, headers| Reply::Status(code, headers, "{\"error\": {\"message\": \"no\"}}".into());
    let unauthorized = fails(vec![status(401, vec![])]).await;
    assert!(unauthorized.contains("refused the key") && unauthorized.contains("check the key"), "{unauthorized}");
    let again = vec![("retry-after", "0".to_owned())];
    let busy = fails(vec![status(429, again.clone()), status(429, again)]).await;
    assert!(busy.contains("429") && busy.contains("try again later"), "{busy}");
    let broken = fails(vec![status(500, vec![]), status(500, vec![])]).await;
    assert!(broken.contains("500"), "{broken}");
    let whole =
        json!({"action": null, "reasoning": "long enough to be cut", "continue": false, "confidence": 1, "answer": ""});
    let cut = fails(vec![Reply::CutAfter(whole.clone(), 120), Reply::CutAfter(whole, 120)]).await;
    assert!(cut.contains("cut off"), "{cut}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_cannot_be_used_end_the_task_after_three() {
    let project = Project::new(&[("a.py", TEXT)]);
    let wrong = [
        step("no_such_tool", json!({}), true),
        step("edit_file", change("../../etc/passwd", "root", "x"), true),
        step("edit_symbol", json!({"symbol": "a.py::nobody", "action": "delete", "content": ""}), true),
    ];
    let prose = || Reply::Text("I would be delighted to help.".into());
    let server = ModelServer::start(wrong.into_iter().chain((0..8).map(|_| prose()))).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    let summary = nvim.task("AgentAsk fix this").await;
    assert!(summary.contains("3 errors in a row") && summary.contains("nothing was changed"), "{summary}");
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_is_a_clear_failure() {
    let project = Project::new(&[("a.py", TEXT)]);
    // A port that was ours a moment ago and that nobody listens on now.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = format!(
        "{{ model = {{ provider = 'openai_compatible', model = 'm', base_url = 'http://127.0.0.1:{port}/v1', max_attempts = 1 }} }}"
    );
    let mut nvim = Nvim::open(&project, &options, &[], "a.py").await;
    nvim.command("AgentAsk fix this").await;
    let failure = said(&nvim.failed().await);
    assert!(failure.contains("cannot reach") && failure.contains("check base_url"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_a_stalled_call_and_keeps_what_was_done() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = step("edit_file", change("a.py", "return 1", "return 11"), true);
    let server = ModelServer::start([edit, Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk change it").await;
    server.requests_seen(2).await;
    let failure = nvim.command_until("AgentStop", "SextantFailed").await;
    assert_eq!(failure["failure"]["kind"], "cancelled", "{failure}");
    server.hang_ups_seen(1).await;
    assert!(nvim.text().await.contains("return 11"), "what was finished is kept");
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_ends_with_its_neovim() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.command("AgentAsk change it").await;
    server.requests_seen(1).await;
    nvim.child().kill().await.unwrap();
    server.hang_ups_seen(1).await;
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_wrong_or_dead_binary_gives_one_message_and_the_next_command_tries_again() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut nvim = Nvim::start_with(&project, "{}", &[], "/nowhere/sextant").await;
    nvim.edit("a.py").await;
    let missing = nvim.command_until("AgentAsk fix this", "message").await;
    assert!(missing["text"].as_str().unwrap().contains("no sextant binary found"), "{missing}");

    let script = project.beside("bin").join("sextant");
    let with = |text: &str| {
        std::fs::write(&script, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
    };
    with("#!/bin/sh\nexit 3\n");
    let set = format!("require('sextant').setup({{ binary = '{}' }}) return true", script.display());
    nvim.lua::<bool>(&set).await;
    let dead = nvim.command_until("AgentAsk fix this", "message").await;
    assert!(dead["text"].as_str().unwrap().contains("exit code 3"), "{dead}");

    with("#!/bin/sh\nexec sleep 600\n");
    nvim.lua::<bool>("require('sextant.rpc.channel').handshake_ms = 300 return true").await;
    let hung = nvim.command_until("AgentAsk fix this", "message").await;
    assert!(hung["text"].as_str().unwrap().contains("did not answer within 0.3 s"), "{hung}");
    nvim.lua::<bool>("require('sextant.rpc.channel').handshake_ms = 60000 return true").await;

    let real = env!("CARGO_BIN_EXE_sextant");
    with(&format!("#!/bin/sh\nexec {real} \"$@\"\n"));
    nvim.command("AgentAsk fix this").await;
    assert!(
        said(&nvim.failed().await).contains("no language server"),
        "it runs, and nobody says anything about the file"
    );
    let kind: String = nvim
        .lua("for _, c in ipairs(vim.api.nvim_list_chans()) do if c.client and c.client.name == 'sextant' then return c.client.type end end")
        .await;
    assert_eq!(kind, "msgpack-rpc", "a client of type remote would be closed for answering out of order");
    // What the answer window shows is not said in a message as well.
    nvim.command("call win_execute(bufwinid('sextant://answer'), 'close')").await;
    nvim.lua::<bool>("require('sextant').version = '9.9.9'; require('sextant.rpc.channel').stop() return true").await;
    let wrong = nvim.command_until("AgentAsk fix this", "message").await;
    assert!(wrong["text"].as_str().unwrap().contains("needs 9.9.9"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn buffers_that_cannot_be_edited_are_refused_with_the_reason() {
    let project = Project::new(&[("a.py", TEXT), ("latin.py", "x = 1\n")]);
    std::fs::write(project.root().join("bad.py"), b"x = '\xff\xfe'\n").unwrap();
    let mut nvim = Nvim::start(&project, "{}", &[]).await;
    nvim.command("AgentAsk fix this").await;
    assert!(said(&nvim.failed().await).contains("no file name"));

    nvim.edit("a.py").await;
    nvim.command("setlocal nomodifiable").await;
    nvim.command("AgentAsk fix this").await;
    assert!(said(&nvim.failed().await).contains("nomodifiable"));

    nvim.command("setlocal modifiable").await;
    nvim.command("edit ++enc=utf-8 ++bad=keep bad.py").await;
    nvim.command("AgentAsk fix this").await;
    let failure = said(&nvim.failed().await);
    assert!(failure.contains("not valid UTF-8") && failure.contains("fileencoding"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_done_stays_done_when_the_process_ends_afterwards() {
    let project = Project::new(&[("a.py", TEXT)]);
    let one = json!({"title": "change alpha", "symbols": ["a.py::alpha"], "because": "asked", "expect": "changed"});
    let plan = json!({"title": "Change it", "reason": "asked", "steps": [one], "confidence": 1});
    let edit = step("edit_file", change("a.py", "return 1", "return 2"), false);
    let server = ModelServer::start([Reply::Json(plan), edit]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.command_until("AgentPlan change alpha", "SextantPlan").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    let kill = "for _, c in ipairs(vim.api.nvim_list_chans()) do if c.client and c.client.name == 'sextant' then vim.uv.kill(vim.fn.jobpid(c.id), 9) end end return true";
    nvim.lua::<bool>(kill).await;
    let message = nvim.wait("message").await;
    assert!(message["text"].as_str().unwrap().contains("the agent process ended"), "{message}");
    let title = "for _, w in ipairs(vim.api.nvim_list_wins()) do local t, s = vim.api.nvim_win_get_config(w).title, '' \
                 for _, p in ipairs(t or {}) do s = s .. p[1] end if s ~= '' then return s end end return ''";
    let title: String = nvim.lua(title).await;
    assert!(title.contains("done, 1 of 1 step"), "{title}");
}
