//! The wording for the effect of a change on the diagnostics: a count only of the known part, “not known” of the rest.

use crate::state::answer_status::Status;
use crate::state::comparison::Verdict;
use crate::state::pending_report;
use crate::state::render::{Line, UNCOVERED};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_diagnostics::model::Severity;

/// The known state of the diagnostics after a task.
pub(crate) fn of_task(verdict: &Verdict, new: usize, fixed: usize, all: usize) -> String {
    let pending = pending_report::listed(&verdict.pending);
    let count = counted(new, "new diagnostic");
    let yet = yet(pending_report::may_be_answered(&verdict.pending));
    match verdict.status {
        Status::Complete => format!("{count}, {fixed} fixed, {all} unchanged"),
        Status::Partial if new == 0 => format!("whether anything is new is not known{yet}: {pending}"),
        Status::Partial => format!("{count} so far, not known{yet}: {pending}"),
        status => {
            let who = if pending.is_empty() { String::new() } else { format!(": {pending}") };
            format!("diagnostics {}: what the change did is not known{who}", status.name())
        }
    }
}

/// The diagnostics that a task has uncovered, with the first of them: they count as neither new nor unchanged.
pub(crate) fn of_uncovered(verdict: &Verdict, floor: Severity) -> Option<String> {
    let mut found = verdict.revealed_from(floor);
    let (first, others) = (found.next()?, found.count());
    let the_first = if others > 0 { ", the first" } else { "" };
    let words = headline(&first.diagnostic.message);
    let (file, line, words) = (&first.symbol.file, first.line, words.trim_end_matches('.'));
    Some(format!("{} {UNCOVERED}{the_first}: {file}:{line} {words}", others + 1))
}

/// Like [`of_task`], for a step of a plan.
pub(crate) fn of_step(verdict: &Verdict, new: usize, fixed: usize) -> String {
    let pending = pending_report::listed(&verdict.pending);
    match verdict.status {
        Status::Complete => format!("{fixed} fixed, {new} new"),
        Status::Partial if new == 0 => format!("{fixed} fixed so far, whether anything is new is not known: {pending}"),
        Status::Partial => format!("{fixed} fixed and {new} new so far, not known: {pending}"),
        status => unknown(status).to_owned(),
    }
}

/// The same words where a late answer has changed them, with the first of the new diagnostics.
pub(crate) fn of_late(words: &str, first: Option<&str>) -> String {
    let first = first.map(|message| format!("after a late answer: {words}, the first: {}", headline(message)));
    first.unwrap_or_else(|| words.to_owned())
}

/// Ends "not known" where it may still be known.
fn yet(is_awaited: bool) -> &'static str {
    if is_awaited { " yet" } else { "" }
}

/// Like [`of_task`], for one edit, or for several that were settled as one. `is_awaited` is true if an answer may come.
pub(crate) fn of_edit(status: Status, new: usize, fixed: usize, more: &str, is_awaited: bool) -> String {
    let yet = yet(is_awaited);
    match status {
        Status::Complete => format!("{new} new, {fixed} fixed{more}"),
        Status::Partial if new == 0 => {
            format!("partly known: whether anything is new is not known{yet}; so far {fixed} fixed{more}")
        }
        Status::Partial => format!("partly known: {new} new so far, {fixed} fixed{more}"),
        status => unknown(status).to_owned(),
    }
}

/// Like [`of_task`], for an edit that is not made, before the lines of its new diagnostics.
pub(crate) fn of_candidate(verdict: &Verdict, new: &[Line]) -> String {
    let pending = pending_report::listed(&verdict.pending);
    let errors = new.iter().all(|line| line.severity == "error");
    let count = match errors {
        true => counted(new.len(), "error"),
        false => counted(new.len(), "new diagnostic"),
    };
    match verdict.status {
        Status::Complete if new.is_empty() => "It would introduce nothing that is reported.".to_owned(),
        Status::Complete => format!("It would introduce {count}:"),
        Status::Partial if new.is_empty() => not_foreseen(&pending),
        Status::Partial => format!("It would introduce {count} at least, not known: {pending}:"),
        Status::Skipped => not_foreseen("nobody reports on it"),
        status if pending.is_empty() => not_foreseen(status.name()),
        status => not_foreseen(&format!("{}, {pending}", status.name())),
    }
}

/// The wording where the effect of an edit cannot be determined.
pub(crate) fn not_foreseen(why: &str) -> String {
    format!("What it would introduce is not known: {why}")
}

fn unknown(status: Status) -> &'static str {
    match status {
        Status::Timeout => "no answer in time, so nothing is known yet of the diagnostics",
        Status::Unavailable => "no provider could answer, so nothing is known of the diagnostics",
        Status::Skipped => "no provider covers this file, so nothing is known of its diagnostics",
        Status::Off => "diagnostics are turned off, so nothing is known of them",
        Status::Complete | Status::Partial => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::pending_report::PendingReport;

    const ALL: [Status; 6] =
        [Status::Complete, Status::Partial, Status::Timeout, Status::Unavailable, Status::Skipped, Status::Off];

    #[test]
    fn what_nobody_will_answer_is_not_known_without_a_yet_and_has_a_way_out() {
        let unchecked = vec![PendingReport::unchecked("a.rs"), PendingReport::unchecked("b.rs")];
        let verdict = Verdict { pending: unchecked.clone(), ..Verdict::without(Status::Partial) };
        assert!(of_task(&verdict, 0, 0, 0).starts_with("whether anything is new is not known: "));
        assert!(of_task(&verdict, 2, 0, 0).contains("2 new diagnostics so far, not known: all but the syntax (a.rs)"));
        assert!(of_edit(Status::Partial, 0, 0, "", false).contains("is not known; so far"));
        let words = pending_report::way_out(&unchecked).unwrap_or_default();
        assert!(
            words.starts_with("No server and no command checks a.rs and 1 other file: the health check"),
            "{words}"
        );
        for other in [PendingReport::awaited("fake", "a.py"), PendingReport::uncovered("README.md")] {
            assert_eq!(pending_report::way_out(&[other]), None);
        }
    }

    #[test]
    fn nothing_new_is_said_only_where_all_is_known() {
        for status in ALL {
            let verdict = Verdict { pending: vec![PendingReport::awaited("fake", "a.py")], ..Verdict::without(status) };
            let words =
                [of_task(&verdict, 0, 2, 0), of_step(&verdict, 0, 2), of_edit(status, 0, 2, ", 3 unchanged", true)];
            let ahead = of_candidate(&verdict, &[]);
            assert_eq!(ahead.contains("nothing"), status == Status::Complete, "{status:?}: {ahead}");
            assert_eq!(ahead.contains("not known"), status != Status::Complete, "{status:?}: {ahead}");
            for words in words {
                assert_eq!(words.contains("0 new"), status == Status::Complete, "{status:?}: {words}");
                assert_eq!(words.contains("known"), status != Status::Complete, "{status:?}: {words}");
            }
        }
        let verdict =
            Verdict { pending: vec![PendingReport::awaited("fake", "a.py")], ..Verdict::without(Status::Partial) };
        assert_eq!(of_step(&verdict, 1, 0), "0 fixed and 1 new so far, not known: fake (a.py)");
        assert_eq!(of_edit(Status::Partial, 1, 0, "", true), "partly known: 1 new so far, 0 fixed");
    }
}
