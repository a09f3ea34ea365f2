//! Refusals: each can be read, and gives the reason.

use serde_json::{Value, json};

use crate::nvim::ask::options;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn plan() -> Reply {
    let step = |name: &str| json!({"title": format!("change {name}"), "symbols": [format!("a.py::{name}")], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = ["f", "g"].into_iter().map(step).collect();
    Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}))
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_leaves_a_refusal_its_time_to_be_read() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([plan(), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("a").await;
    server.requests_seen(2).await;
    nvim.keys_show("e", "- [>] change f").await;
    // Progress goes to the command line where no window shows it.
    nvim.screen.shows("Sextant: step 1 of 2").await;
    let refused = "vim.cmd('%s/change g/change g with care/ | write')
        local line = require('sextant.neovim').command_line
        local is_shown = vim.wait(30000, function() return line():find('a task is running already', 1, true) ~= nil end, 5)
        require('sextant.status').phase('servers')
        vim.wait(100, function() return false end)
        return { is_shown, line() }";
    let (is_shown, line): (bool, String) = nvim.lua(refused).await;
    assert!(is_shown && line.contains("a task is running already"), "{is_shown}, {line}");
    nvim.failed_task("AgentStop").await;
}
