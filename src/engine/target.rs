//! Resolves the name that a caller gives to a document and a symbol in it.

use crate::editor::Document;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::symbol_search;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::{clean, headline};
use sextant_diagnostics::syntax;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;
use sextant_text::symbols::language::{self, Language};
use sextant_text::symbols::outline::{NotFound, Outline};
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;
use sextant_text::symbols::whole_word::holds_word;

/// A symbol in its document.
#[derive(Debug)]
pub(crate) struct SymbolPlace {
    pub(crate) document: Document,
    pub(crate) language: &'static Language,
    pub(crate) outline: Outline,
    /// Index into the outline.
    pub(crate) symbol: usize,
    /// The names by which it was found in its file.
    pub(crate) names: String,
}

impl SymbolPlace {
    pub(crate) fn path(&self) -> String {
        SymbolPath::new(&self.document.path, self.outline.path_of(self.symbol)).to_string()
    }
}

/// Reads a file that a caller named. The path is confined to the root.
pub(crate) async fn document(workspace: &Workspace, given: &str) -> Result<Document, Failure> {
    let path = workspace.root.resolve(given)?;
    refuse_large(&path, workspace_files::size(&workspace.root, &path))?;
    Ok(workspace.editor.read(&path).await?)
}

/// Refuses a text that is too large to work on, before any work on it.
pub(crate) fn refuse_large(path: &str, bytes: u64) -> Result<(), Failure> {
    if bytes <= workspace_files::LARGEST_TARGET {
        return Ok(());
    }
    let (size, limit) = (bytes >> 20, workspace_files::LARGEST_TARGET >> 20);
    let message = format!("{} has {size} MB, and files of up to {limit} MB are worked on", clean(path));
    Err(Failure::user(message, "name a smaller file, or split this one"))
}

/// Finds a symbol by full path, or by a suffix that is unique in the workspace.
pub(crate) async fn place(workspace: &Workspace, given: &str) -> Result<SymbolPlace, Failure> {
    let (names, document, language) = in_file(workspace, given).await?;
    let outline = Outline::parse(language, &document.text);
    match outline.find(&names) {
        Ok(symbol) => Ok(SymbolPlace { document, language, outline, symbol, names }),
        Err(not_found) => Err(missing_in(&document, &outline, &names, &not_found)),
    }
}

/// The same for a task: of several symbols that fit, the one in its scope is meant.
pub(crate) async fn place_in_scope(workspace: &Workspace, scope: &Scope, given: &str) -> Result<SymbolPlace, Failure> {
    let meant = in_scope(workspace, scope, given).await;
    place(workspace, meant.as_deref().unwrap_or(given)).await
}

/// The one symbol of a scope that a bare name fits, with its file; `None` where another number of them does.
pub(crate) async fn in_scope(workspace: &Workspace, scope: &Scope, given: &str) -> Option<String> {
    let wanted = written_symbol(&workspace.root, given);
    let mut found: Vec<SymbolPath> = Vec::new();
    for file in scope.files() {
        if !wanted.file.is_empty() && wanted.file != file || wanted.names.is_empty() {
            continue;
        }
        let (Ok(document), Some(language)) = (document(workspace, &file).await, language::of_path(&file)) else {
            continue;
        };
        let outline = Outline::parse(language, &document.text);
        let names = match outline.find(&wanted.names) {
            Ok(symbol) => vec![outline.path_of(symbol)],
            Err(missing) if missing.is_ambiguous => missing.candidates,
            Err(_) => continue,
        };
        found.extend(names.into_iter().map(|names| SymbolPath::new(&*document.path, names)));
    }
    // The first of twins has no number in the paths of a scope.
    let plain = |symbol: &SymbolPath| SymbolPath::new(&*symbol.file, symbol.names.trim_end_matches("#1"));
    found.retain(|symbol| scope.holds(symbol) || scope.holds(&plain(symbol)));
    match found.as_slice() {
        [one] => Some(one.to_string()),
        _ => None,
    }
}

