//! Compares two offers of a text: the words whose change can concern other files. A change of a body has none.

use std::collections::{BTreeMap, BTreeSet};

use super::{EVERYTHING, Offer, following};

/// Words that other files may use, and that mean something else, or nothing, after a change of a text.
///
/// These are the names that are gone, or whose header, declared type, base or source of an inferred type has changed.
/// Names whose own type may follow from one of these count too. So do new members, since a class elsewhere may override
/// them. The class counts as well if it may fulfil less than before: without a member, with another one that
/// `is_structural_member` names, or with one to fill in. So does one whose type arguments its members decide.
pub fn changed_words(before: &[Offer], after: &[Offer], is_structural_member: &dyn Fn(&str) -> bool) -> ChangedWords {
    let (old, new) = (by_name(before), by_name(after));
    let structural = structural_classes(before.iter().chain(after));
    let generic = paths(before.iter().chain(after).filter(|offer| offer.is_generic));
    let class_of = |owner: &str| owner.rsplit("::").next().unwrap_or_default().to_owned();
    let mut changed = ChangedWords::default();
    for (key, offers) in &old {
        let now = new.get(key);
        if now == Some(offers) {
            continue;
        }
        changed.words.extend(offers.iter().map(|offer| offer.word().to_owned()));
        let (owner, name) = *key;
        let decides = structural.contains(owner) || generic.contains(owner) || is_structural_member(name);
        let is_less = now.is_none() && offers.iter().any(|offer| !offer.is_nominal);
        let marks = |offers: &[&Offer]| -> Vec<_> {
            offers.iter().map(|offer| (offer.is_decorated, offer.is_abstract)).collect()
        };
        let is_marked = now.is_some_and(|now| marks(now) != marks(offers));
        if !owner.is_empty() {
            changed.classes.insert(class_of(owner));
            if is_less || is_marked || decides {
                changed.words.insert(class_of(owner));
            }
        }
        // A module can fulfil a structural class too.
        if owner.is_empty() && is_structural_member(name) {
            changed.words.insert(EVERYTHING.to_owned());
        }
    }
    changed.words.extend(listed(before, after));
    for (key, offers) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        for offer in offers {
            let is_special = offer.word() != offer.name;
            let names = match (offer.owner.is_empty(), is_special || offer.is_decorated) {
                (true, false) if offer.name != EVERYTHING => &mut changed.created,
                (false, false) => &mut changed.added,
                _ => &mut changed.words,
            };
            names.insert(offer.word().to_owned());
            if !offer.owner.is_empty() {
                changed.classes.insert(class_of(key.0));
                if offer.is_decorated || structural.contains(key.0) || generic.contains(key.0) {
                    changed.words.insert(class_of(key.0));
                }
            }
        }
    }
    changed.follow(before, after);
    changed
}

/// The names that only one of two texts lists as a part of it, when its statement about itself changes.
fn listed(before: &[Offer], after: &[Offer]) -> BTreeSet<String> {
    let mentions = |offers: &[Offer]| -> BTreeSet<String> {
        let own = offers.iter().filter(|offer| offer.owner.is_empty() && offer.word() == EVERYTHING);
        own.filter(|offer| offer.name != EVERYTHING).flat_map(|offer| offer.mentions.clone()).collect()
    };
    mentions(before).symmetric_difference(&mentions(after)).cloned().collect()
}

/// The paths of the classes that others fulfil by their members alone.
pub(super) fn structural_classes<'a>(offers: impl Iterator<Item = &'a Offer>) -> BTreeSet<String> {
    paths(offers.filter(|offer| offer.is_structural))
}

fn paths<'a>(offers: impl Iterator<Item = &'a Offer>) -> BTreeSet<String> {
    let path = |offer: &Offer| match offer.owner.is_empty() {
        true => offer.name.clone(),
        false => format!("{}::{}", offer.owner, offer.name),
    };
    offers.map(path).collect()
}

/// The effect of a change of a text on other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedWords {
    /// Names that are gone or can be used in another way.
    pub words: BTreeSet<String>,
    /// Members that are new.
    pub added: BTreeSet<String>,
    /// Names of the module that are new. They concern the files that import them already.
    pub created: BTreeSet<String>,
    /// Classes with a member that is new, gone or used in another way. They concern the classes with further bases.
    pub classes: BTreeSet<String>,
}

impl ChangedWords {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.added.is_empty() && self.created.is_empty()
    }

    /// The names that are used in another way, and the new members.
    pub fn all(&self) -> BTreeSet<String> {
        self.words.union(&self.added).cloned().collect()
    }

    /// Takes in the names whose own type may follow from a changed one.
    pub fn follow(&mut self, before: &[Offer], after: &[Offer]) {
        loop {
            let more = following(before, &self.words).chain(following(after, &self.words));
            let more: BTreeSet<String> = more.filter(|word| !self.words.contains(*word)).map(str::to_owned).collect();
            if more.is_empty() {
                return;
            }
            self.words.extend(more);
        }
    }
}

/// The offers of each name of each owner.
fn by_name(offers: &[Offer]) -> BTreeMap<(&str, &str), Vec<&Offer>> {
    let mut out: BTreeMap<(&str, &str), Vec<&Offer>> = BTreeMap::new();
    for offer in offers {
        out.entry((&offer.owner, &offer.name)).or_default().push(offer);
    }
    out
}
