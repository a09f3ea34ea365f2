//! A symbol named by its header, as code spells it: `impl<T> fmt::Display for Cart<T>`, `struct Cart`,
//! `double Circle::area() const`.

use crate::symbols::outline::Outline;
use crate::symbols::path_spelling::{loose_parts, tidy, without_parameters};

/// A header of several words in one spelling: without type parameters and paths of modules.
pub(crate) fn heading(text: &str) -> String {
    let bare = tidy(&without_parameters(text));
    let words = bare.split(' ').map(|word| word.rsplit("::").next().unwrap_or(word));
    words.collect::<Vec<_>>().join(" ")
}

/// The symbols whose names are headers, and that this header means.
pub(crate) fn blocks(outline: &Outline, header: &str) -> Vec<usize> {
    let wanted = heading(header);
    if !wanted.contains(' ') {
        return Vec::new();
    }
    let named = outline.symbols.iter().enumerate().filter(|(_, symbol)| symbol.name.contains(' '));
    named.filter(|(_, symbol)| heading(&symbol.name) == wanted).map(|(index, _)| index).collect()
}

/// True if a header begins as those of blocks do that have a name of their own (`impl`). It never means the type that
/// the block is about.
pub(crate) fn is_block(outline: &Outline, header: &str) -> bool {
    let heading = heading(header);
    let Some((word, _)) = heading.split_once(' ') else { return false };
    let begins = |name: &str| name.split_once(' ').is_some_and(|(first, _)| first == word);
    outline.symbols.iter().any(|symbol| begins(&symbol.name))
}

/// The parts of the path that a header has behind its keywords, in front of its parameters.
pub(crate) fn named_parts(header: &str) -> Vec<String> {
    let before = header.split_once('(').map_or(header, |(before, _)| before);
    loose_parts(before).iter().map(|part| last_word(part)).collect()
}

/// `total` of `fn total`, and `twice!` of `macro_rules! twice`. A name in backticks stays.
fn last_word(part: &str) -> String {
    match part.rsplit_once(char::is_whitespace).filter(|_| !part.starts_with('`')) {
        Some((before, name)) if before.ends_with('!') => format!("{name}!"),
        Some((_, name)) => name.to_owned(),
        None => part.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;

    fn found(path: &str, text: &str, names: &str) -> String {
        let outline = Outline::parse(language::of_path(path).expect(path), text);
        match outline.find(names) {
            Ok(index) => outline.path_of(index),
            Err(missing) => format!("? {}", missing.candidates.join(" | ")),
        }
    }

    const CART: &str = "pub struct Cart<T> { items: Vec<T> }\npub trait Total { fn total(&self) -> u64; }\nimpl<T> Cart<T> { fn add(&mut self) {} }\nimpl Total for Cart<u64> { fn total(&self) -> u64 { 1 } }\nimpl<T: fmt::Debug> fmt::Display for Cart<T> { fn fmt(&self) {} }\nmacro_rules! twice { ($x:expr) => { $x * 2 }; }\nfn twice() {}\nmod tests {}\n";

    #[test]
    fn the_header_of_a_block_means_the_block_and_never_its_type() {
        for (names, expected) in [
            ("impl Total for Cart<u64>", "impl Total for Cart"),
            ("impl Total for Cart", "impl Total for Cart"),
            ("impl<T> Cart<T>", "impl Cart"),
            ("impl Cart<T>", "impl Cart"),
            ("impl fmt::Display for Cart", "impl Display for Cart"),
            ("impl<T: fmt::Debug> std::fmt::Display for cart::Cart<T>", "impl Display for Cart"),
            ("impl<T: fmt::Display> Clone for Cart<T>", "? impl Total for Cart | impl Display for Cart"),
            ("impl Clone for crate::Cart", "? impl Total for Cart | impl Display for Cart"),
            ("impl Cart<T>::add", "Cart::add"),
            ("impl<T> Cart<T>::add", "Cart::add"),
            ("impl Total for Cart<u64>::total", "Cart::total"),
            ("struct Cart", "Cart"),
            ("pub struct Cart<T>", "Cart"),
        ] {
            assert_eq!(found("cart.rs", CART, names), expected, "{names}");
        }
    }

    #[test]
    fn a_header_in_the_words_of_the_code_names_its_symbol() {
        for (names, expected) in [
            ("fn twice", "twice"),
            ("fn twice()", "twice"),
            ("macro_rules! twice", "twice!"),
            ("trait Total", "Total"),
            ("mod tests", "tests"),
            ("fn nothing", "? "),
        ] {
            assert_eq!(found("cart.rs", CART, names), expected, "{names}");
        }
        let text = "export class Cart { get locked() { return 1 } static load() {} total(): number { return 1 } }\nexport default function empty() {}\nexport async function report() {}\n";
        for (names, expected) in [
            ("class Cart", "Cart"),
            ("class Cart::total", "Cart::total"),
            ("Cart::get locked", "Cart::locked"),
            ("Cart.static load", "Cart::load"),
            ("export default function empty()", "empty"),
            ("async report", "report"),
        ] {
            assert_eq!(found("a.ts", text, names), expected, "{names}");
        }
        assert_eq!(found("a.sh", "build::all() { :; }\n", "build::all"), "`build::all`");
        let text = "#define SQUARE(x) ((x) * (x))\nenum class Kind { a };\ntemplate <typename T> T length(T x) { return x; }\nstruct Circle { double area() const; double operator()(int) const; };\ndouble Circle::area() const { return 1; }\n";
        for (names, expected) in [
            ("#define SQUARE", "SQUARE"),
            ("enum class Kind", "Kind"),
            ("template <typename T> length", "length"),
            ("double Circle::area() const", "Circle::area"),
            ("Circle::operator()", "Circle::operator()"),
        ] {
            assert_eq!(found("a.cpp", text, names), expected, "{names}");
        }
    }
}
