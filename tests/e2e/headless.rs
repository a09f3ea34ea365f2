//! The headless editor over a small Python project with the real basedpyright and ruff.

use std::fs;
use std::path::Path;
use std::time::Duration;

use sextant::base::deadline::{AnswerWait, Deadline};
use sextant::diagnostics::model::{Diagnostic, DiagnosticsProvider, Freshness, Report, Severity};
use sextant::editors::headless::HeadlessEditor;
use sextant::edits::TextEdit;
use sextant::engine::{Diagnostics, Document, Documents, EditorError, Event, FileEdit, LanguageServers, Save, Ui};
use tokio::sync::mpsc;

use crate::support::servers::{PATIENCE_MS, python_servers};

const CART: &str = "from shop.price import price\n\n\ndef total(names: list[str]) -> int:\n    return sum(price(name) for name in names)\n";
const PRICE: &str = "import os\n\n\ndef price(name: str) -> int:\n    return len(name)\n";

struct Shop {
    folder: tempfile::TempDir,
    editor: HeadlessEditor,
}

fn put(root: &Path, path: &str, content: &[u8]) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, content).expect("a file");
}

impl Shop {
    fn open() -> Self {
        Self::with(true)
    }

    fn with(servers: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        put(folder.path(), "shop/__init__.py", b"");
        put(folder.path(), "shop/cart.py", CART.as_bytes());
        put(folder.path(), "shop/price.py", PRICE.as_bytes());
        let servers = if servers { python_servers(folder.path()) } else { Vec::new() };
        let editor = HeadlessEditor::new(folder.path(), servers, mpsc::unbounded_channel().0).expect("a folder");
        Self { folder, editor }
    }

    async fn ask(&self, paths: &[&str]) -> Vec<Report> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        self.editor.diagnostics(&paths, &[], Deadline::after_ms(PATIENCE_MS)).await
    }

    async fn replace(&self, path: &str, old: &str, new: &str) -> Document {
        let document = self.editor.read(path).await.expect("a file");
        let start = document.text.find(old).unwrap_or_else(|| panic!("{old:?} in {:?}", document.text));
        let hunks = vec![TextEdit { range: start..start + old.len(), text: new.into() }];
        let edit = FileEdit::Change { path: path.into(), version: document.version, hunks };
        let mut applied = self.editor.apply(&[edit], Save::IfClean).await.expect("applied");
        assert!(applied[0].saved);
        applied.remove(0).document.expect("a document")
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(path)).expect("a file")
    }
}

fn errors(reports: &[Report]) -> Vec<&Diagnostic> {
    let all = reports.iter().flat_map(|report| &report.diagnostics);
    all.filter(|diagnostic| diagnostic.severity == Severity::Error).collect()
}

fn fresh(reports: &[Report]) {
    for report in reports {
        assert!(report.freshness.is_fresh(), "{report:?}");
    }
}

