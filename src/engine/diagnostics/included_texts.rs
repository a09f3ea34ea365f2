//! The texts that a compiler reads behind a changed one, where an import puts a text in its place: they see the changed
//! names without an import of their own, and must not define them again.

use std::collections::BTreeSet;

use sextant_store::workspace::importers::Importers;
use sextant_text::symbols::interface::Offer;

/// The start of what a text offers as a macro.
const MACRO: &str = "#define";

/// A name with the path around it.
pub(super) struct ChangedPlace<'a> {
    pub(super) name: &'a str,
    owner: &'a str,
    pub(super) is_macro: bool,
}

impl ChangedPlace<'_> {
    pub(super) fn is_of(&self, offer: &Offer) -> bool {
        offer.name == self.name && offer.owner == self.owner
    }
}

/// The files that the importers of a changed one import beside it, at most so many. Those that the changed file imports
/// itself come before it.
pub(super) fn beside(importers: &Importers, changed: &str, importing: &[String], most: usize) -> Vec<String> {
    let own: BTreeSet<String> = importers.imported_by(&[changed.to_owned()], most).into_iter().collect();
    let found = importers.imported_by(importing, most);
    found.into_iter().filter(|file| file != changed && !own.contains(file)).collect()
}

/// The names that an edit makes, or gives another meaning.
pub(super) fn changed_places<'a>(before: &[Offer], after: &'a [Offer]) -> Vec<ChangedPlace<'a>> {
    let is_changed = |offer: &&Offer| !offer.is_nameless && !before.contains(offer);
    let place = |offer: &'a Offer| {
        let (name, owner) = (offer.name.as_str(), offer.owner.as_str());
        ChangedPlace { name, owner, is_macro: offer.outward.trim_start().starts_with(MACRO) }
    };
    after.iter().filter(is_changed).map(place).collect()
}
