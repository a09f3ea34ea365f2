//! Merges several providers into one list: two sources' reports of the same complaint at one place are shown once, with
//! both named.

use std::collections::{BTreeSet, HashMap};

use crate::code_aliases::{Gist, Gists, independent, quoted, same_complaint};
use crate::located::LocatedDiagnostic;
use crate::model::Diagnostic;
use crate::pair_count::looked_at;
use sextant_base::positions::Range;
use sextant_text::symbols::symbol_path::SymbolPath;

/// A diagnostic and the symbol that it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    pub diagnostic: &'a Diagnostic,
    /// The file alone at module level.
    pub symbol: &'a SymbolPath,
}

impl<'a> From<&'a LocatedDiagnostic> for Placed<'a> {
    fn from(found: &'a LocatedDiagnostic) -> Self {
        Self { diagnostic: &found.diagnostic, symbol: &found.symbol }
    }
}

/// A group of duplicates, which is shown once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The index of the one that is shown: the worst, then the surest, then the first.
    pub shown: usize,
    /// All indices, ascending, the shown one among them.
    pub members: Vec<usize>,
    /// Their sources, the shown one's first.
    pub sources: Vec<String>,
}

impl Merged {
    /// True if two of its sources judge independently.
    pub fn agreed(&self) -> bool {
        self.sources.iter().enumerate().any(|(i, a)| self.sources[..i].iter().any(|b| independent(a, b)))
    }
}

/// Merges duplicates. Every index is in exactly one group, and groups are in the order of their first member. No group
/// reaches over two symbols or has a source twice.
pub fn merge(items: &[Placed]) -> Vec<Merged> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // The groups on a line: two that overlap have a line in common.
    let mut on_line: HashMap<(&str, Option<u32>), Vec<usize>> = HashMap::new();
    let mut gists = Gists::default();
    let gists: Vec<Gist> = items.iter().map(|item| gists.read(item.diagnostic)).collect();
    for (index, item) in items.iter().enumerate() {
        let near = lines(item).filter_map(|key| on_line.get(&key)).flatten().copied();
        let near: BTreeSet<usize> = near.take(NEAR).collect();
        let fits = |group: &usize| {
            groups[*group].iter().all(|other| are_one(&items[*other], &gists[*other], item, &gists[index]))
        };
        let home = near.into_iter().find(fits).unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[home].push(index);
        for key in lines(item) {
            let known = on_line.entry(key).or_default();
            if known.last() != Some(&home) && known.len() < NEAR {
                known.push(home);
            }
        }
    }
    groups.into_iter().map(|members| shown(items, members)).collect()
}

/// The number of complaints: duplicates count once.
pub fn count(found: &[LocatedDiagnostic]) -> usize {
    merge(&found.iter().map(Placed::from).collect::<Vec<Placed>>()).len()
}

/// The lines of one diagnostic, from its first on, that are searched for the same complaint.
const LINES: u32 = 200;

/// The most groups that a diagnostic is compared with. Nobody reads more in one place, and comparing all with all would
/// take minutes.
const NEAR: usize = 100;

/// The lines that a diagnostic touches in its file; `None` for one without a range.
fn lines<'a>(item: &Placed<'a>) -> impl Iterator<Item = (&'a str, Option<u32>)> {
    let file = item.diagnostic.location.file().unwrap_or_default();
    let range = item.diagnostic.location.range();
    // An invented range must cost no more than a long one.
    let touched = range.map(|range| {
        let last = range.end.line.max(range.start.line);
        range.start.line..=last.min(range.start.line.saturating_add(LINES))
    });
    let unplaced = range.is_none().then_some((file, None));
    touched.into_iter().flatten().map(move |line| (file, Some(line))).chain(unplaced)
}

/// The known statements by place, so that each of many can be looked up.
pub struct KnownStatements<'a> {
    items: Vec<(Placed<'a>, Gist<'a>)>,
    on_line: HashMap<(&'a str, Option<u32>), Vec<usize>>,
    gists: Gists,
}

impl<'a> KnownStatements<'a> {
    pub fn new(items: &[Placed<'a>]) -> Self {
        let mut gists = Gists::default();
        let mut on_line: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            for key in lines(item) {
                let known = on_line.entry(key).or_default();
                if known.len() < NEAR {
                    known.push(index);
                }
            }
        }
        let items = items.iter().map(|item| (*item, gists.read(item.diagnostic))).collect();
        Self { items, on_line, gists }
    }

