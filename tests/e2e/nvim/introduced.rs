//! The signs of what a task introduced, and its lists: new, remaining, fixed.

use serde_json::Value;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f() -> int:\n    return gone\n\n\ndef g() -> int:\n    return 2\n";

fn edit(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

/// Repairs an old error in `f`, and brings a new one into `g`.
async fn begun(more: &str) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT)]);
    let script = [edit("return gone", "return 1", true), edit("return 2", "return absent", false)];
    let server = ModelServer::start(script).await;
    let with = options(&server).replacen('{', &format!("{{ {more}"), 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    (project, server, nvim)
}

const SIGNS: &str = "vim.iter(vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.py'),
    vim.api.nvim_get_namespaces().sextant_introduced, 0, -1, { details = true })):filter(function(mark)
        return mark[4].sign_text ~= nil and not mark[4].invalid
    end):map(function(mark) return mark[2] + 1 end):totable()";

/// Waits until exactly these lines have our sign.
async fn signs(nvim: &Nvim, lines: &[usize]) {
    let lua = format!("{{ {} }}", lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
    let code = format!("return (vim.wait(60000, function() return vim.deep_equal({SIGNS}, {lua}) end, 10))");
    let now = format!("return vim.inspect({SIGNS}) .. vim.inspect(vim.diagnostic.get(vim.fn.bufnr('a.py')))");
    assert!(nvim.lua::<bool>(&code).await, "{lines:?}: {}", nvim.lua::<String>(&now).await);
}

/// Waits until the quickfix list has entries at these lines.
async fn lists(nvim: &Nvim, lines: &[usize]) {
    let lua = format!("{{ {} }}", lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
    let now = "vim.tbl_map(function(item) return item.lnum end, vim.fn.getqflist())";
    let code = format!("return (vim.wait(60000, function() return vim.deep_equal({now}, {lua}) end, 10))");
    assert!(nvim.lua::<bool>(&code).await, "{lines:?}: {:?}", nvim.quickfix().await);
}

/// The title of the quickfix list.
async fn title(nvim: &Nvim) -> String {
    nvim.lua("return vim.fn.getqflist({ title = 1 }).title").await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_introduced_has_a_sign_and_its_lists_move_with_the_text() {
    let (_project, _server, mut nvim) = begun("").await;
    signs(&nvim, &[6]).await;
    let sign: Value = nvim
        .lua(
            "local ns = vim.api.nvim_get_namespaces().sextant_introduced
            for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do
                if mark[4].sign_text then return mark[4] end
            end",
        )
        .await;
    assert_eq!((sign["sign_hl_group"].as_str(), sign["priority"].as_u64()), (Some("SextantIntroduced"), Some(5)));
    assert_eq!(sign["sign_text"].as_str().map(str::trim), Some("▸"));
    nvim.command("call append(0, ['# one', '# two'])").await;
    signs(&nvim, &[8]).await;
    nvim.command("AgentList fixed").await;
    lists(&nvim, &[4]).await;
    let shown = title(&nvim).await;
    assert!(shown.starts_with("Sextant, fixed: change f and g ("), "{shown}");
    assert!(nvim.quickfix().await[1].contains("gone"), "{:?}", nvim.quickfix().await);
    assert!(nvim.lua::<bool>("return vim.fn.win_gettype() == 'quickfix'").await);
    nvim.command("AgentList remaining").await;
    lists(&nvim, &[8]).await;
    nvim.command("wincmd p | call append(0, '# three')").await;
    signs(&nvim, &[9]).await;
    lists(&nvim, &[9]).await;
    let shown = title(&nvim).await;
    assert!(shown.starts_with("Sextant, remaining: change f and g ("), "{shown}");
    // Repaired by hand: the sign goes, and the list that is shown follows. An undo brings both back.
    nvim.command("call setline(9, '    return 2')").await;
    signs(&nvim, &[]).await;
    lists(&nvim, &[]).await;
    nvim.command_shows("AgentList remaining", "nothing remains of what").await;
    nvim.command("undo").await;
    signs(&nvim, &[9]).await;
    lists(&nvim, &[9]).await;
    nvim.command("AgentList new").await;
    assert!(title(&nvim).await.starts_with("Sextant: change f and g ("));
    let offered: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentList ', 'cmdline')").await;
    assert_eq!(offered, ["new", "remaining", "fixed"]);
    nvim.command_shows("AgentList old", "takes new, remaining or fixed").await;
    nvim.command_shows("AgentList new 2", "there are not so many tasks").await;
    nvim.task("wincmd p | AgentUndo").await;
    signs(&nvim, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_change_loses_its_sign_and_a_closed_file_has_it_again() {
    let (_project, _server, nvim) = begun("sign = { text = '!', priority = 12 }, ").await;
    signs(&nvim, &[6]).await;
    nvim.command("bdelete a.py | edit a.py").await;
    signs(&nvim, &[6]).await;
    nvim.screen.shows("! ").await;
    nvim.command("AgentReview").await;
    nvim.screen.shows("1/2 f").await;
    nvim.command("AgentReview reject all").await;
    signs(&nvim, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_text_there_is_no_sign_and_before_a_task_no_list() {
    let (_project, _server, nvim) = begun("sign = { text = '' }, ").await;
    nvim.command("AgentList remaining").await;
    lists(&nvim, &[6]).await;
    signs(&nvim, &[]).await;
    let project = Project::new(&[("a.py", TEXT)]);
    let other = Nvim::open_on_screen(&project, "{}", &["ruff"], "a.py").await;
    other.command_shows("AgentList", "no task has changed something since this Neovim").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_names_what_has_not_answered_once_and_a_long_list_of_names_not_at_all() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::open(&project, "{}", &[], "a.py").await;
    for (unknown, title) in [
        ("ruff (a.py, no baseline), ruff (b.py, no baseline)", "Sextant: do it, not known: ruff (p)"),
        ("basedpyright, ruff", "Sextant: do it, not known: basedpyright, ruff (p)"),
        ("basedpyright, ruff, mypy (run by hand), pylint", "Sextant: do it, partly known (p)"),
    ] {
        let code = "return require('sextant.ui.quickfix_title').of({ request = 'do it', root = '/p', unknown = UNKNOWN }, 'new')";
        let made: String = nvim.lua(&code.replace("UNKNOWN", &format!("'{unknown}'"))).await;
        assert_eq!(made, title);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_a_task_follows_an_undo_and_a_redo_in_the_editor() {
    let (_project, _server, nvim) = begun("").await;
    signs(&nvim, &[6]).await;
    lists(&nvim, &[6]).await;
    let shown = |there: bool| {
        let list = "require('sextant.ui.room').list_window()";
        format!("return (vim.wait(30000, function() return ({list} ~= nil) == {there} end, 10))")
    };
    assert!(nvim.lua::<bool>(&shown(true)).await);
    nvim.command("undo").await;
    lists(&nvim, &[]).await;
    assert!(nvim.lua::<bool>(&shown(false)).await, "{}", nvim.screen.text());
    nvim.command("redo").await;
    lists(&nvim, &[6]).await;
    assert!(nvim.lua::<bool>(&shown(true)).await, "{}", nvim.screen.text());
    // A file that is closed has no reports any more, and its entries stay.
    nvim.command("enew | bwipeout a.py").await;
    let rested = "vim.wait(1500, function() return false end) return #vim.fn.getqflist()";
    assert_eq!(nvim.lua::<usize>(rested).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_place_in_a_list_stays_where_an_entry_goes() {
    let (_project, _server, nvim) = begun("").await;
    let idx: u64 = nvim
        .lua(
            "local quickfix = require('sextant.ui.quickfix')
             local entries = {}
             for line, text in ipairs({ 'one', 'two', 'three', 'four' }) do
               entries[line] = { path = 'a.py', line = line, column = 1, severity = 'error', text = text }
             end
             quickfix.show({ task = 't', root = vim.fn.getcwd(), entries = entries, request = 'r', unknown = '' })
             vim.cmd('cc 3')
             local items = vim.fn.getqflist()
             table.remove(items, 1)
             quickfix.follow({ task = 't', root = vim.fn.getcwd() }, items)
             return vim.fn.getqflist({ idx = 0 }).idx",
        )
        .await;
    assert_eq!(idx, 2, "it is at `three` still");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redo_after_a_restart_brings_the_lists_of_the_task_back() {
    let (project, server, mut nvim) = begun("").await;
    signs(&nvim, &[6]).await;
    nvim.command("write").await;
    nvim.task("AgentUndo").await;
    nvim.command("write").await;
    drop(nvim);
    // Nothing of ours is there until the user asks for it.
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("call append(0, ['# one', '# two'])").await;
    nvim.command_shows("AgentList", "no task has changed something since this Neovim").await;
    nvim.task("AgentRedo").await;
    signs(&nvim, &[8]).await;
    nvim.command("AgentList new").await;
    lists(&nvim, &[8]).await;
    let shown = title(&nvim).await;
    assert!(shown.starts_with("Sextant: change f and g ("), "{shown}");
    nvim.command("AgentList fixed").await;
    lists(&nvim, &[4]).await;
    assert!(nvim.quickfix().await[1].contains("gone"), "{:?}", nvim.quickfix().await);
    nvim.command("AgentList remaining").await;
    lists(&nvim, &[8]).await;
    nvim.task("wincmd p | AgentUndo").await;
    signs(&nvim, &[]).await;
    nvim.command_shows("AgentList remaining", "nothing remains of what").await;
    nvim.task("AgentRedo").await;
    signs(&nvim, &[8]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_whose_place_is_gone_does_not_come_back_after_a_restart() {
    let (project, server, nvim) = begun("").await;
    signs(&nvim, &[6]).await;
    nvim.command("write").await;
    drop(nvim);
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentUndo step 1").await;
    nvim.command("AgentList new").await;
    lists(&nvim, &[6]).await;
    nvim.command_shows("AgentList fixed", "has fixed nothing").await;
    nvim.task("AgentUndo").await;
    nvim.command_shows("AgentList new", "nothing new came from").await;
}
