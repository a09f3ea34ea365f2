//! A server that never stops answering: the call ends, the memory of the process stays small, the way out is named.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use sextant::llm::endpoint::{Provider, RemoteConfig};
use sextant::llm::input::StepInput;
use sextant::llm::remote::RemoteModel;
use sextant::llm::retry::RetryPolicy;
use sextant::llm::step::{Model, ModelError, Spoken};

use crate::support::model_server::{Dealing, Endless, ModelServer, Reply};
use crate::support::project::Project;

const DEALING: Dealing = Dealing { characters: 16_000, bytes: 1 << 20 };

/// Kibibytes that a process may come to hold at once (it needs some 30 MB for itself).
const ROOM: u64 = 130 * 1024;

/// The most memory that a process has held so far, in kibibytes; `None` when it is gone.
fn peak(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Asks in a process of its own; what it said, and the most memory that it held.
async fn ask(what: Endless) -> (String, u64, Duration) {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let server = ModelServer::dealing(vec![Reply::Endless(what); 8], DEALING).await;
    std::fs::create_dir_all(project.beside("config").join("sextant")).expect("a folder");
    let settings = format!(
        "servers = []\n[model]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nmax_attempts = 1\nbase_url = {:?}\n",
        server.url()
    );
    std::fs::write(project.beside("config").join("sextant").join("config.toml"), settings).expect("a file");
    let started = Instant::now();
    let child = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["ask", "rename x", "--file", "a.py"])
        .current_dir(project.root())
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary");
    let pid = child.id().expect("it runs");
    let ended = child.wait_with_output();
    tokio::pin!(ended);
    let mut most = 0;
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    let output = loop {
        tokio::select! {
            output = &mut ended => break output.expect("it ended"),
            _ = tick.tick() => most = most.max(peak(pid).unwrap_or(0)),
        }
        assert!(most < ROOM, "{what:?}: it holds {most} KiB after {:?}", started.elapsed());
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{what:?}: {said}");
    (said, most, started.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_answer_ends_and_takes_little_memory() {
    for (what, wanted) in [
        (Endless::Content, "longer than"),
        (Endless::Line, "longer than"),
        (Endless::Comments, "longer than"),
        (Endless::Error, "HTTP 500"),
        (Endless::Headers, "http://127.0.0.1"),
    ] {
        let (said, most, took) = ask(what).await;
        assert!(said.contains(wanted), "{what:?}: {said}");
        assert!(took < Duration::from_secs(30), "{what:?}: {took:?}");
        println!("{what:?}: {most} KiB, {took:?}");
    }
}

#[tokio::test]
async fn an_answer_that_drips_is_ended_by_the_clock() {
    let drip = Reply::Slow(json!({"reasoning": "x".repeat(4000)}), Duration::from_millis(200));
    let server = ModelServer::dealing([drip], Dealing { characters: 10, bytes: 4096 }).await;
    let mut config = RemoteConfig::new(Provider::COMPATIBLE, "m");
    config.base_url = Some(server.url());
    config.total_seconds = 1;
    let model = RemoteModel::new(&config).expect("a model").with_retry(RetryPolicy::default());
    let words = |_: Spoken<'_>| {};
    let started = Instant::now();
    let (reply, _) = model.step(&StepInput::default(), &words).await;
    assert!(matches!(&reply, Err(ModelError::Cut { detail, .. }) if detail.contains("total_seconds")), "{reply:?}");
    assert!(started.elapsed() < Duration::from_secs(10));
    server.hang_ups_seen(1).await;
    assert_eq!(server.requests().len(), 1, "what takes too long is not asked for again");
}
