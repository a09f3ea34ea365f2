//! Servers that check saved files only: fresh after the save, and of an unsaved text an honest word and no old list.

use serde_json::{Value, json};
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::{Freshness, Report};
use sextant::editors::headless::HeadlessEditor;
use sextant::edits::TextEdit;
use sextant::engine::{Diagnostics, Documents, FileEdit, Save};
use tokio::sync::mpsc;

use crate::support::servers::{CHANGE, Fake, OPEN, PATIENCE_MS, SAVE, fake_config, lines};

/// As most servers of this kind are: told of changes, with a word of their own only after a save.
fn hearing() -> Value {
    json!({"textDocumentSync": {"openClose": true, "change": 1, "save": {"includeText": true}}})
}

/// Told of saves alone.
fn reading_the_disk() -> Value {
    json!({"textDocumentSync": {"openClose": true, "save": {"includeText": true}}})
}

fn push() -> Value {
    json!({"publish": {"version": "same", "items": "scan"}})
}

fn note(report: &Report) -> &str {
    report.note.as_deref().unwrap_or_default()
}

/// The headless editor over `a.py` and a fake server.
struct Desk {
    folder: tempfile::TempDir,
    editor: HeadlessEditor,
}

impl Desk {
    fn new(script: &Value, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.py"), text).expect("a file");
        let beside = folder.path().join("script");
        std::fs::create_dir(&beside).expect("a folder");
        let config = fake_config(&beside, script);
        let editor = HeadlessEditor::new(folder.path(), vec![config], mpsc::unbounded_channel().0).expect("a folder");
        Self { folder, editor }
    }

    async fn ask(&self, ms: u64) -> Report {
        let mut reports = self.editor.diagnostics(&["a.py".to_owned()], &[], Deadline::after_ms(ms)).await;
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports.remove(0)
    }

    /// Gives the file another text.
    async fn write(&self, text: &str, save: Save) {
        let document = self.editor.read("a.py").await.expect("a file");
        let hunks = vec![TextEdit { range: 0..document.text.len(), text: text.into() }];
        let edit = FileEdit::Change { path: "a.py".into(), version: document.version, hunks };
        let applied = self.editor.apply(&[edit], save).await.expect("applied");
        assert_eq!(applied[0].saved, save == Save::IfClean);
    }
}

#[tokio::test]
async fn after_the_save_the_answer_is_fresh_and_without_one_nothing_is_known() {
    let script = json!({"capabilities": hearing(), "on": {OPEN: [push()], CHANGE: [], SAVE: [push()]}});
    let desk = Desk::new(&script, "bad\n");
    assert_eq!(lines(&desk.ask(PATIENCE_MS).await), [0]);
    desk.write("ok\nbad\n", Save::IfClean).await;
    let report = desk.ask(PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Versioned, vec![1]));
    desk.write("ok\nok\nbad\n", Save::Never).await;
    let report = desk.ask(300).await;
    assert_eq!((report.freshness, lines(&report), report.version), (Freshness::Unavailable, vec![], None));
    assert!(note(&report).contains("may check saved files only"), "{report:?}");
    assert!(desk.editor.late().await.is_empty());
}

#[tokio::test]
async fn a_server_that_has_spoken_of_an_unsaved_text_is_only_late() {
    let changes = json!([[push()], []]);
    let script = json!({"capabilities": hearing(), "on": {OPEN: [push()], CHANGE: changes, SAVE: []}});
    let desk = Desk::new(&script, "bad\n");
    desk.ask(PATIENCE_MS).await;
    desk.write("ok\nbad\n", Save::Never).await;
    let report = desk.ask(PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Versioned, vec![1]));
    desk.write("ok\nok\nbad\n", Save::Never).await;
    let report = desk.ask(300).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Timeout, vec![]));
}

#[tokio::test]
async fn of_whoever_reads_the_disk_nobody_waits_for_an_unsaved_text() {
    let script = json!({"capabilities": reading_the_disk(), "on": {OPEN: [push()], SAVE: [push()]}, "log": "log"});
    let desk = Desk::new(&script, "bad\n");
    // What it names is the version of the opening, which proves nothing: a guess, and called one.
    let report = desk.ask(PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Quiet, vec![0]));
    desk.write("ok\nbad\n", Save::IfClean).await;
    let report = desk.ask(PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Quiet, vec![1]));
    desk.write("ok\nok\nbad\n", Save::Never).await;
    let report = desk.ask(PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Unavailable, vec![]));
    assert!(note(&report).contains("it checks saved files only") && report.elapsed_ms < PATIENCE_MS / 4, "{report:?}");
    desk.editor.shutdown(Deadline::after_ms(5_000)).await;
    let log = std::fs::read_to_string(desk.folder.path().join("script/log")).expect("a log");
    assert!(!log.contains(CHANGE), "it is not told of what it did not ask for");
}

#[tokio::test]
async fn a_save_brings_the_late_answer_once() {
    let fake = Fake::new(&json!({"capabilities": hearing(), "on": {OPEN: [push()], CHANGE: [], SAVE: [push()]}}));
    let file = fake.folder.path().join("a.py");
    std::fs::write(&file, "ok\n").expect("a file");
    fake.ask("ok\n", PATIENCE_MS).await;
    let report = fake.ask("bad\n", 300).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Unavailable, vec![]));
    std::fs::write(&file, "bad\n").expect("a file");
    fake.server.saved("a.py");
    let late = fake.late().await;
    assert_eq!((late.len(), late[0].freshness, lines(&late[0])), (1, Freshness::Versioned, vec![0]));
    assert!(fake.server.late().is_empty());
}
