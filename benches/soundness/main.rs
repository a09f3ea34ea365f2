//! Tests the soundness of Neovim's settling: random edits, real servers, every answer compared with the truth.
//!
//!     make soundness                          every server, 100 edits each
//!     make soundness N=200 SERVERS=ruff,ty    these two, 200 edits each
//!
//! Further variables: `SEED`, `BUDGET` (milliseconds for an answer, 3000), `SHOW` (how many wrong answers are printed),
//! `BUSY` (loops that keep a core busy meanwhile, 0), `KILL` (1: the server is killed and started again before every
//! tenth edit, at a random moment of the one before). With `FIRST=1` whole sessions edit files first that no editor had
//! opened, in Neovim and without an editor; with `KILL=1` every fifth edit is of a known file whose server was killed
//! right before. With `BETWEEN=1` each of these sessions makes two edits in a task, and the server is killed between
//! them (`kill -9`): the second one is of the same file, or of one that no editor had opened. Neovim also starts this
//! program in place of the binary: the edits and questions go through the product's editor, channel and Lua layer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

mod code_templates;
mod data_templates;
mod first;
mod headless;
#[path = "../inside.rs"]
mod inside;
mod job;
mod language;
mod subjects;
mod templates;
mod text;
mod trials;
mod truth;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sextant::diagnostics::model::Freshness;

use crate::job::{Answer, Item, Job, Trial};
use crate::subjects::{SUBJECTS, Subject};
use crate::text::Expected;

/// Neovim's start: the server as a user configures it, and the plugin with this program as its binary.
const START: &str = r"
local job = vim.json.decode(io.open(vim.env.SEXTANT_BENCH_JOB):read('a'))
local capabilities = vim.lsp.protocol.make_client_capabilities()
capabilities.textDocument.diagnostic = nil
local out = assert(io.open(job.capabilities, 'w'))
out:write(vim.json.encode(capabilities))
out:close()
vim.lsp.config(job.server, {
  cmd = job.command,
  filetypes = { job.filetype },
  root_markers = { '.root' },
  settings = job.settings ~= vim.NIL and job.settings or nil,
})
vim.lsp.enable(job.server)
require('sextant').setup({ binary = job.binary })
vim.schedule(function()
  vim.cmd.edit(job.file)
  require('sextant.rpc.channel').send('measure', {})
end)
";

fn number(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")),
        _ => otherwise,
    }
}

fn chosen() -> Result<Vec<&'static Subject>, String> {
    let wanted = std::env::var("SERVERS").unwrap_or_default();
    if wanted.is_empty() {
        return Ok(SUBJECTS.iter().filter(|subject| !subject.by_name).collect());
    }
    let one = |name: &str| {
        let known = || SUBJECTS.iter().map(|subject| subject.name).collect::<Vec<_>>().join(", ");
        SUBJECTS
            .iter()
            .find(|subject| subject.name == name)
            .ok_or_else(|| format!("no server {name}; there are {}", known()))
    };
    wanted.split(',').map(|name| one(name.trim())).collect()
}

