//! A part of a text as a model reads it: numbered lines within a limit, and what is left out of it.

use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::base::failure::{Failure, tool_failure};
use crate::base::plural::counted;
use crate::llm::abilities::Style;
use crate::llm::prompt::budget::PromptBudget;

/// How much one result may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultLimits {
    /// Lines of what is read, symbols of a list.
    pub(crate) lines: usize,
    /// Bytes of what is read.
    pub(crate) bytes: usize,
    /// Bytes of what a command prints: a quarter of them its beginning, the rest its end.
    pub(crate) output: usize,
}

/// Tokens of a window for which the limits are what they are here; they grow with it.
const WINDOW: usize = 8192;
/// However large a window is: what is read is paid for again with every question.
const MOST: usize = 8;
/// Bytes that a token is taken for at least: what fits so is not cut again.
const BYTES_PER_TOKEN: usize = 3;
/// Bytes of one line; a longer one is no code that anybody reads.
const LINE: usize = 2000;

impl ResultLimits {
    /// What a model with so many tokens of context is given at once.
    pub(crate) fn of_context(tokens: usize) -> Self {
        let times = (tokens / WINDOW).clamp(1, MOST);
        Self { lines: 400 * times, bytes: 16 * 1024 * times, output: 8 * 1024 * times }
    }
}

/// How much a result of a task may hold. Where no model works on it yet, none is asked what it can read.
pub(crate) async fn limits(session: &Session, task: &Task) -> ResultLimits {
    if task.counts.step == 0 {
        return ResultLimits::of_context(0);
    }
    let abilities = session.model.abilities().await;
    let limits = ResultLimits::of_context(abilities.context);
    if abilities.style != Style::Conversation {
        return limits;
    }
    // Every result stays in the history: no page is longer than what is kept of one.
    let kept = PromptBudget::of(abilities).result * BYTES_PER_TOKEN;
    ResultLimits { bytes: limits.bytes.min(kept), output: limits.output.min(kept), ..limits }
}

/// Which lines of a text are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// One-based line of the file.
    pub(crate) offset: Option<usize>,
    pub(crate) limit: Option<usize>,
    /// Without the numbers of the lines: for a user.
    pub(crate) plain: bool,
}

/// A stretch of lines as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NumberedPage {
    pub(crate) text: String,
    /// One-based, of the file.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The line to go on with; `None` at the end.
    pub(crate) next: Option<usize>,
}

/// The wanted part of some lines, of which the first has this number (one-based) in its file.
pub(crate) fn page(text: &str, number: usize, wanted: Wanted, limits: ResultLimits) -> NumberedPage {
    let lines: Vec<&str> = text.lines().collect();
    let end = number + lines.len();
    let first = wanted.offset.unwrap_or(number).max(number);
    let most = wanted.limit.map_or(limits.lines, |limit| limit.clamp(1, limits.lines));
    let width = (first + most).min(end).saturating_sub(1).to_string().len();
    let mut out: Vec<String> = Vec::new();
    let mut bytes = 0;
    for (at, line) in lines.iter().enumerate().skip(first - number).take(most) {
        let shown = if wanted.plain { cut(line) } else { numbered(number + at, width, &cut(line)) };
        bytes += shown.len() + 1;
        if bytes > limits.bytes && !out.is_empty() {
            break;
        }
        out.push(shown);
    }
    let last = first + out.len();
    let next = (last < end).then_some(last);
    NumberedPage { text: out.join("\n"), first, last: last.saturating_sub(1), next }
}

fn numbered(number: usize, width: usize, line: &str) -> String {
    format!("{number:>width$}  {line}").trim_end().to_owned()
}

fn cut(line: &str) -> String {
    if line.len() <= LINE {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(LINE);
    format!("{} [… {} of this line]", &line[..end], counted(line.len() - end, "more byte"))
}

/// A text that was quoted with the numbers of its lines, without them; `None` where it has none.
///
/// Every line has one, each one more than the last: nothing else is taken for it.
pub(crate) fn without_numbers(text: &str) -> Option<String> {
    let mut known: Option<usize> = None;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let rest = behind_number(line)?;
        let number: usize = line[..line.len() - rest.len()].trim().parse().ok()?;
        if known.is_some_and(|last| number != last + 1) {
            return None;
        }
        known = Some(number);
        out.push_str(rest);
    }
    known.map(|_| out)
}

