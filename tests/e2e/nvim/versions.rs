//! What differs between the versions of Neovim: providers of pulled diagnostics, nulls, what is deprecated.

use serde_json::{Value, json};

use crate::nvim::ask::{BOTH, step};
use crate::nvim::servers::Faked;
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{OPEN, PATIENCE_MS, PULL, pulling};

const OPTIONS: &str = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";
const FILE: &str = "src/shop/inventory.py";
const DYNAMIC: &str = "nvim-0.12";

/// What is shown of a file, a word each, in order.
async fn shown(nvim: &Nvim, file: &str) -> Vec<String> {
    nvim.lua(&format!(
        "local out = {{}}
        for _, d in ipairs(vim.diagnostic.get(vim.fn.bufnr('{file}'))) do
          out[#out + 1] = ('%d:%d %s %s'):format(d.lnum, d.col, d.source or '', d.message)
        end
        table.sort(out)
        return out"
    ))
    .await
}

/// Neovim empties a list for a moment where it calls off a pull that basedpyright then answers with nothing.
async fn shows(nvim: &Nvim, wanted: &[String]) {
    let (buffer, count) = (format!("vim.fn.bufnr('{FILE}')"), wanted.len());
    let reached =
        format!("return (vim.wait(60000, function() return #vim.diagnostic.get({buffer}) == {count} end, 20))");
    nvim.lua::<bool>(&reached).await;
    assert_eq!(shown(nvim, FILE).await, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_plan_every_diagnostic_is_shown_once_and_none_stays_in_an_emptied_file() {
    let project = Project::shop();
    let mut nvim = Nvim::start(&project, OPTIONS, BOTH).await;
    nvim.edit(FILE).await;
    let both = "return (vim.wait(110000, function()
          local seen = {}
          for _, d in ipairs(vim.diagnostic.get(0)) do seen[(d.source or ''):lower()] = true end
          return seen.basedpyright and seen.ruff
        end, 20))";
    assert!(nvim.lua::<bool>(both).await, "both servers have spoken");
    let before = shown(&nvim, FILE).await;
    nvim.command_until("AgentPlan make this file type-clean", "SextantPlan").await;
    shows(&nvim, &before).await;
    // Out of sight too: there Sextant asks, and shows what it was answered.
    nvim.keys("q").await;
    nvim.edit("src/shop/report.py").await;
    nvim.command_until("AgentPlan! make the workspace type-clean", "SextantPlan").await;
    shows(&nvim, &before).await;
    nvim.keys("q").await;
    nvim.edit(FILE).await;
    nvim.command("%delete").await;
    let gone = "return (vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 20))";
    assert!(nvim.lua::<bool>(gone).await, "{:?}", shown(&nvim, FILE).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_while_the_servers_start_shows_every_diagnostic_once() {
    let project = Project::shop();
    let mut nvim = Nvim::start(&project, OPTIONS, BOTH).await;
    nvim.edit(FILE).await;
    nvim.command_until("AgentPlan make this file type-clean", "SextantPlan").await;
    // Neovim's own question to a server that has registered meanwhile may be answered later.
    let both = format!(
        "return (vim.wait(60000, function()
          local buf = vim.fn.bufnr('{FILE}')
          for _, client in ipairs(vim.lsp.get_clients({{ bufnr = buf, name = 'basedpyright' }})) do
            if next(client.requests) then return false end
          end
          return #vim.diagnostic.get(buf) > 0
        end, 20))"
    );
    assert!(nvim.lua::<bool>(&both).await, "{:?}", shown(&nvim, FILE).await);
    let all = shown(&nvim, FILE).await;
    let mut once = all.clone();
    once.dedup();
    assert_eq!(all, once);
}

fn registrations(names: &[&str]) -> Value {
    let one = |name: &&str| {
        let selector = json!([{"language": "python"}]);
        let options = json!({"identifier": name, "interFileDependencies": false, "workspaceDiagnostics": false,
                             "documentSelector": selector});
        json!({"id": name, "method": PULL, "registerOptions": options})
    };
    let registrations: Vec<Value> = names.iter().map(one).collect();
    json!({"ask": ["client/registerCapability", {"registrations": registrations}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn each_provider_that_was_registered_later_is_asked_and_shown_under_its_name() {
    let of = |name: &str| format!("{PULL} for {name}");
    let place = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
    let always = json!([{"range": place, "severity": 1, "code": null, "message": "this is bad"}]);
    let on = json!({"initialized": [registrations(&["one", "two"])],
                    of("one"): [{"reply": {"pull": "scan"}}], of("two"): [{"reply": {"pull": always}}]});
    let mut fake = Faked::hidden("fake", &json!({"on": on})).await;
    if !fake.nvim.has(DYNAMIC).await {
        return;
    }
    let shown = "return (vim.wait(20000, function() return #vim.diagnostic.get(vim.fn.bufnr('b.py')) == COUNT end, 5))";
    for (text, lines) in [("bad", vec![0, 1]), ("bad", vec![0, 1]), ("fine", vec![1])] {
        let set = format!("vim.api.nvim_buf_set_lines(vim.fn.bufnr('b.py'), 0, -1, false, {{ '{text}' }}) return true");
        fake.nvim.lua::<bool>(&set).await;
        assert_eq!(fake.ask_hidden().await.said(), ("exact", lines.clone()));
        let count = lines.len().to_string();
        assert!(fake.nvim.lua::<bool>(&shown.replace("COUNT", &count)).await, "{count} are shown");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_registers_its_pulls_while_it_is_waited_for_is_pulled() {
    let nothing = json!({"publish": {"items": []}});
    let registered = json!([{"wait_for": "go"}, registrations(&["one"])]);
    let on = json!({"initialized": registered, OPEN: [{"wait_for": "publish"}, nothing], PULL: [{"reply": {"pull": "scan"}}]});
    let mut fake = Faked::hidden("fake", &json!({"on": on})).await;
    if !fake.nvim.has(DYNAMIC).await {
        return;
    }
    fake.begin(PATIENCE_MS, &[("b.py", false)]).await;
    fake.go("go");
    assert_eq!(fake.entries().await[0].said(), ("exact", vec![0]));
    // What it publishes beside that is less than it knows.
    fake.go("publish");
    assert_eq!(fake.ask_hidden().await.said(), ("exact", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_publishes_and_is_pulled_for_counts_once() {
    let edit = change("a.py", "fine", "bad");
    let model = ModelServer::start([step("edit_file", edit, false)]).await;
    let options = format!(
        "{{ model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}' }},
            diagnostics = {{ timeout_ms = 20000, start_timeout_ms = 60000 }} }}",
        model.url()
    );
    let both = json!([{"publish": {"items": "scan"}}]);
    let on = json!({OPEN: both, "textDocument/didChange": both, PULL: [{"reply": {"pull": "scan"}}]});
    let mut fake = Faked::start_with("fake", &json!({"capabilities": pulling(), "on": on}), "fine\n", &options).await;
    let summary = fake.nvim.task("AgentAsk break it").await;
    assert!(summary.contains("1 new diagnostic, 0 fixed"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nulls_of_a_server_are_nothing() {
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}});
    let edit = json!({"changes": {"file:///a.py": [{"range": place, "newText": "ok"}]}, "documentChanges": null});
    let action = json!({"title": "mend", "kind": null, "disabled": null, "command": null, "isPreferred": null,
                        "diagnostics": null, "edit": edit});
    let capabilities = json!({"codeActionProvider": true, "executeCommandProvider": null});
    let on = json!({"textDocument/codeAction": [{"reply": [action]}], OPEN: [{"publish": {"items": "scan"}}]});
    let fake = Faked::hidden("fake", &json!({"capabilities": capabilities, "on": on})).await;
    let attached = "return (vim.wait(20000, function()
        return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('b.py'), method = 'textDocument/codeAction' }) > 0
      end, 5))";
    assert!(fake.nvim.lua::<bool>(attached).await, "the server has started");
    let fixes = "local answer
        local path = vim.api.nvim_buf_get_name(vim.fn.bufnr('b.py'))
        require('sextant.lsp.fixes').fixes({ path = path, ms = 20000 }, function(_, told) answer = told and told.found end)
        vim.wait(20000, function() return answer ~= nil end, 5)
        local change
        require('sextant.lsp.fixes').change({ id = answer[1] and answer[1].id, ms = 20000 }, function(_, found) change = found end)
        return { kind = answer[1] and answer[1].kind, preferred = answer[1] and answer[1].preferred,
                 keys = change and vim.tbl_keys(change.edit) }";
    let said: Value = fake.nvim.lua(fixes).await;
    assert_eq!(said, json!({"kind": "", "preferred": false, "keys": ["changes"]}));
}

#[test]
fn one_file_asks_for_the_version_and_none_uses_what_0_12_calls_deprecated() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("lua/sextant"), root.join("plugin")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let (inner, of_this): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        folders.extend(inner);
        files.extend(of_this);
    }
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("Lua");
        let asks = text.contains("fn.has('nvim") || text.contains("vim.version(") && !file.ends_with("health.lua");
        assert_eq!(asks, file.ends_with("neovim.lua"), "{}", file.display());
        for old in ["vim.diff(", "buffer = ", "client_is_stopped", "stop_client", "vim.NIL"] {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("--"));
            let found = code.filter(|line| line.contains(old)).count();
            assert!(found == 0 || old == "vim.NIL" && file.ends_with("neovim.lua"), "{}: {old}", file.display());
        }
    }
}
