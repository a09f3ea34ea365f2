//! The names that the settings of a project give to modules and packages. They only widen a look.

use std::collections::BTreeSet;

use crate::workspace::root::Root;
use crate::workspace::workspace_files;
use sextant_text::symbols::language::LANGUAGES;

/// Bytes of the largest settings that are read.
const LARGEST: u64 = 256 << 10;

/// The settings of a workspace.
#[derive(Debug, Default)]
pub(super) struct ModuleSettings {
    /// The strings in them.
    strings: BTreeSet<String>,
    /// The folders of packages, each of which may be imported by its own name.
    packages: Vec<String>,
}

impl ModuleSettings {
    /// Takes a file in, if it is one of settings.
    pub(super) fn take(&mut self, root: &Root, path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut rows = LANGUAGES.iter().filter_map(|language| language.package_file);
        let is_package = rows.any(|file| file == name);
        let is_config = name.ends_with(".json") && name.contains("config");
        if !is_package && !is_config {
            return;
        }
        if is_package && !folder.is_empty() {
            self.packages.push(folder.to_owned());
        }
        let text = workspace_files::text_up_to(root, path, LARGEST).unwrap_or_default();
        self.strings.extend(text.split('"').map(str::to_owned));
    }

    /// True if a name of a module may mean a file of another name.
    pub(super) fn may_rename(&self, module: &str, tail: &str) -> bool {
        let is_pattern = |text: &String| text.contains("*/") && text.matches('*').count() == 1;
        self.strings.contains(module)
            || self.strings.contains(&format!("./{tail}"))
            || self.strings.iter().any(is_pattern)
    }

    /// The names of the packages around a file.
    pub(super) fn packages_around<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let is_around = |folder: &&String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.packages.iter().filter(is_around).map(|folder| folder.rsplit('/').next().unwrap_or(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_modules_and_packages_are_known_by_their_folders() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("tsconfig.base.json", "{\"paths\": {\"x/util\": [\"./lib/a.ts\"]}}"),
            ("libs/pricing/package.json", "{\"exports\": {\"./deep/cart\": \"./src/other.ts\"}}"),
            ("other.json", "\"y/util\""),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(dir.path()).unwrap();
        let mut settings = ModuleSettings::default();
        for path in ["tsconfig.base.json", "libs/pricing/package.json", "other.json"] {
            settings.take(&root, path);
        }
        assert!(settings.may_rename("x/util", "util") && !settings.may_rename("y/util", "util"));
        assert!(settings.may_rename("@acme/pricing/deep/cart", "deep/cart") && !settings.may_rename("@/cart", "cart"));
        assert_eq!(settings.packages_around("libs/pricing/src/a.ts").collect::<Vec<_>>(), ["pricing"]);
        assert_eq!(settings.packages_around("libs/pricing2/a.ts").count(), 0);
        settings.strings.insert("./src/*/main.ts".to_owned());
        assert!(settings.may_rename("@/cart", "cart"), "a pattern in front of a file's name");
    }
}