#[tokio::test]
async fn both_servers_answer_fresh_and_an_error_is_reported_where_it_was_made() {
    let shop = Shop::open();
    let reports = shop.ask(&["shop/cart.py", "shop/price.py"]).await;
    fresh(&reports);
    assert_eq!(reports.len(), 4, "two servers, two files");
    assert!(!errors(&reports).iter().any(|error| error.source == "lsp:basedpyright"), "{reports:?}");
    assert_eq!(shop.editor.loaded().await, ["shop/cart.py", "shop/price.py"]);

    shop.replace("shop/cart.py", "return sum(", "return 'x' + sum(").await;
    let reports = shop.ask(&["shop/cart.py"]).await;
    fresh(&reports);
    let found = errors(&reports);
    let place = found.iter().find(|error| error.source == "lsp:basedpyright").expect("an error");
    assert_eq!((place.location.file(), place.location.range().map(|r| r.start.line)), (Some("shop/cart.py"), Some(4)));

    shop.replace("shop/cart.py", "'x' + ", "").await;
    let reports = shop.ask(&["shop/cart.py"]).await;
    fresh(&reports);
    assert_eq!(errors(&reports), Vec::<&Diagnostic>::new());

    let processes: Vec<u32> = shop.editor.servers().iter().filter_map(|server| server.process()).collect();
    let with_children = |id: &u32| {
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("it runs");
        children.split_whitespace().filter_map(|child| child.parse().ok()).chain([*id]).collect::<Vec<u32>>()
    };
    let all: Vec<u32> = processes.iter().flat_map(with_children).collect();
    assert!(processes.len() == 2 && all.len() > 2, "basedpyright starts a node of its own");
    shop.editor.shutdown(Deadline::after_ms(5_000)).await;
    let ended = |id: &u32| {
        let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z")
    };
    // A killed process takes a moment to go, and nobody but its parent hears of it.
    let gone = async {
        while !all.iter().all(ended) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("all processes ended");
}

#[tokio::test]
async fn a_file_that_was_only_read_is_loaded_where_a_server_covers_it() {
    let shop = Shop::open();
    put(shop.folder.path(), "notes.md", b"# nothing\n");
    assert_eq!(shop.editor.loaded().await, Vec::<String>::new());
    for path in ["shop/cart.py", "notes.md"] {
        shop.editor.read(path).await.expect("a file");
    }
    assert!(shop.editor.read("shop/nobody.py").await.is_err());
    assert_eq!(shop.editor.loaded().await, ["shop/cart.py"]);
}

#[tokio::test]
async fn an_edit_that_breaks_another_loaded_file_is_seen_there() {
    let shop = Shop::open();
    fresh(&shop.ask(&["shop/cart.py", "shop/price.py"]).await);
    let document = shop.replace("shop/price.py", "price(name: str)", "cost(name: str)").await;
    assert!(document.text.contains("def cost"));
    let reports = shop.ask(&["shop/price.py", "shop/cart.py"]).await;
    fresh(&reports);
    let broken: Vec<_> = errors(&reports).iter().filter_map(|error| error.location.file()).map(str::to_owned).collect();
    assert!(broken.contains(&"shop/cart.py".to_owned()), "{reports:?}");

    // A new file and a shell behind our back repair it again.
    let create = FileEdit::Create { path: "shop/old.py".into(), text: "from shop.price import cost as price\n".into() };
    let applied = shop.editor.apply(&[create], Save::IfClean).await.expect("created");
    assert!(applied[0].saved && applied[0].document.as_ref().is_some_and(|document| document.exists));
    put(shop.folder.path(), "shop/cart.py", CART.replace("shop.price", "shop.old").as_bytes());
    let reports = shop.ask(&["shop/cart.py"]).await;
    fresh(&reports);
    assert_eq!(errors(&reports), Vec::<&Diagnostic>::new());

    let document = shop.editor.read("shop/old.py").await.expect("a file");
    let delete = FileEdit::Delete { path: "shop/old.py".into(), version: document.version };
    let applied = shop.editor.apply(&[delete], Save::IfClean).await.expect("deleted");
    assert_eq!(applied[0].document, None);
    assert!(!shop.folder.path().join("shop/old.py").exists());
    let reports = shop.ask(&["shop/cart.py"]).await;
    fresh(&reports);
    assert_eq!(errors(&reports).len(), 1, "{reports:?}");
}

#[tokio::test]
async fn an_edit_of_a_file_that_was_not_loaded_is_seen_in_one_that_is() {
    let shop = Shop::open();
    fresh(&shop.ask(&["shop/cart.py"]).await);
    for (old, new, broken) in [("def price(", "def cost(", true), ("def cost(", "def price(", false)] {
        shop.replace("shop/price.py", old, new).await;
        let reports = shop.ask(&["shop/cart.py"]).await;
        fresh(&reports);
        assert_eq!(!errors(&reports).is_empty(), broken, "{reports:?}");
    }
}

#[tokio::test]
async fn packages_of_the_projects_environment_are_found_without_its_interpreter() {
    let folder = tempfile::tempdir().expect("a folder");
    put(
        folder.path(),
        ".venv/lib/python3.11/site-packages/scales/__init__.py",
        b"def weigh(x: int) -> int:\n    return x\n",
    );
    // An interpreter that tells on whoever runs it.
    let told = folder.path().join("told");
    let script = format!("#!/bin/sh\ntouch {}\n", told.display());
    for name in ["python", "python3"] {
        put(folder.path(), &format!(".venv/bin/{name}"), script.as_bytes());
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path().join(".venv/bin").join(name), mode).expect("a mode");
    }
    put(folder.path(), "a.py", b"from scales import weigh\n\nprint(weigh(1))\n");
    let editor = HeadlessEditor::new(folder.path(), python_servers(folder.path()), mpsc::unbounded_channel().0)
        .expect("a folder");
    let reports = editor.diagnostics(&["a.py".to_owned()], &[], Deadline::after_ms(PATIENCE_MS)).await;
    fresh(&reports);
    assert_eq!(errors(&reports), Vec::<&Diagnostic>::new());
    assert!(!told.exists(), "the repository's interpreter was run");
}

