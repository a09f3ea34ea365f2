//! Completes a step that the user has written without symbols, from its words and the scope of the plan.

use std::sync::Arc;

use crate::plan::inputs::TARGET;
use crate::plan::{Step, StepKind};
use crate::run::request_names;
use crate::run::widen_scope::leaves_alone;
use crate::state::analysis::Meaning;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_store::workspace::root::{PathError, Root};
use sextant_store::workspace::workspace_files::{self, MOST_PARSED};
use sextant_text::symbols::nearest_file;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Words by which a step says that its file is a new one.
const NEW: [&str; 5] = ["create", "new", "crea", "nuevo", "nueva"];

/// Gives a step the symbols or files that its words name, else those of the plan's scope. A file that stands alone is
/// meant as a whole. A step that already has a subject stays as it is.
///
/// # Errors
/// The words name a file that cannot be meant, or a name of several meanings, or nothing while the scope is the
/// workspace.
pub(crate) async fn complete(workspace: &Workspace, scope: &Scope, step: &mut Step) -> Result<(), String> {
    let targeted = step.inputs.iter().any(|input| input.name == TARGET);
    if !step.symbols.is_empty() || !step.extent.creates.is_empty() || targeted || step.kind == StepKind::Search {
        return Ok(());
    }
    if let Some(fault) = impossible(workspace, &step.title).await {
        return Err(fault);
    }
    let new = named_new(workspace, &step.title).await?;
    let files = scope.files();
    let one_file = if let [only] = files.as_slice() { Some(only.as_str()) } else { None };
    let everywhere = named(workspace, None, &step.title).await;
    // Names are looked up in the file that stands beside them: `fix total in cart.py`.
    let beside = files_of(&everywhere);
    let here = if let [file] = beside.as_slice() { Some(file.as_str()) } else { one_file };
    let meanings = if here.is_some() { named(workspace, here, &step.title).await } else { everywhere };
    let found = subjects(&meanings, &step.title);
    if !found.is_empty() {
        step.symbols = found;
    } else if let Some(new) = new {
        if step.kind.only_looks() {
            return Err(format!("{new} is not there"));
        }
        step.extent.creates = vec![SymbolPath::new(new, "")];
    } else if let Some(several) = meanings.iter().find(|meaning| meaning.sure && meaning.paths.len() > 1) {
        let all: Vec<String> = several.paths.iter().map(ToString::to_string).collect();
        return Err(format!("{} may be {}: add `symbols: …` with one of them", several.name, all.join(" or ")));
    } else if *scope == Scope::Workspace {
        return Err("it names no symbol and no file: name one in its words, or add `symbols: FILE::NAME`".to_owned());
    } else {
        let whole = scope.whole_files().iter().map(|file| SymbolPath::new(file, ""));
        let all = scope.symbols().iter().cloned().chain(whole);
        step.symbols = all.filter(|path| !leaves_alone(&step.title, &path.file)).collect();
    }
    Ok(())
}

/// The meanings of the words. Plain words are looked up in `here`.
async fn named(workspace: &Workspace, here: Option<&str>, words: &str) -> Vec<Meaning> {
    let here: Option<(String, Arc<str>)> = match here {
        Some(path) => target::document(workspace, path).await.ok().map(|document| (document.path, document.text)),
        None => None,
    };
    let (root, words) = (workspace.root.clone(), words.to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        let mut meanings = request_names::analyse(&root, here.as_ref(), &words).meanings;
        meanings.retain(|meaning| !leaves_alone(&words, &meaning.name));
        meanings
    });
    looked.await.unwrap_or_default()
}

/// The fault of the first path in the words that leads to no file of the project.
async fn impossible(workspace: &Workspace, words: &str) -> Option<String> {
    let (root, words) = (workspace.root.clone(), words.to_owned());
    tokio::task::spawn_blocking(move || impossible_file(&root, &words)).await.unwrap_or_default()
}

