//! clangd attached in Neovim: it publishes twice for one version, first from what it has kept of the headers.

use serde_json::{Value, json};

use crate::nvim::servers::{Faked, stale};
use crate::support::servers::{CHANGE, CLOSE, OPEN, PATIENCE_MS, push};

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
async fn after_the_save_of_a_header_a_file_is_opened_again_and_its_next_publish_is_of_the_header() {
    let once = json!([push("same")]);
    let earlier = json!({"publish": {"version": "-1", "items": "scan"}});
    let echo = json!([earlier, {"publish": {"version": "none", "items": []}}]);
    let script = json!({"on": {OPEN: once, CHANGE: once, CLOSE: echo}, "log": "log"});
    let mut fake = Faked::start("clangd", &script, "#include \"shape.c\"\nbad\n").await;
    let opened = |fake: &Faked| {
        let is_of = |message: &&Value| {
            message["params"]["textDocument"]["uri"].as_str().is_some_and(|uri| uri.ends_with("a.py"))
        };
        let sent = fake.log().into_iter().filter(|message| is_of(&message));
        sent.filter(|message| message["method"] == OPEN).count()
    };
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    let shown = "_G.shown = {} vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = function(args)
       table.insert(_G.shown, #vim.diagnostic.get(0)) end }) return true";
    fake.nvim.lua::<bool>(shown).await;
    // A file of any name that another one includes is a header of that one.
    for (at, header) in ["shape.h", "shape.c"].into_iter().enumerate() {
        save(&fake, header).await;
        assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]), "{header}");
        assert_eq!(opened(&fake), at + 2, "{header}");
    }
    save(&fake, "other.cc").await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("versioned", vec![1]));
    assert_eq!(opened(&fake), 3, "a source that no file includes");
    let empty: bool = fake.nvim.lua("return vim.list_contains(_G.shown, 0)").await;
    assert!(!empty, "the list of the closed document is not shown");
    fake.nvim
        .lua::<bool>("vim.api.nvim_buf_set_lines(vim.fn.bufnr('shape.h'), 0, -1, false, { 'x' }) return true")
        .await;
    assert_eq!(fake.ask(PATIENCE_MS).await.said(), ("quiet", vec![1]), "clangd reads headers from the disk");
}