#[tokio::test]
async fn an_answer_that_came_too_late_is_delivered_once() {
    let shop = Shop::open();
    put(shop.folder.path(), "shop/cart.py", b"_ = missing\n");
    let reports = shop.editor.diagnostics(&["shop/cart.py".to_owned()], &[], Deadline::after_ms(1)).await;
    assert_eq!(reports.len(), 2);
    assert!(reports.iter().all(|report| report.freshness == Freshness::Timeout && report.diagnostics.is_empty()));
    let mut late: Vec<Report> = Vec::new();
    for server in shop.editor.servers() {
        let mut news = server.news();
        while !late.iter().any(|report| report.provider == server.name()) {
            late.extend(shop.editor.late().await);
            if !late.iter().any(|report| report.provider == server.name()) {
                tokio::time::timeout(Duration::from_millis(PATIENCE_MS), news.changed())
                    .await
                    .expect("news")
                    .expect("news");
            }
        }
    }
    fresh(&late);
    assert_eq!((late.len(), errors(&late).len()), (2, 2), "{late:?}");
    assert_eq!(shop.editor.late().await, []);
}

#[tokio::test]
async fn a_text_can_be_asked_about_before_it_is_applied() {
    let shop = Shop::open();
    fresh(&shop.ask(&["shop/cart.py", "shop/price.py"]).await);
    let document = shop.editor.read("shop/price.py").await.expect("a file");
    let start = document.text.find("price(name").expect("a name");
    let hunks = vec![TextEdit { range: start..start + 5, text: "cost".into() }];
    let edit = FileEdit::Change { path: "shop/price.py".into(), version: document.version, hunks };
    let reports =
        shop.editor.probe(std::slice::from_ref(&edit), Deadline::after_ms(PATIENCE_MS)).await.expect("reports");
    fresh(&reports);
    assert!(errors(&reports).iter().any(|error| error.location.file() == Some("shop/cart.py")), "{reports:?}");
    assert_eq!(shop.editor.read("shop/price.py").await.expect("a file"), document);
    assert_eq!(shop.bytes("shop/price.py"), PRICE.as_bytes());
    let reports = shop.ask(&["shop/cart.py", "shop/price.py"]).await;
    fresh(&reports);
    assert_eq!(errors(&reports).iter().filter(|error| error.source == "lsp:basedpyright").count(), 0, "{reports:?}");
    let create = FileEdit::Create { path: "shop/new.py".into(), text: String::new() };
    let refused = shop.editor.probe(&[create], Deadline::after_ms(1_000)).await;
    assert!(matches!(refused, Err(EditorError::Unsupported(_))));
}

#[tokio::test]
async fn ruffs_fix_for_an_unused_import_is_an_edit_until_the_file_changes() {
    let shop = Shop::open();
    let deadline = Deadline::after_ms(PATIENCE_MS);
    let reports = shop.ask(&["shop/price.py"]).await;
    let unused = reports.iter().flat_map(|report| &report.diagnostics).find(|d| d.code.as_deref() == Some("F401"));
    let range = unused.and_then(|diagnostic| diagnostic.location.range());
    assert!(range.is_some(), "{reports:?}");
    let fixes =
        shop.editor.fixes("shop/price.py", range, AnswerWait { deadline, waits: false }).await.expect("fixes").fixes;
    let fix =
        fixes.iter().find(|fix| fix.provider == "lsp:ruff" && fix.title.contains("unused import")).expect("a fix");
    assert!(fix.kind.starts_with("quickfix") && fix.id.starts_with('f'));
    assert_eq!(fix.repairs.first().and_then(|d| d.code.as_deref()), Some("F401"));
    let change = shop.editor.fix_change(&fix.id, deadline).await.expect("a change");
    assert_eq!(change.operations, Vec::<String>::new());
    let (path, edits) = &change.files[0];
    assert_eq!((path.as_str(), edits.len()), ("shop/price.py", 1));
    assert_eq!((edits[0].0.start.line, edits[0].1.as_str()), (0, ""));
    assert_eq!(shop.bytes("shop/price.py"), PRICE.as_bytes(), "asking changes nothing");

    let sources = shop
        .editor
        .fixes("shop/price.py", None, AnswerWait { deadline, waits: false })
        .await
        .expect("source actions")
        .fixes;
    let all = sources.iter().find(|fix| fix.kind == "source.fixAll.ruff").expect("ruff's fixAll");
    let change = shop.editor.fix_change(&all.id, deadline).await.expect("a change");
    assert_eq!(change.files.len(), 1);

    shop.replace("shop/price.py", "len(name)", "len(name) + 1").await;
    assert_eq!(shop.editor.fix_change(&fix.id, deadline).await, Err(EditorError::FixGone(fix.id.clone())));
}

