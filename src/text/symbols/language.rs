//! The languages that Sextant can read as symbols: one table row each.

use std::sync::{Arc, OnceLock};

use crate::symbols::recent_texts::RecentTexts;
use crate::symbols::spelled_text::{Escape, NormalForm};
use crate::symbols::symbol_kind::SymbolKind;

pub use crate::symbols::language_table::LANGUAGES;

/// One language: how its files are known, how its symbols are found, and how its code is laid out.
#[derive(Clone, Copy)]
pub struct Language {
    /// The name LSP uses (`languageId`).
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    /// Whole names of files that have no extension.
    pub file_names: &'static [&'static str],
    pub grammar: fn() -> tree_sitter::Language,
    /// The text of `queries/<folder>/symbols.scm`; `src/text/symbols/outline/definitions.rs` explains its captures.
    pub query: &'static str,
    /// The text of `queries/<folder>/imports.scm`. Captures: `@import`, `@comment`, and `@guard` with its `@guarded`
    /// block, an import if it holds nothing else; `@opening` stands above all imports. Empty if they are not known.
    pub imports: &'static str,
    /// The text of `queries/<folder>/interface.scm`: the offer of a text to other files. The file explains its
    /// captures. Empty where the offer is not known.
    pub interface: &'static str,
    /// The text of `queries/<folder>/hidden.scm`: what a text hides from other files, where all the rest is its offer.
    /// `src/text/symbols/interface/visible_offers.rs` explains its captures. Empty where that is not known.
    pub hidden: &'static str,
    /// The text of `queries/<folder>/modifiers.scm`: the words before a name that a new text must not lose.
    /// `src/text/symbols/modifiers.rs` explains its captures. Empty in a language without any.
    pub modifiers: &'static str,
    /// The text of `queries/<folder>/unchecked.scm`: the code that a checker may leave out. Its reader is in
    /// `src/text/symbols/unchecked_code.rs`.
    pub unchecked: &'static str,
    /// The words of a line that makes names of other files usable.
    pub import_words: &'static [&'static str],
    pub import_form: ImportForm,
    /// The files whose names need no import.
    pub sharing: Sharing,
    /// The words at the start of a line without which a text is no module, so that all files see its names.
    pub module_words: &'static [&'static str],
    /// The parts of a module by which its names are visible without an import all the same.
    pub global_marks: &'static [&'static str],
    /// Names that its texts use without a mention, as the type of a literal.
    pub implied_names: &'static [&'static [&'static str]],
    /// The types of its standard library, and of widespread packages, that any text can add to. Values are of them without
    /// a mention of their names.
    pub library_types: &'static str,
    /// The words of modules that its files import without a line.
    pub implied_imports: &'static [&'static str],
    /// The folder of installed packages, where the name of another module may be an alias of any file.
    pub package_folder: Option<&'static str>,
    /// The file that makes a package of its folder, which is imported by the folder's name or by one of its own.
    pub package_file: Option<&'static str>,
    /// Settings of compilers, and the option in them before a file that all others import.
    pub forced_imports: &'static [(&'static str, &'static str)],
    /// True if a directive may name the module that it imports by a macro.
    pub macro_modules: bool,
    /// True if an import puts the text of the file in its place, so that the texts behind it see its names.
    pub textual_imports: bool,
    /// The mark in a macro that pastes words into one name.
    pub paste_mark: Option<&'static str>,
    /// The first of the languages that use each other's names.
    pub kin: &'static str,
    /// The endings of files that hold code of this language in another one.
    pub embedded_in: &'static [&'static str],
    /// The names of a file that stands for its folder; `*` where each one does.
    pub folder_files: &'static [&'static str],
    /// The names of a file whose names all others of the language see.
    pub global_files: &'static [&'static str],
    /// The extension of a file that declares the names of another one beside it, which checkers read in place of that.
    pub stub_extension: Option<&'static str>,
    /// The name under which a module lists the names that it offers.
    pub list_name: Option<&'static str>,
    /// The kinds of symbols that others fulfil by their members alone, or that ask others for members.
    pub structural_kinds: &'static [SymbolKind],
    /// The way to ask for a check of its types; `None` where they are always checked, or never.
    pub asked_types: Option<AskedTypes>,
    /// True if comments declare types.
    pub typed_comments: bool,
    /// Members by which the types of the standard library are fulfilled (`SupportsRead` by `read`).
    pub structural_members: &'static [&'static str],
    /// The word without which no class of a text is fulfilled by its members alone.
    pub structural_word: Option<&'static str>,
    /// The ways to write a character of a name or of a path without the character itself.
    pub escapes: &'static [Escape],
    /// The form in which its names are compared, if not as they stand.
    pub normal_form: Option<NormalForm>,
    /// Further characters that end a line.
    pub line_ends: &'static [char],
    /// The starts of a line comment.
    pub line_comments: &'static [&'static str],
    /// The starts and ends of a block comment.
    pub block_comments: &'static [(&'static str, &'static str)],
    /// True if a member of a class means the same when it stands alone at the level of the file.
    pub members_stand_alone: bool,
    /// The nodes of strings whose lines move along with code that they are indented like.
    pub strings: &'static [&'static str],
    /// The nodes of strings that mean exactly their characters.
    pub exact_strings: &'static [&'static str],
    /// The start of a line that stands at the margin whatever is around it.
    pub directive: Option<char>,
    /// The marks at the end of a line that opens a block.
    pub openers: &'static [char],
    /// The words at the start of a line that closes a block.
    pub closers: &'static [&'static str],
    /// The usual blank lines between symbols at the level of the file.
    pub blank_lines: usize,
    /// True if the last member of a list may have a separator behind it.
    pub trailing_separator: bool,
    /// The node of a block that must not be empty, and the statement that fills it.
    pub filler: Option<(&'static str, &'static str)>,
    /// The code that hides a complaint: a rule of the policy, and a regular expression of what it counts.
    pub cheats: &'static [(&'static str, &'static str)],
    /// The nodes whose children are statements.
    pub blocks: &'static [&'static str],
    /// True if its symbols divide the whole text, so that a file has no level of its own beside them.
    pub is_document: bool,
    /// True if its files are programs, and no modules of one.
    pub is_shell: bool,
    /// True if a text that the grammar cannot parse is wrong. Macros and dialects make it uncertain.
    pub reports_syntax: bool,
}

