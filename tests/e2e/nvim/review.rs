//! `:AgentReview` and `:AgentDiff`: hunks in the code, decisions by key, what survives a restart, what the agent hears.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

pub const TEXT: &str =
    "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n\n\ndef h() -> int:\n    return 3\n";

pub fn edit(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

fn two_edits() -> [Reply; 2] {
    [edit("return 1", "return undefined_name", true), edit("return 2", "return 22", false)]
}

/// The virtual lines of the review in the current buffer, each as text.
async fn drawn(nvim: &Nvim) -> Vec<String> {
    nvim.lua(
        "local ns = vim.api.nvim_get_namespaces().sextant_review
        local out = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do
          for _, line in ipairs(mark[4].virt_lines or {}) do
            local text = ''
            for _, chunk in ipairs(line) do text = text .. chunk[1] end
            out[#out + 1] = vim.trim(text)
          end
        end
        return #out > 0 and out or vim.empty_dict() and {}",
    )
    .await
}

/// Waits until the review counts so.
pub async fn counts(nvim: &Nvim, reviewed: usize, total: usize) {
    let code = format!(
        "return (vim.wait(60000, function() local c = require('sextant.ui.review').count()
          return c ~= nil and c.reviewed == {reviewed} and c.total == {total} end, 10))"
    );
    assert!(nvim.lua::<bool>(&code).await, "{reviewed} of {total}: {}", nvim.screen.text());
}

async fn lines(nvim: &Nvim) -> String {
    nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n'").await
}

