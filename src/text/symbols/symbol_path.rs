//! `src/shop/cart.py::Cart::total`: a symbol path as text. The file alone is its module level.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::symbols::outline::{NotFound, Outline, Symbol};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SymbolPath {
    /// Path relative to the root; empty for a bare suffix (`Cart::total`).
    pub file: String,
    /// `Cart::total#2`; empty for the module level.
    pub names: String,
}

impl SymbolPath {
    pub fn new(file: impl Into<String>, names: impl Into<String>) -> Self {
        Self { file: file.into(), names: names.into() }
    }

    /// Reads `file::A::b`, `file`, or the bare suffix `A::b`. The first part is a file when it has a `/` or a `.`.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (first, rest) = text.split_once("::").unwrap_or((text, ""));
        if first.contains('/') || first.contains('.') { Self::new(first, rest) } else { Self::new("", text) }
    }
}

impl fmt::Display for SymbolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.is_empty(), self.names.is_empty()) {
            (false, false) => write!(f, "{}::{}", self.file, self.names),
            (false, true) => f.write_str(&self.file),
            (true, _) => f.write_str(&self.names),
        }
    }
}

/// Finds `A::b#2` in an outline: see [`Outline::find`].
pub(crate) fn find(outline: &Outline, names: &str) -> Result<usize, NotFound> {
    match hits(outline, names)?.as_slice() {
        [one] => Ok(*one),
        many => Err(NotFound { candidates: many.iter().map(|i| exact_path(outline, *i, many)).collect() }),
    }
}

/// See [`Outline::find_all`].
pub(crate) fn find_all(outline: &Outline, names: &str) -> Result<Vec<usize>, NotFound> {
    let many = hits(outline, names)?;
    let parent = |index: &usize| outline.symbols[*index].parent;
    if many.windows(2).all(|two| parent(&two[0]) == parent(&two[1])) {
        return Ok(many);
    }
    Err(NotFound { candidates: many.iter().map(|i| exact_path(outline, *i, &many)).collect() })
}

/// Every symbol that fits the names; at least one.
fn hits(outline: &Outline, names: &str) -> Result<Vec<usize>, NotFound> {
    let wanted: Vec<(&str, Option<usize>)> = names.trim().split("::").map(part).collect();
    let Some((last, _)) = wanted.last() else { return Err(NotFound { candidates: Vec::new() }) };
    let (mut full, mut suffix) = (Vec::new(), Vec::new());
    for (index, symbol) in outline.symbols.iter().enumerate() {
        if symbol.name != *last {
            continue;
        }
        let mut at = Some(index);
        let fits = wanted.iter().rev().all(|(name, ordinal)| {
            let Some(symbol) = at.and_then(|i| outline.symbols.get(i)) else { return false };
            at = symbol.parent;
            symbol.name == *name && ordinal.is_none_or(|n| n == symbol.ordinal)
        });
        if fits {
            if at.is_none() { &mut full } else { &mut suffix }.push(index);
        }
    }
    let hits = if full.is_empty() { suffix } else { full };
    if hits.is_empty() { Err(NotFound { candidates: nearest(outline, last) }) } else { Ok(hits) }
}

/// Splits `total#2` into name and ordinal. A `#` without a number is part of the name, and matches nothing.
fn part(text: &str) -> (&str, Option<usize>) {
    let text = text.trim();
    match text.rsplit_once('#').and_then(|(name, n)| Some((name, n.parse().ok()?))) {
        Some((name, ordinal)) => (name, Some(ordinal)),
        None => (text, None),
    }
}

/// A path that names this one among the ambiguous: the first of twins gets its `#1`.
pub(crate) fn exact_path(outline: &Outline, index: usize, among: &[usize]) -> String {
    let path = outline.path_of(index);
    let symbol = &outline.symbols[index];
    let twin = |other: &Symbol| other.parent == symbol.parent && other.ordinal != symbol.ordinal;
    let ambiguous = symbol.ordinal == 1 && among.iter().any(|i| twin(&outline.symbols[*i]));
    if ambiguous { format!("{path}#1") } else { path }
}

/// The paths whose own name is nearest to `name`: at most 5, none farther than half its length (at least 2).
fn nearest(outline: &Outline, name: &str) -> Vec<String> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let limit = (wanted.len() / 2).max(2);
    let mut ranked: Vec<(usize, usize)> = outline
        .symbols
        .iter()
        .enumerate()
        .filter_map(|(index, symbol)| {
            let have: Vec<char> = symbol.name.to_lowercase().chars().collect();
            if have.len().abs_diff(wanted.len()) > limit {
                return None;
            }
            let distance = strsim::generic_levenshtein(&wanted, &have);
            (distance <= limit && distance < wanted.len().max(have.len())).then_some((distance, index))
        })
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().take(5).map(|(_, index)| outline.path_of(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;

    fn outline(text: &str) -> Outline {
        Outline::parse(language::of_path("a.py").expect("Python"), text)
    }

    fn found(outline: &Outline, names: &str) -> String {
        match outline.find(names) {
            Ok(index) => format!("{names} = {}", outline.path_of(index)),
            Err(missing) => format!("{names}: {}", missing.candidates.join(" ")),
        }
    }

    #[test]
    fn a_full_path_a_unique_suffix_or_candidates() {
        let outline = outline(
            "def total(): pass\nclass Cart:\n    def total(self): pass\n    def add(self): pass\n    def add(self): pass\nclass Shop:\n    class Cart:\n        def total(self): pass\n        def close(self): pass\n",
        );
        for (names, expected) in [
            ("total", "total = total"),
            ("Cart::total", "Cart::total = Cart::total"),
            ("Shop::Cart::total", "Shop::Cart::total = Shop::Cart::total"),
            ("Cart::close", "Cart::close = Shop::Cart::close"),
            ("close", "close = Shop::Cart::close"),
            ("Cart::add", "Cart::add: Cart::add#1 Cart::add#2"),
            ("Cart::add#2", "Cart::add#2 = Cart::add#2"),
            ("Cart::add#1", "Cart::add#1 = Cart::add"),
            ("add#2", "add#2 = Cart::add#2"),
            ("Cart::add#3", "Cart::add#3: Cart::add Cart::add#2"),
            ("Cart::totl", "Cart::totl: total Cart::total Shop::Cart::total"),
            ("unlike_everything_here", "unlike_everything_here: "),
            ("", ": "),
        ] {
            assert_eq!(found(&outline, names), expected);
        }
    }

    #[test]
    fn twins_are_found_together_and_namesakes_elsewhere_are_not() {
        let outline = outline(
            "class C:\n    def a(self): pass\n    def a(self, x): pass\n    def b(self): pass\nclass D:\n    def b(self): pass\n",
        );
        let all = |names: &str| outline.find_all(names).map_err(|missing| missing.candidates);
        assert_eq!(all("a"), Ok(vec![1, 2]));
        assert_eq!((all("C::a#2"), all("C::b")), (Ok(vec![2]), Ok(vec![3])));
        assert_eq!(all("b"), Err(vec!["C::b".to_owned(), "D::b".to_owned()]));
        assert_eq!(
            (outline.exact_path_of(1, &[1, 2]), outline.exact_path_of(1, &[1])),
            ("C::a#1".into(), "C::a".into())
        );
    }

    #[test]
    fn a_path_reads_back_as_written() {
        for text in ["src/a.py::Cart::total#2", "src/a.py", "Cart::total", "a.py::f"] {
            assert_eq!(SymbolPath::parse(text).to_string(), text);
        }
        assert_eq!(SymbolPath::parse("src/a.py"), SymbolPath::new("src/a.py", ""));
    }
}