/// The way in which a file asks for a check of its types.
#[derive(Clone, Copy, Debug)]
pub struct AskedTypes {
    /// The comment in the file itself.
    pub mark: &'static str,
    /// The files of settings, in a folder around it, and the option in them.
    pub settings: &'static [&'static str],
    pub option: &'static str,
}

/// How files of a language name the files whose names they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportForm {
    /// A statement that begins with one of the import words; leading dots stand for folders.
    Statement,
    /// A line that has one of the import words anywhere, up to the brackets that it opens. It lists the names that it
    /// imports.
    Line,
    /// The same, and the names need not be listed.
    Whole,
}

/// How far the names of a file can be used without an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    Nowhere,
    Folder,
    Everywhere,
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The language of a file by its extension or its name; `None` where Sextant has no grammar.
pub fn of_path(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    LANGUAGES.iter().find(|language| {
        extension.is_some_and(|extension| language.extensions.contains(&extension))
            || language.file_names.contains(&name)
    })
}

/// Bytes, and words and signs, of the longest text that is parsed. Its trees take up to 0.8 KB a word during an edit,
/// and no source that a person writes is as long.
const LARGEST_PARSED: usize = 1 << 20;
const MOST_WORDS: usize = 150_000;
/// The greatest depth of a tree. Readers of trees recurse, and a thread's stack ends at 1,500.
const DEEPEST: usize = 800;
/// Children of one error. A query looks at all later siblings for each of them: 0.4 s for as many as this in a debug
/// build. The widest of 260 damaged files of Python's library had 1,777.
const WIDEST_ERROR: u32 = 10_000;

