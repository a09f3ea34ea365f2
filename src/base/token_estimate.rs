//! Estimates the tokens of a text without a tokenizer.

/// Bytes of English prose and code per token: about 3.5 for the byte-pair vocabularies of today's models.
pub const BYTES_PER_TOKEN: f64 = 3.5;

/// The same rounded down: a text that fits by it is not cut where its tokens are estimated again.
pub const LEAST_BYTES_PER_TOKEN: usize = 3;

/// An estimate, rounded up; good enough for budgets and for providers that report no usage.
pub fn estimate(text: &str) -> usize {
    (text.len() * 2).div_ceil(7)
}

/// Keeps the newest lines that fit into a budget of tokens; the input is oldest first, and so is the result.
pub fn newest_within(lines: &[String], budget: usize) -> &[String] {
    let mut left = budget;
    let mut start = lines.len();
    for line in lines.iter().rev() {
        let cost = estimate(line) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        start -= 1;
    }
    &lines[start..]
}

/// The beginning and the end of a text, in whole lines, with the number of lines left out between them. Three quarters
/// of the budget are for the beginning.
pub fn head_and_tail(text: &str, budget: usize) -> String {
    if estimate(text) <= budget {
        return text.to_owned();
    }
    let bytes = (budget as f64 * BYTES_PER_TOKEN) as usize;
    let (first, last) = (floor_char(text, bytes / 4 * 3), floor_char(text, text.len() - bytes / 4));
    let first = text[..first].rfind('\n').unwrap_or(first);
    let last = text[last..].find('\n').map_or(last, |at| last + at + 1);
    let between = text[first..last].lines().filter(|line| !line.is_empty()).count();
    let lines = if between == 1 { "line is" } else { "lines are" };
    format!("{}\n… {between} {lines} left out here …\n{}", &text[..first], &text[last..])
}

/// The last place before an offset where a character ends.
fn floor_char(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_rounds_up_and_nothing_costs_nothing() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("a"), 1);
        assert_eq!(estimate("12345678"), 3);
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let lines: Vec<String> = ["old old old old old old", "middle", "new"].map(String::from).to_vec();
        assert_eq!(newest_within(&lines, 6), &lines[1..]);
        assert_eq!(newest_within(&lines, 0), &[] as &[String]);
        assert_eq!(newest_within(&lines, 100), &lines[..]);
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_says_what_is_between() {
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let shown = head_and_tail(&text, 60);
        assert!(shown.starts_with("line 1\n") && shown.ends_with("line 100\n"), "{shown}");
        assert!(shown.contains("lines are left out here") && estimate(&shown) < 75, "{shown}");
        assert_eq!(head_and_tail("short", 60), "short");
        let one = "é".repeat(2000);
        assert!(head_and_tail(&one, 10).contains("1 line is left out"));
    }
}
