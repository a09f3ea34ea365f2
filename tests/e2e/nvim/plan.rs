//! `:AgentPlan`: the floating window, its states, approve, stop, close.

use serde_json::{Value, json};

use crate::nvim::ask::{BOTH, options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const OPTIONS: &str = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";

async fn document(nvim: &Nvim) -> String {
    let lines: Vec<String> =
        nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown_approved_run_and_rolled_back() {
    let project = Project::shop();
    let before = project.bytes();
    let mut nvim = Nvim::open(&project, OPTIONS, BOTH, "src/shop/inventory.py").await;
    nvim.command_until("AgentPlan make this file type-clean", "SextantPlan").await;
    let plan = document(&nvim).await;
    assert!(plan.starts_with("# ") && plan.contains("\n- [ ] "), "{plan}");
    assert!(plan.contains("  - symbols: `src/shop/inventory.py::Inventory::take`"), "{plan}");
    assert!(plan.contains("  - because: ") && plan.contains("  - expect: "), "{plan}");
    let window: Value =
        nvim.lua("local c = vim.api.nvim_win_get_config(0); return { c.relative, vim.bo.modifiable }").await;
    assert_eq!(window, json!(["editor", false]), "the cursor is in the floating window");
    assert_eq!(project.bytes(), before, "a plan changes nothing");
    let status: String = nvim.lua("return require('sextant.ui.show').status").await;
    assert_eq!(status, "idle", "it waits for the user");

    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("4 of 4 steps done"), "{summary}\n{}", document(&nvim).await);
    let done = document(&nvim).await;
    assert_eq!(done.matches("- [x] ").count(), 4, "{done}");
    assert!(done.contains("  - outcome: 1 fixed, 0 new"), "{done}");
    assert!(!project.read("src/shop/inventory.py").contains("import os"));

    nvim.keys("q").await;
    let closed: bool = nvim.lua("return vim.api.nvim_win_get_config(0).relative == ''").await;
    assert!(closed, "q closes the window");
    nvim.command("AgentPlan").await;
    let again: bool = nvim.lua("return vim.api.nvim_win_get_config(0).relative == 'editor'").await;
    assert!(again, "without text the last plan is shown again");

    nvim.task("AgentUndo").await;
    assert_eq!(project.bytes(), before, "the whole plan is rolled back byte for byte");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_that_adds_an_import_is_planned_with_the_module_level() {
    let project = Project::shop();
    let mut nvim = Nvim::open(&project, OPTIONS, BOTH, "src/shop/report.py").await;
    nvim.command_until("AgentPlan make this file type-clean", "SextantPlan").await;
    let plan = document(&nvim).await;
    assert!(plan.contains("  - symbols: `src/shop/report.py::Report::to_json`, `src/shop/report.py`"), "{plan}");
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("3 of 3 steps done") && summary.contains("0 new diagnostics, 4 fixed"), "{summary}");
    assert!(project.read("src/shop/report.py").contains("import json\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_confines_a_plan_to_the_symbol_around_it() {
    let project = Project::shop();
    let mut nvim = Nvim::open(&project, OPTIONS, &["ruff"], "src/shop/inventory.py").await;
    let take = 1 + project.read("src/shop/inventory.py").lines().position(|line| line.contains("def take")).unwrap();
    nvim.command_until(&format!("{take},{}AgentPlan fix this", take + 1), "SextantPlan").await;
    let plan = document(&nvim).await;
    assert_eq!(plan.matches("- [ ] ").count(), 1, "{plan}");
    assert!(plan.contains("  - symbols: `src/shop/inventory.py::Inventory::take`"), "{plan}");
    nvim.keys("<CR>").await;
    let (_, edited) = nvim.wait_for(&["SextantEdited"]).await;
    assert_eq!(edited["symbols"], json!(["src/shop/inventory.py::Inventory::take"]));
    nvim.finished().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_step_at_a_time_leaves_the_rest_open() {
    let project = Project::shop();
    let mut nvim = Nvim::open(&project, OPTIONS, &["ruff"], "src/shop/inventory.py").await;
    nvim.command_until("AgentPlan clean this file", "SextantPlan").await;
    nvim.keys("s").await;
    nvim.finished().await;
    let plan = document(&nvim).await;
    assert_eq!((plan.matches("- [x] ").count(), plan.matches("- [ ] ").count()), (1, 3), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_cannot_be_made_leaves_the_plan_in_its_window() {
    let project = Project::shop();
    let mut nvim = Nvim::open(&project, OPTIONS, &["ruff"], "src/shop/inventory.py").await;
    nvim.command_until("AgentPlan clean this file", "SextantPlan").await;
    // The offline model changes no plan.
    nvim.failed_task("AgentPlan change: only one step").await;
    let plan = document(&nvim).await;
    assert!(plan.matches("- [ ] ").count() == 4 && plan.contains("✗ no usable plan came back"), "{plan}");
    assert!(!plan.contains("use another model"), "there is none: {plan}");
    nvim.command("close | AgentPlan").await;
    let plan = document(&nvim).await;
    assert_eq!(plan.matches("- [ ] ").count(), 4, "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_plan_keeps_its_finished_steps_and_its_open_ones() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n")]);
    let plan_step = |symbol: &str| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed"});
    let server = ModelServer::start([
        Reply::Json(json!({"title": "Two changes", "reason": "asked", "steps": [plan_step("f"), plan_step("g")], "confidence": 1})),
        step("edit_file", change("a.py", "return 1", "return 11"), false),
        Reply::Stall("{".into()),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    server.requests_seen(3).await;
    let failure = nvim.stopped_by_key().await;
    assert_eq!(failure["kind"], "cancelled", "{failure}");
    let plan = document(&nvim).await;
    assert!(plan.contains("- [x] change f") && plan.contains("- [ ] change g"), "{plan}");
    assert!(project.read("a.py").contains("return 11"));
    // It goes on where it was stopped.
    server.push(step("edit_file", change("a.py", "return 2", "return 22"), false));
    nvim.keys("<CR>").await;
    nvim.finished().await;
    assert!(document(&nvim).await.contains("- [x] change g"));
    nvim.task("AgentUndo").await;
    assert!(project.read("a.py").contains("return 1\n") && project.read("a.py").contains("return 2\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_does_not_fit_the_project_is_asked_again_and_then_refused() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let wrong = || {
        let step = json!({"title": "x", "symbols": ["a.py::nobody", "../b.py"], "because": "", "expect": ""});
        Reply::Json(json!({"title": "T", "reason": "", "steps": [step], "confidence": 1}))
    };
    let server = ModelServer::start([wrong(), wrong(), wrong()]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    let failure = nvim.failed_task("AgentPlan change it").await;
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("no single symbol nobody") && message.contains("outside the workspace"), "{failure}");
    assert!(server.requests()[1].said_by("user").contains("nobody"), "the model is told what does not fit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_outside_of_the_scope_is_marked_in_its_line_and_runs_with_the_approval() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let steps = json!([
        {"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"},
        {"title": "test it", "symbols": [], "creates": ["test_a.py"], "because": "asked", "expect": "tested"},
    ]);
    let written = json!({"path": "test_a.py", "content": "from a import f\n\nassert f() == 11\n"});
    let server = ModelServer::start([
        Reply::Json(json!({"title": "A change and its test", "reason": "asked", "steps": steps, "confidence": 1})),
        step("edit_file", change("a.py", "return 1", "return 11"), false),
        step("write_file", written, false),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change f", "SextantPlan").await;
    let plan = document(&nvim).await;
    assert_eq!(plan.matches("  - outside: `test_a.py`").count(), 1, "{plan}");
    let beside = "local out = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('sextant://plan'), -1, 0, -1, { details = true })) do
          for _, chunk in ipairs(mark[4].virt_text or {}) do
            if chunk[1]:find('outside the scope') then out[#out + 1] = vim.fn.getline(mark[2] + 1) end
          end
        end
        return out";
    let marked: Vec<String> = nvim.lua(beside).await;
    assert_eq!(marked, ["- [ ] test it"], "the mark is seen while the details are folded");
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("2 of 2 steps done") && project.read("test_a.py").contains("assert"), "{summary}");
    assert_eq!(nvim.lua::<Vec<String>>(beside).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_examines_edits_and_checks_and_is_changed_before_it_runs() {
    let text = "def f() -> int:\n    return \"one\"\n\n\ndef g() -> int:\n    return f()\n";
    let project = Project::new(&[("a.py", text)]);
    let examine = json!({"title": "Look at f", "kind": "examine", "symbols": ["a.py::f"], "because": "asked", "expect": "it is known"});
    let edit = json!({"title": "Return a number", "symbols": [], "because": "reportReturnType", "expect": "no error is left",
        "with": ["target = step1.symbol", "found = step1.output"],
        "check": ["reportReturnType gone", "no errors", "symbol a.py::f exists"]});
    let plan = |steps: &[Value]| {
        Reply::Json(json!({"title": "Make f right", "reason": "asked", "steps": steps, "confidence": 1}))
    };
    let server = ModelServer::start([plan(std::slice::from_ref(&examine)), plan(&[examine.clone(), edit])]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command_until("AgentPlan make f right", "SextantPlan").await;
    // `c` in the plan's window asks for words and hands them on with the plan.
    nvim.lua::<bool>("vim.ui.input = function(_, done) done('mend it as well') end return true").await;
    nvim.keys("c").await;
    nvim.wait("SextantPlan").await;
    assert!(server.requests()[1].said_by("user").contains("wants this changed in it: mend it as well"));
    let shown = document(&nvim).await;
    assert!(shown.contains("  - with: target = step1.symbol, found = step1.output"), "{shown}");
    assert!(shown.contains("  - check: reportReturnType gone\n  - check: no errors"), "{shown}");

    server.push(step("edit_file", change("a.py", "return \"one\"", "return 1"), false));
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    let done = document(&nvim).await;
    assert!(summary.contains("2 of 2 steps done") && summary.contains("1 fixed"), "{summary}\n{done}");
    assert!(done.contains("    - [x] see what is reported in a.py::f"), "{done}");
    let told = server.requests()[2].said_by("user").to_owned();
    assert!(told.contains("Input found:") && told.contains("error f:2 reportReturnType"), "{told}");
    assert!(told.contains("May edit: a.py::f, the imports of a.py\n"), "{told}");
    assert_eq!(project.read("a.py"), text.replace("\"one\"", "1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_is_edited_as_text_and_faults_stand_on_their_lines() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let project = Project::new(&[("a.py", text)]);
    let step = |symbol: &str| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed"});
    let plan = Reply::Json(
        json!({"title": "Two changes", "reason": "asked", "steps": [step("f"), step("g")], "confidence": 1}),
    );
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys_show("e", "makes this text the plan").await;
    nvim.screen.shows(":w makes it the plan · :q closes").await;
    assert!(!nvim.screen.text().contains("approve and run"), "{}", nvim.screen.text());
    assert!(!nvim.lua::<bool>("return vim.wo.linebreak").await, "it would split paths");
    nvim.keys("u").await;
    assert!(nvim.text().await.contains("- [ ] change f\n"), "there is nothing to undo yet: {}", nvim.text().await);
    // An unknown state is a fault, and the plan stays as it was.
    nvim.command("%s/\\[ \\] change f/[q] change f/ | write").await;
    let faulty = "return (vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 10))";
    assert!(nvim.lua::<bool>(faulty).await, "{}", nvim.screen.text());
    assert!(nvim.lua::<bool>("return vim.bo.modified").await, "the text is kept");
    let fault: String = nvim.lua("return vim.diagnostic.get(0)[1].message:sub(1, 30)").await;
    nvim.screen.shows(&format!("── {fault}")).await;
    nvim.screen.shows("Sextant: 1 fault; the plan stays as it was. Line 5: [q] is").await;
    nvim.command("%s/\\[q\\] change f/[ ] change f with care/").await;
    let document = nvim.command_until("write", "SextantPlan").await;
    assert!(document["markdown"].as_str().unwrap().contains("change f with care"), "{document}");
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    nvim.screen.shows("change f with care").await;
    nvim.screen.shows("<CR> approve and run").await;
    let here: String = nvim.lua("return vim.api.nvim_buf_get_name(0)").await;
    assert_eq!(here, "sextant://plan", "the plan has its window back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_the_user_writes_without_symbols_is_completed_from_its_words_or_the_scope() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let project = Project::new(&[("a.py", text), ("b.py", text)]);
    let step = json!({"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"});
    let plan = Reply::Json(json!({"title": "A change", "reason": "asked", "steps": [step], "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change f", "SextantPlan").await;
    nvim.keys_show("e", "makes this text the plan").await;
    let lines = "['- [ ] Explain `g()` in b.py', '- [ ] Add a comment', '- [ ] Write new.py']";
    nvim.command(&format!("call append(line('$'), {lines})")).await;
    let document = nvim.command_until("write", "SextantPlan").await;
    let markdown = document["markdown"].as_str().unwrap();
    for wanted in [
        "- [ ] Explain `g()` in b.py\n  - symbols: `b.py::g`\n",
        "- [ ] Add a comment\n  - symbols: `a.py` (whole file)\n",
        "- [ ] Write new.py\n  - creates: `new.py`\n",
        "- [ ] change f\n  - symbols: `a.py::f`\n",
    ] {
        assert!(markdown.contains(wanted), "{wanted}\n{markdown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_with_many_symbols_keeps_its_title_in_front() {
    let names = ["function_number_one", "function_number_two", "function_number_six", "function_number_ten"];
    let text: String = names.iter().map(|name| format!("def {name}() -> int:\n    return 1\n\n\n")).collect();
    let project = Project::new(&[("a.py", &text)]);
    let symbols = names.map(|name| format!("a.py::{name}"));
    let step = |title: &str, symbols: &[String]| json!({"title": title, "symbols": symbols, "because": "asked", "expect": "changed"});
    let long = "round all the prices that are shown in the report to two";
    let steps = [step("change them all in one go", &symbols), step(long, &symbols[..1])];
    let plan = Reply::Json(json!({"title": "Many", "reason": "asked", "steps": steps, "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change all", "SextantPlan").await;
    nvim.screen.shows("- [ ] change them all in one go  function_number_one, 3 more").await;
    // A title without room behind it has its symbol in front.
    nvim.screen.shows("- [ ] function_number_one round all the prices").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_plans_text_a_number_means_the_step_that_had_it() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n\n\ndef h() -> int:\n    return 3\n";
    let project = Project::new(&[("a.py", text)]);
    let step = |symbol: &str, after: &[u64]| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed", "after": after});
    let steps = [step("f", &[]), step("g", &[]), step("h", &[1])];
    let plan = Reply::Json(json!({"title": "Three changes", "reason": "asked", "steps": steps, "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change all", "SextantPlan").await;
    nvim.keys_show("e", "makes this text the plan").await;
    // The third step needs the first, which may not stand behind it.
    nvim.command("/change f/,/change g/-1 move $").await;
    nvim.command("write").await;
    let fault = "vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 10)
        local fault = vim.diagnostic.get(0)[1] or { lnum = 0, message = 'none' }
        return vim.fn.getline(fault.lnum + 1) .. ' | ' .. fault.message";
    let fault: String = nvim.lua(fault).await;
    assert!(fault.starts_with("  - after: 1 | step 1 (“change f”) must be done before"), "{fault}");
    nvim.command("/change h/,/change f/-1 move $").await;
    let event = nvim.command_until("write", "SextantPlan").await;
    let changed = event["markdown"].as_str().unwrap();
    let titles: Vec<&str> = changed.lines().filter_map(|line| line.strip_prefix("- [ ] ")).collect();
    assert_eq!(titles, ["change g", "change f", "change h"]);
    assert!(changed.contains("  - after: 2\n"), "{changed}");
    // What is written next is read by the new numbers.
    let renewed = "return (vim.wait(30000, function()
        local buf = vim.fn.bufnr('sextant://plan/edit')
        return vim.list_contains(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '  - after: 2')
    end, 10))";
    assert!(nvim.lua::<bool>(renewed).await, "the text has the new numbers");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_the_user_writes_means_the_step_that_stands_there_and_its_faults_its_line() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n\n\ndef h() -> int:\n    return 3\n";
    let project = Project::new(&[("a.py", text)]);
    let step = |symbol: &str| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed"});
    let steps = [step("f"), step("g"), step("h")];
    let plan = Reply::Json(json!({"title": "Three changes", "reason": "asked", "steps": steps, "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentPlan change all").await;
    nvim.wait("SextantPlan").await;
    nvim.keys("e").await;
    nvim.screen.shows("makes this text the plan").await;
    // The first step goes to the end, and the last but one is to follow what is the first one now.
    nvim.command("/change f/,/change g/-1 move $").await;
    nvim.command("/change h/ | call append('.', ['  - after: 3', '  - with: what = step9.output'])").await;
    nvim.command("write").await;
    let faults = "vim.wait(30000, function() return #vim.diagnostic.get(0) == 1 end, 10)
        return vim.tbl_map(function(fault)
          return vim.fn.getline(fault.lnum + 1) .. ' | ' .. fault.message
        end, vim.diagnostic.get(0))";
    let found: Vec<String> = nvim.lua(faults).await;
    assert!(found[0].starts_with("  - after: 3 | step 3 (“change f”) must be done before"), "{found:?}");
    nvim.command("%s/after: 3/after: 1/ | write").await;
    let on_input = "return (vim.wait(30000, function()
        local fault = vim.diagnostic.get(0)[1]
        return fault ~= nil and vim.fn.getline(fault.lnum + 1) == '  - with: what = step9.output'
    end, 10))";
    assert!(nvim.lua::<bool>(on_input).await, "{found:?}");
    nvim.command("g/step9/delete | write").await;
    let event = nvim.wait("SextantPlan").await;
    let changed = event["markdown"].as_str().unwrap();
    assert!(
        changed.contains("- [ ] change h\n  - symbols: `a.py::h`\n  - because: asked\n  - after: 1\n"),
        "{changed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_shorter_text_the_cursor_is_on_its_step_and_the_window_is_full() {
    let names: Vec<String> = (0..14).map(|at| format!("f{at}")).collect();
    let text: String = names.iter().map(|name| format!("def {name}() -> int:\n    return 1\n\n\n")).collect();
    let project = Project::new(&[("a.py", &text)]);
    let step = |name: &String| json!({"title": format!("change {name}"), "symbols": [format!("a.py::{name}")], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = names.iter().map(step).collect();
    let plan = Reply::Json(json!({"title": "Many changes", "reason": "asked", "steps": steps, "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentPlan change all").await;
    nvim.wait("SextantPlan").await;
    nvim.keys("Ge").await;
    nvim.screen.shows("makes this text the plan").await;
    nvim.command("/change f2$/,/change f11$/-1 delete").await;
    nvim.keys("gg/change f12<CR>").await;
    nvim.command("write").await;
    nvim.wait("SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    for part in ["# Many changes", "change f0", "change f13"] {
        nvim.screen.shows(part).await;
    }
    assert_eq!(nvim.lua::<String>("return vim.fn.getline('.')").await, "- [ ] change f12");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_output_of_a_plan_has_a_heading_of_its_own() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let says = |text: &str| says(text);
    let planned = json!({"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"});
    let plan = Reply::Json(json!({"title": "A change", "reason": "asked", "steps": [planned], "confidence": 1}));
    let edit = step("edit_file", change("a.py", "return 1", "return 2"), false);
    let server = ModelServer::start([says("one"), plan, says("two"), edit]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk say one").await;
    nvim.command_until("AgentPlan change it", "SextantPlan").await;
    let answer = nvim.answer().await;
    assert!(answer.starts_with("# say one\n") && answer.contains("\n# change it\n"), "{answer}");
    // A question in between has the window for itself; the run has the heading again.
    nvim.keys("q").await;
    nvim.task("AgentAsk say two").await;
    nvim.command("AgentPlan").await;
    nvim.keys("a").await;
    nvim.finished().await;
    let answer = nvim.answer().await;
    assert!(answer.starts_with("# say two\n"), "{answer}");
    let run = answer.split("\n# change it\n").nth(1).expect("a heading of the run");
    assert!(run.contains("edit_file") && !run.contains("\n# "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fixes_of_a_text_that_has_changed_on_disk_since_the_plan_are_not_applied() {
    let rest = "\n\n\ndef to_json(count: int) -> str:\n    return json.dumps({\"total\": count})\n\n\n\
                def lines() -> list[str]:\n    out = [f\"Report\"]\n    return out\n";
    let before = format!("from pathlib import Path{rest}");
    let now = format!("import json{}", rest.replace("f\"Report\"", "\"Report\""));
    let project = Project::new(&[("a.py", &before)]);
    let mut nvim = Nvim::open(&project, OPTIONS, BOTH, "a.py").await;
    nvim.command_until("AgentPlan make this file clean", "SextantPlan").await;
    assert!(document(&nvim).await.contains("- [ ] "), "{}", document(&nvim).await);
    std::fs::write(project.root().join("a.py"), &now).expect("written");
    nvim.keys("a").await;
    let (event, end) = nvim.wait_for(&["SextantFinished", "SextantQuestion", "SextantFailed"]).await;
    assert_eq!(event, "SextantFinished", "{end}\n{}", document(&nvim).await);
    assert_eq!(project.read("a.py"), now, "{}", document(&nvim).await);
    let answer = nvim.answer().await;
    assert!(!answer.contains("edited a.py") && !answer.contains("taken back"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_runs_while_the_user_types_elsewhere_is_folded_when_they_stop() {
    let project = Project::shop();
    let mut nvim = Nvim::open_on_screen(&project, OPTIONS, &["ruff"], "src/shop/inventory.py").await;
    nvim.command_until("AgentPlan clean this file", "SextantPlan").await;
    let folded = "local win = vim.fn.bufwinid('sextant://plan')
        return vim.api.nvim_win_call(win, function()
            local first = vim.fn.search('^- \\\\[.\\\\] ', 'nw')
            return vim.fn.foldclosed(first) == first
        end)";
    assert!(nvim.lua::<bool>(folded).await, "the details of a step are folded");
    nvim.command("wincmd p").await;
    nvim.keys("O# mine").await;
    let approve = "require('sextant.rpc.channel').send('approve', { steps = 'all' }) return true";
    nvim.lua::<bool>(approve).await;
    nvim.finished().await;
    assert_eq!(nvim.lua::<String>("return vim.api.nvim_get_mode().mode").await, "i", "no prompt took the keys");
    assert_eq!(nvim.lua::<String>("return vim.v.errmsg").await, "");
    nvim.keys("<Esc>").await;
    nvim.screen.shows("- [x]").await;
    // The folds come with the next turn of Neovim's loop.
    let comes = format!("return (vim.wait(60000, function() {folded} end, 10))");
    assert!(nvim.lua::<bool>(&comes).await, "{}", document(&nvim).await);
    assert_eq!(nvim.lua::<String>("return vim.v.errmsg").await, "");
}

/// A plan of seven steps in a terminal, with this reason.
async fn seven_steps(reason: &str) -> (Project, ModelServer, Nvim) {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let project = Project::new(&[("a.py", text)]);
    let step = |name: char| {
        let symbol = if name == 'f' { "a.py::f" } else { "a.py::g" };
        json!({"title": format!("change {name}"), "symbols": [symbol], "because": "asked", "expect": "changed"})
    };
    let steps: Vec<Value> = "fghijkl".chars().map(step).collect();
    let plan = Reply::Json(json!({"title": "Seven changes", "reason": reason, "steps": steps, "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    (project, server, nvim)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_skipped_or_opened_again_by_its_key_is_named_with_the_way_back() {
    let (_project, _server, nvim) = seven_steps("asked").await;
    nvim.keys_show("Gx", "step 7 is skipped; `r` opens it again").await;
    // The window follows its message.
    nvim.screen.shows("- [-] change l").await;
    nvim.keys_show("r", "step 7 is open again").await;
    nvim.screen.shows("- [ ] change l").await;
    nvim.keys_show("e", "makes this text the plan").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_the_plan_opens_at_the_step_under_the_cursor() {
    let (_project, _server, nvim) = seven_steps("asked").await;
    nvim.command("call search('change f')").await;
    nvim.keys_show("j", "change g").await;
    nvim.keys_show("e", "makes this text the plan").await;
    let at = |words: &str| {
        format!("return vim.api.nvim_buf_get_lines(0, 0, vim.fn.line('.'), false)[vim.fn.line('.')] == '{words}'")
    };
    assert!(nvim.lua::<bool>(&at("- [ ] change g")).await, "{}", nvim.screen.text());
    assert!(nvim.lua::<bool>("return vim.fn.line('.') > vim.fn.search('change f', 'nw')").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_evidence_of_a_step_names_the_key_that_closes_it_and_closes_by_its_own() {
    let (_project, _server, nvim) = seven_steps("asked").await;
    nvim.keys_show("GK", "Step 7").await;
    nvim.screen.shows(" q close ").await;
    nvim.keys("K").await;
    nvim.screen.hides("Step 7").await;
    let here: String = nvim.lua("return vim.api.nvim_buf_get_name(0)").await;
    assert_eq!(here, "sextant://plan");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_that_is_unfolded_is_in_sight() {
    // With its title it fills the window.
    let reason = format!("{}and that is the end", "it was asked for with many words, ".repeat(13));
    let (_project, _server, nvim) = seven_steps(&reason).await;
    nvim.screen.shows("… <Tab>").await;
    nvim.keys("ggjj").await;
    assert!(nvim.lua::<bool>("return (vim.wait(30000, function() return vim.fn.line('.') == 3 end, 10))").await);
    nvim.keys("j<Tab>").await;
    nvim.screen.shows("and that is the end").await;
    nvim.screen.shows("# Seven changes").await;
}

/// Waits until each row of the plan's float ends with its text or with a mark, and none is empty at the end.
async fn is_fitted(nvim: &Nvim, columns: usize, parts: &[&str]) {
    for part in parts {
        nvim.screen.shows(part).await;
    }
    let rows = "local win = vim.fn.bufwinid('sextant://plan')
        return vim.api.nvim_win_get_height(win) - vim.api.nvim_win_text_height(win, {}).all";
    assert_eq!(nvim.lua::<i64>(rows).await, 0, "{}", nvim.screen.text());
    let fits = |row: &&str| {
        let is_whole = row.chars().count() < columns || row.ends_with('…');
        is_whole && (row.is_empty() || row.starts_with(['#', '-', 'a']))
    };
    let is_fitted = |screen: &str| {
        let rows: Vec<&str> = screen.lines().filter_map(|row| row.split('│').nth(1)).map(str::trim_end).collect();
        rows.iter().all(fits) && rows.last().is_some_and(|row| row.starts_with("- [ ] "))
    };
    // Neovim draws a float in several steps.
    nvim.screen.until("a plan whose rows fit", is_fitted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_of_a_plan_fits_at_its_opening_when_it_is_shown_again_and_after_a_resize() {
    let text: String = (1..5).map(|n| format!("def total_{n}() -> int:\n    return {n}\n\n\n")).collect();
    let project = Project::new(&[("src/shop/report.py", &text)]);
    let step = |title: &str, symbol: &str| json!({"title": title, "symbols": [format!("src/shop/report.py::{symbol}")], "because": "a product may be missing in the report", "expect": "its sku is shown with the price"});
    let long = "apply `Ruff (F541): Remove extraneous f prefix` to each of the lines that are written there by hand";
    let steps = [
        step("show the sku where no product is found", "total_1"),
        step(long, "total_2"),
        step("replace the comparison in this one line with `a is not None` in it", "total_3"),
        step("ac", "total_4"),
    ];
    let plan = json!({"title": "Make all the totals robust", "reason": "asked", "steps": steps, "confidence": 1});
    let server = ModelServer::start([Reply::Json(plan)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "src/shop/report.py").await;
    nvim.command_until("AgentPlan! change all", "SextantPlan").await;
    // A code span that fills the row has no room beside the mark: it goes as a whole.
    let narrow = [
        "# Make all the totals robust in src/shop/report.py  · risk ",
        "- [ ] total_2 apply `Ruff",
        " each of …",
        "one line with …",
    ];
    is_fitted(&nvim, 74, &narrow).await;
    nvim.keys("q").await;
    nvim.screen.hides("- [ ]").await;
    nvim.command("AgentPlan").await;
    is_fitted(&nvim, 74, &narrow).await;
    nvim.resize(100, 24).await;
    is_fitted(&nvim, 94, &["- [ ] total_2 apply `Ruff", "lines that are …"]).await;
    nvim.resize(80, 24).await;
    is_fitted(&nvim, 74, &narrow).await;
    // The details have the title whole.
    nvim.command("call search('apply')").await;
    nvim.keys_show("<Tab>", "written there by hand").await;
    assert!(!nvim.screen.text().contains("each of …"), "{}", nvim.screen.text());
}
