//! Measures an edit in Neovim: the time to its diagnostics against the server's own, and the longest hold of the loop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use nvim_rs::{Neovim, Value};
use serde::{Deserialize, Serialize};
use sextant::base::deadline::Deadline;
use sextant::editors::nvim::editor::NvimEditor;
use sextant::editors::nvim::lua_channel::ChannelWriter;
use sextant::edits::hunks::hunks;
use sextant::engine::{Diagnostics, Document, Documents, FileEdit, FileMarks, Save};

use crate::inside::{self, Inside};
use crate::median;
use crate::percentile;
use crate::tool;

const SCRIPT: &str = include_str!("blocking.lua");
/// The longest that Sextant's code should hold the loop, in milliseconds.
const LIMIT: f64 = 5.0;
/// The least time of a piece that is worth a line, in milliseconds.
const SHOWN: f64 = 0.1;
/// The edits of the measured rounds: the place, the number of places, and the number of rounds.
const ROUNDS: [(&str, usize, usize); 3] =
    [("one edit", 1, 15), ("three far hunks", 3, 15), ("an edit in each of 1,000 functions", usize::MAX, 5)];

#[derive(Serialize, Deserialize)]
struct Job {
    repository: String,
    binary: String,
    server: String,
    command: Vec<String>,
    root: String,
    file: String,
    repetitions: usize,
    out: String,
}

/// The times of one piece, in milliseconds.
#[derive(Serialize, Deserialize)]
struct Piece {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Piece {
    fn longest(&self) -> f64 {
        percentile(&self.cpu, 1.0)
    }
}

#[derive(Serialize, Deserialize)]
struct Pieces {
    pieces: BTreeMap<String, Piece>,
    gap: f64,
}

#[derive(Serialize, Deserialize)]
struct Time {
    wall: f64,
    cpu: f64,
}

#[derive(Serialize, Deserialize)]
struct Own {
    edit: Time,
    /// An edit in each function, as a rename of the server makes it.
    many: Time,
    show: Time,
    write: Time,
    found: usize,
}

#[derive(Serialize, Deserialize)]
struct Outcome {
    idle: f64,
    own: Own,
    rounds: Vec<Pieces>,
    bare: Vec<f64>,
    settled: Vec<f64>,
}

/// A file of this many lines with a mistake every 20.
fn text(lines: usize) -> String {
    let function = |i: usize| {
        let name = if i.is_multiple_of(2) { format!("missing_{i}") } else { i.to_string() };
        format!(
            "def work_{i}(first: int, second: int) -> int:\n    total = first + second\n    total += {name}\n    for step in \
             range(first):\n        total += step\n    if total > {i}:\n        return total\n    return second\n\n\n"
        )
    };
    "# A generated file.\n\n\n# one\n".to_owned() + &(0..lines / 10).map(function).collect::<String>()
}

pub async fn run() -> Result<(), String> {
    println!("an edit in Neovim");
    println!("  {:<16}{:>7}{:>12}{:>12}{:>8}", "server", "lines", "bare pull", "settling", "ratio");
    let mut last = None;
    for (server, program, arguments, lines) in [
        ("basedpyright", "basedpyright-langserver", "--stdio", 200),
        ("ruff", "ruff", "server", 200),
        ("ruff", "ruff", "server", 10_000),
    ] {
        let outcome = measure(server, vec![tool(program)?, arguments.to_owned()], lines).await?;
        let (bare, settled) = (median(&outcome.bare), median(&outcome.settled));
        println!("  {server:<16}{lines:>7}{bare:>9.1} ms{settled:>9.1} ms{:>8.2}", settled / bare);
        last = Some(outcome);
    }
    if let Some(outcome) = last {
        print_pieces(&outcome);
    }
    Ok(())
}

fn print_pieces(outcome: &Outcome) {
    let own = &outcome.own;
    println!(
        "\nlongest hold of Neovim's loop, ask, edit, settle and undo in a file of 10,000 lines with {} diagnostics",
        own.found
    );
    println!("  {:<66}{:>6}{:>13}{:>13}{:>14}", "", "times", "median CPU", "longest CPU", "longest wall");
    let row = |name: &str, piece: &Piece| {
        let (median, longest) = (median(&piece.cpu), piece.longest());
        let wall = percentile(&piece.wall, 1.0);
        println!("  {name:<66}{:>6}{median:>10.2} ms{longest:>10.2} ms{wall:>11.2} ms", piece.cpu.len());
    };
    let mut over = Vec::new();
    for ((what, _, _), round) in ROUNDS.iter().zip(&outcome.rounds) {
        println!("  {what}");
        let mut pieces: Vec<(&String, &Piece)> = round.pieces.iter().collect();
        pieces.sort_by(|a, b| b.1.longest().total_cmp(&a.1.longest()));
        for (name, piece) in pieces {
            let ours = !name.starts_with("Neovim");
            if ours && piece.longest() > LIMIT {
                over.push(format!("{name} ({what}, {:.1} ms)", piece.longest()));
            }
            if piece.longest() >= SHOWN {
                row(&format!("  {}{name}", if ours { "ours: " } else { "" }), piece);
            }
        }
    }
    println!("  Neovim alone, a server attached");
    for (name, time) in [
        ("  three edits", &own.edit),
        ("  vim.lsp.util.apply_text_edits, one in each of 1,000 functions", &own.many),
        ("  showing the diagnostics once", &own.show),
        ("  writing the file", &own.write),
    ] {
        row(name, &Piece { wall: vec![time.wall], cpu: vec![time.cpu] });
    }
    println!(
        "  longer than {LIMIT} ms of CPU, of ours: {}",
        if over.is_empty() { "nothing".to_owned() } else { over.join(", ") }
    );
    let gaps: Vec<String> = outcome.rounds.iter().map(|round| format!("{:.1}", round.gap)).collect();
    println!("  longest gap of a 1 ms timer: idle {:.1} ms, in the three rounds {} ms", outcome.idle, gaps.join(", "));
}

async fn measure(server: &str, command: Vec<String>, lines: usize) -> Result<Outcome, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let base = folder.path().canonicalize().map_err(|error| error.to_string())?;
    let root = base.join("project");
    std::fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    for (name, content) in [(".root", String::new()), ("subject.py", text(lines))] {
        std::fs::write(root.join(name), content).map_err(|error| error.to_string())?;
    }
    let job = Job {
        repository: env!("CARGO_MANIFEST_DIR").to_owned(),
        binary: std::env::current_exe().map_err(|error| error.to_string())?.display().to_string(),
        server: server.to_owned(),
        command,
        root: root.display().to_string(),
        file: "subject.py".to_owned(),
        repetitions: 15,
        out: base.join("out").display().to_string(),
    };
    inside::start(&base, &root, SCRIPT, &job, Duration::from_secs(300)).await?;
    let out = std::fs::read(&job.out).map_err(|error| format!("{server}: nothing measured: {error}"))?;
    serde_json::from_slice(&out).map_err(|error| error.to_string())
}