pub async fn closed(nvim: &Nvim) {
    let code = "return (vim.wait(60000, function() return require('sextant.ui.review').count() == nil end, 10))";
    assert!(nvim.lua::<bool>(code).await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_is_accepted_or_rejected_in_the_code_and_the_agent_hears_why() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("nnoremap <buffer> ga <Cmd>let g:own = 1<CR>").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("1/2 f").await;
    let shown = drawn(&nvim).await;
    let begins = |words: &str| shown.iter().any(|line| line.starts_with(words));
    for words in ["▎1/2 f ga accept", "-    return 1", "▎2/2 g", "-    return 2"] {
        assert!(begins(words), "{words}: {shown:?}");
    }
    let introduced: Vec<&String> = shown.iter().filter(|line| line.starts_with("▎new: f: ")).collect();
    assert!(introduced.len() == 1 && introduced[0].contains("F821"), "{shown:?}");
    // The cursor stands on the first change.
    nvim.keys_show("gR", "Reject, because").await;
    nvim.keys("the name is unknown<CR>").await;
    counts(&nvim, 1, 2).await;
    assert_eq!(lines(&nvim).await, TEXT.replace("return 2", "return 22"));
    // It has gone on to the next one.
    nvim.keys("ga").await;
    closed(&nvim).await;
    nvim.screen.shows("reviewed 2 of 2").await;
    assert_eq!(drawn(&nvim).await, Vec::<String>::new());
    nvim.keys("ga").await;
    assert!(
        nvim.lua::<bool>("return (vim.wait(5000, function() return vim.g.own == 1 end, 10))").await,
        "the own key is back"
    );
    assert_eq!(project.read("a.py"), TEXT.replace("return 2", "return 22"));
    // One message has the rejection and its reason.
    server.push(says("understood"));
    nvim.task("AgentReview send").await;
    let asked = server.requests().last().expect("a request").body.to_string();
    assert!(
        asked.contains("a.py::f") && asked.contains("the user rejected your change: the name is unknown"),
        "{asked}"
    );
}

/// Waits until the current buffer has this text.
pub async fn reads(nvim: &Nvim, text: &str) {
    let code = format!(
        "return (vim.wait(60000, function() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n' == {text:?} end, 10))"
    );
    assert!(nvim.lua::<bool>(&code).await, "{}", lines(nvim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_in_the_code_takes_a_rejection_back_with_its_reason() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    let (both, second) = (lines(&nvim).await, TEXT.replace("return 2", "return 22"));
    nvim.keys_show("gR", "Reject, because").await;
    nvim.keys("the name is unknown<CR>").await;
    counts(&nvim, 1, 2).await;
    nvim.keys("u").await;
    counts(&nvim, 0, 2).await;
    assert_eq!(lines(&nvim).await, both);
    nvim.keys("<C-r>").await;
    counts(&nvim, 1, 2).await;
    assert_eq!(lines(&nvim).await, second);
    nvim.keys("u").await;
    counts(&nvim, 0, 2).await;
    nvim.keys("gB").await;
    assert_eq!(nvim.failed().await["message"], "there is no decision to take back");
    assert_eq!(lines(&nvim).await, both);
    // The review has ended, and an undo opens it again.
    nvim.command("AgentReview reject all").await;
    closed(&nvim).await;
    nvim.screen.shows("unsent; `:AgentReview send` or `back`").await;
    reads(&nvim, TEXT).await;
    nvim.keys("u").await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("1/2 f").await;
    nvim.command("AgentReview reject all because no").await;
    closed(&nvim).await;
    reads(&nvim, TEXT).await;
    // The next request comes before the review has looked at the buffer.
    server.push(says("understood"));
    nvim.keys("u:AgentAsk explain f<CR>").await;
    nvim.finished().await;
    let asked = server.requests().last().expect("a request").body.to_string();
    assert!(!asked.contains("user rejected"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selected_part_of_a_change_is_decided_alone() {
    let text = "def f() -> int:\n    a = 1\n    b = 2\n    c = 3\n    return a + b + c\n";
    let project = Project::new(&[("a.py", text)]);
    let (old, new) = ("a = 1\n    b = 2\n    c = 3", "a = 10\n    b = 20\n    c = 30");
    let server = ModelServer::start([edit(old, new, false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk change the numbers").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    nvim.keys_show("/b = 20<CR>VgR", "Reject, because").await;
    nvim.keys("<CR>").await;
    let rejected = text.replace("a = 1", "a = 10").replace("c = 3", "c = 30");
    reads(&nvim, &rejected).await;
    nvim.screen.shows("1/2 f").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_moves_the_changes_and_a_restart_keeps_them() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.keys("ga").await;
    counts(&nvim, 1, 2).await;
    nvim.keys_show("ggO# mine<Esc>", "1/1 g").await;
    nvim.command("write | AgentReview close").await;
    closed(&nvim).await;
    drop(nvim);
    let nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 1, 2).await;
    nvim.screen.shows("1/1 g").await;
    // What was accepted before the restart can wait again.
    nvim.keys("gB").await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("1/2 f").await;
    nvim.keys("ga").await;
    counts(&nvim, 1, 2).await;
    nvim.command("AgentReview reject all").await;
    closed(&nvim).await;
    let mine = format!("# mine\n{}", TEXT.replace("return 1", "return undefined_name"));
    assert_eq!(lines(&nvim).await, mine);
    nvim.command("AgentReview back").await;
    let back = mine.replace("return 2", "return 22");
    reads(&nvim, &back).await;
    // A line of a change that the user has edited since is not rejected.
    nvim.command("AgentReview").await;
    counts(&nvim, 1, 2).await;
    nvim.keys_show("/22<CR>A + 1<Esc>", "edited since").await;
    nvim.command_shows("AgentReview reject all", "nothing was rejected: the change of `g` was edited since").await;
    // The key asks for no reason that would be lost.
    nvim.keys_show("gR", "it was edited since: accept it, or change it by hand").await;
    assert!(!nvim.screen.text().contains("Reject, because"), "{}", nvim.screen.text());
    assert!(lines(&nvim).await.contains("return 22 + 1"));
    nvim.keys_show("Vga", "nothing was accepted").await;
    nvim.command("AgentReview accept hunk").await;
    closed(&nvim).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_opens_after_a_task_where_the_user_wants_it_and_a_diff_shows_all() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", TEXT)]);
    let other = step("edit_file", change("b.py", "return 3", "return 33"), false);
    let server = ModelServer::start([edit("return 1", "return 11", true), other]).await;
    let options = options(&server).replacen("{ model", "{ review = 'after', model", 1);
    let mut nvim = Nvim::open_on_screen(&project, &options, &["ruff"], "a.py").await;
    nvim.command("normal! G").await;
    nvim.task("AgentAsk! change f and h").await;
    counts(&nvim, 0, 2).await;
    let at: usize = nvim.lua("return vim.api.nvim_win_get_cursor(0)[1]").await;
    assert_eq!(at, 10, "the cursor stays");
    nvim.keys("]h").await;
    let there =
        "return (vim.wait(60000, function() return vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'b.py' end, 10))";
    assert!(nvim.lua::<bool>(there).await, "the next change is in the other file");
    nvim.command_shows("AgentDiff", "+++ b/a.py").await;
    let diff: String = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    assert!(diff.contains("-    return 1\n+    return 11") && diff.contains("+++ b/b.py"), "{diff}");
    let folds: usize = nvim.lua("vim.cmd('normal! zM'); return vim.fn.foldclosedend(1)").await;
    assert!(folds > 1 && folds < diff.lines().count(), "a fold a file");
    nvim.keys("zRGD").await;
    let sides = "local out = {} \
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do \
          local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false) \
          out[#out + 1] = { vim.wo[win].diff, table.concat(lines, '\\n') .. '\\n' } \
        end \
        return out";
    let both = "return (vim.wait(60000, function() return vim.wo.diff end, 10))";
    assert!(nvim.lua::<bool>(both).await, "{}", nvim.screen.text());
    let sides: Vec<(bool, String)> = nvim.lua(sides).await;
    assert_eq!(sides, [(true, TEXT.to_owned()), (true, project.read("b.py"))]);
    nvim.command("wincmd h").await;
    nvim.keys("q").await;
    let tabs = "return (vim.wait(60000, function() return #vim.api.nvim_list_tabpages() == 1 end, 10))";
    assert!(nvim.lua::<bool>(tabs).await, "{}", nvim.screen.text());
    // A text that was edited since has no text before.
    let change = "vim.api.nvim_buf_set_lines(vim.fn.bufnr('b.py'), 0, 0, false, { '# mine' }) return true";
    assert!(nvim.lua::<bool>(change).await);
    nvim.keys_show("D", "b.py was edited since the task").await;
    assert!(nvim.lua::<bool>(tabs).await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_tab_closes_from_the_code_and_leaves_no_key() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("nnoremap <buffer> q <Cmd>let g:own = 1<CR>").await;
    nvim.task("AgentAsk! change f and g").await;
    let key = "return vim.fn.maparg('q', 'n', false, true).desc or vim.fn.maparg('q', 'n')";
    for _ in 0..2 {
        nvim.command_shows("AgentDiff", "+++ b/a.py").await;
        nvim.keys("GD").await;
        let both = "return (vim.wait(60000, function() return vim.wo.diff end, 10))";
        assert!(nvim.lua::<bool>(both).await, "{}", nvim.screen.text());
        // In another tab the key is the user's.
        nvim.command("tabfirst | execute bufwinnr('a.py') . 'wincmd w'").await;
        assert_eq!(nvim.lua::<String>(key).await, "<Cmd>let g:own = 1<CR>");
        nvim.command("tablast").await;
        assert_eq!(nvim.lua::<String>(key).await, "Close the tab");
        nvim.keys("q").await;
        let tabs = "return (vim.wait(60000, function() return #vim.api.nvim_list_tabpages() == 1 end, 10))";
        assert!(nvim.lua::<bool>(tabs).await, "{}", nvim.screen.text());
        nvim.command("execute bufwinnr('a.py') . 'wincmd w'").await;
        assert_eq!(nvim.lua::<String>(key).await, "<Cmd>let g:own = 1<CR>");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_are_not_drawn_in_diff_mode() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("▎1/2 f").await;
    nvim.command_shows("AgentDiff", "+++ b/a.py").await;
    nvim.keys("GD").await;
    let both = "return (vim.wait(60000, function() return vim.wo.diff end, 10))";
    assert!(nvim.lua::<bool>(both).await, "{}", nvim.screen.text());
    let marked = |there: bool| {
        format!(
            "return (vim.wait(60000, function()
              local ns = vim.api.nvim_get_namespaces().sextant_review
              return (#vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.py'), ns, 0, -1, {{}}) > 0) == {there} end, 10))"
        )
    };
    assert!(nvim.lua::<bool>(&marked(false)).await, "{:?}", drawn(&nvim).await);
    // Its keys stay.
    nvim.keys("2Gga").await;
    counts(&nvim, 1, 2).await;
    assert!(drawn(&nvim).await.is_empty());
    nvim.command("tabclose").await;
    assert!(nvim.lua::<bool>(&marked(true)).await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hint_of_the_keys_follows_the_cursor() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("1/2 f ga accept").await;
    nvim.keys_show("]h", "2/2 g ga accept").await;
    assert_eq!(nvim.screen.text().matches("ga accept").count(), 1, "{}", nvim.screen.text());
    nvim.keys_show("[h", "1/2 f ga accept").await;
    // Between the changes it stays with the last one.
    nvim.keys_show("]h", "2/2 g ga accept").await;
    nvim.keys_show("G", "2/2 g ga accept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_at_the_top_of_the_window_is_shown_with_its_header() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.keys_show("]h", "2/2 g ga accept").await;
    nvim.keys("ztj").await;
    nvim.screen.hides("2/2 g").await;
    nvim.keys_show("[h", "2/2 g ga accept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_changes_are_drawn_in_short_turns() {
    let project = Project::new(&[("a.py", &"x = 1\n".repeat(10_000))]);
    let nvim = Nvim::open(&project, "{}", &[], "a.py").await;
    // The clock goes on by a millisecond whenever it is read, so that a turn is as long on every machine.
    let turns: serde_json::Value = nvim
        .lua(
            "local hunks = {}
            for i = 1, 500 do
              hunks[i] = { id = tostring(i), symbol = 'f' .. i, line = (i - 1) * 20, count = 1, removed = { 'x = 2' },
                added = { 'x = 1' }, words = {}, conflict = false, diagnostics = {} }
            end
            local clock, marks, decoded, seen = 0, 0, 0, { drawn = {}, both = false }
            local hrtime, set, decode, defer =
              vim.uv.hrtime, vim.api.nvim_buf_set_extmark, vim.json.decode, vim.defer_fn
            vim.uv.hrtime = function() clock = clock + 1e6; return clock end
            vim.api.nvim_buf_set_extmark = function(...) marks = marks + 1; return set(...) end
            vim.json.decode = function(...) decoded = decoded + 1; return decode(...) end
            local function turn()
              if marks > 0 then
                table.insert(seen.drawn, marks)
                seen.both = seen.both or decoded > 0
              end
              marks, decoded = 0, 0
            end
            vim.defer_fn = function(run, ms) turn(); return defer(function() turn(); run(); turn() end, ms) end
            local event = vim.json.encode({ type = 'review', root = vim.uv.cwd(), open = true, state = { reviewed = 0,
              total = 500, rejected = 0, notes = {}, summary = '', files = { { path = 'a.py', hunks = hunks } } } })
            require('sextant.ui.show').event(event)
            local function all()
              local sum = 0
              for _, count in ipairs(seen.drawn) do sum = sum + count end
              return sum >= 1000
            end
            seen.all = vim.wait(30000, all, 1)
            vim.uv.hrtime, vim.api.nvim_buf_set_extmark, vim.json.decode, vim.defer_fn = hrtime, set, decode, defer
            seen.most = math.max(unpack(seen.drawn))
            return seen",
        )
        .await;
    assert_eq!(turns["all"], true, "{turns}");
    assert_eq!(turns["both"], false, "the event is read in a turn of its own: {turns}");
    assert!(turns["most"].as_u64().unwrap() <= 12, "{turns}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_fails_leaves_the_request_that_is_starting() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("Here it is.")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    // Both are in the queue before the process has answered the greeting.
    nvim.lua::<serde_json::Value>(
        "vim.cmd('AgentAsk explain it')
        require('sextant.rpc.channel').send('locate', { name = 'nowhere' })
        return vim.empty_dict()",
    )
    .await;
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("nowhere"));
    nvim.finished().await;
    assert!(nvim.answered("Here it is.").await.starts_with("# explain it"));
    assert!(nvim.lua::<bool>("return vim.fn.bufwinid('sextant://answer') ~= -1").await);
}

/// A review of the two changes, with neither decided.
async fn reviewing_two() -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk! change f and g").await;
    nvim.finished().await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    (project, server, nvim)
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_change_no_reason_is_asked_for_and_the_next_keys_keep_their_meaning() {
    let (_project, _server, nvim) = reviewing_two().await;
    let both = lines(&nvim).await;
    // The last line is not one of a change; `]h` goes on to the first one.
    nvim.keys("GgR]hga").await;
    counts(&nvim, 1, 2).await;
    assert_eq!(lines(&nvim).await, both);
    // The reason is of the change that the key was pressed on, wherever the cursor is when it comes.
    nvim.lua::<bool>("vim.ui.input = function(_, done) vim.g.asked = true; _G.done = done end return true").await;
    nvim.keys("gR").await;
    assert!(nvim.lua::<bool>("return (vim.wait(30000, function() return vim.g.asked == true end, 10))").await);
    nvim.keys("gg").await;
    nvim.lua::<bool>("_G.done('no') return true").await;
    closed(&nvim).await;
    reads(&nvim, &both.replace("return 22", "return 2")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_behind_a_selected_rejection_are_its_reason_and_not_run_before_it() {
    let text = "def f() -> int:\n    a = 1\n    b = 2\n    return a + b\n";
    let project = Project::new(&[("a.py", text)]);
    let server = ModelServer::start([edit("a = 1\n    b = 2", "a = 10\n    b = 20", false)]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk change the numbers").await;
    nvim.finished().await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    nvim.keys("/b = 20<CR>VgRdd is wrong<CR>").await;
    reads(&nvim, &text.replace("a = 1", "a = 10")).await;
    let state = nvim.screen.text();
    assert!(!state.contains("fewer"), "{state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acceptance_can_be_taken_back_and_a_note_is_seen() {
    let (_project, _server, nvim) = reviewing_two().await;
    let both = lines(&nvim).await;
    nvim.keys("gN").await;
    nvim.screen.shows("Note for the agent").await;
    nvim.keys("name it<CR>").await;
    nvim.screen.shows("▎note: name it").await;
    nvim.keys("ga").await;
    counts(&nvim, 1, 2).await;
    nvim.keys("gB").await;
    counts(&nvim, 0, 2).await;
    // The last one ends the review, and it opens again with what was accepted.
    nvim.command("AgentReview accept all").await;
    closed(&nvim).await;
    nvim.screen.shows("unsent; `:AgentReview send` or `back`").await;
    nvim.command("AgentReview back").await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("1/2 f").await;
    assert_eq!(lines(&nvim).await, both);
}

/// The widest virtual line of the review, and the columns of the narrowest window.
const WIDTHS: &str = "local ns, widest, least = vim.api.nvim_get_namespaces().sextant_review, 0, vim.o.columns
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do
      for _, line in ipairs(mark[4].virt_lines or {}) do
        local cells = 0
        for _, chunk in ipairs(line) do cells = cells + vim.api.nvim_strwidth(chunk[1]) end
        widest = math.max(widest, cells)
      end
    end
    for _, win in ipairs(vim.fn.win_findbuf(vim.api.nvim_get_current_buf())) do
      local info = vim.fn.getwininfo(win)[1]
      least = math.min(least, info.width - info.textoff)
    end";

/// Waits until what is drawn fills the narrowest window, and no more than that. Neovim reports a new width between two
/// calls alone.
async fn fits(nvim: &Nvim) {
    let fitting = "widest <= least and widest > least - 12";
    let code = format!("return (vim.wait(100, function() {WIDTHS} return {fitting} end, 10))");
    for _ in 0..300 {
        if nvim.lua::<bool>(&code).await {
            return;
        }
    }
    panic!("{:?}\n{}", drawn(nvim).await, nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_beside_a_change_fits_its_window_and_a_key_shows_all_of_it() {
    let (_project, _server, nvim) = reviewing_two().await;
    let words: String = (1..=30).map(|n| format!("word{n} ")).collect();
    nvim.keys(&format!("gN{words}<CR>")).await;
    nvim.screen.shows("▎note: word1 word2").await;
    fits(&nvim).await;
    nvim.command("vsplit").await;
    fits(&nvim).await;
    let cut = drawn(&nvim).await;
    let last = cut.iter().rfind(|line| line.contains("word")).expect("a note");
    assert!(last.ends_with(" … gK") && !last.contains("word30"), "{cut:?}");
    assert_eq!(cut.iter().filter(|line| line.contains("word")).count(), 3, "{cut:?}");
    nvim.keys("gK").await;
    for words in ["note: word1", "word30", "-    return 1", "+    return undefined_name"] {
        nvim.screen.shows(words).await;
    }
    nvim.keys("q").await;
    nvim.screen.hides("word30").await;
    nvim.command("set number | vertical resize 25").await;
    fits(&nvim).await;
    nvim.command("only").await;
    fits(&nvim).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_is_taken_back_is_shown_and_named_in_50_columns() {
    let files = [("a.py", TEXT), ("folder/b.py", TEXT)];
    let project = Project::new(&files);
    let replies = [("a.py", "return 1", true), ("a.py", "return 3", true), ("folder/b.py", "return 2", false)]
        .map(|(path, old, more)| step("edit_file", change(path, old, format!("{old}1")), more));
    let server = ModelServer::start(replies).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.resize(80, 24).await;
    nvim.edit("a.py").await;
    nvim.task("AgentAsk! change them").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 3).await;
    nvim.screen.shows("1/3 f").await;
    let here = |name: &str, line: usize| {
        format!(
            "return (vim.wait(30000, function() return vim.fn.expand('%:t') == '{name}' and vim.fn.line('.') == {line} end, 10))"
        )
    };
    // Each decision is followed by the next change; the last one goes to the first one that waits.
    nvim.keys("]h]h").await;
    assert!(nvim.lua::<bool>(&here("b.py", 6)).await, "{}", nvim.screen.text());
    nvim.keys_show("gR", "Reject, because").await;
    nvim.keys_show("<CR>", "rejected").await;
    assert!(nvim.lua::<bool>(&here("a.py", 2)).await, "{}", nvim.screen.text());
    nvim.keys_show("gB", "Sextant: rejected text is back in b.py; rev").await;
    assert!(nvim.lua::<bool>(&here("b.py", 6)).await, "{}", nvim.screen.text());
    nvim.keys("[h").await;
    assert!(nvim.lua::<bool>(&here("a.py", 10)).await, "{}", nvim.screen.text());
    nvim.keys("ga").await;
    counts(&nvim, 1, 3).await;
    nvim.keys_show("gB", "Sextant: acceptance taken back: 1 change; rev").await;
    assert!(nvim.lua::<bool>(&here("a.py", 10)).await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_shown_with_its_lines_and_what_it_introduced() {
    let before: String = (0..12).map(|n| format!("def f{n}() -> int:\n    return {n}\n\n\n")).collect();
    let project = Project::new(&[("a.py", &before)]);
    let new = "    one = absent\n    two = 2\n    return two";
    let replies = [
        step("edit_file", change("a.py", "    return 0\n", "    return 100\n"), true),
        step("edit_file", change("a.py", "    return 1\n", format!("{new}\n")), false),
    ];
    let server = ModelServer::start(replies).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.resize(80, 24).await;
    nvim.edit("a.py").await;
    nvim.task("AgentAsk! change f0 and f1").await;
    nvim.command("normal! gg").await;
    nvim.command("AgentReview").await;
    nvim.screen.shows("▎1/2 f0").await;
    // Its first line is in sight already, at the lower edge.
    nvim.keys("]h").await;
    for words in ["▎2/2 f1", "-    return 1", "    one = absent", "    two = 2", "    return two", "▎new: f1: "] {
        nvim.screen.shows(words).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_was_accepted_comes_back_accepted_from_an_undo() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.keys("ga").await;
    counts(&nvim, 1, 2).await;
    nvim.task("AgentUndo").await;
    closed(&nvim).await;
    nvim.task("AgentRedo").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 1, 2).await;
    assert!(drawn(&nvim).await[0].starts_with("▎1/1 g"), "{:?}", drawn(&nvim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_undone_and_redone_with_keys_waits_again() {
    let (_project, _server, nvim) = reviewing_two().await;
    let both = lines(&nvim).await;
    nvim.keys("u").await;
    counts(&nvim, 0, 1).await;
    nvim.keys("<C-r>").await;
    counts(&nvim, 0, 2).await;
    // The review has ended, and a redo opens it again.
    nvim.keys("2u").await;
    closed(&nvim).await;
    reads(&nvim, TEXT).await;
    nvim.keys("2<C-r>").await;
    counts(&nvim, 0, 2).await;
    assert_eq!(lines(&nvim).await, both);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_of_a_later_task_leaves_the_change_of_an_earlier_one_as_it_was() {
    let text = "from pathlib import Path\n\n\ndef f():\n    return json.dumps({})\n";
    let project = Project::new(&[("a.py", text)]);
    let path = "from pathlib import Path\n";
    let first = step("edit_file", change("a.py", path, format!("import json\n{path}")), false);
    let server = ModelServer::start([first, step("edit_file", change("a.py", path, ""), false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! fix the error").await;
    nvim.task("AgentAsk! fix the unused import").await;
    nvim.task("AgentUndo").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    nvim.screen.shows("1/1 top level ga accept").await;
    assert!(!drawn(&nvim).await.iter().any(|line| line.contains("pathlib")), "{:?}", drawn(&nvim).await);
    nvim.keys_show("gR", "Reject, because").await;
    nvim.keys("<CR>").await;
    closed(&nvim).await;
    reads(&nvim, text).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_on_a_deleted_method_goes_to_the_agent_with_its_name() {
    let text = "class A:\n    def f(self) -> int:\n        return 1\n\n    def g(self) -> int:\n        return 2\n";
    let project = Project::new(&[("a.py", text)]);
    let server = ModelServer::start([edit("\n    def g(self) -> int:\n        return 2\n", "", false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! delete g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    nvim.screen.shows("1/1 A::g").await;
    nvim.keys_show("gN", "Note for the agent").await;
    nvim.keys("was it used?<CR>").await;
    nvim.screen.shows("noted for the agent").await;
    server.push(says("understood"));
    nvim.task("AgentReview send").await;
    let asked = server.requests().last().expect("a request").body.to_string();
    assert!(asked.contains("a.py::A::g") && asked.contains("was it used?"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_of_all_ends_the_review_in_words() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(two_edits()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change both").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.task("AgentUndo").await;
    closed(&nvim).await;
    let said = "return (vim.wait(30000, function() \
        return vim.api.nvim_exec2('messages', { output = true }).output:find('the review is over: no change is left', 1, true) ~= nil \
        end, 10))";
    assert!(nvim.lua::<bool>(said).await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_review_after_a_task_leaves_its_verdict_and_names_its_file() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let server =
        ModelServer::start([edit("return 1", "return undefined_name", false), edit("return 2", "return 22", false)])
            .await;
    let with = options(&server).replacen('{', "{ review = 'after', ", 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "b.py").await;
    nvim.task("AgentAsk! change f").await;
    nvim.screen.shows("Sextant: Not done: 1 new error stays. reviewed 0 of 1 change").await;
    nvim.keys(":messages clear<CR>").await;
    nvim.command("call win_execute(bufwinid('sextant://answer'), 'close') | AgentReview accept all").await;
    nvim.task("AgentAsk! change g").await;
    nvim.screen.shows("Sextant: reviewed 0 of 1 change; :AgentReview goes to a.py").await;
    nvim.command("AgentReview").await;
    nvim.screen.shows("`g?` in the code shows the keys").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_rejection_is_taken_back_by_its_key_too() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([edit("return 1", "return 11", false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    nvim.command("AgentReview reject").await;
    closed(&nvim).await;
    assert_eq!(lines(&nvim).await, TEXT);
    nvim.keys("gB").await;
    counts(&nvim, 0, 1).await;
    assert_eq!(lines(&nvim).await, TEXT.replace("return 1", "return 11"));
    nvim.command("AgentReview close").await;
    closed(&nvim).await;
    let own: String = nvim.lua("return vim.fn.maparg('gB', 'n')").await;
    assert_eq!(own, "", "the key is the user's again");
}

#[tokio::test(flavor = "multi_thread")]
async fn remarks_wait_for_a_language_model_while_the_offline_one_is_used() {
    let text = format!("import os\n\n\n{TEXT}");
    let project = Project::new(&[("a.py", &text)]);
    let offline = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";
    let mut nvim = Nvim::open_on_screen(&project, offline, &["ruff"], "a.py").await;
    nvim.task("AgentAsk! fix F401").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    nvim.command("AgentReview reject hunk it is needed").await;
    closed(&nvim).await;
    for request in ["AgentAsk! fix the syntax errors", "AgentAsk explain f"] {
        nvim.task(request).await;
    }
    nvim.command("AgentReview send").await;
    assert_eq!(nvim.failed().await["message"], "the offline model reads no remarks: 1 waits for a language model");
    drop(nvim);
    let server = ModelServer::start([says("understood")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentReview send").await;
    let asked = server.requests().last().expect("a request").body.to_string();
    assert!(asked.contains("the user rejected your change: it is needed"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acceptance_of_an_unknown_part_accepts_nothing() {
    let (_project, _server, nvim) = reviewing_two().await;
    nvim.command_shows("AgentReview accept al", "there is no part `al`; use hunk, symbol, file or all").await;
    nvim.command_shows("AgentReview accept all please", "there is no part `all please`").await;
    counts(&nvim, 0, 2).await;
    nvim.command("AgentReview accept").await;
    counts(&nvim, 1, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_task_that_no_window_shows_stays_beside_the_count_of_its_review() {
    let project = Project::new(&[("a.py", TEXT)]);
    let script = [edit("return 1", "return 11", true), edit("return 2", "return 22", false)];
    let server = ModelServer::start(script).await;
    let with = options(&server).replacen('{', "{ review = 'after', ", 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    counts(&nvim, 0, 2).await;
    nvim.command("2 | AgentReview reject hunk no").await;
    counts(&nvim, 1, 2).await;
    nvim.command("call win_execute(bufwinid('sextant://answer'), 'close')").await;
    server.push(edit("return 1", "return 12", false));
    nvim.task("AgentReview send").await;
    nvim.screen.shows("Sextant: changed a.py. 0 new").await;
    nvim.screen.shows(":AgentShow · reviewed 1 of 3").await;
    nvim.task("AgentUndo").await;
    nvim.screen.shows(" · reviewed 1 of 2").await;
    assert!(nvim.screen.text().contains("Sextant: undone"), "{}", nvim.screen.text());
    assert!(!nvim.prompts().await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_running_task_is_shown_with_what_it_introduced() {
    let project = Project::new(&[("a.py", TEXT)]);
    let go = Arc::new(Notify::new());
    let held = Reply::Held(Box::new(edit("return 1", "return undefined_name", true)), Arc::clone(&go));
    let server = ModelServer::start([edit("return 2", "return 22", true), held, Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk! change f and g").await;
    server.requests_seen(2).await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 1).await;
    go.notify_one();
    server.requests_seen(3).await;
    counts(&nvim, 0, 2).await;
    nvim.screen.shows("▎new: f: ").await;
    nvim.failed_task("AgentStop").await;
}
