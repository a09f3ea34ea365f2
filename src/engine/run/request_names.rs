//! Analyses a request before any model is asked. It finds question or change, the named symbols and files, and the
//! known diagnostics that bear on it.

use std::sync::Arc;

use crate::events::task_events::TaskEvents;
use crate::state::analysis::{Analysis, Mention, SHORTEST};
use crate::state::snapshots::Snapshots;
use crate::state::task::TaskIntent;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::request_kind::{self, Ask};
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_PARSED};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most names of one request that are looked up.
const MOST_NAMES: usize = 8;

/// The words that may be names, in order, each once.
pub(crate) fn mentions(text: &str) -> Vec<Mention> {
    let mut out: Vec<Mention> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '“' | '”' | '«' | '»')) {
        let Some(mention) = mention(word).filter(Mention::is_long_enough) else { continue };
        if !out.iter().any(|known| known.name == mention.name) {
            out.push(mention);
        }
    }
    out
}

pub(crate) fn mention(word: &str) -> Option<Mention> {
    let quoted = word.contains('`');
    let word = word.trim_start_matches(['`', '\'', '(', '[', '{', '<']);
    let word = word.strip_prefix("./").unwrap_or(word);
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '(' | ')'));
    let call = word.ends_with("()");
    let word = word.trim_end_matches("'s").trim_matches(['(', ')']);
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '/' | '-' | '#');
    if word.is_empty() || !word.chars().all(legal) {
        return None;
    }
    let path = word.contains('/') || language::of_path(word).is_some();
    let dotted = !path && word.contains('.');
    let camel = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let name = match word.split_once("::").filter(|(file, _)| language::of_path(file).is_some()) {
        Some((file, names)) => format!("{file}::{}", names.replace('.', "::")),
        None if dotted => word.replace('.', "::"),
        None => word.to_owned(),
    };
    let sure = quoted || call || path || dotted || camel || name.contains("::") || name.contains('_');
    Some(Mention { name, sure })
}

/// Every symbol of a text that a name can stand for.
fn fitting(path: &str, text: &str, names: &str) -> Vec<SymbolPath> {
    let plain = path_spelling::last_name(names);
    let Some(language) = language::of_path(path).filter(|_| text.contains(plain)) else { return Vec::new() };
    let outline = Outline::parse(language, text);
    let paths = (0..outline.symbols.len()).map(|index| outline.path_of(index));
    let found: Vec<String> = paths.filter(|own| own == names || own.ends_with(&format!("::{names}"))).collect();
    // The name of a class means the class, and not its constructor, which has the same name in C++ and Java.
    let is_in = |own: &str, other: &String| own.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with("::"));
    let outer = found.iter().filter(|own| !found.iter().any(|other| is_in(own, other)));
    outer.map(|own| SymbolPath::new(path, own)).collect()
}

/// The symbols that a name stands for: those of the user's own file, or else all of the workspace. Blocks.
pub(crate) fn symbols_named(root: &Root, here: Option<&(String, Arc<str>)>, name: &str) -> Vec<SymbolPath> {
    let wanted = SymbolPath::parse(name);
    if !wanted.file.is_empty() {
        let text = match here {
            Some((path, text)) if *path == wanted.file => Some(text.clone()),
            _ => root.resolve(&wanted.file).ok().and_then(|path| workspace_files::text(root, &path)).map(Arc::from),
        };
        return text.map(|text| fitting(&wanted.file, &text, &wanted.names)).unwrap_or_default();
    }
    if let Some((path, text)) = here {
        let near = fitting(path, text, &wanted.names);
        if !near.is_empty() {
            return near;
        }
    }
    let list = workspace_files::list(root, "", MOST_PARSED).files;
    let others = list.iter().filter(|path| language::of_path(path).is_some());
    others
        .flat_map(|path| {
            workspace_files::text(root, path).map(|text| fitting(path, &text, &wanted.names)).unwrap_or_default()
        })
        .collect()
}

/// The symbols of one text that a name stands for.
pub(crate) fn symbols_in(file: &(String, Arc<str>), name: &str) -> Vec<SymbolPath> {
    let (path, text) = file;
    let wanted = SymbolPath::parse(name);
    let own = wanted.file.is_empty() || wanted.file == *path;
    if own { fitting(path, text, &wanted.names) } else { Vec::new() }
}

