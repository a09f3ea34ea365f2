//! Works out the edit that a block of code of a conversation stands for, and refuses one that cannot be meant.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::commands::block_home;
use crate::commands::direct_action::DirectAction;
use crate::editor::Document;
use crate::editor::editor_error::EditorError;
use crate::run::compact_loop::elided;
use crate::state::authority;
use crate::state::edit_request::EditRequest;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_base::positions::LineIndex;
use sextant_diagnostics::syntax;
use sextant_model::step::Action;
use sextant_store::workspace::root::Root;
use sextant_text::edits::block_target::{self, BlockFault, BlockTarget};
use sextant_text::edits::code_file::CodeFile;
use sextant_text::edits::hunks;
use sextant_text::symbols::language::{self, Language};
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;
use sextant_text::symbols::whole_word::holds_word;

/// Bytes of the longest block, as of a request.
const LONGEST: usize = 64 << 10;

/// A block of code of a conversation, for a symbol of the user's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockRequest {
    pub block: String,
    /// The language that its fence names; may be empty.
    pub language: String,
    /// The file of the user's cursor, relative to the root or absolute; empty without one.
    pub path: String,
    /// One-based.
    pub line: usize,
    /// `FILE::SYMBOL`, as the user wants it; empty where the block and the cursor decide.
    pub target: String,
    /// The `FILE::SYMBOL` that the words above the block name last; may be empty.
    pub mentioned: String,
}

/// The target that was found for a block, for the user to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTarget {
    pub target: String,
    /// The effect in words: `replaces it`, `new, after Cart::total`.
    pub effect: String,
    /// The symbols of the file, for completion.
    pub symbols: Vec<String>,
}

/// The edit that a block stands for.
#[derive(Debug)]
pub(crate) struct BlockEdit {
    pub(crate) document: Document,
    pub(crate) target: BlockTarget,
    outline: Outline,
    /// Symbols that go with the old text, and that the user has to allow.
    pub(crate) lost: Vec<SymbolPath>,
}

impl BlockEdit {
    /// The full path of the symbol.
    pub(crate) fn path(&self) -> SymbolPath {
        SymbolPath::new(&self.document.path, &self.target.names)
    }

    /// The symbol whose text or neighbourhood may change.
    pub(crate) fn scope(&self) -> Scope {
        let names = self.target.anchor.map(|anchor| self.outline.path_of(anchor)).unwrap_or_default();
        Scope::Symbols(vec![SymbolPath::new(&self.document.path, names)])
    }

    pub(crate) fn found(&self) -> FoundTarget {
        let anchor = self.target.anchor.map(|anchor| self.outline.path_of(anchor));
        let effect = match anchor {
            Some(anchor) if self.target.is_new => format!("new, after {anchor}"),
            Some(_) => "replaces it".to_owned(),
            None => "new, at the end".to_owned(),
        };
        let imports = match self.target.imports.len() {
            0 => String::new(),
            count => format!(", with {}", counted(count, "import")),
        };
        let effect = format!("{effect}{imports}");
        let all = 0..self.outline.symbols.len();
        let full = |index| SymbolPath::new(&self.document.path, self.outline.unique_path_of(index)).to_string();
        FoundTarget { target: self.path().to_string(), effect, symbols: all.map(full).collect() }
    }

    /// The call that makes it.
    pub(crate) fn call(&self) -> DirectAction {
        let path = &self.document.path;
        let action = match self.target.anchor {
            Some(anchor) if self.target.imports.is_empty() => {
                let symbol = SymbolPath::new(path, self.outline.unique_path_of(anchor)).to_string();
                let action = if self.target.is_new { "insert_after" } else { "replace" };
                let parameters = json!({"symbol": symbol, "action": action, "content": self.target.content});
                Action { tool: "edit_symbol".to_owned(), parameters }
            }
            _ => {
                let parameters = json!({"path": path, "content": self.target.after});
                Action { tool: "write_file".to_owned(), parameters }
            }
        };
        DirectAction { action, reason: "the user applied a code block", otherwise: None, resumes: false }
    }
}

