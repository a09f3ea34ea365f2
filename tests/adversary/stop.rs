//! A task that a hostile server takes part in, stopped at any moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use sextant::base::deadline::Deadline;
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{Config, Engine, Request};
use sextant::llm::offline::OfflineModel;
use sextant::workspace::root::Root;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::sandbox::{Sandbox, turn};
use crate::seed::{Chance, seed};
use crate::support::servers::tool;

/// Messages that one server sends before its end.
pub const EACH: usize = 12;
pub fn command(sandbox: &Sandbox, number: usize, count: usize) -> Vec<String> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adversary/hostile_server.py");
    let number = seed().wrapping_add(number as u64) % 1_000_000_007;
    [
        tool("python3").display().to_string(),
        program.display().to_string(),
        number.to_string(),
        count.to_string(),
        sandbox.outside.display().to_string(),
        log(sandbox).display().to_string(),
    ]
    .to_vec()
}

pub fn log(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".local/sent")
}

/// How soon a stopped task has to be over, and how often that is tried: the machine may be busy for a moment.
const SOON: Duration = Duration::from_millis(100);
const TRIES: usize = 4;
const STOPS: usize = 12;

#[test]
fn a_task_with_a_hostile_server_stops_at_once() {
    let _turn = turn();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let sandbox = Sandbox::new();
    let (mut late, mut all) = (Vec::new(), Vec::new());
    for number in 0..STOPS {
        let mut times = Vec::new();
        while times.len() < TRIES && times.last().is_none_or(|time| *time > SOON) {
            match runtime.block_on(stopped(&sandbox, number)) {
                Some(time) => times.push(time),
                None => break,
            }
        }
        if times.last().is_some_and(|time| *time > SOON) {
            late.push(format!("server {number}: {times:?}"));
        }
        all.extend(times);
    }
    all.sort();
    println!("stops: seed {}, {} tasks were under way: {all:?}", seed(), all.len());
    runtime.shutdown_timeout(Duration::from_secs(5));
    assert!(all.len() * 2 >= STOPS, "most tasks were over before they were stopped");
    assert!(late.is_empty(), "seed {}: {}", seed(), late.join("\n"));
}

/// Starts a task, stops it at a moment that chance names; how long its end took, where it was under way then.
async fn stopped(sandbox: &Sandbox, number: usize) -> Option<Duration> {
    sandbox.reset();
    fs::create_dir_all(sandbox.home.join(".local")).unwrap();
    let server =
        ServerConfig { name: "hostile".into(), command: command(sandbox, number, EACH), ..ServerConfig::default() };
    let editor = HeadlessEditor::new(&sandbox.project, vec![server], unbounded_channel().0).expect("a folder");
    let editor = Arc::new(editor);
    let config: Config =
        serde_json::from_value(json!({"diagnostics": {"timeout_ms": 60000, "start_timeout_ms": 60000}})).unwrap();
    let root = Root::new(&sandbox.project).unwrap();
    let session = Engine::new(Arc::<HeadlessEditor>::clone(&editor), Arc::new(OfflineModel), root, config);
    let cancel = CancellationToken::new();
    let after = Duration::from_millis(Chance::of_case(number).next() % 400);
    let asked = Arc::new(Mutex::new(None));
    tokio::spawn({
        let (cancel, asked) = (cancel.clone(), Arc::clone(&asked));
        async move {
            tokio::time::sleep(after).await;
            *asked.lock().unwrap() = Some(Instant::now());
            cancel.cancel();
        }
    });
    let request = Request { text: "fix the errors".into(), path: Some("a.py".into()), ..Request::default() };
    let _ = session.ask(&request, &cancel).await;
    let took = asked.lock().unwrap().map(|at| at.elapsed());
    session.close().await;
    editor.shutdown(Deadline::after_ms(300)).await;
    took
}