/// Finds a symbol by the path that this program has given it: that of the first where several share the name.
pub(crate) async fn known_place(workspace: &Workspace, symbol: &SymbolPath) -> Result<SymbolPlace, Failure> {
    let (names, document, language) = in_file(workspace, &symbol.to_string()).await?;
    let outline = Outline::parse(language, &document.text);
    match outline.known(&names) {
        Some(symbol) => Ok(SymbolPlace { document, language, outline, symbol, names }),
        None => place(workspace, &symbol.to_string()).await,
    }
}

/// Like [`place_in_scope`], with all symbols that share the name in one place, the first of them in front: overloads, a
/// property's parts.
pub(crate) async fn places_in_scope(
    workspace: &Workspace,
    scope: &Scope,
    given: &str,
) -> Result<(SymbolPlace, Vec<usize>), Failure> {
    let meant = in_scope(workspace, scope, given).await;
    let (names, document, language) = in_file(workspace, meant.as_deref().unwrap_or(given)).await?;
    let outline = Outline::parse(language, &document.text);
    match outline.find_all(&names) {
        Ok(symbols) => {
            let symbol = symbols.first().copied().unwrap_or_default();
            Ok((SymbolPlace { document, language, outline, symbol, names }, symbols))
        }
        Err(not_found) => Err(missing_in(&document, &outline, &names, &not_found)),
    }
}

/// The names of a symbol inside its file, and that file.
async fn in_file(workspace: &Workspace, given: &str) -> Result<(String, Document, &'static Language), Failure> {
    let wanted = written_symbol(&workspace.root, given);
    if wanted.names.is_empty() {
        return Err(tool_failure(
            format!("{given:?} names a file and no symbol"),
            "name the symbol as path::Class::method, or use edit_file, for imports too",
        ));
    }
    let (root, names) = (workspace.root.clone(), wanted.names.clone());
    let wanted = if wanted.file.is_empty() {
        symbol_search::file_of_names(root, names).await.map_err(|missing| nowhere(&wanted.names, missing))?
    } else {
        symbol_search::with_whole_path(root, wanted).await
    };
    let document = document(workspace, &wanted.file).await?;
    let language = language::of_path(&document.path).ok_or_else(|| no_grammar(&document.path))?;
    Ok((wanted.names, document, language))
}

/// The failure where no single file of the workspace has a symbol.
fn nowhere(names: &str, missing: Vec<SymbolPath>) -> Failure {
    if missing.is_empty() {
        return unknown("the workspace", names, &NotFound::default());
    }
    let proposals: Vec<String> = missing.iter().map(ToString::to_string).collect();
    tool_failure(format!("{names} is in several files"), format!("name one: {}", proposals.join(", ")))
}

pub(crate) fn no_grammar(path: &str) -> Failure {
    tool_failure(
        format!("{path} is in a language without symbols here"),
        "use edit_file with old_string and new_string",
    )
}

/// Characters of a header that tells symbols of one name apart.
const MOST_OF_HEADER: usize = 80;

/// The failure for a name that no single symbol of a file has. Text that does not parse may hide the symbol.
fn missing_in(document: &Document, outline: &Outline, names: &str, missing: &NotFound) -> Failure {
    let path = &document.path;
    if missing.is_ambiguous {
        let header = |names: &String| {
            // The names of others differ by more than a number.
            let symbol = &outline.symbols[outline.known(names).filter(|_| names.contains('#'))?];
            let line = headline(&document.text[symbol.header..symbol.declaration.end]);
            Some(format!("{names} ({})", line.chars().take(MOST_OF_HEADER).collect::<String>()))
        };
        let candidates = missing.candidates.iter().map(|names| header(names).unwrap_or_else(|| names.clone()));
        return unknown(path, names, &NotFound { candidates: candidates.collect(), is_ambiguous: true });
    }
    let name = path_spelling::last_name(names);
    let is_known = outline.symbols.iter().any(|symbol| symbol.name == name);
    let is_hidden = outline.has_errors && !is_known && holds_word(&document.text, name);
    if !is_hidden {
        return unknown(path, names, missing);
    }
    let errors = syntax::check(path, &document.text).unwrap_or_default();
    let first = errors.first().and_then(|error| Some((error.location.range()?.start.line + 1, &error.message)));
    let place = first.map_or_else(String::new, |(line, message)| format!(" from line {line} on ({message})"));
    tool_failure(
        format!("no single symbol {names} in {path}, which does not parse{place}: that may hide it"),
        "edit_file repairs its text, which needs no symbols",
    )
}

