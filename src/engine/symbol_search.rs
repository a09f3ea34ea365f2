//! Finds the file of a symbol that is named without one, with a part of the file's path, or with a module path.

use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_FILES, MOST_PARSED};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling::{is_root_module, loose_name, loose_parts};
use sextant_text::symbols::symbol_path::SymbolPath;

/// Finds the one file that holds a symbol. The names may begin with the path of its module (`crate::cart::Cart`,
/// `shop.cart.Cart`).
///
/// # Errors
/// No file has it, or several do: their symbols.
pub(crate) async fn file_of_names(root: Root, names: String) -> Result<SymbolPath, Vec<SymbolPath>> {
    // The search reads many files: a stop must not have to wait for it.
    let look = move || {
        let mut found = files_with(&root, &names);
        if found.is_empty() {
            found = below_modules(&root, &names);
        }
        found
    };
    let found = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    if let [one] = found.as_slice() { Ok(one.clone()) } else { Err(found) }
}

/// The path with the whole path of its file, where a part of that is given and one file fits (`cart.ts::Cart`).
pub(crate) async fn with_whole_path(root: Root, wanted: SymbolPath) -> SymbolPath {
    if root.resolve(&wanted.file).map_or(true, |path| root.join(&path).exists()) {
        return wanted;
    }
    let given = wanted.clone();
    let look = move || {
        let end = format!("/{}", given.file.trim_start_matches("./"));
        let files = workspace_files::list(&root, "", MOST_FILES).files;
        let mut fitting = files.into_iter().filter(|path| path.ends_with(&end));
        let one = fitting.next().filter(|_| fitting.next().is_none());
        one.map_or_else(|| given.clone(), |file| SymbolPath::new(file, given.names.clone()))
    };
    tokio::task::spawn_blocking(look).await.unwrap_or(wanted)
}

/// The files that hold exactly one symbol of a name, as they are on disk, each with that name.
fn files_with(root: &Root, names: &str) -> Vec<SymbolPath> {
    let mut found = Vec::new();
    let plain = loose_name(names);
    for path in workspace_files::list(root, "", MOST_PARSED).files {
        let Some(language) = language::of_path(&path) else { continue };
        // A file whose text does not contain the name is neither parsed nor opened in the editor.
        let Some(on_disk) = workspace_files::text(root, &path) else { continue };
        if on_disk.contains(&plain) && Outline::parse(language, &on_disk).find_all(names).is_ok() {
            found.push(SymbolPath::new(path, names));
        }
    }
    found
}

/// The same behind the modules that the names begin with: each is the root, a folder or the file itself.
fn below_modules(root: &Root, names: &str) -> Vec<SymbolPath> {
    let parts = loose_parts(names);
    for count in 1..parts.len() {
        let (modules, rest) = (&parts[..count], &parts[count..]);
        let mut found = files_with(root, &rest.join("::"));
        found.retain(|symbol| lies_in(root, &symbol.file, modules));
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// True if the modules lead to a file. The first of several may be the name of a package.
fn lies_in(root: &Root, file: &str, modules: &[String]) -> bool {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let is_part = |module: &String| stem.split('/').any(|part| part == module);
    let is_root = |module: &String| {
        is_root_module(module) || root.path().file_name().is_some_and(|name| name.to_string_lossy() == **module)
    };
    let (first, others) = modules.split_first().map_or((None, modules), |(first, others)| (Some(first), others));
    let begins = first.is_none_or(|first| !others.is_empty() || is_root(first) || is_part(first));
    begins && others.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_symbol_is_found_behind_its_modules_and_below_a_part_of_its_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/shop")).unwrap();
        std::fs::write(folder.path().join("src/cart.rs"), "struct Cart;\nimpl Cart { fn total() {} }\n").unwrap();
        std::fs::write(folder.path().join("src/lib.rs"), "fn transform() {}\n").unwrap();
        std::fs::write(folder.path().join("src/shop/price.py"), "class Price:\n    def net(self): pass\n").unwrap();
        let root = Root::new(folder.path()).unwrap();
        let found = |names: &str| {
            let (root, names) = (root.clone(), names.to_owned());
            async move { file_of_names(root, names).await.map_or_else(|_| "?".to_owned(), |found| found.to_string()) }
        };
        let of_crate = |names: &str| format!("crate{names}");
        assert_eq!(found(&of_crate("::cart::Cart::total")).await, "src/cart.rs::Cart::total");
        assert_eq!(found("heck::cart::Cart").await, "src/cart.rs::Cart");
        assert_eq!(found("cart::Cart").await, "src/cart.rs::Cart");
        assert_eq!(found(&of_crate("::transform")).await, "src/lib.rs::transform");
        assert_eq!(found("shop.price.Price.net").await, "src/shop/price.py::Price::net");
        assert_eq!(found("other::Cart").await, "?", "a module that is not there");
        let named = |file: &str| with_whole_path(root.clone(), SymbolPath::new(file, "Cart"));
        assert_eq!(named("cart.rs").await.file, "src/cart.rs");
        assert_eq!(named("other.rs").await.file, "other.rs");
    }
}
