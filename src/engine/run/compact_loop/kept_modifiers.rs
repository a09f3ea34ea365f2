//! Keeps the modifiers of a symbol that a reply has lost, where the request does not mention them.

use crate::run::compact_loop::take::AskedPiece;
use sextant_text::edits::symbol as symbol_edit;
use sextant_text::symbols::language::Language;
use sextant_text::symbols::modifiers::{self, LostModifier, SymbolText};
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling;

/// A text with the modifiers that it had lost, and their names for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptModifiers {
    pub(crate) text: String,
    pub(crate) kept: Vec<String>,
}

/// The beginnings of words that speak of modifiers (English, Spanish, German).
const SPOKEN: &str = "export public públic öffentlich priva protected visib sichtbar expose hidden internal intern \
    static statisch estátic async sync await local global lokal extern inline synchronized thread virtual abstract";
/// Words before them that want them as they are.
const KEEPS: &str = "keep keeps keeping stay stays still remain remains leave mantén deja sigue bleibt lass behalte";
/// Words between the two.
const KEEP_REACH: usize = 4;

/// The new text of the requested symbol.
pub(crate) fn of_symbol(asked: AskedPiece<'_>, language: &'static Language, content: String) -> KeptModifiers {
    let lost = lost_of(asked, language, &content).unwrap_or_default();
    kept(asked, &content, &lost)
}

/// The new text of a whole file: the modifiers of all symbols that are still there.
pub(crate) fn of_file(asked: AskedPiece<'_>, language: &'static Language, content: String) -> KeptModifiers {
    let (before, after) = (Outline::parse(language, asked.text), Outline::parse(language, &content));
    let mut lost: Vec<LostModifier> = Vec::new();
    for symbol in &before.symbols {
        let path = symbol.path();
        let Some(new) = after.symbols.iter().find(|new| new.path() == path) else { continue };
        let (old, new) = (SymbolText { text: asked.text, symbol }, SymbolText { text: &content, symbol: new });
        for one in modifiers::lost(language, old, new) {
            // The names of one declaration share its modifiers.
            if !lost.contains(&one) {
                lost.push(one);
            }
        }
    }
    kept(asked, &content, &lost)
}

fn kept(asked: AskedPiece<'_>, content: &str, lost: &[LostModifier]) -> KeptModifiers {
    if mentions_modifiers(asked, lost) {
        return KeptModifiers { text: content.to_owned(), kept: Vec::new() };
    }
    let kept = lost.iter().map(|one| one.text.clone()).collect();
    KeptModifiers { text: modifiers::restored(content, lost), kept }
}

/// The lost modifiers of a symbol, with places in its new text. A member means something in its place only.
fn lost_of(asked: AskedPiece<'_>, language: &'static Language, content: &str) -> Option<Vec<LostModifier>> {
    let known = Outline::parse(language, asked.text);
    let symbol = &known.symbols[known.known(asked.names)?];
    let old = SymbolText { text: asked.text, symbol };
    if language.members_stand_alone {
        let outline = Outline::parse(language, content);
        return Some(modifiers::lost(language, old, SymbolText { text: content, symbol: outline.symbols.first()? }));
    }
    let start = symbol.extent.start;
    let whole = symbol_edit::text_in_place(asked.text, symbol, content);
    let outline = Outline::parse(language, &whole);
    let is_new = |new: &&sextant_text::symbols::outline::Symbol| {
        new.extent.start >= start && new.extent.start < start + content.len()
    };
    let plain = path_spelling::last_name(asked.names);
    let named = outline.symbols.iter().filter(is_new).find(|new| new.name == plain);
    let new = named.or_else(|| outline.symbols.iter().find(is_new))?;
    let lost = modifiers::lost(language, old, SymbolText { text: &whole, symbol: new });
    let is_inside = |one: &LostModifier| (start..=start + content.len()).contains(&one.at);
    Some(lost.into_iter().filter(is_inside).map(|one| LostModifier { at: one.at - start, ..one }).collect())
}

/// Recognizes a request that speaks of modifiers, other than to keep them. A name (`export_rows`) is no such word.
fn mentions_modifiers(asked: AskedPiece<'_>, lost: &[LostModifier]) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = asked.request.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let own: Vec<&str> = lost.iter().flat_map(|one| one.text.split(|c: char| !c.is_alphanumeric())).collect();
    let names: Vec<&str> = asked.names.split(|c: char| !is_word(c)).collect();
    let is_name = |word: &str| word.contains('_') || word.chars().skip(1).any(char::is_uppercase);
    let speaks = |word: &str| {
        let lower = word.to_lowercase();
        let is_spoken = SPOKEN.split_whitespace().any(|stem| lower.starts_with(stem));
        !is_name(word) && !names.contains(&word) && (own.contains(&lower.as_str()) || is_spoken)
    };
    let keeps = |at: usize| {
        let before = &words[at.saturating_sub(KEEP_REACH)..at];
        before.iter().any(|word| KEEPS.split_whitespace().any(|keep| keep == word.to_lowercase()))
    };
    words.iter().enumerate().any(|(at, word)| speaks(word) && !keeps(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_speaks_of_modifiers_by_its_words() {
        let lost = [LostModifier { text: "pub".to_owned(), at: 0, insert: "pub ".to_owned() }];
        let mentions = |request| {
            let asked = AskedPiece { text: "", language: None, names: "Cart::export", request };
            mentions_modifiers(asked, &lost)
        };
        for text in
            ["make total private", "no pub needed", "total is internal", "hazla privada", "make it asynchronous"]
        {
            assert!(mentions(text), "{text}");
        }
        for text in [
            "total is one too much",
            "publish the sum",
            "keep it exported",
            "it stays a public function",
            "export writes a header, as export_rows does",
            "exportRows takes a limit",
        ] {
            assert!(!mentions(text), "{text}");
        }
    }
}
