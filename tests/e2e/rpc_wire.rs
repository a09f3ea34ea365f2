//! What comes over a session's socket: every example of the reference, frames that are none, too much at once, two who
//! want the same turn, a reader who is too slow, another user.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use sextant::base::failure::FailureKind;
use sextant::engine::{Delivery, Event, Origin, Request};
use sextant::serve::discovery::{Advertisement, find_sessions};
use sextant::serve::rpc::rpc_client::JoinedSession;
use sextant::serve::rpc::rpc_server::{Serving, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::engine::{Setup, TestEngine, plan_of, planned};
use crate::support::project::Project;

struct Session {
    project: Project,
    engine: TestEngine,
    serving: Serving,
}

fn folders(project: &Project) -> Vec<PathBuf> {
    vec![project.beside("runtime").join("sextant")]
}

async fn session() -> Session {
    session_with(Setup::default()).await
}

async fn session_with(setup: Setup) -> Session {
    let project = Project::new(&[("cart.py", "def total(prices: list[int]) -> int:\n    return sum(prices)\n")]);
    let engine = TestEngine::new(&project, Setup { memory: true, ..setup });
    let what = Advertisement { root: project.root().to_owned(), door: "headless", editor_pid: None };
    let serving = serve(&engine.session, what, folders(&project)).await.expect("a socket");
    Session { project, engine, serving }
}

impl Session {
    fn socket(&self) -> PathBuf {
        self.serving.entry().socket.clone()
    }

    async fn join(&self) -> Arc<JoinedSession> {
        Arc::new(JoinedSession::to(self.serving.entry().clone()).await.expect("it takes us"))
    }

    /// A client that behaves is still answered.
    async fn answers(&self) {
        let info = async { self.join().await.info().await };
        let info = tokio::time::timeout(Duration::from_secs(20), info).await.expect("it hangs");
        assert_eq!(info.expect("an answer").session, *self.serving.entry());
    }

    /// One request over HTTP.
    async fn post(&self, body: &[u8]) -> Value {
        let mut stream = UnixStream::connect(self.socket()).await.expect("a connection");
        let head = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("a head");
        let _ = stream.write_all(body).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
        serde_json::from_str(&body).unwrap_or(Value::String(text))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_of_the_reference_is_understood() {
    let session = session().await;
    let reference = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/rpc.md")).unwrap();
    let examples: Vec<&str> = reference.lines().filter(|line| line.starts_with("{\"jsonrpc\"")).collect();
    assert!(examples.len() > 20, "{examples:?}");
    for example in examples {
        if example.contains("agent/events") {
            continue;
        }
        let answer = session.post(example.as_bytes()).await;
        let data = &answer["error"]["data"];
        let ours = data["kind"].is_string() && data["message"].is_string() && data["hint"].is_string();
        assert!(answer.get("result").is_some() || ours, "{example}\n{answer}");
    }
    for unknown in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "agent/none"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "agent/answer", "params": {"choice": "first"}}),
    ] {
        let data = session.post(unknown.to_string().as_bytes()).await["error"]["data"].clone();
        assert!(data["kind"] == "user" && data["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{data}");
    }
    let read = json!({"jsonrpc": "2.0", "id": 1, "method": "edit/call",
        "params": {"tool": "read_file", "arguments": {"path": "cart.py"}}});
    let answer = session.post(read.to_string().as_bytes()).await;
    assert!(answer["result"]["text"].as_str().is_some_and(|text| text.contains("def total")), "{answer}");
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_answered_or_closed_and_harms_nobody() {
    let session = session().await;
    let mut chance = TestRunner::deterministic();
    let bytes = vec(any::<u8>(), 0..300);
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"agent/ask","params":{"request":{"text":"x"}}}"#;
    for number in 0..300 {
        // Noise instead of HTTP, behind the upgrade, and as the body of a request.
        let noise = bytes.new_tree(&mut chance).unwrap().current();
        let mut stream = UnixStream::connect(session.socket()).await.expect("a connection");
        if number % 2 == 0 {
            upgrade(&mut stream).await;
        }
        let _ = stream.write_all(&noise).await;
        drop(stream);
        session.post(&noise).await;
    }
    session.answers().await;
    let changes = vec((0..request.len(), any::<u8>()), 1..6);
    for _ in 0..20 {
        let mut stream = UnixStream::connect(session.socket()).await.expect("a connection");
        upgrade(&mut stream).await;
        let mut sent = Vec::new();
        for _ in 0..200 {
            let mut text = request.to_vec();
            for (at, byte) in changes.new_tree(&mut chance).unwrap().current() {
                text[at] = byte;
            }
            // No task is to run: what is left whole names no method.
            let text = String::from_utf8_lossy(&text).replace("agent/ask", "agent/none");
            sent.extend(frame(text.as_bytes()));
        }
        let (mut reads, mut writes) = stream.into_split();
        let heard = tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while reads.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
        });
        let _ = writes.write_all(&sent).await;
        drop(writes);
        tokio::time::timeout(Duration::from_secs(30), heard).await.expect("it hangs").expect("an end");
    }
    session.answers().await;
    session.serving.end().await;
}

