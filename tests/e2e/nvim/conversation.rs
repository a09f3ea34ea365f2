//! Talking with the agent: answers by key and in words, requests that wait or steer, conversations that go on.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::scripted::calls;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn edit(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

fn run(command: &[&str]) -> Reply {
    step("run_command", json!({"command": command}), true)
}

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

fn last_prompt(server: &ModelServer) -> String {
    server.requests().last().expect("a request").body.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_a_number_in_the_window_or_in_words() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([run(&["touch", "made"]), run(&["touch", "other"]), says("done")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk run it", "SextantQuestion").await;
    nvim.command("AgentShow").await;
    assert!(holds(&nvim, "require('sextant').status().state == 'question'").await);
    let shown = nvim.answer().await;
    let first = shown.lines().find(|line| line.starts_with("  1. ")).expect("an option");
    nvim.keys("1").await;
    nvim.wait("SextantQuestion").await;
    assert!(project.root().join("made").exists());
    nvim.answered(&format!("> {}", first.trim())).await;
    let offered: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentAnswer ', 'cmdline')").await;
    assert!(offered[0].starts_with("1 ") && offered.len() == 3, "{offered:?}");
    nvim.task("AgentAnswer use the file that is there").await;
    assert!(!project.root().join("other").exists(), "words are no consent");
    assert!(last_prompt(&server).contains("use the file that is there"), "{}", last_prompt(&server));
    nvim.answered("> use the file that is there").await;
    // Without a question and at rest, a number is a count.
    nvim.keys("gg2j").await;
    assert_eq!(nvim.lua::<usize>("return vim.fn.line('.')").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_for_a_consent_shows_what_would_be_written() {
    let project = Project::new(&[("a.py", TEXT), ("conftest.py", "import os\n")]);
    let write = step("write_file", json!({"path": "conftest.py", "content": "import sys\n"}), true);
    let server = ModelServer::start([write, says("done")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk! set the tests up", "SextantQuestion").await;
    let shown = nvim.answered("+ import sys").await;
    assert!(shown.contains("```diff") && shown.contains("- import os"), "{shown}");
    nvim.screen.shows("1. ").await;
    nvim.task("AgentAnswer 3").await;
    nvim.answered("> 3. ").await;
    assert_eq!(project.read("conftest.py"), "import os\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_option_a_question_opens_a_list_once_nothing_is_typed() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([run(&["touch", "made"]), says("done")]).await;
    let with = options(&server).replacen('{', "{ questions = 'select', ", 1);
    let mut nvim = Nvim::on_screen(&project, &with, &["ruff"]).await;
    nvim.lua::<Value>(
        "vim.ui.select = function(items, _, choose) vim.g.offered = items; choose(items[1], 1) end
        return vim.empty_dict()",
    )
    .await;
    nvim.edit("a.py").await;
    nvim.task("AgentAsk run it").await;
    assert!(project.root().join("made").exists());
    let offered: Vec<String> = nvim.lua("return vim.g.offered").await;
    assert_eq!(offered.last().map(String::as_str), Some("answer in words …"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_for_the_running_task_and_can_be_taken_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([run(&["touch", "made"]), says("first done"), says("second done")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk do the first", "SextantQuestion").await;
    nvim.command("AgentAsk do the second").await;
    nvim.command_shows("AgentAsk do the third", "next: do the second and 1 more").await;
    nvim.command("AgentStop next").await;
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("do the third"));
    assert!(holds(&nvim, "#require('sextant').status().next == 1").await);
    nvim.task("AgentAnswer 3").await;
    assert_eq!(nvim.wait("SextantStarted").await["request"], "do the second");
    nvim.finished().await;
    let answer = nvim.answered("second done").await;
    let (first, second) = answer.split_once("# do the second").expect("both turns");
    assert!(first.starts_with("# do the first") && first.contains("first done"), "nobody has read it: {answer}");
    assert!(second.contains("second done"), "{answer}");
    assert_eq!(server.requests().len(), 3, "what was taken back is not asked");
    assert!(holds(&nvim, "#require('sextant').status().next == 0").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_takes_waiting_requests_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk do the first").await;
    server.requests_seen(1).await;
    nvim.command_shows("AgentAsk do the second", "next: do the second").await;
    nvim.command("AgentStop").await;
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("do the second"));
    nvim.failed().await;
    assert!(holds(&nvim, "require('sextant').status().state == 'idle'").await);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_bang_steers_the_running_task() {
    let project = Project::new(&[("a.py", TEXT)]);
    let replies = [run(&["touch", "made"]), edit("return 1", "return 11", true), says("done")];
    let server = ModelServer::start(replies).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk change f", "SextantQuestion").await;
    nvim.command("AgentAsk! and keep the name").await;
    nvim.answered("for the running task: and keep the name").await;
    nvim.task("AgentAnswer 3").await;
    let heard = server.requests()[1].body.to_string();
    assert!(heard.contains("The user adds, while you work: and keep the name"), "{heard}");
    assert_eq!(server.requests().len(), 3, "no task of its own began");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_for_the_running_task_stand_above_the_words_that_come() {
    let project = Project::new(&[("a.py", TEXT)]);
    let begun = r#"{"action": null, "continue": false, "answer": "Like so:\n```python\ndef f(coup"#;
    let server = ModelServer::start([Reply::Stall(begun.into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk what does f return?").await;
    nvim.answered("def f(coup").await;
    nvim.command("AgentAsk! and keep the name").await;
    let answer = nvim.answered("for the running task: and keep the name").await;
    assert!(answer.trim_end().ends_with("Like so:\n```python\ndef f(coup"), "{answer}");
    nvim.failed_task("AgentStop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_on_gives_the_model_the_conversation_and_asking_anew_does_not() {
    let project = Project::new(&[("a.py", TEXT)]);
    let look = step("read_symbol", json!({"symbol": "a.py::g"}), true);
    let server = ModelServer::start([look, says("g returns two"), says("as I said"), says("something else")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk what does g return").await;
    nvim.command("AgentShow").await;
    nvim.keys_show("i", "Ask about ").await;
    nvim.keys("are you sure<CR>").await;
    nvim.finished().await;
    let asked = server.requests()[2].said_by("user").to_owned();
    for part in ["The user asked: what does g return", "read_symbol ok: ", "You answered: g returns two"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let window = nvim.answered("as I said").await;
    assert!(window.starts_with("# what does g return") && window.contains("\n# are you sure\n"), "{window}");
    nvim.task("call win_gotoid(win_getid(1)) | AgentAsk something else").await;
    let asked = server.requests()[3].said_by("user").to_owned();
    assert!(!asked.contains("The conversation so far"), "{asked}");
    assert!(nvim.answered("something else").await.starts_with("# something else"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_of_another_neovim_is_found_and_goes_on() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("it is round"), says("other"), says("still round")]).await;
    let mut first = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    first.task("AgentAsk what shape is the moon").await;
    first.task("AgentAsk what is the time").await;
    drop(first);
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_shows("AgentLog", "1 turn    what is the time").await;
    nvim.command_shows("AgentLog moon round", "with “moon round”").await;
    assert!(!nvim.screen.text().contains("what is the time"), "{}", nvim.screen.text());
    nvim.keys("<CR>").await;
    assert!(nvim.answered("it is round").await.starts_with("# what shape is the moon"));
    assert!(holds(&nvim, "vim.api.nvim_buf_get_name(0) == 'sextant://answer'").await);
    nvim.keys_show("i", "Ask about ").await;
    nvim.keys("and today?<CR>").await;
    nvim.finished().await;
    assert!(last_prompt(&server).contains("You answered: it is round"), "{}", last_prompt(&server));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_from_lua_calls_back_at_its_end_or_when_it_is_taken_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("it is so"), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    let ask = |text: &str| {
        format!(
            "vim.g.result = nil
            require('sextant').ask({{ text = '{text}', range = {{ 1, 2 }},
              callback = function(result) vim.g.result = result end }})
            return vim.empty_dict()"
        )
    };
    nvim.lua::<Value>(&ask("explain this")).await;
    assert!(holds(&nvim, "(vim.g.result or {}).ok == true").await, "{}", nvim.answer().await);
    nvim.finished().await;
    assert!(server.requests()[0].said_by("user").contains("a.py::f"), "the range is meant");
    nvim.command("AgentAsk wait").await;
    server.requests_seen(2).await;
    nvim.lua::<Value>(&ask("do the next")).await;
    nvim.screen.shows("next: do the next").await;
    nvim.command("AgentStop next").await;
    assert!(holds(&nvim, "(vim.g.result or {}).failure ~= nil").await);
    let result: Value = nvim.lua("return vim.g.result").await;
    assert_eq!(result["failure"]["kind"], "cancelled", "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_check_does_the_handshake_and_names_each_fix() {
    let project = Project::new(&[("a.py", TEXT)]);
    let with = "{ model = { provider = 'openai_compatible', model = 'm', base_url = 'http://127.0.0.1:9/v1' } }";
    let nvim = Nvim::open_on_screen(&project, with, &["basedpyright"], "a.py").await;
    assert!(holds(&nvim, "#vim.lsp.get_clients() == 1 and vim.lsp.get_clients()[1].initialized").await);
    nvim.command("checkhealth sextant").await;
    let health: String = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    for part in [
        "handshake done in ",
        "127.0.0.1:9 cannot be reached",
        "start the server, or correct `model.base_url` in setup()",
        "basedpyright (in 1 buffer): ",
        "memory and undo: ",
        "grammar markdown",
    ] {
        assert!(health.contains(part), "{part}: {health}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_opened_again_shows_its_calls_and_the_words_that_steered_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let look = step("read_symbol", json!({"symbol": "a.py::g"}), true);
    let replies = [look, run(&["touch", "made"]), edit("return 1", "return 11", true), says("f is changed")];
    let server = ModelServer::start(replies).await;
    let mut first = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    first.command_until("AgentAsk change f", "SextantQuestion").await;
    first.command("AgentAsk! and keep the name").await;
    first.answered("for the running task: and keep the name").await;
    first.task("AgentAnswer 3").await;
    let ran = first.answered("f is changed").await;
    let said = |window: &str| -> Vec<String> {
        let is_shown = |line: &&str| {
            line.starts_with(|first: char| first.is_ascii_digit())
                || line.starts_with("… for")
                || line.starts_with("# ")
        };
        window.lines().filter(is_shown).map(str::to_owned).collect()
    };
    drop(first);
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_shows("AgentShow", "no answer here yet; `:AgentLog` lists earlier ones").await;
    nvim.command_shows("AgentLog", "1 turn    change f").await;
    nvim.keys("<CR>").await;
    let again = nvim.answered("f is changed").await;
    assert_eq!(said(&again), said(&ran), "{again}");
    for part in ["1. read_symbol a.py::g\n   ", "… for the running task: and keep the name", "3. edit_file a.py\n   "]
    {
        assert!(again.contains(part), "{part}: {again}");
    }
    assert_eq!(again.matches("f is changed").count(), 1, "{again}");
    // It goes on, and the next request is below.
    server.push(says("yes"));
    nvim.keys_show("i", "Ask about ").await;
    nvim.keys("are you sure<CR>").await;
    nvim.finished().await;
    let window = nvim.answered("\nyes").await;
    assert!(window.starts_with(again.trim_end()), "{window}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_asked_again_with_its_scope_and_mode() {
    let project = Project::new(&[("a.py", TEXT)]);
    let wide = edit("return 2", "return 22", true);
    let script = [edit("return 1", "return 11", false), wide, says("left g alone")];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk change it").await;
    nvim.command("normal! G").await;
    nvim.command_shows("AgentLog", "1 turn    change it").await;
    nvim.keys("a").await;
    assert_eq!(nvim.wait("SextantStarted").await["mode"], "simple");
    nvim.finished().await;
    let window = nvim.answered("left g alone").await;
    assert!(window.starts_with("# change it") && window.contains("✗"), "{window}");
    assert!(server.requests()[1].said_by("user").contains("a.py::f"), "the scope of before");
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
    // A plan, from the history.
    let plan = || {
        let step = json!({"title": "change g", "symbols": ["a.py::g"], "because": "asked", "expect": "changed"});
        Reply::Json(json!({"title": "One change", "reason": "asked", "steps": [step], "confidence": 1}))
    };
    [plan(), edit("return 2", "return 22", false), plan()].into_iter().for_each(|reply| server.push(reply));
    nvim.command("AgentMode supervised").await;
    nvim.command_until("wincmd t | only | AgentPlan make g larger", "SextantPlan").await;
    nvim.keys("a").await;
    nvim.finished().await;
    nvim.command("AgentMode planner").await;
    nvim.command_shows("wincmd t | only | AgentHistory", "“make g larger” ← undo").await;
    nvim.keys("a").await;
    assert_eq!(nvim.wait("SextantStarted").await["mode"], "supervised");
    let event = nvim.wait("SextantPlan").await;
    assert_eq!(event["phase"], "waiting for approval", "{event}");
    assert!(nvim.screen.text().contains("make g larger"), "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_cannot_be_read_is_kept_for_the_trace_as_the_model_wrote_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let broken = || calls("I edit.", &[("edit_file", json!({"pth": "a.py"}))]);
    let server = ModelServer::start([broken(), broken(), broken()]).await;
    let with = options(&server).replacen("model = 'm'", "model = 'm', style = 'conversation', context = 64000", 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
    let summary = nvim.task("AgentAsk change f").await;
    assert!(summary.contains("`:AgentTrace` shows the reply"), "{summary}");
    nvim.command("AgentTrace").await;
    assert!(holds(&nvim, "vim.api.nvim_buf_get_name(0) == 'sextant://trace'").await);
    let page: String = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    assert!(page.contains("    edit_file {\"pth\":\"a.py\"}"), "{page}");
}

async fn offered(nvim: &Nvim, line: &str) -> Vec<String> {
    nvim.lua(&format!("return vim.fn.getcompletion('{line}', 'cmdline')")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_is_completed_with_the_words_of_requests() {
    let project = Project::new(&[("a.py", TEXT)]);
    let script = [edit("return 1", "return 11", false), edit("return 2", "return 22", false)];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! make f larger").await;
    nvim.task("AgentAsk! enlarge").await;
    let all = offered(&nvim, "AgentUndo ").await;
    let at = |word: &str| all.iter().position(|known| known == word);
    assert!(at("task").is_some() && at("\"enlarge\"") < at("make f larger") && at("\"enlarge\"").is_some(), "{all:?}");
    assert_eq!(offered(&nvim, "AgentUndo f lar").await, Vec::<String>::new(), "the line replaces the last word alone");
    assert_eq!(offered(&nvim, "AgentUndo larg").await, ["\"enlarge\"", "make f larger"]);
    assert_eq!(offered(&nvim, "AgentUndo make f l").await, ["larger"]);
    assert_eq!(offered(&nvim, "AgentDiff larg").await, Vec::<String>::new());
    assert_eq!(offered(&nvim, "AgentDiff g").await, ["g"]);
    nvim.task("AgentUndo make f larger").await;
    assert_eq!(project.read("a.py"), TEXT.replace("return 2", "return 22"));
    assert!(!offered(&nvim, "AgentUndo ").await.contains(&"make f larger".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_check_names_the_cause_first_and_nothing_that_follows_from_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    for (options, first, not) in [
        (
            "{ model = { provider = 'openai', model = 'm', base_url = 'http://127.0.0.1:9/v1', api_key_env = 'NO_KEY_HERE' } }",
            "ERROR model: no key, $NO_KEY_HERE is not set\n  - ADVICE:\n    - set NO_KEY_HERE in the environment",
            "the handshake failed",
        ),
        (
            "{ model = { provider = 'openia', model = 'm' } }",
            "ERROR the handshake failed: the option `model` cannot be used: unknown variant `openia`",
            "model: nil",
        ),
        (
            "{ commands = { { name = 'x', command = { './x' }, format = 'sarif' } } }",
            "ERROR the handshake failed: the options cannot be read: the command x: its program is a relative path; \
             give a name or an absolute path\n  - ADVICE:\n    - see :help",
            "cargo build",
        ),
        (
            "{ mode = 'plannr' }",
            "ERROR setup(): option `mode` is \"plannr\" and must be one of planner, supervised; did you mean `planner`?",
            "handshake failed",
        ),
    ] {
        let nvim = Nvim::open(&project, options, &[], "a.py").await;
        nvim.command("checkhealth sextant").await;
        let health: String = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
        let error = health.find("ERROR ").map(|at| &health[at..]).unwrap_or_default();
        assert!(error.starts_with(first) && !health.contains(not), "{first}: {health}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bar_shortens_the_request_that_waits_before_anything_else() {
    let project = Project::new(&[("a.py", TEXT)]);
    let look = step("read_symbol", json!({"symbol": "a.py::g"}), true);
    let server = ModelServer::start([look, Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &[], "a.py").await;
    nvim.command("AgentAsk look").await;
    server.requests_seen(2).await;
    nvim.command("AgentAsk and what does the total of it do here?").await;
    nvim.screen.shows("next: and what").await;
    nvim.screen.shows(" tokens").await;
    let bar = |row: &&str| row.contains("next: ");
    let text = nvim.screen.text();
    let row = text.lines().find(bar).unwrap_or_default();
    assert!(
        row.contains(" s in all · next: and") && row.trim_end().ends_with("tokens") && !row.contains('<'),
        "{text}"
    );
    nvim.command("AgentStop next").await;
    nvim.failed_task("AgentStop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_cannot_be_used_are_counted_in_the_answer() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start((0..6).map(|_| Reply::Text("I would change f.".into()))).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    let summary = nvim.task("AgentAsk change f").await;
    assert!(summary.contains("gave up after 3 errors in a row"), "{summary}");
    let answer = nvim.answer().await;
    assert!(!answer.contains("retry 2 of"), "nothing is tried four times: {answer}");
    assert_eq!(answer.matches("… asking again: ").count(), 3, "{answer}");
    let [one, two] = ["… error 1 of 3 in a row: no usable reply", "… error 2 of 3 in a row: no usable reply"];
    assert!(answer.find(one) < answer.find(two) && answer.contains(one), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_call_in_the_words_of_a_model_with_tools_is_an_unusable_reply() {
    let project = Project::new(&[("a.py", TEXT)]);
    let broken = || Reply::Text("{\"tool\": \"edit_symbol\", \"arguments\": {\"symbol\": 12,,,".into());
    let server = ModelServer::start((0..6).map(|_| broken())).await;
    let with = options(&server).replacen("model = 'm'", "model = 'm', style = 'conversation', context = 64000", 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
    let summary = nvim.task("AgentAsk change f").await;
    assert!(summary.contains("the call of edit_symbol is not whole JSON"), "{summary}");
    assert!(summary.contains("`:AgentTrace` shows the reply"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_reopened_conversation_is_in_sight_and_stands_there_once() {
    let project = Project::new(&[("a.py", TEXT)]);
    let offline = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";
    let mut first = Nvim::open_on_screen(&project, offline, &["ruff"], "a.py").await;
    first.task("AgentAsk explain f").await;
    let said = "This is a question.";
    first.answered(said).await;
    drop(first);
    let nvim = Nvim::open_on_screen(&project, offline, &["ruff"], "a.py").await;
    nvim.command_shows("AgentLog", "1 turn    explain f").await;
    nvim.keys("<CR>").await;
    let again = nvim.answered(said).await;
    for words in [said, "needs a language model"] {
        assert_eq!(again.matches(words).count(), 1, "{again}");
    }
    // The list has done its work, and leaves the conversation its room.
    let rows = "vim.fn.bufwinid('sextant://log') == -1 and vim.fn.getwininfo(vim.fn.win_getid())[1].height >= 8";
    assert!(holds(&nvim, rows).await, "{}", nvim.screen.text());
    // The last row of the window has words.
    assert!(holds(&nvim, "vim.api.nvim_buf_get_name(0) == 'sextant://answer'").await);
    let last = "vim.fn.getline('.') ~= '' and vim.fn.getline(vim.fn.line('w$')) ~= ''";
    assert!(holds(&nvim, last).await, "{}", nvim.screen.text());
}

/// The lines of a conversation without the blank ones, and without those that hold only while it runs.
fn lasting(window: &str) -> Vec<String> {
    let is_kept = |line: &&str| !line.trim().is_empty() && !line.contains(":AgentAnswer with a number");
    window.lines().filter(is_kept).map(|line| line.trim_end().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_opened_again_shows_its_questions_their_answers_and_its_outcome() {
    let project = Project::new(&[("a.py", TEXT)]);
    let ask = calls("I ask.", &[("ask_user", json!({"question": "Which one do you mean?", "options": ["f", "g"]}))]);
    let run = |name: &str| calls("I run it.", &[("run_command", json!({"command": ["touch", name]}))]);
    let edit = calls("I change f.", &[("edit_file", change("a.py", "return 1", "return 11"))]);
    let server = ModelServer::start([ask, run("made"), run("other"), edit, says("It is done.")]).await;
    let with = options(&server).replacen("model = 'm'", "model = 'm', style = 'conversation', context = 64000", 1);
    let mut first = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
    first.command_until("AgentAsk change it", "SextantQuestion").await;
    first.command_until("AgentAnswer 1", "SextantQuestion").await;
    first.command_until("AgentAnswer 1", "SextantQuestion").await;
    let live = first.answered("Run `touch other`").await;
    // The result of the command stands below the answer, in sight.
    assert!(live.contains("> 1. run it once\n   touch made: exit status 0"), "{live}");
    first.task("AgentAnswer not this one").await;
    let ran = first.answered("changed a.py").await;
    for part in ["? Which one do you mean?", "> 1. f", "> 1. run it once", "> not this one"] {
        assert!(ran.contains(part), "{part}: {ran}");
    }
    drop(first);
    let nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
    nvim.command_shows("AgentLog", "1 turn    change it").await;
    nvim.keys("<CR>").await;
    let again = nvim.answered("tokens in 5 calls").await;
    assert_eq!(lasting(&again), lasting(&ran), "{again}");
}
