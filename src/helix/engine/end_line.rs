//! Composes the last line of a task for a narrow screen: its outcome and counts, and how to read and write the rest.

use crate::engine::helix_wording::cost_last;
use crate::message_line::{ALL, NARROW, cut};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;

/// The way to the answers of an open question.
pub(super) const ANSWERS: &str = "(space a: answers) ";

/// The sentence of a summary that names the changed files begins with this.
const CHANGED: &str = "changed ";

/// The sentence about the reach of a look over the workspace begins with this.
const LOOKED: &str = "looked at ";

/// The end of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskEnd<'a> {
    pub(super) ok: bool,
    /// The words of the model; empty where the summary has more.
    pub(super) words: &'a str,
    pub(super) summary: &'a str,
    /// The number of buffers that the user has to write.
    pub(super) unsaved: usize,
    /// True if a question waits for its answer.
    pub(super) asks: bool,
}

impl TaskEnd<'_> {
    /// The line, which is never longer than a narrow screen.
    pub(super) fn line(&self) -> String {
        let before = if self.asks { ANSWERS } else { "" };
        let writes = (self.unsaved > 0).then(|| format!(":wa writes {}", counted(self.unsaved, "buffer")));
        let (words, summary) = (headline(self.words), cost_last(&headline(self.summary)));
        let join = |summary: &str| {
            // The reason of a failure comes first.
            let parts = if self.ok { [words.as_str(), summary] } else { [summary, words.as_str()] };
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" — ")
        };
        let whole: Vec<String> = std::iter::once(join(&summary)).chain(writes.clone()).collect();
        let whole = format!("{before}{}", whole.join(" — "));
        if self.words.trim().lines().count() <= 1 && whole.chars().count() <= NARROW {
            return whole;
        }
        let rest: Vec<String> = writes.into_iter().chain([ALL.to_owned()]).collect();
        let rest = format!(" ({})", rest.join("; "));
        let room = NARROW - before.len() - rest.len();
        let fits = |line: &String| line.chars().count() <= room;
        let shown = Some(join(&summary)).filter(fits).unwrap_or_else(|| join(&counts_first(&summary, room)));
        format!("{before}{}{rest}", cut(&shown, room))
    }
}

/// A summary with its outcome, its counts and its files before everything else. Counts and names of files have fewer
/// words where they do not fit into the room, in characters.
fn counts_first(summary: &str, room: usize) -> String {
    let sentences: Vec<&str> = summary.trim_end_matches('.').split(". ").collect();
    let Some(at) = sentences.iter().position(|sentence| sentence.starts_with(CHANGED)) else {
        return summary.to_owned();
    };
    let is_outcome = |sentence: &&&str| !sentence.starts_with(LOOKED);
    let head: Vec<&str> = sentences[..at].iter().filter(is_outcome).take(1).copied().collect();
    let long = |parts: &[&str]| parts.iter().map(|part| part.chars().count() + 2).sum::<usize>();
    let least = sentences.get(at + 1).map(|counts| short_counts(&without_empty(counts))).unwrap_or_default();
    // A full stop and the mark of a cut need their places too.
    let files = short_files(sentences[at], room.saturating_sub(long(&head) + long(&[&least]) + 3));
    let counts = sentences.get(at + 1).map(|counts| {
        let whole = without_empty(counts);
        if long(&head) + long(&[&whole, &files]) <= room { whole } else { short_counts(&whole) }
    });
    let others = sentences[..at].iter().filter(|sentence| !head.contains(sentence));
    let more = others.chain(sentences.iter().skip(at + 2)).map(|part| (*part).to_owned());
    let head = head.iter().map(|part| (*part).to_owned());
    let all: Vec<String> = head.chain(counts).chain([files]).chain(more).collect();
    all.join(". ")
}

/// The changed files by their paths, by their names, or by the first name and the number of the others; without room for
/// one of these, by their number alone. A single file always has its name.
fn short_files(sentence: &str, room: usize) -> String {
    let paths: Vec<&str> = sentence.trim_start_matches(CHANGED).split(", ").collect();
    let names: Vec<&str> = paths.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let others = names.len() - 1;
    let mut forms = vec![sentence.to_owned(), format!("{CHANGED}{}", names.join(", "))];
    if others > 0 {
        forms.extend([
            format!("{CHANGED}{} and {others} more", names[0]),
            format!("{CHANGED}{}", counted(names.len(), "file")),
        ]);
    }
    let last = forms.len() - 1;
    let fitting = forms.iter().position(|form| form.chars().count() <= room).unwrap_or(last);
    forms.swap_remove(fitting)
}