    /// True if another source reports the same at the same place, no milder.
    pub fn holds(&mut self, item: &Placed) -> bool {
        let gist = self.gists.read(item.diagnostic);
        let near = lines(item).filter_map(|(file, line)| self.on_line.get(&(file, line))).flatten().take(NEAR);
        near.map(|index| &self.items[*index])
            .filter(|(other, _)| other.diagnostic.severity <= item.diagnostic.severity)
            .any(|(other, known)| are_one(other, known, item, &gist))
    }
}

fn shown(items: &[Placed], members: Vec<usize>) -> Merged {
    let rank = |index: &usize| {
        let diagnostic = items[*index].diagnostic;
        (diagnostic.severity, std::cmp::Reverse(diagnostic.confidence), *index)
    };
    let best = members.iter().copied().min_by_key(rank).unwrap_or_default();
    let mut sources = vec![items[best].diagnostic.source.clone()];
    for index in members.iter().filter(|index| **index != best) {
        sources.push(items[*index].diagnostic.source.clone());
    }
    Merged { shown: best, members, sources }
}

/// True if two sources report the same at the same place.
fn are_one(a: &Placed, first: &Gist, b: &Placed, second: &Gist) -> bool {
    looked_at(1);
    let (x, y) = (a.diagnostic, b.diagnostic);
    if x.source == y.source || x.location.file() != y.location.file() || a.symbol != b.symbol {
        return false;
    }
    let same_place = match (x.location.range(), y.location.range()) {
        // Parsers stumble over the same mistake at different tokens.
        (Some(a), Some(b)) => overlap(a, b) || first.is_syntax() && a.start.line == b.start.line,
        (None, None) => true,
        _ => false,
    };
    same_place && first.is_same(second)
}

/// True if two sources agree on a symbol: the same complaint of the same place or the same name in it.
pub fn agree(a: &Placed, b: &Placed) -> bool {
    let (x, y) = (a.diagnostic, b.diagnostic);
    let same = a.symbol == b.symbol && independent(&x.source, &y.source) && same_complaint(x, y);
    let name = || !quoted(&x.message).is_disjoint(&quoted(&y.message));
    let place = || matches!((x.location.range(), y.location.range()), (Some(a), Some(b)) if overlap(a, b));
    same && (place() || name())
}

