//! Joins many hunks into few: each costs Neovim a pass over the whole buffer for every attached language server.

use sextant_base::positions::LineIndex;
use sextant_text::edits::TextEdit;

/// Hunks times lines that Neovim takes in about 2.5 ms for one server. Measured with 0.11.4 and ruff: 0.3 ms for each
/// hunk in 10,000 lines. A buffer of 1,000 lines may have 80 hunks, one of 10,000 lines 8.
const BUDGET: usize = 80_000;
/// The number of hunks that a buffer of any length may have.
const LEAST: usize = 8;
/// Unchanged lines between hunks are written again if they are fewer than this part of the buffer. That takes Neovim a
/// tenth of the time of another pass.
const SHORT: usize = 100;

/// The same edit in as few hunks as the buffer's length asks for, and the new rows of its lines.
pub(super) struct Joined {
    pub(super) hunks: Vec<TextEdit>,
    /// Three numbers for each run of lines that stay: first row, last row, and the number of rows it moves by. The runs
    /// are in order, without overlap; a row outside of them is replaced. Empty if nothing was joined: Neovim itself
    /// moves the lines between hunks.
    pub(super) kept: Vec<i64>,
}

/// Joins the hunks that stand closest. They are in order and do not overlap; `index` is that of `old`.
pub(super) fn joined(old: &str, index: &LineIndex, hunks: Vec<TextEdit>) -> Joined {
    let lines = index.line_count();
    let most = (BUDGET / lines).max(LEAST);
    if hunks.len() <= most {
        return Joined { hunks, kept: Vec::new() };
    }
    let gap = |i: usize| index.line_of(hunks[i].range.start) - index.line_of(hunks[i - 1].range.end);
    let mut gaps: Vec<(usize, usize)> =
        (1..hunks.len()).map(|i| (gap(i), i)).filter(|(gap, _)| gap * SHORT > lines).collect();
    gaps.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    gaps.truncate(most - 1);
    let mut starts: Vec<usize> = gaps.into_iter().map(|(_, i)| i).collect();
    starts.sort_unstable();
    let ends: Vec<usize> = starts.iter().copied().chain([hunks.len()]).collect();
    let groups = std::iter::once(0).chain(starts).zip(ends);
    Joined { kept: kept(old, index, &hunks), hunks: groups.map(|(from, to)| as_one(old, &hunks[from..to])).collect() }
}

/// Consecutive hunks as one, with the text between them.
fn as_one(old: &str, group: &[TextEdit]) -> TextEdit {
    let mut text = String::new();
    let mut at = group.first().map_or(0, |hunk| hunk.range.start);
    let start = at;
    for hunk in group {
        text.push_str(&old[at..hunk.range.start]);
        text.push_str(&hunk.text);
        at = hunk.range.end;
    }
    TextEdit::new(start..at, text)
}

/// The lines that remain, changed within themselves at most.
fn kept(old: &str, index: &LineIndex, hunks: &[TextEdit]) -> Vec<i64> {
    let mut out: Vec<i64> = Vec::new();
    let mut run = |from: usize, to: usize, shift: i64| {
        if from >= to {
            return;
        }
        let (first, last) = (number(from), number(to) - 1);
        match out.as_mut_slice() {
            [.., end, by] if *by == shift && *end + 1 == first => *end = last,
            _ => out.extend([first, last, shift]),
        }
    };
    let (mut from, mut shift) = (0, 0);
    for hunk in hunks {
        let (first, last) = (index.line_of(hunk.range.start), index.line_of(hunk.range.end));
        let breaks = hunk.text.matches('\n').count();
        if first == last && breaks == 0 {
            continue;
        }
        let (before, after) = whole(old, hunk);
        let gone_from = first + usize::from(before);
        let gone_to = if after { last } else { last + 1 };
        run(from, gone_from, shift);
        from = from.max(gone_from).max(gone_to);
        shift += number(breaks) - number(last - first);
    }
    run(from, index.line_count(), shift);
    out
}

