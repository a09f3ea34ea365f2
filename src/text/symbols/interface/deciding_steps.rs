//! The statements of a function that decide the type of what it binds for others.
//!
//! Backwards from the binding: a statement counts if it binds a name that is used further on. One with statements
//! inside counts if it mentions such a name, since it may narrow it.

use std::collections::HashSet;
use std::ops::Range;

use super::identifiers;
use super::offer_places::{Binding, OfferPlaces, within};
use crate::symbols::outline::Outline;

pub(super) struct DecidingSteps<'a> {
    text: &'a str,
    outline: &'a Outline,
    parts: &'a OfferPlaces,
    /// The words that the text binds somewhere.
    bound: HashSet<&'a str>,
    /// The places where it does.
    binders: HashSet<usize>,
}

/// A statement of a body.
pub(super) struct DecidingStep<'a> {
    pub(super) range: &'a Range<usize>,
    /// True if nothing in it but its binding matters.
    pub(super) is_plain: bool,
}

impl<'a> DecidingSteps<'a> {
    pub(super) fn of(text: &'a str, outline: &'a Outline, parts: &'a OfferPlaces) -> Self {
        let names = outline.symbols.iter().map(|symbol| &symbol.name_range);
        let own = parts.scoped.own.iter().map(|own| &own.name);
        let places = || parts.bindings.iter().map(|binding| &binding.name).chain(names.clone()).chain(own.clone());
        let bound = places().map(|name| &text[name.clone()]).collect();
        Self { text, outline, parts, bound, binders: places().map(|name| name.start).collect() }
    }

    /// The statements before a binding of a function that decide what is bound, in source order.
    pub(super) fn before(&self, binding: &Binding, holder: usize) -> Vec<DecidingStep<'a>> {
        let symbols = &self.outline.symbols;
        let around = std::iter::successors(Some(holder), |at| symbols[*at].parent);
        let Some(function) = around.filter(|at| !symbols[*at].kind.holds_members()).last() else { return Vec::new() };
        let symbol = &symbols[function];
        let definitions = &self.parts.definitions;
        let Some(body) = definitions.bodies.get(&symbol.name_range.start) else { return Vec::new() };
        let first = symbol.parent.and_then(|_| definitions.firsts.get(&symbol.name_range.start));
        let receiver = first.and_then(|first| identifiers(&self.text[first.clone()]).next());
        let mut used: HashSet<&str> = HashSet::new();
        for stretch in [Some(&binding.range), binding.beside.as_ref()].into_iter().flatten() {
            used.extend(self.words(stretch, receiver));
        }
        // What a function around another one binds further on matters to the inner one as well.
        let end = if function == holder { binding.range.start + 1 } else { symbol.declaration.end };
        let mut out: Vec<DecidingStep> = Vec::new();
        for range in self.outermost(&(*body..symbol.declaration.end)).into_iter().rev() {
            let is_plain = self.parts.sources.plain.contains(&range.start);
            let is_own = range.contains(&binding.range.start) && is_plain;
            if range.start < end && !is_own && self.decides(range, is_plain, &used) {
                used.extend(self.words(range, receiver));
                out.push(DecidingStep { range, is_plain });
            }
        }
        out.reverse();
        out
    }

    /// The statements of a body that are in no other one of it.
    fn outermost(&self, body: &Range<usize>) -> Vec<&'a Range<usize>> {
        let mut end = body.start;
        let is_outer = |step: &&Range<usize>| {
            let is_outer = step.start >= end;
            end = end.max(step.end);
            is_outer
        };
        within(&self.parts.sources.steps, body).filter(is_outer).collect()
    }

    fn decides(&self, step: &Range<usize>, is_plain: bool, used: &HashSet<&str>) -> bool {
        let has_used = |range: &Range<usize>| identifiers(&self.text[range.clone()]).any(|word| used.contains(word));
        match is_plain {
            true => within(&self.parts.sources.assigned, step).any(has_used),
            false => has_used(step),
        }
    }

    /// The words of a stretch that the text gives a meaning, without those that get it there.
    fn words(&self, stretch: &Range<usize>, receiver: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        identifiers(&self.text[stretch.clone()]).filter(move |word| {
            let at = word.as_ptr() as usize - self.text.as_ptr() as usize;
            self.bound.contains(word) && Some(*word) != receiver && !self.binders.contains(&at)
        })
    }
}
