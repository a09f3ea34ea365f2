//! What the windows look like: reference screens, with the groups that colour them, in 80 and in 200 columns.
//!
//! `SCREENS=write` writes `tests/fixtures/screens/` anew. Digits of times are masked. The last row belongs to Neovim's
//! messages, which differ between its versions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::servers::tool;

const TEXT: &str =
    "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n\n\ndef h() -> int:\n    return 3\n";

/// The time in which a screen becomes its reference.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a user has set Neovim.
struct Look {
    columns: i64,
    settings: &'static str,
}

const LOOKS: [Look; 4] = [
    Look { columns: 80, settings: "wrap background=dark" },
    Look { columns: 80, settings: "nowrap background=light" },
    Look { columns: 200, settings: "wrap background=light" },
    Look { columns: 200, settings: "nowrap background=dark" },
];

fn edit(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

fn plan() -> Reply {
    let step = |title: &str, symbol: &str| {
        json!({"title": title, "kind": "edit", "symbols": [symbol], "because": "asked", "with": [], "after": [],
               "creates": [], "expect": "it is done", "check": [], "fallback": ""})
    };
    Reply::Json(json!({"title": "Rename the results", "reason": "asked", "confidence": 1, "steps": [
        step("Return a name from f", "a.py::f"), step("Return a name from g", "a.py::g")]}))
}

async fn started(look: &Look, script: Vec<Reply>) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT), ("conftest.py", "import os\n")]);
    let server = ModelServer::start(script).await;
    let nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.resize(look.columns, 24).await;
    let plain = "set laststatus=2 statusline=%f noruler noshowcmd shortmess+=I signcolumn=no";
    nvim.command(&format!("syntax off | {plain} | set {}", look.settings)).await;
    nvim.edit("a.py").await;
    (project, server, nvim)
}

fn reference(name: &str, columns: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/screens/{name}-{columns}.txt"))
}

/// The screen without what differs from run to run.
fn masked(nvim: &Nvim) -> String {
    let text = nvim.screen.text();
    let rows: Vec<&str> = text.lines().collect();
    let shown = rows[..rows.len().saturating_sub(1)].join("\n");
    let out = format!("{shown}\n---\n{}", nvim.screen.coloured());
    without_digits(&out, &[" s", " ms", " min"])
}

/// The text without the numbers before these units.
fn without_digits(text: &str, units: &[&str]) -> String {
    let mut out = text.to_owned();
    for unit in units {
        let parts: Vec<String> = out.split(unit).map(str::to_owned).collect();
        let last = parts.len() - 1;
        let without = |(at, part): (usize, String)| {
            let digits = part.len() - part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
            if at < last && digits > 0 { format!("{}N", &part[..part.len() - digits]) } else { part }
        };
        out = parts.into_iter().enumerate().map(without).collect::<Vec<_>>().join(unit);
    }
    out
}

/// Waits until the screen is the reference.
async fn looks_like(nvim: &Nvim, name: &str, look: &Look) {
    let path = reference(name, look.columns);
    if std::env::var("SCREENS").is_ok_and(|value| value == "write") {
        for _ in 0..30 {
            let _: bool = nvim.lua("vim.wait(50, function() return false end, 10) return true").await;
        }
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, masked(nvim)).expect("a file");
        return;
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let end = tokio::time::Instant::now() + PATIENCE;
    while masked(nvim) != wanted {
        let late = tokio::time::Instant::now() > end;
        assert!(!late, "{} ({}) is not:\n{}\nbut:\n{}", name, look.settings, wanted, masked(nvim));
        let _: bool = nvim.lua("vim.wait(50, function() return false end, 10) return true").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_looks_like_its_reference() {
    for look in &LOOKS {
        let text =
            "`f` returns a number:\n\n```python\nreturn 1\n```\n\n- it is called by nobody\n- `a.py::g` is alike";
        let (_project, _server, mut nvim) = started(look, vec![says(text)]).await;
        nvim.task("AgentAsk explain f").await;
        looks_like(&nvim, "answer", look).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_looks_like_its_reference() {
    for look in &LOOKS {
        let script = vec![edit("return 1", "return undefined_name", true), edit("return 2", "return 22", false)];
        let (_project, _server, mut nvim) = started(look, script).await;
        nvim.task("AgentAsk! change f and g").await;
        nvim.command_shows("wincmd t | only | AgentReview", "1/2 f").await;
        looks_like(&nvim, "review", look).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_looks_like_its_reference() {
    for look in &LOOKS {
        let (_project, _server, mut nvim) = started(look, vec![plan()]).await;
        nvim.command_until("AgentPlan rename what f and g return", "SextantPlan").await;
        nvim.screen.shows("Return a name from g").await;
        looks_like(&nvim, "plan", look).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_looks_like_its_reference() {
    for look in &LOOKS {
        let write = step("write_file", json!({"path": "conftest.py", "content": "import sys\n"}), true);
        let (_project, _server, mut nvim) = started(look, vec![write, says("done")]).await;
        nvim.command_until("AgentAsk! set the tests up", "SextantQuestion").await;
        looks_like(&nvim, "question", look).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_looks_like_its_reference() {
    for look in &LOOKS {
        let (_project, _server, mut nvim) = started(look, vec![edit("return 1", "return 11", false)]).await;
        nvim.task("AgentAsk! change f").await;
        nvim.command_shows("wincmd t | only | AgentHistory", "change f").await;
        looks_like(&nvim, "history", look).await;
    }
}

/// The report of `:checkhealth`, without its head, which is Neovim's.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_on_health_looks_like_its_reference() {
    let (project, server, mut nvim) = started(&LOOKS[0], vec![says("a number")]).await;
    nvim.task("AgentAsk explain f").await;
    nvim.command("checkhealth sextant").await;
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
    let mut text = lines.join("\n");
    text.replace_range(..text.find("sextant ~").expect("our part"), "");
    let ruff = tool("ruff").display().to_string();
    let folder = project.root().parent().expect("a folder").display().to_string();
    let url = server.url();
    let address = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let names = [(env!("CARGO_BIN_EXE_sextant"), "BINARY"), (&ruff, "RUFF"), (address, "ADDRESS"), (&folder, "FOLDER")];
    for (name, short) in names {
        text = text.replace(name, short);
    }
    let plain = |line: &str| match line.split_once("Neovim ") {
        Some((mark, _)) => format!("{mark}Neovim VERSION\n"),
        None => format!("{}\n", without_digits(line, &[" ms"]).trim_end()),
    };
    let text: String = text.lines().map(plain).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/screens/health.txt");
    if std::env::var("SCREENS").is_ok_and(|value| value == "write") {
        std::fs::write(&path, &text).expect("a file");
    }
    assert_eq!(text, std::fs::read_to_string(&path).expect("a reference"));
}
