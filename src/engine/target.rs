//! Resolves the name that a caller gives to a document and a symbol in it.

use crate::editor::Document;
use crate::state::workspace::Workspace;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::clean;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_PARSED};
use sextant_text::symbols::language::{self, Language};
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;

/// A symbol in its document.
#[derive(Debug)]
pub(crate) struct SymbolPlace {
    pub(crate) document: Document,
    pub(crate) language: &'static Language,
    pub(crate) outline: Outline,
    /// Index into the outline.
    pub(crate) symbol: usize,
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
    let (wanted, document, language) = in_file(workspace, given).await?;
    let outline = Outline::parse(language, &document.text);
    match outline.find(&wanted) {
        Ok(symbol) => Ok(SymbolPlace { document, language, outline, symbol }),
        Err(not_found) => Err(unknown(&document.path, &wanted, &not_found.candidates)),
    }
}

/// Finds a symbol by the path that this program has given it: that of the first where several share the name.
pub(crate) async fn known_place(workspace: &Workspace, symbol: &SymbolPath) -> Result<SymbolPlace, Failure> {
    let (wanted, document, language) = in_file(workspace, &symbol.to_string()).await?;
    let outline = Outline::parse(language, &document.text);
    match outline.known(&wanted) {
        Some(symbol) => Ok(SymbolPlace { document, language, outline, symbol }),
        None => place(workspace, &symbol.to_string()).await,
    }
}

/// Like [`place`], with all symbols that share the name in one place, the first of them in front: overloads, a
/// property's parts.
pub(crate) async fn places(workspace: &Workspace, given: &str) -> Result<(SymbolPlace, Vec<usize>), Failure> {
    let (wanted, document, language) = in_file(workspace, given).await?;
    let outline = Outline::parse(language, &document.text);
    match outline.find_all(&wanted) {
        Ok(symbols) => {
            let symbol = symbols.first().copied().unwrap_or_default();
            Ok((SymbolPlace { document, language, outline, symbol }, symbols))
        }
        Err(not_found) => Err(unknown(&document.path, &wanted, &not_found.candidates)),
    }
}

/// The names of a symbol inside its file, and that file.
async fn in_file(workspace: &Workspace, given: &str) -> Result<(String, Document, &'static Language), Failure> {
    let mut wanted = SymbolPath::parse(given);
    if wanted.names.is_empty() && !is_file(&workspace.root, &wanted.file) && language::of_path(&wanted.file).is_none() {
        // `Cart.total`, as a model may write it, reads as a file.
        wanted = SymbolPath::new("", given.trim());
    }
    if wanted.names.is_empty() {
        return Err(tool_failure(
            format!("{given:?} names a file and no symbol"),
            "name the symbol as path::Class::method, or use edit_file, for imports too",
        ));
    }
    let file = if wanted.file.is_empty() { file_of(&workspace.root, &wanted.names).await? } else { wanted.file };
    let document = document(workspace, &file).await?;
    let language = language::of_path(&document.path).ok_or_else(|| no_grammar(&document.path))?;
    Ok((wanted.names, document, language))
}

async fn file_of(root: &Root, names: &str) -> Result<String, Failure> {
    let (root, wanted) = (root.clone(), names.to_owned());
    // The search reads many files: a stop must not have to wait for it.
    let found = tokio::task::spawn_blocking(move || files_with(&root, &wanted)).await.unwrap_or_default();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(unknown("the workspace", names, &[])),
        many => Err(tool_failure(
            format!("{names} is in several files"),
            format!("name one: {}", many.iter().map(|file| format!("{file}::{names}")).collect::<Vec<_>>().join(", ")),
        )),
    }
}

/// The files that hold exactly one symbol of a name, as they are on disk.
fn files_with(root: &Root, names: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in workspace_files::list(root, "", MOST_PARSED).files {
        let Some(language) = language::of_path(&path) else { continue };
        let plain = path_spelling::loose_name(names);
        // A file whose text does not contain the name is neither parsed nor opened in the editor.
        let Some(on_disk) = workspace_files::text(root, &path) else { continue };
        if on_disk.contains(&plain) && Outline::parse(language, &on_disk).find_all(names).is_ok() {
            found.push(path);
        }
    }
    found
}

pub(crate) fn no_grammar(path: &str) -> Failure {
    tool_failure(
        format!("{path} is in a language without symbols here"),
        "use edit_file with old_string and new_string",
    )
}

fn unknown(place: &str, names: &str, candidates: &[String]) -> Failure {
    let hint = if candidates.is_empty() {
        "list_symbols shows what there is".to_owned()
    } else {
        format!("did you mean {}?", candidates.join(", "))
    };
    tool_failure(format!("no single symbol {names} in {place}"), hint)
}

/// A symbol path as the caller wrote it; `Makefile` is the file where there is one.
pub(crate) fn written(root: &Root, given: &str) -> SymbolPath {
    let path = SymbolPath::parse(given);
    let names_file = path.file.is_empty() && is_file(root, &path.names);
    if names_file { SymbolPath::new(path.names, "") } else { path }
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