/// True if the line that a hunk starts in, and the line that it ends in, remain whole.
fn whole(old: &str, hunk: &TextEdit) -> (bool, bool) {
    let (head, tail) = (&old[..hunk.range.start], &old[hunk.range.end..]);
    let starts_line = head.is_empty() || head.ends_with('\n');
    let ends_line = tail.is_empty() || tail.starts_with('\n');
    let empty = hunk.text.is_empty();
    let at_end = old[hunk.range.start..].starts_with('\n') || hunk.range.start == old.len();
    let at_start = hunk.range.end == 0 || old[..hunk.range.end].ends_with('\n');
    let before = at_end && (hunk.text.starts_with('\n') || empty && ends_line);
    // Of two empty lines that become one, the first stays.
    let after = at_start && (hunk.text.ends_with('\n') || empty && starts_line && !before);
    (before, after)
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sextant_text::edits::apply_text::apply;
    use sextant_text::edits::hunks::hunks;

    /// The new row of a row, as `lua/sextant/edit/marks.lua` computes it.
    fn moved(kept: &[i64], row: i64) -> Option<i64> {
        kept.chunks(3).find(|run| run[0] <= row && row <= run[1]).map(|run| row + run[2])
    }

    fn numbered(count: usize, changed: impl Fn(usize) -> bool) -> String {
        let line = |n| format!("line {n} {}\n", if changed(n) { "new" } else { "old" });
        (0..count).map(line).collect()
    }

    #[test]
    fn few_hunks_stay_as_they_are() {
        let (old, new) = (numbered(10_000, |_| false), numbered(10_000, |n| n % 1_500 == 0));
        let found = hunks(&old, &new);
        assert_eq!(found.len(), 7);
        let joined = joined(&old, &LineIndex::new(&old), found.clone());
        assert_eq!((joined.hunks, joined.kept), (found, Vec::new()));
    }

    #[test]
    fn a_thousand_become_as_many_as_there_are_long_gaps() {
        // A change in every third line, but no change in two long stretches.
        let old = numbered(3_000, |_| false);
        let new = numbered(3_000, |n| n % 3 == 0 && !(500..700).contains(&n) && !(2_000..2_900).contains(&n));
        let joined = joined(&old, &LineIndex::new(&old), hunks(&old, &new));
        assert_eq!(joined.hunks.len(), 3);
        assert_eq!(apply(&old, &joined.hunks).unwrap(), new);
        assert_eq!(joined.kept, [0, 3_000, 0], "every line is where it was, the empty one after the last too");
    }

    #[test]
    fn rows_are_reported_where_lines_come_and_go() {
        let check = |old: &str, hunk: TextEdit, wanted: &[i64]| {
            assert_eq!(kept(old, &LineIndex::new(old), std::slice::from_ref(&hunk)), wanted, "{hunk:?}");
        };
        check("a\nb\nc", TextEdit::new(2..2, "x\n"), &[0, 0, 0, 1, 2, 1]);
        check("a\nb\nc", TextEdit::new(3..3, "\nx"), &[0, 1, 0, 2, 2, 1]);
        check("a\nb\nc", TextEdit::new(2..4, ""), &[0, 0, 0, 2, 2, -1]);
        check("a\nb\nc", TextEdit::new(1..3, ""), &[0, 0, 0, 2, 2, -1]);
        check("a\nbb\nc", TextEdit::new(3..3, "x\ny"), &[0, 0, 0, 2, 2, 1]);
        check("a\nbb\nc", TextEdit::new(3..5, "x"), &[0, 0, 0]);
        check("a\nbb\nc", TextEdit::new(2..4, "x"), &[0, 2, 0]);
        check("\n\nb", TextEdit::new(0..1, ""), &[0, 0, 0, 2, 2, -1]);
    }

    fn text() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[ab😀]{0,2}", 1..60)
    }

    /// Two texts that differ in many places: lines changed, left out and put in, or joined with the next.
    fn texts() -> impl Strategy<Value = (String, String)> {
        (text(), proptest::collection::vec(0..12u8, 60), 1..40usize).prop_map(|(lines, what, times)| {
            let lines: Vec<String> = lines.iter().cycle().take(lines.len() * times).cloned().collect();
            let mut after = String::new();
            for (line, what) in lines.iter().zip(what.iter().cycle()) {
                match what {
                    0 => after.push_str(&format!("{line}x\n")),
                    1 => {}
                    2 => after.push_str(&format!("new\n{line}\n")),
                    3 => after.push_str(line),
                    _ => after.push_str(&format!("{line}\n")),
                }
            }
            (lines.join("\n"), after)
        })
    }

    proptest! {
        #[test]
        fn joined_hunks_give_the_same_text_and_tell_where_lines_are((old, new) in texts()) {
            let index = LineIndex::new(&old);
            let found = hunks(&old, &new);
            let joined = joined(&old, &index, found.clone());
            prop_assert_eq!(apply(&old, &joined.hunks).unwrap(), new.clone());
            prop_assert!(joined.hunks.len() <= (BUDGET / index.line_count()).max(LEAST));

            let kept = kept(&old, &index, &found);
            let (was, is): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
            let mut before = -1;
            for (row, line) in was.iter().enumerate() {
                let (start, end) = (index.line_start(row), index.line_start(row) + line.len());
                let touched = found.iter().any(|hunk| hunk.range.start <= end && hunk.range.end >= start);
                let now = moved(&kept, number(row));
                prop_assert!(touched || now.is_some(), "line {} is not touched and stays", row);
                if let Some(now) = now {
                    prop_assert!(now > before && usize::try_from(now).is_ok_and(|now| now < is.len()));
                    before = now;
                    let within = found.iter().any(|hunk| {
                        hunk.range.start <= end && hunk.range.end >= start
                            && !hunk.text.contains('\n') && !old[hunk.range.clone()].contains('\n')
                    });
                    prop_assert!(within || is[usize::try_from(now).unwrap()] == *line, "line {} is the same", row);
                }
            }
        }
    }
}
