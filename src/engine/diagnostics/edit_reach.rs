//! The reach of an edit: the files that use a name which the edit removes or changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use crate::diagnostics::importer_chain::{self, ImporterChain};
use crate::diagnostics::line_reach;
use crate::diagnostics::unchecked_uses::{self, UncheckedFiles, UncheckedUses};
use crate::diagnostics::workspace_texts::{WorkspaceTexts, spelled};
use crate::state::unlooked::Unread;
use sextant_base::lock::lock;
use sextant_store::workspace::importers::{self, Importers};
use sextant_store::workspace::root::Root;
use sextant_text::symbols::interface::{self, ChangedWords, EVERYTHING, Offer, identifiers};
use sextant_text::symbols::language::{self, Language};
use sextant_text::symbols::spelled_text::SpelledText;

/// A file with its text before and after an edit.
#[derive(Clone, Debug)]
pub(crate) struct TextChange {
    pub(crate) path: String,
    /// `None` for a file that the edit makes.
    pub(crate) before: Option<Arc<str>>,
    pub(crate) after: Arc<str>,
}

impl TextChange {
    /// The change with one spelling for each name.
    fn spelled(&self) -> Self {
        let spelled = |text: &Arc<str>| spelled(&self.path, text);
        Self { path: self.path.clone(), before: self.before.as_ref().map(spelled), after: spelled(&self.after) }
    }

    /// True if the text becomes a module, or is one no more: all files saw its names, or see them now.
    fn turns(&self, language: &Language) -> bool {
        let was_script = self.before.as_deref().map(|before| importers::is_script(language, before));
        was_script.is_some_and(|was| was != importers::is_script(language, &self.after))
    }
}

/// The places that an edit may break.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditReach {
    /// The names that the edit removes or changes; without the names that follow from them.
    pub(crate) names: BTreeSet<String>,
    /// The files that use one of these names, or one that follows from them. The likeliest first.
    pub(crate) files: Vec<String>,
    /// Files in reach that are not opened, or not all of which is checked.
    pub(crate) unread: UncheckedFiles,
    /// True if there may be more, because the workspace is too large for a full search.
    pub(crate) more: bool,
    /// The places of names that a server can be asked about.
    pub(crate) places: Vec<NamePlace>,
    /// The files in reach for more than the use of a name that has a place.
    pub(crate) kept: BTreeSet<String>,
    /// The files that import a name that has a place. A server that knows all its uses knows these.
    pub(crate) importing: BTreeSet<String>,
}

/// The place that gives a name its meaning, in the text before an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamePlace {
    pub(crate) path: String,
    /// The byte at which it begins.
    pub(crate) offset: usize,
}

impl EditReach {
    /// The names in a few words.
    pub(crate) fn named(&self) -> String {
        let names: Vec<String> =
            self.names.iter().filter(|name| *name != EVERYTHING).map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => "what was changed".to_owned(),
            [one] => one.clone(),
            [one, other] => format!("{one} or {other}"),
            [one, other, rest @ ..] => format!("{one}, {other} or {} more", rest.len()),
        }
    }

    fn take_unread(&mut self, unread: UncheckedFiles) {
        unread.into_iter().for_each(|(why, files)| self.unread.entry(why).or_default().extend(files));
    }

    fn extend(&mut self, other: Self) {
        self.names.extend(other.names);
        let new: Vec<String> = other.files.into_iter().filter(|file| !self.files.contains(file)).collect();
        self.files.extend(new);
        self.take_unread(other.unread);
        self.more |= other.more;
        self.places.extend(other.places);
        self.kept.extend(other.kept);
        self.importing.extend(other.importing);
    }
}