#[tokio::test]
async fn a_killed_server_holds_nobody_up_and_comes_back() {
    let shop = Shop::open();
    fresh(&shop.ask(&["shop/cart.py"]).await);
    let servers = shop.editor.servers();
    let server = servers.iter().find(|server| server.name() == "lsp:basedpyright").expect("a server");
    let process = server.process().expect("it runs");
    let mut news = server.news();
    let signal = async |signal: &str| {
        let group = format!("-{process}");
        let sent = tokio::process::Command::new("kill").args([signal, "--", &group]).status().await;
        assert!(sent.expect("kill").success());
    };
    shop.replace("shop/cart.py", "return sum(", "return 'x' + sum(").await;
    let cart = ["shop/cart.py".to_owned()];
    let of_server = |reports: Vec<Report>| reports.into_iter().find(|report| report.provider == server.name());

    signal("-STOP").await;
    let report = of_server(shop.editor.diagnostics(&cart, &[], Deadline::after_ms(500)).await).expect("a report");
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Timeout, 0));
    assert!(report.note.is_some() && report.elapsed_ms < 5_000);

    let asked = shop.editor.diagnostics(&cart, &[], Deadline::after_ms(PATIENCE_MS));
    let (reports, ()) = tokio::join!(asked, signal("-KILL"));
    let report = of_server(reports).expect("a report");
    // The system decides if the death or the new process is met first; an old list is neither.
    match report.freshness {
        Freshness::Unavailable => assert!(report.diagnostics.is_empty() && report.note.is_some(), "{report:?}"),
        _ => assert!(!errors(&[report]).is_empty()),
    }
    while server.process().is_none_or(|now| now == process) {
        tokio::time::timeout(Duration::from_secs(60), news.changed()).await.expect("a restart").expect("a server");
    }
    let reports = shop.ask(&["shop/cart.py"]).await;
    fresh(&reports);
    assert!(!errors(&reports).is_empty(), "the files were opened again");
}

#[tokio::test]
async fn line_ends_and_marks_are_restored_byte_for_byte() {
    let shop = Shop::with(false);
    put(shop.folder.path(), "crlf.py", b"\xef\xbb\xbfa = 1\r\nb = 2\r\n");
    put(shop.folder.path(), "mixed.py", b"a = 1\r\nb = 2\nc = 3");
    put(shop.folder.path(), "latin.py", b"# \xe9\n");
    let read = shop.editor.read("crlf.py").await.expect("a file");
    assert_eq!((&*read.text, read.exists, read.unsaved), ("a = 1\nb = 2\n", true, false));
    let after = shop.replace("crlf.py", "b = 2\n", "b = 3\nc = 4\n").await;
    assert_eq!(&*after.text, "a = 1\nb = 3\nc = 4\n");
    assert_ne!(after.version, read.version);
    assert_eq!(shop.bytes("crlf.py"), b"\xef\xbb\xbfa = 1\r\nb = 3\r\nc = 4\r\n");
    shop.replace("mixed.py", "b = 2", "b = 5").await;
    assert_eq!(shop.bytes("mixed.py"), b"a = 1\r\nb = 5\nc = 3");
    assert_eq!(shop.editor.read("latin.py").await, Err(EditorError::NotText("latin.py".into())));
    assert_eq!(shop.editor.read("none.py").await, Err(EditorError::NotFound("none.py".into())));
}

