//! The offer of a text to other files: its names, each with the text that decides how it may be used.

use std::collections::BTreeSet;

use crate::symbols::language::Language;
use crate::symbols::outline::Outline;
use crate::symbols::recent_texts::RecentTexts;

mod changed_offers;
mod deciding_steps;
mod local_names;
mod offer_places;
mod reader;
mod visible_offers;

pub use changed_offers::{ChangedWords, changed_words};

/// A name that stands for everything that a module offers.
pub const EVERYTHING: &str = "*";

/// A name that other files can use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    pub name: String,
    /// The path of the class that it is a member of; empty at the module level.
    pub owner: String,
    /// The header, the declared type, and the source of an inferred type. Two offers with the same text can be used in
    /// the same way, as long as the mentioned names keep their meaning.
    pub outward: String,
    /// The names in that text that others may have given it.
    pub mentions: BTreeSet<String>,
    /// True if it can concern others without being named: decorators mark it, or it adds to a type.
    pub is_decorated: bool,
    /// True if it is a class that others fulfil by their members alone.
    pub is_structural: bool,
    /// True if it is a class whose members decide how its type arguments may differ.
    pub is_generic: bool,
    /// The number of its bases, if it is a class. They have to agree on their members.
    pub bases: usize,
    /// True if a class that inherits it has to fill it in.
    pub is_abstract: bool,
    /// True if others use it under any name.
    pub is_nameless: bool,
    /// True if its loss concerns those alone who use it, unless its class is structural.
    pub is_nominal: bool,
}

impl Offer {
    /// The name that every use of it has to mention. A name used by syntax (`__init__`, `__iter__`) is used through its
    /// class. A module's statement about itself (`__all__`) is used through any import of it.
    pub fn word(&self) -> &str {
        let is_special = self.name.starts_with("__") && self.name.ends_with("__");
        match (is_special, self.owner.rsplit("::").next().filter(|owner| !owner.is_empty())) {
            (false, _) => &self.name,
            (true, Some(class)) => class,
            (true, None) => EVERYTHING,
        }
    }
}

/// The offers of a text, in source order; `None` if the language has no query for them.
pub fn offers(language: &Language, text: &str) -> Option<Vec<Offer>> {
    Some(placed_offers(language, text)?.into_iter().map(|(_, offer)| offer).collect())
}

/// The offers of a text, each with the byte at which its name begins.
pub fn placed_offers(language: &Language, text: &str) -> Option<Vec<(usize, Offer)>> {
    static RECENT: RecentTexts<Option<Vec<(usize, Offer)>>> = RecentTexts::new();
    RECENT.get(language, text, || read_offers(language, text)).as_ref().clone()
}

fn read_offers(language: &Language, text: &str) -> Option<Vec<(usize, Offer)>> {
    let tree = language.tree(text)?;
    let outline = Outline::of_tree(language, text, &tree);
    if let Some(query) = language.hidden_query() {
        return Some(visible_offers::placed(language, &query, text, &tree, &outline));
    }
    let parts = offer_places::OfferPlaces::of(language, text, &tree)?;
    Some(reader::OfferReader::new(text, &outline, &parts).offers())
}

/// The words of the statements that stand in one of two texts alone and do not parse. The offers there are not known.
pub fn unreadable_words(language: &Language, before: &str, after: &str) -> BTreeSet<String> {
    let [old, new] = [before, after].map(|text| unreadable(language, text));
    let words = old.symmetric_difference(&new).flat_map(|statement| identifiers(statement));
    words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
}

/// The statements at the top of a text that do not parse.
fn unreadable<'a>(language: &Language, text: &'a str) -> BTreeSet<&'a str> {
    let Some(tree) = language.tree(text).filter(|tree| tree.root_node().has_error()) else { return BTreeSet::new() };
    let root = tree.root_node();
    if root.is_error() {
        return BTreeSet::from([text]);
    }
    let mut cursor = root.walk();
    let broken = root.children(&mut cursor).filter(|child| child.has_error() || child.is_missing());
    broken.filter_map(|child| text.get(child.byte_range())).collect()
}

/// The members of the classes of a text that others fulfil by their members alone.
pub fn structural_members(language: &Language, text: &str) -> BTreeSet<String> {
    let offers = offers(language, text).unwrap_or_default();
    let classes = changed_offers::structural_classes(offers.iter());
    offers.into_iter().filter(|offer| classes.contains(&offer.owner)).map(|offer| offer.name).collect()
}

/// The words of the offers whose text mentions one of these.
pub fn following<'a>(offers: &'a [Offer], words: &'a BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let mentions = |offer: &&Offer| !offer.mentions.is_disjoint(words);
    offers.iter().filter(mentions).filter(|offer| offer.is_nameless || offer.word() != EVERYTHING).map(Offer::word)
}

/// The identifiers of a text, in order, those in strings and comments too.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod python_tests;
#[cfg(test)]
mod tests;
