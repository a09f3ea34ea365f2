//! What a user sees and reaches while the agent works: the wait, the way to the code, the room on the screen.

use serde_json::Value;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def f() -> int:\n    return 1\n\n\nclass Cart:\n    def total(self) -> int:\n        return 2\n";

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_for_the_model_and_its_retries_can_be_seen() {
    let project = Project::new(&[("a.py", TEXT)]);
    let busy = Reply::Status(429, vec![("retry-after", "1".into())], "{\"error\": {\"message\": \"busy\"}}".into());
    let server = ModelServer::start([busy, Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.lua::<Value>(
        "vim.g.phases = {}
        vim.api.nvim_create_autocmd('User', { pattern = 'SextantStatus', callback = function(args)
          local phases = vim.g.phases; phases[#phases + 1] = args.data.phase; vim.g.phases = phases end })
        return vim.empty_dict()",
    )
    .await;
    nvim.edit("a.py").await;
    assert_eq!(nvim.lua::<String>("return require('sextant').status().state").await, "idle");
    nvim.command_shows("AgentAsk do something", "retry 2 of 2 in 1 s").await;
    server.requests_seen(2).await;
    let status: Value = nvim.lua("return require('sextant').status()").await;
    assert_eq!(status["state"], "running");
    assert_eq!(status["request"], "do something");
    assert!(status["elapsed"].as_f64().unwrap() > 0.5 && status["model"].as_str().unwrap().ends_with(":m"), "{status}");
    assert!(nvim.lua::<String>("return require('sextant').statusline()").await.contains(" s in all"));
    nvim.failed_task("AgentStop").await;
    assert!(holds(&nvim, "require('sextant').statusline() == ''").await);
    let phases: Vec<String> = nvim.lua("return vim.g.phases").await;
    for phase in ["servers", "model", "retry"] {
        assert!(phases.iter().any(|known| known == phase), "{phase}: {phases:?}");
    }
    assert!(!nvim.prompts().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_reason_of_a_retry_leaves_the_times_in_the_bar() {
    let project = Project::new(&[("a.py", TEXT)]);
    let reason = "the queue of this model is full, and it takes some time until there is room in it again";
    let body = format!("{{\"error\": {{\"message\": \"{reason}\"}}}}");
    let busy = Reply::Status(429, vec![("retry-after", "50".into())], body);
    let server = ModelServer::start([busy]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.resize(80, 24).await;
    nvim.command("AgentAsk do something").await;
    nvim.screen.shows("retry 2 of 2 in 50 s: ").await;
    nvim.screen.shows("… · ").await;
    let screen = nvim.screen.text();
    let bar = screen.lines().find(|row| row.starts_with(" retry 2 of 2 in 50 s: ")).unwrap_or_default();
    assert!(bar.trim_end().ends_with(" s in all") && !bar.contains('<'), "{screen}");
    nvim.failed_task("AgentStop").await;
}

/// The recipes of the help, as they stand there. lualine.nvim itself is not at hand: its part is to call the component.
#[tokio::test(flavor = "multi_thread")]
async fn the_recipes_for_status_lines_show_what_a_task_waits_for() {
    let help = include_str!("../../../doc/sextant.txt");
    let recipes = help.split("lualine.nvim: >lua\n").nth(1).and_then(|rest| rest.split("\n<").next()).expect("recipes");
    let (line, lualine) = recipes.split_once('\n').expect("two recipes");
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into()), says("done")]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &[]).await;
    nvim.resize(80, 24).await;
    nvim.command("set laststatus=3").await;
    nvim.edit("a.py").await;
    let taken = "package.preload.lualine = function()
            return { setup = function(given) _G.component = given.sections.lualine_x[1] end }
        end";
    nvim.lua::<bool>(&format!("{line}\n{taken}\n{lualine}\nreturn true")).await;
    let name = if nvim.has("nvim-0.12").await { "a.py" } else { "" };
    assert!(status_row(&nvim).contains(name), "{}", nvim.screen.text());
    nvim.command("AgentAsk do something").await;
    server.requests_seen(1).await;
    nvim.screen.shows("waiting for the model").await;
    assert!(holds(&nvim, "_G.component():find('waiting for the model') ~= nil").await);
    nvim.command("call win_execute(bufwinid('sextant://answer'), 'close') | echo").await;
    while !status_row(&nvim).contains("2 s in all") {
        assert!(
            holds(&nvim, "true").await && nvim.lua::<f64>("return require('sextant').status().elapsed").await < 60.0
        );
    }
    assert!(status_row(&nvim).contains(name), "{}", nvim.screen.text());
    // At 80 columns all of it has its place beside the name, whatever else there is to tell.
    nvim.command("AgentAsk do another thing with a request that takes many words").await;
    assert!(holds(&nvim, "#require('sextant').status().next == 1").await);
    assert!(holds(&nvim, "vim.api.nvim_strwidth(require('sextant').statusline()) <= 40").await);
    nvim.command("redrawstatus!").await;
    let row = status_row(&nvim);
    let shown = row.find("waiting for the model").map(|at| row[at..].trim_end());
    assert!(row.contains(name) && shown.is_some_and(|line| !line.contains('<') && line.contains(" s in all")), "{row}");
    nvim.command("split | set laststatus=2 | vsplit").await;
    assert!(holds(&nvim, "vim.api.nvim_strwidth(require('sextant').statusline()) <= 20").await);
    nvim.command("only | set laststatus=3").await;
    nvim.command("AgentStop next").await;
    nvim.failed_task("AgentStop").await;
    assert!(holds(&nvim, "_G.component() == ''").await);
}

fn status_row(nvim: &Nvim) -> String {
    let text = nvim.screen.text();
    let rows: Vec<&str> = text.lines().collect();
    rows[rows.len() - 2].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_the_answer_leads_to_its_code() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let server = ModelServer::start([says("See `a.py::Cart::total`, then b.py.")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "b.py").await;
    nvim.task("AgentAsk what is where").await;
    nvim.command("AgentShow").await;
    nvim.keys("gg/Cart::<CR>").await;
    nvim.keys("<CR>").await;
    assert!(holds(&nvim, "vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'a.py'").await, "{}", nvim.screen.text());
    assert_eq!(nvim.lua::<Vec<usize>>("return vim.api.nvim_win_get_cursor(0)").await, [6, 8]);
    nvim.keys("<C-o>").await;
    assert!(
        holds(&nvim, "vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'b.py'").await,
        "the jumplist has the way back"
    );
    // A closed answer comes back, and nothing is asked from it by accident.
    nvim.command("call win_gotoid(bufwinid('sextant://answer')) | close").await;
    nvim.command("AgentShow").await;
    assert!(holds(&nvim, "vim.api.nvim_buf_get_name(0) == 'sextant://answer'").await);
    nvim.keys("G1G").await;
    assert_eq!(nvim.lua::<usize>("return vim.fn.line('.')").await, 1, "at rest a number is a count");
    server.push(says("And so on."));
    nvim.keys_show("i", "Ask about ").await;
    nvim.keys("and then?<CR>").await;
    nvim.finished().await;
    assert!(server.requests().last().unwrap().body.to_string().contains("and then?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_keeps_half_of_the_screen_and_an_empty_list_goes() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = |old: &str, new: &str| step("edit_file", change("a.py", old, new), false);
    let server = ModelServer::start([edit("return 1", "return undefined_name")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("let g:code = win_getid()").await;
    nvim.task("AgentAsk! change f").await;
    let list = "require('sextant.ui.room').list_window()";
    assert!(holds(&nvim, &format!("{list} ~= nil")).await);
    assert_eq!(nvim.lua::<usize>(&format!("return vim.api.nvim_win_get_height({list})")).await, 3);
    let code: usize = nvim.lua("return vim.api.nvim_win_get_height(vim.g.code)").await;
    assert!(code >= 12, "{code} of 24\n{}", nvim.screen.text());
    nvim.task("AgentUndo").await;
    assert!(holds(&nvim, &format!("{list} == nil")).await, "{}", nvim.screen.text());
    let here: usize = nvim.lua("return vim.g.code - vim.api.nvim_get_current_win()").await;
    assert_eq!(here, 0, "the focus stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_the_user_closed_stays_closed_until_a_task_introduces_more() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = |old: &str, new: &str| step("edit_file", change("a.py", old, new), false);
    let server = ModelServer::start([edit("return 1", "return undefined_name")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f").await;
    let list = "require('sextant.ui.room').list_window()";
    assert!(holds(&nvim, &format!("{list} ~= nil")).await);
    nvim.command("cclose").await;
    nvim.task("AgentUndo").await;
    assert!(holds(&nvim, "#vim.fn.getqflist() == 0").await);
    nvim.task("AgentRedo").await;
    assert!(holds(&nvim, "#vim.fn.getqflist() == 1").await);
    assert!(nvim.lua::<bool>(&format!("return {list} == nil")).await, "{}", nvim.screen.text());
    server.push(edit("return 2", "return another_name"));
    nvim.task("AgentAsk! change total").await;
    assert!(holds(&nvim, &format!("{list} ~= nil")).await, "{}", nvim.screen.text());
    // Sextant closed an empty list itself: the redo opens it again.
    nvim.task("AgentUndo").await;
    assert!(holds(&nvim, &format!("{list} == nil")).await, "{}", nvim.screen.text());
    nvim.task("AgentRedo").await;
    assert!(holds(&nvim, &format!("{list} ~= nil")).await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn short_names_and_an_operator_do_what_the_commands_do() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("one"), says("two"), says("three")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("Agent ask explain it").await;
    assert!(server.requests().last().unwrap().body.to_string().contains("explain it"));
    let names: Vec<String> = nvim.lua("return vim.fn.getcompletion('Agent un', 'cmdline')").await;
    assert_eq!(names, ["undo"]);
    nvim.command("nmap gs <Plug>(sextant-ask)").await;
    nvim.keys_show("gggs2j", "Ask about a.py, lines 1 to 3:").await;
    nvim.keys("look at this<CR>").await;
    nvim.finished().await;
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("look at this"), "{asked}");
    nvim.keys("6G.").await;
    nvim.finished().await;
    let again = server.requests().last().unwrap().body.to_string();
    assert!(again.contains("look at this") && again != asked, "`.` asks the same about another text");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_files_and_codes_are_completed_in_a_request() {
    let text = "import os\n\n\nclass Cart:\n    \"\"\"Tots up what is in it.\"\"\"\n\n    def total(self) -> int:\n        \
                total_of = 1\n        return total_of\n";
    let closed = "class Basket:\n    def weight(self) -> int:\n        return 1\n";
    let project = Project::new(&[("a.py", text), ("pkg/b.py", "x = 1\n"), ("pkg/c.py", closed)]);
    let nvim = Nvim::open(&project, "{}", &["ruff"], "pkg/b.py").await;
    nvim.edit("a.py").await;
    assert!(holds(&nvim, "#vim.diagnostic.get(0) == 1").await);
    nvim.greeted().await;
    for (typed, offered) in [
        ("AgentAsk explain @tot", &["@total"][..]),
        ("AgentAsk! fix @Cart.to", &["@Cart.total"]),
        ("AgentAsk explain @Tots", &[]),
        ("AgentAsk explain @ret", &[]),
        // Symbols of a file without a buffer.
        ("AgentAsk explain @wei", &["@weight"]),
        ("AgentAsk explain @weig", &["@weight"]),
        ("AgentAsk explain @Basket.", &["@Basket.weight"]),
        ("AgentApply a.py::Cart::", &["a.py::Cart::total"]),
        ("AgentPlan split @pkg/", &["@pkg/b.py", "@pkg/c.py"]),
        ("Agent ask fix #", &["#F401"]),
        ("AgentAsk fix tot", &[]),
    ] {
        let found: Vec<String> = nvim.lua(&format!("return vim.fn.getcompletion('{typed}', 'cmdline')")).await;
        assert_eq!(found, offered, "{typed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_ends_without_an_answer_of_the_process() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("one")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.task("AgentAsk say one").await;
    let send = |signal: &str| {
        format!(
            "return vim.system({{ 'pkill', '-{signal}', '-P', tostring(vim.uv.os_getpid()), '-f', 'sextant nvim' }}):wait().code"
        )
    };
    assert_eq!(nvim.lua::<i64>(&send("STOP")).await, 0);
    let found: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentAsk fix @', 'cmdline')").await;
    assert_eq!(found, ["@a.py"], "the files are known without it");
    assert_eq!(nvim.lua::<i64>(&send("CONT")).await, 0);
    let found: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentAsk fix @', 'cmdline')").await;
    assert!(found.contains(&"@f".to_owned()), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_of_the_plugins_own_folder_is_found() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::start(&project, "{}", &[]).await;
    let first: String = nvim.lua("return require('sextant.rpc.channel').candidates({})[1]").await;
    assert_eq!(first, concat!(env!("CARGO_MANIFEST_DIR"), "/target/release/sextant"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_undoes_and_shows_what_stands_afterwards() {
    let project = Project::new(&[("a.py", TEXT)]);
    let change = change("a.py", "return 1", "return 11");
    let server = ModelServer::start([step("edit_file", change, false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk change f").await;
    nvim.command_shows("AgentHistory", "“change f” ← undo").await;
    nvim.keys("u").await;
    nvim.finished().await;
    nvim.screen.shows("“change f” (undone)").await;
    assert_eq!(project.read("a.py"), TEXT);
    nvim.keys("r").await;
    nvim.finished().await;
    nvim.screen.shows("“change f” ← undo").await;
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_the_history_act_on_the_work_under_the_cursor() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = |old: &str, new: &str| step("edit_file", change("a.py", old, new), false);
    let server = ModelServer::start([edit("return 1", "return 11"), edit("return 2", "return 22")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    for request in ["AgentAsk! change f", "AgentAsk! change total"] {
        nvim.task(request).await;
    }
    let lines = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
    for (row, key, name, holds_text) in [
        ("change f", "d", "diff", "+    return 11"),
        ("step 1: a.py::f", "d", "diff", "+    return 11"),
        ("change total", "d", "diff", "+        return 22"),
        ("change f", "t", "trace", "change f"),
        ("change total", "t", "trace", "change total"),
    ] {
        nvim.command("AgentHistory").await;
        assert!(
            holds(&nvim, &format!("vim.fn.bufname() == 'sextant://history' and vim.fn.search('{row}', 'w') > 0")).await
        );
        nvim.keys(key).await;
        let page = format!("vim.fn.bufname() == 'sextant://{name}' and {lines}:find('{holds_text}', 1, true) ~= nil");
        assert!(holds(&nvim, &page).await, "{row} {key}\n{}", nvim.screen.text());
        nvim.keys("q").await;
        let back =
            format!("vim.fn.bufname() == 'sextant://history' and vim.fn.getline('.'):find('{row}', 1, true) ~= nil");
        assert!(holds(&nvim, &back).await, "{row} {key}\n{}", nvim.screen.text());
    }
    nvim.command("AgentHistory").await;
    assert!(holds(&nvim, "vim.fn.bufname() == 'sextant://history'").await);
    nvim.keys_show("ggd", "no task is on this line").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_words_asks_for_them_and_names_its_scope() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("one"), says("two")]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    for (command, prompt) in [
        ("AgentAsk", "Ask about a.py, line 1:"),
        ("1,2AgentAsk", "Ask about a.py, lines 1 to 2:"),
        ("AgentAsk!", "Ask about the workspace:"),
    ] {
        nvim.keys(&format!("gg:{command}<CR>")).await;
        nvim.screen.shows(prompt).await;
        nvim.keys("<Esc>").await;
        nvim.screen.hides(prompt).await;
    }
    nvim.keys(":AgentAsk<CR>").await;
    nvim.screen.shows("Ask about a.py, line 1:").await;
    nvim.keys("explain the first<CR>").await;
    nvim.finished().await;
    assert!(server.requests()[0].body.to_string().contains("explain the first"));
    nvim.command("AgentShow").await;
    nvim.keys("i").await;
    nvim.screen.shows("Ask about a.py, line 1:").await;
    nvim.keys("and then<CR>").await;
    nvim.finished().await;
    assert!(nvim.answer().await.contains("# explain the first"), "it goes on with the conversation");
}

#[tokio::test(flavor = "multi_thread")]
async fn u_in_the_history_takes_back_the_step_under_the_cursor() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = |old: &str, new: &str, more: bool| step("edit_file", change("a.py", old, new), more);
    let script = [
        edit("return 1", "return 11", false),
        edit("return 11", "return 111", true),
        edit("return 2", "return 22", false),
        edit("return 22", "return 222", false),
    ];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f").await;
    nvim.task("AgentAsk! change both").await;
    nvim.command("AgentHistory").await;
    let at = |row: &str| {
        format!("vim.fn.bufname() == 'sextant://history' and vim.fn.cursor(1, 1) == 0 and vim.fn.search('{row}') > 0")
    };
    assert!(holds(&nvim, &at("“change f”")).await);
    nvim.keys_show("u", "takes back the task marked with undo").await;
    // The page is of before this task, whose step is not the one under the cursor: out of the page, it is not made again.
    nvim.command("call win_gotoid(win_findbuf(bufnr('a.py'))[0])").await;
    nvim.task("AgentAsk! change g").await;
    nvim.command("call win_gotoid(win_findbuf(bufnr('sextant://history'))[0])").await;
    assert!(holds(&nvim, &at("step 1: a.py::f")).await);
    nvim.keys("u").await;
    let undone = nvim.finished().await;
    assert!(undone.starts_with("undone step 1 of “change both”"), "{undone}");
    let text = project.read("a.py");
    assert!(text.contains("return 11\n") && text.contains("return 222"), "{text}");
}
