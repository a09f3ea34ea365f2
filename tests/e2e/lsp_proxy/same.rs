//! What goes in comes out: real servers see what the editor sent, and the editor what they sent, byte for byte but for
//! the patched fields; and no bytes at all make the proxy lose or change any.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::{DiagnosticsProvider, FileText};
use sextant::editors::lsp::link::ProxySays;

use super::second::second;
use super::{FakeEngine, Place};
use crate::support::helix_client::{HelixClient, HelixVersion, frame};
use crate::support::servers::tool;

/// More servers to hold against the proxy, `;` between them: `clangd;typescript-language-server --stdio`.
const MORE: &str = "SEXTANT_MORE_SERVERS";
/// How many frames are made up.
const FRAMES: &str = "SEXTANT_FUZZ_FRAMES";

fn bodies(path: &Path) -> Vec<Vec<u8>> {
    let mut reader = BufReader::new(std::fs::File::open(path).expect("a record"));
    std::iter::from_fn(|| frame(&mut reader)).collect()
}

fn is_of(body: &[u8], what: &str) -> bool {
    String::from_utf8_lossy(body).contains(what)
}

/// A session as an editor has it. The answers, by what was asked for.
fn session(helix: &HelixClient, file: &str, language: &str) -> BTreeMap<String, Value> {
    let uri = helix.open(file, language);
    let mut answers = BTreeMap::new();
    let can = |name: &str| !matches!(helix.capabilities[name], Value::Null | Value::Bool(false));
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 5}});
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}});
    let asked = [
        ("hoverProvider", "textDocument/hover", json!({})),
        ("completionProvider", "textDocument/completion", json!({"context": {"triggerKind": 1}})),
        ("definitionProvider", "textDocument/definition", json!({})),
        ("referencesProvider", "textDocument/references", json!({"context": {"includeDeclaration": true}})),
        ("documentSymbolProvider", "textDocument/documentSymbol", json!({})),
        ("signatureHelpProvider", "textDocument/signatureHelp", json!({})),
        ("documentHighlightProvider", "textDocument/documentHighlight", json!({})),
        ("codeActionProvider", "textDocument/codeAction", json!({"range": whole, "context": {"diagnostics": []}})),
        ("diagnosticProvider", "textDocument/diagnostic", json!({})),
        ("renameProvider", "textDocument/rename", json!({"newName": "other"})),
    ];
    for round in 0..3 {
        for (provider, method, more) in &asked {
            if can(provider) {
                let mut params = place.clone();
                params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                answers.insert(format!("{round} {method}"), helix.request(method, params)["result"].clone());
            }
        }
        for letter in ["a", "b", "ä", "\n", "😀"] {
            helix.edit(&uri, 0..0, letter);
        }
        helix.edit(&uri, 0.."ab".len() + "ä\n😀".len(), "");
    }
    helix.save(&uri);
    answers
}

/// The answers, but code actions: those depend on what the server has checked by then. They are held byte for byte
/// against what it said.
fn comparable(answers: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let same = answers.iter().filter(|(name, _)| !name.ends_with("codeAction"));
    same.map(|(name, answer)| (name.clone(), answer.to_string())).collect()
}

async fn compare(command: Vec<String>, file: &str, language: &str, text: &str) {
    let place = Place::new(&[(file, text)]);
    let direct = || {
        let helix =
            HelixClient::start(HelixVersion::Master, Command::new(&command[0]).args(&command[1..]), &place.root);
        let answers = session(&helix, file, language);
        helix.quit();
        comparable(&answers)
    };
    let first = direct();
    let engine = FakeEngine::new(&place);
    let tee = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tee_server.py");
    let tee = [tool("python3"), tee, place.path().to_owned()].map(|part| part.display().to_string());
    let inner: Vec<String> = tee.into_iter().chain(command.iter().cloned()).collect();
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &inner), &place.root);
    let mut link = engine.accept().await;
    let server = second(&link, language);
    // The engine asks about every text while the session goes on.
    let name = file.to_owned();
    let asking = tokio::spawn(async move {
        loop {
            if let ProxySays::Opened(sextant::editors::lsp::link::OpenedDocument { text, .. })
            | ProxySays::Changed(sextant::editors::lsp::link::ChangedDocument { text, .. }) = link.next().await
            {
                let files = [FileText { path: name.clone(), text }];
                server.fetch(&files, Deadline::after_ms(50)).await;
            }
        }
    });
    let answers = session(&helix, file, language);
    let record = helix.record();
    helix.quit();
    asking.abort();
    let answers = comparable(&answers);
    // An answer that is another one without a proxy as well says nothing of the proxy.
    let differs = |name: &&String| answers.get(*name) != first.get(*name);
    if answers.keys().chain(first.keys()).any(|name| differs(&name)) {
        let more: Vec<_> = std::iter::repeat_with(direct).take(3).collect();
        for name in answers.keys().chain(first.keys()).filter(differs) {
            assert!(more.iter().any(|again| again.get(name) != first.get(name)), "{command:?}: {name}");
            println!("{}: {name} is another one each time", command[0]);
        }
    }

    let sent: Vec<Vec<u8>> = bodies(&place.path().join("in"));
    let ours = |body: &Vec<u8>| is_of(body, "\"id\":\"sextant:");
    let sent: Vec<Vec<u8>> = sent.into_iter().filter(|body| !ours(body)).collect();
    let swallowed = |body: &Vec<u8>| is_of(body, "textDocument/didSave");
    let without = |list: &[Vec<u8>]| -> Vec<String> {
        let kept = list.iter().filter(|body| !swallowed(body));
        kept.map(|body| String::from_utf8_lossy(body).into_owned()).collect()
    };
    assert_eq!(without(&sent), without(&record.sent()), "{command:?}: what the server was told");

    let came = bodies(&place.path().join("out"));
    let (mut patched, mut received) = (0, record.received().into_iter());
    for body in came.iter().filter(|body| !is_of(body, "\"id\":\"sextant:")) {
        let got = received.next().unwrap_or_else(|| panic!("lost: {}", String::from_utf8_lossy(body)));
        if got != *body {
            let (theirs, got): (Value, Value) =
                (serde_json::from_slice(body).unwrap(), serde_json::from_slice(&got).unwrap());
            let actions = got["result"].as_array().is_some_and(|list| list.iter().any(is_ours));
            assert!(actions || got["result"]["capabilities"].is_object(), "changed: {theirs} to {got}");
            patched += 1;
        }
    }
    assert_eq!(received.next(), None, "{command:?}: more than the server said");
    println!("{}: {} messages to it, {} from it, {patched} of them patched", command[0], sent.len(), came.len());
}

