//! What a text offers to other files: its names, each with the text that decides how it may be used.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use streaming_iterator::StreamingIterator;

use crate::symbols::language::Language;
use crate::symbols::outline::{Outline, SymbolKind};

/// A name that stands for whatever a module offers.
pub const EVERYTHING: &str = "*";

/// A name that other files can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub name: String,
    /// The path of the class that it is a member of; empty at the module level.
    pub owner: String,
    /// The header, the declared type, and where the type is inferred what it is inferred from. Two offers with the same
    /// text can be used in the same way, as long as what they mention stays the same.
    pub outward: String,
    /// The names in that text that others may have given it.
    pub mentions: BTreeSet<String>,
    /// Whether it is marked by decorators.
    pub is_decorated: bool,
}

impl Offer {
    /// The name that a use of it has to mention. What is used by syntax (`__init__`, `__iter__`) is used through its
    /// class, and what a module says of itself (`__all__`) through any import of it.
    pub fn word(&self) -> &str {
        let is_special = self.name.starts_with("__") && self.name.ends_with("__");
        match (is_special, self.owner.rsplit("::").next().filter(|owner| !owner.is_empty())) {
            (false, _) => &self.name,
            (true, Some(class)) => class,
            (true, None) => EVERYTHING,
        }
    }
}

/// The offers of a text, in source order; `None` where the language has no query for them.
pub fn offers(language: &Language, text: &str) -> Option<Vec<Offer>> {
    let tree = language.tree(text)?;
    let outline = Outline::of_tree(language, text, &tree);
    let parts = Parts::of(language, text, &tree)?;
    Some(Reader { text, outline: &outline, parts: &parts }.offers())
}

/// Words that other files may use and that mean something else, or nothing, after a change of a text.
///
/// A name that is not there any more, whose header, declared type or base is another, or whose type is inferred from
/// something else; and each name whose own type may follow from one of these. Members that are new count too, since a
/// class elsewhere may override them.
pub fn changed_words(before: &[Offer], after: &[Offer]) -> ChangedWords {
    let (old, new) = (by_name(before), by_name(after));
    let mut changed = ChangedWords::default();
    for (key, offers) in &old {
        if new.get(key) != Some(offers) {
            changed.words.extend(offers.iter().map(|offer| offer.word().to_owned()));
        }
    }
    for (key, offers) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        for offer in offers.iter().filter(|offer| !offer.owner.is_empty()) {
            let is_special = offer.word() != offer.name;
            let names = if is_special || offer.is_decorated { &mut changed.words } else { &mut changed.added };
            names.insert(offer.word().to_owned());
            if offer.is_decorated {
                changed.words.extend(key.0.rsplit("::").next().map(str::to_owned));
            }
        }
    }
    loop {
        let more = following(before, &changed.words).chain(following(after, &changed.words));
        let more: BTreeSet<String> = more.filter(|word| !changed.words.contains(*word)).map(str::to_owned).collect();
        if more.is_empty() {
            return changed;
        }
        changed.words.extend(more);
    }
}

/// What a change of a text means for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedWords {
    /// Names that are gone or can be used in another way.
    pub words: BTreeSet<String>,
    /// Members that are new.
    pub added: BTreeSet<String>,
}

impl ChangedWords {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.added.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> BTreeSet<String> {
        self.words.union(&self.added).cloned().collect()
    }

    pub fn extend(&mut self, other: Self) {
        self.words.extend(other.words);
        self.added.extend(other.added);
    }
}

/// The words of the offers whose text mentions one of these.
pub fn following<'a>(offers: &'a [Offer], words: &'a BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let mentions = |offer: &&Offer| !offer.mentions.is_disjoint(words);
    offers.iter().filter(mentions).map(Offer::word).filter(|word| *word != EVERYTHING)
}

/// The identifiers of a text, in order, those in strings and comments too.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The identifiers of a text, each with whether it is named as a member of something.
fn used_names(text: &str) -> impl Iterator<Item = (&str, bool)> {
    identifiers(text).map(|word| {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        (word, text[..at].trim_end().ends_with('.'))
    })
}

/// The offers of each name of each owner.
fn by_name(offers: &[Offer]) -> BTreeMap<(&str, &str), Vec<&Offer>> {
    let mut out: BTreeMap<(&str, &str), Vec<&Offer>> = BTreeMap::new();
    for offer in offers {
        out.entry((&offer.owner, &offer.name)).or_default().push(offer);
    }
    out
}