/// The same for a root. A word that may be something else counts only where a file has its name: a route begins with
/// `/`, and a member may have the name of a key. Blocks.
fn impossible_file(root: &Root, words: &str) -> Option<String> {
    let is_around = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '/' | '_' | '~');
    let all = words.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`' | '"'));
    let paths =
        all.map(|word| word.trim_matches(is_around).trim_end_matches('.')).filter(|word| word.contains(['.', '/']));
    let is_kept = |path: &&str| request_names::mention(path).is_some_and(|found| leaves_alone(words, &found.name));
    paths
        .filter(|path| !is_kept(path))
        .find_map(|path| {
            let is_there = root.join(path).symlink_metadata().is_ok();
            match root.resolve(path).err()? {
                fault @ PathError::LeadsOut { .. } => Some(fault),
                fault @ PathError::Outside(_) if is_there || path.starts_with("../") => Some(fault),
                fault @ (PathError::Secret(_) | PathError::Own(_)) if is_there || path.starts_with('.') => Some(fault),
                _ => None,
            }
        })
        .map(|fault| fault.to_string())
}

/// The first file that the words name and that does not exist yet.
///
/// # Errors
/// Another file has almost its name, and the words do not say that a file is new.
async fn named_new(workspace: &Workspace, words: &str) -> Result<Option<String>, String> {
    let (root, words) = (workspace.root.clone(), words.to_owned());
    tokio::task::spawn_blocking(move || new_file(&root, &words)).await.unwrap_or(Ok(None))
}

/// The same for a root. Blocks.
fn new_file(root: &Root, words: &str) -> Result<Option<String>, String> {
    let mentioned = request_names::mentions(words).into_iter().filter(|mention| mention.sure);
    let file_of = |name: String| match name.split_once("::") {
        Some((file, _)) if file.contains(['.', '/']) => file.to_owned(),
        _ => name,
    };
    let is_new = |name: &String| request_names::files_named(root, name).is_empty() && !leaves_alone(words, name);
    let new = mentioned.map(|mention| file_of(mention.name)).filter(is_new);
    let Some(new) = new.filter_map(|name| request_names::new_file(root, &name)).next() else { return Ok(None) };
    let is_made = words.split(|c: char| !c.is_alphabetic()).any(|word| NEW.contains(&word.to_lowercase().as_str()));
    let files = if is_made { Vec::new() } else { workspace_files::list(root, "", MOST_PARSED).files };
    match nearest_file::nearest(&new, &files) {
        Some(near) => {
            Err(format!("{new} is not there: did you mean {near}? For a new file add the line `creates: {new}`"))
        }
        None => Ok(Some(new)),
    }
}

fn files_of(meanings: &[Meaning]) -> Vec<String> {
    subject(meanings, true).into_iter().filter(|path| path.names.is_empty()).map(|path| path.file).collect()
}

/// The paths of the names with one meaning, each once.
fn subject(meanings: &[Meaning], sure: bool) -> Vec<SymbolPath> {
    let mut found: Vec<SymbolPath> = Vec::new();
    for meaning in meanings.iter().filter(|meaning| meaning.sure == sure) {
        if let [one] = meaning.paths.as_slice()
            && !found.contains(one)
        {
            found.push(one.clone());
        }
    }
    found
}

/// The subject of a title: symbols before the files that hold them, and sure names before plain words. A single plain
/// word behind the first one counts: the first one is the verb, whatever symbol has its name.
fn subjects(meanings: &[Meaning], title: &str) -> Vec<SymbolPath> {
    let sure = subject(meanings, true);
    let has_symbol = |file: &str| sure.iter().any(|path| path.file == file && !path.names.is_empty());
    let symbols: Vec<SymbolPath> =
        sure.iter().filter(|path| !path.names.is_empty() || !has_symbol(&path.file)).cloned().collect();
    if symbols.iter().any(|path| !path.names.is_empty()) {
        return symbols;
    }
    let verb = title.split_whitespace().next().unwrap_or_default();
    let plain: Vec<Meaning> = meanings.iter().filter(|meaning| meaning.name != verb).cloned().collect();
    match subject(&plain, false).as_slice() {
        [one] if symbols.is_empty() || symbols.iter().any(|file| file.file == one.file) => vec![one.clone()],
        _ => symbols,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(name: &str, sure: bool, paths: &[&str]) -> Meaning {
        Meaning { name: name.into(), sure, paths: paths.iter().map(|path| SymbolPath::parse(path)).collect() }
    }

    #[test]
    fn the_subject_is_what_the_words_name_without_doubt() {
        let of = |title: &str, meanings: &[Meaning]| -> Vec<String> {
            subjects(meanings, title).iter().map(ToString::to_string).collect()
        };
        let (file, total) =
            (meaning("cart.py", true, &["cart.py"]), meaning("total", false, &["cart.py::Cart::total"]));
        assert_eq!(of("Fix total in cart.py", &[file.clone(), total.clone()]), ["cart.py::Cart::total"]);
        assert_eq!(of("total up cart.py", &[file.clone(), total.clone()]), ["cart.py"], "the verb is no symbol");
        let sure = meaning("Cart::total", true, &["cart.py::Cart::total"]);
        assert_eq!(of("Fix Cart.total in cart.py", &[sure, file.clone()]), ["cart.py::Cart::total"]);
        let other = meaning("name", false, &["cart.py::name"]);
        assert_eq!(of("Give total a name", &[total, other]), Vec::<String>::new(), "one of two plain words");
        let both = meaning("size", true, &["a.py::size", "b.py::size"]);
        assert_eq!(of("Fix `size`", &[both]), Vec::<String>::new());
        assert_eq!(of("Sort imports of cart.py", &[file]), ["cart.py"]);
    }

    #[test]
    fn a_file_that_is_not_there_is_a_new_one_unless_another_has_almost_its_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("shop")).unwrap();
        for file in ["shop/cart.py", "shop/report.py"] {
            std::fs::write(dir.path().join(file), "x = 1\n").unwrap();
        }
        let root = Root::new(dir.path()).unwrap();
        for (words, new) in [
            ("Fix it in `shop/nope.py::zz`", Some("shop/nope.py")),
            ("Fix it in shop/nope.py", Some("shop/nope.py")),
            ("Create `shop/crat.py`", Some("shop/crat.py")),
            ("Fix it in `shop/cart.py::zz`", None),
            ("Fix Cart::total and os.path", None),
            ("Fix `cart.py`", None),
        ] {
            assert_eq!(new_file(&root, words), Ok(new.map(str::to_owned)), "{words}");
        }
        for words in ["Fix the total in shop/crat.py", "Fix `shop/crat.py::zz`"] {
            let fault = new_file(&root, words).unwrap_err();
            assert!(
                fault.contains("did you mean shop/cart.py?") && fault.contains("`creates: shop/crat.py`"),
                "{fault}"
            );
        }
    }

    #[test]
    fn a_path_that_leads_to_no_file_of_the_project_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let (top, out) = (dir.path().join("p"), dir.path().join("o.py"));
        std::fs::create_dir(&top).unwrap();
        for file in [&out, &top.join("a.py"), &top.join(".env")] {
            std::fs::write(file, "x = 1\n").unwrap();
        }
        std::os::unix::fs::symlink(&out, top.join("link.py")).unwrap();
        let root = Root::new(&top).unwrap();
        for (words, part) in [
            ("change the key in .env", ".env may hold secrets"),
            ("change ../o.py", "../o.py is outside"),
            ("change `../gone.py`.", "../gone.py is outside"),
            ("change link.py and a.py", "link.py leads out"),
            ("change /etc/passwd", "/etc/passwd is outside"),
        ] {
            let fault = impossible_file(&root, words).unwrap_or_default();
            assert!(fault.contains(part), "{words}: {fault}");
        }
        for words in [
            "change a.py",
            "add the route /health",
            "fix Cart.key",
            "do this and/or that ...",
            "change a.py, do not touch ../o.py",
        ] {
            assert_eq!(impossible_file(&root, words), None, "{words}");
        }
    }
}
