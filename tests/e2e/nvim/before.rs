//! The options `review = 'before'` and `follow`: what an edit shows before it is written, and where it is seen.

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn edit(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

async fn started(script: impl IntoIterator<Item = Reply>, option: &str) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let server = ModelServer::start(script).await;
    let options = options(&server).replacen("{ model", &format!("{{ {option}, model"), 1);
    let nvim = Nvim::on_screen(&project, &options, &["ruff"]).await;
    (project, server, nvim)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_edit_is_shown_and_written_only_with_the_users_consent() {
    let script = [edit("return 1", "return 11", true), edit("return 2", "return 22", true), says("ok")];
    let (project, server, mut nvim) = started(script, "review = 'before'").await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk! change f and g").await;
    nvim.answered("Write this edit of a.py?").await;
    let shown = nvim.answer().await;
    assert!(shown.contains("-     return 1") && shown.contains("+     return 11"), "the text is shown: {shown}");
    assert!(shown.contains("write every edit of this task"), "{shown}");
    assert_eq!(project.read("a.py"), TEXT, "nothing is written before the answer");
    nvim.command("AgentAnswer return 12 instead").await;
    nvim.answered("return 22").await;
    assert_eq!(project.read("a.py"), TEXT);
    nvim.task("AgentAnswer yes").await;
    assert_eq!(project.read("a.py"), TEXT.replace("return 2", "return 22"));
    let second = server.requests()[1].body.to_string();
    assert!(second.contains("return 12 instead"), "the model hears why: {second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_answer_lets_every_edit_of_the_task_through_and_none_of_the_next() {
    let script = [
        edit("return 1", "return 11", true),
        edit("return 2", "return 22", false),
        edit("return 11", "return 111", true),
        says("ok"),
    ];
    let (project, _server, mut nvim) = started(script, "review = 'before'").await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk! change f and g").await;
    nvim.answered("Write this edit of a.py?").await;
    nvim.task("AgentAnswer 2").await;
    let both = TEXT.replace("return 1", "return 11").replace("return 2", "return 22");
    assert_eq!(project.read("a.py"), both);
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("a.py"), TEXT, "what the user takes back is not asked about");
    nvim.task("AgentRedo").await;
    nvim.command("AgentAsk! change f again").await;
    nvim.answered("return 111").await;
    nvim.task("AgentAnswer 3").await;
    assert_eq!(project.read("a.py"), both);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_the_user_declined_is_over_and_no_hint_for_the_model_is_shown() {
    let script = [edit("return 1", "return 11", true), says("left as it is")];
    let (project, server, mut nvim) = started(script, "review = 'before'").await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk! change f").await;
    nvim.answered("Write this edit of a.py?").await;
    let ended = nvim.task("AgentAnswer 3").await;
    let shown = nvim.answered("tokens in 2 calls.").await;
    for text in [&shown, &ended] {
        assert!(text.contains("The user said no to this edit of a.py"), "{text}");
        for gone in ["Not done", "was refused", "do it as the user wants"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
    }
    assert!(shown.contains("✗ the user said no to this edit of a.py\n"), "{shown}");
    let heard = server.requests()[1].body.to_string();
    assert!(heard.contains("do it as the user wants, or go on"), "the model has its hint: {heard}");
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_follow_an_edit_is_seen_in_the_other_code_window_and_the_cursor_stays() {
    let script = || [edit("return 2", "return 22", false), edit("return 22", "return 2", false)];
    let (_project, _server, mut nvim) = started(script(), "follow = true").await;
    nvim.edit("b.py").await;
    nvim.command("vsplit").await;
    nvim.task("AgentAsk! change g of a.py").await;
    let seen = "local out = {}
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          local buf = vim.api.nvim_win_get_buf(win)
          if vim.bo[buf].buftype == '' then
            out[#out + 1] = ('%s:%d'):format(vim.fs.basename(vim.api.nvim_buf_get_name(buf)), vim.api.nvim_win_get_cursor(win)[1])
          end
        end
        return { out, vim.fs.basename(vim.api.nvim_buf_get_name(0)) }";
    let (mut windows, current): (Vec<String>, String) = nvim.lua(seen).await;
    windows.sort();
    assert_eq!((windows, current.as_str()), (vec!["a.py:6".to_owned(), "b.py:1".to_owned()], "b.py"));
    // The only code window is the user's.
    nvim.command("only").await;
    nvim.task("AgentAsk! change g of a.py").await;
    let (windows, _): (Vec<String>, String) = nvim.lua(seen).await;
    assert_eq!(windows, ["b.py:1"]);
}