/// One match of the query that binds names.
struct Binding {
    kind: BindingKind,
    range: Range<usize>,
    name: Range<usize>,
    declared: Option<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BindingKind {
    Value,
    Attribute,
    Import,
    Star,
}

/// What the query finds in a text.
#[derive(Default)]
struct Parts {
    /// Where the name of a definition stands to where its body begins.
    bodies: BTreeMap<usize, usize>,
    /// Where the names of the functions stand that declare what they return.
    declared: BTreeSet<usize>,
    results: Vec<Range<usize>>,
    exits: Vec<Range<usize>>,
    bindings: Vec<Binding>,
    literals: Vec<Range<usize>>,
    /// Names that a function binds for itself.
    own: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
}

impl Parts {
    fn of(language: &Language, text: &str, tree: &tree_sitter::Tree) -> Option<Self> {
        let query = language.interface_query()?;
        let mut parts = Self::default();
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            let named = |wanted: &str| {
                let found =
                    one.captures().iter().find(|capture| query.capture_names()[capture.index as usize] == wanted);
                found.map(|capture| capture.node.byte_range())
            };
            parts.take(&named);
        }
        parts.bindings.sort_by_key(|binding| (binding.range.start, binding.name.start, binding.declared.is_none()));
        // A binding with a declared type is found without it as well.
        parts.bindings.dedup_by_key(|binding| binding.name.start);
        parts.own.sort_by_key(|range| range.start);
        for ranges in [&mut parts.results, &mut parts.exits, &mut parts.literals, &mut parts.comments] {
            ranges.sort_by_key(|range| range.start);
        }
        Some(parts)
    }

