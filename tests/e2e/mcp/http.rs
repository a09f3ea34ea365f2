//! The same over HTTP: who has no token, or comes from elsewhere, gets nothing; with one it is the same server.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::mcp::replace;
use crate::support::project::Project;

struct HttpServer {
    child: Child,
    port: u16,
    token: String,
}

impl HttpServer {
    async fn start(project: &Project) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sextant"))
            .args(["mcp", "--http", "0"])
            .current_dir(project.root())
            .env("XDG_CONFIG_HOME", project.beside("config"))
            .env("XDG_STATE_HOME", project.state_home())
            .env("XDG_RUNTIME_DIR", project.beside("runtime"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).await.expect("a line");
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let url = told["url"].as_str().expect("an address");
        let port = url.trim_end_matches('/').rsplit_once(':').expect("a port").1.parse().expect("a number");
        Self { child, port, token: told["token"].as_str().expect("a token").to_owned() }
    }

    /// What a request comes to, as it stands on the wire.
    async fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.expect("it listens");
        // Who is turned away early may find the way closed.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(std::time::Duration::from_secs(60), stream.read_to_end(&mut answer)).await;
        let _ = read.expect("an end");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A message with these headers beside the usual ones.
    async fn post(&self, headers: &[(&str, &str)], body: &str) -> String {
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        all.extend(headers);
        let head: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.send(format!("POST / HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn hello() -> String {
    let about =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "web", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}).to_string()
}

/// The JSON-RPC answer in a stream of events.
fn answer(text: &str) -> Value {
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok())
        .find(|message| message["id"].is_number())
        .unwrap_or_else(|| panic!("no answer: {text}"))
}

#[tokio::test]
async fn without_the_token_or_from_elsewhere_nothing_is_answered() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project).await;
    assert!(server.token.len() >= 32, "{}", server.token);
    let (host, bearer) = (server.host(), server.bearer());
    let right: [(&str, &str); 2] = [("Host", &host), ("Authorization", &bearer)];
    let hello = hello();
    assert_eq!(status(&server.post(&right, &hello).await), 200);
    let short = &bearer[..bearer.len() - 1];
    for (headers, code) in [
        (vec![("Host", host.as_str())], 401),
        (vec![("Host", &host), ("Authorization", short)], 401),
        (vec![("Host", &host), ("Authorization", "Basic eDp5")], 401),
        (vec![("Host", "example.com"), ("Authorization", &bearer)], 403),
        (vec![("Host", "127.0.0.1.example.com"), ("Authorization", &bearer)], 403),
        (vec![("Host", &host), ("Authorization", &bearer), ("Origin", "https://example.com")], 403),
        (vec![("Host", &host), ("Authorization", &bearer), ("Origin", "null")], 403),
        (vec![("Host", &host), ("Authorization", &bearer), ("Origin", "http://127.0.0.1:1")], 403),
    ] {
        let refused = server.post(&headers, &hello).await;
        assert_eq!(status(&refused), code, "{headers:?}: {refused}");
        assert!(!refused.contains("serverInfo") && !refused.contains(&server.token), "{refused}");
    }
    for bytes in
        [&b"\x00\x01\x02\r\n\r\n"[..], b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"]
    {
        assert_ne!(status(&server.send(bytes).await), 200);
    }
    for body in ["", "{", "[]", "null", "{\"jsonrpc\":\"2.0\"}", "\u{0}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}"]
    {
        assert!((400..500).contains(&status(&server.post(&right, body).await)), "{body:?}");
    }
    let many = format!("[{}]", vec!["{}"; 60_000].join(","));
    let refused = server.post(&right, &many).await;
    assert!(status(&refused) == 413 && refused.contains("100000 values at most"), "{refused}");
    let own = format!("http://{host}");
    assert_eq!(status(&server.post(&[right[0], right[1], ("Origin", &own)], &hello).await), 200, "it goes on");
    drop(server.child);
}

