//! The names in a text that a part of it binds for itself, and the words that are none of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::identifiers;
use super::offer_places::{BindingKind, OfferPlaces, within};
use crate::symbols::outline::{Outline, SymbolKind};

/// To mention a local name is not to use the interface of other files.
pub(super) struct LocalNames<'a> {
    text: &'a str,
    outline: &'a Outline,
    parts: &'a OfferPlaces,
    /// The names that a function binds, for the whole of its body.
    of_function: HashMap<usize, BTreeSet<&'a str>>,
    /// The stretches in which a name is bound for a smaller part.
    scopes: HashMap<&'a str, Vec<Range<usize>>>,
    /// The places of words that name no value: those that are bound there, and those of keywords.
    binders: HashSet<usize>,
}

impl<'a> LocalNames<'a> {
    pub(super) fn of(text: &'a str, outline: &'a Outline, parts: &'a OfferPlaces) -> Self {
        let (of_function, scopes) = (HashMap::new(), HashMap::new());
        let mut out = Self { text, outline, parts, of_function, scopes, binders: HashSet::new() };
        let values = parts.bindings.iter().filter(|binding| binding.kind == BindingKind::Value);
        for value in values {
            out.bind(value.range.start, &value.name);
        }
        for own in &parts.scoped.own {
            match &own.scope {
                Some(scope) => out.scopes.entry(&text[own.name.clone()]).or_default().push(scope.clone()),
                None => out.bind(own.name.start, &own.name),
            }
        }
        let bound = parts.bindings.iter().map(|binding| &binding.name);
        let names = outline.symbols.iter().map(|symbol| &symbol.name_range);
        let own = parts.scoped.own.iter().map(|own| &own.name);
        out.binders = bound.chain(names).chain(own).chain(&parts.scoped.labels).map(|name| name.start).collect();
        out
    }

    fn bind(&mut self, at: usize, name: &Range<usize>) {
        let name = &self.text[name.clone()];
        let function = self.outline.at(at).filter(|at| self.outline.symbols[*at].kind != SymbolKind::Class);
        if let Some(function) = function.filter(|function| !self.is_global(Some(*function), name)) {
            self.of_function.entry(function).or_default().insert(name);
        }
    }

    /// True if a function binds a name for its module.
    pub(super) fn is_global(&self, holder: Option<usize>, name: &str) -> bool {
        let function = holder.map(|holder| &self.outline.symbols[holder].declaration);
        function.is_some_and(|function| {
            within(&self.parts.scoped.globals, function).any(|global| &self.text[global.clone()] == name)
        })
    }

    /// The words of a stretch that others may have given their meaning.
    pub(super) fn mentions(&self, stretch: Range<usize>) -> impl Iterator<Item = String> {
        let words = identifiers(&self.text[stretch]).filter(|word| {
            let at = word.as_ptr() as usize - self.text.as_ptr() as usize;
            let is_member = || self.text[..at].trim_end().ends_with('.');
            !self.binders.contains(&at) && (!self.is_local(at, word) || is_member())
        });
        words.map(str::to_owned)
    }

    fn is_local(&self, at: usize, word: &str) -> bool {
        if self.scopes.get(word).is_some_and(|scopes| scopes.iter().any(|scope| scope.contains(&at))) {
            return true;
        }
        let mut around = std::iter::successors(self.outline.at(at), |symbol| self.outline.symbols[*symbol].parent);
        around.any(|symbol| {
            let body = self.parts.definitions.bodies.get(&self.outline.symbols[symbol].name_range.start);
            // A default value or a declared type is of the text around the function.
            body.is_some_and(|body| *body <= at)
                && self.of_function.get(&symbol).is_some_and(|names| names.contains(word))
        })
    }
}