async fn upgrade(stream: &mut UnixStream) {
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("a head");
    let (mut answer, mut byte) = (Vec::new(), [0]);
    while !answer.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
        answer.push(byte[0]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
}

/// A text frame of a client, whose mask changes nothing.
fn frame(text: &[u8]) -> Vec<u8> {
    let mut out = vec![0x81];
    let length = u16::try_from(text.len()).expect("a short text");
    if length < 126 {
        out.push(0x80 | u8::try_from(length).expect("a byte"));
    } else {
        out.push(0x80 | 126);
        out.extend(length.to_be_bytes());
    }
    out.extend([0; 4]);
    out.extend(text);
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_is_refused_and_the_session_goes_on() {
    let session = session().await;
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"agent/plan","params":"{}"}}"#, "x".repeat(17 << 20));
    let answer = session.post(large.as_bytes()).await;
    assert!(answer.get("result").is_none(), "{}", answer.to_string().chars().take(200).collect::<String>());
    session.answers().await;
    let joined = session.join().await;
    let calls = (0..4000).map(|_| joined.info());
    let answers = futures::future::join_all(calls).await;
    let refused = answers.iter().filter(|answer| answer.as_ref().is_err_and(|why| why.kind == FailureKind::Limit));
    assert!(refused.count() > 0 && answers.iter().filter(|answer| answer.is_ok()).count() >= 2000);
    session.answers().await;
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_second_is_told_what_runs_and_can_stop_it() {
    let session = session().await;
    let agent = &session.engine.session;
    let held = agent.begin("fix everything", Origin::new("Neovim")).expect("nothing runs");
    let joined = session.join().await;
    let request = Request { text: "what is here?".into(), ..Request::default() };
    let busy = joined.ask(&request, "a test".into()).await.expect_err("it is somebody's turn");
    assert_eq!(busy.kind, FailureKind::Busy);
    assert!(busy.message.contains("“fix everything”, begun by Neovim"), "{busy:?}");
    assert_eq!(joined.info().await.expect("an answer").running.map(|task| task.by).as_deref(), Some("Neovim"));
    assert!(joined.cancel().await.expect("an answer") && held.cancel.is_cancelled());
    drop(held);
    assert!(!joined.cancel().await.expect("an answer"), "nothing runs any more");
    session.serving.end().await;
    let gone = joined.info().await.expect_err("the session has ended");
    assert_eq!(gone.kind, FailureKind::Editor);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_is_told_how_things_stand_and_holds_nobody_up() {
    let session = session().await;
    let joined = session.join().await;
    let mut events = joined.events(Some(0)).await.expect("events");
    let many = 30_000;
    for number in 0..many {
        session.engine.session.emit(Event::Progress { text: format!("{number}") });
    }
    session.answers().await;
    let (mut last, mut resynchronised) = (0, 0);
    while last < many {
        match tokio::time::timeout(Duration::from_secs(30), events.next()).await.expect("it hangs") {
            Some(Delivery::Event(envelope)) => {
                assert_eq!(envelope.seq, last + 1, "a gap that was not told");
                last = envelope.seq;
            }
            Some(Delivery::Resync(resync)) => {
                assert_eq!(resync.after, last);
                (last, resynchronised) = (resync.state.seq, resynchronised + 1);
            }
            None => panic!("the events ended at {last}"),
        }
    }
    assert!(resynchronised > 0, "more came than is held");
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_is_refused_even_where_the_socket_is_open_to_all() {
    let session = session().await;
    // Only root can become somebody else; the folders keep everybody else out before.
    let mode = std::fs::metadata(session.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    if !rustix_is_root() {
        return;
    }
    let moved = tempfile::tempdir().unwrap();
    std::fs::set_permissions(moved.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let open = moved.path().join("open.sock");
    std::fs::hard_link(session.socket(), &open).or_else(|_| std::fs::rename(session.socket(), &open)).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).unwrap();
    let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
        s.sendall(b'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')\ns.settimeout(20)\n\
        try:\n    print(len(s.recv(100)))\nexcept ConnectionError:\n    print(0)";
    let ask = async |uid: u32| {
        let mut command = tokio::process::Command::new("python3");
        command.arg("-c").arg(script).arg(&open).current_dir("/").uid(uid);
        let output = command.output().await.expect("python3 is needed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    assert_ne!(ask(0).await, "0", "its own user is answered");
    let other = ask(65534).await;
    assert!(other == "0" || other.contains("BrokenPipe"), "{other}");
    drop(session);
}

fn rustix_is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_is_found_no_more() {
    let session = session().await;
    assert_eq!(find_sessions::of_root(&folders(&session.project), session.project.root()).entries.len(), 1);
    session.serving.end().await;
    assert!(find_sessions::of_root(&folders(&session.project), session.project.root()).entries.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_serves_who_knows_the_token_and_turns_others_away() {
    let plain = session().await;
    assert_eq!(plain.serving.entry().port, None, "none without the option");
    plain.serving.end().await;
    let session = session_with(Setup { config: json!({"rpc": {"port": true}}), ..Setup::default() }).await;
    let port = session.serving.entry().port.clone().expect("a port");
    assert!(port.address.starts_with("127.0.0.1:"), "{port:?}");
    let mode = std::fs::metadata(&port.token_file).expect("a token").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let token = std::fs::read_to_string(&port.token_file).expect("a token");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"session/info"}"#;
    let ask = async |host: &str, more: &str| {
        let mut stream = tokio::net::TcpStream::connect(&port.address).await.expect("a connection");
        let head = format!(
            "POST / HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("a request");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    };
    let known = format!("Authorization: Bearer {token}\r\n");
    let answer = ask(&port.address, &known).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(&session.serving.entry().name), "{answer}");
    for (host, more, status) in [
        (port.address.as_str(), String::new(), 401),
        (&port.address, "Authorization: Bearer 0123\r\n".to_owned(), 401),
        ("evil.example", known.clone(), 403),
        (&port.address, format!("{known}Origin: http://evil.example\r\n"), 403),
        (&port.address, format!("{known}Origin: http://{}\r\n", port.address), 403),
        // An upgrade is held to the same.
        (
            &port.address,
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA\r\n".to_owned(),
            401,
        ),
    ] {
        let answer = ask(host, &more).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host} {more}: {answer}");
        assert!(!answer.contains("result"), "{answer}");
    }
    session.answers().await;
    let found = find_sessions::of_root(&folders(&session.project), session.project.root());
    assert_eq!(found.entries, [session.serving.entry().clone()], "{:?}", found.problems);
    session.serving.end().await;
    assert!(!port.token_file.exists(), "it goes with the session");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_replaced_by_a_whole_document_or_stays_as_it_was() {
    let plan = plan_of([planned("change total", &["cart.py::total"])]);
    let session = session_with(Setup { plans: vec![plan], ..Setup::default() }).await;
    let call = async |method: &str, params: Value| {
        session
            .post(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string().as_bytes())
            .await
    };
    let none = call("plan/set", json!({"markdown": "# T\n\n- [ ] change it\n"})).await;
    assert!(none["error"]["message"].as_str().is_some_and(|text| text.contains("no plan waits")), "{none}");
    let made = call("agent/plan", json!({"request": {"text": "change total", "path": "cart.py"}})).await;
    assert_eq!(made["result"]["steps"][0]["title"], "change total", "{made}");
    let shown = call("plan/get", json!({})).await["result"]["markdown"].as_str().expect("a document").to_owned();
    for (wrong, words) in [
        (json!({"markdown": "- [ ] nothing\n"}), "begins with its title"),
        (json!({"markdown": format!("{shown}  - colour: red\n")}), "line"),
        (json!({"markdown": shown.replace("cart.py::total", "cart.py::none")}), "none"),
        (json!({"markdown": shown.replace("[ ]", "[x]")}), "only a run makes a step"),
        (json!({"markdown": shown.clone(), "change": "x"}), "either change or markdown"),
        (json!({}), "either change or markdown"),
    ] {
        let refused = call("plan/set", wrong.clone()).await;
        let said = refused["error"]["data"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(said.contains(words), "{wrong}: {refused}");
    }
    assert_eq!(call("plan/get", json!({})).await["result"]["markdown"], json!(shown), "it is as it was");
    let document =
        shown.replace("change total", "change it gently") + "- [ ] and again\n  - symbols: `cart.py::total`\n";
    let set = call("plan/set", json!({"markdown": document})).await;
    let titles: Vec<&Value> =
        set["result"]["steps"].as_array().expect("steps").iter().map(|step| &step["title"]).collect();
    assert_eq!(titles, ["change it gently", "and again"], "{set}");
    let now = call("plan/get", json!({})).await["result"]["markdown"].as_str().expect("a document").to_owned();
    assert!(now.contains("- [ ] change it gently") && now.contains("- [ ] and again"), "{now}");
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_fills_the_port_without_a_token_takes_nothing_of_the_socket_and_is_not_kept() {
    let session = session_with(Setup { config: json!({"rpc": {"port": true}}), ..Setup::default() }).await;
    let port = session.serving.entry().port.clone().expect("a port");
    let connect = async || tokio::net::TcpStream::connect(&port.address).await.expect("a connection");
    // More than it takes, and none of them says anything.
    let mut silent = Vec::new();
    for _ in 0..160 {
        silent.push(connect().await);
    }
    session.answers().await;
    drop(silent);
    let refused = async {
        loop {
            let mut stream = connect().await;
            let head = format!("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n", port.address);
            let _ = stream.write_all(head.as_bytes()).await;
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer).await;
            // Until the places of those before are free.
            if !answer.is_empty() {
                return answer;
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(20), refused).await.expect("the connection is closed");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    session.serving.end().await;
}

/// Callers with the token are answered within a second, while 400 others hold half-sent heads.
pub async fn answers_beside_half_heads(address: &str, token: &str) {
    let mut slow = Vec::new();
    for number in 0..400 {
        let address = address.to_owned();
        slow.push(tokio::spawn(async move {
            loop {
                let Ok(mut stream) = tokio::net::TcpStream::connect(&address).await else { continue };
                if number % 2 == 0 {
                    let _ = stream.write_all(b"POST / HTTP/1.1\r\nHost: ").await;
                }
                let _ = stream.read(&mut [0; 16]).await;
            }
        }));
    }
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"session/info"}"#;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for call in 0..129 {
        let began = std::time::Instant::now();
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("a request");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{call}: {answer}");
        assert!(began.elapsed() < Duration::from_secs(1), "{call}: {:?}", began.elapsed());
    }
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_half_a_head_keeps_nobody_with_the_token_waiting() {
    let session = session_with(Setup { config: json!({"rpc": {"port": true}}), ..Setup::default() }).await;
    let port = session.serving.entry().port.clone().expect("a port");
    let token = std::fs::read_to_string(&port.token_file).expect("a token");
    answers_beside_half_heads(&port.address, &token).await;
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn websockets_are_counted_as_long_as_they_are_open() {
    let session = session().await;
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..160 {
        let mut stream = UnixStream::connect(session.socket()).await.expect("a connection");
        let mut answer = [0; 12];
        let asked = stream.write_all(head.as_bytes()).await.is_ok() && stream.read_exact(&mut answer).await.is_ok();
        if asked && &answer == b"HTTP/1.1 101" {
            open.push(stream);
        }
    }
    assert_eq!(open.len(), 128);
    drop(open);
    let again = async { while JoinedSession::to(session.serving.entry().clone()).await.is_err() {} };
    tokio::time::timeout(Duration::from_secs(20), again).await.expect("their places are free again");
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_plan_over_the_socket_leads_out_of_the_workspace() {
    const SECRET: &str = "the key of somebody else";
    let plan = plan_of([planned("change total", &["cart.py::total"])]);
    let session = session_with(Setup { plans: vec![plan], ..Setup::default() }).await;
    let outside = session.project.beside("outside");
    std::fs::write(outside.join("key.txt"), SECRET).unwrap();
    std::os::unix::fs::symlink(&outside, session.project.root().join("way")).unwrap();
    let root = session.project.root().display().to_string();
    let paths = [
        "../outside/key.txt".to_owned(),
        "way/key.txt".to_owned(),
        format!("{root}/../outside/key.txt"),
        outside.join("key.txt").display().to_string(),
        format!("/proc/self/root{}/key.txt", outside.display()),
        "/proc/self/environ".to_owned(),
        "/etc/passwd".to_owned(),
    ];
    let call = async |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let answer = tokio::time::timeout(Duration::from_secs(60), session.post(body.as_bytes())).await;
        let answer = answer.expect("it hangs");
        let said = answer.to_string();
        assert!(!said.contains(SECRET) && !said.contains("root:"), "{method} {params}: {said}");
        answer
    };
    call("agent/plan", json!({"request": {"text": "change total", "path": "cart.py"}})).await;
    let shown = call("plan/get", json!({})).await["result"]["markdown"].as_str().expect("a document").to_owned();
    for path in &paths {
        let hostile = shown.replace("cart.py::total", &format!("{path}::total"));
        let refused = call("plan/set", json!({"markdown": hostile})).await;
        assert!(refused["error"]["data"]["message"].is_string(), "{path}: {refused}");
    }
    assert_eq!(call("plan/get", json!({})).await["result"]["markdown"], json!(shown), "it is as it was");
    assert_eq!(std::fs::read_to_string(outside.join("key.txt")).unwrap(), SECRET);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    session.serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_of_another_user_is_not_joined_where_it_stands_in_the_place_of_ours() {
    // Only root can become somebody else; the folders keep everybody else out before.
    if !rustix_is_root() {
        return;
    }
    let session = session().await;
    let theirs = tempfile::tempdir().unwrap();
    std::fs::set_permissions(theirs.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let socket = theirs.path().join("evil.sock");
    let script = "import os, socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\n\
        os.chmod(sys.argv[1], 0o666)\nprint('ready', flush=True)\nsys.stdin.read()";
    let mut command = tokio::process::Command::new("python3");
    command.arg("-c").arg(script).arg(&socket).current_dir("/").uid(65534).kill_on_drop(true);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3 is needed");
    let mut ready = [0; 5];
    child.stdout.take().expect("a pipe").read_exact(&mut ready).await.expect("it listens");
    let entry = sextant::serve::discovery::SessionEntry { socket: socket.clone(), ..session.serving.entry().clone() };
    let refused = JoinedSession::to(entry).await.expect_err("it is somebody else's");
    assert!(refused.message.contains("its socket belongs to another user"), "{refused:?}");
    let stream = UnixStream::connect(&socket).await.expect("a connection");
    let link = sextant::editors::lsp::link::link_channel::open::<Value, Value>(stream);
    assert!(link.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied));
    session.serving.end().await;
}
