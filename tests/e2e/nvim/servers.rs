//! A server that misbehaves, attached in Neovim: the right status, no old list, and every late answer once.

use serde_json::{Value, json};

use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{CHANGE, OPEN, PATIENCE_MS, PULL, SAVE, language_tools, pulling, push, tool};

/// Neovim's own, which [`MARK`] makes known to the server.
const OWN_PULL: &str = "textDocument/diagnostic of the editor";

/// Marks the pulls that Neovim sends by itself: it goes through its client's method, Sextant does not.
const MARK: &str = r"
local class = require('vim.lsp.client')
local request = class.request
class.request = function(client, method, params, ...)
  if method == 'textDocument/diagnostic' then
    params.own = true
  end
  return request(client, method, params, ...)
end
";

/// Asks as the binary does, and keeps count of what comes late.
const ASK: &str = r"
_G.lates = {}
require('sextant.rpc.channel').late_answer = function(entry)
  table.insert(_G.lates, entry)
  _G.tell('late', entry)
end
function _G.ask(ms, files)
  require('sextant.lsp.collect_diagnostics').collect({ files = files, ms = ms }, function(err, entries)
    _G.tell('answer', err or entries)
  end)
end
";

pub(crate) fn stale() -> Value {
    json!({"publish": {"version": "-1", "items": "old"}})
}

pub(crate) struct Faked {
    pub(crate) project: Project,
    pub(crate) nvim: Nvim,
}

impl Faked {
    /// Neovim with `a.py` and `b.py`, the first shown, and the fake server of this name on both.
    pub(crate) async fn start(name: &str, script: &Value, text: &str) -> Self {
        Self::start_with(name, script, text, "{ publishes_once = { 'fake' } }").await
    }

    /// The same with options of Sextant's.
    pub(crate) async fn start_with(name: &str, script: &Value, text: &str, options: &str) -> Self {
        let fake = Self::before_greeting(name, script, text, options).await;
        fake.nvim.greeted().await;
        fake.attach().await;
        fake
    }

    /// The same before anything of Sextant's was asked for, and before the server is there.
    async fn before_greeting(name: &str, script: &Value, text: &str, options: &str) -> Self {
        let mut script = script.clone();
        if script["capabilities"]["textDocumentSync"].is_null() {
            script["capabilities"]["textDocumentSync"] = json!({"openClose": true, "change": 1, "save": true});
        }
        let project = Project::new(&[("a.py", text), ("b.py", "fine\n")]);
        let file = project.beside("fake").join("script.json");
        std::fs::write(&file, script.to_string()).expect("a script");
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
        let command = json!([tool("python3"), program, file]);
        let nvim = Nvim::open(&project, options, &[], "a.py").await;
        let setup = format!(
            "{ASK}{MARK}
            local config = {{ name = '{name}', cmd = vim.json.decode([==[{command}]==]), root_dir = vim.fn.getcwd() }}
            _G.config = config
            function _G.begin()
              vim.lsp.start(config)
            end
            function _G.attach(path)
              local buf = vim.fn.bufadd(path)
              vim.fn.bufload(buf)
              vim.lsp.start(config, {{ bufnr = buf }})
            end
            return true"
        );
        nvim.lua::<bool>(&setup).await;
        Self { project, nvim }
    }

    /// The fake server on `b.py` alone, which is not shown: Neovim asks nothing about it by itself.
    pub(crate) async fn hidden(name: &str, script: &Value) -> Self {
        let fake = Self::before_greeting(name, script, "fine\n", "{}").await;
        std::fs::write(fake.project.root().join("b.py"), "bad\n").expect("a file");
        fake.nvim.greeted().await;
        fake.nvim.lua::<bool>("_G.attach('b.py') return true").await;
        fake
    }

    pub(crate) async fn ask_hidden(&mut self) -> Entry {
        self.begin(PATIENCE_MS, &[("b.py", false)]).await;
        self.answer().await
    }

    /// Starts the server on the shown buffer.
    async fn attach(&self) {
        self.nvim.lua::<bool>("_G.begin() return true").await;
    }