/// The counts without the unchanged diagnostics, and without the fixed ones where there are none.
fn without_empty(counts: &str) -> String {
    let tells = |part: &&str| !part.ends_with(" unchanged") && *part != "0 fixed";
    let parts: Vec<&str> = counts.split(", ").filter(tells).collect();
    if parts.is_empty() { counts.to_owned() } else { parts.join(", ") }
}

/// `1 new diagnostic, 2 fixed` in fewer words.
fn short_counts(counts: &str) -> String {
    counts.replacen(" new diagnostics", " new", 1).replacen(" new diagnostic", " new", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "2 of 3 steps done. Step 2 (“Split it”) failed: no. changed src/shop/cart.py, src/shop/report.py. 1 new diagnostic, 2 fixed, 3 unchanged. 120 tokens in 3 calls.";

    fn end(summary: &str) -> TaskEnd<'_> {
        TaskEnd { ok: true, words: "", summary, unsaved: 0, asks: false }
    }

    #[test]
    fn a_short_end_is_shown_whole() {
        assert_eq!(end("undone: a.py").line(), "undone: a.py");
        let written = TaskEnd { unsaved: 1, ..end("changed a.py. 0 new diagnostics, 1 fixed, 0 unchanged.") };
        assert_eq!(written.line(), "changed a.py. 0 new diagnostics, 1 fixed, 0 unchanged. — :wa writes 1 buffer");
        assert_eq!(TaskEnd { words: "Yes.", ..end("nothing was changed.") }.line(), "Yes. — nothing was changed.");
    }

    #[test]
    fn a_long_end_has_its_outcome_its_counts_and_the_way_to_the_rest_on_a_narrow_screen() {
        let long = TaskEnd { unsaved: 2, ..end(LONG) };
        assert_eq!(long.line(), "2 of 3 steps done. 1 new, 2 fixed. … (:wa writes 2 buffers; agent.show: all)");
        assert_eq!(
            TaskEnd { asks: true, ..end(LONG) }.line(),
            "(space a: answers) 2 of 3 steps done. 1 new, 2 fixed. … (agent.show: all)"
        );
        let asked = end("changed src/shop/cart.py, src/shop/report.py. 1 new diagnostic, 2 fixed, 3 unchanged.");
        let asked = TaskEnd { unsaved: 2, ..asked };
        assert_eq!(asked.line(), "1 new, 2 fixed. changed 2 files (:wa writes 2 buffers; agent.show: all)");
        let one = end("changed src/price.py. 0 new diagnostics, 0 fixed, 3 unchanged. 120 tokens in 3 calls.");
        let line = TaskEnd { unsaved: 1, ..one }.line();
        assert_eq!(line, "0 new. changed src/price.py. 120 … (:wa writes 1 buffer; agent.show: all)");
        for (path, wanted) in [
            ("price.py", "0 new, 1 fixed. changed price.py. … (:wa writes 1 buffer; agent.show: all)"),
            ("src/shop/parts/price.py", "0 new, 1 fixed. changed price.py. … (:wa writes 1 buffer; agent.show: all)"),
            ("a.py, src/b.py", "0 new, 1 fixed. changed a.py, b.py. … (:wa writes 1 buffer; agent.show: all)"),
            ("src/cart.py, b.py, c.py", "0 new, 1 fixed. changed 3 files. … (:wa writes 1 buffer; agent.show: all)"),
        ] {
            let over = format!(
                "looked at all 7 files of the workspace. changed {path}. 0 new diagnostics, 1 fixed, 3 unchanged."
            );
            assert_eq!(TaskEnd { unsaved: 1, ..end(&over) }.line(), wanted);
        }
        for asks in [false, true] {
            for (ok, unsaved, words) in [(true, 12, ""), (false, 0, "one\ntwo"), (true, 3, "é".repeat(300).as_str())] {
                let line = TaskEnd { ok, words, summary: LONG, unsaved, asks }.line();
                assert!(line.chars().count() <= NARROW && line.ends_with("agent.show: all)"), "{line}");
            }
        }
    }
}