#[tokio::main]
async fn main() -> ExitCode {
    if inside::is_inside() {
        inside::serve(trials::run).await;
        return ExitCode::SUCCESS;
    }
    match measure().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("soundness: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<bool, String> {
    let subjects = chosen()?;
    for subject in &subjects {
        subject.command()?;
    }
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_secs());
    let (trials, seed) = (number("N", 100), number("SEED", clock));
    println!("seed {seed}, {trials} edits a server, {} ms for an answer", number("BUDGET", 3000));
    println!(
        "\"median\" and \"default\": ms in Neovim from the edit to our answer, and to its own display, same kind of edit, interleaved\n\
         \"outside\": median ms of every other answer, from before the edit to the report in the process that asks; \"p95\" of the same"
    );
    println!(
        "{:<22}{:>7}{:>7}{:>7}{:>21}{:>8}{:>9}{:>9}{:>9}{:>9}{:>7}",
        "server", "asked", "fresh", "wrong", "unsettled", "p95 ms", "median", "default", "ratio", "outside", "late"
    );
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let loops: Vec<_> = (0..number("BUSY", 0))
        .map(|_| {
            let done = std::sync::Arc::clone(&done);
            std::thread::spawn(move || while !done.load(std::sync::atomic::Ordering::Relaxed) {})
        })
        .collect();
    let mut sound = true;
    for subject in subjects {
        sound &= one(subject, trials, seed).await?;
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    loops.into_iter().for_each(|busy| busy.join().expect("a loop"));
    Ok(sound)
}

async fn one(subject: &'static Subject, trials: u64, seed: u64) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let base = folder.path().canonicalize().map_err(|error| error.to_string())?;
    let root = base.join("project");
    std::fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    subject.language.prepare(&root).map_err(|error| error.to_string())?;
    std::fs::write(root.join(subject.language.file()), text::State::new().text(subject.language))
        .map_err(|e| e.to_string())?;
    let text = |path: &Path| path.display().to_string();
    let job = Job {
        server: subject.name.to_owned(),
        command: subject.command()?,
        filetype: subject.language.filetype().to_owned(),
        settings: (subject.settings)(&root),
        binary: text(&std::env::current_exe().map_err(|error| error.to_string())?),
        root: text(&root),
        file: subject.language.file(),
        trials: usize::try_from(trials).unwrap_or(usize::MAX),
        seed,
        budget_ms: number("BUDGET", 3000),
        kills: number("KILL", 0) > 0,
        first: number("FIRST", 0) + number("BETWEEN", 0) > 0,
        between: number("BETWEEN", 0) > 0,
        out: text(&base.join("trials")),
        capabilities: text(&base.join("capabilities.json")),
    };
    let limit = Duration::from_secs(300) + Duration::from_secs(20) * u32::try_from(job.trials).unwrap_or(u32::MAX);
    if job.first {
        first::prepare(&root, subject, job.trials).map_err(|error| error.to_string())?;
    }
    inside::start(&base, &root, START, &job, limit).await.map_err(|problem| format!("{}: {problem}", subject.name))?;
    let lines = std::fs::read_to_string(&job.out).map_err(|error| format!("{}: no trials: {error}", subject.name))?;
    if job.first {
        let show = usize::try_from(number("SHOW", 5)).unwrap_or(5);
        let done: Vec<first::First> = serde_json::from_str(&lines).map_err(|error| error.to_string())?;
        let sound = first::report(subject.name, "Neovim", &done, show);
        subject.language.prepare(&root).map_err(|error| error.to_string())?;
        first::prepare(&root, subject, job.trials).map_err(|error| error.to_string())?;
        let mut door = headless::Headless::new(&job).await;
        let done = first::run(&mut door, &job, subject).await;
        door.end().await;
        return Ok(sound & first::report(subject.name, "headless", &done, show));
    }
    let done: Vec<Trial> = lines.lines().map(|line| serde_json::from_str(line).expect("a trial")).collect();
    if done.len() != job.trials {
        return Err(format!("{}: only {} of {} edits were made", subject.name, done.len(), job.trials));
    }
    let capabilities = serde_json::from_slice(&std::fs::read(&job.capabilities).map_err(|error| error.to_string())?)
        .map_err(|error| error.to_string())?;
    let mut texts: Vec<String> = done.iter().map(|trial| trial.text.clone()).collect();
    texts.sort();
    texts.dedup();
    let truth = truth::of(subject, &root, &capabilities, &texts).await;
    Ok(report(subject, &done, &texts.into_iter().zip(truth).collect()))
}

/// The faults of an answer: diagnostics that the text does not have, missing ones, and built-in mistakes without a
/// report.
fn faults(answer: &[Item], truth: &[Item], expected: &[Expected]) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    faults.extend(truth.iter().filter(|item| !answer.contains(item)).map(|item| format!("missed {item:?}")));
    faults.extend(answer.iter().filter(|item| !truth.contains(item)).map(|item| format!("untrue {item:?}")));
    faults.extend(against(answer, expected));
    faults
}

fn against(items: &[Item], expected: &[Expected]) -> Vec<String> {
    let broken = expected.iter().filter(|want| {
        let found = items.iter().any(|item| item.line == want.line && item.message.contains(&want.words));
        found != want.found
    });
    broken.map(|want| format!("built in otherwise: {want:?}")).collect()
}