/// Old and new text of an edit that quotes what was read with its numbers, without them; `None` where the old text is
/// no such quote, or is in the file as it is.
///
/// # Errors
/// Where only some lines of the new text have numbers: which of them are meant cannot be told.
pub(crate) fn unnumbered(text: &str, old: &str, new: &str) -> Result<Option<(String, String)>, Failure> {
    let Some(plain) = without_numbers(old).filter(|_| !text.contains(old)) else { return Ok(None) };
    let lines: Vec<Option<&str>> = new.split_inclusive('\n').map(behind_number).collect();
    if lines.iter().all(Option::is_some) {
        return Ok(Some((plain, lines.into_iter().flatten().collect())));
    }
    if lines.iter().all(Option::is_none) {
        return Ok(Some((plain, new.to_owned())));
    }
    Err(tool_failure(
        "some lines of new_string begin with the number of a line, and others do not; nothing was written",
        "give both texts without the numbers that stand in front of what you read",
    ))
}

/// A line without the number in front of it, with its end.
fn behind_number(line: &str) -> Option<&str> {
    let trimmed = line.trim_start_matches(' ');
    let rest = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = rest.len() < trimmed.len();
    if is_number && rest.trim_end_matches(['\r', '\n']).is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix("  ").filter(|_| is_number)
    }
}

/// What is said of numbers that were taken off.
pub(crate) const UNNUMBERED: &str = "the numbers of the lines were taken off the given text";

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: ResultLimits = ResultLimits { lines: 4, bytes: 1000, output: 100 };

    #[test]
    fn lines_have_their_numbers_and_a_page_says_where_the_next_begins() {
        let text = "a\n\n    c\nd\ne\nf\n";
        let whole = page(text, 8, Wanted::default(), SMALL);
        assert_eq!(whole.text, " 8  a\n 9\n10      c\n11  d");
        assert_eq!((whole.first, whole.last, whole.next), (8, 11, Some(12)));
        let rest = page(text, 8, Wanted { offset: whole.next, ..Wanted::default() }, SMALL);
        assert_eq!((rest.text.as_str(), rest.last, rest.next), ("12  e\n13  f", 13, None));
        let plain = page(text, 8, Wanted { plain: true, limit: Some(2), ..Wanted::default() }, SMALL);
        assert_eq!((plain.text.as_str(), plain.next), ("a\n", Some(10)));
        assert_eq!(page(text, 8, Wanted { offset: Some(99), ..Wanted::default() }, SMALL).text, "");
        assert_eq!(page("", 1, Wanted::default(), SMALL).next, None);
    }

    #[test]
    fn bytes_end_a_page_too_and_a_long_line_is_cut_and_says_so() {
        let few = ResultLimits { bytes: 10, ..SMALL };
        let text = "abcdefghij\nsecond\n";
        let first = page(text, 1, Wanted::default(), few);
        assert_eq!((first.text.as_str(), first.next), ("1  abcdefghij", Some(2)), "one line at least");
        let long = page(&"ä".repeat(LINE), 1, Wanted::default(), SMALL).text;
        assert!(long.ends_with("[… 2000 more bytes of this line]") && long.len() < LINE + 100, "{}", long.len());
    }

    #[test]
    fn numbers_are_taken_off_where_every_line_has_one() {
        for text in ["    a\n\n  b", "x", "x\n", "1  y\n"] {
            let number = |first: usize| page(text, first, Wanted::default(), SMALL).text;
            let end = if text.ends_with('\n') { "\n" } else { "" };
            assert_eq!(without_numbers(&format!("{}{end}", number(9))).as_deref(), Some(text), "{text:?}");
        }
        for text in ["", "a", "1  a\nb", "1  a\n3  b", "1 a", "1. a", "12abc", "x = 1  y"] {
            assert_eq!(without_numbers(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_edit_that_quotes_numbers_means_the_text_behind_them() {
        let text = "def f():\n    return 1\n";
        let given = |old: &str, new: &str| unnumbered(text, old, new);
        let both = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(given("2      return 1", "2      return 2").unwrap(), both("    return 1", "    return 2"));
        assert_eq!(given("1  def f():\n2      return 1\n", "").unwrap(), both("def f():\n    return 1\n", ""));
        assert_eq!(given("2      return 1", "    return 2\n").unwrap(), both("    return 1", "    return 2\n"));
        assert_eq!(given("    return 1", "2      return 2").unwrap(), None);
        assert_eq!(unnumbered("1  one\n", "1  one", "1  two").unwrap(), None, "the file has such numbers itself");
        assert!(given("2      return 1", "2      x = 1\n    return x").is_err());
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