#[tokio::test]
async fn with_the_token_it_is_the_same_server() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project).await;
    let (host, bearer) = (server.host(), server.bearer());
    let right: [(&str, &str); 2] = [("Host", &host), ("Authorization", &bearer)];
    let begun = server.post(&right, &hello()).await;
    assert_eq!(answer(&begun)["result"]["serverInfo"]["name"], "sextant", "{begun}");
    let lower = begun.to_lowercase();
    let session = lower.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
    let with = [right[0], right[1], ("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(status(&server.post(&with, &ready).await), 202);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let list = answer(&server.post(&with, &list).await);
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(11), "{list}");
    let call = json!({"name": "edit_file", "arguments": replace("a.txt", "one", "two")});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}).to_string();
    let edited = answer(&server.post(&with, &call).await);
    assert_eq!(edited["result"]["structuredContent"]["ok"], true, "{edited}");
    assert_eq!(project.read("a.txt"), "two\n");
    let undone = crate::cli::sextant(&project, &["undo"]);
    assert!(String::from_utf8_lossy(&undone.stdout).contains("edits of web"), "{undone:?}");
    let none = [right[0], right[1], ("Mcp-Session-Id", "no-such-session")];
    assert_eq!(status(&server.post(&none, &call).await), 404);
}

/// The system holds the rest of an answer back for 40 ms where it may.
#[tokio::test]
async fn an_answer_over_a_connection_that_stays_is_not_held_back() {
    let project = Project::new(&[]);
    let server = HttpServer::start(&project).await;
    let (host, bearer) = (server.host(), server.bearer());
    let begun = server.post(&[("Host", &host), ("Authorization", &bearer)], &hello()).await.to_lowercase();
    let session = begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nMcp-Session-Id: {session}\r\nContent-Type: \
         application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{list}",
        list.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.expect("it listens");
    let mut quickest = std::time::Duration::MAX;
    for number in 0..80 {
        let began = std::time::Instant::now();
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let (mut answer, mut part) = (Vec::new(), [0; 16384]);
        while !answer.ends_with(b"\r\n0\r\n\r\n") {
            let read = stream.read(&mut part).await.expect("an answer");
            assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..read]);
        }
        // At the beginning of a connection the system confirms at once.
        if number >= 40 {
            quickest = quickest.min(began.elapsed());
        }
    }
    assert!(quickest.as_millis() < 35, "{quickest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_half_a_head_keeps_nobody_with_the_token_waiting() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project).await;
    let (host, bearer, port) = (server.host(), server.bearer(), server.port);
    let mut slow = Vec::new();
    for _ in 0..300 {
        slow.push(tokio::spawn(async move {
            loop {
                let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                let _ = stream.write_all(b"POST / HTTP/1.1\r\nHost: ").await;
                let _ = stream.read(&mut [0; 16]).await;
            }
        }));
    }
    let right: [(&str, &str); 2] = [("Host", &host), ("Authorization", &bearer)];
    for call in 0..60 {
        let began = std::time::Instant::now();
        assert_eq!(status(&server.post(&right, &hello()).await), 200, "{call}");
        assert!(began.elapsed() < std::time::Duration::from_secs(1), "{call}: {:?}", began.elapsed());
    }
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn clients_that_never_come_back_end_and_the_last_ones_stay() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project).await;
    let (host, bearer) = (server.host(), server.bearer());
    let right: [(&str, &str); 2] = [("Host", &host), ("Authorization", &bearer)];
    let mut ids = Vec::new();
    for _ in 0..80 {
        let said = server.post(&right, &hello()).await;
        let id =
            said.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id:").map(str::to_owned));
        ids.push(id.expect("a session").trim().to_owned());
    }
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let asks = async |id: &str| {
        let headers = [("Host", host.as_str()), ("Authorization", &bearer), ("Mcp-Session-Id", id)];
        status(&server.post(&headers, &ping).await)
    };
    assert_eq!((asks(&ids[0]).await, asks(&ids[79]).await), (404, 200));
}
