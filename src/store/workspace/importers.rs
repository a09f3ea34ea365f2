//! Finds the imports between the files of a workspace, read from the lines with an import word.
//!
//! The reading is by words: a line that mentions the name of a module counts as an import of every module of that name.
//! It names too many files rather than too few, and works without a search path or an environment.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::workspace::disk_stamp::DiskStamp;
use crate::workspace::import_lines::{forced_imports, import_words, module_name, module_names, names_module};
use crate::workspace::known_folders::KnownFolders;
use crate::workspace::module_alias::{Aliases, InstalledPackages, may_be_any};
use crate::workspace::module_settings::ModuleSettings;
use crate::workspace::root::Root;
use crate::workspace::source_text;
use crate::workspace::unlisted_files::{self, OutOfSight};
use crate::workspace::workspace_files::{self, MOST_FILES};
use sextant_text::symbols::interface::{self, EVERYTHING, identifiers};
use sextant_text::symbols::language::{ImportForm, Language, Sharing};
use sextant_text::symbols::spelled_text::SpelledText;

/// The import lines of a workspace, each file read again when it changes.
#[derive(Debug, Default)]
pub struct Importers {
    /// The folders of the listed files, and those of the unlisted ones.
    listed: KnownFolders,
    unlisted: KnownFolders,
    files: HashMap<String, ImportLines>,
    /// The names of files that the settings of a compiler include everywhere.
    forced: BTreeSet<String>,
    settings: ModuleSettings,
    /// The files that are not opened.
    out_of_sight: BTreeMap<String, OutOfSight>,
    /// The links in the workspace, with their targets in it.
    links: Vec<(String, String)>,
    /// True if the workspace has more files than are listed.
    pub more: bool,
}

#[derive(Debug)]
struct ImportLines {
    /// `None` for a text that is open.
    stamp: Option<DiskStamp>,
    words: BTreeSet<String>,
    /// The names in its imports that may be aliases.
    aliases: Aliases,
    /// The members of its classes that others fulfil by their members alone.
    structural: BTreeSet<String>,
    language: &'static Language,
    sharing: Sharing,
}

impl ImportLines {
    fn of(packages: &mut InstalledPackages<'_>, language: &'static Language, path: &str, text: &str) -> Self {
        let text = &*SpelledText::of(language, text).text;
        let aliases = packages.aliases(language, path, text);
        let (mut words, structural) = (import_words(language, path, text), structural_members(language, text));
        words.extend(language.implied_imports.iter().map(|word| (*word).to_owned()));
        let sharing = if is_shared(language, path, text) { Sharing::Everywhere } else { language.sharing };
        Self { stamp: None, words, aliases, structural, language, sharing }
    }

    fn names(&self, path: &str) -> bool {
        names_module(path, &|word| self.words.contains(word))
    }
}

impl Importers {
    /// Reads the changes on disk since the last time. Open files are given with their texts. Blocks.
    pub fn refresh(&mut self, root: &Root, open: &HashMap<String, Arc<str>>) {
        let listing = workspace_files::list_again(root, &mut self.listed, MOST_FILES);
        let unlisted = unlisted_files::of(root, &mut self.unlisted);
        self.more = listing.more || unlisted.more;
        self.links = unlisted.links;
        self.out_of_sight = unlisted.files.iter().filter_map(|(file, why)| Some((file.clone(), (*why)?))).collect();
        self.out_of_sight.retain(|file, _| !open.contains_key(file));
        let mut known = std::mem::take(&mut self.files);
        let mut packages = InstalledPackages::of(root);
        self.forced.clear();
        self.settings = ModuleSettings::default();
        for path in listing.files.into_iter().chain(unlisted.files.into_keys()) {
            self.forced.extend(forced_imports(root, &path));
            self.settings.take(root, &path);
            let listed = source_text::language_of(&path).filter(|language| !language.import_words.is_empty());
            let Some(language) = listed else { continue };
            let Ok(found) = std::fs::metadata(root.join(&path)) else { continue };
            let stamp = Some(DiskStamp::of(&found));
            let lines = known.remove(&path).filter(|lines| lines.stamp == stamp);
            let lines = lines.or_else(|| {
                let text = source_text::of(root, self.target(&path))?;
                Some(ImportLines { stamp, ..ImportLines::of(&mut packages, language, &path, &text) })
            });
            if let Some(lines) = lines {
                self.files.insert(path, lines);
            }
        }
        for (path, text) in open {
            if let Some(language) = source_text::language_of(path).filter(|language| !language.import_words.is_empty())
            {
                self.files.insert(path.clone(), ImportLines::of(&mut packages, language, path, text));
            }
        }
    }