/// The reach of changes that are made together. Open files come with their texts; the others are read from disk.
/// Blocks.
pub(crate) fn of(
    root: &Root,
    importers: &Arc<Mutex<Importers>>,
    open: &HashMap<String, Arc<str>>,
    changes: &[TextChange],
) -> EditReach {
    let workspace = WorkspaceTexts { root, open };
    let mut reach = EditReach::default();
    let mut is_current = false;
    for original in changes {
        let change = &original.spelled();
        let offered = language::of_path(&change.path).filter(|row| row.has_offers()).and_then(|language| {
            let before = change.before.as_deref().map_or(Some(Vec::new()), |text| interface::offers(language, text));
            Some((language, before?, interface::offers(language, &change.after)?))
        });
        let Some((language, before, after)) = offered else {
            reach.extend(line_reach::of(&workspace, change));
            continue;
        };
        let (old, turns) = (change.before.as_deref().unwrap_or_default(), change.turns(language));
        reach.take_unread(unchecked_uses::changed(&change.path, old, &change.after));
        let unreadable = interface::unreadable_words(language, old, &change.after);
        let reaches_all = change.before.is_none() || !unreadable.is_empty();
        if interface::changed_words(&before, &after, &|_| false).is_empty() && !reaches_all && !turns {
            continue;
        }
        let mut importers = lock(importers);
        if !is_current {
            importers.refresh(root, open);
            is_current = true;
        }
        let is_structural =
            |name: &str| language.structural_members.contains(&name) || importers.is_structural_member(name);
        let mut changed = interface::changed_words(&before, &after, &is_structural);
        changed.words.extend(unreadable);
        if reaches_all {
            // Names that cannot be read, or imports that resolve to this new module from now on.
            changed.words.insert(EVERYTHING.to_owned());
        } else if turns {
            let own = before.iter().chain(&after).filter(|offer| offer.owner.is_empty());
            changed.words.extend(own.map(|offer| offer.word().to_owned()));
        }
        let (path, text, made) = (change.path.as_str(), original.before.as_deref(), &*change.after);
        let offered = OfferedChange { path, language, text, before: &before, after: &after, made, turns };
        let clashing = importer_chain::clashing(&workspace, &importers, &offered);
        reach.extend(of_names(&workspace, &importers, &offered, changed));
        reach.extend(EditReach { kept: clashing.iter().cloned().collect(), files: clashing, ..EditReach::default() });
    }
    reach.files.retain(|file| !changes.iter().any(|change| change.path == *file));
    reach
}

/// A file with the names that it offers to others before and after an edit.
pub(super) struct OfferedChange<'a> {
    pub(super) path: &'a str,
    pub(super) language: &'static Language,
    /// The text before the edit as it stands.
    text: Option<&'a str>,
    /// The text after the edit, with one spelling for each name.
    made: &'a str,
    pub(super) before: &'a [Offer],
    pub(super) after: &'a [Offer],
    /// True if the text becomes a module, or is one no more.
    pub(super) turns: bool,
}

impl OfferedChange<'_> {
    /// True if all files see its names, before the edit or after it.
    pub(super) fn is_global(&self) -> bool {
        self.turns || importers::is_global(self.language, self.path, self.made)
    }

    /// True if all files see some of its names, before the edit or after it.
    pub(super) fn is_shared(&self) -> bool {
        let mut texts = self.text.into_iter().chain([self.made]);
        texts.any(|text| importers::is_shared(self.language, self.path, text))
    }

    /// True if a name stands at a place in the text before.
    fn is_at(&self, at: usize, name: &str) -> bool {
        self.text.and_then(|text| text.get(at..)).is_some_and(|rest| rest.starts_with(name))
    }

    /// The places of these names in the text before.
    fn placed(&self, names: &BTreeSet<String>) -> Vec<(String, usize)> {
        let Some(spelled) = self.text.map(|text| SpelledText::of(self.language, text)) else { return Vec::new() };
        let offers = interface::placed_offers(self.language, &spelled.text).unwrap_or_default();
        let placed = offers.into_iter().map(|(at, offer)| (offer.name, spelled.original(at)));
        placed.filter(|(name, at)| names.contains(name) && self.is_at(*at, name)).collect()
    }
}

