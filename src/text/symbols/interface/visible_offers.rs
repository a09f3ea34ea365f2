//! The offers of a text as all of it that its language does not hide.
//!
//! Of the query, `@hidden` is a stretch that no other file can observe, unless it lies in a `@shown` one. A `@body`
//! without a `@result` inside is hidden as well, unless it is the `@value` of an expression and `@endless`: its end may
//! never be reached. `@comment` means nothing for others. `@own` names something for its `@scope` alone, or without one
//! for its symbol, and `@inner` something for its file alone. A symbol in a `@conditional` stretch is there by its
//! `@condition`. `@names` declares names in a way that the grammar does not know. A statement with a `@star` passes on
//! everything of other files, a `@nameless` one is used under any name, and an `@effect` defines nothing. The symbol
//! around a `@led` name decides how it is used.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use streaming_iterator::StreamingIterator;

use super::offer_places::{OwnName, within};
use super::reader::without_layout;
use super::{EVERYTHING, Offer, identifiers};
use crate::symbols::language::Language;
use crate::symbols::outline::{Outline, Symbol, SymbolKind};

/// The places that the query finds, each list in source order.
#[derive(Default)]
struct HiddenPlaces {
    /// What others cannot observe; no two overlap.
    cuts: Vec<Range<usize>>,
    stars: Vec<Range<usize>>,
    own: Vec<OwnName>,
    inner: BTreeSet<usize>,
    led: BTreeSet<usize>,
    /// Declarations that the grammar does not know.
    names: Vec<Range<usize>>,
    nameless: Vec<Range<usize>>,
    effects: Vec<Range<usize>>,
    /// Stretches, and the condition of each.
    conditions: Vec<(Range<usize>, Range<usize>)>,
}

impl HiddenPlaces {
    fn of(query: &tree_sitter::Query, text: &str, tree: &tree_sitter::Tree) -> Self {
        let mut found: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        let mut own = Vec::new();
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            let mut named: HashMap<&str, Range<usize>> = HashMap::new();
            for capture in one.captures() {
                let name = query.capture_names()[capture.index as usize];
                found.entry(name).or_default().push(capture.node.byte_range());
                named.insert(name, capture.node.byte_range());
            }
            own.extend(named.remove("own").map(|name| OwnName { name, scope: named.remove("scope") }));
        }
        let mut list = |name: &str| {
            let mut list = found.remove(name).unwrap_or_default();
            list.sort_by_key(|range| (range.start, range.end));
            list
        };
        let [shown, results] = ["shown", "result"].map(&mut list);
        let [values, endless] = ["value", "endless"].map(|name| list(name).into_iter().collect::<HashSet<_>>());
        let may_be_endless = |body: &Range<usize>| values.contains(body) && endless.contains(body);
        let is_silent = |body: &Range<usize>| within(&results, body).next().is_none() && !may_be_endless(body);
        let hidden = list("hidden").into_iter().chain(list("body").into_iter().filter(is_silent));
        let mut cuts: Vec<Range<usize>> = hidden.filter(|range| !is_covered(&shown, range)).collect();
        cuts.extend(list("comment"));
        cuts.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        cuts.retain(|cut| {
            let is_outer = cut.start >= end;
            end = end.max(cut.end);
            is_outer
        });
        let [inner, led] = ["inner", "led"].map(|name| list(name).into_iter().map(|range| range.start).collect());
        // Both lists are in source order, and a condition stands at the head of its stretch.
        let (stretches, conditions) = (list("conditional"), list("condition"));
        let conditions = stretches.into_iter().zip(conditions).collect();
        own.sort_by_key(|one| one.name.start);
        let [stars, names, nameless, effects] = ["star", "names", "nameless", "effect"].map(list);
        Self { cuts, stars, own, inner, led, names, nameless, effects, conditions }
    }

    /// The parts of a stretch outside of the cuts and of these further ones.
    fn pieces(&self, range: &Range<usize>, further: &[Range<usize>]) -> Vec<Range<usize>> {
        let first = self.cuts.partition_point(|cut| cut.end <= range.start);
        let cuts = self.cuts[first..].iter().take_while(|cut| cut.start < range.end);
        let mut cuts: Vec<&Range<usize>> = cuts.chain(further).collect();
        cuts.sort_by_key(|cut| cut.start);
        let (mut out, mut at) = (Vec::new(), range.start);
        for cut in cuts {
            if cut.start > at {
                out.push(at..cut.start.min(range.end));
            }
            at = at.max(cut.end);
        }
        if at < range.end {
            out.push(at..range.end);
        }
        out
    }
}

