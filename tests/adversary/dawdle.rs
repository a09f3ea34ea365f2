//! Peers that send half a head, half a body, a byte now and then or nothing, on each port: the one with the token is
//! served all the same.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::sandbox::turn;
use crate::support::nvim::Nvim;
use crate::support::project::Project;

/// Peers at once, and calls beside them.
const PEERS: usize = 200;
const CALLS: usize = 100;
const SOON: Duration = Duration::from_secs(1);

/// Keeps a place for as long as it is let, again and again.
async fn dawdle(address: String, number: usize) {
    loop {
        let Ok(mut stream) = TcpStream::connect(&address).await else {
            tokio::task::yield_now().await;
            continue;
        };
        let wrong = "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer 0\r\nContent-Length: 999\r\n\r\n{";
        let _ = match number % 5 {
            0 => Ok(()),
            1 => stream.write_all(b"POST / HTTP/1.1\r\nHost: ").await,
            2 => stream.write_all(wrong.as_bytes()).await,
            3 => stream.write_all(format!("GET / HTTP/1.1\r\nX-Long: {}", "x".repeat(8000)).as_bytes()).await,
            _ => drip(&mut stream, wrong).await,
        };
        let _ = stream.read(&mut [0; 64]).await;
    }
}

/// One byte at a time, so that there is always news.
async fn drip(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    for byte in text.bytes() {
        ticks.tick().await;
        stream.write_all(&[byte]).await?;
    }
    Ok(())
}

/// The answers of all calls are in time; the longest is told.
async fn served(what: &str, address: &str, request: &str) {
    let mut peers = JoinSet::new();
    for number in 0..PEERS {
        peers.spawn(dawdle(address.to_owned(), number));
    }
    let mut times = Vec::new();
    let mut problems = Vec::new();
    for call in 0..CALLS {
        let began = Instant::now();
        let mut answer = String::new();
        if let Ok(mut stream) = TcpStream::connect(address).await
            && stream.write_all(request.as_bytes()).await.is_ok()
        {
            let _ = stream.read_to_string(&mut answer).await;
        }
        times.push(began.elapsed());
        if !answer.starts_with("HTTP/1.1 200") || began.elapsed() > SOON {
            problems.push(format!("{call}: {:?} {}", began.elapsed(), answer.lines().next().unwrap_or("no answer")));
        }
    }
    times.sort();
    println!(
        "{what}: {CALLS} calls beside {PEERS} peers, median {:?}, longest {:?}",
        times[CALLS / 2],
        times[CALLS - 1]
    );
    assert!(problems.is_empty(), "{what}: {} of {CALLS}: {problems:?}", problems.len());
}

fn post(address: &str, token: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn alone(work: impl Future<Output = ()>) {
    let _turn = turn();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work);
}

#[test]
fn the_port_of_a_session_serves_its_owner_beside_200_who_dawdle() {
    alone(session_port());
}

#[test]
fn mcp_over_http_serves_its_owner_beside_200_who_dawdle() {
    alone(mcp_port());
}

async fn session_port() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut nvim = Nvim::start(&project, "{ rpc = { port = true } }", &[]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    let listed = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["sessions", "--json"])
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .output()
        .expect("the sessions");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let port = &listed["sessions"][0]["port"];
    let address = port["address"].as_str().unwrap_or_else(|| panic!("a port in {listed}"));
    let token = std::fs::read_to_string(port["token_file"].as_str().expect("a file")).expect("a token");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "session/info"});
    served("rpc.port", address, &post(address, &token, &body)).await;
}

async fn mcp_port() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut server = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["mcp", "--http", "0"])
        .current_dir(project.root())
        .env("HOME", project.beside("home"))
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .env("XDG_STATE_HOME", project.state_home())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a server");
    let mut line = String::new();
    let mut out = BufReader::new(server.stdout.take().expect("its output"));
    out.read_line(&mut line).await.expect("an address");
    let about: Value = serde_json::from_str(&line).expect("JSON");
    let url = about["url"].as_str().expect("a URL");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}});
    served("mcp --http", address, &post(address, about["token"].as_str().expect("a token"), &begin)).await;
}