/// The importers of a file that use one of its changed names, or one that follows from them in a file between.
fn of_names(
    workspace: &WorkspaceTexts,
    importers: &Importers,
    change: &OfferedChange,
    mut changed: ChangedWords,
) -> EditReach {
    let mut chain = ImporterChain::of(workspace, importers, change);
    changed.words.extend(chain.awaited(importers, change, &changed));
    if changed.words.contains(EVERYTHING) {
        changed.words.extend(importer_chain::passed_on(workspace, importers, change));
    }
    changed.follow(change.before, change.after);
    let (words, joining) = (chain.follow(importers, change, &changed), chain.unnamed(importers, change, &changed));
    let names = changed.all();
    let placed = change.placed(&names);
    let is_placed = |name: &str| placed.iter().any(|(known, _)| known == name);
    let others: BTreeSet<String> = words.union(&names).filter(|name| !is_placed(name)).cloned().collect();
    // A class that defines a member of this name may override the changed one.
    let overrides = |offer: &Offer| !offer.owner.is_empty() && is_placed(&offer.name);
    let behind = chain.behind_namesakes(importers, &is_placed);
    // Each module that offers everything of this one is named where a file has it from there.
    let mut passing = if names.contains(EVERYTHING) { importers.passing_on(change.path) } else { Vec::new() };
    passing.push(change.path.to_owned());
    let through_links = importers.through_links(change.path);
    let (mut reach, mut then) = (EditReach { more: importers.more, ..EditReach::default() }, Vec::new());
    for (at, file) in chain.importers() {
        let has = |word: &str| chain.words[at].contains(word);
        let is_unnamed = joining.contains(&at)
            || names.contains(EVERYTHING) && passing.iter().any(|module| importers.mentions_module(file, &has, module));
        let is_named = is_unnamed || chain.uses(at, &names);
        if !is_named && !chain.uses(at, &words) {
            continue;
        } else if let Some(why) = importer_chain::unread(importers, file) {
            reach.unread.entry(why).or_default().insert(file.clone());
            continue;
        }
        if through_links.contains(file) || importers.names_link(file, change.path) {
            reach.unread.entry(Unread::ThroughLink).or_default().insert(file.clone());
        }
        (if is_named { &mut reach.files } else { &mut then }).push(file.clone());
        let is_unlike = |word: &String| behind.get(word).is_some_and(|files| files.contains(file));
        if is_unnamed
            || chain.uses(at, &others)
            || chain.words[at].iter().any(is_unlike)
            || chain.offers.get(&at).is_none_or(|offers| offers.iter().any(overrides))
            || !workspace.is_plain(file)
        {
            reach.kept.insert(file.clone());
        }
        if importers.is_direct(file, change.path) && placed.iter().any(|(name, _)| importers.imports_name(file, name)) {
            reach.importing.insert(file.clone());
        }
    }
    reach.files.extend(then);
    let used = words.union(&names).filter(|word| *word != EVERYTHING).cloned().collect();
    reach.take_unread(unchecked(workspace, importers, &chain, change, &used, &reach.files));
    reach.places.extend(placed.into_iter().map(|(_, offset)| NamePlace { path: change.path.to_owned(), offset }));
    reach.names = names;
    reach
}

/// The files that use these words where no checker may read them.
fn unchecked(
    workspace: &WorkspaceTexts,
    importers: &Importers,
    chain: &ImporterChain,
    change: &OfferedChange,
    words: &BTreeSet<String>,
    files: &[String],
) -> UncheckedFiles {
    let read = |path: &str| workspace.text(path);
    let mut uses = UncheckedUses::of(&read, words);
    uses.look(change.path, change.made);
    let made: BTreeSet<&str> = identifiers(change.made).collect();
    let gone: BTreeSet<&str> = words.iter().map(String::as_str).filter(|word| !made.contains(word)).collect();
    chain.each_text(|file, text| {
        uses.look(file, text);
        uses.look_at_types(file, text, &gone);
    });
    // A file in reach may instantiate what it has from elsewhere.
    let is_instantiated = change.language.unchecked.contains("@instantiated");
    let behind = if is_instantiated { importers.imported_by(files, importer_chain::FOLLOWED) } else { Vec::new() };
    for (file, text) in behind.iter().filter_map(|file| Some((file, workspace.text(file)?))) {
        if identifiers(&text).any(|word| words.contains(word)) {
            uses.look(file, &text);
        }
    }
    uses.with_modules(files)
}