/// The offers of a text, each with the byte at which its name begins.
pub(super) fn placed(
    language: &Language,
    query: &tree_sitter::Query,
    text: &str,
    tree: &tree_sitter::Tree,
    outline: &Outline,
) -> Vec<(usize, Offer)> {
    let places = HiddenPlaces::of(query, text, tree);
    let reader = VisibleReader { language, text, outline, places };
    let named = names_of(tree);
    let mut children: HashMap<Option<usize>, Vec<Range<usize>>> = HashMap::new();
    for symbol in &outline.symbols {
        children.entry(symbol.parent).or_default().push(symbol.extent.clone());
    }
    let mut out = Vec::new();
    for (index, symbol) in outline.symbols.iter().enumerate() {
        if reader.is_outward(index) {
            let inside = children.get(&Some(index)).filter(|_| symbol.kind.holds_members());
            let inside = inside.map_or(&[][..], Vec::as_slice);
            out.extend(reader.offers_of(symbol, inside));
            if symbol.kind == SymbolKind::Module {
                out.extend(reader.loose(symbol, inside, &named));
            }
        }
    }
    out.extend(reader.rest(tree, &named, children.get(&None).map_or(&[], Vec::as_slice)));
    out.extend(reader.unknown_forms(&named));
    out.sort_by_key(|(at, _)| *at);
    out
}

struct VisibleReader<'a> {
    language: &'a Language,
    text: &'a str,
    outline: &'a Outline,
    places: HiddenPlaces,
}

