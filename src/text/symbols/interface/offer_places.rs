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
    /// A stretch elsewhere that decides what is bound too: the pattern that holds the name, or the module of an import.
    pub(super) beside: Option<Range<usize>>,
}

/// A statement that binds the names in a pattern.
pub(super) struct Unpacking {
    range: Range<usize>,
    pattern: Range<usize>,
}

/// A name that is bound for a part of the text: for a function, or for its scope.
pub(super) struct OwnName {
    pub(super) name: Range<usize>,
    pub(super) scope: Option<Range<usize>>,
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
pub(super) struct OfferPlaces {
    pub(super) definitions: DefinitionPlaces,
    pub(super) results: Vec<Range<usize>>,
    /// Expressions that decide the kind of a function, though its result is declared.
    pub(super) kinds: Vec<Range<usize>>,
    /// Statements of functions that are not filled in.
    pub(super) unfilled: Vec<Range<usize>>,
    pub(super) sources: BindingSources,
    pub(super) endings: Endings,
    pub(super) branches: Vec<Branch>,
    pub(super) bindings: Vec<Binding>,
    pub(super) scoped: ScopedWords,
    unpackings: Vec<Unpacking>,
    /// The names in patterns, each with the name through which it is bound.
    targets: Vec<(Range<usize>, Option<Range<usize>>)>,
    pub(super) details: Details,
}

/// The definitions, each known by the place of its name.
#[derive(Default)]
pub(super) struct DefinitionPlaces {
    /// From the place of a definition's name to the place where its body begins.
    pub(super) bodies: BTreeMap<usize, usize>,
    /// The places of the names of functions that declare their return type.
    pub(super) declared: BTreeSet<usize>,
    /// The places of the names of classes whose fields decide how they are made.
    pub(super) shaped: BTreeSet<usize>,
    /// The places of the names of classes that others fulfil by their members.
    pub(super) structural: BTreeSet<usize>,
    /// The places of the names of classes whose members decide how their type arguments may differ.
    pub(super) generic: BTreeSet<usize>,
    /// From the place of a class's name to the number of its bases.
    pub(super) bases: BTreeMap<usize, usize>,
    /// The places of the names of methods that a class has to fill in.
    pub(super) abstracts: BTreeSet<usize>,
    /// From the place of a function's name to its first parameter.
    pub(super) firsts: BTreeMap<usize, Range<usize>>,
}

impl DefinitionPlaces {
    fn take(&mut self, named: &impl Fn(&str) -> Option<Range<usize>>) {
        if let (Some(name), Some(body)) = (named("name"), named("body")) {
            self.bodies.insert(name.start, body.start);
            self.declared.extend(named("returns").map(|_| name.start));
        }
        if let (Some(name), Some(first)) = (named("name"), named("first")) {
            let known = self.firsts.entry(name.start).or_insert_with(|| first.clone());
            if first.start < known.start {
                *known = first;
            }
        }
        let lists = [
            ("shaped", &mut self.shaped),
            ("structural", &mut self.structural),
            ("generic", &mut self.generic),
            ("abstract", &mut self.abstracts),
        ];
        for (name, list) in lists {
            list.extend(named(name).map(|name| name.start));
        }
    }
}

/// The places from which the type of a binding may follow.
#[derive(Default)]
pub(super) struct BindingSources {
    /// The statements of the bodies of functions.
    pub(super) steps: Vec<Range<usize>>,
    /// Where the statements begin that decide nothing but what they bind.
    pub(super) plain: BTreeSet<usize>,
    /// The targets of assignments.
    pub(super) assigned: Vec<Range<usize>>,
    pub(super) comprehensions: Vec<Range<usize>>,
}

/// Words whose meaning is that of a part of the text.
#[derive(Default)]
pub(super) struct ScopedWords {
    /// Names that a function binds for its module.
    pub(super) globals: Vec<Range<usize>>,
    pub(super) own: Vec<OwnName>,
    /// Words that name a parameter of something else.
    pub(super) labels: Vec<Range<usize>>,
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
    /// Values whose literals are a part of their type.
    pub(super) exact: Vec<Range<usize>>,
    /// Values that are not of the type of the literals in them, but of one that these decide.
    pub(super) made: Vec<Range<usize>>,
}

impl OfferPlaces {
    pub(super) fn of(language: &Language, text: &str, tree: &tree_sitter::Tree) -> Option<Self> {
        let query = language.interface_query()?;
        let mut parts = Self::default();
        // The other names of what makes a class structural, and the bases of the classes.
        let (mut aliases, mut bases) = (BTreeSet::new(), Vec::new());
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            let named = |wanted: &str| {
                let found =
                    one.captures().iter().find(|capture| query.capture_names()[capture.index as usize] == wanted);
                found.map(|capture| capture.node.byte_range())
            };
            parts.take(&named);
            aliases.extend(named("alias").map(|alias| &text[alias]));
            bases.extend(named("name").zip(named("base")).map(|(class, base)| (class.start, &text[base])));
        }
        for (class, base) in bases {
            *parts.definitions.bases.entry(class).or_default() += 1;
            let is_structural = aliases.contains(base.split('[').next().unwrap_or(base));
            parts.definitions.structural.extend(is_structural.then_some(class));
        }
        parts.sort();
        Some(parts)
    }