impl Language {
    /// The syntax tree of a text; `None` if the grammar does not fit the parser, or the text is too long or too deep to
    /// be worth its tree.
    pub fn tree(&self, text: &str) -> Option<tree_sitter::Tree> {
        static RECENT: RecentTexts<Option<tree_sitter::Tree>> = RecentTexts::new();
        let parse = || {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&(self.grammar)()).ok()?;
            parser.parse(text, None).filter(is_for_reading)
        };
        if text.len() > LARGEST_PARSED || has_more_words(text, MOST_WORDS) {
            return None;
        }
        RECENT.get(self, text, parse).as_ref().clone()
    }

    /// The place in [`LANGUAGES`]; `None` for a row that is not of the table.
    pub(crate) fn row(&self) -> Option<usize> {
        LANGUAGES.iter().position(|row| std::ptr::eq(row, self))
    }

    /// The compiled symbols query, compiled once for every row of [`LANGUAGES`].
    pub(crate) fn symbols_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        self.compiled(&COMPILED, self.query)
    }

    /// The compiled imports query, in the same way.
    pub(crate) fn imports_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        (!self.imports.is_empty()).then(|| self.compiled(&COMPILED, self.imports)).flatten()
    }

    /// The compiled interface query, in the same way.
    pub(crate) fn interface_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        (!self.interface.is_empty()).then(|| self.compiled(&COMPILED, self.interface)).flatten()
    }

    /// The compiled query of hidden texts, in the same way.
    pub(crate) fn hidden_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        (!self.hidden.is_empty()).then(|| self.compiled(&COMPILED, self.hidden)).flatten()
    }

    /// The compiled query of modifiers, in the same way.
    pub(crate) fn modifiers_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        (!self.modifiers.is_empty()).then(|| self.compiled(&COMPILED, self.modifiers)).flatten()
    }

    /// The compiled query of unchecked code, in the same way.
    pub(crate) fn unchecked_query(&self) -> Option<Arc<tree_sitter::Query>> {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        (!self.unchecked.is_empty()).then(|| self.compiled(&COMPILED, self.unchecked)).flatten()
    }

    /// True if the offer of its texts to other files is known.
    pub fn has_offers(&self) -> bool {
        !self.interface.is_empty() || !self.hidden.is_empty()
    }

    /// True if a text is blank but for comments.
    pub fn is_only_comments(&self, text: &str) -> bool {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let block = self.block_comments.iter().find(|(start, _)| rest.starts_with(start));
            let after = match block {
                Some((start, end)) => rest[start.len()..].split_once(end).map(|(_, after)| after),
                None if self.line_comments.iter().any(|start| rest.starts_with(start)) => {
                    Some(rest.split_once('\n').map_or("", |(_, after)| after))
                }
                None => None,
            };
            let Some(after) = after else { return false };
            rest = after.trim_start();
        }
        true
    }

    /// True if a line is in a comment by the look of it.
    pub fn is_comment_line(&self, line: &str) -> bool {
        let line = line.trim_start();
        let in_block = |(start, _): &(&str, &str)| line.starts_with(start) || line.starts_with('*');
        self.line_comments.iter().any(|start| line.starts_with(start)) || self.block_comments.iter().any(in_block)
    }

    /// A line up to its comment. A mark in a string counts as one.
    pub fn without_comment<'a>(&self, line: &'a str) -> &'a str {
        let end = self.line_comments.iter().filter_map(|start| line.find(start)).min();
        &line[..end.unwrap_or(line.len())]
    }

    fn compiled(&self, known: &OnceLock<Compiled>, query: &str) -> Option<Arc<tree_sitter::Query>> {
        let compile = || tree_sitter::Query::new(&(self.grammar)(), query).ok().map(Arc::new);
        match self.row() {
            Some(row) => {
                let rows = known.get_or_init(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());
                rows[row].get_or_init(compile).clone()
            }
            None => compile(),
        }
    }
}

/// True if a text has more than so many words, signs and lines. Their number is at least that of the leaves of its
/// tree.
fn has_more_words(text: &str, most: usize) -> bool {
    let (mut count, mut in_word) = (0, false);
    for byte in text.bytes() {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        count += usize::from(if word { !in_word } else { !matches!(byte, b' ' | b'\t' | b'\r') });
        in_word = word;
    }
    count > most
}

/// True if the depth of a tree and the width of its errors keep it cheap to read.
fn is_for_reading(tree: &tree_sitter::Tree) -> bool {
    let (mut cursor, mut depth) = (tree.walk(), 0);
    loop {
        let node = cursor.node();
        if depth > DEEPEST || (node.is_error() && node.child_count() > WIDEST_ERROR) {
            return false;
        }
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return true;
            }
            depth -= 1;
        }
    }
}

/// A query for each row of [`LANGUAGES`].
type Compiled = Vec<OnceLock<Option<Arc<tree_sitter::Query>>>>;

#[cfg(test)]
mod tests;
