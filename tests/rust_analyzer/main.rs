//! rust-analyzer and the compiler beside it, at every door: `make test-rust-analyzer RUST_ANALYZER=FILE`.
//!
//! Neither pip nor npm has rust-analyzer, and it takes 15 minutes to build, so `make test` leaves these tests out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

#[path = "../e2e/support/mod.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::{DiagnosticsProvider, FileText, Freshness};
use sextant::diagnostics::server::LanguageServer;
use sextant::diagnostics::server::server_config::ServerConfig;

use crate::support::mcp::{McpClient, behind_a_broken_crate};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::rust_toolchain;

const LIB: &str = "pub mod cart;\n\npub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n\
                   pub fn count(prices: &[u32]) -> usize {\n    prices.len()\n}\n";
const CART: &str = "pub struct Cart {\n    pub prices: Vec<u32>,\n}\n\nimpl Cart {\n    \
                    pub fn total(&self) -> u32 {\n        crate::total(&self.prices)\n    }\n}\n";

/// Generous in time: the machine may be busy.
const WAITS: &str = "diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 }";

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

/// The program; fails with its name where the variable is missing.
fn program() -> PathBuf {
    let named = std::env::var_os("RUST_ANALYZER").map(PathBuf::from).filter(|file| file.is_file());
    named.expect("rust-analyzer is needed: set RUST_ANALYZER to its file")
}

/// Neovim's configuration of the server, as a user writes it; with or without the server's own status.
fn configure(status: bool) -> String {
    format!(
        "{}
         vim.lsp.config('rust_analyzer', {{ cmd = {{ {:?} }}, filetypes = {{ 'rust' }}, root_markers = {{ 'Cargo.toml' }},
         capabilities = {{ experimental = {{ serverStatusNotification = {status} }} }} }})
         vim.lsp.enable('rust_analyzer')
         return true",
        rust_toolchain().trim_end_matches("return true"),
        program()
    )
}

fn project() -> Project {
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/lib.rs", LIB), ("src/cart.rs", CART)]);
    configure_shell(&project);
    project
}

/// Configures the server for the doors without an editor.
fn configure_shell(project: &Project) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    let server = format!("name = \"rust-analyzer\"\ncommand = [{:?}]\nlanguages = [\"rust\"]\n", program());
    std::fs::write(folder.join("config.toml"), format!("[[servers]]\n{server}")).expect("a file");
}

