//! Searches the project: looks for the words, finds the symbols that hold them, reads those.

use crate::plan::output::StepOutput;
use crate::step_executors::module::{ModuleContext, ModuleResult, ReadAction, ReadOnlyTools};
use crate::step_executors::{carry_out, joined, nothing_seen, validate};
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most words of one search.
const TERMS: usize = 4;
/// Most symbols that are read; all symbols found are handed on, up to the second limit.
const READ: usize = 6;
const FOUND: usize = 60;

/// The words to look for: the inputs `pattern` and `terms`, or the words in backquotes of the title.
pub(crate) fn terms(title: &str, inputs: &[(String, String)]) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    let mut push = |term: &str| {
        let term = term.trim();
        if !term.is_empty() && !terms.iter().any(|known| known == term) {
            terms.push(term.to_owned());
        }
    };
    for (name, text) in inputs {
        match name.as_str() {
            "pattern" => push(text),
            "terms" | "term" => text.split(',').for_each(|term| push(&escaped(term.trim()))),
            // A symbol is searched by its own name: source text does not contain its path.
            "target" | "symbol" => text.split(',').for_each(|path| {
                let names = SymbolPath::parse(path).names;
                let plain = path_spelling::last_name(&names);
                if !plain.is_empty() {
                    push(&format!(r"\b{}\b", escaped(plain)));
                }
            }),
            _ => {}
        }
    }
    if terms.is_empty() {
        let quoted: Vec<String> = title.split('`').skip(1).step_by(2).map(escaped).collect();
        for term in quoted {
            let term = term.trim();
            if !term.is_empty() && !terms.iter().any(|known| known == term) {
                terms.push(term.to_owned());
            }
        }
    }
    terms.truncate(TERMS);
    terms
}

/// A word as a regular expression that matches it alone.
fn escaped(word: &str) -> String {
    let special = |c: char| "\\.+*?()|[]{}^$#&-~".contains(c);
    word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The symbols of a search's lines, `path::Names:12: text`, in their order.
fn symbols(lines: &str) -> Vec<SymbolPath> {
    let mut found: Vec<SymbolPath> = Vec::new();
    for line in lines.lines() {
        let Some(place) = place(line) else { continue };
        let symbol = SymbolPath::parse(place);
        if !symbol.file.is_empty() && !found.contains(&symbol) {
            found.push(symbol);
        }
    }
    found
}

/// The text before `:12: `.
fn place(line: &str) -> Option<&str> {
    line.match_indices(':').find_map(|(at, _)| {
        let rest = &line[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && rest[digits..].starts_with(": ")).then(|| &line[..at])
    })
}

pub(crate) async fn run(context: &ModuleContext, eyes: &dyn ReadOnlyTools) -> ModuleResult {
    let terms = terms(&context.title, &context.inputs);
    let looks: Vec<ReadAction> = terms.into_iter().map(ReadAction::Search).collect();
    if let Err(error) = validate(&looks) {
        return ModuleResult::failed(Vec::new(), format!("{error}: give an input pattern or terms"));
    }
    let (mut parts, texts) = carry_out(&looks, context, eyes).await;
    if let Some(error) = nothing_seen(&texts) {
        return ModuleResult::failed(parts, error);
    }
    let hits: String = texts.iter().flatten().map(|text| format!("{text}\n")).collect();
    let mut found = symbols(&hits);
    let within = |symbol: &SymbolPath| context.symbols.is_empty() || holds(&context.symbols, symbol);
    found.retain(within);
    found.truncate(FOUND);
    if found.is_empty() {
        return ModuleResult::failed(parts, "nothing was found");
    }
    // For code outside of any symbol, the found lines are enough.
    let reads: Vec<ReadAction> =
        found.iter().filter(|symbol| !symbol.names.is_empty()).take(READ).cloned().map(ReadAction::Read).collect();
    let (read_parts, sources) = carry_out(&reads, context, eyes).await;
    parts.extend(read_parts);
    let text = format!("{}\n{}", joined(&looks, &texts), joined(&reads, &sources));
    ModuleResult { output: StepOutput::new(&text, found), parts, error: None }
}

/// True if a symbol is one of these, or in one of them; a file holds all of its own.
fn holds(symbols: &[SymbolPath], symbol: &SymbolPath) -> bool {
    symbols.iter().any(|own| {
        own.file == symbol.file
            && (own.names.is_empty()
                || symbol.names == own.names
                || symbol.names.starts_with(&format!("{}::", own.names)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_search_come_from_its_inputs_or_from_its_title() {
        let input = |name: &str, text: &str| vec![(name.to_owned(), text.to_owned())];
        assert_eq!(terms("x", &input("pattern", r"price\(")), [r"price\("]);
        assert_eq!(terms("x", &input("terms", "price(, Cart, price(")), [r"price\(", "Cart"]);
        assert_eq!(terms("x", &input("target", "a.py::Cart::total#2, b.py")), [r"\btotal\b"]);
        assert_eq!(terms("find `total` and `Cart.x`", &[]), ["total", r"Cart\.x"]);
        assert_eq!(terms("find it", &[]), Vec::<String>::new());
    }

    #[test]
    fn the_symbols_of_hits_are_found_once_each() {
        let lines = "src/a.py::Cart::total:12: x = a[1:2: 3]\nsrc/a.py:1: import b\nsrc/a.py::Cart::total:14: y\n[more than 50]\nnothing matches";
        let found: Vec<String> = symbols(lines).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["src/a.py::Cart::total", "src/a.py"]);
    }
}
