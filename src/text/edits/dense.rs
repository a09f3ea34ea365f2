//! Finds the texts made of repeated lines, which the differ takes hours for.

use std::ops::Range;

use imara_diff::Token;

/// The most steps that the differ may take over frequent lines: some 50 ms.
const MOST_STEPS: u64 = 1 << 26;
/// Occurrences from which on the differ counts a line as frequent in a text of any length; in a shorter text it does
/// earlier.
const FREQUENT: usize = 1024;

/// The changed lines of two texts whose difference takes the differ more steps than a user can wait for. They are the
/// lines at equal places where both texts have as many, else all between their common beginning and end. `None` for
/// every other text.
///
/// `imara-diff` 0.2 goes back from each frequent line to the last rare one before it. That is quadratic in a text
/// without rare lines.
pub(super) fn changed(before: &[Token], after: &[Token]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let ends = before[head..].iter().rev().zip(after[head..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let (b, a) = (head..before.len() - tail, head..after.len() - tail);
    let (old, new) = (&before[b.clone()], &after[a.clone()]);
    if steps(old, new) + steps(new, old) <= MOST_STEPS {
        return None;
    }
    if b.len() != a.len() {
        return Some(vec![(b, a)]);
    }
    let differ = |line: &usize| before[*line] != after[*line];
    Some(b.filter(differ).map(|line| (line..line + 1, line..line + 1)).collect())
}

/// The steps that the differ takes over the frequent lines of one side.
fn steps(lines: &[Token], others: &[Token]) -> u64 {
    let most = lines.iter().chain(others).map(|token| token.0 as usize + 1).max().unwrap_or(0);
    let mut times = vec![0_u32; most];
    others.iter().for_each(|token| times[token.0 as usize] += 1);
    let frequent = lines.len().isqrt().clamp(1, FREQUENT);
    let (mut run, mut steps) = (0, 0);
    for token in lines {
        let there = times[token.0 as usize] as usize;
        run = if there == 0 || there >= frequent { run + 1 } else { 0 };
        steps += if there >= frequent { run } else { 0 };
    }
    steps
}

#[cfg(test)]
mod tests {
    use crate::edits::apply_text::apply;
    use crate::edits::hunks::hunks;

    #[test]
    fn many_equal_lines_are_compared_at_once() {
        let lines = |count: usize| "x = 1\n".repeat(count);
        let began = std::time::Instant::now();
        for (before, after, most) in [
            (format!("y = 1\n{}z = 1\n", lines(200_000)), lines(200_002), 2),
            (lines(200_000), format!("{}y = 2\n{}z\n", lines(90_000), lines(100_000)), 1),
            ("a\nb\n".repeat(100_000), "b\na\nc\n".repeat(80_000), 1),
            (lines(200_000), lines(100_000), 1),
        ] {
            let found = hunks(&before, &after);
            assert_eq!(apply(&before, &found).unwrap(), after);
            assert!(found.len() <= most, "{}", found.len());
        }
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }

    #[test]
    fn a_long_text_with_many_blank_lines_keeps_its_small_hunks() {
        let function = |number: usize| format!("def work_{number}():\n    x = {number}\n\n    return x\n\n\n");
        let before: String = (0..20_000).map(function).collect();
        let after = before.replace("x = 77\n", "x = 78\n\n").replace("x = 19977\n", "x = 0\n");
        let found = hunks(&before, &after);
        assert_eq!(apply(&before, &found).unwrap(), after);
        assert_eq!(found.len(), 2);
    }
}
