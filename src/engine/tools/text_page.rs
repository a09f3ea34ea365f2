//! Cuts the part of a text that a model reads: lines within a limit, their numbers, the size of the rest.
//!
//! The lines have no numbers in front of them: no call uses such numbers, and the quotes of an edit have none. They
//! would be a fifth of the tokens of a read.

use sextant_base::plural::counted;
use sextant_base::token_estimate::LEAST_BYTES_PER_TOKEN;
use sextant_model::abilities::Style;
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_model::step::Model;

/// The size limits of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultLimits {
    /// Most lines of a read, most symbols of a list.
    pub(crate) lines: usize,
    /// Most bytes of a read.
    pub(crate) bytes: usize,
    /// Most bytes of a command's output: a quarter of them its beginning, the rest its end.
    pub(crate) output: usize,
}

/// Tokens of the context window to which these limits belong; they grow with it.
const WINDOW: usize = 8192;
/// Largest factor for a large window: every later question pays for a read again.
const MOST: usize = 8;
/// Most bytes of one line; a longer line is no code for a reader.
const LINE: usize = 2000;

impl ResultLimits {
    /// The limits for a model with this many tokens of context.
    pub(crate) fn of_context(tokens: usize) -> Self {
        let times = (tokens / WINDOW).clamp(1, MOST);
        Self { lines: 400 * times, bytes: 16 * 1024 * times, output: 8 * 1024 * times }
    }
}

/// The limits of a result of a task. Where no model works on it yet, no model is asked for its context size.
pub(crate) async fn limits(model: &dyn Model, step: u32) -> ResultLimits {
    if step == 0 {
        return ResultLimits::of_context(0);
    }
    let abilities = model.abilities().await;
    let limits = ResultLimits::of_context(abilities.context);
    if abilities.style != Style::Conversation {
        return limits;
    }
    // Every result stays in the history: no page is longer than the part of a result that is kept.
    let kept = PromptBudget::of(abilities).result * LEAST_BYTES_PER_TOKEN;
    ResultLimits { bytes: limits.bytes.min(kept), output: limits.output.min(kept), ..limits }
}

/// The wanted lines of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// One-based line of the file.
    pub(crate) offset: Option<usize>,
    pub(crate) limit: Option<usize>,
}

/// A stretch of lines as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextPage {
    pub(crate) text: String,
    /// One-based, of the file.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The line to continue with; `None` at the end.
    pub(crate) next: Option<usize>,
}

/// The wanted part of some lines, of which the first has this number (one-based) in its file.
pub(crate) fn page(text: &str, number: usize, wanted: Wanted, limits: ResultLimits) -> TextPage {
    let lines: Vec<&str> = text.lines().collect();
    let end = number + lines.len();
    let first = wanted.offset.unwrap_or(number).max(number);
    let most = wanted.limit.map_or(limits.lines, |limit| limit.clamp(1, limits.lines));
    let mut out: Vec<String> = Vec::new();
    let mut bytes = 0;
    for line in lines.iter().skip(first - number).take(most) {
        let shown = cut(line);
        bytes += shown.len() + 1;
        if bytes > limits.bytes && !out.is_empty() {
            break;
        }
        out.push(shown);
    }
    let last = first + out.len();
    let next = (last < end).then_some(last);
    TextPage { text: out.join("\n"), first, last: last.saturating_sub(1), next }
}

fn cut(line: &str) -> String {
    if line.len() <= LINE {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(LINE);
    format!("{} [… {} of this line]", &line[..end], counted(line.len() - end, "more byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: ResultLimits = ResultLimits { lines: 4, bytes: 1000, output: 100 };

    #[test]
    fn a_page_says_which_lines_it_has_and_where_the_next_begins() {
        let text = "a\n\n    c\nd\ne\nf\n";
        let whole = page(text, 8, Wanted::default(), SMALL);
        assert_eq!(whole.text, "a\n\n    c\nd");
        assert_eq!((whole.first, whole.last, whole.next), (8, 11, Some(12)));
        let rest = page(text, 8, Wanted { offset: whole.next, ..Wanted::default() }, SMALL);
        assert_eq!((rest.text.as_str(), rest.last, rest.next), ("e\nf", 13, None));
        let few = page(text, 8, Wanted { limit: Some(2), ..Wanted::default() }, SMALL);
        assert_eq!((few.text.as_str(), few.next), ("a\n", Some(10)));
        assert_eq!(page(text, 8, Wanted { offset: Some(99), ..Wanted::default() }, SMALL).text, "");
        assert_eq!(page("", 1, Wanted::default(), SMALL).next, None);
    }

    #[test]
    fn bytes_end_a_page_too_and_a_long_line_is_cut_and_says_so() {
        let few = ResultLimits { bytes: 10, ..SMALL };
        let text = "abcdefghij\nsecond\n";
        let first = page(text, 1, Wanted::default(), few);
        assert_eq!((first.text.as_str(), first.next), ("abcdefghij", Some(2)), "one line at least");
        let long = page(&"ä".repeat(LINE), 1, Wanted::default(), SMALL).text;
        assert!(long.ends_with("[… 2000 more bytes of this line]") && long.len() < LINE + 100, "{}", long.len());
    }

    #[test]
    fn limits_grow_with_the_window() {
        let today = ResultLimits::of_context(8192);
        assert_eq!(today, ResultLimits::of_context(0));
        assert_eq!(today.lines, 400);
        assert_eq!(ResultLimits::of_context(32_768).lines, 1600);
        assert_eq!(ResultLimits::of_context(1_000_000), ResultLimits::of_context(65_536));
    }
}
