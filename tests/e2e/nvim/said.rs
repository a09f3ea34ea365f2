//! What is said in messages, in a terminal of 80 columns: one line that fits, never a prompt.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def alpha() -> int:\n    return 1\n";

/// What stands on the screen, once this does; no prompt may be up.
async fn shows(nvim: &Nvim, text: &str) -> String {
    nvim.screen.shows(text).await;
    assert!(!nvim.prompts().await, "a prompt is up:\n{}", nvim.screen.text());
    nvim.screen.text()
}

/// The last line of the screen is the command line.
fn last_line(screen: &str) -> &str {
    screen.lines().last().unwrap_or_default()
}

async fn messages(nvim: &Nvim) -> String {
    nvim.lua("return vim.api.nvim_exec2('messages', { output = true }).output").await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_lacks_is_one_line_whether_or_not_it_fits() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::open_on_screen(&project, "{}", &[], "a.py").await;
    for (command, said) in [
        ("AgentPlan", "no plan waits here"),
        ("AgentStop", "Sextant: nothing is running"),
        ("AgentMode", "Sextant: plans are carried out in mode planner"),
        (
            "AgentMode nothing-that-there-is-and-a-name-that-is-longer-than-any-line-of-it",
            "Sextant: there is no mode no",
        ),
        ("AgentAnswer x", "Sextant: no question is open"),
    ] {
        nvim.keys(&format!(":{command}<CR>")).await;
        let screen = shows(&nvim, said).await;
        assert!(last_line(&screen).starts_with("Sextant: "), "one line:\n{screen}");
    }
    assert!(messages(&nvim).await.contains("longer-than-any-line-of-it; use planner or supervised"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_failure_is_cut_on_the_screen_and_whole_in_messages() {
    let project = Project::new(&[("a.py", TEXT)]);
    let options = "{ model = { provider = 'openai_compatible', model = 'm', base_url = 'http://127.0.0.1:9/v1', max_attempts = 1 } }";
    for (set, lines) in [("cmdheight=1", 1), ("cmdheight=2", 2), ("cmdheight=0", 1)] {
        let mut nvim = Nvim::on_screen(&project, options, &[]).await;
        nvim.command(&format!("set {set}")).await;
        nvim.edit("a.py").await;
        nvim.keys(":AgentAsk change it<CR>").await;
        nvim.failed().await;
        // What the window shows is not said again; with the window closed it is.
        let screen = shows(&nvim, "✗ cannot reach").await;
        assert!(!last_line(&screen).contains("Sextant:"), "{set}:\n{screen}");
        assert!(screen.contains("→ check base_url"), "{set}:\n{screen}");
        nvim.command("call win_execute(bufwinid('sextant://answer'), 'close')").await;
        nvim.keys(":AgentPlan change it<CR>q").await;
        nvim.failed().await;
        let screen = shows(&nvim, "Sextant: cannot reach").await;
        let hint = screen.lines().filter(|line| line.contains("→")).count();
        assert_eq!(hint, lines - 1, "{set}: the way out has a line where there is one:\n{screen}");
        let all = messages(&nvim).await;
        assert!(all.contains("check base_url and whether the server runs"), "{set}: {all}");
        // Nothing has to be answered first.
        nvim.keys(":AgentStop<CR>").await;
        shows(&nvim, "nothing is running").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_task_a_question_and_a_dead_process_need_no_key() {
    let project = Project::new(&[("a.py", TEXT)]);
    let run = step(
        "run_command",
        json!({"command": ["touch", "one-name-that-is-long-enough-to-reach-beyond-the-end-of-a-line"]}),
        false,
    );
    let edit = step("edit_file", change("a.py", "return 1", "return 11"), true);
    let server = ModelServer::start([edit, run, says("it is done"), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.keys(":AgentAsk change it, then run the command that makes the file with the long name<CR>").await;
    nvim.wait("SextantStarted").await;
    nvim.keys(":call win_execute(bufwinid('sextant://answer'), 'close')<CR>").await;
    nvim.wait("SextantQuestion").await;
    shows(&nvim, "Sextant: Run `touch one-name").await;
    shows(&nvim, "… · :AgentAnswer").await;
    nvim.keys(":AgentAnswer 3<CR>").await;
    nvim.finished().await;
    shows(&nvim, "Sextant: changed a.py").await;

    nvim.keys(":AgentAsk again<CR>").await;
    server.requests_seen(4).await;
    nvim.keys(":call win_execute(bufwinid('sextant://answer'), 'close')<CR>").await;
    let kill = "for _, c in ipairs(vim.api.nvim_list_chans()) do if c.client and c.client.name == 'sextant' then vim.uv.kill(vim.fn.jobpid(c.id), 9) end end return true";
    nvim.lua::<bool>(kill).await;
    shows(&nvim, "Sextant: the agent process ended").await;
    assert!(messages(&nvim).await.contains("sextant.log"), "the log's path is in the whole text");
    nvim.keys(":AgentAsk explain it<CR>").await;
    shows(&nvim, "a task was interrupted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_the_user_types_waits_until_it_can_be_read() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into()), Reply::Stall("{".into())]).await;
    for (enter, leave, typed) in [("i", "<Esc>", "-- INSERT --"), (":echo 1", "<C-c>", ":echo 1")] {
        let nvim = Nvim::open_on_screen(&project, &options(&server), &[], "a.py").await;
        nvim.command("echo ''").await;
        nvim.keys_show(enter, typed).await;
        nvim.lua::<bool>("require('sextant.command').stop() return true").await;
        nvim.keys("<Left>").await;
        assert!(!nvim.prompts().await && last_line(&nvim.screen.text()).starts_with(typed), "{}", nvim.screen.text());
        nvim.keys(leave).await;
        shows(&nvim, "Sextant: nothing is running").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_setup_and_a_missing_binary_are_said_in_a_line() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::on_screen(
        &project,
        "{ no_such_option_and_a_name_that_is_long_enough_for_two_lines_of_a_screen = 1 }",
        &[],
    )
    .await;
    nvim.edit("a.py").await;
    nvim.keys(":AgentAsk fix this<CR>").await;
    shows(&nvim, "Sextant: setup() has mistakes: unknown option").await;
    nvim.lua::<bool>(
        "require('sextant').setup({ binary = '/nowhere/at/all/in/a/folder/that/is/deep/enough/sextant' }) return true",
    )
    .await;
    nvim.keys(":AgentAsk fix this<CR>").await;
    shows(&nvim, "Sextant: no sextant binary found").await;
    assert!(messages(&nvim).await.contains("see :checkhealth sextant"));
    nvim.keys(":AgentPlan fix this<CR>").await;
    let screen = shows(&nvim, "✗ no sextant binary found").await;
    assert!(screen.contains("Sextant plan · failed"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notify_of_the_users_own_is_given_the_whole_text() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut nvim = Nvim::open(&project, "{}", &[], "a.py").await;
    nvim.command("AgentMode nothing-that-there-is-and-a-name-that-is-longer-than-any-line-of-it").await;
    let message = nvim.wait("message").await;
    assert!(message["text"].as_str().is_some_and(|text| text.ends_with("use planner or supervised")), "{message}");
}

/// In a float, which has no status line, the ruler stands in the command line.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_leaves_the_ruler_its_place_while_the_user_is_in_a_float() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::on_screen(&project, "{}", &[]).await;
    nvim.command("set ruler noshowcmd laststatus=2").await;
    nvim.edit("a.py").await;
    let say = "lua require('sextant.ui.say').say(('1234567 '):rep(20))";
    for (format, cut) in [("", "1234567 123… "), ("%30(%l,%c%)", "1234567 123456… ")] {
        nvim.command(&format!("let &rulerformat = '{format}'")).await;
        nvim.command("lua require('sextant.ui.key_help').open('Keys', { 'one', 'two' })").await;
        nvim.command(say).await;
        nvim.screen.shows(cut).await;
        nvim.keys("j").await;
        nvim.screen.shows("2,1").await;
        assert!(last_line(&nvim.screen.text()).contains(cut), "{}", nvim.screen.text());
        nvim.keys("q").await;
    }
    nvim.command(say).await;
    nvim.screen.shows("1234567 12345…").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_blank_line_separates_the_summary_from_the_answer() {
    let project = Project::new(&[("a.py", TEXT)]);
    for text in ["It returns one.", "It returns one.\n", "It returns one.\n\n\n"] {
        let server = ModelServer::start([says(text)]).await;
        let mut nvim = Nvim::start(&project, &options(&server), &[]).await;
        nvim.edit("a.py").await;
        nvim.command("AgentAsk what does alpha return?").await;
        nvim.finished().await;
        let answer = nvim.answered("nothing was changed").await;
        assert!(answer.contains("It returns one.\n\nnothing was changed"), "{text:?}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_command_line_window_a_command_is_refused_and_leaves_nothing_behind() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::open_on_screen(&project, "{}", &[], "a.py").await;
    for command in ["AgentPlan fix F541", "AgentAsk fix F541", "AgentPlan", "AgentShow", "AgentResume!", "Agent ask it"]
    {
        nvim.keys("q:").await;
        nvim.keys(&format!(":{command}<CR>")).await;
        let screen = shows(&nvim, "Sextant: close the command-line window first").await;
        assert!(!screen.contains("E11"), "{command}:\n{screen}");
        assert_eq!(nvim.lua::<usize>("return #vim.api.nvim_list_wins()").await, 2, "{command}");
        nvim.command("quit").await;
        assert_eq!(nvim.lua::<String>("return require('sextant').status().state").await, "idle", "{command}");
        nvim.command("echo ''").await;
    }
    // No plan waits to be taken on: the next request is the only one.
    assert!(!nvim.lua::<bool>("return require('sextant.ui.plan').waits()").await);
    nvim.keys("q:").await;
    nvim.keys(":AgentMode<CR>").await;
    shows(&nvim, "Sextant: plans are carried out in mode planner").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_from_lua_that_is_refused_leaves_no_callback_behind() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("It is.")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    let refused = "_G.called = {}
        for _, given in ipairs({ { range = 'x' }, { range = { 900, 1000 } }, { text = ' ' } }) do
          given.text = given.text or 'explain it'
          given.callback = function() table.insert(_G.called, 'refused') end
          if pcall(require('sextant').ask, given) then return false end
        end
        require('sextant').ask({ text = 'explain it' .. (' '):rep(10) .. ('x'):rep(1024 * 1024),
          callback = function(result) table.insert(_G.called, result.failure.message:match('%d+ KB')) end })
        require('sextant').ask({ text = 'explain it', callback = function() table.insert(_G.called, 'taken') end })
        return true";
    assert!(nvim.lua::<bool>(refused).await, "each is an error");
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("1024 KB"));
    nvim.finished().await;
    let called: Vec<String> = nvim.lua("return _G.called").await;
    assert_eq!(called, ["1024 KB", "taken"]);
}
