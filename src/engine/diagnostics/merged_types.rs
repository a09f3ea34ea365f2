//! The changes of a text that add to what others declare: to a type of the library, or to a module.

use std::collections::BTreeSet;

use sextant_text::symbols::interface::{Offer, identifiers};
use sextant_text::symbols::language::Language;

/// The block of a module whose names all files see.
const GLOBAL: &str = "global";

/// The part of a change that other declarations take in.
#[derive(Debug, Default)]
pub(super) struct MergedTypes {
    /// True if the change is one of a type that values are of without a mention of its name.
    pub(super) in_library: bool,
    /// The words of the names of modules that the change adds to. Their importers may use them without a mention.
    pub(super) modules: BTreeSet<String>,
}

impl MergedTypes {
    /// The part of the change of one offer to another, of a text of whose names all files see all, or some at most.
    pub(super) fn of(language: &Language, is_global: bool, before: &[Offer], after: &[Offer]) -> Self {
        let mut found = Self::default();
        let [before, after] = [before, after].map(|offers| offers.iter().map(key).collect::<BTreeSet<_>>());
        for (owner, name, _) in before.symmetric_difference(&after) {
            let mut path = owner.split("::").filter(|part| !part.is_empty()).chain([*name]);
            match path.next() {
                Some(GLOBAL) => found.in_library |= path.next().is_some_and(|one| is_of_library(language, one)),
                Some(module) if module.starts_with(['"', '\'']) => {
                    found.modules.extend(identifiers(module).map(str::to_owned));
                }
                Some(one) => found.in_library |= is_global && is_of_library(language, one),
                None => {}
            }
        }
        found
    }
}

fn key(offer: &Offer) -> (&str, &str, &str) {
    (&offer.owner, &offer.name, &offer.outward)
}

fn is_of_library(language: &Language, name: &str) -> bool {
    language.library_types.split_whitespace().any(|known| known == name)
}
