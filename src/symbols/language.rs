//! The languages that Sextant can read as symbols: one table row each.

use std::sync::{Arc, OnceLock};

/// One language: how its files are known and how its symbols are found.
pub struct Language {
    /// The name LSP uses (`languageId`).
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    pub grammar: fn() -> tree_sitter::Language,
    /// The text of `queries/<name>/symbols.scm`. Captures: `@class` and `@function` with their `@name`,
    /// `@wrapper` (an enclosing node that belongs to the definition inside it) and `@comment`.
    pub query: &'static str,
    /// The text of `queries/<name>/imports.scm`. Captures: `@import`, `@comment`, and `@guard` with its `@guarded`
    /// block, which counts as an import where nothing else is in it.
    pub imports: &'static str,
    /// The text of `queries/<name>/interface.scm`: what a text offers to other files. The file says its captures.
    pub interface: &'static str,
    /// The words that a line begins with that makes names of other files usable.
    pub import_words: &'static [&'static str],
    /// Members by which the types of the standard library are fulfilled (`SupportsRead` by `read`).
    pub structural_members: &'static [&'static str],
    /// The word without which no class of a text is fulfilled by its members alone.
    pub structural_word: &'static str,
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
    imports: include_str!("../../queries/python/imports.scm"),
    interface: include_str!("../../queries/python/interface.scm"),
    import_words: &["import", "from"],
    structural_members: &["close", "fileno", "flush", "items", "keys", "read", "readline", "write"],
    structural_word: "Protocol",
    comment: "#",
}];

/// The language of a file by its extension; `None` where Sextant has no grammar.
pub fn of_path(path: &str) -> Option<&'static Language> {
    let extension = path.rsplit_once('.')?.1;
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
}

/// Bytes and lines of the longest text that is parsed: trees and what is compared in them take some 3 KB a line during
/// an edit, and no source that a person writes is as long.
const LARGEST_PARSED: usize = 1 << 20;
const MOST_LINES: usize = 60_000;

impl Language {
    /// The syntax tree of a text; `None` when the grammar does not fit the parser, and for a text that is too long to be
    /// worth its tree.
    pub fn tree(&self, text: &str) -> Option<tree_sitter::Tree> {
        if text.len() > LARGEST_PARSED || text.bytes().filter(|byte| *byte == b'\n').nth(MOST_LINES).is_some() {
            return None;
        }
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&(self.grammar)()).ok()?;
        parser.parse(text, None)
    }

    /// The compiled symbols query, compiled once for every row of [`LANGUAGES`].
    pub(crate) fn symbols_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        self.compiled(&COMPILED, self.query)
    }

    /// The compiled imports query, in the same way.
    pub(crate) fn imports_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        self.compiled(&COMPILED, self.imports)
    }

    /// The compiled interface query, in the same way.
    pub(crate) fn interface_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        self.compiled(&COMPILED, self.interface)
    }

    fn compiled(&self, known: &OnceLock<Compiled>, query: &str) -> Option<Arc<tree_sitter::Query>> {
        let compile = || tree_sitter::Query::new(&(self.grammar)(), query).ok().map(Arc::new);
        match LANGUAGES.iter().position(|row| std::ptr::eq(row, self)) {
            Some(row) => {
                let rows = known.get_or_init(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());
                rows[row].get_or_init(compile).clone()
            }
            None => compile(),
        }
    }
}

/// A query for each row of [`LANGUAGES`].
type Compiled = Vec<OnceLock<Option<Arc<tree_sitter::Query>>>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_compiles_and_names_its_captures() {
        let known: [&[&str]; 3] = [
            &["class", "function", "name", "wrapper", "comment"],
            &["import", "guard", "guarded", "comment"],
            &[
                "function",
                "class",
                "body",
                "shaped",
                "structural",
                "returns",
                "result",
                "end",
                "tail",
                "exit",
                "value",
                "constant",
                "attribute",
                "receiver",
                "global",
                "name",
                "type",
                "import",
                "star",
                "branch",
                "test",
                "literal",
                "effect",
                "own",
                "comment",
            ],
        ];
        for language in LANGUAGES {
            for (text, known) in [language.query, language.imports, language.interface].into_iter().zip(known) {
                let query = tree_sitter::Query::new(&(language.grammar)(), text)
                    .unwrap_or_else(|error| panic!("{}: {error}", language.name));
                for name in query.capture_names() {
                    // An underscore marks what only a predicate looks at.
                    assert!(known.contains(name) || name.starts_with('_'), "{}: @{name} means nothing", language.name);
                }
            }
            assert!(language.symbols_query().is_some() && language.imports_query().is_some());
            assert!(language.interface_query().is_some());
        }
    }

    #[test]
    fn a_file_is_known_by_its_extension() {
        assert_eq!(of_path("src/a.pyi").map(|l| l.name), Some("python"));
        assert!(of_path("Makefile").is_none() && of_path("a.py/b").is_none());
    }
}