    /// Replaces the whole text of the shown buffer.
    pub(crate) async fn set(&self, text: &str) {
        let lines = json!(text.trim_end_matches('\n').split('\n').collect::<Vec<_>>());
        self.nvim
            .lua::<bool>(&format!(
                "vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.json.decode([==[{lines}]==])) return true"
            ))
            .await;
    }

    pub(crate) async fn write(&self) {
        self.nvim.lua::<bool>("vim.cmd('silent write') return true").await;
    }

    pub(crate) async fn begin(&self, ms: u64, files: &[(&str, bool)]) {
        let files: Vec<Value> = files
            .iter()
            .map(|(path, bystander)| json!({"path": self.project.root().join(path), "bystander": bystander}))
            .collect();
        let files = json!(files);
        self.nvim.lua::<bool>(&format!("_G.ask({ms}, vim.json.decode([==[{files}]==])) return true")).await;
    }

    /// Lets `sign` tell of the next publish, which Neovim then does not show.
    async fn hear_publishes(&self) {
        self.nvim
            .lua::<bool>(
                "vim.lsp.handlers['textDocument/publishDiagnostics'] = function() _G.tell('sign', {}) end return true",
            )
            .await;
    }

    /// The answer about `a.py` of its only client.
    pub(crate) async fn ask(&mut self, ms: u64) -> Entry {
        self.begin(ms, &[("a.py", false)]).await;
        self.answer().await
    }

    async fn answer(&mut self) -> Entry {
        let mut entries = self.entries().await;
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.remove(0)
    }

    pub(crate) async fn entries(&mut self) -> Vec<Entry> {
        let answer = self.nvim.wait("answer").await;
        answer.as_array().cloned().unwrap_or_default().into_iter().map(Entry).collect()
    }

    pub(crate) async fn late(&mut self) -> Entry {
        Entry(self.nvim.wait("late").await)
    }

    async fn late_count(&self) -> u64 {
        self.nvim.lua("return #_G.lates").await
    }

