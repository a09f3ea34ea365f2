//! Covers the status of the known share, and the counts over several providers.

use std::sync::Arc;

use crate::state::answer_status;
use crate::state::comparison::*;
use crate::state::pending_report::words;
use crate::state::snapshots::Snapshot;
use sextant_diagnostics::model::{Freshness, MOST};
use sextant_diagnostics::pair_count;

fn compare(before: &Snapshots, after: &Snapshots) -> Verdict {
    let (status, pending) = answer_status::status(&[]);
    super::compare(before, after, status, pending)
}

/// The status with the words of what is pending.
fn status(reports: &[Report]) -> (Status, Vec<String>) {
    let (status, pending) = answer_status::status(reports);
    (status, words(&pending))
}

fn report(provider: &str, freshness: Freshness) -> Report {
    Report {
        provider: provider.into(),
        file: "a.py".into(),
        diagnostics: Vec::new(),
        freshness,
        version: None,
        wanted_version: None,
        elapsed_ms: 0,
        note: None,
        unasked: None,
    }
}

fn snaps(providers: &[&str], text: &str) -> Snapshots {
    let snap = |provider: &str| {
        let found = if provider == syntax::NAME { syntax::check("a.py", text) } else { None };
        Arc::new(Snapshot { text: Some(text.into()), diagnostics: found.unwrap_or_default() })
    };
    providers.iter().map(|provider| (("a.py".to_owned(), (*provider).to_owned()), snap(provider))).collect()
}

#[test]
fn a_text_that_only_the_parser_saw_is_never_complete() {
    let exact = |provider| report(provider, Freshness::Exact);
    let alone = status(&[exact(syntax::NAME)]);
    assert_eq!(alone, (Status::Partial, vec!["all but the syntax (a.py)".to_owned()]));
    assert_eq!(status(&[exact(syntax::NAME), exact("lsp:x")]), (Status::Complete, Vec::new()));
    let silent = status(&[exact(syntax::NAME), report("lsp:x", Freshness::Timeout)]);
    assert_eq!(silent, (Status::Partial, vec!["x (a.py)".to_owned()]));
    let mut verdict = Verdict::without(Status::Complete);
    doubt_coverage(&mut verdict, &["a.py".to_owned()], &snaps(&[syntax::NAME], ""), &[]);
    assert_eq!(verdict.status, Status::Partial);
    let mut verdict = Verdict::without(Status::Complete);
    doubt_coverage(&mut verdict, &["a.py".to_owned()], &snaps(&[syntax::NAME, "lsp:x"], ""), &[]);
    assert_eq!((verdict.status, verdict.pending.len()), (Status::Complete, 0));
}

#[test]
fn the_parser_counts_where_nobody_else_is_known() {
    let (good, bad) = ("x = 1\n", "x = (1\n");
    let new = |providers: &[&str]| compare(&snaps(providers, good), &snaps(providers, bad)).new.len();
    assert_eq!((new(&[syntax::NAME]), new(&[syntax::NAME, "lsp:x"])), (1, 0));
}

fn item(source: &str, code: &str, message: &str) -> Diagnostic {
    let at = |character| sextant_base::positions::Position { line: 1, character };
    Diagnostic {
        source: source.into(),
        severity: Severity::Error,
        code: Some(code.into()),
        message: message.into(),
        location: sextant_diagnostics::model::Location::Range {
            file: "a.py".into(),
            range: sextant_base::positions::Range { start: at(11), end: at(15) },
        },
        confidence: sextant_diagnostics::model::Confidence::Medium,
        suggested_action: None,
        evidence: None,
    }
}

fn side(text: &str, list: &[(&str, Vec<Diagnostic>)]) -> Snapshots {
    let snap = |diagnostics: &Vec<Diagnostic>| Snapshot { text: Some(text.into()), diagnostics: diagnostics.clone() };
    list.iter().map(|(provider, items)| (("a.py".into(), (*provider).into()), Arc::new(snap(items)))).collect()
}

const GONE: &str = "def f():\n    return gone\n";
const HERE: &str = "def f():\n    return here\n";