/// The edit that a block stands for now. Nothing is written.
///
/// # Errors
/// With the reason why the block cannot be meant, and the way out.
pub(crate) async fn block_edit(workspace: &Workspace, request: &BlockRequest) -> Result<BlockEdit, Failure> {
    let named = block_home::named(&workspace.root, request);
    let request = named.as_ref().unwrap_or(request);
    let found = in_file(workspace, request).await;
    let is_settled = found.as_ref().is_ok_and(|found| !found.target.is_new);
    if is_settled || named.is_some() || !request.target.is_empty() {
        return found;
    }
    if let Some(mentioned) = mentioned(workspace, request).await {
        return Ok(mentioned);
    }
    let own = found.as_ref().ok().map(|found| found.document.text.clone());
    let (root, asked) = (workspace.root.clone(), request.clone());
    let look = move || block_home::defined(&root, &asked, own.as_deref());
    match tokio::task::spawn_blocking(look).await.ok().flatten() {
        // A block that does not fit there either is refused for the file at the cursor.
        Some(elsewhere) => in_file(workspace, &elsewhere).await.or(found),
        None => found,
    }
}

/// The edit of the symbol that the words above a block name, if that exists and the block has its name.
async fn mentioned(workspace: &Workspace, request: &BlockRequest) -> Option<BlockEdit> {
    let path = target::written(&workspace.root, &request.mentioned);
    let name = path.names.rsplit("::").next().filter(|name| !name.is_empty() && !path.file.is_empty())?;
    if !holds_word(&request.block, name) {
        return None;
    }
    let request = BlockRequest { target: request.mentioned.clone(), ..request.clone() };
    in_file(workspace, &request).await.ok().filter(|found| !found.target.is_new)
}

/// The edit of the file at the cursor, or of the target's.
async fn in_file(workspace: &Workspace, request: &BlockRequest) -> Result<BlockEdit, Failure> {
    if request.block.len() > LONGEST {
        let (size, limit) = (request.block.len().div_ceil(1 << 10), LONGEST >> 10);
        let message = format!("the code block has {size} KB, and blocks of up to {limit} KB are applied");
        return Err(Failure::user(message, "ask for one symbol at a time"));
    }
    let (path, names) = wanted(&workspace.root, request)?;
    let document = target::document(workspace, &path).await?;
    if let Some(reason) = &document.locked {
        return Err(EditorError::Locked { path: document.path, reason: reason.clone() }.into());
    }
    let language = language::of_path(&document.path).ok_or_else(|| target::no_grammar(&document.path))?;
    refuse_other_language(language, request, &document.path)?;
    let outline = Outline::parse(language, &document.text);
    let here = workspace.root.resolve(&request.path).is_ok_and(|here| here == document.path);
    let cursor = here.then(|| offset(&document.text, request.line));
    let file = CodeFile { language, text: &document.text, outline: &outline, cursor };
    let target = block_target::target(file, &request.block, &names)
        .map_err(|fault| refused(&fault, &document.path, &request.block))?;
    refuse_broken(&document, &target.after)?;
    let old = target.anchor.filter(|_| !target.is_new).map(|anchor| outline.symbols[anchor].extent.clone());
    if let Some(line) = elided::elided(&target.content, old.map_or("", |old| &document.text[old])) {
        let message = format!("`{}` in the code block stands for code that was left out", clean(&line));
        return Err(tool_failure(message, "ask for the complete symbol; nothing was written"));
    }
    let hunks = hunks::hunks(&document.text, &target.after);
    let wanted = EditRequest::change(document.clone(), hunks, true);
    let lost = authority::lost(std::slice::from_ref(&wanted));
    Ok(BlockEdit { document, target, outline, lost })
}