    pub(crate) fn go(&self, name: &str) {
        std::fs::write(self.project.beside("fake").join(name), "").expect("a signal");
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        let text = self.project.beside("fake").join("log");
        let text = std::fs::read_to_string(text).expect("the script has a log");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// One entry of an answer.
#[derive(Debug)]
pub(crate) struct Entry(pub(crate) Value);

impl Entry {
    /// How it is known, and the zero-based lines.
    pub(crate) fn said(&self) -> (&str, Vec<u64>) {
        let items = self.0["items"].as_array().cloned().unwrap_or_default();
        let lines = items.iter().map(|item| item["range"]["start"]["line"].as_u64().expect("a line")).collect();
        (self.0["how"].as_str().expect("how"), lines)
    }

    pub(crate) fn note(&self) -> &str {
        self.0["note"].as_str().unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_of_our_version_is_versioned_and_silence_after_a_repair_is_no_answer() {
    let changes = json!([[push("same")], []]);
    let mut fake = Faked::start("fake", &json!({"on": {OPEN: [push("same")], CHANGE: changes}}), "ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]), "published before anybody asked");
    fake.set("bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![0]));
    fake.set("ok\n").await;
    assert_eq!(fake.ask(300).await.said(), ("timeout", vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_publish_is_a_timeout_without_a_list_and_the_late_one_comes_once() {
    let script =
        json!({"on": {OPEN: [push("same")], CHANGE: [stale(), {"wait_for": "go"}, push("same"), push("same")]}});
    let mut fake = Faked::start("fake", &script, "bad\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(300).await.said(), ("timeout", vec![]));
    fake.go("go");
    assert_eq!(fake.late().await.said(), ("versioned", vec![1]));
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    assert_eq!(fake.late_count().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_checks_on_saving_is_fresh_after_the_save_and_before_it_nothing_is_known() {
    let script = json!({"on": {OPEN: [push("same")], CHANGE: [], SAVE: [push("same")]}});
    let mut fake = Faked::start("fake", &script, "bad\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.set("ok\nbad\n").await;
    fake.nvim.command("silent write").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    fake.set("ok\nok\nbad\n").await;
    let entry = fake.ask(300).await;
    assert_eq!(entry.said(), ("unavailable", vec![]));
    assert!(entry.note().contains("may check saved files only"), "{entry:?}");
    // The user writes: what it says then is of this text.
    fake.nvim.command("silent write").await;
    assert_eq!(fake.late().await.said(), ("versioned", vec![2]));
    assert_eq!(fake.late_count().await, 1);
}

/// The summary of a task that writes an error into `a.py`, with a server that checks on saving.
async fn broken_with(save: &str) -> String {
    let edit = change("a.py", "fine", "bad");
    let model = ModelServer::start([step("edit_file", edit, false)]).await;
    let options = format!(
        "{{ publishes_once = {{ 'fake' }}, \
         model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}' }}, save = '{save}', \
         diagnostics = {{ timeout_ms = 1500, start_timeout_ms = 60000 }} }}",
        model.url()
    );
    let script = json!({"on": {OPEN: [push("same")], CHANGE: [], SAVE: [push("same")]}});
    let mut fake = Faked::start_with("fake", &script, "fine\n", &options).await;
    fake.nvim.command("AgentAsk break it").await;
    fake.nvim.finished().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_knows_what_a_server_says_of_saved_files_where_it_may_save_and_else_why_not() {
    let saved = broken_with("if_clean").await;
    assert!(saved.contains("1 new diagnostic, 0 fixed"), "{saved}");
    let unsaved = broken_with("never").await;
    assert!(unsaved.contains("whether anything is new is not known yet"), "{unsaved}");
    assert!(unsaved.contains("fake (a.py, not available: it may check saved files only"), "{unsaved}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_spoken_of_an_unsaved_text_is_only_late() {
    let changes = json!([[push("same")], []]);
    let mut fake = Faked::start("fake", &json!({"on": {OPEN: [push("same")], CHANGE: changes}}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.set("bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![0]));
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(300).await.said(), ("timeout", vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_whoever_reads_the_disk_nobody_waits_for_an_unsaved_text_and_sees_no_old_list() {
    let sync = json!({"textDocumentSync": {"openClose": true, "save": {"includeText": true}}});
    let script = json!({"capabilities": sync, "on": {OPEN: [push("same")], SAVE: [push("same")]}});
    let mut fake = Faked::start("fake", &script, "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("quiet", vec![0]));
    fake.set("ok\nbad\n").await;
    let entry = fake.ask(PATIENCE_MS).await;
    assert_eq!(entry.said(), ("unavailable", vec![]));
    assert!(entry.note().contains("it checks saved files only"), "{entry:?}");
    fake.nvim.command("silent write").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("quiet", vec![1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_was_never_sent_counts_for_nothing() {
    let mut fake = Faked::start("fake", &json!({"on": {OPEN: [push("+7")]}}), "bad\n").await;
    assert_eq!(fake.ask(1500).await.said(), ("timeout", vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_without_a_version_is_a_guess_made_after_silence() {
    let empty = json!({"publish": {"version": "none", "items": []}});
    let script = json!({"on": {OPEN: [push("none")], CHANGE: [empty, push("none")]}});
    let mut fake = Faked::start("fake", &script, "ok\n").await;
    fake.set("bad\n").await;
    let entry = fake.ask(PATIENCE_MS).await;
    assert_eq!(entry.said(), ("quiet", vec![0]));
    assert!(entry.0["ms"].as_u64().expect("ms") >= 250, "{entry:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_phase_amends_the_first_once_and_is_waited_for_from_then_on() {
    let empty = json!({"publish": {"items": []}});
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}});
    let item = json!({"range": place, "severity": 1, "code": "bad", "message": "this is bad", "data": "for itself"});
    let unseen = json!({"publish": {"items": [item]}});
    let changes = json!([[empty, {"wait_for": "go"}, push("same"), push("same"), unseen], [empty, push("same")]]);
    let mut fake = Faked::start("fake", &json!({"on": {OPEN: [push("same")], CHANGE: changes}}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.set("bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![]));
    fake.go("go");
    let late = fake.late().await;
    assert_eq!((late.said(), &late.0["amends"]), (("versioned", vec![0]), &json!(true)));
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    assert_eq!(fake.late_count().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_pull_is_asked_again_and_one_that_is_called_cancelled_too() {
    // Neovim itself drops the answer of a request that the server calls cancelled (-32800).
    let full = json!([{"reply": {"pull": "scan"}}]);
    let steps = json!([[{"error": -32802}], [{"error": -32801}], [{"error": -32800}], [{"error": -32802}], [{"error": -32800}], full]);
    let mut fake = Faked::start("fake", &json!({"capabilities": pulling(), "on": {PULL: steps}}), "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_a_pull_from_the_text_before_is_asked_until_it_says_the_same_twice() {
    let early = json!([{"reply": {"pull": []}}]);
    let full = json!([{"reply": {"pull": "scan"}}]);
    let mut fake = Faked::start("pyrefly", &json!({"on": {PULL: [early, full]}}), "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn neovims_own_pull_of_this_text_is_the_answer_and_no_second_one_is_sent() {
    let on = json!({OWN_PULL: [{"reply": {"pull": "scan"}}], PULL: [{"reply": {"pull": []}}]});
    let script = json!({"capabilities": pulling(), "on": on, "log": "log"});
    let mut fake = Faked::start("ruff", &script, "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    let ours = |fake: &Faked| {
        let of_ours = |message: &&Value| message["method"] == PULL && message["params"].get("own").is_none();
        fake.log().iter().filter(of_ours).count()
    };
    let before = ours(&fake);
    // The second comes within the time for which Neovim holds back what it sends, the third is written first.
    for (text, wanted) in [("bad\n", vec![0]), ("ok\nbad\n", vec![1])] {
        fake.set(text).await;
        assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", wanted));
    }
    fake.set("ok\nok\nbad\n").await;
    fake.nvim.command("silent write").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![2]));
    assert_eq!(ours(&fake), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn neovims_own_pull_of_an_older_text_is_no_answer() {
    let sign = json!({"publish": {"items": []}});
    let old = json!([sign, {"wait_for": "first"}, {"reply": {"pull": "scan"}}, sign]);
    let new = json!([sign, {"wait_for": "second"}, {"reply": {"pull": "scan"}}]);
    // The first is of the document as it is opened.
    let on = json!({OWN_PULL: [[{"reply": {"pull": "scan"}}], old, new], PULL: [{"reply": {"pull": []}}]});
    let mut fake = Faked::start("ruff", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.hear_publishes().await;
    fake.set("bad\n").await;
    fake.nvim.wait("sign").await;
    // The old one is answered while the new one is under way.
    fake.set("ok\nbad\n").await;
    fake.begin(PATIENCE_MS, &[("a.py", false)]).await;
    fake.nvim.wait("sign").await;
    fake.go("first");
    fake.nvim.wait("sign").await;
    fake.go("second");
    assert_eq!(fake.answer().await.said(), ("exact", vec![1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_neovims_own_pull_fails_ours_is_sent() {
    // Neovim drops the answer to the second, and repeats the third by itself.
    for code in [-32603, -32800, -32802] {
        let steps = json!([[{"reply": {"pull": "scan"}}], [{"error": code}], [{"wait_for": "never"}]]);
        let on = json!({OWN_PULL: steps, PULL: [{"reply": {"pull": "scan"}}]});
        let mut fake = Faked::start("ruff", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
        fake.ask(PATIENCE_MS).await;
        fake.set("bad\n").await;
        assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]), "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_report_to_neovims_own_pull_is_no_answer() {
    let on =
        json!({OWN_PULL: [{"reply": {"kind": "unchanged", "resultId": "1"}}], PULL: [{"reply": {"pull": "scan"}}]});
    let mut fake = Faked::start("ruff", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.set("bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_buffer_has_no_pull_of_neovims_own_and_gets_ours() {
    let on = json!({OWN_PULL: [{"reply": {"pull": []}}], PULL: [{"reply": {"pull": "scan"}}]});
    let mut fake = Faked::start("ruff", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.nvim.lua::<bool>("_G.attach('b.py') return true").await;
    fake.nvim
        .lua::<bool>("vim.api.nvim_buf_set_lines(vim.fn.bufnr('b.py'), 0, -1, false, { 'ok', 'bad' }) return true")
        .await;
    fake.begin(PATIENCE_MS, &[("b.py", false)]).await;
    assert_eq!(fake.answer().await.said(), ("exact", vec![1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn neovims_own_pull_of_the_lines_shown_is_not_taken_from_an_unknown_server() {
    let on = json!({OWN_PULL: [{"reply": {"pull": []}}], PULL: [{"reply": {"pull": "scan"}}]});
    let mut fake = Faked::start("fake", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    // More lines than the window has.
    fake.set(&format!("{}bad\n", "ok\n".repeat(200))).await;
    // From 0.12 on Neovim asks for the whole text, so that its answer is as good as ours.
    let wanted = if fake.nvim.has("nvim-0.12").await { vec![] } else { vec![200] };
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", wanted));
}

#[tokio::test(flavor = "multi_thread")]
async fn neovims_own_pull_before_the_write_is_not_taken_from_an_unknown_server() {
    let first = json!([{"reply": {"pull": "scan"}}]);
    let before_the_write = json!([{"reply": {"pull": []}}, {"publish": {"items": []}}]);
    let on = json!({OWN_PULL: [first, before_the_write], PULL: [{"reply": {"pull": "scan"}}]});
    let mut fake = Faked::start("fake", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.hear_publishes().await;
    fake.set("bad\n").await;
    fake.nvim.wait("sign").await;
    fake.nvim.command("silent write").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_be_confirmed_is_where_one_pull_after_the_publish_of_this_text_says_the_same() {
    let (held, scan) = (json!([{"wait_for": "never"}, {"reply": {"pull": []}}]), json!({"reply": {"pull": "scan"}}));
    let on = json!({CHANGE: [stale(), push("same")], PULL: [[scan], [scan], [scan], held]});
    let mut fake = Faked::start("pyrefly", &json!({"on": on}), "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![1]));
    assert_eq!(fake.late_count().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_pull_and_push_come_at_once_the_pull_is_the_answer() {
    let noise = json!({"publish": {"items": "old"}});
    let on = json!({OPEN: [push("same")], CHANGE: [noise], PULL: [{"reply": {"pull": "scan"}}, push("none")]});
    let mut fake = Faked::start("fake", &json!({"capabilities": pulling(), "on": on}), "ok\n").await;
    for (text, wanted) in [("bad\n", vec![0]), ("bad\nbad\n", vec![0, 1]), ("ok\n", vec![])] {
        fake.set(text).await;
        assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", wanted));
    }
    assert_eq!(fake.late_count().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_pull_is_delivered_late_and_once() {
    // `pyright` is asked although it advertises nothing; Neovim itself does not ask it.
    let steps = json!([{"wait_for": "go"}, {"reply": {"pull": "scan"}}]);
    let mut fake = Faked::start("pyright", &json!({"on": {PULL: steps}}), "bad\n").await;
    assert_eq!(fake.ask(1000).await.said(), ("timeout", vec![]));
    fake.go("go");
    let late = fake.late().await;
    assert_eq!((late.said(), &late.0["amends"]), (("exact", vec![0]), &Value::Null));
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
    assert_eq!(fake.late_count().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_again_cancels_the_slow_pull_and_its_answer_is_ignored() {
    let held = json!([{"wait_for": "go"}, {"reply": {"pull": []}}]);
    let full = json!([{"reply": {"pull": "scan"}}]);
    let script = json!({"on": {PULL: [held, full]}, "log": "log"});
    let mut fake = Faked::start("pyright", &script, "bad\n").await;
    assert_eq!(fake.ask(1000).await.said(), ("timeout", vec![]));
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![1]));
    fake.go("go");
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![1]));
    assert_eq!(fake.late_count().await, 0);
    assert!(fake.log().iter().any(|message| message["method"] == "$/cancelRequest"));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_questions_at_once_are_both_answered() {
    let full = json!([{"reply": {"pull": "scan"}}]);
    let steps = json!([full, [{"wait_for": "go"}, {"reply": {"pull": []}}], full]);
    let mut fake = Faked::start("pyright", &json!({"on": {PULL: steps}}), "bad\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.begin(PATIENCE_MS, &[("a.py", false)]).await;
    fake.begin(PATIENCE_MS, &[("a.py", false)]).await;
    let first = fake.answer().await;
    assert_eq!((first.said(), first.note()), (("timeout", vec![]), "asked again before it was answered"));
    assert_eq!(fake.answer().await.said(), ("exact", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_while_the_pull_runs_makes_its_reply_worthless() {
    let held = json!([{"publish": {"version": "none", "items": []}}, {"wait_for": "go"}, {"reply": {"pull": "scan"}}]);
    let steps = json!([held, [{"reply": {"pull": "scan"}}]]);
    let mut fake = Faked::start("pyright", &json!({"on": {PULL: steps}}), "bad\n").await;
    // The publish tells that the question has arrived.
    fake.nvim
        .lua::<bool>(
            "vim.api.nvim_create_autocmd('DiagnosticChanged', { once = true, callback = function() _G.tell('asked', {}) end })
            vim.lsp.handlers['textDocument/publishDiagnostics'] = function() _G.tell('asked', {}) end
            return true",
        )
        .await;
    fake.begin(PATIENCE_MS, &[("a.py", false)]).await;
    fake.nvim.wait("asked").await;
    fake.set("ok\nbad\nbad\n").await;
    fake.go("go");
    assert_eq!(fake.answer().await.said(), ("exact", vec![1, 2]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_is_told_at_once() {
    let mut fake = Faked::start("fake", &json!({"on": {OPEN: [push("same")], CHANGE: [{"die": 3}]}}), "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![0]));
    fake.set("ok\n").await;
    let entry = fake.ask(PATIENCE_MS).await;
    assert_eq!((entry.said(), entry.note()), (("unavailable", vec![]), "the server has stopped"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_closed_meanwhile_is_told_at_once() {
    let mut fake = Faked::start("fake", &json!({"on": {OPEN: []}}), "bad\n").await;
    fake.begin(PATIENCE_MS, &[("a.py", false)]).await;
    fake.nvim.command("bwipeout!").await;
    let entry = fake.answer().await;
    assert_eq!((entry.said(), entry.note()), (("unavailable", vec![]), "the file was closed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_is_no_answer_and_does_not_hide_the_next() {
    let noise = json!([{"frame": "{not json"}, {"publish": {"items": [{"message": "no range"}]}}]);
    let script =
        json!({"on": {OPEN: [push("same")], CHANGE: [noise, [{"publish": {"items": "garbage"}}], [push("same")]]}});
    let mut fake = Faked::start("fake", &script, "bad\n").await;
    fake.nvim.lua::<bool>("vim.lsp.handlers['textDocument/publishDiagnostics'] = function() end return true").await;
    fake.ask(PATIENCE_MS).await;
    for text in ["bad\nbad\n", "bad\nok\n"] {
        fake.set(text).await;
        let entry = fake.ask(PATIENCE_MS).await;
        assert_eq!(
            (entry.said(), entry.note()),
            (("unavailable", vec![]), "the server sent diagnostics that cannot be read")
        );
    }
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unadvertised_pull_is_trusted_once_it_was_the_same_as_a_publish_and_not_before() {
    let on = |pulled: Value| json!({"on": {OPEN: [push("same")], CHANGE: [push("same")], PULL: [{"reply": {"pull": pulled}}]}});
    let mut fake = Faked::start("fake", &on(json!("scan")), "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said().0, "versioned");
    let mut text = "bad\n".to_owned();
    loop {
        fake.set(&text).await;
        if fake.ask(PATIENCE_MS).await.said().0 == "exact" {
            break;
        }
        text.push_str("bad\n");
        assert!(text.len() < 200, "the probe comes to an end");
    }
    let mut fake = Faked::start("fake", &on(json!([])), "bad\n").await;
    for count in 1..8 {
        fake.set(&"bad\n".repeat(count)).await;
        let entry = fake.ask(PATIENCE_MS).await;
        assert_eq!((entry.said().0, entry.said().1.len()), ("versioned", count));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_for_another_file_proves_nothing_after_an_edit_elsewhere() {
    let on = json!({OPEN: [push("same")], CHANGE: [push("same")]});
    let mut fake = Faked::start("fake", &json!({"on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.nvim.lua::<bool>("_G.attach('b.py') return true").await;
    // Its first list comes before the edit.
    fake.begin(PATIENCE_MS, &[("b.py", false)]).await;
    fake.entries().await;
    fake.set("bad\n").await;
    fake.begin(PATIENCE_MS, &[("a.py", false), ("b.py", true)]).await;
    let entries = fake.entries().await;
    assert_eq!(entries.len(), 2);
    let of =
        |name: &str| entries.iter().find(|entry| entry.0["path"].as_str().is_some_and(|path| path.ends_with(name)));
    assert_eq!(of("a.py").expect("a.py").said(), ("versioned", vec![0]));
    assert_eq!(of("b.py").expect("b.py").said(), ("quiet", vec![]), "its list is from before the edit");
    // A server that looks at one file at a time is not asked about the others.
    let mut fake = Faked::start("pylsp", &json!({"on": on}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.nvim.lua::<bool>("_G.attach('b.py') return true").await;
    fake.set("bad\n").await;
    fake.begin(PATIENCE_MS, &[("a.py", false), ("b.py", true)]).await;
    assert_eq!(fake.answer().await.said(), ("versioned", vec![0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_of_a_server_holds_for_what_it_did_before_the_first_command() {
    let on = json!({OPEN: [push("same")], CHANGE: [push("same")]});
    for (name, text, after, expected) in
        [("pylsp", "bad\n", "versioned", vec![0]), ("clangd", "#include <a>\nbad\n", "timeout", vec![])]
    {
        let mut fake = Faked::before_greeting(name, &json!({"on": on}), "bad\n", "{}").await;
        fake.hear_publishes().await;
        fake.attach().await;
        fake.nvim.wait("sign").await;
        fake.set(text).await;
        fake.nvim.wait("sign").await;
        if name == "pylsp" {
            // A later change of a file that this server does not look at for another one.
            fake.nvim.lua::<bool>("_G.attach('b.py') return true").await;
            fake.nvim.wait("sign").await;
        }
        fake.nvim.greeted().await;
        assert_eq!(fake.ask(700).await.said(), (after, expected), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_was_opened_again_with_the_same_versions_is_a_guess_for_a_while() {
    let once = json!([push("same")]);
    let echo = json!({"publish": {"items": []}});
    let script = json!({"on": {OPEN: [once, [echo, {"wait_for": "go"}, push("same")]], CHANGE: once}});
    let mut fake = Faked::start("fake", &script, "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![0]));
    fake.nvim.command("edit!").await;
    fake.nvim.lua::<bool>("_G.attach('a.py') return true").await;
    let entry = fake.ask(PATIENCE_MS).await;
    assert_eq!(entry.said(), ("quiet", vec![]), "the empty list may be the closed document's");
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]), "a version that the old one never had");
}

#[tokio::test(flavor = "multi_thread")]
async fn tsserver_is_asked_by_command_and_a_failing_command_leaves_a_guess() {
    let body = json!({"body": [{"start": {"line": 2, "offset": 1}, "end": {"line": 2, "offset": 2}, "text": "m", "category": "error"}]});
    let capabilities = json!({"executeCommandProvider": {"commands": ["typescript.tsserverRequest"]}});
    let empty = json!([{"reply": {"body": []}}]);
    let answers = json!([[{"reply": body}], empty, empty, [{"error": -32603}]]);
    let on = json!({"workspace/executeCommand": answers, CHANGE: [push("none")]});
    let mut fake = Faked::start("ts_ls", &json!({"capabilities": capabilities, "on": on}), "x\ny\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![1]));
    fake.set("bad\n").await;
    fake.ask(PATIENCE_MS).await;
    fake.set("ok\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("quiet", vec![1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_by_command_has_the_severities_that_the_server_publishes() {
    let item = |code: u64, category: &str| {
        let (start, end) = (json!({"line": 1, "offset": 1}), json!({"line": 1, "offset": 2}));
        json!({"start": start, "end": end, "text": "m", "code": code, "category": category})
    };
    let items = [item(6133, "error"), item(6133, "suggestion"), item(6198, "error"), item(7027, "error")];
    let empty = json!([{"reply": {"body": []}}]);
    let answers = json!([[{"reply": {"body": items}}], empty, empty]);
    let capabilities = json!({"executeCommandProvider": {"commands": ["typescript.tsserverRequest"]}});
    let script = json!({"capabilities": capabilities, "on": {"workspace/executeCommand": answers}});
    for (name, settings, expected) in [
        ("vtsls", "nil", [2, 4, 1, 2]),
        ("vtsls", "{ typescript = { reportStyleChecksAsWarnings = false } }", [1, 4, 1, 1]),
        ("ts_ls", "nil", [1, 4, 1, 1]),
    ] {
        let mut fake = Faked::before_greeting(name, &script, "x\n", "{}").await;
        fake.nvim.greeted().await;
        fake.nvim.lua::<bool>(&format!("_G.config.settings = {settings} return true")).await;
        fake.attach().await;
        let entry = fake.ask(PATIENCE_MS).await;
        let items = entry.0["items"].as_array().expect("a list");
        let found: Vec<u64> = items.iter().filter_map(|item| item["severity"].as_u64()).collect();
        assert_eq!(found, expected, "{name}, {settings}: {entry:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_vtsls_answers_by_command_is_what_it_publishes() {
    let options = json!({"noEmit": true, "noUnusedLocals": true, "allowUnreachableCode": false,
        "allowUnusedLabels": false, "noFallthroughCasesInSwitch": true, "noImplicitReturns": true});
    let text = "class Box { private part = 1; }\nlet one, two;\nconst { length } = 'x';\ninterface Old {}\n\
                export function of(n: number) {\n  here: switch (n) {\n    case 1:\n      n++;\n    case 2:\n      \
                return 2;\n  }\n  if (n) return;\n  throw n;\n  n++;\n}\nexport const wrong: string = 1;\n";
    let files = [("tsconfig.json", &*json!({"compilerOptions": options}).to_string()), ("a.ts", text)];
    for (setting, softest) in [("nil", 2), ("false", 1)] {
        let project = Project::new(&files);
        let nvim = Nvim::open(&project, "{}", &[], "a.ts").await;
        nvim.greeted().await;
        let folder = language_tools("vtsls");
        let setup = format!(
            "{ASK} vim.env.PATH = {folder:?} .. ':' .. vim.env.PATH
            local settings = {{ typescript = {{ reportStyleChecksAsWarnings = {setting} }} }}
            vim.lsp.start({{ name = 'vtsls', cmd = {{ 'vtsls', '--stdio' }}, root_dir = vim.fn.getcwd(), settings = settings }})
            function _G.told(items)
              local out = {{}}
              for _, item in ipairs(items) do
                out[#out + 1] = ('%d:%d %s %s'):format(item.range.start.line, item.range.start.character, item.code, item.severity)
              end
              table.sort(out)
              return out
            end
            return true"
        );
        nvim.lua::<bool>(&setup).await;
        let mut fake = Faked { project, nvim };
        fake.begin(PATIENCE_MS, &[("a.ts", false)]).await;
        let entry = fake.answer().await;
        assert_eq!(entry.said().0, "exact", "{entry:?}");
        let answered = json!(entry.0["items"]).to_string();
        // It publishes its three lists one after the other.
        let compare = format!(
            "local answered = _G.told(vim.json.decode([==[{answered}]==]))
            local published
            vim.wait(60000, function()
              published = _G.told(vim.tbl_map(function(item)
                return item.user_data.lsp
              end, vim.diagnostic.get(0)))
              return vim.deep_equal(published, answered)
            end)
            return {{ answered, published }}"
        );
        let (answered, published): (Vec<String>, Vec<String>) = fake.nvim.lua(&compare).await;
        assert_eq!(answered, published, "{setting}");
        let of = |code: &str| {
            answered.iter().find(|told| told.contains(code)).map(|told| told.ends_with(&softest.to_string()))
        };
        assert_eq!(["6133", "6196", "7027", "7028", "7029", "7030"].map(of), [Some(true); 6], "{answered:?}");
    }
}