    fn take(&mut self, named: &impl Fn(&str) -> Option<Range<usize>>) {
        if let (Some(name), Some(body)) = (named("name"), named("body")) {
            self.bodies.insert(name.start, body.start);
            self.declared.extend(named("returns").map(|_| name.start));
        }
        let lists = [
            ("result", &mut self.results),
            ("exit", &mut self.exits),
            ("literal", &mut self.literals),
            ("own", &mut self.own),
            ("comment", &mut self.comments),
        ];
        for (name, list) in lists {
            list.extend(named(name));
        }
        let kinds = [
            ("value", BindingKind::Value),
            ("attribute", BindingKind::Attribute),
            ("import", if named("star").is_some() { BindingKind::Star } else { BindingKind::Import }),
        ];
        for (name, kind) in kinds {
            let bound = named("name").or_else(|| named("star"));
            if let Some((range, name)) = named(name).zip(bound) {
                self.bindings.push(Binding { kind, range, name, declared: named("type") });
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    outline: &'a Outline,
    parts: &'a Parts,
}

impl Reader<'_> {
    fn offers(&self) -> Vec<Offer> {
        let mut out: Vec<(usize, Offer)> = Vec::new();
        for (index, symbol) in self.outline.symbols.iter().enumerate() {
            let Some(owner) = self.owner(symbol.parent) else { continue };
            let body = self.parts.bodies.get(&symbol.name_range.start).copied().unwrap_or(symbol.declaration.end);
            let header = self.plain(symbol.declaration.start..body, true);
            let inferred = if symbol.kind == SymbolKind::Class { String::new() } else { self.inferred(index, body) };
            let is_decorated = self.text[symbol.declaration.start..symbol.name_range.start].contains('\n');
            let outward = format!("{header}\n{inferred}");
            let offer = Offer { is_decorated, ..self.offer(&symbol.name, owner, outward, Some(index)) };
            out.push((symbol.name_range.start, offer));
        }
        for binding in &self.parts.bindings {
            out.extend(self.bound(binding).map(|offer| (binding.name.start, offer)));
        }
        out.sort_by_key(|(at, _)| *at);
        out.into_iter().map(|(_, offer)| offer).collect()
    }

    /// The path of what holds a member that others can name; `None` inside of a function.
    fn owner(&self, holder: Option<usize>) -> Option<String> {
        let Some(holder) = holder else { return Some(String::new()) };
        let mut chain = std::iter::successors(Some(holder), |at| self.outline.symbols[*at].parent);
        chain.all(|at| self.outline.symbols[at].kind == SymbolKind::Class).then(|| self.outline.path_of(holder))
    }

    fn bound(&self, binding: &Binding) -> Option<Offer> {
        let holder = self.outline.at(binding.range.start);
        let name = self.text[binding.name.clone()].to_owned();
        let (owner, before) = match binding.kind {
            BindingKind::Attribute => {
                let method = holder?;
                let symbol = &self.outline.symbols[method];
                let body = self.parts.bodies.get(&symbol.name_range.start).copied()?;
                (self.owner(symbol.parent)?, self.plain(symbol.declaration.start..body, true))
            }
            _ => (self.owner(holder)?, String::new()),
        };
        if binding.kind == BindingKind::Star {
            let outward = self.plain(binding.range.clone(), true);
            return Some(self.offer(EVERYTHING, owner, outward, None));
        }
        let is_special = name.starts_with("__");
        let outward = match &binding.declared {
            Some(declared) => self.plain(declared.clone(), true),
            None => format!("{before}\n{}", self.plain(binding.range.clone(), is_special)),
        };
        // An import names where the thing comes from and no more.
        let outward = if binding.kind == BindingKind::Import { import_of(&outward, &name) } else { outward };
        Some(self.offer(&name, owner, outward, holder))
    }

    fn offer(&self, name: &str, owner: String, outward: String, holder: Option<usize>) -> Offer {
        let own = holder.map(|holder| self.own_names(holder)).unwrap_or_default();
        let mentions = used_names(&outward).filter(|(word, is_member)| *is_member || !own.contains(word));
        let mentions = mentions.map(|(word, _)| word.to_owned()).collect();
        Offer { name: name.to_owned(), owner, outward, mentions, is_decorated: false }
    }

    /// The names that a function binds for itself.
    fn own_names(&self, symbol: usize) -> BTreeSet<&str> {
        if self.outline.symbols[symbol].kind == SymbolKind::Class {
            return BTreeSet::new();
        }
        let extent = &self.outline.symbols[symbol].declaration;
        let first = self.parts.bindings.partition_point(|binding| binding.range.start < extent.start);
        let inside = self.parts.bindings[first..].iter().take_while(|binding| binding.range.start < extent.end);
        let locals = inside.filter(|binding| binding.kind == BindingKind::Value).map(|binding| &binding.name);
        locals.chain(within(&self.parts.own, extent)).map(|name| &self.text[name.clone()]).collect()
    }

    /// What the result of a function without a declared one follows from: everything that it does, where it has one.
    fn inferred(&self, symbol: usize, body: usize) -> String {
        let (name, end) = (self.outline.symbols[symbol].name_range.start, self.outline.symbols[symbol].declaration.end);
        if self.parts.declared.contains(&name) {
            return String::new();
        }
        let own = |range: &&Range<usize>| self.outline.at(range.start) == Some(symbol);
        let inside = body..end;
        let results: Vec<String> =
            within(&self.parts.results, &inside).filter(own).map(|range| self.plain(range.clone(), true)).collect();
        if results.is_empty() {
            let exits: Vec<String> =
                within(&self.parts.exits, &inside).filter(own).map(|range| self.plain(range.clone(), false)).collect();
            return exits.join("\n");
        }
        format!("{}\n{}", results.join("\n"), self.plain(body..end, false))
    }

    /// A stretch of the text without its layout, without comments, and unless `exact` without what is in literals.
    fn plain(&self, range: Range<usize>, exact: bool) -> String {
        let mut out = String::new();
        let mut at = range.start;
        let literals = within(&self.parts.literals, &range).filter(|_| !exact);
        let mut cut: Vec<&Range<usize>> = within(&self.parts.comments, &range).chain(literals).collect();
        cut.sort_by_key(|cut| cut.start);
        for cut in cut {
            if cut.start >= at {
                out.push_str(&self.text[at..cut.start]);
                out.push_str(if self.text[cut.clone()].starts_with(|c: char| c.is_ascii_digit()) { "0" } else { "" });
                at = cut.end;
            }
        }
        out.push_str(&self.text[at..range.end.max(at)]);
        without_layout(&out)
    }
}

/// Those of sorted ranges that lie in another.
fn within<'a>(sorted: &'a [Range<usize>], range: &Range<usize>) -> impl Iterator<Item = &'a Range<usize>> + use<'a> {
    let first = sorted.partition_point(|one| one.start < range.start);
    let (rest, end) = (&sorted[first..], range.end);
    rest.iter().take_while(move |one| one.start < end).filter(move |one| one.end <= end)
}

/// A text with white space only where two words would become one without it.
fn without_layout(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    for part in text.split_whitespace() {
        if out.ends_with(is_word) && part.starts_with(is_word) {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}

/// The part of an import statement that says where one of its names comes from.
fn import_of(statement: &str, name: &str) -> String {
    let word = identifiers(statement).find(|word| *word == "import");
    let at = word.map_or(0, |word| word.as_ptr() as usize - statement.as_ptr() as usize);
    let (from, names) = statement.split_at(at);
    let aliased = names.split([',', '(', ')']).find(|part| identifiers(part).any(|word| word == name));
    format!("{from}{}", aliased.unwrap_or_default().trim_start_matches("import").trim())
}

#[cfg(test)]
mod tests;