/// The files that a word names: a path, or the last parts of one. Blocks.
pub(crate) fn files_named(root: &Root, name: &str) -> Vec<String> {
    let written = as_file(name);
    let name = written.as_str();
    if name.contains("::") {
        return Vec::new();
    }
    if let Ok(path) = root.resolve(name)
        && root.join(&path).is_file()
    {
        return vec![path];
    }
    if !name.contains(['.', '/']) {
        return Vec::new();
    }
    let ending = format!("/{name}");
    workspace_files::list(root, "", MOST_PARSED).files.into_iter().filter(|path| path.ends_with(&ending)).collect()
}

/// A name as that of a file: `notes.txt` reads like `Cart.total`, and an existing file of that name wins.
fn as_file(name: &str) -> String {
    let name = name.trim_start_matches("./");
    if name.contains(['.', '/']) { name.to_owned() } else { name.replace("::", ".") }
}

/// Endings of files that a request may ask for by name.
const TEXTS: &str = "md rst txt toml cfg ini json yaml yml sh lua js ts css html sql csv";

/// The path of a file that does not exist yet, where a name can mean nothing else. Blocks.
pub(crate) fn new_file(root: &Root, name: &str) -> Option<String> {
    let written = as_file(name);
    let ending = written.rsplit('/').next()?.rsplit_once('.')?.1;
    let is_text = language::of_path(&written).is_some() || TEXTS.split(' ').any(|known| known == ending);
    if !is_text || written.contains(':') || written.contains('#') {
        return None;
    }
    root.resolve(&written).ok().filter(|path| !root.join(path).exists())
}

/// The symbols and files that a request's words name. Blocks.
pub(crate) fn analyse(root: &Root, here: Option<&(String, Arc<str>)>, text: &str) -> Analysis {
    let mut analysis = Analysis {
        question: matches!(request_kind::classify(text), Ask::Question | Ask::Forbidden),
        ..Analysis::default()
    };
    for mention in mentions(text).into_iter().filter(|mention| mention.sure).take(MOST_NAMES) {
        let files = files_named(root, &mention.name);
        if !files.is_empty() {
            analysis.take_files(&as_file(&mention.name), &files);
            continue;
        }
        let symbols = symbols_named(root, here, &mention.name);
        if symbols.is_empty() {
            analysis.new_files.extend(new_file(root, &mention.name));
        }
        analysis.take(&mention.name, true, symbols);
    }
    // A plain word may be a name only in the user's own file: elsewhere every second word would be one.
    if let Some((path, source)) = here {
        for mention in mentions(text).into_iter().filter(|mention| !mention.sure) {
            analysis.take(&mention.name, false, fitting(path, source, &mention.name));
        }
    }
    analysis
}

/// Keeps the symbols and files that the request's words name.
pub(crate) async fn analyse_into(workspace: &Workspace, intent: &mut TaskIntent, request: &str) {
    let here = match &intent.current_file {
        Some(path) => target::document(workspace, path).await.ok().map(|document| (document.path, document.text)),
        None => None,
    };
    let (root, text) = (workspace.root.clone(), request.to_owned());
    let done = tokio::task::spawn_blocking(move || analyse(&root, here.as_ref(), &text)).await;
    intent.analysis = done.unwrap_or_default();
}

/// Keeps the known diagnostics that bear on the request, and puts all into the trace.
pub(crate) async fn weigh_named(task_events: &TaskEvents, request: &str, analysis: &mut Analysis, known: &Snapshots) {
    let files = known.keys().map(|(file, _)| file.clone()).collect();
    let found = crate::state::comparison::all(known, files).await;
    let codes = found.iter().filter_map(|found| found.diagnostic.code.clone());
    analysis.codes = codes.filter(|code| quotes(request, code)).collect();
    analysis.bearing = found.iter().filter(|found| analysis.bears_on(found)).count();
    task_events.trace(1, Trace::new(Effect::Understood, "the request", "analysis", analysis.words()));
}