    /// The reason for which a file is not opened, if there is one.
    pub fn out_of_sight(&self, file: &str) -> Option<OutOfSight> {
        self.out_of_sight.get(file).copied()
    }

    /// The file that a path leads to, where the path is a link.
    pub fn target<'a>(&'a self, path: &'a str) -> &'a str {
        self.links.iter().find(|(link, _)| link == path).map_or(path, |(_, target)| target)
    }

    /// The other paths of a file, through links to it or to a folder above it.
    fn other_paths(&self, file: &str) -> Vec<String> {
        let behind = |(link, target): &(String, String)| {
            let rest = file.strip_prefix(target.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{link}{rest}"))
        };
        self.links.iter().filter_map(behind).collect()
    }

    /// True if a file names a link on another path of this one, and so may import it by that path.
    pub fn names_link(&self, importer: &str, path: &str) -> bool {
        let leads = |(_, target): &&(String, String)| {
            path.strip_prefix(target.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let lines = self.files.get(importer);
        let is_named = |(link, _): &(String, String)| {
            let name = link.rsplit('/').next().unwrap_or(link).split('.').next().unwrap_or_default();
            !path.split(['/', '.']).any(|part| part == name)
                && lines.is_some_and(|lines| identifiers(name).all(|word| lines.words.contains(word)))
        };
        self.links.iter().filter(leads).any(is_named)
    }

    /// True if a class somewhere is fulfilled by a member of this name.
    pub fn is_structural_member(&self, name: &str) -> bool {
        self.files.values().any(|lines| lines.structural.contains(name))
    }

    /// True if a file lists a name of another in its imports, or imports all of them.
    pub fn imports_name(&self, importer: &str, name: &str) -> bool {
        let words = self.files.get(importer).map(|lines| &lines.words);
        words.is_some_and(|words| words.contains(name) || words.contains(EVERYTHING))
    }

    /// True if a file that mentions a name of another can mean that one.
    pub fn may_import_name(&self, importer: &str, name: &str) -> bool {
        let is_whole = |lines: &ImportLines| lines.language.import_form == ImportForm::Whole;
        self.imports_name(importer, name) || self.files.get(importer).is_some_and(is_whole)
    }

    /// True if a file imports another without a third between them.
    pub fn is_direct(&self, importer: &str, path: &str) -> bool {
        self.files.get(importer).is_some_and(|lines| lines.names(path) || self.names_package(lines, path))
    }

    /// True if a file names a package around another one, whose first file that one may be.
    fn names_package(&self, lines: &ImportLines, path: &str) -> bool {
        let is_named = |name: &str| identifiers(name).all(|word| lines.words.contains(word));
        lines.language.package_file.is_some() && self.settings.packages_around(path).any(is_named)
    }

    /// True if a file with these words may name another one as a whole.
    pub fn mentions_module(&self, file: &str, has: &dyn Fn(&str) -> bool, path: &str) -> bool {
        match self.files.get(file).map(|lines| lines.language.import_form) {
            None | Some(ImportForm::Statement) => has(module_name(path)),
            Some(_) => self.is_direct(file, path),
        }
    }

    /// The files that offer everything of this one as their own, by an import of all its names.
    pub fn passing_on(&self, path: &str) -> Vec<String> {
        let mut found = vec![path.to_owned()];
        let mut at = 0;
        while let Some(file) = found.get(at).cloned() {
            let kin = kin(&file);
            let is_all = |lines: &ImportLines| {
                lines.words.contains(EVERYTHING) || lines.language.import_form == ImportForm::Whole
            };
            let passes = |lines: &ImportLines| is_all(lines) && lines.language.kin == kin && lines.names(&file);
            let passing = self.files.iter().filter(|(file, lines)| passes(lines) && !found.contains(*file));
            let mut passing: Vec<String> = passing.map(|(file, _)| file.clone()).collect();
            passing.sort_unstable();
            found.extend(passing);
            at += 1;
        }
        found.split_off(1)
    }

    /// The files that an import of one of these names may mean.
    pub fn named(&self, names: &BTreeSet<&str>) -> Vec<String> {
        let is_named =
            |file: &&String| module_names(file).is_some() && names_module(file, &|word| names.contains(word));
        let mut found: Vec<String> = self.files.keys().filter(is_named).cloned().collect();
        found.sort_unstable();
        found
    }

    /// The files that import this one, in one line or through others, or that need no import; the nearest first, then
    /// by name.
    pub fn of(&self, path: &str) -> Vec<String> {
        self.importing(path, true)
    }

    /// The files that these import, in one line or through others, without these; at most so many.
    pub fn imported_by(&self, files: &[String], most: usize) -> Vec<String> {
        let mut by_word: HashMap<&str, Vec<&str>> = HashMap::new();
        for file in self.files.keys() {
            let first = module_names(file).into_iter().flatten().filter_map(|name| identifiers(name).next());
            first.for_each(|word| by_word.entry(word).or_default().push(file));
        }
        let mut seen: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let mut next: VecDeque<&str> = seen.iter().copied().collect();
        let mut found = Vec::new();
        while let Some(lines) = next.pop_front().map(|file| self.files.get(file)) {
            let Some(lines) = lines else { continue };
            let candidates = lines.words.iter().filter_map(|word| by_word.get(word.as_str())).flatten().copied();
            let is_imported = |other: &&str| kin(other) == lines.language.kin && lines.names(other);
            let mut imported: Vec<&str> = candidates.filter(is_imported).collect();
            imported.sort_unstable();
            for other in imported {
                if found.len() < most && seen.insert(other) {
                    found.push(other.to_owned());
                    next.push_back(other);
                }
            }
        }
        found
    }

    /// Those that import a file only by a path with a link in it.
    pub fn through_links(&self, path: &str) -> BTreeSet<String> {
        let with_links = || self.importing(path, true).into_iter().collect();
        let mut found: BTreeSet<String> = if self.links.is_empty() { BTreeSet::new() } else { with_links() };
        if !found.is_empty() {
            self.importing(path, false).iter().for_each(|file| _ = found.remove(file));
        }
        found
    }

    fn importing(&self, path: &str, follows_links: bool) -> Vec<String> {
        let mut by_word: HashMap<&str, Vec<&str>> = HashMap::new();
        for (file, lines) in &self.files {
            lines.words.iter().for_each(|word| by_word.entry(word).or_default().push(file));
        }
        let aliased = self.aliased();
        let mut found: Vec<String> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::from([path]);
        let mut next: VecDeque<&str> = VecDeque::from([path]);
        while let Some(file) = next.pop_front() {
            let mut direct = self.direct(&by_word, file);
            for other in if follows_links { self.other_paths(file) } else { Vec::new() } {
                direct.extend(self.direct(&by_word, &other));
            }
            if self.forced.contains(file.rsplit('/').next().unwrap_or(file)) {
                direct.extend(self.sharers(file, Sharing::Everywhere));
            }
            let kin = kin(file);
            direct.extend(aliased.iter().filter(|(_, of)| *of == kin).map(|(file, _)| *file));
            direct.sort_unstable();
            for importer in direct {
                if seen.insert(importer) {
                    found.push(importer.to_owned());
                    next.push_back(importer);
                }
            }
        }
        let sharing = self.files.get(path).map(|lines| lines.sharing).or_else(|| Some(language(path)?.sharing));
        let mut sharers: Vec<&str> = self.sharers(path, sharing.unwrap_or(Sharing::Nowhere)).collect();
        sharers.retain(|file| !seen.contains(file));
        sharers.sort_unstable();
        found.extend(sharers.into_iter().map(str::to_owned));
        found
    }

    /// The files with an import that may mean any file, with the kin of their languages.
    fn aliased(&self) -> Vec<(&str, &'static str)> {
        let modules: HashSet<&str> = self.files.keys().map(|file| module_name(file)).collect();
        let files = self.files.iter().filter(|(_, lines)| may_be_any(&lines.aliases, &modules, &self.settings));
        files.map(|(file, lines)| (file.as_str(), lines.language.kin)).collect()
    }

    /// The files whose import lines may name this one.
    fn direct<'a>(&'a self, by_word: &HashMap<&str, Vec<&'a str>>, path: &str) -> Vec<&'a str> {
        let kin = kin(path);
        let is_kin = |file: &&str| self.files.get(*file).is_some_and(|lines| lines.language.kin == kin);
        let Some(names) = module_names(path) else {
            return self.files.keys().map(String::as_str).filter(is_kin).collect();
        };
        let packages = self.settings.packages_around(path);
        let first = names.into_iter().chain(packages).filter_map(|name| identifiers(name).next());
        let candidates = first.flat_map(|word| by_word.get(word).into_iter().flatten()).copied().filter(is_kin);
        candidates.filter(|file| self.is_direct(file, path)).collect()
    }

    /// The files that see the names of this one while it is no module.
    pub fn everywhere(&self, path: &str) -> Vec<String> {
        let mut found: Vec<String> = self.sharers(path, Sharing::Everywhere).map(str::to_owned).collect();
        found.sort_unstable();
        found
    }

    /// The files that need no import to use the names of this one.
    fn sharers(&self, path: &str, sharing: Sharing) -> impl Iterator<Item = &str> {
        let (kin, own) = (kin(path), folder(path));
        let is_sharer = move |file: &str| match sharing {
            Sharing::Nowhere => false,
            Sharing::Folder => folder(file) == own,
            Sharing::Everywhere => true,
        };
        let of_kin = self.files.iter().filter(move |(_, lines)| lines.language.kin == kin);
        of_kin.map(|(file, _)| file.as_str()).filter(move |file| is_sharer(file))
    }
}

/// True if a text is no module, so that all files see its names.
pub fn is_script(language: &Language, text: &str) -> bool {
    let first = |line: &str| line.trim_start().split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
    let is_module = |line| first(line).is_some_and(|word| language.module_words.contains(&word.as_str()));
    !language.module_words.is_empty() && !text.lines().any(is_module)
}

/// True if all files see the names of a text.
pub fn is_global(language: &Language, path: &str, text: &str) -> bool {
    is_script(language, text) || language.global_files.contains(&module_name(path))
}

/// True if all files see some of the names of a text, or what it adds to those of others.
pub fn is_shared(language: &Language, path: &str, text: &str) -> bool {
    is_global(language, path, text) || language.global_marks.iter().any(|mark| text.contains(mark))
}

fn language(path: &str) -> Option<&'static Language> {
    source_text::language_of(path)
}

fn kin(path: &str) -> &'static str {
    language(path).map_or("", |language| language.kin)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The members of the structural classes of a file, which is parsed only if it names one.
fn structural_members(language: &Language, text: &str) -> BTreeSet<String> {
    match language.structural_word {
        Some(word) if text.contains(word) => interface::structural_members(language, text),
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests;