impl VisibleReader<'_> {
    /// True if others can name a symbol: it is in no body and no test.
    fn is_outward(&self, index: usize) -> bool {
        let mut chain = std::iter::successors(Some(index), |at| self.outline.symbols[*at].parent);
        let is_open = |at: usize| self.outline.symbols[at].kind != SymbolKind::Test;
        chain.all(|at| is_open(at) && (at == index || self.outline.symbols[at].kind.holds_members()))
    }

    fn offers_of(&self, symbol: &Symbol, inside: &[Range<usize>]) -> Vec<(usize, Offer)> {
        let range = if self.language.typed_comments { &symbol.extent } else { &symbol.declaration };
        let pieces = self.places.pieces(range, inside);
        let own = self.own_names(symbol, range);
        let is_own =
            |at, word: &str| own.get(word).is_some_and(|scopes| scopes.iter().any(|scope| scope.contains(&at)));
        let is_computed = self.is_computed(symbol);
        let is_wanted = |at, word: &str| {
            (at != symbol.name_range.start || is_computed) && (!is_own(at, word) || self.is_member(at))
        };
        let mut offer = self.offer(&pieces, is_wanted);
        let at = symbol.name_range.start;
        for (_, condition) in self.places.conditions.iter().filter(|(stretch, _)| stretch.contains(&at)) {
            let condition = &self.text[condition.clone()];
            offer.outward.push_str(&without_layout(condition));
            offer.mentions.extend(identifiers(condition).map(str::to_owned));
        }
        offer.owner.clone_from(&symbol.owner);
        offer.is_decorated = symbol.kind == SymbolKind::Impl;
        offer.is_structural = self.language.structural_kinds.contains(&symbol.kind);
        let is_nameless = |one: &Range<usize>| one.start <= at && one.end >= symbol.declaration.end;
        let mut out: Vec<(usize, Offer)> = Vec::new();
        // A stretch inside of another symbol begins behind the name of that one.
        let around = symbol.parent.map(|parent| &self.outline.symbols[parent]);
        let is_outer = |one: &Range<usize>| around.is_none_or(|around| around.name_range.start < one.start);
        let leader = around.filter(|_| self.places.led.contains(&at));
        offer.mentions.extend(leader.map(|around| around.name.clone()));
        let is_passed = self.places.nameless.iter().any(|one| is_nameless(one) && is_outer(one));
        if is_passed || self.is_free_operator(symbol) {
            out.push((at, nameless(offer.clone())));
        }
        out.extend(self.names(symbol).into_iter().map(|name| (at, Offer { name, ..offer.clone() })));
        out
    }

    /// The names that a symbol binds for itself, each with the stretches in which it means that.
    fn own_names(&self, symbol: &Symbol, range: &Range<usize>) -> HashMap<&str, Vec<Range<usize>>> {
        let mut own: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        let first = self.places.own.partition_point(|one| one.name.start < range.start);
        let inside = self.places.own[first..].iter().take_while(|one| one.name.start < range.end);
        for one in inside.filter(|_| symbol.kind.is_code()) {
            let scope = one.scope.clone().unwrap_or_else(|| range.clone());
            own.entry(&self.text[one.name.clone()]).or_default().push(scope);
        }
        own
    }

    /// True for an operator of no class. A use of it may convert its operands, and so mentions nothing of it.
    fn is_free_operator(&self, symbol: &Symbol) -> bool {
        let around = symbol.parent.map(|parent| &self.outline.symbols[parent]);
        let is_free = match around {
            None => symbol.owner.is_empty(),
            Some(around) => around.kind == SymbolKind::Module && symbol.owner.ends_with(&around.name),
        };
        is_free && is_operator(&symbol.name)
    }

    /// True if the name of a member is the value of an expression.
    fn is_computed(&self, symbol: &Symbol) -> bool {
        let range = &symbol.name_range;
        !symbol.owner.is_empty()
            && (self.text[range.clone()].starts_with('[') || self.text[..range.start].trim_end().ends_with('['))
    }

    /// The words that a use of a symbol may have to mention.
    fn names(&self, symbol: &Symbol) -> Vec<String> {
        let last_owner = symbol.owner.rsplit("::").next().unwrap_or_default();
        let words: Vec<&str> = match symbol.kind {
            SymbolKind::Constructor => vec![last_owner],
            SymbolKind::Impl => identifiers(&symbol.name).filter(|word| !matches!(*word, "impl" | "for")).collect(),
            // A member with a computed name has another one at its use.
            _ if self.is_computed(symbol) => identifiers(&symbol.name).chain([last_owner]).collect(),
            // An operator is used through its class.
            _ if is_operator(&symbol.name) => vec!["operator", last_owner],
            _ => identifiers(&symbol.name).collect(),
        };
        let words = words.into_iter().filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// The statements of a module that are no symbols, together under every name in them.
    fn loose(&self, module: &Symbol, inside: &[Range<usize>], named: &[Range<usize>]) -> Vec<(usize, Offer)> {
        let pieces = self.places.pieces(&module.declaration, inside);
        let owner =
            if module.owner.is_empty() { module.name.clone() } else { format!("{}::{}", module.owner, module.name) };
        let offer = Offer { owner, ..self.offer(&pieces, |_, _| true) };
        let is_inner = |name: &&Range<usize>| module.name_range.end <= name.start;
        let names = pieces.iter().flat_map(|piece| within(named, piece)).filter(is_inner);
        names.map(|name| (name.start, Offer { name: self.text[name.clone()].to_owned(), ..offer.clone() })).collect()
    }

    /// The statements beside the symbols, each under every name in it.
    fn rest(&self, tree: &tree_sitter::Tree, named: &[Range<usize>], symbols: &[Range<usize>]) -> Vec<(usize, Offer)> {
        let (root, mut out) = (tree.root_node(), Vec::new());
        for child in root.children(&mut root.walk()) {
            let range = child.byte_range();
            let first = symbols.partition_point(|symbol| symbol.end <= range.start);
            let inside = symbols[first..].iter().take_while(|symbol| symbol.start < range.end);
            let inside: Vec<Range<usize>> = inside.cloned().collect();
            if self.places.effects.contains(&range) {
                continue;
            }
            let pieces = self.places.pieces(&range, &inside);
            let offer = self.offer(&pieces, |_, _| true);
            if within(&self.places.stars, &range).next().is_some() {
                out.push((range.start, Offer { name: EVERYTHING.to_owned(), ..offer.clone() }));
            }
            let is_apart =
                |one: &&Range<usize>| inside.iter().all(|symbol| symbol.end <= one.start || one.end <= symbol.start);
            for one in within(&self.places.nameless, &range).filter(is_apart) {
                out.push((one.start, nameless(self.offer(&self.places.pieces(one, &[]), |_, _| true))));
            }
            let names = pieces.iter().flat_map(|piece| within(named, piece));
            for name in names.filter(|name| !self.places.inner.contains(&name.start)) {
                let name_text = &self.text[name.clone()];
                let mut one = Offer { name: name_text.to_owned(), ..offer.clone() };
                one.mentions.remove(name_text);
                out.push((name.start, one));
            }
        }
        out
    }

    /// Declarations that the grammar does not know, under every name in them: every word of a comment.
    fn unknown_forms(&self, named: &[Range<usize>]) -> Vec<(usize, Offer)> {
        let mut out = Vec::new();
        for form in &self.places.names {
            let offer = self.offer(std::slice::from_ref(form), |_, _| true);
            let mut names: BTreeSet<&str> = within(named, form).map(|name| &self.text[name.clone()]).collect();
            if names.is_empty() {
                names = identifiers(&self.text[form.clone()]).collect();
            }
            out.extend(names.into_iter().map(|name| (form.start, Offer { name: name.to_owned(), ..offer.clone() })));
        }
        out
    }

    /// The offer of parts of the text, without its name. It mentions the words that are wanted.
    fn offer(&self, pieces: &[Range<usize>], is_wanted: impl Fn(usize, &str) -> bool) -> Offer {
        let mut offer = Offer { is_nominal: true, ..Offer::default() };
        for piece in pieces {
            offer.outward.push_str(&without_layout(&self.text[piece.clone()]));
            offer.outward.push('\n');
            for word in identifiers(&self.text[piece.clone()]) {
                let at = word.as_ptr() as usize - self.text.as_ptr() as usize;
                if is_wanted(at, word) {
                    offer.mentions.insert(word.to_owned());
                }
            }
        }
        offer
    }

    /// True if a word names a member of what is before it.
    fn is_member(&self, at: usize) -> bool {
        let before = self.text[..at].trim_end();
        before.ends_with(['.', ':']) || before.ends_with("->")
    }
}

/// True if a range lies in one of these, which are in source order.
fn is_covered(sorted: &[Range<usize>], range: &Range<usize>) -> bool {
    let before = sorted.partition_point(|one| one.start <= range.start);
    sorted[..before].iter().rev().any(|one| one.end >= range.end)
}

/// What others use under any name.
fn nameless(offer: Offer) -> Offer {
    Offer { name: EVERYTHING.to_owned(), owner: String::new(), is_nameless: true, ..offer }
}

/// True for the name of an operator: `operator+`, `operator bool`.
fn is_operator(name: &str) -> bool {
    let rest = name.strip_prefix("operator");
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The places of all names in a tree, in source order.
fn names_of(tree: &tree_sitter::Tree) -> Vec<Range<usize>> {
    let (mut cursor, mut out) = (tree.walk(), Vec::new());
    loop {
        let node = cursor.node();
        if node.child_count() == 0 && node.is_named() && node.kind().contains("identifier") {
            out.push(node.byte_range());
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return out;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests;
