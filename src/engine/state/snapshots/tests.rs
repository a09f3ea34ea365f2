//! Checks which reports count as known and current.

use super::*;
use sextant_diagnostics::model::{Confidence, Location, Severity};

fn report(provider: &str, freshness: Freshness) -> Report {
    Report {
        provider: provider.to_owned(),
        file: "a.py".to_owned(),
        diagnostics: Vec::new(),
        freshness,
        version: Some(1),
        wanted_version: Some(1),
        elapsed_ms: 0,
        note: None,
        unasked: None,
    }
}

#[test]
fn a_file_that_was_only_a_bystander_is_not_known_whole() {
    let mut ledger = SnapshotStore::default();
    ledger.take(&report("analyzer:syntax", Freshness::Exact), &Arc::from("x\n"));
    assert!(ledger.is_current("a.py", "x\n") && !ledger.is_whole("a.py", "x\n"));
    ledger.note_whole("a.py");
    assert!(ledger.is_whole("a.py", "x\n") && !ledger.is_whole("a.py", "y\n"));
}

#[test]
fn a_report_from_before_a_change_by_others_is_not_current_until_the_next_one() {
    let (mut ledger, text) = (SnapshotStore::default(), Arc::from("x\n"));
    let (server, parser) = (report("lsp:one", Freshness::Exact), report("analyzer:syntax", Freshness::Exact));
    [&server, &parser].iter().for_each(|known| ledger.take(known, &text));
    assert!(ledger.is_current("a.py", "x\n"));
    ledger.note_overtaken();
    assert!(!ledger.is_current("a.py", "x\n") && ledger.of("a.py").count() == 2);
    ledger.take(&report("lsp:one", Freshness::Timeout), &text);
    assert!(!ledger.is_current("a.py", "x\n"));
    ledger.take(&server, &text);
    assert!(ledger.is_current("a.py", "x\n"), "the parser reads the text alone");
}

#[test]
fn differences_by_others_are_counted_and_the_oldest_make_way() {
    let (mut ledger, text) = (SnapshotStore::default(), Arc::from("x\n"));
    let found = |message: &str| Diagnostic {
        source: "lsp:one".into(),
        severity: Severity::Error,
        code: None,
        message: message.into(),
        location: Location::File { file: "a.py".into() },
        confidence: Confidence::High,
        suggested_action: None,
        evidence: None,
    };
    let with = |message: String| Report { diagnostics: vec![found(&message)], ..report("lsp:one", Freshness::Exact) };
    ledger.take(&with("first".into()), &text);
    for number in 0..MOST_BROUGHT + 2 {
        ledger.note_overtaken();
        ledger.take(&with(number.to_string()), &text);
    }
    assert_eq!((ledger.brought(), ledger.brought_since(0).len()), (MOST_BROUGHT + 2, MOST_BROUGHT));
    let last = ledger.brought_since(MOST_BROUGHT + 1);
    assert_eq!((last.len(), &*last[0].after.diagnostics[0].message), (1, &*(MOST_BROUGHT + 1).to_string()));
    assert!(ledger.brought_since(ledger.brought()).is_empty());
}

#[test]
fn a_provider_that_has_reported_and_lets_two_looks_time_out_hangs_until_it_reports() {
    let mut ledger = SnapshotStore::default();
    let (fresh, late) = (report("lsp:one", Freshness::Exact), report("lsp:one", Freshness::Timeout));
    let look = |ledger: &mut SnapshotStore, report: &Report| {
        ledger.take(report, &Arc::from("x\n"));
        ledger.note_silence(std::slice::from_ref(report));
        ledger.hangs()
    };
    assert!(!look(&mut ledger, &late) && !look(&mut ledger, &late), "it may be starting");
    let looks = [&fresh, &late, &fresh, &late, &late, &late, &fresh].map(|report| look(&mut ledger, report));
    assert_eq!(looks, [false, false, false, false, true, true, false]);
}

#[test]
fn a_file_that_nobody_asked_about_is_not_current_until_somebody_asks() {
    let (mut ledger, text) = (SnapshotStore::default(), Arc::from("x\n"));
    let unasked = Unasked { text: Arc::clone(&text), earlier: None };
    let report = Report { unasked: Some(unasked.clone()), ..report("tool:compiler", Freshness::Exact) };
    ledger.take_unasked(&report, &unasked);
    assert!(!ledger.is_current("a.py", "x\n") && ledger.of("a.py").next().is_some());
    ledger.take(&super::tests::report("lsp:one", Freshness::Exact), &text);
    ledger.take_unasked(&report, &unasked);
    assert!(ledger.is_current("a.py", "x\n"));
}