#[tokio::test]
async fn edits_are_made_together_or_not_at_all() {
    let shop = Shop::with(false);
    let cart = shop.editor.read("shop/cart.py").await.expect("a file");
    let price = shop.editor.read("shop/price.py").await.expect("a file");
    let hunk = |text: &str| vec![TextEdit { range: 0..0, text: text.into() }];
    let change = |path: &str, version| FileEdit::Change { path: path.into(), version, hunks: hunk("# x\n") };
    put(shop.folder.path(), "shop/price.py", b"other = 1\n");
    let both = [change("shop/cart.py", cart.version), change("shop/price.py", price.version)];
    let stale = shop.editor.apply(&both, Save::IfClean).await;
    assert_eq!(stale, Err(EditorError::Stale("shop/price.py".into())));
    assert_eq!(shop.bytes("shop/cart.py"), CART.as_bytes());
    let exists =
        [change("shop/cart.py", cart.version), FileEdit::Create { path: "shop/price.py".into(), text: String::new() }];
    assert_eq!(shop.editor.apply(&exists, Save::IfClean).await, Err(EditorError::Exists("shop/price.py".into())));
    assert_eq!(shop.bytes("shop/cart.py"), CART.as_bytes());
    assert_eq!(shop.editor.read("shop/cart.py").await.expect("a file").version, cart.version);

    // Unwritten text stays in memory, and a conflict with the disk is refused.
    let applied = shop.editor.apply(&[both[0].clone()], Save::Never).await.expect("applied");
    assert!(!applied[0].saved && applied[0].note.is_some());
    assert_eq!(shop.bytes("shop/cart.py"), CART.as_bytes());
    let buffer = shop.editor.read("shop/cart.py").await.expect("a buffer");
    assert!(buffer.unsaved && buffer.text.starts_with("# x\n") && buffer.version != cart.version);
    put(shop.folder.path(), "shop/cart.py", b"elsewhere = 1\n");
    let conflict = shop.editor.apply(&[change("shop/cart.py", buffer.version)], Save::IfClean).await;
    assert_eq!(conflict, Err(EditorError::Conflict("shop/cart.py".into())));
}

#[tokio::test]
async fn a_file_that_nobody_covers_has_no_report_and_events_reach_the_listener() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "notes.md", b"text\n");
    let (events, mut shown) = mpsc::unbounded_channel();
    let editor = HeadlessEditor::new(folder.path(), python_servers(folder.path()), events).expect("a folder");
    let reports = editor.diagnostics(&["notes.md".to_owned()], &[], Deadline::after_ms(1_000)).await;
    assert_eq!(reports, []);
    assert!(editor.servers().iter().all(|server| server.process().is_none()), "nothing was started");
    let event = Event::Progress { text: "x".into() };
    editor.show(event.clone());
    assert_eq!(shown.recv().await, Some(event));
}

/// Numbers that are the same for the same seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or(0)
    }
}

/// How many random edits, and the seed: `SEXTANT_SOUNDNESS` and `SEXTANT_SEED`.
fn rounds() -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let edits = number("SEXTANT_SOUNDNESS").unwrap_or(20);
    let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_nanos();
    let seed = number("SEXTANT_SEED").unwrap_or(u64::try_from(started % 1_000_000_007).unwrap_or(1)).max(1);
    (edits, seed)
}