#[cfg(test)]
mod fixture_tests;

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = "def make_item(name: str) -> str:\n    return name\n\n\ndef base():\n    return 1\n";

    fn reach(files: &[(&str, &str)], after: &str) -> EditReach {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let before = Some(files[0].1.into());
        let change = TextChange { path: files[0].0.to_owned(), before, after: after.into() };
        of(&Root::new(dir.path()).unwrap(), &Arc::default(), &HashMap::new(), &[change])
    }

    #[test]
    fn a_removed_name_reaches_its_users_and_nobody_else() {
        let files = [
            ("shop/item.py", ITEM),
            ("shop/__init__.py", "from .item import make_item\n"),
            ("app.py", "import shop\nshop.make_item('x')\n"),
            ("same.py", "def make_item():\n    pass\n"),
            ("base.py", "from shop.item import base\n"),
        ];
        let found = reach(&files, "def base():\n    return 1\n");
        assert_eq!(found.files, ["shop/__init__.py", "app.py"]);
        assert_eq!(found.named(), "`make_item`");
        let files = [files[0], ("nfkc.py", "import shop.item\nshop.item.ᵐake_item('x')\n")];
        assert_eq!(reach(&files, "def base():\n    return 1\n").files, ["nfkc.py"]);
        let body = reach(&files, &ITEM.replace("return name", "return name + name"));
        assert_eq!(body, EditReach::default());
    }

    #[test]
    fn a_type_that_follows_is_followed_through_the_files_between() {
        let files = [
            ("item.py", ITEM),
            ("middle.py", "import item\n\n\ndef doubled():\n    return item.base() * 2\n"),
            ("end.py", "import middle\n\nprint(middle.doubled() + 1)\n"),
            ("other.py", "import middle\n"),
        ];
        let found = reach(&files, &ITEM.replace("return 1", "return str(1)"));
        assert_eq!(found.files, ["middle.py", "end.py"]);
        assert_eq!(found.named(), "`base`");
    }

    #[test]
    fn files_behind_a_wrapper_of_the_same_name_are_kept_whatever_references_say() {
        let files = [
            ("item.py", ITEM),
            ("mid.py", "import item\n\n\ndef base():\n    return item.base()\n"),
            ("end.py", "import mid\n\nprint(mid.base())\n"),
            ("same.py", "import item\n\n\ndef base() -> int:\n    return 2\n"),
        ];
        let found = reach(&files, &ITEM.replace("return 1", "return str(1)"));
        assert_eq!(found.files, ["mid.py", "same.py", "end.py"]);
        assert!(found.kept.contains("end.py") && !found.kept.contains("same.py"), "{:?}", found.kept);
    }

    #[test]
    fn names_that_star_imports_pass_on_are_followed_through_any_number_of_files() {
        let files = [
            ("shop/api.py", "from .core import *\n"),
            ("shop/core.py", "def feature() -> int:\n    return 1\n"),
            ("shop/__init__.py", "from .api import *\n"),
            ("app.py", "from shop import feature\n"),
            ("mid.py", "from shop import *\n\n\ndef twice():\n    return feature() * 2\n"),
            ("end.py", "from mid import twice\n"),
        ];
        let found = reach(&files, "X = 1\n").files;
        for file in ["shop/__init__.py", "app.py", "mid.py", "end.py"] {
            assert!(found.contains(&file.to_owned()), "{file}: {found:?}");
        }
    }

    #[test]
    fn a_new_member_reaches_the_classes_that_inherit_it_beside_another_base() {
        let files = [
            ("item.py", "class Item:\n    size = 1\n"),
            ("shop.py", "from item import Item\n\n\nclass Shop(Item):\n    pass\n"),
            ("both.py", "from shop import Shop\nfrom other import Other\n\n\nclass Both(Other, Shop):\n    pass\n"),
            ("one.py", "from shop import Shop\n\n\nclass One(Shop, metaclass=M):\n    pass\n"),
        ];
        let found = reach(&files, "class Item:\n    size = 1\n\n    def pay(self) -> None: ...\n");
        assert_eq!(found.files, ["both.py"]);
        assert!(found.kept.contains("both.py"));
    }

    #[test]
    fn a_notebook_is_kept_since_no_server_is_asked_about_it() {
        let notebook = r#"{"cells": [{"cell_type": "code", "source": "import item\nitem.base()"}]}"#;
        let found = reach(&[("item.py", ITEM), ("a.ipynb", notebook)], &ITEM.replace("return 1", "return str(1)"));
        assert_eq!(found.files, ["a.ipynb"]);
        assert!(found.kept.contains("a.ipynb"));
    }

    #[test]
    fn without_symbols_the_identifiers_of_the_changed_lines_count() {
        let files = [
            ("a.kt", "val total = 1\nval other = 2\n"),
            ("b.kt", "println(total)\n"),
            ("c.kt", "println(other)\n"),
            ("d.scala", "val x = total\n"),
            ("d.md", "total\n"),
        ];
        let found = reach(&files, "val total = 'x'\nval other = 2\n");
        assert_eq!(found.files, ["b.kt", "d.scala"]);
    }
}
