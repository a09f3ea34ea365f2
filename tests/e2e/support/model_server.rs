//! A scripted language model behind OpenAI's `/v1/chat/completions`, on plain TCP, so that every byte can go wrong.
//!
//! It answers from a queue, writes down what it is asked, and notices when the client hangs up.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// One scripted answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Streamed as the content of an answer, then usage and `[DONE]`.
    Text(String),
    /// The same for an object.
    Json(Value),
    /// Streamed without usage and without `[DONE]`.
    Unfinished(String),
    /// Stops at the limit of tokens.
    Truncated(String),
    /// An HTTP status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// The stream of this text, broken off after so many bytes of it.
    CutAfter(Value, usize),
    /// Headers, the first characters of the text, then nothing until the client leaves.
    Stall(String),
    /// A stream that is not what the protocol says.
    Garbage,
    /// An error object inside the stream, after the text.
    ErrorInside(String, Value),
    /// Server-sent events written out, for providers that speak another dialect.
    Events(String),
    /// The same, broken off after so many bytes.
    EventsCut(String, usize),
    /// Every piece after a pause.
    Slow(Value, Duration),
    /// Another one, once it is let go.
    Held(Box<Reply>, Arc<Notify>),
    /// A piece of a response again and again, until the client leaves.
    Endless(Endless),
}

/// What has no end.
#[derive(Clone, Copy, Debug)]
pub enum Endless {
    /// Whole events with content.
    Content,
    /// One event that is never complete.
    Line,
    /// Lines that say nothing.
    Comments,
    /// The body of an error.
    Error,
    /// The headers.
    Headers,
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub at: Instant,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The text of the last message with this role.
    pub fn said_by(&self, role: &str) -> &str {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        messages.iter().rev().find(|m| m["role"] == role).and_then(|m| m["content"].as_str()).unwrap_or_default()
    }
}

/// How the bytes are dealt out.
#[derive(Clone, Copy, Debug)]
pub struct Dealing {
    /// Characters of content in one event.
    pub characters: usize,
    /// Bytes in one write; fewer than a character has split characters.
    pub bytes: usize,
}

impl Default for Dealing {
    fn default() -> Self {
        Self { characters: 7, bytes: 4096 }
    }
}

#[derive(Default)]
struct Book {
    script: VecDeque<Reply>,
    requests: Vec<Request>,
    /// What the server tells of its model, by path; everything else is not found.
    facts: Vec<(String, Value)>,
    /// Who asked for that.
    looks: Vec<Request>,
    /// Those that were answered by [`stays`].
    held: Vec<Request>,
    connections: usize,
    hang_ups: usize,
}

type Shared = Arc<(Mutex<Book>, watch::Sender<u64>)>;

pub struct ModelServer {
    port: u16,
    shared: Shared,
    task: JoinHandle<()>,
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ModelServer {
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::dealing(script, Dealing::default()).await
    }

