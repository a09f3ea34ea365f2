//! clangd attached in Neovim: it publishes twice for one version, first from what it has kept of the headers.

use serde_json::json;

use crate::nvim::servers::{Faked, stale};
use crate::support::servers::{CHANGE, OPEN, PATIENCE_MS, push};

/// Writes another file that the server has.
async fn save(fake: &Faked, path: &str) {
    let save = "vim.api.nvim_buf_call(vim.fn.bufnr(path), function() vim.cmd('silent write!') end) return true";
    fake.nvim.lua::<bool>(&format!("local path = '{path}' _G.attach(path) {save}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_preamble_needs_clangds_second_publish() {
    let once = json!([push("same")]);
    let changes =
        json!([[stale(), {"publish": {"items": "old"}}, push("same")], once, [{"publish": {"items": "old"}}]]);
    let script = json!({"on": {OPEN: once, CHANGE: changes}, "log": "log"});
    let mut fake = Faked::start("clangd", &script, "#include <set>\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    fake.set("#include <map>\n\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![2]));
    assert!(fake.log().iter().any(|message| message["method"] == "textDocument/documentSymbol"));
    // An edit that touches no directive is published once.
    fake.set("#include <map>\n\nbad\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![2, 3]));
    // There and back again: the directives are those of the last answer, what clangd has is not.
    fake.set("#include <set>\nbad\n").await;
    fake.ask(1).await;
    fake.set("#include <map>\n\nbad\nbad\n").await;
    assert_eq!(fake.ask(500).await.said(), ("timeout", vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_save_of_a_header_clangds_first_publish_proves_nothing() {
    let once = json!([push("same")]);
    let changes = json!([[{"publish": {"items": "old"}}, push("same")], once, [{"publish": {"items": "old"}}]]);
    let script = json!({"on": {OPEN: once, CHANGE: changes}});
    let mut fake = Faked::start("clangd", &script, "#include <set>\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    save(&fake, "shape.h").await;
    fake.set("#include <set>\n\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![2]));
    save(&fake, "other.cc").await;
    fake.set("#include <set>\nbad\nbad\n").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1, 2]));
    save(&fake, "shape.h").await;
    fake.set("#include <set>\n\nbad\n").await;
    assert_eq!(fake.ask(500).await.said(), ("timeout", vec![]));
}
