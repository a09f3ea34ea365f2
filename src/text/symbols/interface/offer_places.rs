//! The places in a text that the interface query finds, sorted for the reader of offers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use streaming_iterator::StreamingIterator;

use crate::symbols::language::Language;

/// One match of the query that binds names.
pub(super) struct Binding {
    pub(super) kind: BindingKind,
    pub(super) range: Range<usize>,
    pub(super) name: Range<usize>,
    pub(super) declared: Option<Range<usize>>,
    /// The name through which an attribute is bound.
    pub(super) receiver: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BindingKind {
    /// A value that is its own type.
    Constant,
    Value,
    Attribute,
    Import,
    Star,
}

/// A stretch of a text that applies where a test holds.
pub(super) struct Branch {
    pub(super) range: Range<usize>,
    pub(super) test: Option<Range<usize>>,
}

/// The places that the query finds in a text.
#[derive(Default)]
pub(super) struct Parts {
    /// From the place of a definition's name to the place where its body begins.
    pub(super) bodies: BTreeMap<usize, usize>,
    /// The places of the names of functions that declare their return type.
    pub(super) declared: BTreeSet<usize>,
    /// The places of the names of classes whose fields decide how they are made.
    pub(super) shaped: BTreeSet<usize>,
    /// The places of the names of classes that others fulfil by their members.
    pub(super) structural: BTreeSet<usize>,
    pub(super) results: Vec<Range<usize>>,
    pub(super) endings: Endings,
    pub(super) branches: Vec<Branch>,
    pub(super) bindings: Vec<Binding>,
    /// Names that a function binds for its module.
    pub(super) globals: Vec<Range<usize>>,
    /// Names that a function binds for itself.
    pub(super) own: Vec<Range<usize>>,
    pub(super) details: Details,
}

/// The ways in which functions end without a result.
#[derive(Default)]
pub(super) struct Endings {
    pub(super) exits: Vec<Range<usize>>,
    /// Statements of a body behind which nothing runs.
    pub(super) ends: Vec<Range<usize>>,
    /// Last statements of a body that may hold an exit.
    pub(super) tails: Vec<Range<usize>>,
}

/// The parts that may change without a change of any type.
#[derive(Default)]
pub(super) struct Details {
    pub(super) literals: Vec<Range<usize>>,
    /// Statements whose literals change no type.
    pub(super) effects: Vec<Range<usize>>,
    pub(super) comments: Vec<Range<usize>>,
}

impl Parts {
    pub(super) fn of(language: &Language, text: &str, tree: &tree_sitter::Tree) -> Option<Self> {
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
        parts.sort();
        Some(parts)
    }

    fn take(&mut self, named: &impl Fn(&str) -> Option<Range<usize>>) {
        if let (Some(name), Some(body)) = (named("name"), named("body")) {
            self.bodies.insert(name.start, body.start);
            self.declared.extend(named("returns").map(|_| name.start));
        }
        self.shaped.extend(named("shaped").map(|name| name.start));
        self.structural.extend(named("structural").map(|name| name.start));
        self.branches.extend(named("branch").map(|range| Branch { range, test: named("test") }));
        let lists = [
            ("result", &mut self.results),
            ("exit", &mut self.endings.exits),
            ("end", &mut self.endings.ends),
            ("tail", &mut self.endings.tails),
            ("global", &mut self.globals),
            ("literal", &mut self.details.literals),
            ("effect", &mut self.details.effects),
            ("own", &mut self.own),
            ("comment", &mut self.details.comments),
        ];
        for (name, list) in lists {
            list.extend(named(name));
        }
        let kinds = [
            ("constant", BindingKind::Constant),
            ("value", BindingKind::Value),
            ("attribute", BindingKind::Attribute),
            ("import", if named("star").is_some() { BindingKind::Star } else { BindingKind::Import }),
        ];
        for (name, kind) in kinds {
            let bound = named("name").or_else(|| named("star"));
            if let Some((range, name)) = named(name).zip(bound) {
                let (declared, receiver) = (named("type"), named("receiver"));
                self.bindings.push(Binding { kind, range, name, declared, receiver });
            }
        }
    }

    fn sort(&mut self) {
        self.bindings.sort_by_key(|binding| (binding.name.start, binding.kind, binding.declared.is_none()));
        // A binding with a declared type is found without it as well.
        self.bindings.dedup_by_key(|binding| binding.name.start);
        self.bindings.sort_by_key(|binding| (binding.range.start, binding.name.start));
        for ranges in [
            &mut self.results,
            &mut self.endings.exits,
            &mut self.endings.ends,
            &mut self.endings.tails,
            &mut self.globals,
            &mut self.details.literals,
            &mut self.details.effects,
            &mut self.own,
            &mut self.details.comments,
        ] {
            ranges.sort_by_key(|range| range.start);
        }
    }
}

/// Those of sorted ranges that lie in another range.
pub(super) fn within<'a>(
    sorted: &'a [Range<usize>],
    range: &Range<usize>,
) -> impl Iterator<Item = &'a Range<usize>> + use<'a> {
    let first = sorted.partition_point(|one| one.start < range.start);
    let (rest, end) = (&sorted[first..], range.end);
    rest.iter().take_while(move |one| one.start < end).filter(move |one| one.end <= end)
}
