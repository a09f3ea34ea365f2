//! A plan whose Neovim and process were killed, gone on with and taken back in a new Neovim.

use serde_json::Value;

use crate::durable::{TEXT, plan, record, replace};
use crate::nvim::ask::options;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::says;

async fn document(nvim: &Nvim) -> String {
    let lines: Vec<String> =
        nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
    lines.join("\n")
}

async fn kill_sextant(nvim: &Nvim) {
    let killed: bool = nvim
        .lua(
            r"
            for _, channel in ipairs(vim.api.nvim_list_chans()) do
              if channel.client and channel.client.name == 'sextant' then
                return vim.uv.kill(vim.fn.jobpid(channel.id), 'sigkill') == 0
              end
            end
            return false",
        )
        .await;
    assert!(killed);
}

async fn mark(nvim: &Nvim) -> Value {
    nvim.lua("return vim.api.nvim_buf_get_mark(vim.fn.bufnr('a.py'), 'm')").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_neovim_goes_on_with_a_killed_plan_and_takes_all_of_it_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let before = project.bytes();
    let server = ModelServer::start([
        plan(&["f", "g"]),
        // The line with the mark goes, and with it the mark.
        replace("    return 1\n", "    one = 10\n    return one + 1\n", false),
        replace("return 2", "return 99", true),
        Reply::Stall("{".into()),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("2mark m").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    server.requests_seen(4).await;
    kill_sextant(&nvim).await;
    nvim.child().kill().await.expect("killed");
    assert!(project.read("a.py").contains("return 99"));

    server.push(replace("return 2", "return 22", false));
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    let summary = nvim.task("AgentResume").await;
    assert!(summary.contains("2 of 2 steps done"), "{summary}");
    let window: bool = nvim.lua("return vim.api.nvim_win_get_config(0).relative == 'editor'").await;
    let shown = document(&nvim).await;
    assert!(window && shown.matches("- [x] ").count() == 2, "the plan is in its window: {shown}");
    nvim.keys("q").await;
    let text = TEXT.replace("    return 1\n", "    one = 10\n    return one + 1\n").replace("return 2", "return 22");
    assert_eq!((nvim.text().await, project.read("a.py")), (text.clone(), text.clone()));
    let offered: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentUndo ', 'cmdline')").await;
    assert!(offered.contains(&"2".to_owned()) && offered.contains(&"g".to_owned()), "{offered:?}");
    nvim.task("AgentUndo g").await;
    assert_eq!(nvim.text().await, text.replace("return 22", "return 2"));
    nvim.task("AgentRedo").await;
    assert_eq!(nvim.text().await, text);
    nvim.task("AgentUndo g").await;
    nvim.task("AgentUndo").await;
    assert_eq!((nvim.text().await.as_str(), project.bytes()), (TEXT, before));
    assert_eq!(mark(&nvim).await, serde_json::json!([2, 4]), "the mark of the Neovim that is gone");
    let open = document(&nvim).await;
    assert_eq!(open.matches("- [ ] ").count(), 2, "the steps are open again: {open}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_symbols_of_the_task_that_an_undo_takes_are_offered_after_a_later_one_and_a_restart() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([replace("return 1", "return 11", false), says("Yes."), says("Still.")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk change f").await;
    nvim.task("AgentAsk is it right?").await;
    let offers = "return vim.fn.getcompletion('AgentUndo ', 'cmdline')";
    let offered: Vec<String> = nvim.lua(offers).await;
    assert!(offered.contains(&"a.py::f".to_owned()) && offered.contains(&"f".to_owned()), "{offered:?}");
    kill_sextant(&nvim).await;
    nvim.child().kill().await.expect("killed");

    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk and now?").await;
    let offered: Vec<String> = nvim.lua(offers).await;
    assert!(offered.contains(&"f".to_owned()), "{offered:?}");
    nvim.task("AgentUndo f").await;
    let offered: Vec<String> = nvim.lua(offers).await;
    assert!(!offered.contains(&"f".to_owned()), "it was taken back: {offered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_neovim_that_lives_on_is_told_of_the_plan_that_was_interrupted() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let server = ModelServer::start([
        plan(&["f", "g"]),
        replace("return 1", "return 11", false),
        Reply::Stall("{".into()),
        says("hello"),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    server.requests_seen(3).await;
    nvim.keys("q").await;
    kill_sextant(&nvim).await;
    nvim.wait("message").await;
    nvim.edit("b.py").await;
    let told = nvim.command_until("AgentAsk say hello", "SextantInterrupted").await;
    assert_eq!((&told["done"], &told["of"], &told["request"]), (&1.into(), &2.into(), &"change both".into()));
    nvim.finished().await;
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_whose_process_was_killed_goes_on_by_its_key() {
    let project = Project::new(&[("a.py", TEXT)]);
    let first = [plan(&["f", "g"]), replace("return 1", "return 11", false), Reply::Stall("{".into())];
    let server = ModelServer::start(first).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    server.requests_seen(3).await;
    kill_sextant(&nvim).await;
    let gone = "return (vim.wait(30000, function() \
        return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, 1, false)[1]:find('✗') == 1 end, 10))";
    assert!(nvim.lua::<bool>(gone).await, "{}", document(&nvim).await);
    server.push(replace("return 2", "return 22", false));
    nvim.keys("a").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("2 of 2 steps done"), "{summary}");
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11").replace("return 2", "return 22"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_notice_of_an_interrupted_plan_stays_in_sight_behind_the_first_command() {
    let project = Project::new(&[("a.py", TEXT)]);
    let first = [plan(&["f", "g"]), replace("return 1", "return 11", false), Reply::Stall("{".into())];
    let server = ModelServer::start(first).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    server.requests_seen(3).await;
    nvim.child().kill().await.expect("killed");
    server.push(plan(&["g"]));
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.command("set laststatus=2 noruler noshowcmd").await;
    nvim.edit("a.py").await;
    nvim.command_until("AgentPlan change g", "SextantInterrupted").await;
    nvim.wait("SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    nvim.screen.shows("Sextant: a task was interrupted, 1 of 2 done; :AgentResume goes on: “change …”").await;
    assert!(!nvim.prompts().await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waits_is_told_at_the_first_command_of_a_new_neovim_and_goes_on_by_its_key() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([plan(&["f", "g"]), replace("return 1", "return 11", false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("s").await;
    nvim.finished().await;
    nvim.child().kill().await.expect("killed");

    server.push(replace("return 2", "return 22", false));
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    // Whatever the command is about.
    let told = nvim.command_until("AgentTrace 1", "SextantInterrupted").await;
    assert_eq!((&told["done"], &told["of"], &told["request"]), (&1.into(), &2.into(), &"change both".into()));
    let shown = "return (vim.wait(60000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://trace' end, 10))";
    assert!(nvim.lua::<bool>(shown).await, "the trace of the other Neovim");
    let trace = nvim.text().await;
    assert!(trace.starts_with("# Trace: change both") && trace.contains("## Step 1, call 1"), "{trace}");
    nvim.command("normal q").await;
    let offered: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentTrace ', 'cmdline')").await;
    assert_eq!(offered[..2], ["1", "2"]);

    nvim.command_until("AgentPlan", "SextantPlan").await;
    let text = document(&nvim).await;
    assert!(text.matches("- [x] ").count() == 1 && text.matches("- [ ] ").count() == 1, "{text}");
    assert!(project.read("a.py").contains("return 2\n"), "it is only shown");
    nvim.answered("“change both” waits, 1 of 2 steps done; :AgentResume goes on with it").await;
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("2 of 2 steps done"), "{summary}");
    assert!(project.read("a.py").contains("return 22"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_killed_neovim_was_writing_comes_back_from_its_backup() {
    let before = "\u{feff}x = 1\r\ny = 2\r\n";
    let project = Project::new(&[("a.py", ""), ("a.py~", before)]);
    record(&project, &[("a.py", Some("x = 1\ny = 2\n"), Some("x = 1\ny = 3\n"))]);
    let server = ModelServer::start([]).await;
    let mut nvim = Nvim::start(&project, &options(&server), &[]).await;
    // Opened as it was left, with nothing to tell its line ends by.
    nvim.edit("a.py").await;
    let failure = nvim.failed_task("AgentUndo").await;
    assert!(failure["message"].as_str().is_some_and(|text| text.contains("nothing to undo")), "{failure}");
    assert_eq!((project.read("a.py").as_str(), nvim.text().await.as_str()), (before, "x = 1\ny = 2\n"));
    let format: String = nvim.lua("return vim.bo.fileformat").await;
    assert_eq!(format, "dos");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_for_the_workspace_goes_on_in_a_neovim_that_has_opened_one_of_its_files() {
    let text = "import os\n\n\ndef f() -> None:\n    print(f\"x\")\n";
    let project = Project::new(&[("a.py", text), ("b.py", text)]);
    let mut nvim = Nvim::open(&project, "{}", &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan! fix everything", "SextantPlan").await;
    let planned = document(&nvim).await;
    assert_eq!(planned.matches("- [ ] ").count(), 4, "{planned}");
    nvim.child().kill().await.expect("killed");

    let mut nvim = Nvim::open(&project, "{}", &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan", "SextantPlan").await;
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("4 of 4 steps done") && summary.contains("4 fixed"), "{summary}");
    let fixed = "\n\ndef f() -> None:\n    print(\"x\")\n";
    assert_eq!((project.read("a.py").as_str(), project.read("b.py").as_str()), (fixed, fixed), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_plan_of_an_earlier_neovim_is_written_and_run() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([plan(&["f", "g"])]).await;
    let mut nvim = Nvim::start(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentPlan change both").await;
    nvim.wait("SextantPlan").await;
    nvim.child().kill().await.expect("killed");

    server.push(replace("return 2", "return 22", false));
    let mut nvim = Nvim::start(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentPlan").await;
    nvim.wait("SextantPlan").await;
    nvim.keys("e").await;
    nvim.wait("message").await;
    nvim.command("%s/\\[ \\] change f/[-] change f/ | write").await;
    let event = nvim.wait("SextantPlan").await;
    assert!(event["markdown"].as_str().unwrap().contains("- [-] change f\n"), "{event}");
    let shown = "return (vim.wait(30000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://plan' end, 10))";
    assert!(nvim.lua::<bool>(shown).await, "the plan has its window back");
    nvim.keys("a").await;
    nvim.finished().await;
    assert_eq!(project.read("a.py"), TEXT.replace("return 2", "return 22"));
}