/// Files and codes of a list of diagnostics.
fn codes(list: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |item: &Value| format!("{} {}", text(&item["path"]), text(&item["code"])).trim().to_owned();
    let mut codes: Vec<String> = list.as_array().expect("a list").iter().map(one).collect();
    codes.sort();
    codes
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_answered_with_what_the_server_and_its_compiler_find_by_mcp() {
    let project = project();
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    for (old, new, file, wanted) in [
        // Both find it: one diagnostic.
        ("prices.iter().sum()", "\"text\"", "src/lib.rs", vec!["E0308"]),
        // The compiler alone.
        ("prices.iter().sum()", "let all = prices.to_vec();\n    drop(all);\n    all[0]", "src/lib.rs", vec!["E0382"]),
        ("prices.len()", "let unused = 1;\n    prices.len()", "src/lib.rs", vec!["unused_variables"]),
        // In a file that nobody has opened.
        ("pub fn total(prices: &[u32])", "pub fn sum_of(prices: &[u32])", "src/lib.rs", vec!["src/cart.rs E0425"]),
        ("prices.len()", "prices.len() + 1", "src/lib.rs", vec![]),
    ] {
        let answer = client.edit("edit_file", replace(file, old, new)).await;
        assert_eq!(answer["diagnostics_status"], "complete", "{new}: {answer}");
        assert_eq!(codes(&answer["new_diagnostics"]), wanted, "{new}: {answer}");
        let repaired = client.edit("edit_file", replace(file, new, old)).await;
        assert_eq!(repaired["diagnostics_status"], "complete", "{new}: {repaired}");
        assert_eq!(
            (&repaired["new_diagnostics"], &repaired["fixed"]),
            (&json!([]), &json!(wanted.len())),
            "{new}: {repaired}"
        );
    }
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_answered_with_what_the_server_and_its_compiler_find_in_neovim() {
    for status in [false, true] {
        let project = project();
        let edits = [
            ("prices.iter().sum()", "\"text\"", "src/lib.rs", 1, 0),
            ("\"text\"", "let all = prices.to_vec();\n    drop(all);\n    all[0]", "src/lib.rs", 1, 1),
            ("let all = prices.to_vec();\n    drop(all);\n    all[0]", "prices.iter().sum()", "src/lib.rs", 0, 1),
            ("pub fn total(prices: &[u32])", "pub fn sum_of(prices: &[u32])", "src/lib.rs", 1, 0),
        ];
        let replies = edits.map(|(old, new, file, ..)| {
            let action = json!({"tool": "edit_file", "parameters": replace(file, old, new)});
            Reply::Json(json!({"action": action, "reasoning": "", "continue": false, "confidence": 0.9, "answer": ""}))
        });
        let server = ModelServer::start(replies).await;
        let model = format!("model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}' }}", server.url());
        let mut nvim = Nvim::start(&project, &format!("{{ {model}, {WAITS} }}"), &[]).await;
        let config = configure(status);
        nvim.lua::<bool>(&config).await;
        nvim.edit("src/lib.rs").await;
        for (_, new, _, found, fixed) in edits {
            nvim.command("AgentAsk! change src/lib.rs").await;
            let summary = nvim.finished().await;
            let wanted = format!("{found} new diagnostic{}, {fixed} fixed", if found == 1 { "" } else { "s" });
            assert!(summary.contains(&wanted), "{status} {new}: {summary}\n{}", nvim.answer().await);
            assert!(!nvim.answer().await.contains("partly"), "{status} {new}: {}", nvim.answer().await);
        }
        let list = nvim.quickfix().await;
        assert!(list[1].starts_with("cart.rs:7: E:") && list[1].ends_with("[E0425]"), "{list:#?}");
    }
}

/// The call of `helper` is its only one.
const CALLER: &str = "pub fn twice() -> u32 {\n    crate::cart::helper() * 2\n}\n";

fn with_helper() -> Project {
    let project = project();
    project.write("src/lib.rs", &format!("{LIB}{CALLER}"));
    project.write("src/cart.rs", &format!("{CART}\npub(crate) fn helper() -> u32 {{\n    1\n}}\n"));
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_use_of_a_function_is_missed_in_the_closed_file_that_defines_it() {
    let (call, none) = ("crate::cart::helper() * 2", "40 + 2");
    let project = with_helper();
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    let answer = client.edit("edit_file", replace("src/lib.rs", call, none)).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
    assert_eq!(codes(&answer["new_diagnostics"]), ["src/cart.rs dead_code"], "{answer}");
    let back = client.edit("edit_file", replace("src/lib.rs", none, call)).await;
    assert_eq!((&back["new_diagnostics"], &back["fixed"]), (&json!([]), &json!(1)), "{back}");
    assert!(client.end().await.success());

    let project = with_helper();
    let edits = [(call, none, "1 new diagnostic, 0 fixed"), (none, call, "0 new diagnostics, 1 fixed")];
    let replies = edits.map(|(old, new, _)| {
        let action = json!({"tool": "edit_file", "parameters": replace("src/lib.rs", old, new)});
        Reply::Json(json!({"action": action, "reasoning": "", "continue": false, "confidence": 0.9, "answer": ""}))
    });
    let server = ModelServer::start(replies).await;
    let model = format!("model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}' }}", server.url());
    let mut nvim = Nvim::start(&project, &format!("{{ {model}, {WAITS} }}"), &[]).await;
    nvim.lua::<bool>(&configure(true)).await;
    nvim.edit("src/lib.rs").await;
    for (_, _, wanted) in edits {
        nvim.command("AgentAsk! change src/lib.rs").await;
        let summary = nvim.finished().await;
        assert!(summary.contains(wanted), "{summary}\n{}", nvim.answer().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_without_a_model_applies_the_fixes_of_the_compiler_but_none_that_only_hides() {
    let project = project();
    let text = |import: &str, mutable: &str| {
        let body = format!("    let {mutable}sum = prices.iter().sum();\n    let extra = 1;\n    sum\n");
        format!("{import}{}", LIB.replace("    prices.iter().sum()\n", &body))
    };
    project.write("src/lib.rs", &text("use std::fmt::Debug;\n", "mut "));
    let mut nvim = Nvim::start(&project, &format!("{{ {WAITS} }}"), &[]).await;
    nvim.lua::<bool>(&configure(false)).await;
    nvim.edit("src/lib.rs").await;
    nvim.command("AgentPlan make this file clean").await;
    let plan = loop {
        let plan = nvim.wait("SextantPlan").await;
        if plan["phase"] == "waiting for approval" {
            break plan;
        }
    };
    assert_eq!(plan["steps"], 2, "{plan}");
    nvim.keys("a").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("0 new diagnostics, 2 fixed, 1 unchanged"), "{summary}");
    assert_eq!(project.read("src/lib.rs"), text("", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crate_behind_a_broken_one_is_not_called_clean() {
    let project = Project::crates();
    configure_shell(&project);
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    behind_a_broken_crate(&mut client).await;
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crate_of_another_client_that_is_broken_leaves_this_one_unknown_in_neovim() {
    let project = Project::crates();
    let mut nvim = Nvim::start(&project, "{}", &[]).await;
    nvim.greeted().await;
    // Each crate is the root of a client of its own.
    nvim.lua::<bool>(&configure(false)).await;
    nvim.lua::<bool>(&TWO_FILES.replace("src/lib.rs", "shop/src/lib.rs").replace("src/cart.rs", "base/src/lib.rs"))
        .await;
    let clients = "return (vim.wait(10000, function() return #vim.lsp.get_clients() == 2 end))";
    assert!(nvim.lua::<bool>(clients).await, "two clients");
    nvim.lua::<bool>("_G.ask(100000) return true").await;
    nvim.wait("answer").await;
    let put = json!(["base/src/lib.rs", "pub fn one() -> u32 {\n    let v = vec![1]; drop(v); drop(v); 1\n}\n"]);
    nvim.lua::<bool>(&format!("_G.put(unpack(vim.json.decode([==[{put}]==]))) return true")).await;
    nvim.lua::<bool>("_G.ask(100000) return true").await;
    let answer = nvim.wait("answer").await;
    let of = |path: &str| {
        let is_it = |entry: &&Value| {
            entry["client"] == "rust_analyzer/check" && entry["path"].as_str().is_some_and(|at| at.ends_with(path))
        };
        answer.as_array().expect("entries").iter().find(is_it).expect("an entry").clone()
    };
    assert_eq!(
        (&of("base/src/lib.rs")["how"], &of("base/src/lib.rs")["items"][0]["code"]),
        (&json!("versioned"), &json!("E0382")),
        "{answer}"
    );
    assert_eq!(of("shop/src/lib.rs")["how"], "unavailable", "{answer}");
}

/// The lines of `total` and of `Cart::total` that an edit puts in, with what rustc finds in them.
const BODIES: [&str; 8] = [
    "",
    "// a line more\n    // and another",
    "let unused = 1;",
    "let wrong: u32 = \"text\"; drop(wrong);",
    "missing();",
    "let all = vec![1]; drop(all); drop(all);",
    "let broken = (;",
    "let unused = 1; let unneeded: u32 = 2;",
];

fn text(path: &str, body: usize, above: usize) -> String {
    let (before, head) = if path == "src/lib.rs" {
        (LIB, "-> u32 {\n    prices.iter")
    } else {
        (CART, "-> u32 {\n        crate::total")
    };
    let (signature, rest) = head.split_once('\n').expect("two lines");
    let text = before.replace(head, &format!("{signature}\n    {}\n{rest}", BODIES[body]));
    format!("{}{text}", "// above\n".repeat(above))
}

/// File, zero-based line and code of each of cargo's own diagnostics, of these texts in a folder of their own.
fn truth(folder: &Path, texts: &[(&str, String)]) -> Vec<(String, u64, String)> {
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    for (path, text) in texts {
        std::fs::write(folder.join(path), text).expect("a file");
    }
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["check", "--offline", "--all-targets", "--message-format", "json"]).current_dir(folder);
    let output = cargo.env("CARGO_TARGET_DIR", folder.join("target")).output().expect("cargo is needed");
    let mut found = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let spans = message["message"]["spans"].as_array().cloned().unwrap_or_default();
        let code = message["message"]["code"]["code"].as_str().unwrap_or_default().to_owned();
        for span in spans.iter().filter(|span| span["is_primary"] == true) {
            let line = span["line_start"].as_u64().expect("a line") - 1;
            found.push((span["file_name"].as_str().expect("a name").to_owned(), line, code.clone()));
        }
    }
    found.sort();
    // Two targets of one file have the same diagnostics.
    found.dedup();
    found
}

/// Opens both files, and makes edits and questions without the binary between.
const TWO_FILES: &str = r"
vim.o.hidden = true
vim.cmd('edit src/cart.rs | edit src/lib.rs')
function _G.put(path, text)
  vim.api.nvim_buf_call(vim.fn.bufnr(path), function()
    vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(text, '\n', { trimempty = true }))
    vim.cmd('silent write')
  end)
end
function _G.ask(ms)
  local files = { { path = vim.fn.getcwd() .. '/src/lib.rs' }, { path = vim.fn.getcwd() .. '/src/cart.rs' } }
  require('sextant.lsp.collect_diagnostics').collect({ files = files, ms = ms }, function(err, entries)
    _G.tell('answer', err or entries)
  end)
end
return true
";

const FILES: [&str; 2] = ["src/lib.rs", "src/cart.rs"];

/// Random edits of both files, from `RUST_SEED`; as many as `RUST_EDITS` says, or few.
struct Edits {
    random: u64,
    left: u64,
    /// The body of each file, and the lines above.
    now: [(usize, usize); 2],
    fresh: u64,
    others: Vec<String>,
}

impl Edits {
    fn new() -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let (random, left) = (number("RUST_SEED").unwrap_or(7), number("RUST_EDITS").unwrap_or(20));
        Self { random, left, now: [(0, 0); 2], fresh: 0, others: Vec::new() }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.random >> 33).expect("31 bits") % limit
    }

    /// One save or several in a hurry: the file, its text, and the milliseconds before the next one.
    fn saves(&mut self) -> Option<Vec<(&'static str, String, u64)>> {
        self.left = self.left.checked_sub(1)?;
        let saves = if self.below(3) == 0 { 1 + self.below(4) } else { 1 };
        let one = |edits: &mut Self| {
            let file = edits.below(2);
            edits.now[file] = (edits.below(BODIES.len()), edits.below(4));
            let pause = if saves > 1 { edits.below(250) } else { 0 };
            (FILES[file], text(FILES[file], edits.now[file].0, edits.now[file].1), pause as u64)
        };
        Some((0..saves).map(|_| one(self)).collect())
    }

    /// Compares the compiler's answers about both files with the truth, if both are fresh.
    fn judge(&mut self, mut found: Vec<(String, u64, String)>, fresh: usize, folder: &Path, answer: &str) {
        if fresh < FILES.len() {
            self.others.push(answer.to_owned());
            return;
        }
        self.fresh += 1;
        found.sort();
        found.dedup();
        let texts = [0, 1].map(|file| (FILES[file], text(FILES[file], self.now[file].0, self.now[file].1)));
        assert_eq!(found, truth(folder, &texts), "{:?}: {answer}", self.now);
    }

    fn end(&self) {
        let all = self.fresh + self.others.len() as u64;
        println!("{} of {all} fresh; the others: {:?}", self.fresh, self.others);
        assert!(self.fresh * 10 >= all * 9, "{:?}", self.others);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fresh_answer_of_the_compiler_differs_from_cargos_own_in_neovim() {
    let project = project();
    let mut nvim = Nvim::start(&project, "{}", &[]).await;
    nvim.greeted().await;
    nvim.lua::<bool>(&configure(false)).await;
    nvim.lua::<bool>(TWO_FILES).await;
    let mut edits = Edits::new();
    while let Some(saves) = edits.saves() {
        for (path, text, pause) in saves {
            let put = json!([path, text]);
            nvim.lua::<bool>(&format!("_G.put(unpack(vim.json.decode([==[{put}]==]))) return true")).await;
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        nvim.lua::<bool>("_G.ask(100000) return true").await;
        let entries = nvim.wait("answer").await;
        let of_compiler = |entry: &&Value| entry["client"] == "rust_analyzer/check";
        let checks: Vec<&Value> = entries.as_array().expect("entries").iter().filter(of_compiler).collect();
        let mut found = Vec::new();
        for entry in &checks {
            let path = entry["path"].as_str().expect("a path");
            let path = FILES.iter().find(|file| path.ends_with(**file)).expect("one of the files");
            for item in entry["items"].as_array().into_iter().flatten() {
                let line = item["range"]["start"]["line"].as_u64().expect("a line");
                found.push(((*path).to_owned(), line, item["code"].as_str().unwrap_or_default().to_owned()));
            }
        }
        let fresh = checks.iter().filter(|entry| entry["how"] == "versioned").count();
        edits.judge(found, fresh, &project.beside("truth"), &entries.to_string());
    }
    edits.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fresh_answer_of_the_compiler_differs_from_cargos_own_without_an_editor() {
    let project = project();
    let command = vec![program().display().to_string()];
    let config = ServerConfig { name: "rust-analyzer".into(), command, ..ServerConfig::default() };
    let server = LanguageServer::new(config, project.root());
    let mut files = FILES.map(|path| FileText { path: path.into(), text: project.read(path).into() });
    let mut edits = Edits::new();
    while let Some(saves) = edits.saves() {
        for (path, text, pause) in saves {
            let file = files.iter_mut().find(|file| file.path == path).expect("one of the files");
            file.text = text.as_str().into();
            server.sync(&[file.clone()]);
            project.write(path, &text);
            server.saved(path);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        let mut reports = server.fetch(&files, Deadline::after_ms(100_000)).await;
        reports.retain(|report| report.provider == "lsp:rust-analyzer/check");
        let mut found = Vec::new();
        for item in reports.iter().flat_map(|report| &report.diagnostics) {
            let range = item.location.range().expect("a range");
            let path = item.location.file().expect("a file").to_owned();
            found.push((path, u64::from(range.start.line), item.code.clone().unwrap_or_default()));
        }
        let fresh = reports.iter().filter(|report| report.freshness == Freshness::Versioned).count();
        edits.judge(found, fresh, &project.beside("truth"), &format!("{reports:?}"));
    }
    edits.end();
}
