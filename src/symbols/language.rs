//! The languages that Sextant can read as symbols: one table row each.

/// One language: how its files are known and how its symbols are found.
pub struct Language {
    /// The name LSP uses (`languageId`).
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    pub grammar: fn() -> tree_sitter::Language,
    /// The text of `queries/<name>/symbols.scm`.
    pub query: &'static str,
    /// What starts a line comment.
    pub comment: &'static str,
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub static LANGUAGES: &[Language] = &[Language {
    name: "python",
    extensions: &["py", "pyi"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    query: include_str!("../../queries/python/symbols.scm"),
    comment: "#",
}];

/// The language of a file by its extension; `None` where Sextant has no grammar.
pub fn of_path(path: &str) -> Option<&'static Language> {
    let extension = path.rsplit_once('.')?.1;
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
}
