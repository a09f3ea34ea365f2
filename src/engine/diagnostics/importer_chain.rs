//! The importers of an edited file, and the names whose meaning follows from file to file.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::diagnostics::edit_reach::OfferedChange;
use crate::diagnostics::included_texts::{self, ChangedPlace};
use crate::diagnostics::merged_types::MergedTypes;
use crate::diagnostics::pasted_names::PastedNames;
use crate::diagnostics::workspace_texts::WorkspaceTexts;
use crate::state::unlooked::Unread;
use sextant_store::workspace::import_lines::module_words;
use sextant_store::workspace::importers::Importers;
use sextant_store::workspace::source_text;
use sextant_store::workspace::unlisted_files::OutOfSight;
use sextant_text::symbols::interface::{self, ChangedWords, EVERYTHING, Offer, identifiers};
use sextant_text::symbols::language::ImportForm;

/// Files whose names are followed to further files. Each is parsed.
pub(super) const FOLLOWED: usize = 400;

/// The importers of a file, with their texts and the words in them. Behind them are the files that they import beside
/// it, where these may see its names.
pub(super) struct ImporterChain {
    pub(super) files: Vec<String>,
    /// The number of the importers.
    importing: usize,
    texts: Vec<Arc<str>>,
    pub(super) words: Vec<HashSet<String>>,
    pasted: PastedNames,
    /// The offers of the importers that use a changed name.
    pub(super) offers: BTreeMap<usize, Vec<Offer>>,
    /// The names that follow from a changed one, with the importers that have given them their meaning.
    followed: BTreeMap<String, BTreeSet<usize>>,
}

impl ImporterChain {
    pub(super) fn of(workspace: &WorkspaceTexts, importers: &Importers, change: &OfferedChange) -> Self {
        let mut files = importers.of(change.path);
        if change.turns || change.is_shared() {
            let new = importers.everywhere(change.path).into_iter().filter(|file| !files.contains(file));
            files.extend(new.collect::<Vec<_>>());
        }
        let is_textual = change.language.textual_imports && !files.is_empty();
        let beside = || included_texts::beside(importers, change.path, &files, FOLLOWED);
        let beside = if is_textual { beside() } else { Vec::new() };
        let read = |file: String| Some((workspace.text(importers.target(&file))?, file));
        let read_all = |files: Vec<String>| files.into_iter().filter_map(read).unzip();
        let (mut texts, mut files): (Vec<Arc<str>>, Vec<String>) = read_all(files);
        let importing = files.len();
        let (further, beside): (Vec<Arc<str>>, Vec<String>) = read_all(beside);
        texts.extend(further);
        files.extend(beside);
        let words = files.iter().zip(&texts).map(|(file, text)| used_words(file, text)).collect();
        let pasted = PastedNames::of(change.language, &texts);
        Self { files, importing, texts, words, pasted, offers: BTreeMap::new(), followed: BTreeMap::new() }
    }

    /// The importers, each with its number.
    pub(super) fn importers(&self) -> impl Iterator<Item = (usize, &String)> {
        self.files.iter().enumerate().take(self.importing)
    }

    pub(super) fn each_text(&self, mut look: impl FnMut(&str, &str)) {
        self.importers().zip(&self.texts).for_each(|((_, file), text)| look(file, text));
    }

    /// The importers that an edit concerns without a changed name in them: all of them, if it adds to a type of the
    /// library.
    pub(super) fn unnamed(
        &mut self,
        importers: &Importers,
        change: &OfferedChange,
        changed: &ChangedWords,
    ) -> BTreeSet<usize> {
        if merged(change).in_library {
            return (0..self.importing).collect();
        }
        let mut found = self.joining(change, &changed.classes);
        let clashing = self.clashing_beside(importers, change);
        found.extend(self.importers().filter(|(_, file)| clashing.contains(*file)).map(|(at, _)| at));
        found
    }

