//! The uses of changed names in code that a checker may leave out: conditional code, and examples in comments.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::unlooked::Unread;
use sextant_store::workspace::source_text;
use sextant_text::symbols::interface::identifiers;
use sextant_text::symbols::language;
use sextant_text::symbols::unchecked_code::{self, UncheckedCode};

/// The files with unchecked code, by reason.
pub(super) type UncheckedFiles = BTreeMap<Unread, BTreeSet<String>>;

/// The uses of these words.
pub(super) struct UncheckedUses<'a> {
    words: &'a BTreeSet<String>,
    files: UncheckedFiles,
    /// The modules that are declared on a condition.
    modules: BTreeSet<String>,
}

impl<'a> UncheckedUses<'a> {
    pub(super) fn of(words: &'a BTreeSet<String>) -> Self {
        Self { words, files: BTreeMap::new(), modules: BTreeSet::new() }
    }

    pub(super) fn look(&mut self, file: &str, text: &str) {
        let Some(language) = source_text::language_of(file) else { return };
        let UncheckedCode { conditional, examples } = unchecked_code::of(language, text);
        let uses = |part: &String| identifiers(part).any(|word| self.words.contains(word));
        if conditional.iter().any(uses) {
            note(&mut self.files, Unread::Conditional, file);
        }
        if examples.iter().any(uses) {
            note(&mut self.files, Unread::Example, file);
        }
        let declared = conditional.iter().filter(|part| part.ends_with(';') && !part.contains('('));
        self.modules.extend(declared.filter_map(|part| identifiers(part).last()).map(str::to_owned));
    }

    /// The files of the uses, with those of these files that lie in a module on a condition.
    pub(super) fn with_modules(mut self, files: &[String]) -> UncheckedFiles {
        let is_in = |file: &&String| file.split(['/', '.']).any(|part| self.modules.contains(part));
        files.iter().filter(is_in).for_each(|file| note(&mut self.files, Unread::Conditional, file));
        self.files
    }
}

/// The file, if such code in it changes.
pub(super) fn changed(path: &str, before: &str, after: &str) -> UncheckedFiles {
    let mut files = UncheckedFiles::new();
    let Some(language) = language::of_path(path).filter(|language| language.unchecked.is_some()) else {
        return files;
    };
    let (before, after) = (unchecked_code::of(language, before), unchecked_code::of(language, after));
    let is_new = |known: &[String], parts: &[String]| parts.iter().any(|part| !known.contains(part));
    if is_new(&before.conditional, &after.conditional) {
        note(&mut files, Unread::Conditional, path);
    }
    if is_new(&before.examples, &after.examples) {
        note(&mut files, Unread::Example, path);
    }
    files
}

fn note(files: &mut UncheckedFiles, why: Unread, file: &str) {
    files.entry(why).or_default().insert(file.to_owned());
}