fn is_ours(action: &Value) -> bool {
    action["title"].as_str().unwrap_or_default().starts_with("Sextant")
}

const PYTHON: &str = "import os\ndef add(a: int, b: int) -> int:\n    return a + b\n\n\nx: str = add(1, 'two')\n";

#[tokio::test(flavor = "multi_thread")]
async fn real_servers_and_the_editor_hear_the_same_with_the_proxy_between_them() {
    compare(vec![tool("basedpyright-langserver").display().to_string(), "--stdio".into()], "m.py", "python", PYTHON)
        .await;
    compare(vec![tool("ruff").display().to_string(), "server".into()], "m.py", "python", PYTHON).await;
    for more in std::env::var(MORE).unwrap_or_default().split(';').filter(|more| !more.trim().is_empty()) {
        let mut words = more.split_whitespace().map(str::to_owned);
        let program = tool(&words.next().unwrap()).display().to_string();
        let command = std::iter::once(program.clone()).chain(words).collect();
        if program.contains("typescript") {
            compare(
                command,
                "m.ts",
                "typescript",
                "const x = 1;\nfunction add(a: number) { return a; }\nadd('two');\n",
            )
            .await;
        } else {
            compare(command, "m.c", "c", "#define A 1\nint add(int a) { return a + A; }\nint x = \"two\";\n").await;
        }
    }
}

