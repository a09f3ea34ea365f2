//! The provider over shell scripts with the output that each test needs.

use std::fs;

use crate::command::CommandProvider;
use crate::command::command_config::{Columns, CommandConfig, CommandFormat};
use crate::model::{
    Confidence, Diagnostic, DiagnosticsProvider, FileText, Freshness, Location, Reach, Report, Severity,
};
use crate::unrequested_files;
use sextant_base::deadline::Deadline;

const PATIENCE_MS: u64 = 60_000;
const TEXT: &str = "x = '😀'; missing\n";

/// A script that gets `{file}` if `by_file` is set.
fn config(script: &str, by_file: bool) -> CommandConfig {
    let mut command = vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()];
    if by_file {
        command.push("{file}".to_owned());
    }
    CommandConfig {
        name: "t".into(),
        command,
        languages: vec!["python".into()],
        reach: Reach::File,
        format: CommandFormat::Regex(vec![
            r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<code>\w+) (?P<message>.+)$".into(),
        ]),
        severity: [("E1".to_owned(), Severity::Error)].into(),
        needs_saved: true,
        columns: Columns::Codepoints,
        first_line: 1,
        first_column: 1,
        timeout_ms: PATIENCE_MS,
        confidence: Confidence::Medium,
        ran: vec![0, 1],
        lists_files: false,
        names_from: Vec::new(),
    }
}

async fn ask(config: CommandConfig, files: &[(&str, &str)], disk: &[(&str, &str)], budget_ms: u64) -> Vec<Report> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in disk {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let files: Vec<FileText> =
        files.iter().map(|(path, text)| FileText { path: (*path).into(), text: (*text).into() }).collect();
    let provider = CommandProvider::new(config, folder.path(), &[]).expect("a usable command");
    provider.fetch(&files, Deadline::after_ms(budget_ms)).await
}

#[tokio::test]
async fn findings_are_placed_in_utf16_and_carry_the_configured_words() {
    let script = "echo a.py:1:10: E1 Undefined; echo b.py:1:1: E1 elsewhere; exit 1";
    let reports = ask(config(script, false), &[("a.py", TEXT)], &[("a.py", TEXT)], PATIENCE_MS).await;
    assert_eq!(reports.len(), 1);
    let report = &reports[0];
    assert_eq!((report.freshness, report.provider.as_str(), report.diagnostics.len()), (Freshness::Exact, "tool:t", 1));
    let found = &report.diagnostics[0];
    assert_eq!(
        (found.severity, found.confidence, found.source.as_str()),
        (Severity::Error, Confidence::Medium, "tool:t")
    );
    let range = found.location.range().expect("a range");
    assert_eq!((range.start.line, range.start.character, range.end.character), (0, 10, 17));
}

#[tokio::test]
async fn doubtful_columns_leave_the_line() {
    let script = "echo a.py:1:10: E1 m; echo a.py:2:5: E1 m; exit 1";
    let text = format!("{TEXT}y = missing\n");
    let config = CommandConfig { columns: Columns::Ascii, ..config(script, false) };
    let reports = ask(config, &[("a.py", &text)], &[("a.py", &text)], PATIENCE_MS).await;
    let columns = |d: &Diagnostic| d.location.range().map(|range| (range.start.character, range.end.character));
    assert_eq!(reports[0].diagnostics.iter().map(columns).collect::<Vec<_>>(), [Some((0, 17)), Some((4, 11))]);
}

#[tokio::test]
async fn only_a_saved_text_is_answered_for() {
    let script = "echo a.py:1:1: E1 m; exit 1";
    for (disk, freshness) in [
        (TEXT, Freshness::Exact),
        ("\u{feff}x = '😀'; missing\r\n", Freshness::Exact),
        ("other = 1\n", Freshness::Unavailable),
    ] {
        let reports = ask(config(script, false), &[("a.py", TEXT)], &[("a.py", disk)], PATIENCE_MS).await;
        assert_eq!(reports[0].freshness, freshness, "{disk:?}");
        assert_eq!(reports[0].diagnostics.is_empty(), freshness != Freshness::Exact);
    }
    let changing = "echo changed > a.py; echo a.py:1:1: E1 m; exit 1";
    let reports = ask(config(changing, false), &[("a.py", TEXT)], &[("a.py", TEXT)], PATIENCE_MS).await;
    assert_eq!((reports[0].freshness, reports[0].diagnostics.len()), (Freshness::Unavailable, 0));
    assert!(reports[0].note.as_deref().is_some_and(|note| note.contains("saved files only")));
    let gone = ask(config(script, false), &[("a.py", TEXT)], &[], PATIENCE_MS).await;
    assert_eq!(gone[0].freshness, Freshness::Unavailable);
}

