//! The imports that a scope of symbols may change along: those of the symbols' files.

use crate::state::edit_request::EditRequest;
use crate::state::task_scope::Scope;
use sextant_text::symbols::{imports, language};

impl Scope {
    /// Like [`Self::names`], with the imports that may change along.
    pub(crate) fn described(&self) -> Vec<String> {
        let mut names = self.names();
        let mut files: Vec<&str> = Vec::new();
        for symbol in self.symbols().iter().filter(|symbol| self.lends_imports(&symbol.file)) {
            if !files.contains(&symbol.file.as_str()) {
                files.push(&symbol.file);
            }
        }
        if !files.is_empty() {
            names.push(format!("the imports of {}", files.join(" and ")));
        }
        names
    }

    /// True if the imports of a file may change because a symbol of it may.
    pub(crate) fn lends_imports(&self, file: &str) -> bool {
        let mut own = self.symbols().iter().filter(|own| own.file == file).peekable();
        own.peek().is_some()
            && own.all(|own| !own.names.is_empty())
            && language::of_path(file).is_some()
            && !self.whole_files().iter().any(|whole| whole == file)
    }

    /// The files whose imports an edit changes along with a symbol.
    pub(crate) fn imports_changed(&self, wanted: &[EditRequest]) -> Vec<String> {
        let changes = |want: &&EditRequest| -> bool {
            let (Some(document), Some(after)) = (want.document(), want.after()) else { return false };
            let Some(language) = language::of_path(&document.path) else { return false };
            self.lends_imports(&document.path)
                && imports::imports(language, &document.text) != imports::imports(language, after)
        };
        wanted.iter().filter(changes).map(|want| want.path().to_owned()).collect()
    }
}