/// A small generator of numbers, the same ones each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len() as u64) as usize]
    }

    fn value(&mut self, depth: u32) -> String {
        match self.roll(if depth > 3 { 6 } else { 9 }) {
            0 => "null".to_owned(),
            1 => self.roll(1 << 40).to_string(),
            2 => format!("-{}.5e3", self.roll(99)),
            3 => "true".to_owned(),
            4 => "\"file:///p/a.py\"".to_owned(),
            5 => "\"t\\u00e4\\n\\\"}]😀\"".to_owned(),
            6 => format!("[{},{}]", self.value(depth + 1), self.value(depth + 1)),
            _ => {
                let key = self.one(&[
                    "textDocument",
                    "uri",
                    "text",
                    "version",
                    "range",
                    "start",
                    "line",
                    "character",
                    "contentChanges",
                    "diagnostics",
                    "token",
                    "value",
                    "kind",
                    "command",
                    "id",
                    "method",
                ]);
                format!("{{\"{key}\":{},\"uri\":{}}}", self.value(depth + 1), self.value(depth + 1))
            }
        }
    }

    fn body(&mut self) -> String {
        let method = self.one(&[
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
            "textDocument/didSave",
            "textDocument/publishDiagnostics",
            "textDocument/codeAction",
            "textDocument/hover",
            "textDocument/diagnostic",
            "textDocument/completion",
            "workspace/applyEdit",
            "workspace/executeCommand",
            "workspace/didChangeConfiguration",
            "$/progress",
            "$/cancelRequest",
            "client/registerCapability",
            "codeAction/resolve",
            "window/logMessage",
            "x/y",
            "",
            "wörkspace/é",
        ]);
        let uri = "{\"uri\":\"file:///p/a.py\",\"version\":3,\"languageId\":\"python\",\"text\":\"x\\ny\"}";
        let start = self.roll(9);
        let at = format!("{{\"line\":{start},\"character\":{}}}", self.roll(9));
        let params = match self.roll(3) {
            0 => format!(
                "{{\"textDocument\":{uri},\"position\":{at},\"range\":{{\"start\":{at},\"end\":{at}}},\
                \"contentChanges\":[{{\"range\":{{\"start\":{at},\"end\":{at}}},\"text\":\"z\"}}],\"context\":{}}}",
                self.value(3)
            ),
            1 => format!(
                "{{\"uri\":\"file:///p/{}.py\",\"version\":{start},\"diagnostics\":[{}]}}",
                start % 3,
                self.value(2)
            ),
            _ => self.value(0),
        };
        let id = match self.roll(4) {
            0 => format!("\"s{}\"", self.roll(50)),
            _ => (self.roll(200) + 100).to_string(),
        };
        match self.roll(5) {
            0 => format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}"),
            1 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{params}}}"),
            2 => format!("{{\"params\":{params},\"id\":{id},\"method\":\"{method}\"}}"),
            3 => format!("{{\"error\":{params},\"id\":{id}}}"),
            _ => params,
        }
    }

    fn frame(&mut self, out: &mut Vec<u8>) {
        let mut body = self.body().into_bytes();
        match self.roll(12) {
            0 => body.truncate(self.roll(body.len() as u64 + 1) as usize),
            1 => body = (0..self.roll(60)).map(|_| self.roll(256) as u8).collect(),
            2 => {
                let at = self.roll(body.len() as u64) as usize;
                body[at] = self.roll(256) as u8;
            }
            _ => {}
        }
        let length = match self.roll(20) {
            0 => body.len() as u64 + self.roll(9),
            1 => (body.len() as u64).saturating_sub(self.roll(9)),
            _ => body.len() as u64,
        };
        let header = match self.roll(12) {
            0 => format!("content-length:{length}\n\n"),
            1 => format!("Content-Type: x; charset=utf-8\r\nX-\u{e4}: y\r\nContent-Length: {length}\r\n\r\n"),
            2 => format!("printed by somebody\nContent-Length: {length}\r\n\r\n"),
            3 => format!("Content-Length: nonsense\r\nContent-Length: {length}\r\n\r\n"),
            4 => "\r\n\r\n".to_owned(),
            _ => format!("Content-Length: {length}\r\n\r\n"),
        };
        out.extend(header.into_bytes());
        out.extend(body);
    }
}

/// The inner server is `cat`: what the editor says to it is what it says to the editor, so that everything is looked
/// at in both directions and has to come back as it was.
#[test]
fn made_up_frames_come_back_as_they_were() {
    let frames: u64 = std::env::var(FRAMES).ok().and_then(|frames| frames.parse().ok()).unwrap_or(5_000);
    let place = Place::new(&[]);
    let server = [tool("cat").display().to_string()];
    let mut command = place.proxy(&["--quiet"], &server);
    let command = command.current_dir(&place.root).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the proxy");
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let framed = |body: &Value| {
        let body = body.to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    // `cat` has declared everything: otherwise some of it would be answered here.
    let declared = json!({"textDocumentSync": {"openClose": true, "change": 2, "save": true}, "hoverProvider": true,
        "codeActionProvider": {"resolveProvider": true}, "executeCommandProvider": {"commands": []}});
    input.write_all(&framed(&json!({"id": 1, "method": "initialize"}))).unwrap();
    frame(&mut output).expect("what cat says");
    input.write_all(&framed(&json!({"id": 1, "result": {"capabilities": declared}}))).unwrap();
    let answer: Value = serde_json::from_slice(&frame(&mut output).expect("an answer")).unwrap();
    assert_eq!(answer["result"]["capabilities"], declared, "nothing had to be added");
    let writing = std::thread::spawn(move || {
        let (mut dice, mut bytes) = (Dice(0x5eed_1234_5678_9abc), Vec::new());
        for _ in 0..frames {
            bytes.clear();
            dice.frame(&mut bytes);
            input.write_all(&bytes).expect("the proxy reads");
        }
        // Whatever length was claimed last, it ends here.
    });
    let (mut dice, mut wanted, mut got, mut seen) = (Dice(0x5eed_1234_5678_9abc), Vec::new(), Vec::new(), 0_u64);
    for number in 0..frames {
        wanted.clear();
        dice.frame(&mut wanted);
        got.resize(wanted.len(), 0);
        if let Err(error) = output.read_exact(&mut got) {
            panic!("frame {number} did not come back: {error}; {:?}", String::from_utf8_lossy(&wanted));
        }
        let texts = || (String::from_utf8_lossy(&got).into_owned(), String::from_utf8_lossy(&wanted).into_owned());
        assert!(got == wanted, "frame {number} came back as another: {:#?}", texts());
        seen += got.len() as u64;
    }
    writing.join().unwrap();
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty(), "more than was sent: {}", String::from_utf8_lossy(&rest));
    assert!(child.wait().unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "", "nothing failed inside");
    println!("{frames} frames, {seen} bytes");
}