#[test]
fn who_spoke_before_and_is_not_heard_of_is_missing_until_it_was_taken_away() {
    let mut ledger = SnapshotStore::default();
    let (one, other) = (report("lsp:one", Freshness::Exact), report("lsp:other", Freshness::Exact));
    for known in [&one, &other] {
        ledger.take(known, &Arc::from("x\n"));
    }
    let (a, key) = (["a.py".to_owned()], ("a.py".to_owned(), "lsp:other".to_owned()));
    let silent = report("lsp:other", Freshness::Timeout);
    let none: &[String] = &[];
    assert_eq!(ledger.missing(&[one.clone(), silent], &a, none, None), [], "it is there and slow");
    let only = std::slice::from_ref(&one);
    assert_eq!(ledger.missing(only, none, &a, None), [], "not asked about what others edit");
    assert_eq!(ledger.missing(only, &a, none, None), std::slice::from_ref(&key));
    assert_eq!(ledger.missing(only, &a, none, None), std::slice::from_ref(&key), "in every answer, of any task");
    ledger.let_go(|known| *known == key);
    assert_eq!(ledger.missing(only, &a, none, None), []);
    ledger.take(&other, &Arc::from("x\n"));
    ledger.note_beside(std::slice::from_ref(&other), &a);
    assert_eq!(ledger.missing(only, none, &a, None).len(), 1, "it is asked whatever is edited");
}

#[test]
fn of_a_file_that_others_edit_only_a_client_that_is_gone_is_missing() {
    let mut ledger = SnapshotStore::default();
    ledger.take(&report("lsp:one", Freshness::Exact), &Arc::from("x\n"));
    let (a, b, key) = (["a.py".to_owned()], ["b.py".to_owned()], ("a.py".to_owned(), "lsp:one".to_owned()));
    assert_eq!(ledger.missing(&[], &b, &a, Some(std::slice::from_ref(&key))), [], "it looks at single files");
    assert_eq!(ledger.missing(&[], &b, &a, Some(&[])), [key], "nobody runs it any more");
}

#[test]
fn what_is_of_another_text_is_dropped_and_nothing_else() {
    let mut ledger = SnapshotStore::default();
    ledger.take(&report("lsp:quick", Freshness::Exact), &Arc::from("x = 1\n"));
    ledger.take(&report("lsp:slow", Freshness::Exact), &Arc::from("x = 2\n"));
    ledger.drop_stale("b.py", None, |_| true);
    ledger.drop_stale("a.py", Some("x = 2\n"), |name| name == "lsp:slow");
    assert_eq!(ledger.snaps().len(), 2);
    ledger.drop_stale("a.py", Some("x = 2\n"), |_| true);
    assert_eq!(ledger.of("a.py").map(|(name, _)| name).collect::<Vec<_>>(), ["lsp:slow"]);
    let missing = ledger.missing(&[], &["a.py".to_owned()], &[], None);
    assert_eq!(missing.len(), 2, "that it spoke is known: {missing:?}");
    ledger.forget("a.py");
    assert!(ledger.snaps().is_empty());
}

#[test]
fn who_was_asked_and_did_not_answer_is_known_until_he_does() {
    let mut ledger = SnapshotStore::default();
    let (slow, quick) = (report("lsp:slow", Freshness::Timeout), report("lsp:quick", Freshness::Exact));
    ledger.take(&quick, &Arc::from("x = 1\n"));
    ledger.note_silence(&[slow, quick]);
    assert_eq!(ledger.unsettled("a.py", "x = 1\n"), BTreeSet::from(["lsp:slow"]));
    assert!(ledger.is_mute());
    assert_eq!(ledger.unsettled("a.py", "x = 2\n"), BTreeSet::from(["lsp:quick", "lsp:slow"]), "it is older");
    assert!(ledger.unsettled("b.py", "").is_empty());
    ledger.take(&report("lsp:slow", Freshness::Versioned), &Arc::from("x = 1\n"));
    assert!(ledger.unsettled("a.py", "x = 1\n").is_empty() && !ledger.is_mute(), "a late answer is one");
    ledger.note_silence(&[report("lsp:neovim", Freshness::Unavailable)]);
    ledger.note_silence(&[report("lsp:quick", Freshness::Exact)]);
    assert!(ledger.unsettled("a.py", "x = 1\n").is_empty(), "what counts is the last question");
}
