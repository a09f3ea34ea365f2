//! `src/shop/cart.py::Cart::total`: a symbol path as text. The file alone is its module level.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::symbols::header_spelling;
use crate::symbols::outline::{NotFound, Outline, Symbol};
use crate::symbols::path_spelling::{loose_parts, part, parts};

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

    /// Reads `file::A::b`, `file`, or the bare suffix `A::b`. The first part is a file when it has a `/` or a `.`, and no
    /// backticks around it.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (first, rest) = text.split_once("::").unwrap_or((text, ""));
        let is_file = first.contains(['/', '.']) && !first.starts_with('`');
        if is_file { Self::new(first, rest) } else { Self::new("", text) }
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
    let hits = hits(outline, names)?;
    let is_defined = |index: &&usize| !outline.symbols[**index].is_declaration;
    let mut defined = hits.iter().filter(is_defined);
    let declared = hits.len() > 1 && is_one_place(outline, &hits);
    match (hits.as_slice(), defined.next().filter(|_| declared && defined.next().is_none())) {
        ([one], _) | (_, Some(one)) => Ok(*one),
        (many, _) => Err(ambiguous(outline, many)),
    }
}

/// See [`Outline::find_all`].
pub(crate) fn find_all(outline: &Outline, names: &str) -> Result<Vec<usize>, NotFound> {
    let many = hits(outline, names)?;
    if is_one_place(outline, &many) {
        return Ok(many);
    }
    Err(ambiguous(outline, &many))
}

fn ambiguous(outline: &Outline, many: &[usize]) -> NotFound {
    let candidates = many.iter().map(|index| exact_path(outline, *index, many)).collect();
    NotFound { candidates, is_ambiguous: true }
}

fn is_one_place(outline: &Outline, symbols: &[usize]) -> bool {
    symbols.windows(2).all(|two| outline.symbols[two[0]].owner == outline.symbols[two[1]].owner)
}

/// Every symbol that fits the names; at least one. A path in the spelling of the language, or of another tool, is read
/// as one of ours only if it fits nothing as it stands.
fn hits(outline: &Outline, names: &str) -> Result<Vec<usize>, NotFound> {
    let wanted = parts(names.trim());
    let mut hits = fitting(outline, &wanted);
    if hits.is_empty() {
        // A name may hold what parts a path, as those of shell functions do.
        let is_name = |index: &usize| outline.symbols[*index].name == names.trim();
        hits = (0..outline.symbols.len()).filter(is_name).collect();
    }
    if hits.is_empty() {
        hits = header_spelling::blocks(outline, names);
    }
    let is_block = hits.is_empty() && header_spelling::is_block(outline, names);
    for read in [loose_parts, header_spelling::named_parts] {
        if hits.is_empty() {
            let loose = read(names);
            hits = fitting(outline, &loose.iter().map(String::as_str).collect::<Vec<_>>());
            hits.retain(|hit| !is_block || outline.symbols[*hit].kind.is_member());
        }
    }
    if !hits.is_empty() {
        return Ok(hits);
    }
    if is_block {
        return Err(NotFound { candidates: nearest(outline, &header_spelling::heading(names)), is_ambiguous: false });
    }
    let near = nearest(outline, wanted.last().map_or("", |last| part(last).0));
    let named = || header_spelling::named_parts(names).pop().unwrap_or_default();
    Err(NotFound { candidates: if near.is_empty() { nearest(outline, &named()) } else { near }, is_ambiguous: false })
}

fn fitting(outline: &Outline, wanted: &[&str]) -> Vec<usize> {
    let wanted: Vec<(&str, Option<usize>)> = wanted.iter().map(|text| part(text)).collect();
    let Some(((last, number), owners)) = wanted.split_last() else { return Vec::new() };
    let (mut full, mut suffix) = (Vec::new(), Vec::new());
    for (index, symbol) in outline.symbols.iter().enumerate() {
        if symbol.name != *last || number.is_some_and(|n| n != symbol.ordinal) {
            continue;
        }
        let there = if symbol.owner.is_empty() { Vec::new() } else { parts(&symbol.owner) };
        let fits = there.len() >= owners.len()
            && owners.iter().rev().zip(there.iter().rev()).all(|((name, number), there)| {
                let (known, ordinal) = part(there);
                known == *name && number.is_none_or(|n| n == ordinal.unwrap_or(1))
            });
        if fits {
            if there.len() == owners.len() { &mut full } else { &mut suffix }.push(index);
        }
    }
    if full.is_empty() { suffix } else { full }
}

/// A path that names this one among the ambiguous: the first of twins gets its `#1`.
pub(crate) fn exact_path(outline: &Outline, index: usize, among: &[usize]) -> String {
    let path = outline.path_of(index);
    let symbol = &outline.symbols[index];
    let twin =
        |other: &Symbol| other.name == symbol.name && other.owner == symbol.owner && other.ordinal != symbol.ordinal;
    let ambiguous = symbol.ordinal == 1 && among.iter().any(|i| twin(&outline.symbols[*i]));
    let path = if ambiguous { format!("{path}#1") } else { path };
    // The same for owners that share their names.
    let names = |owner: &str| parts(owner).into_iter().map(|text| part(text).0.to_owned()).collect::<Vec<_>>();
    let own = names(&symbol.owner);
    let shares =
        |other: &Symbol| other.name == symbol.name && other.owner != symbol.owner && names(&other.owner) == own;
    if symbol.owner.is_empty() || !among.iter().any(|i| shares(&outline.symbols[*i])) {
        return path;
    }
    let numbered = |text: &str| if part(text).1.is_some() { text.to_owned() } else { format!("{text}#1") };
    let owner: Vec<String> = parts(&symbol.owner).into_iter().map(numbered).collect();
    format!("{}::{}", owner.join("::"), &path[symbol.owner.len() + 2..])
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
