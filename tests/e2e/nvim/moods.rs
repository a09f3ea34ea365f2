//! What a server tells of itself beside its diagnostics, attached in Neovim: loaded, or not able to check.

use serde_json::{Value, json};

use crate::nvim::servers::{Entry, Faked};
use crate::support::servers::{OPEN, PATIENCE_MS, PULL, SAVE, compiler_run, loaded, pulling};

fn script(on: &Value) -> Value {
    json!({"capabilities": pulling(), "on": on})
}

fn empty() -> Value {
    json!({"reply": {"kind": "full", "items": []}})
}

/// The server's own word on `a.py`, and its compiler's.
async fn halves(fake: &mut Faked, ms: u64) -> (Entry, Entry) {
    fake.begin(ms, &[("a.py", false)]).await;
    let entries = fake.entries().await;
    let (check, native): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.0["client"] == "rust_analyzer/check");
    let [native] = <[Entry; 1]>::try_from(native).expect("one word of its own");
    let [check] = <[Entry; 1]>::try_from(check).expect("one of its compiler");
    (native, check)
}

async fn late_of(fake: &mut Faked, client: &str) -> Entry {
    loop {
        let late = fake.late().await;
        if late.0["client"] == client {
            return late;
        }
    }
}

const RUN: &str = "rust-analyzer/runFlycheck";

