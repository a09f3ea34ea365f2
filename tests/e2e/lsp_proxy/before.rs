//! Edits that are not made: asked about in servers of their own kind, of which the editor and its server see nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::Report;
use sextant::editors::lsp::engine::{self, EngineParts, EngineSetup};
use sextant::editors::lsp::link::ENGINE_SOCKET;
use sextant::edits::TextEdit;
use sextant::engine::{Config, Document, Engine, FileEdit};
use sextant::llm::offline::OfflineModel;
use sextant::workspace::root::Root;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Place;
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::servers::{PATIENCE_MS, tool};

/// The engine of a place, in this process.
pub struct OwnEngine {
    pub agent: oneshot::Receiver<Arc<Engine>>,
    pub ended: JoinHandle<std::io::Result<()>>,
}

pub fn own_engine(place: &Place) -> OwnEngine {
    let folder = place.sessions();
    let listener = std::os::unix::net::UnixListener::bind(folder.join(ENGINE_SOCKET)).expect("a socket");
    listener.set_nonblocking(true).expect("a socket");
    let (sender, agent) = oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let make = |_: &serde_json::Value, _: &Path| {
        let (servers, providers, commands) = (Vec::new(), Vec::new(), Vec::new());
        let config: Config = serde_json::from_value(serde_json::json!({"memory": {"enabled": false}})).expect("sound");
        Ok(EngineParts { config, model: Arc::new(OfflineModel), servers, providers, commands })
    };
    let setup = EngineSetup {
        root: Root::new(&place.root).expect("a root"),
        folder,
        make: Box::new(make),
        on_session: Box::new(move |agent, _| {
            if let Some(sender) = sender.lock().unwrap().take() {
                let _ = sender.send(agent);
            }
            Box::pin(std::future::ready("lsp-1".to_owned()))
        }),
    };
    OwnEngine { agent, ended: tokio::spawn(engine::run(listener, setup)) }
}

/// A program of this name that writes down what it is sent, each of its processes in a file of its own.
pub fn taped(place: &Place, name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let (bin, tapes) = (place.path().join("bin"), place.path().join("tapes"));
    std::fs::create_dir_all(&bin).expect("a folder");
    std::fs::create_dir_all(&tapes).expect("a folder");
    let (file, real) = (bin.join(name), tool(name));
    let script = format!("#!/bin/sh\ntee \"{}/$$\" | \"{}\" \"$@\"\n", tapes.display(), real.display());
    std::fs::write(&file, script).expect("a program");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    tapes
}

pub fn processes(tapes: &Path) -> BTreeSet<PathBuf> {
    std::fs::read_dir(tapes).expect("a folder").map(|entry| entry.expect("a file").path()).collect()
}

/// A file as the engine sees it, once it has this text.
pub async fn with_text(agent: &Engine, path: &str, text: &str) -> Document {
    let waiting = async {
        loop {
            let document = agent.editor().read(path).await.expect("a file");
            if *document.text == *text {
                return document;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_millis(PATIENCE_MS), waiting).await.expect("the text")
}

pub fn change(document: &Document, range: std::ops::Range<usize>, text: &str) -> FileEdit {
    let hunks = vec![TextEdit { range, text: text.into() }];
    FileEdit::Change { path: document.path.clone(), version: document.version, hunks }
}

fn codes(reports: &[Report], file: &str) -> Vec<String> {
    let of_file = reports.iter().filter(|report| report.file == file).flat_map(|report| &report.diagnostics);
    of_file.filter_map(|diagnostic| diagnostic.code.clone()).collect()
}

/// Asks about an edit of `a.py` that is not saved there; what is reported of `a.py` and of `b.py`, which is not saved
/// either.
async fn ask(program: &str, arguments: &[&str], a: &str, b: &str, candidate: &str) -> (Vec<String>, Vec<String>) {
    let place = Place::new(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let mut own = own_engine(&place);
    let tapes = taped(&place, program);
    let command: Vec<String> = std::iter::once(program).chain(arguments.iter().copied()).map(str::to_owned).collect();
    let mut proxy = place.proxy(&[], &command);
    let path = std::env::join_paths(
        std::iter::once(place.path().join("bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    proxy.env("PATH", path.expect("a path"));
    let helix = HelixClient::start(HelixVersion::Master, &mut proxy, &place.root);
    let agent = (&mut own.agent).await.expect("a session");
    for (file, text) in [("a.py", a), ("b.py", b)] {
        let uri = helix.open(file, "python");
        let all = 0..helix.text(&uri).len();
        helix.edit(&uri, all, text);
    }
    let (document, _) = (with_text(&agent, "a.py", a).await, with_text(&agent, "b.py", b).await);
    let before = processes(&tapes);
    assert_eq!(before.len(), 1, "nothing was asked yet, so there is the editor's server alone");
    let edit = change(&document, 0..a.len(), candidate);
    let patience = Deadline::after_ms(PATIENCE_MS);
    let reports = agent.editor().probe(std::slice::from_ref(&edit), patience).await.expect("reports");
    assert!(reports.iter().all(|report| report.freshness.is_fresh()), "{reports:?}");
    let spare: Vec<PathBuf> = processes(&tapes).difference(&before).cloned().collect();
    assert_eq!(spare.len(), 1, "one more, found where the editor's was");
    let said = |file: &PathBuf| std::fs::read_to_string(file).expect("a tape");
    assert!(said(&spare[0]).contains("candidate"), "{}", said(&spare[0]));
    assert!(before.iter().all(|file| !said(file).contains("candidate")), "the editor's server was shown it");
    assert!(helix.seen().messages.iter().all(|message| !message.to_string().contains("candidate")));
    assert_eq!(with_text(&agent, "a.py", a).await, document);
    // Asked again, it is the same one, and it knows what was typed meanwhile.
    let typed = format!("{a}# typed\n");
    helix.edit(&helix.uri("a.py"), a.len()..a.len(), "# typed\n");
    let document = with_text(&agent, "a.py", &typed).await;
    let stale = agent.editor().probe(&[edit], patience).await;
    assert!(stale.is_err(), "an edit of the text before");
    let none = change(&document, typed.len()..typed.len(), "");
    let again = agent.editor().probe(&[none], patience).await.expect("reports");
    assert_eq!(codes(&again, "a.py"), Vec::<String>::new(), "{again:?}");
    assert_eq!(processes(&tapes).len(), 2);
    let found = (codes(&reports, "a.py"), codes(&reports, "b.py"));
    drop(agent);
    helix.quit();
    own.ended.await.expect("it ends").expect("in order");
    let process = spare[0].file_name().expect("a number");
    assert!(!Path::new("/proc").join(process).exists(), "it is there without an engine");
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn ruff_is_asked_about_a_text_that_the_editors_own_is_not_shown() {
    let found = ask("ruff", &["server"], "x = 2\n", "y = 2\n", "print(candidate)\n").await;
    assert_eq!(found, (vec!["F821".to_owned()], Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn basedpyright_is_asked_so_and_about_what_the_edit_breaks_in_another_buffer() {
    let reader = "from a import x\n\nprint(x)\n";
    let (a, b) = ask("basedpyright-langserver", &["--stdio"], "x = 2\n", reader, "candidate = 2\n").await;
    assert_eq!(a, Vec::<String>::new());
    assert!(b.contains(&"reportAttributeAccessIssue".to_owned()), "{b:?}");
}