/// True if a request has the code of a diagnostic as a word. A short number is hardly meant as one.
pub(crate) fn quotes(request: &str, code: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let stands =
        |at: usize| !is_part(request[..at].chars().next_back()) && !is_part(request[at + code.len()..].chars().next());
    code.len() > SHORTEST && request.match_indices(code).any(|(at, _)| stands(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_quoted_as_a_word() {
        for request in ["fix #F401", "fix F401, please", "`F401`"] {
            assert!(quotes(request, "F401"), "{request}");
        }
        assert!(quotes("fix react-hooks/rules-of-hooks here", "react-hooks/rules-of-hooks"));
        for request in ["fix F4011", "fix XF401", "fix the imports"] {
            assert!(!quotes(request, "F401"), "{request}");
        }
        assert!(!quotes("add 12 of them", "12"), "a number");
    }

    #[test]
    fn the_form_of_a_word_says_whether_it_is_a_name() {
        let sure = |text: &str| -> Vec<String> {
            mentions(text).into_iter().filter(|mention| mention.sure).map(|mention| mention.name).collect()
        };
        assert_eq!(
            sure("Fix `total`, Cart.total and rename_all() in src/cart.py."),
            ["total", "Cart::total", "rename_all", "src/cart.py"]
        );
        assert_eq!(sure("¿Qué hace Cart::total en LineItem?"), ["Cart::total", "LineItem"]);
        assert_eq!(sure("Fix the errors here, please: it's broken!"), Vec::<String>::new());
        assert!(mentions("fix total").iter().any(|mention| mention.name == "total" && !mention.sure));
        for (word, name) in [("a.py::Cart.total", "a.py::Cart::total"), ("src/a.py::f", "src/a.py::f")] {
            assert_eq!(mention(word).unwrap().name, name, "the dots of a file's name are no part of a path");
        }
    }

    #[test]
    fn the_name_of_a_class_means_the_class_and_not_its_constructor() {
        let text = "class Cart {\npublic:\n    Cart();\n    int total();\n};\n\nCart::Cart() {\n}\n";
        assert_eq!(fitting("cart.cpp", text, "Cart"), [SymbolPath::new("cart.cpp", "Cart")]);
        assert_eq!(fitting("cart.cpp", text, "total"), [SymbolPath::new("cart.cpp", "Cart::total")]);
    }

    #[test]
    fn a_file_that_exists_wins_over_a_symbol_of_that_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("doc")).unwrap();
        for path in ["notes.txt", "LICENSE", "doc/more.txt"] {
            std::fs::write(dir.path().join(path), "x\n").unwrap();
        }
        std::fs::write(dir.path().join("a.py"), "class Cart:\n    def total(self): ...\n").unwrap();
        let root = Root::new(dir.path()).unwrap();
        for (word, file) in [("notes.txt", "notes.txt"), ("LICENSE", "LICENSE"), ("`more.txt`", "doc/more.txt")] {
            assert_eq!(files_named(&root, &mention(word).unwrap().name), [file]);
        }
        for word in ["Cart.total", "nothing.txt", "doc", "a.py::Cart"] {
            assert_eq!(files_named(&root, &mention(word).unwrap().name), Vec::<String>::new(), "{word}");
        }
        assert_eq!(analyse(&root, None, "explain notes.txt and Cart.total").files, ["notes.txt"]);
    }

    #[test]
    fn a_file_that_is_not_there_is_named_by_its_path_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let new = |text: &str| analyse(&root, None, text).new_files;
        assert_eq!(new("move it to utils.py, and tell it in doc/NEWS.md"), ["utils.py", "doc/NEWS.md"]);
        for text in ["and/or 1.2/3.4", "os.path", "see https://x.org/a.html", "../out.py", "/etc/x.py", "f.total"] {
            assert_eq!(new(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn names_are_found_near_first_and_ambiguous_ones_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| std::fs::write(dir.path().join(path), text).unwrap();
        write("a.py", "class Cart:\n    def total(self):\n        pass\n\n\ndef only_here():\n    pass\n");
        write(
            "b.py",
            "def total():\n    pass\n\n\nclass Box:\n    def size(self): ...\n\nclass Bag:\n    def size(self): ...\n",
        );
        let root = Root::new(dir.path()).unwrap();
        let a = ("a.py".to_owned(), std::fs::read_to_string(dir.path().join("a.py")).unwrap().into());
        let names = |analysis: &Analysis| analysis.symbols.iter().map(ToString::to_string).collect::<Vec<_>>();
        let near = analyse(&root, Some(&a), "why does total fail in b.py?");
        assert_eq!(
            (names(&near), near.files.as_slice()),
            (vec!["a.py::Cart::total".to_owned()], &["b.py".to_owned()][..])
        );
        assert!(near.question);
        let far = analyse(&root, None, "rename `total` and only_here(), leave size alone");
        assert_eq!(names(&far), ["a.py::only_here"]);
        assert_eq!(far.ambiguous.len(), 1);
        let lines = ["`total` may be a.py::Cart::total or b.py::total", "`only_here` is a.py::only_here"];
        assert_eq!(far.lines(|_| false), lines);
        assert_eq!(far.lines(|path| path.names == "only_here"), lines[..1]);
        assert!(
            !far.question && far.words().contains("total may be a.py::Cart::total or b.py::total"),
            "{}",
            far.words()
        );
        assert_eq!(analyse(&root, Some(&a), "use the Bag.size of b.py").symbols[0].to_string(), "b.py::Bag::size");
    }
}
