//! Requests over more than is open: the whole workspace, long lists of fixes, and figures that agree.

use serde_json::Value;

use crate::nvim::ask::BOTH;
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const OPTIONS: &str = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";

/// The buffers that there are, and which of them are listed and loaded.
async fn buffers(nvim: &Nvim) -> Value {
    nvim.lua("return vim.tbl_map(function(b) return { b.name, b.listed, b.loaded } end, vim.fn.getbufinfo())").await
}

/// The sum of what the edits said they fixed.
fn fixed(answer: &str) -> usize {
    let of = |line: &str| {
        let (_, rest) = line.split_once(" new, ")?;
        rest.split_once(" fixed")?.0.parse::<usize>().ok()
    };
    answer.lines().filter(|line| line.trim_start().starts_with("diagnostics")).filter_map(of).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_workspace_is_what_is_on_disk_too_and_the_buffers_stay_as_they_were() {
    let unused = "import os\n\n\ndef f() -> int:\n    return 1\n";
    let clean = "def f() -> int:\n    return 1\n";
    let files: Vec<(String, &str)> = (0..5)
        .map(|n| (format!("pkg/unused{n}.py"), unused))
        .chain((0..30).map(|n| (format!("pkg/clean{n}.py"), clean)))
        .chain([("open.py".to_owned(), clean)])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let project = Project::new(&files);
    let mut nvim = Nvim::start(&project, OPTIONS, &["ruff"]).await;
    nvim.command("argadd pkg/unused0.py").await;
    nvim.edit("open.py").await;
    let before = buffers(&nvim).await;
    let summary = nvim.task("AgentAsk! fix all warnings").await;
    assert!(summary.contains("looked at all 36 files of the workspace"), "{summary}\n{}", nvim.answer().await);
    assert!(summary.contains("5 fixed"), "{summary}");
    for n in 0..5 {
        assert!(!project.read(&format!("pkg/unused{n}.py")).contains("import os"), "{summary}");
    }
    let same = "return (vim.wait(5000, function() return #vim.fn.getbufinfo() == 3 end, 10))";
    assert!(nvim.lua::<bool>(same).await, "{}", buffers(&nvim).await);
    let without_ours = |all: Value| -> Vec<Value> {
        let ours = |buffer: &Value| buffer[0].as_str().is_some_and(|name| name.starts_with("sextant://"));
        all.as_array().into_iter().flatten().filter(|buffer| !ours(buffer)).cloned().collect()
    };
    assert_eq!(without_ours(buffers(&nvim).await), without_ours(before));

    nvim.task("AgentUndo").await;
    assert_eq!(project.read("pkg/unused3.py"), unused, "it is undone in files that are closed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_of_more_fixes_than_fit_one_prompt_leaves_none_untold() {
    let text: String = (0..75).map(|n| format!("def f{n}() -> int:\n    import os\n\n    return {n}\n\n\n")).collect();
    let project =
        Project::new(&[("a.py", text.trim_end()), ("pyproject.toml", "[tool.ruff.lint]\nselect = [\"F401\"]\n")]);
    let mut nvim = Nvim::open(&project, OPTIONS, &["ruff"], "a.py").await;
    let plan = nvim.command_until("AgentPlan fix the warnings", "SextantPlan").await;
    assert_eq!(plan["steps"], 75, "{plan}");
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("75 of 75 steps done") && summary.contains("75 fixed"), "{summary}");
    assert!(!summary.contains("more fix") && !project.read("a.py").contains("import os"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_mends_more_that_reads_alike_than_a_task_has_steps() {
    let text: String = (0..40).map(|n| format!("import os as os_{n}\n")).collect();
    let settings = "[tool.ruff.lint]\nselect = [\"F401\"]\n";
    let project = Project::new(&[("a.py", &text), ("b.py", &text), ("pyproject.toml", settings)]);
    let mut nvim = Nvim::open(&project, OPTIONS, &["ruff"], "a.py").await;
    nvim.command("AgentPlan! fix all warnings").await;
    assert_eq!(nvim.wait("SextantPlan").await["steps"], 2, "{}", nvim.answer().await);
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    let left = project.read("a.py") + &project.read("b.py");
    assert!(left.trim().is_empty() && summary.contains("2 of 2 steps done. "), "{summary}\n{left}");
    assert!(summary.contains(" 80 fixed") && !summary.contains("on offer"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_summary_counts_what_the_edits_have_counted_after_an_undo_too() {
    let project = Project::shop();
    let before = project.bytes();
    let mut nvim = Nvim::open(&project, OPTIONS, BOTH, "src/shop/report.py").await;
    nvim.command("1").await;
    // In the second round ruff is not asked about the file by itself: it was edited under the first.
    for request in
        ["AgentAsk fix this", "AgentAsk! fix all errors and warnings", "AgentAsk! fix all errors and warnings"]
    {
        let summary = nvim.task(request).await;
        let answer = nvim.answer().await;
        let told = fixed(&answer);
        assert!(told >= 4, "{request}: {answer}");
        assert!(summary.contains(&format!("{told} fixed")), "{request}: {summary}\n{answer}");
        nvim.task("AgentUndo").await;
        assert_eq!(project.bytes(), before);
    }
}