    pub async fn dealing(script: impl IntoIterator<Item = Reply>, dealing: Dealing) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let book = Book { script: script.into_iter().collect(), ..Book::default() };
        let shared: Shared = Arc::new((Mutex::new(book), watch::Sender::new(0)));
        let task = tokio::spawn({
            let shared = shared.clone();
            async move {
                while let Ok((socket, _)) = listener.accept().await {
                    change(&shared, |book| book.connections += 1);
                    tokio::spawn(serve(socket, shared.clone(), dealing));
                }
            }
        });
        Self { port, shared, task }
    }

    /// The `base_url` of a configuration.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn push(&self, reply: Reply) {
        change(&self.shared, |book| book.script.push_back(reply));
    }

    /// Tells this of its model at a path.
    pub fn tells(&self, path: &str, facts: Value) {
        change(&self.shared, |book| book.facts.push((path.to_owned(), facts)));
    }

    /// The questions about the model, which take nothing from the script.
    pub fn looks(&self) -> Vec<Request> {
        lock(&self.shared).looks.clone()
    }

    /// Waits until so many questions about the model have come.
    pub async fn looks_seen(&self, count: usize) {
        self.wait(|book| book.looks.len() >= count).await;
    }

    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared).requests.clone()
    }

    pub fn connections(&self) -> usize {
        lock(&self.shared).connections
    }

    pub fn hang_ups(&self) -> usize {
        lock(&self.shared).hang_ups
    }

    /// Waits until so many requests have come.
    pub async fn requests_seen(&self, count: usize) {
        self.wait(|book| book.requests.len() >= count).await;
    }

    /// Waits until so many clients have left in the middle of an answer.
    pub async fn hang_ups_seen(&self, count: usize) {
        self.wait(|book| book.hang_ups >= count).await;
    }

    async fn wait(&self, reached: impl Fn(&Book) -> bool) {
        let mut changes = self.shared.1.subscribe();
        let wait = async {
            while !reached(&lock(&self.shared)) {
                changes.changed().await.expect("the server lives");
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.expect("what the test waits for never came");
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Book> {
    shared.0.lock().expect("no test panics while it holds the book")
}

fn change(shared: &Shared, what: impl FnOnce(&mut Book)) {
    what(&mut lock(shared));
    shared.1.send_modify(|n| *n += 1);
}

async fn serve(mut socket: TcpStream, shared: Shared, dealing: Dealing) {
    let Some(request) = read_request(&mut socket).await else { return };
    if request.method == "GET" || request.path.starts_with("/api/") {
        let facts = lock(&shared).facts.iter().find(|(path, _)| *path == request.path).map(|(_, facts)| facts.clone());
        change(&shared, |book| book.looks.push(request));
        let (status, body) = facts.map_or((404, String::new()), |facts| (200, facts.to_string()));
        let _ = answer(&mut socket, Reply::Status(status, Vec::new(), body), dealing).await;
        return;
    }
    let mut reply = None;
    change(&shared, |book| {
        if is_held_against_its_end(&request) {
            reply = Some(stays());
            book.held.push(request);
            return;
        }
        book.requests.push(request);
        reply = book.script.pop_front();
    });
    let reply = reply.unwrap_or_else(|| Reply::Status(500, Vec::new(), "the script is at its end".to_owned()));
    if answer(&mut socket, reply, dealing).await.is_err() {
        change(&shared, |book| book.hang_ups += 1);
    }
}

/// True if the model is told, in the step contract, that what it has done does not hold.
fn is_held_against_its_end(request: &Request) -> bool {
    let asked = request.said_by("user");
    let words = ["Result of end (failed)", "Result of check (failed)"];
    asked.contains("Reply in JSON") && words.iter().any(|words| asked.contains(words))
}

/// A model that stays by its word: a script is about what it does, and not about the end that is held against it.
fn stays() -> Reply {
    Reply::Json(json!({"action": null, "reasoning": "It stays.", "continue": false, "confidence": 1, "answer": "done"}))
}

async fn read_request(socket: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        // What does not begin with a method is not HTTP; a TLS client, say, must not wait for its answer.
        if socket.read_buf(&mut bytes).await.ok()? == 0 || !bytes[0].is_ascii_uppercase() {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let (method, path) = (first.next()?, first.next()?);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, n)| n.parse().ok());
    let body_end = head_end + 4 + length.unwrap_or(0);
    while bytes.len() < body_end {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head_end + 4..body_end]).unwrap_or(Value::Null);
    Some(Request { method, path, headers, body, at: Instant::now() })
}

/// `Err` when the client left before the end.
async fn answer(socket: &mut TcpStream, reply: Reply, dealing: Dealing) -> std::io::Result<()> {
    let mut out = Stream { socket, dealing };
    match reply {
        Reply::Held(reply, go) => {
            go.notified().await;
            Box::pin(answer(socket, *reply, dealing)).await
        }
        Reply::Text(text) => out.whole(&text, "stop").await,
        Reply::Json(value) => out.whole(&value.to_string(), "stop").await,
        Reply::Truncated(text) => out.whole(&text, "length").await,
        Reply::Unfinished(text) => {
            out.head().await?;
            out.send(&out.content(&text)).await?;
            out.finish().await
        }
        Reply::Status(status, headers, body) => out.status(status, &headers, &body).await,
        Reply::CutAfter(value, bytes) => {
            out.head().await?;
            let events = out.content(&value.to_string());
            // No last chunk: the client must see that the end is missing.
            out.send(&events.as_bytes()[..bytes.min(events.len())]).await
        }
        Reply::Stall(text) => {
            out.head().await?;
            out.send(&out.content(&text)).await?;
            out.until_left().await
        }
        Reply::Garbage => {
            out.head().await?;
            out.send("data: <html>it works</html>\n\ndata: {\"choices\": 7\n\n").await?;
            out.finish().await
        }
        Reply::ErrorInside(text, error) => {
            out.head().await?;
            out.send(&out.content(&text)).await?;
            out.send(&event(&json!({"error": error}))).await?;
            out.finish().await
        }
        Reply::Events(events) => {
            out.head().await?;
            out.send(&events).await?;
            out.finish().await
        }
        Reply::EventsCut(events, bytes) => {
            out.head().await?;
            out.send(&events.as_bytes()[..bytes.min(events.len())]).await
        }
        Reply::Endless(what) => out.endless(what).await,
        Reply::Slow(value, pause) => {
            out.head().await?;
            for piece in out.content(&value.to_string()).split_inclusive("\n\n") {
                tokio::select! {
                    left = out.until_left() => return left,
                    () = tokio::time::sleep(pause) => {}
                }
                out.send(piece).await?;
            }
            out.send(&ending("stop")).await?;
            out.finish().await
        }
    }
}

struct Stream<'a> {
    socket: &'a mut TcpStream,
    dealing: Dealing,
}

