//! Tests of a diff that a user has edited: what is taken over, and what is refused with its line.

use proptest::prelude::*;

use super::*;
use crate::edits::apply_text::apply;
use crate::edits::unified::unified;

/// The room for a fault behind its line on a narrow screen.
const NARROW: usize = 46;

const BEFORE: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
const AFTER: &str = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nK\nnew\nl\n";

fn page(before: &str, after: &str) -> String {
    let diff = unified(before, after, 1);
    format!("# What was changed\n\n`````diff\n--- a/x.py\n+++ b/x.py\n{diff}`````\n")
}

/// The text after the edited page was taken over.
fn taken(shown: &str, now: &str, text: &str) -> Result<String, Vec<DocumentFault>> {
    let files = edited(shown, now)?;
    let Some(file) = files.first() else { return Ok(text.to_owned()) };
    let edits = file.edits(text)?;
    Ok(apply(text, &edits).expect("sorted edits"))
}

#[test]
fn the_lines_of_the_text_are_taken_over_and_the_rest_says_nothing() {
    let shown = page(BEFORE, AFTER);
    let with = |old: &str, new: &str| taken(&shown, &shown.replace(old, new), AFTER);
    assert_eq!(with("+B\n", "+BB\n+more\n"), Ok(AFTER.replace("B\n", "BB\nmore\n")));
    assert_eq!(with("+new\n", ""), Ok(AFTER.replace("new\n", "")));
    assert_eq!(with("-b\n+B\n", " b\n"), Ok(AFTER.replace('B', "b")), "it is as it was");
    assert_eq!(with(" a\n-b\n+B\n", " a\n b\n+B\n"), Ok(AFTER.replace("B\n", "b\nB\n")), "it is text again");
    assert_eq!(with(" a\n-b\n", "-a\n-b\n"), Ok(AFTER.replace("a\n", "")), "a line of the text goes");
    assert_eq!(with("+B\n", "+B\n! error: no such name\n\n"), Ok(AFTER.replace("B\n", "B\n\n")), "a note is no text");
    let hunk = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    assert!(shown.contains(hunk), "{shown}");
    assert_eq!(with(hunk, ""), Ok(AFTER.to_owned()), "a change that is gone stays as it is");
}

#[test]
fn each_fault_has_its_line() {
    let shown = page(BEFORE, AFTER);
    let fault = |old: &str, new: &str| {
        let faults = taken(&shown, &shown.replacen(old, new, 1), AFTER).expect_err(old);
        assert!(faults.iter().all(|fault| fault.message.chars().count() <= NARROW), "{faults:?}");
        (faults[0].line, faults[0].message.clone())
    };
    let starts = |found: (usize, String), line: usize, words: &str| {
        assert!(found.0 == line && found.1.contains(words), "{found:?}");
    };
    starts(fault("+B\n", "B\n"), 9, "begins with a space");
    starts(fault("-b\n", "-b x\n"), 8, "type on a line with `+`");
    starts(fault("-b\n", "-b\n-more\n"), 9, "type on a line with `+`");
    starts(fault("-b\n", ""), 6, "a line with `-` is gone");
    starts(fault("@@ -1,3 +1,3 @@", "@@ -1,3 +2,3 @@"), 6, "the numbers were changed");
    starts(fault("@@ -1,3 +1,3 @@\n", ""), 6, "a change begins with");
    starts(fault("+++ b/x.py", "+++ b/../y.py"), 4, "not in the diff that was shown");
    starts(fault("--- a/x.py\n+++ b/x.py\n", ""), 4, "a file begins with");
    starts(fault("--- a/x.py\n", ""), 4, "a file begins with");
    starts(fault("@@ -10,3 +10,4 @@\n", ""), 6, "the next `@@` line is gone");
    starts(fault("`````diff", "x"), 1, "is gone");
    starts(fault(" l\n`````\n", "+`````\n"), 16, "the end of the diff is gone");
    starts(fault("`````\n", "````\n"), 17, "begins with a space");
    starts(fault(" l\n`````\n", " l\n"), 16, "the end of the diff is gone");
    let twice = "@@ -1,3 +1,3 @@\n a\n+B\n c\n";
    starts(fault("@@ -10,3 +10,4 @@", &format!("{twice}@@ -10,3 +10,4 @@")), 11, "stands twice");
    let gone = shown.replace("+++ b/x.py", "+++ /dev/null");
    let faults = taken(&gone, &gone.replace("+B\n", "+C\n"), AFTER).expect_err("a deleted file");
    assert!(faults[0].message.contains("agent.undo brings it back"), "{faults:?}");
    let elsewhere = taken(&shown, &shown.replace("+B\n", "+C\n"), "other\n").expect_err("another text");
    starts((elsewhere[0].line, elsewhere[0].message.clone()), 9, "x.py:2 has changed since; change it in x.py");
}

#[test]
fn a_second_edit_of_the_same_page_and_a_text_that_has_moved_are_found() {
    let shown = page(BEFORE, AFTER);
    let once = shown.replace("+B\n", "+B\n+B2\n+B3\n");
    let text = taken(&shown, &once, AFTER).unwrap();
    let twice = once.replace("+new\n", "+newer\n");
    assert_eq!(taken(&once, &twice, &text), Ok(text.replace("new\n", "newer\n")));
    assert_eq!(
        taken(&shown, &shown.replace("+new\n", ""), &format!("0\n{AFTER}")),
        Ok(format!("0\n{}", AFTER.replace("new\n", "")))
    );
    let crlf = AFTER.replace('\n', "\r\n");
    assert_eq!(taken(&shown, &shown.replace("+B\n", "+C\n"), &crlf), Ok(crlf.replace('B', "C")));
    let open = AFTER.trim_end();
    assert_eq!(taken(&shown, &shown.replace("+new\n", ""), open), Ok(open.replace("new\n", "")));
    assert_eq!(taken(&shown, &shown.replace("+K\n", "+K\n+K\n"), open), Ok(open.replace("K\n", "K\nK\n")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_typed_breaks_it_or_changes_another_place(at in 0usize..400, typed in "[ +@!x`\\n-]{0,9}", gone in 0usize..20) {
        let shown = page(BEFORE, AFTER);
        let at = at.min(shown.len());
        let end = (at + gone).min(shown.len());
        let now = format!("{}{typed}{}", &shown[..at], &shown[end..]);
        if let Ok(text) = taken(&shown, &now, AFTER) {
            // A blank before `-b` makes a line of the text of it.
            let longest = AFTER.len() + typed.len() + "-b\n".len();
            prop_assert!(text.contains("d\ne\nf\ng\nh\ni\n") && text.len() <= longest, "{text}");
        }
    }
}

#[test]
fn lines_that_were_not_edited_keep_their_ends() {
    let text = "one\r\ntwo\nthree\r\nFOUR\nfive\r\nsix";
    let after = "one\ntwo\nthree\nFOUR\nfive\nsix\n";
    let shown = page(&after.replace("FOUR", "four"), after);
    let with = |old: &str, new: &str| taken(&shown, &shown.replace(old, new), text);
    assert_eq!(with("+FOUR\n", "+FOURTH\n"), Ok(text.replace("FOUR", "FOURTH")));
    assert_eq!(with("+FOUR\n", "+FOUR\n+more\n"), Ok(text.replace("FOUR\n", "FOUR\nmore\n")));
    assert_eq!(
        with(" three\n", "+3\n+three\n"),
        Ok(text.replace("three\r\n", "3\r\nthree\r\n")),
        "the end of the first line"
    );
    assert_eq!(with(" five\n", ""), Ok(text.replace("five\r\n", "")));
}