fn percentile(mut list: Vec<f64>, part: f64) -> Option<f64> {
    list.sort_by(f64::total_cmp);
    let last = list.len().checked_sub(1)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let at = (last as f64 * part).round() as usize;
    list.get(at).copied()
}

fn report(subject: &Subject, trials: &[Trial], truth: &HashMap<String, Vec<Item>>) -> bool {
    let (mut asked, mut fresh, mut wrong, mut late) = (0, 0, Vec::new(), 0);
    let (mut amended, mut twice) = (0, 0);
    let mut unsettled: HashMap<&str, usize> = HashMap::new();
    let mut odd = 0;
    let mut right_guesses = 0;
    for trial in trials {
        let true_items = &truth[&trial.text];
        odd += usize::from(!against(true_items, &trial.expected).is_empty());
        amended += trial.amended;
        twice += trial.twice;
        late += trial.late.len() - trial.amended;
        asked += usize::from(trial.default_ms.is_none());
        if trial.default_ms.is_none() && trial.kind != "default" && trial.kind != "killed" && trial.answers.is_empty() {
            wrong.push(format!("#{} {}: no client was asked", trial.number, trial.kind));
        }
        let claims = trial.answers.iter().chain(&trial.late).filter(|answer| answer.freshness.is_fresh());
        for answer in claims {
            let faults = faults(&answer.items, true_items, &trial.expected);
            if !faults.is_empty() {
                wrong.push(format!(
                    "#{} {} {:?} hurried={}: {}",
                    trial.number,
                    trial.kind,
                    answer.freshness,
                    trial.hurried,
                    faults.join("; ")
                ));
            }
        }
        for answer in &trial.answers {
            fresh += usize::from(answer.freshness.is_fresh());
            let name = match answer.freshness {
                Freshness::Timeout => "timeout",
                Freshness::Quiet => "quiet",
                Freshness::Unavailable => "unavailable",
                _ => continue,
            };
            *unsettled.entry(name).or_default() += 1;
            let right = || faults(&answer.items, true_items, &trial.expected).is_empty();
            right_guesses += usize::from(answer.freshness == Freshness::Quiet && right());
        }
    }
    let times = |inside: bool| -> Vec<f64> {
        let of_kind = trials.iter().filter(|trial| (trial.kind == "plain") == inside);
        let answers = of_kind.flat_map(|trial| &trial.answers).filter(|answer| answer.freshness.is_fresh());
        answers.map(|answer: &Answer| answer.ms).collect()
    };
    let ours = percentile(times(true), 0.5);
    let outside = |part| percentile(times(false), part);
    let default = percentile(trials.iter().filter_map(|trial| trial.default_ms).collect(), 0.5);
    let text = |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
    let mut names: Vec<String> = unsettled.iter().map(|(name, count)| format!("{count} {name}")).collect();
    names.sort();
    println!(
        "{:<22}{:>7}{:>7}{:>7}{:>21}{:>8}{:>9}{:>9}{:>9}{:>9}{:>7}",
        subject.name,
        asked,
        fresh,
        wrong.len(),
        if names.is_empty() { "0".to_owned() } else { names.join(" ") },
        text(outside(0.95), 0),
        text(ours, 1),
        text(default, 1),
        text(ours.zip(default).map(|(ours, default)| ours / default), 2),
        text(outside(0.5), 1),
        late,
    );
    if odd > 0 {
        println!("    the truth is not what was built in: {odd} texts");
    }
    if let Some(quiet) = unsettled.get("quiet") {
        println!("    of the {quiet} quiet answers {right_guesses} were right");
    }
    if amended > 0 {
        println!("    amended by the server, unasked, for the same text: {amended} answers");
    }
    if twice > 0 {
        println!("    WRONG late answers given twice: {twice}");
    }
    for line in wrong.iter().take(usize::try_from(number("SHOW", 5)).unwrap_or(5)) {
        println!("    WRONG {line}");
    }
    wrong.is_empty() && twice == 0
}