impl Stream<'_> {
    async fn head(&mut self) -> std::io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\
                    Connection: close\r\n\r\n";
        self.socket.write_all(head.as_bytes()).await
    }

    async fn status(&mut self, status: u16, headers: &[(&str, String)], body: &str) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.socket.write_all(format!("{head}\r\n{body}").as_bytes()).await?;
        self.socket.shutdown().await
    }

    async fn whole(&mut self, text: &str, why: &str) -> std::io::Result<()> {
        self.head().await?;
        self.send(&self.content(text)).await?;
        self.send(&ending(why)).await?;
        self.finish().await
    }

    /// Each write is a chunk of its own, however it falls on characters.
    async fn send(&mut self, data: &(impl AsRef<[u8]> + ?Sized)) -> std::io::Result<()> {
        for part in data.as_ref().chunks(self.dealing.bytes.max(1)) {
            self.socket.write_all(format!("{:x}\r\n", part.len()).as_bytes()).await?;
            self.socket.write_all(part).await?;
            self.socket.write_all(b"\r\n").await?;
            self.socket.flush().await?;
        }
        Ok(())
    }

    async fn endless(&mut self, what: Endless) -> std::io::Result<()> {
        let piece = match what {
            Endless::Content => self.content(&"x".repeat(16_000)),
            Endless::Line => format!("data: {}", "x".repeat(16_000)),
            Endless::Comments => ": nothing\n\n".repeat(1600),
            Endless::Error => "no ".repeat(5000),
            Endless::Headers => {
                self.socket.write_all(b"HTTP/1.1 200 OK\r\n").await?;
                loop {
                    self.socket.write_all(format!("X-Filler: {}\r\n", "x".repeat(16_000)).as_bytes()).await?;
                }
            }
        };
        match what {
            Endless::Error => {
                self.socket.write_all(b"HTTP/1.1 500 Scripted\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
            }
            _ => self.head().await?,
        }
        loop {
            self.send(&piece).await?;
        }
    }

    async fn finish(&mut self) -> std::io::Result<()> {
        self.socket.write_all(b"0\r\n\r\n").await?;
        self.socket.shutdown().await
    }

    async fn until_left(&mut self) -> std::io::Result<()> {
        let mut buffer = [0; 64];
        while self.socket.read(&mut buffer).await? > 0 {}
        Err(std::io::ErrorKind::ConnectionAborted.into())
    }

    /// The events of a text; the first one has the role alone, as OpenAI sends it, and a comment keeps the line open.
    fn content(&self, text: &str) -> String {
        let mut events = event(&json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}));
        events.push_str(": keep-alive\n\n");
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(self.dealing.characters.max(1)) {
            let piece: String = piece.iter().collect();
            events.push_str(&event(&json!({"choices": [{"index": 0, "delta": {"content": piece}}]})));
        }
        events
    }
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Why it stopped, what it cost (always 111 and 22 tokens), and the mark of the end.
fn ending(why: &str) -> String {
    let stop = event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}]}));
    let usage =
        event(&json!({"choices": [], "usage": {"prompt_tokens": 111, "completion_tokens": 22, "total_tokens": 133}}));
    format!("{stop}{usage}data: [DONE]\n\n")
}