fn unknown(place: &str, names: &str, missing: &NotFound) -> Failure {
    let hint = if missing.candidates.is_empty() {
        "list_symbols shows what there is".to_owned()
    } else {
        format!("did you mean {}?", missing.candidates.join(", "))
    };
    tool_failure(format!("no single symbol {names} in {place}"), hint)
}

/// A symbol path as the caller wrote it; `Makefile` is the file where there is one, and so is that of
/// `src/cart.ts#Cart.total`.
pub(crate) fn written(root: &Root, given: &str) -> SymbolPath {
    let path = SymbolPath::parse(given);
    if path.file.is_empty() {
        return if is_file(root, &path.names) { SymbolPath::new(path.names, "") } else { path };
    }
    if !path.names.is_empty() || is_file(root, &path.file) {
        return path;
    }
    let split = path.file.split_once('#').or_else(|| path.file.split_once(':'));
    match split.filter(|(file, names)| is_file(root, file) && !names.is_empty()) {
        Some((file, names)) => SymbolPath::new(file, names),
        None => path,
    }
}

/// The same where a symbol is meant. `Cart.total`, as a model may write it, reads as a file and is a symbol.
pub(crate) fn written_symbol(root: &Root, given: &str) -> SymbolPath {
    let path = written(root, given);
    if path.names.is_empty() && !is_file(root, &path.file) && language::of_path(&path.file).is_none() {
        return SymbolPath::new("", given.trim());
    }
    path
}

fn is_file(root: &Root, path: &str) -> bool {
    root.resolve(path).is_ok_and(|resolved| root.join(&resolved).is_file())
}

pub(crate) async fn full_path(workspace: &Workspace, given: &str) -> Result<SymbolPath, Failure> {
    let path = written(&workspace.root, given);
    if !path.file.is_empty() && path.names.is_empty() {
        let document = document(workspace, &path.file).await?;
        return Ok(SymbolPath::new(document.path, ""));
    }
    let place = place(workspace, given).await?;
    Ok(SymbolPath::new(&place.document.path, place.outline.path_of(place.symbol)))
}

/// The same of a symbol of a plan, whose text has the paths that this program gives.
pub(crate) async fn planned_path(workspace: &Workspace, given: &str) -> Result<SymbolPath, Failure> {
    let path = written(&workspace.root, given);
    if path.file.is_empty() || path.names.is_empty() {
        return full_path(workspace, given).await;
    }
    let place = known_place(workspace, &path).await?;
    Ok(SymbolPath::new(&place.document.path, place.outline.path_of(place.symbol)))
}

/// Those of these symbols that exist now.
pub(crate) async fn present(workspace: &Workspace, symbols: &[SymbolPath]) -> Vec<SymbolPath> {
    let mut present = Vec::new();
    for symbol in symbols {
        let Ok(document) = document(workspace, &symbol.file).await else { continue };
        let found = match language::of_path(&document.path) {
            _ if symbol.names.is_empty() => true,
            // A getter has its setter beside it, an overload its twins.
            Some(language) => Outline::parse(language, &document.text).find_all(&symbol.names).is_ok(),
            None => false,
        };
        if found {
            present.push(symbol.clone());
        }
    }
    present
}
