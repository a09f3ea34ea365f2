//! Commands beside Neovim's clients: in the same answer, honest of unsaved texts, told late when they are slow.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::tool;

/// `setup()` with these commands, and quick to give up waiting.
fn with(server: &ModelServer, commands: &Value, more: &str) -> String {
    let commands = commands.to_string();
    format!(
        "vim.tbl_deep_extend('force', {}, {{ commands = vim.json.decode([==[{commands}]==]), {more} }})",
        options(server)
    )
}

/// Reports each line with `bad` in it, as fast as it is let: from its second run on it waits for the file `go`.
pub fn lint(project: &Project) -> Value {
    let gate = project.beside("gate");
    let script = format!(
        "if [ -e '{0}/ran' ]; then while [ ! -e '{0}/go' ]; do sleep 0.02; done; fi; touch '{0}/ran'; \
         awk '/bad/ {{ print FILENAME \":\" FNR \": bad word\" }}' \"$1\"",
        gate.display()
    );
    json!({
        "name": "lint",
        "command": ["/bin/sh", "-c", script, "lint", "{file}"],
        "format": {"regex": ["^(?P<file>[^:]+):(?P<line>\\d+): (?P<message>.*)$"]},
    })
}

/// The same, whose reports are errors.
pub fn strict(project: &Project) -> Value {
    let mut lint = lint(project);
    lint["severity"] = json!({"*": "error"});
    lint
}

/// A plan of one step, which writes two lines with `bad` into `f`.
pub fn breaking() -> [ModelReply; 2] {
    let one = json!({"title": "break f", "symbols": ["a.py::f"], "because": "asked", "expect": "broken"});
    let plan = json!({"title": "Break", "reason": "asked", "steps": [one], "confidence": 1});
    [ModelReply::Json(plan), edit("bad = 1\n    return bad")]
}

fn edit(new: &str) -> ModelReply {
    step("edit_file", change("a.py", "return 1", new), false)
}

type ModelReply = crate::support::model_server::Reply;

#[tokio::test(flavor = "multi_thread")]
async fn ruff_as_a_command_agrees_with_a_server_and_is_shown_with_it_once() {
    let project = Project::new(&[("a.py", "def f() -> str:\n    return gone\n")]);
    let change = change("a.py", "return gone", "return gone + missing");
    let server = ModelServer::start([step("edit_file", change, false)]).await;
    let mut nvim = Nvim::start(&project, &with(&server, &json!(["ruff"]), ""), &["basedpyright"]).await;
    let folder = tool("ruff").parent().expect("a folder").display().to_string();
    nvim.lua::<bool>(&format!("vim.env.PATH = '{folder}:' .. vim.env.PATH return true")).await;
    nvim.edit("a.py").await;
    let summary = nvim.task("AgentAsk add a name").await;
    assert!(summary.contains("1 new diagnostic, 0 fixed, 1 unchanged"), "{summary}");
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 2, "{list:#?}");
    assert!(list[1].starts_with("a.py:2: E: f: ") && list[1].contains("missing"), "{list:#?}");
    assert!(list[1].ends_with("(basedpyright and ruff, confidence high)"), "{list:#?}");
    nvim.command("checkhealth sextant").await;
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
    let health = lines.join("\n");
    assert!(health.contains(&format!("command ruff: {folder}/ruff")), "{health}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_command_is_told_late_and_amends_the_list() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server = ModelServer::start([edit("bad = 1\n    return bad")]).await;
    let quick = "diagnostics = { timeout_ms = 300 }";
    let mut nvim = Nvim::start(&project, &with(&server, &json!([lint(&project)]), quick), &[]).await;
    nvim.edit("a.py").await;
    let summary = nvim.task("AgentAsk break it").await;
    assert!(
        summary.contains("whether anything is new is not known yet") && summary.contains("tool:lint (a.py)"),
        "{summary}"
    );
    std::fs::write(project.beside("gate").join("go"), "").expect("a signal");
    let amended = "return (vim.wait(60000, function() return #vim.fn.getqflist() == 2 end, 10))";
    assert!(nvim.lua::<bool>(amended).await, "{}", nvim.answer().await);
    let list = nvim.quickfix().await;
    assert!(list[1].ends_with("a.py:2: W: f: bad word") && list[2].ends_with("a.py:3: W: f: bad word"), "{list:#?}");
    // The list is an event of its own, before these words.
    let words = "a late answer came: 2 new diagnostics in all";
    let answer = nvim.answered(words).await;
    assert_eq!(answer.matches(words).count(), 1, "{answer}");
}

