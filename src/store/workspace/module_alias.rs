//! Finds the imports of a file that may be aliases of other files: `#core`, `@lib`, the package of a monorepo.
//!
//! The name of a module that is no path and no installed package is configured somewhere. No configuration is read:
//! such an import may mean any file. Where a path is behind the name (`@/shop/cart`), its last part is the file's.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use crate::workspace::import_lines::lines_of_code;
use crate::workspace::module_settings::ModuleSettings;
use crate::workspace::root::Root;
use sextant_text::symbols::language::Language;

/// The words before the string that names a module.
const BEFORE: [&str; 4] = ["from", "import", "require", "mock"];

/// The aliases of a file; empty for one without a name.
pub(super) type Aliases = BTreeSet<String>;

/// True if a file with these aliases may import any file: no file has the name that an alias ends with, or the settings
/// give it another one.
pub(super) fn may_be_any(aliases: &Aliases, modules: &HashSet<&str>, settings: &ModuleSettings) -> bool {
    aliases.iter().any(|alias| {
        let (_, tail) = split(alias);
        let last = tail.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        last.is_empty() || !modules.contains(last) || settings.may_rename(alias, tail)
    })
}

/// The packages that lie in a workspace and above it, looked up once each.
pub(super) struct InstalledPackages<'a> {
    root: &'a Root,
    known: HashMap<PathBuf, bool>,
}

impl<'a> InstalledPackages<'a> {
    pub(super) fn of(root: &'a Root) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// The aliases in the imports of a file.
    pub(super) fn aliases(&mut self, language: &Language, path: &str, text: &str) -> Aliases {
        let mut found = Aliases::new();
        if language.macro_modules && text.lines().any(|line| names_macro(language, line)) {
            found.insert(String::new());
        }
        let Some(folder) = language.package_folder else { return found };
        let mut before = "";
        for (line, _) in
            lines_of_code(language, text).filter(|(line, is_comment)| !is_comment && !line.trim().is_empty())
        {
            for name in modules(before, line) {
                // An escape may stand for a sign.
                if name.contains('\\') {
                    found.insert(String::new());
                } else if is_bare(name) && !self.is_installed(folder, path, split(name).0) {
                    found.insert(name.to_owned());
                }
            }
            before = line;
        }
        found
    }

    /// Looks for this package in the folders of packages on the way up. A link to a package of the workspace itself does
    /// not count as installed.
    fn is_installed(&mut self, folder: &str, path: &str, package: &str) -> bool {
        let file = self.root.join(path);
        for above in file.ancestors().skip(1) {
            let place = above.join(folder).join(package);
            let known = self.known.get(&place).copied();
            let is_there = known.unwrap_or_else(|| {
                let real = std::fs::canonicalize(&place).ok();
                real.is_some_and(|real| {
                    let is_own = real.starts_with(self.root.path());
                    !is_own || real.components().any(|part| part.as_os_str() == folder)
                })
            });
            self.known.insert(place, is_there);
            if is_there {
                return true;
            }
        }
        false
    }
}

/// Recognizes a directive that names its module by a macro, which is defined elsewhere: `#include CONFIG`.
fn names_macro(language: &Language, line: &str) -> bool {
    let directive = language.directive.and_then(|mark| line.trim_start().strip_prefix(mark)).map(str::trim_start);
    let word = |word: &&&str| directive.is_some_and(|line| line.starts_with(**word));
    let named = language.import_words.iter().find(word).and_then(|word| directive?.strip_prefix(word));
    named.is_some_and(|name| name.starts_with([' ', '\t']) && name.trim_start().starts_with(is_name_start))
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The names of modules that a line behind another one imports.
fn modules<'a>(above: &'a str, line: &'a str) -> impl Iterator<Item = &'a str> {
    let is_import = move |before: &str| {
        let own = before.trim_end().trim_end_matches('(').trim_end();
        let before = if own.is_empty() { above.trim_end().trim_end_matches('(').trim_end() } else { own };
        BEFORE.iter().any(|word| before.ends_with(word))
    };
    let quotes = |c: char| matches!(c, '"' | '\'' | '`');
    let mut parts = line.split(quotes);
    let mut before = parts.next().unwrap_or_default();
    std::iter::from_fn(move || {
        loop {
            let name = parts.next()?;
            let found = is_import(before);
            before = parts.next().unwrap_or_default();
            if found {
                return Some(name);
            }
        }
    })
}

/// Recognizes the name of a module that is neither a path nor an address.
fn is_bare(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['.', '/']) && !name.contains([':', ' ', '$', '\\', '*', '?'])
}

/// The package and the path behind it: `@acme/shop` and `cart`.
fn split(name: &str) -> (&str, &str) {
    let is_scoped = name.starts_with('@') && !name.starts_with("@/");
    let slash = name.match_indices('/').nth(usize::from(is_scoped)).map(|(at, _)| at);
    slash.map_or((name, ""), |at| (&name[..at], &name[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::source_text;

    #[test]
    fn names_that_are_no_path_and_no_installed_package_are_aliases() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["node_modules/react", "node_modules/@acme", "packages/app", "packages/lib"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("../../packages/lib", dir.path().join("node_modules/@acme/pricing")).unwrap();
        let root = Root::new(dir.path()).unwrap();
        let mut packages = InstalledPackages::of(&root);
        for (line, aliases) in [
            ("import { total } from \"#core\";", &["#core"][..]),
            ("import { total } from '@acme/pricing';", &["@acme/pricing"]),
            ("export * from '@/shop/cart.js';", &["@/shop/cart.js"]),
            ("const m = await import(`@acme/pricing/deep/cart`);", &["@acme/pricing/deep/cart"]),
            ("const a = require('react'), b = require('#db');", &["#db"]),
            ("import React from 'react/jsx';", &[]),
            ("import { x } from './cart'; import fs from 'node:fs';", &[]),
            ("import { x } from\n\n  // here\n  '#far';", &["#far"]),
            ("import { x } from '.\\u002fcart';", &[""]),
            ("/* a glob\n * import '#core';\n */\nconst k = 2\n* 3; import '#db';", &["#db"]),
            ("const words = Array.of('#core', \"from\");", &[]),
        ] {
            let language = source_text::language_of("packages/app/a.ts").unwrap();
            let found = packages.aliases(language, "packages/app/a.ts", line);
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), aliases, "{line}");
        }
        let c = source_text::language_of("a.c").unwrap();
        for (text, is_any) in [
            ("#include CONFIG\n", true),
            ("  #  include  _CONF // here\n", true),
            ("#include \"a.h\"\n#include <b.h>\n#included x\n", false),
            ("// #include CONFIG\n#define include X\n", false),
        ] {
            assert_eq!(packages.aliases(c, "a.c", text).contains(""), is_any, "{text}");
        }
        let python = source_text::language_of("a.py").unwrap();
        assert!(packages.aliases(python, "a.py", "from \"x\" import y").is_empty());
    }
}