    /// The importers that import a file as well which has one of the changed names itself. A macro changes every use of
    /// its name.
    fn clashing_beside(&mut self, importers: &Importers, change: &OfferedChange) -> BTreeSet<String> {
        let changed = included_texts::changed_places(change.before, change.after);
        let mut clashing = BTreeSet::new();
        for at in self.importing..self.files.len() {
            let has = |place: &&ChangedPlace<'_>| self.words[at].contains(place.name);
            let seen: Vec<&ChangedPlace<'_>> = changed.iter().filter(has).collect();
            let is_seen = |offer: &Offer| seen.iter().any(|place| place.is_of(offer));
            if seen.iter().any(|place| place.is_macro)
                || !seen.is_empty() && self.offers_of(at, change).iter().any(is_seen)
            {
                clashing.extend(importers.of(&self.files[at]));
            }
        }
        clashing
    }

    /// The new names that importers mention already, and those of the modules that the change adds to.
    pub(super) fn awaited(&self, importers: &Importers, change: &OfferedChange, changed: &ChangedWords) -> Vec<String> {
        let is_awaited = |name: &&String| {
            let mut files = self.files.iter().zip(&self.words);
            files.any(|(file, words)| {
                words.contains(*name) && (change.is_global() || importers.may_import_name(file, name))
            })
        };
        changed.created.iter().filter(is_awaited).cloned().chain(merged(change).modules).collect()
    }

    pub(super) fn uses(&self, at: usize, words: &BTreeSet<String>) -> bool {
        let known = &self.words[at];
        words.iter().any(|word| known.contains(word) || self.pasted.can_make(word, known))
    }

    /// The changed names, and those names of the importers and of the file itself whose type may follow from one of
    /// them.
    pub(super) fn follow(
        &mut self,
        importers: &Importers,
        change: &OfferedChange,
        changed: &ChangedWords,
    ) -> BTreeSet<String> {
        let mut words = changed.words.clone();
        if words.contains(EVERYTHING) {
            words.extend(module_words(change.path));
        }
        loop {
            let known = words.len();
            for at in (0..self.files.len()).filter(|at| self.uses(*at, &words)).take(FOLLOWED).collect::<Vec<_>>() {
                let offers = self.offers_of(at, change);
                let more: Vec<String> = interface::following(offers, &words).map(str::to_owned).collect();
                let is_known = self.followed.get(EVERYTHING).is_some_and(|known| known.contains(&at));
                if !is_known && more.iter().any(|word| word == EVERYTHING) {
                    // It is used under any name, in files that name the module, or one that has all of it.
                    let passing = importers.passing_on(&self.files[at]);
                    words.extend(passing.iter().chain([&self.files[at]]).flat_map(|file| module_words(file)));
                }
                for word in more {
                    self.followed.entry(word.clone()).or_default().insert(at);
                    words.insert(word);
                }
            }
            // In a circle of imports the file's own names follow from others.
            let own = [change.before, change.after].map(|offers| interface::following(offers, &words));
            let own: Vec<String> = own.into_iter().flatten().map(str::to_owned).collect();
            words.extend(own);
            if words.len() == known {
                return words;
            }
        }
    }

    fn offers_of(&mut self, at: usize, change: &OfferedChange) -> &[Offer] {
        let language = source_text::language_of(&self.files[at]).unwrap_or(change.language);
        let read = || interface::offers(language, &self.texts[at]).unwrap_or_default();
        self.offers.entry(at).or_insert_with(read)
    }

    /// The importers with a class of several bases that inherits one of these classes: its bases have to agree on their
    /// members, which it need not name.
    fn joining(&mut self, change: &OfferedChange, classes: &BTreeSet<String>) -> BTreeSet<usize> {
        let (mut classes, mut joining) = (classes.clone(), BTreeSet::new());
        let heirs = |offers: &[Offer], classes: &BTreeSet<String>| -> Vec<(String, usize)> {
            let is_heir = |offer: &&Offer| offer.bases > 0 && !offer.mentions.is_disjoint(classes);
            offers.iter().filter(is_heir).map(|offer| (offer.name.clone(), offer.bases)).collect()
        };
        loop {
            let known = classes.len();
            let own = heirs(change.after, &classes);
            classes.extend(own.into_iter().map(|(name, _)| name));
            for at in (0..self.files.len()).filter(|at| self.uses(*at, &classes)).take(FOLLOWED).collect::<Vec<_>>() {
                for (name, bases) in heirs(self.offers_of(at, change), &classes) {
                    joining.extend((bases > 1).then_some(at));
                    classes.insert(name);
                }
            }
            if classes.len() == known {
                return joining;
            }
        }
    }