#[tokio::test]
async fn the_news_of_a_run_about_files_that_nobody_asked_about_is_reported_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
    let others: Vec<String> = (0..=unrequested_files::MOST).map(|number| format!("b{number:03}.py")).collect();
    others.iter().for_each(|path| write(path, TEXT));
    let config = CommandConfig { reach: Reach::Project, ..config("cat found; exit 1", false) };
    let provider = CommandProvider::new(config, folder.path(), &[]).expect("a usable command");
    let mut counts = Vec::new();
    let asked = FileText { path: "a.py".into(), text: TEXT.into() };
    write("a.py", TEXT);
    for found in [0, 1, others.len(), 0] {
        let lines = others.iter().take(found).map(|path| format!("{path}:1:1: E1 m\n"));
        write("found", &format!("a.py:1:1: E1 m\n{}", lines.collect::<String>()));
        let reports = provider.fetch(std::slice::from_ref(&asked), Deadline::after_ms(PATIENCE_MS)).await;
        let news = reports.iter().filter_map(|report| Some((report, report.unasked.as_ref()?)));
        let (now, earlier): (Vec<usize>, Vec<usize>) =
            news.map(|(report, one)| (report.diagnostics.len(), one.earlier.as_ref().map_or(0, Vec::len))).unzip();
        let more = reports.iter().filter(|report| report.freshness == Freshness::Unavailable);
        let notes: Vec<String> = more.filter_map(|report| report.note.clone()).collect();
        counts.push((now.iter().sum::<usize>(), earlier.iter().sum::<usize>(), notes));
    }
    let left_out = |files| vec![unrequested_files::not_reported(files)];
    // The first of them is known already.
    let wanted = [
        (0, 0, vec![]),
        (1, 0, vec![]),
        (unrequested_files::MOST, 0, vec![]),
        (0, unrequested_files::MOST, left_out(1)),
    ];
    assert_eq!(counts, wanted);
}

#[tokio::test]
async fn a_text_on_standard_input_needs_no_disk() {
    let mut config = config("read -r line; echo \"-:1:1: E1 $line\"; exit 1", true);
    config.needs_saved = false;
    let reports = ask(config, &[("a.py", "first\n"), ("b.py", "second\n"), ("c.md", "x")], &[], PATIENCE_MS).await;
    let seen: Vec<_> =
        reports.iter().map(|r| (r.file.as_str(), r.freshness, r.diagnostics[0].message.as_str())).collect();
    assert_eq!(seen, [("a.py", Freshness::Exact, "first"), ("b.py", Freshness::Exact, "second")]);
}

#[tokio::test]
async fn a_finding_without_a_place_belongs_to_the_file_of_its_run_or_is_named_in_the_note() {
    let json = CommandFormat::Json(Box::new(serde_json::from_str(r#"{"message": "/m"}"#).unwrap()));
    let script = "echo '[{\"m\": \"no place\"}]'";
    let by_file = CommandConfig { format: json.clone(), ..config(script, true) };
    let reports = ask(by_file, &[("a.py", TEXT)], &[("a.py", TEXT)], PATIENCE_MS).await;
    assert_eq!(reports[0].diagnostics[0].location, Location::File { file: "a.py".into() });
    let for_all = CommandConfig { format: json, ..config(script, false) };
    let reports = ask(for_all, &[("a.py", TEXT)], &[("a.py", TEXT)], PATIENCE_MS).await;
    assert!(
        reports[0].diagnostics.is_empty() && reports[0].note.as_deref().is_some_and(|note| note.starts_with("1 of"))
    );
}

#[tokio::test]
async fn every_failure_is_a_report_that_says_why() {
    let json = CommandFormat::Json(Box::new(serde_json::from_str(r#"{"message": "/m"}"#).unwrap()));
    for (script, format, budget_ms, freshness, word) in [
        ("echo oops >&2; exit 2", None, PATIENCE_MS, Freshness::Unavailable, "exit status 2: oops"),
        ("echo nothing to see; exit 1", None, PATIENCE_MS, Freshness::Unavailable, "nothing that can be read"),
        ("echo '{{{'", Some(json.clone()), PATIENCE_MS, Freshness::Unavailable, "cannot be read"),
        ("echo '[{\"x\": 1}]'", Some(json.clone()), PATIENCE_MS, Freshness::Unavailable, "1 of its findings"),
        ("exec yes", None, PATIENCE_MS, Freshness::Unavailable, "8 MiB"),
        ("sleep 1000", None, 100, Freshness::Timeout, "not done in time"),
        ("kill -9 $$", None, PATIENCE_MS, Freshness::Unavailable, "signal"),
    ] {
        let mut config = config(script, false);
        config.format = format.unwrap_or(config.format);
        let reports = ask(config, &[("a.py", TEXT)], &[("a.py", TEXT)], budget_ms).await;
        assert_eq!((reports.len(), reports[0].freshness), (1, freshness), "{script}");
        assert!(reports[0].note.as_deref().is_some_and(|note| note.contains(word)), "{script}: {:?}", reports[0].note);
        assert!(reports[0].diagnostics.is_empty());
    }
    let missing = CommandConfig { command: vec!["no-such-program".into()], ..config("", false) };
    let reports = ask(missing, &[("a.py", TEXT)], &[("a.py", TEXT)], PATIENCE_MS).await;
    assert_eq!(reports[0].note.as_deref(), Some("no-such-program is not installed"));
    assert!(
        CommandProvider::new(CommandConfig { ran: vec![], ..config("", false) }, std::path::Path::new("/"), &[])
            .is_err()
    );
}