/// True if two ranges have something in common; an empty range lies in any range that it touches.
fn overlap(a: Range, b: Range) -> bool {
    let empty = a.start == a.end || b.start == b.end;
    if empty { a.start <= b.end && b.start <= a.end } else { a.start < b.end && b.start < a.end }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Confidence, Location, Severity};
    use sextant_base::positions::Position;

    fn diag(source: &str, code: &str, message: &str, line: u32, from: u32, to: u32) -> Diagnostic {
        let at = |character| Position { line, character };
        Diagnostic {
            source: source.into(),
            severity: Severity::Error,
            code: Some(code.into()),
            message: message.into(),
            location: Location::Range { file: "a.py".into(), range: Range { start: at(from), end: at(to) } },
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }

    fn groups(list: &[(Diagnostic, &str)]) -> Vec<Vec<usize>> {
        let symbols: Vec<SymbolPath> = list.iter().map(|(_, names)| SymbolPath::new("a.py", *names)).collect();
        let items: Vec<Placed> =
            list.iter().zip(&symbols).map(|((diagnostic, _), symbol)| Placed { diagnostic, symbol }).collect();
        merge(&items).into_iter().map(|merged| merged.members).collect()
    }

    #[test]
    fn duplicates_are_shown_once() {
        let pyright = diag("lsp:basedpyright", "reportUndefinedVariable", "\"x\" is not defined", 3, 4, 5);
        let ruff = diag("lsp:ruff", "F821", "Undefined name `x`", 3, 4, 5);
        let mypy = diag("tool:mypy", "name-defined", "Name \"x\" is not defined", 3, 4, 5);
        let elsewhere = diag("lsp:ruff", "F821", "Undefined name `x`", 9, 4, 5);
        let other = diag("lsp:ruff", "E711", "Comparison to `None`", 3, 4, 5);
        assert_eq!(groups(&[(pyright.clone(), "f"), (ruff.clone(), "f"), (mypy, "f")]), [vec![0, 1, 2]]);
        assert_eq!(groups(&[(pyright.clone(), "f"), (elsewhere, "f")]), [vec![0], vec![1]], "another place");
        assert_eq!(groups(&[(pyright.clone(), "f"), (other, "f")]), [vec![0], vec![1]], "another complaint");
        assert_eq!(groups(&[(pyright.clone(), "f"), (ruff.clone(), "g")]), [vec![0], vec![1]], "another symbol");
        assert_eq!(groups(&[(ruff.clone(), "f"), (ruff.clone(), "f")]), [vec![0], vec![1]], "one source repeated it");
        let symbol = SymbolPath::new("a.py", "f");
        let (a, b) = (Placed { diagnostic: &pyright, symbol: &symbol }, Placed { diagnostic: &ruff, symbol: &symbol });
        let merged = merge(&[a, b]).remove(0);
        assert_eq!(merged.sources, ["lsp:basedpyright", "lsp:ruff"]);
        assert!(merged.agreed() && agree(&a, &b));
    }

    #[test]
    fn the_worst_is_the_one_shown() {
        let mild =
            Diagnostic { severity: Severity::Warning, ..diag("lsp:ruff", "F821", "Undefined name `x`", 3, 4, 5) };
        let hard = diag("lsp:basedpyright", "reportUndefinedVariable", "\"x\" is not defined", 3, 4, 5);
        let symbol = SymbolPath::new("a.py", "");
        let merged = merge(&[&mild, &hard].map(|diagnostic| Placed { diagnostic, symbol: &symbol }));
        assert_eq!((merged[0].shown, merged[0].sources[0].as_str()), (1, "lsp:basedpyright"));
    }

    #[test]
    fn syntax_errors_of_one_line_are_one() {
        let ruff = diag("lsp:ruff", "invalid-syntax", "Expected `:`", 3, 9, 10);
        let ours = diag("analyzer:syntax", "syntax-error", "syntax error at `x`", 3, 2, 4);
        let below = diag("analyzer:syntax", "syntax-error", "syntax error at `x`", 4, 2, 4);
        assert_eq!(groups(&[(ruff.clone(), ""), (ours, "")]), [vec![0, 1]]);
        assert_eq!(groups(&[(ruff, ""), (below, "")]), [vec![0], vec![1]]);
    }

    #[test]
    fn sources_agree_on_a_symbol_by_place_or_by_name() {
        let symbol = SymbolPath::new("a.py", "f");
        let one = diag("lsp:basedpyright", "reportReturnType", "Type \"str\" is not \"int\"", 3, 4, 9);
        let same_name = diag("tool:mypy", "return-value", "got \"str\"", 7, 0, 1);
        let no_name = diag("tool:mypy", "return-value", "wrong", 7, 0, 1);
        let family = diag("tool:pyright", "reportReturnType", "Type \"str\" is not \"int\"", 3, 4, 9);
        let at = |diagnostic| Placed { diagnostic, symbol: &symbol };
        assert!(agree(&at(&one), &at(&same_name)));
        assert!(!agree(&at(&one), &at(&no_name)) && !agree(&at(&one), &at(&family)));
    }

    proptest! {
        #[test]
        fn every_diagnostic_is_in_one_group_and_no_group_mixes_symbols_or_repeats_sources(
            picks in proptest::collection::vec((0usize..4, 0usize..4, 0usize..3, 0u32..3, 0u32..6, 0u32..4), 0..14),
        ) {
            let sources = ["lsp:basedpyright", "lsp:ruff", "tool:mypy", "analyzer:syntax"];
            let codes = ["F821", "name-defined", "F401", "syntax-error"];
            let names = ["f", "g", ""];
            let list: Vec<(Diagnostic, &str)> = picks
                .iter()
                .map(|(s, c, n, line, from, len)| {
                    (diag(sources[*s], codes[*c], "m", *line, *from, from + len), names[*n])
                })
                .collect();
            let found = groups(&list);
            let mut all: Vec<usize> = found.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..list.len()).collect::<Vec<_>>());
            for group in found {
                let first = group[0];
                prop_assert!(group.iter().all(|index| list[*index].1 == list[first].1));
                let mut tools: Vec<&str> = group.iter().map(|index| list[*index].0.source.as_str()).collect();
                tools.sort_unstable();
                let len = tools.len();
                tools.dedup();
                prop_assert_eq!(tools.len(), len);
            }
        }
    }
}