    /// The files behind an importer that gives one of these names a meaning of its own, which follows from the changed
    /// one. References to the changed name lack them.
    pub(super) fn behind_namesakes(
        &self,
        importers: &Importers,
        is_name: &dyn Fn(&str) -> bool,
    ) -> BTreeMap<&String, BTreeSet<String>> {
        let namesakes = self.followed.iter().filter(|(word, _)| is_name(word));
        let behind = |between: &BTreeSet<usize>| between.iter().flat_map(|at| importers.of(&self.files[*at])).collect();
        namesakes.map(|(word, between)| (word, behind(between))).collect()
    }
}

fn merged(change: &OfferedChange) -> MergedTypes {
    MergedTypes::of(change.language, change.is_global(), change.before, change.after)
}

/// The reason for which an importer is not opened.
pub(super) fn unread(importers: &Importers, file: &str) -> Option<Unread> {
    importers.out_of_sight(file).map(|why| match why {
        OutOfSight::Ignored => Unread::Ignored,
        OutOfSight::Linked => Unread::Link,
        OutOfSight::BadName => Unread::BadName,
    })
}

/// The words of a file, and those that its language uses without a mention.
fn used_words(file: &str, text: &str) -> HashSet<String> {
    let implied = source_text::language_of(file).map(|language| language.implied_names).unwrap_or_default();
    identifiers(text).chain(implied.concat()).map(str::to_owned).collect()
}

/// The files that offer everything of a module, where another module of theirs has one of its new names too, or one of
/// those that are gone.
pub(super) fn clashing(workspace: &WorkspaceTexts, importers: &Importers, change: &OfferedChange) -> Vec<String> {
    let [before, after] = [change.before, change.after].map(own_names);
    let moved: BTreeSet<&str> = before.symmetric_difference(&after).copied().collect();
    if moved.is_empty() || change.language.import_form != ImportForm::Line {
        return Vec::new();
    }
    let offers = |file: &str| {
        let language = source_text::language_of(file).unwrap_or(change.language);
        workspace.text(file).and_then(|text| interface::offers(language, &text)).unwrap_or_default()
    };
    let has = |other: &String| {
        let mut own = offers(other).into_iter().filter(|offer| offer.owner.is_empty());
        *other != change.path && own.any(|offer| moved.contains(offer.name.as_str()))
    };
    let clashes = |file: &String| {
        let stars = offers(file).into_iter().filter(|offer| offer.name == EVERYTHING).map(|offer| offer.outward);
        let stars: Vec<String> = stars.collect();
        importers.named(&stars.iter().flat_map(|star| identifiers(star)).collect()).iter().any(has)
    };
    let passing = importers.passing_on(change.path).into_iter().take(FOLLOWED);
    passing.filter(|file| importers.out_of_sight(file).is_none() && clashes(file)).collect()
}

/// The names at the level of the file.
fn own_names(offers: &[Offer]) -> BTreeSet<&str> {
    offers.iter().filter(|offer| offer.owner.is_empty()).map(|offer| offer.name.as_str()).collect()
}

/// The names that a file has from others by imports of all their names, if these imports change.
pub(super) fn passed_on(workspace: &WorkspaceTexts, importers: &Importers, change: &OfferedChange) -> BTreeSet<String> {
    let stars = |offers: &[Offer]| -> BTreeSet<String> {
        offers.iter().filter(|offer| offer.name == EVERYTHING).map(|offer| offer.outward.clone()).collect()
    };
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::from([change.path.to_owned()]);
    let mut next: Vec<String> = stars(change.before).symmetric_difference(&stars(change.after)).cloned().collect();
    while let Some(star) = next.pop() {
        for file in importers.named(&identifiers(&star).collect()) {
            if seen.len() > FOLLOWED || !seen.insert(file.clone()) {
                continue;
            }
            let language = source_text::language_of(&file).unwrap_or(change.language);
            let offers = workspace.text(&file).and_then(|text| interface::offers(language, &text));
            let offers = offers.unwrap_or_default();
            names.extend(offers.iter().filter(|offer| offer.owner.is_empty()).map(|offer| offer.word().to_owned()));
            next.extend(stars(&offers));
        }
    }
    names.remove(EVERYTHING);
    names
}