    fn take(&mut self, named: &impl Fn(&str) -> Option<Range<usize>>) {
        self.definitions.take(named);
        self.scoped.own.extend(named("own").map(|name| OwnName { name, scope: named("scope") }));
        self.targets.extend(named("target").map(|name| (name, named("receiver"))));
        if let Some((range, pattern)) = named("value").zip(named("pattern")) {
            self.unpackings.push(Unpacking { range, pattern });
        }
        self.sources.plain.extend(named("plain").map(|step| step.start));
        self.branches.extend(named("branch").map(|range| Branch { range, test: named("test") }));
        let lists = [
            ("result", &mut self.results),
            ("kind", &mut self.kinds),
            ("unfilled", &mut self.unfilled),
            ("step", &mut self.sources.steps),
            ("assigned", &mut self.sources.assigned),
            ("comprehension", &mut self.sources.comprehensions),
            ("made", &mut self.details.made),
            ("label", &mut self.scoped.labels),
            ("exact", &mut self.details.exact),
            ("exit", &mut self.endings.exits),
            ("end", &mut self.endings.ends),
            ("tail", &mut self.endings.tails),
            ("global", &mut self.scoped.globals),
            ("literal", &mut self.details.literals),
            ("effect", &mut self.details.effects),
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
                let (declared, receiver, beside) = (named("type"), named("receiver"), named("beside"));
                self.bindings.push(Binding { kind, range, name, declared, receiver, beside });
            }
        }
    }

    /// Binds the names in patterns.
    fn unpack(&mut self) {
        self.targets.sort_by_key(|(name, _)| name.start);
        for Unpacking { range, pattern } in std::mem::take(&mut self.unpackings) {
            let first = self.targets.partition_point(|(name, _)| name.start < pattern.start);
            let inside = self.targets[first..].iter().take_while(|(name, _)| name.start < pattern.end);
            self.bindings.extend(inside.map(|(name, receiver)| Binding {
                kind: if receiver.is_some() { BindingKind::Attribute } else { BindingKind::Value },
                range: range.clone(),
                name: name.clone(),
                declared: None,
                receiver: receiver.clone(),
                beside: Some(pattern.clone()),
            }));
        }
    }

    fn sort(&mut self) {
        self.unpack();
        self.scoped.own.sort_by_key(|own| own.name.start);
        self.bindings.sort_by_key(|binding| (binding.name.start, binding.kind, binding.declared.is_none()));
        // A binding with a declared type is found without it as well.
        self.bindings.dedup_by_key(|binding| binding.name.start);
        self.bindings.sort_by_key(|binding| (binding.range.start, binding.name.start));
        for ranges in [
            &mut self.results,
            &mut self.kinds,
            &mut self.unfilled,
            &mut self.sources.steps,
            &mut self.sources.assigned,
            &mut self.sources.comprehensions,
            &mut self.details.made,
            &mut self.scoped.labels,
            &mut self.details.exact,
            &mut self.endings.exits,
            &mut self.endings.ends,
            &mut self.endings.tails,
            &mut self.scoped.globals,
            &mut self.details.literals,
            &mut self.details.effects,
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
