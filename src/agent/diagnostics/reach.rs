//! The reach of an edit: the files that use a name which the edit removes or changes.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

use crate::agent::state::reach::ending;
use crate::base::lock::lock;
use crate::symbols::interface::{self, ChangedWords, EVERYTHING, Offer, identifiers};
use crate::symbols::language::{self, Language};
use crate::workspace::files;
use crate::workspace::importers::Importers;
use crate::workspace::root::Root;

/// Letters of the shortest identifier that counts where a language has no symbols.
const SHORTEST: usize = 3;
/// Files that are looked through where a language has no symbols.
const LISTED: usize = 20_000;
/// Files whose names are followed to further files. Each is parsed.
const FOLLOWED: usize = 400;

/// A file with its text before and after an edit.
#[derive(Clone, Debug)]
pub(crate) struct TextChange {
    pub(crate) path: String,
    /// `None` for a file that the edit makes.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// Where an edit may break something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditReach {
    /// The names that the edit removes or changes; without those that follow from them.
    pub(crate) names: BTreeSet<String>,
    /// The files that use one of these, or of those that follow from them. The likeliest first.
    pub(crate) files: Vec<String>,
    /// Whether there may be more, because the workspace is too large to be looked through.
    pub(crate) more: bool,
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

    fn extend(&mut self, other: Self) {
        self.names.extend(other.names);
        let new: Vec<String> = other.files.into_iter().filter(|file| !self.files.contains(file)).collect();
        self.files.extend(new);
        self.more |= other.more;
    }
}

/// The reach of changes that are made together. Reads files of the disk. Blocks.
pub(crate) fn of(root: &Root, importers: &Arc<Mutex<Importers>>, changes: &[TextChange]) -> EditReach {
    let mut reach = EditReach::default();
    let mut is_current = false;
    for change in changes {
        let Some(language) = language::of_path(&change.path) else {
            reach.extend(of_lines(root, change));
            continue;
        };
        let offers = |text: &str| interface::offers(language, text).unwrap_or_default();
        let before = change.before.as_deref().map(offers).unwrap_or_default();
        let mut changed = interface::changed_words(&before, &offers(&change.after));
        if change.before.is_none() {
            // An import that found another module of this name, or none, finds this one.
            changed.words.insert(EVERYTHING.to_owned());
        }
        if changed.is_empty() {
            continue;
        }
        let mut importers = lock(importers);
        if !is_current {
            importers.refresh(root);
            is_current = true;
        }
        reach.extend(of_names(root, &importers, (&change.path, language), &changed));
    }
    reach.files.retain(|file| !changes.iter().any(|change| change.path == *file));
    reach
}

/// The importers of a file that use one of its changed names, or one that follows from them in a file between.
fn of_names(
    root: &Root,
    importers: &Importers,
    (path, language): (&str, &'static Language),
    changed: &ChangedWords,
) -> EditReach {
    let chain = importers.of(path);
    let texts: Vec<(&String, String)> =
        chain.iter().filter_map(|file| Some((file, files::text(root, file)?))).collect();
    let used: Vec<HashSet<&str>> = texts.iter().map(|(_, text)| identifiers(text).collect()).collect();
    let uses = |at: usize, words: &BTreeSet<String>| words.iter().any(|word| used[at].contains(word.as_str()));
    let mut words = changed.words.clone();
    let mut offers: BTreeMap<usize, Vec<Offer>> = BTreeMap::new();
    loop {
        let known = words.len();
        for at in (0..texts.len()).filter(|at| uses(*at, &words)).take(FOLLOWED).collect::<Vec<_>>() {
            let offers =
                offers.entry(at).or_insert_with(|| interface::offers(language, &texts[at].1).unwrap_or_default());
            let more: Vec<String> = interface::following(offers, &words).map(str::to_owned).collect();
            words.extend(more);
        }
        if words.len() == known {
            break;
        }
    }
    let names = changed.all();
    let of_module = names.contains(EVERYTHING);
    let is_named = |at: usize| uses(at, &names) || (of_module && importers.is_direct(texts[at].0, path));
    let (mut first, mut then) = (Vec::new(), Vec::new());
    for (at, (file, _)) in texts.iter().enumerate() {
        if is_named(at) {
            first.push((*file).clone());
        } else if uses(at, &words) {
            then.push((*file).clone());
        }
    }
    first.extend(then);
    EditReach { names, files: first, more: importers.more }
}

/// The files of the same kind in which an identifier of a changed line stands.
fn of_lines(root: &Root, change: &TextChange) -> EditReach {
    let kind = ending(&change.path);
    let Some(before) = &change.before else { return EditReach::default() };
    let (old, new): (HashSet<&str>, HashSet<&str>) = (before.lines().collect(), change.after.lines().collect());
    let changed = old.symmetric_difference(&new).flat_map(|line| identifiers(line));
    let is_name = |word: &&str| word.len() >= SHORTEST && !word.starts_with(|c: char| c.is_ascii_digit());
    let names: BTreeSet<String> = changed.filter(is_name).map(str::to_owned).collect();
    if names.is_empty() || kind.is_empty() {
        return EditReach::default();
    }
    let listing = files::list(root, "", LISTED);
    let uses = |file: &String| {
        let text = files::text(root, file).unwrap_or_default();
        identifiers(&text).any(|word| names.contains(word))
    };
    let alike = listing.files.into_iter().filter(|file| ending(file) == kind && *file != change.path);
    let files = alike.filter(uses).collect();
    EditReach { names, files, more: listing.more }
}

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
        let before = Some(files[0].1.to_owned());
        let change = TextChange { path: files[0].0.to_owned(), before, after: after.to_owned() };
        of(&Root::new(dir.path()).unwrap(), &Arc::default(), &[change])
    }

    #[test]
    fn a_removed_name_reaches_whoever_uses_it_and_nobody_else() {
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
    fn without_symbols_the_identifiers_of_the_changed_lines_count() {
        let files = [
            ("a.ts", "export const total = 1;\nexport const other = 2;\n"),
            ("b.ts", "import { total } from './a';\n"),
            ("c.ts", "import { other } from './a';\n"),
            ("d.md", "total\n"),
        ];
        let found = reach(&files, "export const total = 'x';\nexport const other = 2;\n");
        assert_eq!(found.files, ["b.ts"]);
    }
}
