//! Finds the place where a missing text comes closest, for the reader of the error.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use sextant_base::positions::LineIndex;

/// The place most like the missing text. Lines are one-based; texts are cut at 120 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    pub line: usize,
    pub text: String,
    /// The first line that differs: its number, the quoted line, and the line of the text.
    pub differs: Option<(usize, String, String)>,
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the nearest place is line {}: `{}`", self.line, self.text)?;
        match &self.differs {
            Some((line, wanted, there)) if wanted.trim() == there.trim() => {
                write!(
                    f,
                    "; it differs first on line {line} in white space: `{wanted}` was asked for, `{there}` is there"
                )
            }
            Some((line, wanted, there)) => {
                write!(f, "; it differs first on line {line}: `{wanted}` was asked for, `{there}` is there")
            }
            None => Ok(()),
        }
    }
}

/// Lines of a long quote that are compared; more would not change the place. In a long text fewer are.
const QUOTED: usize = 200;
const COMPARED: usize = 10_000_000;

/// The run of lines that shares the most lines with `old`, or else the line that shares the most words.
pub(super) fn nearest(text: &str, index: &LineIndex, old: &str, within: &Range<usize>) -> Option<Nearest> {
    let most = QUOTED.min(COMPARED / index.line_count().max(1)).max(3);
    let quoted: Vec<&str> = old.trim_matches('\n').lines().map(str::trim_end).take(most).collect();
    let line = |number: usize| text[index.line_range(text, number)].trim_end();
    let first = index.line_of(within.start);
    let numbers = first..index.line_of(within.end) + 1;
    let shared = |top: usize| {
        let pairs = quoted.iter().zip(top..numbers.end);
        pairs.filter(|(quote, number)| !quote.is_empty() && quote.trim() == line(*number).trim()).count()
    };
    let mut best = (0, 0);
    for top in numbers.clone() {
        let count = shared(top);
        if count > best.1 {
            best = (top, count);
        }
    }
    let top = if best.1 > 0 { best.0 } else { by_words(&quoted, numbers.clone().map(|n| (n, line(n))))? };
    let differs = quoted.iter().enumerate().find_map(|(i, quote)| {
        let there = if top + i < numbers.end { line(top + i) } else { "" };
        (*quote != there).then(|| (top + i + 1, cut(quote), cut(there)))
    });
    Some(Nearest { line: top + 1, text: cut(line(top)), differs })
}

fn by_words<'a>(quoted: &[&str], lines: impl Iterator<Item = (usize, &'a str)>) -> Option<usize> {
    let wanted: HashSet<&str> = words(quoted.iter().find(|quote| !quote.trim().is_empty())?).collect();
    let mut best = (0, None);
    for (number, line) in lines {
        let count = words(line).filter(|word| wanted.contains(word)).collect::<HashSet<_>>().len();
        if count > best.0 {
            best = (count, Some(number));
        }
    }
    best.1
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn cut(line: &str) -> String {
    let mut out: String = line.chars().take(120).collect();
    if out.len() < line.len() {
        out.push('…');
    }
    out
}
