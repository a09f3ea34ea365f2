//! The last rung: whole lines that agree but for trailing white space and one shift of indentation.
//!
//! All lines have to be shifted alike. A quote whose lines have another indentation against each other means other code
//! (in Python, another program), and matches nothing.

use std::ops::Range;

use crate::edits::find_old_string::MatchPlace;
use crate::edits::indent::{Retab, indent};
use sextant_base::positions::LineIndex;

/// The change from a quoted line's indentation to that of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum IndentChange {
    Same,
    Add(String),
    Remove(String),
}

/// The shift that indents new text like the place that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    retab: Option<Retab>,
    /// Differs from `rest` if the quote began in the middle of its first line, after the indentation.
    first: IndentChange,
    rest: IndentChange,
}

/// Lines that are compared at most: a quote that repeats itself agrees with a text of its like almost everywhere.
const COMPARED: usize = 20_000_000;

impl Shift {
    pub(super) fn apply(&self, new: &str) -> String {
        let cut = self.first != self.rest && indent(new).is_empty();
        let lines = new.split('\n').enumerate().map(|(number, line)| {
            if line.trim().is_empty() {
                return line.to_owned();
            }
            let line = self.retab.map_or_else(|| line.to_owned(), |retab| retab.line(line));
            match if cut && number == 0 { &self.first } else { &self.rest } {
                IndentChange::Same => line,
                IndentChange::Add(more) => format!("{more}{line}"),
                IndentChange::Remove(less) => line.strip_prefix(less.as_str()).map_or(line.clone(), str::to_owned),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Every run of lines that agrees with `old`.
pub(super) fn places(text: &str, index: &LineIndex, old: &str, new: &str, within: &Range<usize>) -> Vec<MatchPlace> {
    if old.trim().is_empty() {
        return Vec::new();
    }
    let found = runs(text, index, old, None, within);
    match Retab::between(text, &[old, new]) {
        Some(retab) if found.is_empty() => {
            let old: Vec<String> = old.split('\n').map(|line| retab.line(line)).collect();
            runs(text, index, &old.join("\n"), Some(retab), within)
        }
        _ => found,
    }
}

fn runs(text: &str, index: &LineIndex, old: &str, retab: Option<Retab>, within: &Range<usize>) -> Vec<MatchPlace> {
    let whole = old.ends_with('\n');
    let quoted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').map(str::trim_end).collect();
    let line = |number: usize| text[index.line_range(text, number)].trim_end();
    let last = (index.line_count() + 1).saturating_sub(quoted.len());
    let mut out = Vec::new();
    let mut compared = 0;
    for top in 0..last {
        if compared > COMPARED {
            // One place of those that were reached is not known to be the only one.
            return Vec::new();
        }
        let is_alike = |(i, quote): &(usize, &&str)| quote.trim_start() == line(top + i).trim_start();
        let alike = quoted.iter().enumerate().take_while(is_alike).count();
        compared += alike + 1;
        if alike < quoted.len() {
            continue;
        }
        let Some((first, rest)) = changes(quoted.iter().enumerate().map(|(i, quote)| (*quote, line(top + i)))) else {
            continue;
        };
        let bottom = top + quoted.len() - 1;
        let code = index.line_start(top) + indent(line(top)).len()..index.line_start(bottom) + line(bottom).len();
        if code.start < within.start || code.end > within.end {
            continue;
        }
        let end = if whole { index.line_start(bottom + 1) } else { index.line_range(text, bottom).end };
        let shift = Some(Shift { retab, first, rest });
        out.push(MatchPlace { range: index.line_start(top)..end, shift });
    }
    out
}

/// The one change of indentation that all lines share; the first line may have been cut.
fn changes<'a>(lines: impl Iterator<Item = (&'a str, &'a str)>) -> Option<(IndentChange, IndentChange)> {
    let mut first = None;
    let mut rest: Option<IndentChange> = None;
    for (number, (quote, line)) in lines.enumerate() {
        if quote.is_empty() {
            continue;
        }
        let change = change(indent(quote), indent(line))?;
        if number == 0 {
            first = Some((change, indent(quote).is_empty()));
        } else if rest.get_or_insert_with(|| change.clone()) != &change {
            return None;
        }
    }
    match (first, rest) {
        (Some((first, cut)), Some(rest)) if first == rest || cut => Some((first, rest)),
        (Some(_), Some(_)) | (None, None) => None,
        (Some((only, _)), None) | (None, Some(only)) => Some((only.clone(), only)),
    }
}

fn change(quote: &str, line: &str) -> Option<IndentChange> {
    if quote == line {
        Some(IndentChange::Same)
    } else if let Some(more) = line.strip_suffix(quote) {
        Some(IndentChange::Add(more.to_owned()))
    } else {
        quote.strip_suffix(line).map(|less| IndentChange::Remove(less.to_owned()))
    }
}
