//! The difference of two texts as a unified diff without its head.

use std::fmt;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, Hunk, InternedInput, UnifiedDiffPrinter};

/// The hunks, each under its `@@` line, with so many lines around them.
///
/// The changes are grouped here: `Diff::unified_diff` counts the lines before the first change wrongly where there are
/// more than `context` and at most twice as many.
pub fn unified(before: &str, after: &str, context: u32) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut groups: Vec<Vec<Hunk>> = Vec::new();
    for hunk in diff.hunks() {
        let is_near = |last: &Hunk| hunk.before.start - last.before.end <= 2 * context;
        match groups.last_mut().filter(|group| group.last().is_some_and(is_near)) {
            Some(group) => group.push(hunk),
            None => groups.push(vec![hunk]),
        }
    }
    let mut out = String::new();
    for group in &groups {
        // A text takes every write.
        let _ = write(&mut out, &input, group, context);
    }
    out
}

fn write(out: &mut String, input: &InternedInput<&str>, group: &[Hunk], context: u32) -> fmt::Result {
    let ([first, ..], [.., last]) = (group, group) else { return Ok(()) };
    let lead = first.before.start.min(context);
    let (start, start_after) = (first.before.start - lead, first.after.start - lead);
    let end = u32::try_from(input.before.len()).unwrap_or(u32::MAX).min(last.before.end + context);
    let end_after = last.after.end + (end - last.before.end);
    let printer = BasicLineDiffPrinter(&input.interner);
    printer.display_header(&mut *out, start, start_after, end - start, end_after - start_after)?;
    let mut at = start;
    for hunk in group {
        for &line in &input.before[at as usize..hunk.before.start as usize] {
            printer.display_context_token(&mut *out, line)?;
        }
        let (gone, new) = (hunk.before.start as usize..hunk.before.end as usize, &hunk.after);
        printer.display_hunk(&mut *out, &input.before[gone], &input.after[new.start as usize..new.end as usize])?;
        at = hunk.before.end;
    }
    for &line in &input.before[at as usize..end as usize] {
        printer.display_context_token(&mut *out, line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_gone_are_shown_too() {
        let found = unified("a\nb\nc\nd\ne\nf\n", "a\nc\nd\ne\nf\ng\n", 1);
        assert_eq!(found, "@@ -1,3 +1,2 @@\n a\n-b\n c\n@@ -6,1 +5,2 @@\n f\n+g\n");
        assert!(unified("a\n", "a\n", 3).is_empty());
    }
    #[test]
    fn the_first_hunk_begins_with_its_context_and_near_ones_are_one() {
        let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let found = unified(&before, &before.replace("\n5\n", "\nfive\n"), 3);
        assert_eq!(found, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        let found = unified(&before, &before.replace("\n5\n", "\n").replace("\n11\n", "\n11\n11a\n"), 3);
        assert!(
            found.starts_with("@@ -2,13 +2,13 @@\n 2\n") && found.ends_with(" 11\n+11a\n 12\n 13\n 14\n"),
            "{found}"
        );
        let found = unified(&before, &before.replace("\n5\n", "\n").replace("\n13\n", "\n13\n13a\n"), 3);
        assert!(found.contains("\n@@ -11,6 +10,7 @@\n 11\n"), "{found}");
    }
}
