//! How many tokens a text is taken to be, where no tokenizer says so.

/// Bytes of English prose and code per token: about 3.5 for the byte-pair vocabularies of today's models.
pub const BYTES_PER_TOKEN: f64 = 3.5;

/// An estimate, rounded up; good enough for budgets and for providers that report no usage.
pub fn estimate(text: &str) -> usize {
    (text.len() as f64 / BYTES_PER_TOKEN).ceil() as usize
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
}