/// The measuring process inside of Neovim.
pub async fn inside(inside: Arc<Inside>, nvim: Neovim<ChannelWriter>) {
    let job: Job = inside::job();
    let editor = inside.editor(&job.root);
    let file = [job.file.clone()];
    editor.read(&job.file).await.expect("the file");
    editor.diagnostics(&file, &[], Deadline::after_ms(120_000)).await;

    let eval = |code: &'static str| {
        let nvim = nvim.clone();
        async move { nvim.exec_lua(code, vec![]).await.expect(code).as_str().expect("JSON").to_owned() }
    };
    nvim.exec_lua("_G.bench_reset()", vec![]).await.expect("a reset");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let idle: Pieces = serde_json::from_str(&eval("return _G.bench_pieces()").await).expect("pieces");
    let own: Own = serde_json::from_str(&eval("return _G.bench_own()").await).expect("times");

    let mut rounds = Vec::new();
    for (_, places, times) in ROUNDS {
        nvim.exec_lua("_G.bench_reset()", vec![]).await.expect("a reset");
        for i in 0..times {
            round(&editor, &job.file, i, places).await;
        }
        rounds.push(serde_json::from_str(&eval("return _G.bench_pieces()").await).expect("pieces"));
    }

    let channel = nvim.get_api_info().await.expect("Neovim")[0].clone();
    let (mut bare, mut settled) = (Vec::new(), Vec::new());
    for i in 0..job.repetitions * 4 {
        let args = vec![Value::from(i % 2 == 0), channel.clone()];
        nvim.exec_lua("_G.bench_settle(...)", args).await.expect("a question");
        let ms = tokio::time::timeout(Duration::from_secs(60), inside.measured()).await.expect("an answer");
        if i.is_multiple_of(2) {
            bare.push(ms)
        } else {
            settled.push(ms)
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let outcome = Outcome { idle: idle.gap, own, rounds, bare, settled };
    std::fs::write(&job.out, serde_json::to_string(&outcome).expect("JSON")).expect("a file");
}

/// Ask, edit in so many places, settle, undo, as the agent does them.
async fn round(editor: &NvimEditor, file: &str, i: usize, places: usize) {
    let files = [file.to_owned()];
    let before = editor.read(file).await.expect("the file");
    editor.loaded().await;
    let marks = editor.marks(file).await;
    let wanted = edited(&before.text, i, places);
    let changed = change(editor, &before, &wanted).await;
    editor.diagnostics(&files, &[], Deadline::after_ms(60_000)).await;
    let marks_after = editor.marks(file).await;
    change(editor, &changed, &before.text).await;
    editor.restore_marks(file, &marks, &marks_after).await;
    editor.diagnostics(&files, &[], Deadline::after_ms(60_000)).await;
}

/// The text with a change in so many functions, as far from each other as possible.
fn edited(text: &str, i: usize, places: usize) -> String {
    let sum = "first + second\n";
    let step = text.matches(sum).count().div_ceil(places).max(1);
    let mut parts = text.split(sum);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (n, part) in parts.enumerate() {
        if n.is_multiple_of(step) {
            out.push_str(&format!("first + missing_now_{i}\n"));
        } else {
            out.push_str(sum);
        }
        out.push_str(part);
    }
    out
}

async fn change(editor: &NvimEditor, document: &Document, wanted: &str) -> Document {
    let hunks = hunks(&document.text, wanted);
    let edit = FileEdit::Change { path: document.path.clone(), version: document.version, hunks };
    let done = editor.apply(&[edit], Save::IfClean).await.expect("an edit");
    done[0].document.clone().expect("a document")
}