/// Random edits of twelve slots, some of them wrong; every fresh answer must be the truth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fresh_answer_to_random_edits_is_the_truth() {
    let (edits, seed) = rounds();
    let mut random = Random(seed);
    let shop = Shop::with(true);
    put(shop.folder.path(), "shop/names.py", b"known = 1\n");
    put(shop.folder.path(), "shop/slots.py", "# fine\n".repeat(12).as_bytes());
    fresh(&shop.ask(&["shop/names.py", "shop/slots.py"]).await);
    let mut slots = [0usize; 12];
    let (mut answers, mut silent) = (0, 0);
    let mut elapsed = Vec::new();
    for round in 0..edits {
        let burst = 1 + random.below(3);
        for _ in 0..burst {
            slots[random.below(12)] = random.below(4);
            let text: String = slots
                .iter()
                .map(|slot| ["# fine\n", "_ = missing_a\n", "_ = missing_b\n", "# a\n# b\n"][*slot])
                .collect();
            let document = shop.editor.read("shop/slots.py").await.expect("a file");
            let hunks = vec![TextEdit { range: 0..document.text.len(), text }];
            let edit = FileEdit::Change { path: document.path, version: document.version, hunks };
            shop.editor.apply(&[edit], Save::IfClean).await.expect("applied");
        }
        let text = String::from_utf8(shop.bytes("shop/slots.py")).expect("text");
        let wanted: Vec<(usize, String)> = text
            .lines()
            .enumerate()
            .filter_map(|(line, text)| Some((line, text.strip_prefix("_ = ")?.to_owned())))
            .collect();
        let reports = shop.editor.diagnostics(&["shop/slots.py".to_owned()], &[], Deadline::after_ms(5_000)).await;
        assert_eq!(reports.len(), 2);
        for report in reports {
            if !report.freshness.is_fresh() {
                assert_eq!(report.diagnostics, []);
                silent += 1;
                continue;
            }
            answers += 1;
            elapsed.push(report.elapsed_ms);
            let undefined = |code: &str| matches!(code, "F821" | "reportUndefinedVariable");
            let found = report.diagnostics.iter().filter(|item| item.code.as_deref().is_some_and(undefined));
            let found: Vec<(usize, &str)> = found
                .map(|item| {
                    let line = item.location.range().expect("a range").start.line as usize;
                    (line, if item.message.contains("missing_a") { "missing_a" } else { "missing_b" })
                })
                .collect();
            let wanted: Vec<(usize, &str)> = wanted.iter().map(|(line, name)| (*line, name.as_str())).collect();
            assert_eq!(found, wanted, "seed {seed}, round {round}, {}", report.provider);
        }
    }
    elapsed.sort_unstable();
    let median = elapsed.get(elapsed.len() / 2).copied().unwrap_or(0);
    println!("seed {seed}: {answers} fresh answers, {silent} without one, median {median} ms");
    assert!(answers > 0, "seed {seed}: no answer was fresh");
    shop.editor.shutdown(Deadline::after_ms(5_000)).await;
}

/// Random renames in one file; what another that imports from it reports must follow each of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fresh_answer_across_files_is_the_truth() {
    let (edits, seed) = rounds();
    let mut random = Random(seed);
    let shop = Shop::open();
    let names = ["one", "two", "three"];
    let defined = |present: [bool; 3]| -> String {
        names
            .iter()
            .zip(present)
            .map(|(name, is)| if is { format!("{name} = 1\n") } else { "# none\n".into() })
            .collect()
    };
    let uses: String = names.iter().map(|name| format!("from shop.names import {name} as _{name}\n")).collect();
    put(shop.folder.path(), "shop/names.py", defined([true; 3]).as_bytes());
    put(shop.folder.path(), "shop/uses.py", uses.as_bytes());
    let both = ["shop/names.py".to_owned(), "shop/uses.py".to_owned()];
    fresh(&shop.ask(&["shop/names.py", "shop/uses.py"]).await);
    let mut present = [true; 3];
    let mut answers = 0;
    for round in 0..edits {
        for _ in 0..=random.below(2) {
            present[random.below(3)] ^= true;
            let document = shop.editor.read("shop/names.py").await.expect("a file");
            let hunks = vec![TextEdit { range: 0..document.text.len(), text: defined(present) }];
            let edit = FileEdit::Change { path: document.path, version: document.version, hunks };
            shop.editor.apply(&[edit], Save::IfClean).await.expect("applied");
        }
        let reports = shop.editor.diagnostics(&both, &[], Deadline::after_ms(5_000)).await;
        let uses = reports.iter().find(|r| r.provider == "lsp:basedpyright" && r.file == both[1]).expect("a report");
        if uses.freshness.is_fresh() {
            answers += 1;
            let found: Vec<u32> = errors(std::slice::from_ref(uses))
                .iter()
                .map(|error| error.location.range().expect("a range").start.line)
                .collect();
            let wanted: Vec<u32> = (0u32..3).zip(present).filter(|(_, is)| !is).map(|(line, _)| line).collect();
            assert_eq!(found, wanted, "seed {seed}, round {round}");
        }
    }
    println!("seed {seed}: {answers} fresh answers across files of {edits}");
    assert!(answers > 0);
}
