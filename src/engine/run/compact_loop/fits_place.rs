//! Decides whether the new text of a function reads in its place as one function of that name, with all around it as
//! it was.

use crate::run::compact_loop::take::AskedPiece;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::symbol::{SymbolAction, edit};
use sextant_text::symbols::language::Language;
use sextant_text::symbols::member_form::member_form;
use sextant_text::symbols::modifiers::SymbolText;
use sextant_text::symbols::outline::{Outline, Symbol};

/// The new text as a member of the holder that the old one has.
pub(crate) fn as_member(asked: AskedPiece<'_>, language: &Language, content: String) -> String {
    let known = Outline::parse(language, asked.text);
    let symbol = known.known(asked.names).map(|index| &known.symbols[index]);
    let formed = symbol.and_then(|symbol| {
        let holder = known.symbols[symbol.parent?].kind;
        member_form(language, SymbolText { text: asked.text, symbol }, holder, &content)
    });
    formed.unwrap_or(content)
}

/// The problem of a text that is something else in its place; `None` where it fits, or nothing is known.
pub(crate) fn misfit(asked: AskedPiece<'_>, language: &'static Language, content: &str) -> Option<String> {
    let before = Outline::parse(language, asked.text);
    let symbol = before.known(asked.names)?;
    let target = &before.symbols[symbol];
    if before.has_errors || !target.kind.is_callable() {
        return None;
    }
    let edit = edit(asked.text, language, &before, symbol, SymbolAction::Replace, content).ok()?;
    let text = apply(asked.text, &[edit]).ok()?;
    let after = Outline::parse(language, &text);
    let end = text.len().checked_sub(asked.text.len() - target.extent.end)?;
    let is_inside = |symbol: &&Symbol, end: usize| {
        symbol.extent.start >= target.extent.start && symbol.extent.end <= end && symbol.extent.start < end
    };
    let outside = |outline: &Outline, end: usize| -> Vec<String> {
        let others = outline.symbols.iter().filter(|symbol| !is_inside(symbol, end));
        others.map(|symbol| format!("{} {}::{}", symbol.kind.name(), symbol.owner, symbol.name)).collect()
    };
    let own: Vec<&Symbol> = after.symbols.iter().filter(|symbol| is_inside(symbol, end)).collect();
    let outermost = own.iter().filter(|symbol| symbol.owner == target.owner).count();
    // A text that nowhere parses has a syntax error, which has its own words.
    let parses_alone_only = after.has_errors && !Outline::parse(language, content).has_errors;
    if outermost == 1 && !parses_alone_only && outside(&before, target.extent.end) == outside(&after, end) {
        return None;
    }
    let first = |text: &str| text.lines().next().unwrap_or_default().trim().to_owned();
    let (header, line) = (first(&asked.text[target.header..]), first(content.trim_start()));
    Some(format!("`{line}` does not fit in the place of `{header}`: it has to begin like that"))
}
