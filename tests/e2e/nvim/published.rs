//! Servers that publish a list before they answer a request, and no list that stays equal.

use serde_json::json;

use crate::nvim::servers::Faked;
use crate::support::servers::{CHANGE, OPEN, PATIENCE_MS, PULL, pulling, push};

#[tokio::test(flavor = "multi_thread")]
async fn gopls_publishes_before_it_answers_its_command_and_an_equal_list_once() {
    let capabilities = json!({"executeCommandProvider": {"commands": ["gopls.diagnose_files"]}});
    let answer = json!({"reply": null});
    let error = json!({"notify": ["window/logMessage", {"type": 1, "message": "no packages"}]});
    let commands = json!([
        // It leaves out the version 0, which Neovim gives to a text that was only opened.
        [push("none"), answer],
        [answer],
        [push("same"), answer],
        [push("same"), error, answer],
        [push("same"), {"error": -32603}],
        [answer],
        [push("same"), answer]
    ]);
    let on = json!({"workspace/executeCommand": commands});
    let mut fake = Faked::start("gopls", &json!({"capabilities": capabilities, "on": on}), "bad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]));
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![0]), "an equal list is not published again");
    let asked = [
        ("ok\nbad\n", "exact", vec![1]),
        ("bad\nok\n", "quiet", vec![0]),
        ("ok\n\nbad\n", "quiet", vec![2]),
        ("bad\nlast\n", "timeout", vec![]),
        ("ok\nok\nok\nbad\n", "exact", vec![3]),
    ];
    for (text, how, lines) in asked {
        fake.set(text).await;
        let patience = if how == "timeout" { 600 } else { PATIENCE_MS };
        assert_eq!(fake.ask(patience).await.said(), (how, lines), "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lua_ls_publishes_before_its_pull_is_answered_and_an_equal_list_not_again() {
    let clean = json!({"publish": {"version": "none", "items": []}});
    let changes = json!([[push("same")], [], [clean], [push("same")]]);
    let on = json!({CHANGE: changes, PULL: [{"reply": {"kind": "unchanged", "resultId": "x"}}]});
    let script = json!({"capabilities": pulling(), "on": on});
    let mut fake = Faked::start("lua_ls", &script, "ok\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", vec![]));
    for (text, found) in [("bad\n", vec![0]), ("bad\nmore\n", vec![0]), ("ok\n", vec![]), ("\nbad\n", vec![1])] {
        fake.set(text).await;
        assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("exact", found), "{text:?}");
    }
    let script = json!({"capabilities": pulling(), "on": {OPEN: [push("same")], PULL: on[PULL]}});
    let mut other = Faked::start("other", &script, "bad\n").await;
    assert_eq!(other.ask(PATIENCE_MS).await.said(), ("quiet", vec![0]), "a list was asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_names_what_lua_ls_needs_so_that_its_answers_count() {
    let mut fake = Faked::start("lua_ls", &json!({"on": {OPEN: [push("same")]}}), "ok\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said().0, "quiet");
    fake.nvim.command("checkhealth sextant").await;
    let shown: String = fake.nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    assert!(shown.contains("lua_ls (in 1 buffer): not known"), "{shown}");
    assert!(shown.contains("add '--preview' to its `cmd`"), "{shown}");
}
