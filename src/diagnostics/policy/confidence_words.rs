//! Diagnostics in humble words: the source of each report, and its confidence. Never that it is true.

use crate::code_aliases::tool;
use crate::merge::Placed;
use crate::model::{Confidence, Diagnostic};
use crate::policy::word;

/// Characters of a message in a sentence.
const MESSAGE: usize = 120;

/// `basedpyright and ruff`.
pub fn names(sources: &[String]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for source in sources {
        let name = tool(source);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => "somebody".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `basedpyright reports "x" is not defined in src/a.py::f, confidence medium.`
pub fn claim(item: &Placed, sources: &[String], confidence: Confidence) -> String {
    let several = names(sources).contains(" and ");
    let verb = if several { "report" } else { "reports" };
    let text = headline(item.diagnostic);
    format!("{} {verb} {text} in {}, confidence {}.", names(sources), item.symbol, word(confidence))
}

/// `reportUndefinedVariable of basedpyright in src/a.py::f: "x" is not defined`, for a trace.
pub fn about(item: &Placed, sources: &[String]) -> String {
    let code = item.diagnostic.code.as_deref().unwrap_or("a diagnostic");
    let place = if item.symbol.file.is_empty() { String::new() } else { format!(" in {}", item.symbol) };
    format!("{code} of {}{place}: {}", names(sources), headline(item.diagnostic))
}

/// The first line, without control characters and not too long: repository text is untrusted.
fn headline(diagnostic: &Diagnostic) -> String {
    let line = diagnostic.message.trim().lines().next().unwrap_or_default();
    let clean: String = line.chars().filter(|c| !c.is_control()).collect();
    match clean.trim_end_matches('.').char_indices().nth(MESSAGE) {
        Some((cut, _)) => format!("{}…", &clean[..cut]),
        None => clean.trim_end_matches('.').to_owned(),
    }
}
