//! The lines that a change would write, as the user reads them before the answer.

/// Lines and bytes that are shown; for a longer change the user sees how much is left out.
const LINES: usize = 400;
const BYTES: usize = 32 * 1024;

/// The removed lines, with `-`, and their replacement, with `+`, without the unchanged lines around them.
pub(crate) fn written(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let lines: Vec<String> =
        old.iter().map(|line| format!("- {line}")).chain(new.iter().map(|line| format!("+ {line}"))).collect();
    let mut bytes = 0;
    let fits = lines.iter().take(LINES).take_while(|line| {
        bytes += line.len();
        bytes <= BYTES
    });
    let mut out: Vec<String> = vec![format!("line {}:", head + 1)];
    out.extend(fits.cloned());
    let left = lines.len() + 1 - out.len();
    if left > 0 {
        out.push(format!("[{left} more changed lines are not shown]"));
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_shown_and_what_is_not_shown_is_counted() {
        assert_eq!(written("a\nb\nc\n", "a\nx\ny\nc\n"), "line 2:\n- b\n+ x\n+ y");
        assert_eq!(written("", "trap\n"), "line 1:\n+ trap");
        assert_eq!(written("a\n", "a\n"), "line 2:");
        let long = "x\n".repeat(1000);
        assert!(written("", &long).ends_with("[600 more changed lines are not shown]"));
        let wide = format!("{}\nb\n", "x".repeat(40_000));
        assert_eq!(written("", &wide), "line 1:\n[2 more changed lines are not shown]");
    }
}
