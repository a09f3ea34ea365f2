//! The uses of changed names in code that a checker may leave out: conditional code, macros, and examples in comments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::diagnostics::untyped_files;
use crate::state::unlooked::Unread;
use sextant_base::path;
use sextant_store::workspace::source_text;
use sextant_text::symbols::interface::identifiers;
use sextant_text::symbols::language;
use sextant_text::symbols::unchecked_code::{self, Unchecked};

/// The files with unchecked code, by reason.
pub(super) type UncheckedFiles = BTreeMap<Unread, BTreeSet<String>>;

/// The uses of these words.
pub(super) struct UncheckedUses<'a> {
    /// Reads a file of the workspace.
    read: &'a dyn Fn(&str) -> Option<Arc<str>>,
    words: &'a BTreeSet<String>,
    files: UncheckedFiles,
    /// The modules that are declared in such code.
    modules: BTreeSet<String>,
}

impl<'a> UncheckedUses<'a> {
    pub(super) fn of(read: &'a dyn Fn(&str) -> Option<Arc<str>>, words: &'a BTreeSet<String>) -> Self {
        Self { read, words, files: BTreeMap::new(), modules: BTreeSet::new() }
    }

    pub(super) fn look(&mut self, file: &str, text: &str) {
        let Some(language) = source_text::language_of(file) else { return };
        let found = unchecked_code::of(language, file, text);
        let uses = |part: &String| identifiers(part).any(|word| self.words.contains(word));
        for (why, _) in found.parts.iter().filter(|(_, parts)| parts.iter().any(uses)) {
            note(&mut self.files, *why, file);
        }
        for (path, fences) in &found.examples_of {
            let Some(path) = beside(file, path) else { continue };
            let examples = (self.read)(&path).map(|text| fences.examples(&text)).unwrap_or_default();
            if examples.iter().any(uses) {
                note(&mut self.files, Unchecked::Example, &path);
            }
        }
        self.modules.extend(found.modules);
    }

    /// Notes a file that uses words that are gone, if nothing asks for a check of its types. Most other changes of an
    /// offer break nothing there.
    pub(super) fn look_at_types(&mut self, file: &str, text: &str, gone: &BTreeSet<&str>) {
        let uses = || identifiers(text).any(|word| gone.contains(word));
        if untyped_files::is_untyped(self.read, file, text) && uses() {
            self.files.entry(Unread::Untyped).or_default().insert(file.to_owned());
        }
    }

    /// The files of the uses, with those of these files that lie in such a module.
    pub(super) fn with_modules(mut self, files: &[String]) -> UncheckedFiles {
        let is_in = |file: &&String| file.split(['/', '.']).any(|part| self.modules.contains(part));
        files.iter().filter(is_in).for_each(|file| note(&mut self.files, Unchecked::Conditional, file));
        self.files
    }
}

/// The file, if such code in it changes, or uses a name that is gone from the rest of it.
pub(super) fn changed(path: &str, before: &str, after: &str) -> UncheckedFiles {
    let mut files = UncheckedFiles::new();
    let Some(language) = language::of_path(path).filter(|language| !language.unchecked.is_empty()) else {
        return files;
    };
    let [before, after] = [before, after].map(|text| unchecked_code::of(language, path, text));
    let kept: BTreeSet<&str> = identifiers(&after.checked).collect();
    let gone: BTreeSet<&str> = identifiers(&before.checked).filter(|word| !kept.contains(word)).collect();
    for (why, parts) in &after.parts {
        let is_known = |part: &String| before.parts.get(why).is_some_and(|known| known.contains(part));
        if parts.iter().any(|part| !is_known(part) || identifiers(part).any(|word| gone.contains(word))) {
            note(&mut files, *why, path);
        }
    }
    files
}

/// The path of a file that another one names from its own folder.
fn beside(file: &str, named: &str) -> Option<String> {
    let root = Path::new("/");
    path::relative(root, &root.join(file).parent()?.join(named))
}

fn note(files: &mut UncheckedFiles, why: Unchecked, file: &str) {
    files.entry(Unread::Unchecked(why)).or_default().insert(file.to_owned());
}