/// The file and the names that are meant: those of the user, else the file at the cursor.
fn wanted(root: &Root, request: &BlockRequest) -> Result<(String, String), Failure> {
    let given = target::written(root, &request.target);
    let path = if given.file.is_empty() { request.path.clone() } else { given.file };
    if path.is_empty() {
        let message = "no file is open that the code block could be applied to";
        return Err(Failure::user(message, "open the file, or name the target as FILE::SYMBOL"));
    }
    Ok((path, given.names))
}

/// Refuses a block whose fence names a language that the file is not in. An unknown word says nothing.
fn refuse_other_language(own: &Language, request: &BlockRequest, path: &str) -> Result<(), Failure> {
    let known = block_home::fence_languages(&request.language);
    if known.is_empty() || known.iter().any(|known| block_home::are_kin(known, own)) {
        return Ok(());
    }
    let message = format!("the code block is {}, and {path} is {}", known[0].name, own.name);
    Err(tool_failure(message, "go to the file that it is for, or name the target as FILE::SYMBOL"))
}

/// The first character of a line that is not blank; the start of a blank line.
fn offset(text: &str, line: usize) -> usize {
    let range = LineIndex::new(text).line_range(text, line.saturating_sub(1));
    let own = &text[range.clone()];
    let blank = own.len() - own.trim_start().len();
    if own.trim().is_empty() { range.start } else { range.start + blank }
}

/// Refuses a text with more syntax errors than before.
fn refuse_broken(document: &Document, after: &str) -> Result<(), Failure> {
    let count = |text: &str| syntax::check(&document.path, text).map_or(0, |found| found.len());
    if count(after) <= count(&document.text) {
        return Ok(());
    }
    Err(does_not_parse(&document.path, after))
}

/// The failure for code that does not parse, with the first line at fault.
fn does_not_parse(path: &str, text: &str) -> Failure {
    let found = syntax::check(path, text).unwrap_or_default();
    let row = found.first().and_then(|found| found.location.range()).map(|range| range.start.line as usize);
    let line = row.and_then(|row| text.lines().nth(row)).map(str::trim).filter(|line| !line.is_empty());
    let mut message = BlockFault::Broken.to_string();
    if let Some(line) = line {
        let _ = write!(message, ": syntax error at `{}`", clean(line));
    }
    tool_failure(message, "ask for the complete symbol; nothing was written")
}

fn refused(fault: &BlockFault, path: &str, block: &str) -> Failure {
    let hint = match fault {
        BlockFault::Broken => return does_not_parse(path, block),
        BlockFault::Ambiguous(candidates) => {
            let all: Vec<String> = candidates.iter().map(|names| format!("{path}::{names}")).collect();
            format!("name one as the target: {}", all.join(", "))
        }
        BlockFault::Nothing => "put the cursor into the symbol, or name the target as FILE::SYMBOL".to_owned(),
        BlockFault::Several(names) => format!("ask for a block with {} alone", names.join(" or ")),
        BlockFault::TakesAway { .. } | BlockFault::Another { .. } => {
            "name the symbol that the block defines; nothing was written".to_owned()
        }
        BlockFault::NoHolder(_) | BlockFault::NoPlace(_) => "name another target as FILE::SYMBOL".to_owned(),
        BlockFault::Empty | BlockFault::Edit(_) => "nothing was written".to_owned(),
    };
    tool_failure(fault, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_fence_is_a_language_or_says_nothing() {
        let python = language::of_path("a.py").unwrap();
        let is_refused = |word: &str| {
            let request = BlockRequest { language: word.into(), ..BlockRequest::default() };
            refuse_other_language(python, &request, "a.py").is_err()
        };
        for word in ["", "python", "py", "Python", "text", "console"] {
            assert!(!is_refused(word), "{word}");
        }
        assert!(is_refused("rust") && is_refused("rs") && is_refused("bash"));
    }

    #[test]
    fn the_cursor_is_at_the_first_character_of_its_line() {
        let text = "a\n\n    b\n";
        assert_eq!((offset(text, 1), offset(text, 2), offset(text, 3), offset(text, 9)), (0, 2, 7, text.len()));
    }
}
