//! Strange buffers and busy users: what is edited stays whole, what must not be edited is left alone.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_not_edited_stay_as_they_are() {
    let files: [(&str, &[u8]); 5] = [
        ("crlf.py", b"a = 1\r\nb = 2\r\n"),
        ("bom.py", b"\xef\xbb\xbfa = 1\nb = 2\n"),
        ("open.py", b"a = 1\nb = 2"),
        ("tabs.py", "if 1:\n\ta = 1\n\tb = 2\n".as_bytes()),
        ("emoji.py", "x = '😀 e\u{301} ß'\na = 1\nb = 2 # 😀\n".as_bytes()),
    ];
    let project = Project::new(&[]);
    for (path, bytes) in files {
        std::fs::write(project.root().join(path), bytes).unwrap();
    }
    let script = files.iter().map(|(path, _)| step("edit_file", change(path, "a = 1", "a = 10\nc = '😀'"), false));
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::start(&project, &options(&server), &["ruff"]).await;
    for (path, bytes) in files {
        nvim.edit(path).await;
        nvim.task("AgentAsk change a").await;
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let new_line = if path == "crlf.py" { "a = 10\r\nc = '😀'" } else { "a = 10\nc = '😀'" };
        let wanted = text.replace("a = 1", new_line);
        let found = std::fs::read(project.root().join(path)).unwrap();
        assert_eq!(String::from_utf8_lossy(&found), wanted, "{path}");
        nvim.task("AgentUndo").await;
        assert_eq!(std::fs::read(project.root().join(path)).unwrap(), bytes, "{path} after the undo");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_thousand_lines_are_edited_in_place() {
    let text: String = (0..50_000).map(|n| format!("value_{n} = {n}\n")).collect();
    let project = Project::new(&[("big.py", &text)]);
    let server =
        ModelServer::start([step("edit_file", change("big.py", "value_30000 = 30000", "value_30000 = 0"), false)])
            .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "big.py").await;
    nvim.task("AgentAsk change one").await;
    assert_eq!(project.read("big.py"), text.replace("value_30000 = 30000", "value_30000 = 0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_many_messages_long_is_whole_and_one_undo_step() {
    let line = |n: usize, value: usize| format!("value_{n} = \"{value} of the values, in \\\\ and 😀\"\n");
    let text = |every: usize| (0..8_000).map(|n| line(n, if n % 8 == 0 { n + every } else { n })).collect::<String>();
    let (before, after) = (text(0), text(1));
    let project = Project::new(&[("big.py", &before)]);
    let server =
        ModelServer::start([step("write_file", json!({"path": "big.py", "content": after}), true), says("ok")]).await;
    // As long an answer is beyond the limit of a usual one.
    let options = options(&server).replace("max_attempts", "max_tokens = 100000, max_attempts");
    let mut nvim = Nvim::open(&project, &options, &["ruff"], "big.py").await;
    nvim.task("AgentAsk! write it anew").await;
    assert_eq!(project.read("big.py"), after);
    nvim.command("undo").await;
    assert_eq!(nvim.text().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_diagnostics_than_one_turn_writes_down_are_all_compared() {
    let text: String = (0..450).map(|n| format!("value_{n} = missing_{n}\n")).collect();
    let project = Project::new(&[("many.py", &text)]);
    let edit = change("many.py", "value_7 = missing_7\n", "value_7 = other_7 + 0\nmore = another\n");
    let server = ModelServer::start([step("edit_file", edit, true), says("ok")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "many.py").await;
    nvim.task("AgentAsk! change one").await;
    let told = server.requests()[1].said_by("user").to_owned();
    assert!(told.contains("2 new, 1 fixed, 449 unchanged"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_while_the_user_types_is_an_undo_step_of_its_own() {
    let text = "def alpha() -> int:\n    return 1\n\n\ndef beta() -> int:\n    return 2\n";
    let project = Project::new(&[("a.py", text)]);
    let server = ModelServer::start([step("edit_file", change("a.py", "return 1", "return 11"), false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("1").await;
    // The user types at the end of the file while the task runs.
    nvim.command("AgentAsk change alpha").await;
    nvim.keys("Gobefore").await;
    nvim.finished().await;
    nvim.keys("after<Esc>").await;
    let typed = nvim.text().await;
    assert!(typed.contains("return 11") && typed.contains("beforeafter"), "{typed}");
    nvim.command("undo").await;
    let first = nvim.text().await;
    assert!(first.contains("return 11") && first.contains("before\n"), "only what was typed after it: {first}");
    nvim.command("undo").await;
    let second = nvim.text().await;
    assert!(second.contains("return 1\n") && second.contains("before\n"), "only the edit: {second}");
    let mode: String = nvim.lua("return vim.api.nvim_get_mode().mode").await;
    assert_eq!(mode, "n");
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_below_a_symbol_does_not_cost_an_edit_of_it() {
    let text = "def alpha() -> int:\n    return 1\n\n\ndef beta() -> int:\n    return 2\n";
    let project = Project::new(&[("a.py", text)]);
    let server =
        ModelServer::start([step("edit_file", change("a.py", "return 1", "return 11"), true), says("ok")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.keys("Godef ").await;
    // The user types on for a while, faster than a server answers.
    let types = "vim.fn.timer_start(40, function() vim.api.nvim_feedkeys('x', 'n', false) end, { ['repeat'] = 100 })";
    nvim.command(&format!("lua {types}")).await;
    nvim.task("AgentAsk change alpha").await;
    let told = server.requests()[1].said_by("user").to_owned();
    assert!(told.contains("edit_file (ok)"), "{told}");
    let text = nvim.text().await;
    assert!(text.contains("return 11\n") && text.contains("\ndef xx"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unsaved_changes_of_the_user_are_kept_and_not_written() {
    let project = Project::new(&[("a.py", "a = 1\nb = 2\n")]);
    let server = ModelServer::start([step("edit_file", change("a.py", "a = 1", "a = 10"), true), says("ok")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("call setline(2, 'b = 20')").await;
    nvim.task("AgentAsk change a").await;
    assert_eq!(nvim.text().await, "a = 10\nb = 20\n");
    assert_eq!(project.read("a.py"), "a = 1\nb = 2\n", "the user's own changes are theirs to write");
    assert!(nvim.answer().await.contains("unsaved changes"), "{}", nvim.answer().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_with_the_disk_is_refused_and_nothing_hangs() {
    let project = Project::new(&[("a.py", "a = 1\nb = 2\n")]);
    let slow = json!({"action": {"tool": "edit_file", "parameters": change("a.py", "a = 1", "a = 10")}, "reasoning": "r",
                      "continue": true, "confidence": 1, "answer": ""});
    let server = ModelServer::start([Reply::Slow(slow, std::time::Duration::from_millis(20)), says("no")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("call setline(2, 'b = 20')").await;
    nvim.command("AgentAsk change a").await;
    server.requests_seen(1).await;
    let theirs = "a = 1\nb = 2\nc = 'written by somebody else'\n";
    project.write("a.py", theirs);
    nvim.finished().await;
    assert_eq!(nvim.text().await, "a = 1\nb = 20\n");
    assert_eq!(project.read("a.py"), theirs);
    assert!(nvim.answer().await.contains("changed on disk"), "{}", nvim.answer().await);
    // As long as the user has not decided, a task on this file does not even begin.
    let failure = nvim.failed_task("AgentAsk change a").await;
    assert!(failure["message"].as_str().unwrap().contains("changed on disk"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_changed_since_it_was_read_is_shown_again_instead_of_edited() {
    let project = Project::new(&[("a.py", "a = 1\nb = 2\n")]);
    let server = ModelServer::start([
        Reply::Slow(
            json!({"action": {"tool": "edit_file", "parameters": change("a.py", "a = 1", "a = 10")}, "reasoning": "r",
                   "continue": true, "confidence": 1, "answer": ""}),
            std::time::Duration::from_millis(20),
        ),
        says("seen"),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk change a").await;
    server.requests_seen(1).await;
    nvim.task("call setline(1, 'a = 1 + 1')").await;
    assert_eq!(nvim.text().await, "a = 1 + 1\nb = 2\n");
    let told = server.requests()[1].said_by("user").to_owned();
    assert!(told.contains("changed since it was read") && told.contains("a = 1 + 1"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_a_live_swap_is_opened_hidden_without_a_prompt() {
    let project = Project::new(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    let server = ModelServer::start([step("edit_file", change("b.py", "b = 1", "b = 2"), true), says("ok")]).await;
    let swapping = Nvim::start(&project, "{}", &[]).await;
    swapping.command("set updatecount=200 swapfile directory=.").await;
    swapping.edit("b.py").await;
    swapping.command("call setline(1, 'b = 1  ') | preserve").await;
    let mut nvim = Nvim::start(&project, &options(&server), &["ruff"]).await;
    nvim.command("set updatecount=200 swapfile directory=.").await;
    nvim.edit("a.py").await;
    nvim.command("let g:before = win_getid()").await;
    nvim.task("AgentAsk! change b").await;
    assert_eq!(project.read("b.py"), "b = 2\n");
    let same: bool = nvim.lua("return vim.g.before == vim.fn.win_getid() and vim.fn.bufname() == 'a.py'").await;
    assert!(same, "the user's window still shows what it showed");
    let listed: bool = nvim.lua("return vim.bo[vim.fn.bufnr('b.py')].buflisted").await;
    assert!(!listed, "a file that was opened hidden is not listed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_formatter_does_on_saving_is_part_of_the_edit() {
    let project = Project::new(&[("a.py", "a = 1\n")]);
    let server = ModelServer::start([step("edit_file", change("a.py", "a = 1", "a = missing"), false)]).await;
    let mut nvim = Nvim::start(&project, &options(&server), &["basedpyright"]).await;
    // Puts a line on top, so that every line number of the answer is the formatter's.
    nvim.command("autocmd BufWritePre *.py call append(0, '# formatted')").await;
    nvim.edit("a.py").await;
    nvim.task("AgentAsk change a").await;
    assert_eq!(project.read("a.py"), "# formatted\na = missing\n");
    let list = nvim.quickfix().await;
    assert!(list.len() == 2 && list[1].starts_with("a.py:2: E: "), "{list:#?}");
    nvim.command("autocmd! BufWritePre *.py").await;
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("a.py"), "a = 1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_is_checked_as_new_and_undone_by_removing_it() {
    let project = Project::new(&[("a.py", "a = 1\n")]);
    let content = "def f() -> int:\n    return missing\n";
    let server =
        ModelServer::start([step("write_file", json!({"path": "lib/new.py", "content": content}), true), says("ok")])
            .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    let summary = nvim.task("AgentAsk! a new file").await;
    assert!(summary.contains("lib/new.py"), "{summary}\n{}", nvim.answer().await);
    assert_eq!(project.read("lib/new.py"), content);
    let list = nvim.quickfix().await;
    assert!(list.len() == 2 && list[1].contains("f: \"missing\" is not defined"), "{list:#?}\n{}", nvim.answer().await);
    nvim.task("AgentUndo").await;
    assert!(!project.root().join("lib/new.py").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_is_a_scope_and_an_empty_file_can_be_filled() {
    let text = "class Cart:\n    def total(self) -> int:\n        return 1\n\n    def count(self) -> int:\n        return 2\n\n\nx = 1\n";
    let project = Project::new(&[("a.py", text), ("empty.py", "")]);
    let server = ModelServer::start([
        step("edit_file", change("a.py", "x = 1", "x = 2"), true),
        step("edit_file", change("a.py", "return 2", "return 3"), false),
        step("write_file", json!({"path": "empty.py", "content": "y = 1\n"}), false),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("2,6AgentAsk change the class").await;
    assert_eq!(nvim.text().await, text.replace("return 2", "return 3"), "the range lies in Cart, and x does not");
    nvim.edit("empty.py").await;
    nvim.task("AgentAsk fill it").await;
    assert_eq!(project.read("empty.py"), "y = 1\n");
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("empty.py"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_deleted_on_disk_is_not_brought_back_by_an_edit() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let server = ModelServer::start([step("edit_file", change("a.py", "x = 1", "x = 2"), false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    let file = project.root().join("a.py");
    std::fs::remove_file(&file).expect("deleted");
    let summary = nvim.task("AgentAsk change it").await;
    assert!(!file.exists(), "{summary}");
    assert_eq!(nvim.text().await, "x = 2\n");
    let answer = nvim.answer().await;
    assert!(answer.contains("not written: the file was deleted on disk"), "{answer}");
    nvim.command("write").await;
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("a.py"), "x = 1\n", "it is there again by the user's own word");
}
