//! A model server under the adversary's control: any bytes at all, as many as it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// What comes back for one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The content of a streamed answer.
    Text(String),
    /// Bytes in place of an answer.
    Bytes(Vec<u8>),
    /// A beginning, then this again and again until nobody listens any more, or so many bytes were sent.
    Endless { head: Vec<u8>, again: Vec<u8>, bytes: u64 },
}

type Say = dyn Fn(usize, &str) -> Answer + Send + Sync;

#[derive(Default)]
struct Book {
    asked: Vec<String>,
    sent: u64,
}

pub struct Fake {
    port: u16,
    book: Arc<Mutex<Book>>,
    url: String,
}

impl Fake {
    /// Answers the request of this number (from 0) with this body.
    pub fn new(say: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let book = Arc::new(Mutex::new(Book::default()));
        let say: Arc<Say> = Arc::new(say);
        thread::spawn({
            let book = Arc::clone(&book);
            move || {
                for socket in listener.incoming().flatten() {
                    let (say, book) = (Arc::clone(&say), Arc::clone(&book));
                    thread::spawn(move || serve(socket, &*say, &book));
                }
            }
        });
        Self { port, book, url: format!("http://127.0.0.1:{port}/v1") }
    }

    /// The same answer to everything.
    pub fn always(value: Value) -> Self {
        Self::new(move |_, _| Answer::Text(value.to_string()))
    }

    /// These answers in their order, then that it is done.
    pub fn script(values: impl IntoIterator<Item = Value>) -> Self {
        let values: Vec<Value> = values.into_iter().collect();
        Self::new(move |n, _| Answer::Text(values.get(n).cloned().unwrap_or_else(|| done("ok")).to_string()))
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// A command line with this model at its end.
    pub fn arguments<'a>(&'a self, first: &[&'a str]) -> Vec<&'a str> {
        [first, &["--model", "openai_compatible:m", "--base-url", &self.url]].concat()
    }

    /// The bodies of all requests.
    pub fn asked(&self) -> Vec<String> {
        self.book.lock().expect("no thread panics with it").asked.clone()
    }

    /// Bytes that were sent of endless answers.
    pub fn sent(&self) -> u64 {
        self.book.lock().expect("no thread panics with it").sent
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        // The listener lives as long as the process; one port each is not worth a signal.
        let _ = self.port;
    }
}

/// One action of a step.
pub fn step(tool: &str, parameters: Value, proceed: bool) -> Value {
    json!({"action": {"tool": tool, "parameters": parameters}, "reasoning": "it was asked for", "continue": proceed,
        "confidence": 0.9, "answer": ""})
}

pub fn done(answer: &str) -> Value {
    json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": answer})
}

fn serve(socket: TcpStream, say: &Say, book: &Mutex<Book>) {
    let mut reader = BufReader::new(socket);
    let Some(body) = request(&mut reader) else { return };
    if body.is_empty() {
        // What a model can is asked for without a body, and this one tells nothing of itself.
        let _ =
            reader.into_inner().write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    let number = {
        let mut book = book.lock().expect("no thread panics with it");
        book.asked.push(body.clone());
        book.asked.len() - 1
    };
    let mut socket = reader.into_inner();
    // Whoever leaves in the middle of an answer is right to.
    let _ = match say(number, &body) {
        Answer::Text(text) => socket.write_all(stream(&text).as_bytes()),
        Answer::Bytes(bytes) => socket.write_all(&bytes),
        Answer::Endless { head, again, bytes } => endless(&mut socket, &head, &again, bytes, book),
    };
}

fn endless(socket: &mut TcpStream, head: &[u8], again: &[u8], most: u64, book: &Mutex<Book>) -> std::io::Result<()> {
    socket.write_all(head)?;
    let mut sent = 0;
    while sent < most {
        socket.write_all(again)?;
        sent += again.len() as u64;
        book.lock().expect("no thread panics with it").sent = sent;
    }
    Ok(())
}

/// The body of one request.
fn request(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(String::from_utf8_lossy(&body).into_owned())
}

pub const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

pub fn event(content: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": content}}]}))
}

fn stream(text: &str) -> String {
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("{HEAD}{}data: {stop}\n\ndata: [DONE]\n\n", event(text))
}