#[test]
fn what_two_providers_say_of_one_place_is_counted_once() {
    let pyright = || vec![item("lsp:basedpyright", "reportUndefinedVariable", "\"x\" is not defined")];
    let ruff = || vec![item("lsp:ruff", "F821", "Undefined name `x`")];
    let both = |text, a, b| side(text, &[("lsp:basedpyright", a), ("lsp:ruff", b)]);
    let counts = |before: &Snapshots, after: &Snapshots| {
        let verdict = compare(before, after);
        (verdict.new.len(), verdict.fixed.len(), verdict.unchanged)
    };
    let (all, none) = (both(GONE, pyright(), ruff()), both("def f():\n    return 1\n", vec![], vec![]));
    assert_eq!(counts(&none, &all), (1, 0, 0));
    assert_eq!(counts(&all, &none), (0, 1, 0));
    assert_eq!(counts(&all, &all), (0, 0, 1));
    let one = both(GONE, vec![], ruff());
    assert_eq!(counts(&all, &one), (0, 0, 1), "only one of two has lost it");
    assert_eq!(counts(&one, &all), (0, 0, 1), "the other had reported it");
    let silent = side("def f():\n    return 1\n", &[("lsp:basedpyright", vec![])]);
    assert_eq!(counts(&all, &silent), (0, 0, 0), "what became of the other's is not known");
    let new = &compare(&none, &all).new[0];
    assert_eq!(new.sources, ["lsp:basedpyright", "lsp:ruff"]);
    assert_eq!(
        (new.diagnostic.confidence, new.symbol.names.as_str()),
        (sextant_diagnostics::model::Confidence::High, "f")
    );
}

#[test]
fn what_stays_in_other_words_is_unchanged_and_says_what_it_was() {
    let typed = |name: &str| vec![item("lsp:x", "reportReturnType", &format!("Type \"{name}\" is not \"int\""))];
    let verdict = compare(&side(GONE, &[("lsp:x", typed("str"))]), &side(HERE, &[("lsp:x", typed("float"))]));
    assert_eq!((verdict.new.len(), verdict.fixed.len(), verdict.unchanged), (0, 0, 1), "{verdict:?}");
    assert_eq!(verdict.updated.len(), 1, "{verdict:?}");
    assert_eq!(verdict.updated[0].1, "Type \"str\" is not \"int\"");
}

/// As many as a report may have, all at one place of one line. Each has words and a code of its own.
fn flood(source: &str, words: &str, from: usize) -> Vec<Diagnostic> {
    let one =
        |i: usize| item(source, &format!("{}{}", &source[4..], from + i), &format!("{words} w{} w{}", i / 9, i % 9));
    (0..MOST).map(one).collect()
}

/// The most pairs that a comparison may look at for each diagnostic.
const PAIRS_EACH: usize = 200;

#[test]
fn a_flood_on_one_line_is_compared_in_bounded_work() {
    let both = |text, words, from| {
        side(text, &[("lsp:abc", flood("lsp:abc", words, from)), ("lsp:xyz", flood("lsp:xyz", words, from))])
    };
    // In other words; under other codes; in other words and under other codes.
    for (words, from) in [("it is now", 0), ("it was", MOST), ("it is now", MOST)] {
        let (before, after) = (both(GONE, "it was", 0), both(HERE, words, from));
        let (verdict, looked) = pair_count::counted(|| compare(&before, &after));
        assert!(looked <= PAIRS_EACH * 4 * MOST, "{looked} pairs looked at");
        let counted = verdict.new.len() + verdict.unchanged;
        assert!((MOST..=2 * MOST).contains(&counted), "{counted} are counted");
    }
}

#[test]
fn a_file_that_nobody_speaks_of_is_not_covered_by_what_is_said_of_others() {
    let files = ["conf.ini".to_owned(), "a.py".to_owned()];
    let mut verdict = Verdict::without(Status::Complete);
    doubt_coverage(&mut verdict, &files, &snaps(&["lsp:x"], ""), &[]);
    assert_eq!(
        (verdict.status, words(&verdict.pending)),
        (Status::Partial, vec!["nothing checks conf.ini".to_owned()])
    );
    // A longer name of a file that is waited for is another file.
    let mut verdict =
        Verdict { pending: vec![PendingReport::awaited("lsp:y", "conf.ini2")], ..Verdict::without(Status::Partial) };
    doubt_coverage(&mut verdict, &files, &snaps(&["lsp:x"], ""), &[]);
    assert_eq!(words(&verdict.pending), ["y (conf.ini2)", "nothing checks conf.ini"]);
    let mut verdict = Verdict::without(Status::Complete);
    doubt_coverage(&mut verdict, &files[..1], &snaps(&["lsp:x"], ""), &[]);
    assert_eq!(verdict.status, Status::Skipped);
}

#[test]
fn of_many_late_files_the_first_is_named() {
    let late = |file: &str| Report { file: file.to_owned(), ..report("lsp:x", Freshness::Timeout) };
    let few = ["a", "b"].map(late);
    assert_eq!(status(&few).1, ["x (a)", "x (b)"]);
    let many = ["a", "b", "c", "d"].map(late);
    assert_eq!(status(&many), (Status::Timeout, vec!["x (a and 3 others)".to_owned()]));
}