/// The text of the plan's window.
async fn page(nvim: &Nvim) -> String {
    let lines = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)";
    nvim.lua::<Vec<String>>(lines).await.join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_command_renews_the_outcome_of_a_step_in_the_plan_s_window() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server = ModelServer::start(breaking()).await;
    let quick = "mode = 'planner', diagnostics = { timeout_ms = 300 }";
    let mut nvim = Nvim::start(&project, &with(&server, &json!([strict(&project)]), quick), &[]).await;
    nvim.edit("a.py").await;
    nvim.command_until("AgentPlan break it", "SextantPlan").await;
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    let before = page(&nvim).await;
    assert!(before.contains("whether anything is new is not known: tool:lint (a.py)"), "{before}");
    assert!(before.contains("- [x] break f"), "{before}");
    std::fs::write(project.beside("gate").join("go"), "").expect("a signal");
    let renewed = nvim.wait("SextantPlan").await;
    assert_eq!(renewed["amend"], true, "{renewed}");
    let after = page(&nvim).await;
    assert!(after.contains("after a late answer: 0 fixed, 2 new, the first: bad word"), "{after}");
    assert!(after.contains("- [~] break f"), "{after}");
    assert!(after.contains(summary.split('.').next().unwrap_or_default()), "the end of the run stays: {after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_an_unsaved_text_a_command_says_nothing_and_why() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server = ModelServer::start([edit("return bad")]).await;
    let never = "save = 'never'";
    let mut nvim = Nvim::start(&project, &with(&server, &json!([lint(&project)]), never), &[]).await;
    nvim.edit("a.py").await;
    let summary = nvim.task("AgentAsk break it").await;
    assert!(summary.contains("tool:lint (a.py, not available: it checks saved files only"), "{summary}");
    assert!(summary.contains("whether anything is new is not known yet"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_command_is_one_message() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    for (commands, expected) in [
        (json!(["rm"]), "no command is known by the name rm; there are ruff, mypy, pytest, cargo"),
        (json!([{"name": "x", "command": ["./x"], "format": "sarif"}]), "its program is a relative path"),
        (json!([3]), "option `commands[1]` must be a name or a table"),
        (json!({"name": "x"}), "option `commands` must be a list"),
    ] {
        let options = format!("{{ commands = vim.json.decode([==[{commands}]==]) }}");
        let mut nvim = Nvim::open(&project, &options, &[], "a.py").await;
        let message = nvim.command_until("AgentAsk fix this", "message").await;
        assert!(message["text"].as_str().is_some_and(|text| text.contains(expected)), "{message}");
    }
    let options = "{ commands = { { name = 'own', command = { 'nowhere-to-be-found' }, format = 'sarif' } } }";
    let nvim = Nvim::start(&project, options, &[]).await;
    nvim.command("checkhealth sextant").await;
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
    assert!(lines.iter().any(|line| line.contains("command own is not installed")), "{lines:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_calls_an_error_is_one_without_a_map() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let script = "awk '/bad/ { print FILENAME \":\" FNR \": error: bad word\"; print FILENAME \":\" FNR \": style: odd word\"; \
        print FILENAME \":\" FNR \": warning: long word\" }' \"$1\"";
    let lint = json!({
        "name": "lint",
        "command": ["/bin/sh", "-c", script, "lint", "{file}"],
        "format": {"regex": ["^(?P<file>[^:]+):(?P<line>\\d+): (?P<severity>\\w+): (?P<message>.*)$"]},
    });
    let server = ModelServer::start([edit("return bad")]).await;
    let all = "diagnostics = { severity_floor = 'hint' }";
    let mut nvim = Nvim::open(&project, &with(&server, &json!([lint]), all), &[], "a.py").await;
    nvim.task("AgentAsk break it").await;
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 4, "{list:#?}");
    assert!(list[1].ends_with("a.py:2: E: f: bad word"), "{list:#?}");
    assert!(list[2].ends_with("a.py:2: W: f: long word"), "{list:#?}");
    assert!(list[3].ends_with("a.py:2: N: f: odd word"), "{list:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_that_is_wrong_is_named_with_its_value_and_what_is_allowed() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let options = "{ mode = 'plannr', modle = {}, modee = 1, height = 3, quickfix = { opn = true, open = 1 }, \
                   limits = { steps = -1 }, save = true, zzzzzz = 1 }";
    let mut nvim = Nvim::start(&project, options, &[]).await;
    nvim.command("checkhealth sextant").await;
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
    let text = lines.join("\n");
    for (problem, tag) in [
        ("option `mode` is \"plannr\" and must be one of planner, supervised; did you mean `planner`?", "option-mode"),
        ("unknown option `modle`; did you mean `model`?", "option-model"),
        ("unknown option `modee`; did you mean `mode`?", "option-mode"),
        ("unknown option `height`; did you mean `window.height`?", "option-window.height"),
        ("unknown option `quickfix.opn`; did you mean `quickfix.open`?", "option-quickfix.open"),
        ("option `quickfix.open` is 1 and must be a boolean", "option-quickfix.open"),
        ("option `limits.steps` is -1 and must be a whole number, 0 at least", "option-limits.steps"),
        ("option `save` is true and must be one of if_clean, never", "option-save"),
        ("unknown option `zzzzzz`", "options"),
    ] {
        let found = text.contains(&format!("ERROR setup(): {problem}\n  - ADVICE:\n    - see :help |sextant-{tag}|\n"));
        assert!(found, "{problem}\n{text}");
    }
    let message = nvim.command_until("AgentAsk fix this", "message").await;
    assert!(message["text"].as_str().is_some_and(|text| text.contains("did you mean `window.height`?")), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_s_command_names_the_buffers_that_it_does_not_read() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server =
        ModelServer::start([step("run_command", json!({"command": ["cat", "a.py"]}), true), edit("return 3")]).await;
    let options = with(&server, &json!([]), "commands_allowed = { 'cat' }");
    let mut nvim = Nvim::start(&project, &options, &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("normal! Go# mine").await;
    nvim.command("AgentAsk read it with cat, then change it").await;
    nvim.finished().await;
    let seen = server.requests()[1].body.to_string();
    assert!(seen.contains("a.py has unsaved changes: the command read what is on disk"), "{seen}");
    // The question about another one names it before it runs.
    server.push(step("run_command", json!({"command": ["wc", "a.py"]}), true));
    server.push(edit("return 4"));
    nvim.command("normal! Go# more").await;
    let asked = nvim.command_until("AgentAsk count its words, then change it", "SextantQuestion").await;
    assert!(asked["text"].as_str().unwrap().contains("a.py has unsaved changes; it reads what is on disk"), "{asked}");
}