#[tokio::test(flavor = "multi_thread")]
async fn what_rust_analyzer_says_while_it_loads_is_no_answer() {
    for (before, after) in [
        (json!([loaded(false), compiler_run("end")]), loaded(true)),
        (json!([compiler_run("begin"), compiler_run("report")]), compiler_run("end")),
    ] {
        let mut open = before.as_array().expect("steps").clone();
        open.extend([json!({"wait_for": "go"}), after]);
        // Neovim asks by itself as soon as the file is open, and is told half of it.
        let runs = [compiler_run("begin"), compiler_run("report"), compiler_run("end")];
        let on = json!({OPEN: open, RUN: runs, PULL: [[empty()], [{"reply": {"pull": "scan"}}]]});
        let mut fake = Faked::start("rust_analyzer", &script(&on), "ok\nbad\n").await;
        let (native, check) = halves(&mut fake, 300).await;
        assert_eq!(native.said(), ("timeout", vec![]));
        assert!(native.note().contains("has not said that it has loaded"), "{native:?}");
        assert_eq!(check.said(), ("timeout", vec![]));
        assert!(check.note().contains("cargo check has not run"), "{check:?}");
        fake.go("go");
        assert_eq!(late_of(&mut fake, "rust_analyzer").await.said(), ("exact", vec![1]));
        assert_eq!(late_of(&mut fake, "rust_analyzer/check").await.said(), ("versioned", vec![]));
        assert_eq!(halves(&mut fake, PATIENCE_MS).await.0.said(), ("exact", vec![1]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_compiler_of_rust_analyzer_is_known_once_a_run_has_read_the_saved_text() {
    let scan = json!({"publish": {"version": "same", "items": "scan"}});
    let original = json!([{"message": "original diagnostic", "location": {"uri": "file:///x", "range": {}}}]);
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let error = json!({"range": place, "severity": 1, "message": "E"});
    let note = json!({"range": place, "severity": 4, "message": "a note of it", "relatedInformation": original});
    let other = json!({"uri": "file:///other/src/lib.rs", "diagnostics": [error]});
    let saves = json!([
        [compiler_run("begin"), compiler_run("report"), {"wait_for": "compiled"}, compiler_run("end"), scan],
        [compiler_run("begin"), {"publish": {"version": "same", "items": [error, note]}}, compiler_run("end")],
        [{"wait_for": "other"}, compiler_run("begin"), compiler_run("report"), compiler_run("end")],
        [compiler_run("begin"), compiler_run("end")],
        [compiler_run("begin"), scan, {"publish": {"version": "same", "items": []}}, compiler_run("end")],
        [compiler_run("begin"), {"notify": ["textDocument/publishDiagnostics", other]}, compiler_run("end")],
        [{"notify": ["experimental/serverStatus", {"quiescent": true, "message": "cargo check failed to start: no cargo"}]},
            compiler_run("begin"), compiler_run("report"), compiler_run("end")],
    ]);
    let on = json!({OPEN: [loaded(true)], PULL: [empty()], SAVE: saves, RUN: [[compiler_run("begin"), compiler_run("report"), compiler_run("end")], [compiler_run("begin"), compiler_run("end")]]});
    let mut with_log = script(&on);
    with_log["log"] = json!("log");
    let mut fake = Faked::start("rust_analyzer", &with_log, "ok\nbad\n").await;
    let check = |halves: (Entry, Entry)| halves.1;

    // Nothing has run yet: a run is asked for, once.
    assert_eq!(check(halves(&mut fake, PATIENCE_MS).await).said(), ("versioned", vec![]));
    assert_eq!(check(halves(&mut fake, PATIENCE_MS).await).said(), ("versioned", vec![]));
    assert_eq!(fake.log().iter().filter(|message| message["method"] == RUN).count(), 1);

    fake.set("bad\n").await;
    let unsaved = check(halves(&mut fake, PATIENCE_MS).await);
    assert_eq!((unsaved.said(), unsaved.note().contains("this one is not saved")), (("unavailable", vec![]), true));

    // The run goes on when the time is over, and what comes behind its end counts.
    fake.write().await;
    assert_eq!(check(halves(&mut fake, 300).await).said(), ("timeout", vec![]));
    fake.go("compiled");
    assert_eq!(late_of(&mut fake, "rust_analyzer/check").await.said(), ("versioned", vec![0]));
    assert_eq!(check(halves(&mut fake, PATIENCE_MS).await).said(), ("versioned", vec![0]));

    fake.set("fine\n").await;
    fake.write().await;
    assert_eq!(check(halves(&mut fake, PATIENCE_MS).await).said(), ("versioned", vec![0]), "without its note");

    // A save of another file starts a run that may find other things here.
    let save_other = "_G.attach('b.py') vim.api.nvim_buf_call(vim.fn.bufnr('b.py'), function()
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'x' })
        vim.cmd('silent write')
    end) return true";
    fake.nvim.lua::<bool>(save_other).await;
    assert_eq!(check(halves(&mut fake, 300).await).said(), ("timeout", vec![]));
    fake.go("other");
    assert_eq!(late_of(&mut fake, "rust_analyzer/check").await.said(), ("versioned", vec![0]));

    for why in [
        "ended without a report",
        "bad: dropped within one run",
        "an error in /other/src/lib.rs",
        "cargo check failed to start: no cargo",
    ] {
        fake.set(&format!("{why}\n")).await;
        fake.write().await;
        let failed = check(halves(&mut fake, PATIENCE_MS).await);
        assert_eq!(
            (failed.said(), failed.note().contains(why.trim_start_matches("bad: "))),
            (("unavailable", vec![]), true),
            "{failed:?}"
        );
    }

    // It reads every file from the disk.
    fake.nvim.lua::<bool>("vim.api.nvim_buf_set_lines(vim.fn.bufnr('b.py'), 0, -1, false, {'y'}) return true").await;
    let other = check(halves(&mut fake, PATIENCE_MS).await);
    assert_eq!(
        (other.said(), other.note().contains("b.py is not saved")),
        (("unavailable", vec![]), true),
        "{other:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_the_compiler_is_asked_for_when_an_older_one_has_ended() {
    let open =
        [loaded(true), compiler_run("begin"), json!({"wait_for": "old"}), compiler_run("report"), compiler_run("end")];
    let on =
        json!({OPEN: open, PULL: [empty()], RUN: [compiler_run("begin"), compiler_run("report"), compiler_run("end")]});
    let mut fake = Faked::start("rust_analyzer", &script(&on), "ok\nbad\n").await;
    halves(&mut fake, 300).await;
    // The server starts no run after a save.
    fake.set("fine\n").await;
    fake.write().await;
    assert_eq!(halves(&mut fake, 1_000).await.1.said(), ("timeout", vec![]));
    fake.go("old");
    assert_eq!(late_of(&mut fake, "rust_analyzer/check").await.said(), ("versioned", vec![]));
}

/// A publish about a file that nobody has opened.
fn of_closed(items: &Value) -> Value {
    json!({"publish": {"file": "c.py", "version": "none", "items": items}})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_of_the_compiler_changes_in_a_file_that_nobody_asked_about_is_news_once() {
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let unused = json!([{"range": place, "severity": 2, "message": "never used"}]);
    let all =
        |items: &Value| json!([compiler_run("begin"), compiler_run("report"), of_closed(items), compiler_run("end")]);
    let none = json!([]);
    let saves = json!([all(&unused), all(&unused), all(&none), all(&unused)]);
    let on = json!({OPEN: [loaded(true)], PULL: [empty()], SAVE: saves, RUN: [compiler_run("begin"), compiler_run("report"), compiler_run("end")]});
    let mut fake = Faked::start("rust_analyzer", &script(&on), "ok\n").await;
    let closed = fake.project.root().join("c.py");
    std::fs::write(&closed, "x\n").expect("a file");
    let news = |halves: (Entry, Entry)| {
        assert_eq!(halves.1.said(), ("versioned", vec![]));
        let files = halves.1.0["elsewhere"].as_array().cloned().unwrap_or_default();
        // An empty Lua table is an empty object in JSON.
        let count = |list: &Value| list.as_array().map(Vec::len).or(list.as_object().map(|_| 0));
        files.iter().map(|file| (count(&file["earlier"]), count(&file["items"]))).collect::<Vec<_>>()
    };
    assert_eq!(news(halves(&mut fake, PATIENCE_MS).await), [], "nothing to compare with");
    for (text, wanted) in
        [("one\n", vec![(Some(0), Some(1))]), ("two\n", vec![]), ("three\n", vec![(Some(1), Some(0))])]
    {
        fake.set(text).await;
        fake.write().await;
        assert_eq!(news(halves(&mut fake, PATIENCE_MS).await), wanted, "{text}");
    }
    std::fs::write(&closed, "y\n").expect("a file");
    fake.set("four\n").await;
    fake.write().await;
    assert_eq!(news(halves(&mut fake, PATIENCE_MS).await), [(None, Some(1))], "its text is another");
}

/// The closed file is of another part of the project, so that `a.py` counts as checked by its target.
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_file_that_may_have_stopped_the_first_run_is_reported_as_it_is() {
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let uncoded = json!({"range": place, "severity": 1, "message": "m"});
    let error = |code: &str| json!({"range": place, "severity": 1, "message": "m", "code": code});
    let target = json!({"token": "rust-analyzer/flycheck/0", "value": {"kind": "report", "message": "a (lib)"}});
    let target = json!({"notify": ["$/progress", target]});
    for (item, wanted) in [(uncoded, 1), (error("E0765"), 1), (error("E0308"), 0)] {
        let found = of_closed(&json!([item]));
        let run = json!([compiler_run("begin"), target, compiler_run("report"), found, compiler_run("end")]);
        let on = json!({OPEN: [loaded(true)], PULL: [empty()], RUN: run});
        let mut fake = Faked::start("rust_analyzer", &script(&on), "ok\n").await;
        for name in ["Cargo.toml", "c.py"] {
            std::fs::write(fake.project.root().join(name), "\n").expect("a file");
        }
        let (_, compiled) = halves(&mut fake, PATIENCE_MS).await;
        assert_eq!(compiled.said(), ("versioned", vec![]));
        let files = compiled.0["elsewhere"].as_array().cloned().unwrap_or_default();
        let same = files.iter().filter(|file| file["earlier"] == file["items"] && file["items"].is_array());
        assert_eq!(same.count(), wanted, "{item}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_pull_of_eslint_says_nothing_where_it_could_not_check() {
    let logged = json!({"notify": ["window/logMessage", {"type": 1, "message": "Failed to load the config\0at x\ny"}]});
    let status = |state: u8| json!({"notify": ["eslint/status", {"state": state}]});
    let pulls = json!([
        [{"ask": ["eslint/noLibrary", {"source": {}}]}, empty()],
        [empty()],
        [status(1), empty()],
        [logged, empty()],
        [empty()],
        [status(3), empty()],
        [{"reply": {"pull": "scan"}}],
        [empty()],
    ]);
    // In a hidden file, where nobody but us asks.
    let log = |name: &str, on: &Value| (name.to_owned(), json!({"log": "log", "capabilities": pulling(), "on": on}));
    let (name, script) = log("eslint", &json!({PULL: pulls}));
    let mut fake = Faked::hidden(&name, &script).await;
    let mut said = Vec::new();
    for _ in 0..8 {
        let entry = fake.ask_hidden().await;
        said.push((entry.said().0 == "exact", entry.note().to_owned()));
    }
    let fresh: Vec<bool> = said.iter().map(|(fresh, _)| *fresh).collect();
    assert_eq!(fresh, [false, false, true, false, true, false, true, true], "{said:?}");
    assert!(said[0].1.contains("eslint/noLibrary"), "{said:?}");
    assert!(said[3].1.ends_with("Failed to load the config"), "{said:?}");
    assert!(said[5].1.contains("could not check"), "{said:?}");
    let refused = fake.log().into_iter().find(|message| message["id"] == 1 && message["error"]["code"] == -32601);
    assert!(refused.is_some(), "who asks what nobody handles is answered as ever");
    let (name, script) = log("other", &json!({PULL: [logged, empty()]}));
    let mut fake = Faked::hidden(&name, &script).await;
    assert_eq!(fake.ask_hidden().await.said().0, "exact", "others log what they like");
}
