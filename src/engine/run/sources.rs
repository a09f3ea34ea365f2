//! Chooses the first source that a model is shown: the scope and the names of the request, whole where they fit.

use std::ops::Range;

use crate::run::widen_scope;
use crate::state::journal::Journal;
use crate::state::task::TaskWork;
use crate::state::task_scope::{Scope, source};
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::plural::counted;
use sextant_base::positions::LineIndex;
use sextant_base::secrets::mask;
use sextant_base::token_estimate::LEAST_BYTES_PER_TOKEN;
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_text::symbols::imports;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most bytes of source of one question: about 700 tokens.
pub(crate) const SOURCE: usize = 2400;
/// Most bytes of a list of a file's content: a model lists or searches for more.
const LISTED: usize = 600;
/// Bytes of the beginning of a long text that is not code: enough to show its style.
const HEAD: usize = 1000;
/// Most bytes of the imports of a file that are shown beside its symbols.
const IMPORTS: usize = 1000;
/// Opening of the text that stands for one that is too long.
const TOO_LONG: &str = "(too long to show";

/// Bytes of source that a question has room for.
pub(crate) fn room(talks: bool, budget: PromptBudget) -> usize {
    if talks {
        budget.sources * LEAST_BYTES_PER_TOKEN
    } else {
        SOURCE * budget.sources / PromptBudget::default().sources
    }
}

/// True if a text only lists what there is to read.
pub(crate) fn is_list(text: &str) -> bool {
    text.starts_with(TOO_LONG)
}

/// A file or a symbol that may be shown, and the bytes that it may have.
struct WantedSource {
    path: SymbolPath,
    most: usize,
}

/// The source in scope as the editor has it now, or a list of its content where it is long. For a long file in which
/// the request names something, that part.
pub(crate) async fn sources(workspace: &Workspace, work: &mut TaskWork, mut room: usize) -> Vec<(String, String)> {
    let mut sources: Vec<(String, String)> = Vec::new();
    // A file that the request only names may not need to be read whole.
    let (of_scope, of_named) = (room, room / 3);
    let mut wanted: Vec<WantedSource> =
        in_scope(&work.scope).map(|path| WantedSource { path, most: of_scope }).collect();
    // A name that is to be left alone need not be read.
    let named: Vec<SymbolPath> = work
        .intent
        .analysis
        .named(&work.scope)
        .into_iter()
        .filter(|path| !is_left_alone(&work.journal, path))
        .collect();
    wanted.extend(named.into_iter().map(|path| WantedSource { path, most: of_named }));
    let within: Vec<SymbolPath> =
        work.intent.analysis.symbols.iter().filter(|path| !is_left_alone(&work.journal, path)).cloned().collect();
    let mut at = 0;
    while let Some(WantedSource { path, most }) = wanted.get(at) {
        let (path, most) = (path.clone(), room.min(*most));
        at += 1;
        let shown = path.to_string();
        if sources.iter().any(|(known, _)| *known == shown) {
            continue;
        }
        let Ok(document) = target::document(workspace, &path.file).await else { continue };
        let text = mask(&document.text);
        if path.names.is_empty() && text.len() > most {
            let parts: Vec<&SymbolPath> = within.iter().filter(|part| part.file == path.file).collect();
            if !parts.is_empty() {
                wanted.extend(parts.into_iter().map(|path| WantedSource { path: path.clone(), most: of_named }));
                continue;
            }
        }
        let Some((excerpt, lines)) = excerpt(&document.path, &text, &path.names, most) else { continue };
        room = room.saturating_sub(excerpt.len());
        work.seen.lines(&document.path, &document.text, lines);
        sources.push((shown, excerpt));
    }
    sources
}

/// The imports of the files whose symbols may be changed: an edit may change them too.
pub(crate) async fn imports(workspace: &Workspace, work: &mut TaskWork) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in work.scope.files().into_iter().filter(|file| work.scope.lends_imports(file)) {
        let Some(language) = language::of_path(&file) else { continue };
        let Ok(document) = target::document(workspace, &file).await else { continue };
        let text = mask(&document.text);
        let index = LineIndex::new(&text);
        let lines_of = |place: &Range<usize>| index.line_of(place.start)..index.line_of(place.end) + 1;
        let mut shown: Vec<&str> = Vec::new();
        let mut room = IMPORTS;
        for place in imports::places(language, &text) {
            let Some(import) = text.get(place.clone()).filter(|import| import.len() < room) else { break };
            room -= import.len() + 1;
            work.seen.lines(&document.path, &document.text, lines_of(&place));
            shown.push(import);
        }
        if !shown.is_empty() {
            found.push((format!("the imports of {file}"), shown.join("\n")));
        }
    }
    found
}

fn is_left_alone(journal: &Journal, path: &SymbolPath) -> bool {
    let last = path_spelling::last_name(&path.names);
    let alone = |name: &str| !name.is_empty() && widen_scope::leaves_alone(&journal.request, name);
    alone(&path.file) || alone(last)
}

fn in_scope(scope: &Scope) -> impl Iterator<Item = SymbolPath> {
    let files = scope.whole_files().iter().map(|file| SymbolPath::new(file, ""));
    let symbols = scope.symbols().iter().cloned();
    // The user's own targets come first, and the other names of the request after them.
    let both: Vec<SymbolPath> = if matches!(scope, Scope::Parts { .. }) {
        symbols.chain(files).collect()
    } else {
        files.chain(symbols).collect()
    };
    both.into_iter()
}

/// The text of a symbol or a file, as far as there is room, and its lines, from 0. `None` for a symbol that does not
/// exist yet.
fn excerpt(path: &str, text: &str, names: &str, room: usize) -> Option<(String, Range<usize>)> {
    let outline = language::of_path(path).map(|language| Outline::parse(language, text));
    match outline {
        _ if names.is_empty() && text.len() <= room => Some(fit(text, room, "read_file", 0)),
        None => Some(fit(text, room.min(HEAD), "read_file", 0)),
        Some(outline) if names.is_empty() => Some((list(&outline, None), 0..0)),
        Some(outline) => {
            let symbol = outline.known(names)?;
            let source = source(text, &outline, symbol);
            let is_class = outline.symbols[symbol].kind.holds_members();
            Some(if is_class && source.len() > room {
                (list(&outline, Some(symbol)), 0..0)
            } else {
                let before = &text[..outline.symbols[symbol].extent.start];
                fit(source, room, "read_symbol", before.matches('\n').count())
            })
        }
    }
}

/// The content of a file or a class, as far as there is room: functions, and classes with their methods.
fn list(outline: &Outline, parent: Option<usize>) -> String {
    let mut shown: Vec<String> = Vec::new();
    let (mut left, mut more) = (LISTED, 0);
    for (index, symbol) in outline.symbols.iter().enumerate() {
        if symbol.parent != parent || symbol.ordinal > 1 {
            continue;
        }
        let inside = outline.symbols.iter().filter(|inner| inner.parent == Some(index) && inner.ordinal == 1);
        let inside: Vec<&str> = inside.map(|inner| inner.name.as_str()).collect();
        let is_class = symbol.kind.holds_members() && !inside.is_empty();
        let whole = if is_class { format!("{}({})", symbol.name, inside.join(", ")) } else { symbol.name.clone() };
        let fits = [whole, symbol.name.clone()].into_iter().find(|text| text.len() + 2 <= left);
        match fits.filter(|_| more == 0) {
            Some(text) => {
                left -= text.len() + 2;
                shown.push(text);
            }
            None => more += 1,
        }
    }
    if more > 0 {
        shown.push(format!("… {}", counted(more, "more symbol")));
    }
    let shown = if shown.is_empty() { String::new() } else { format!("; its symbols: {}", shown.join(", ")) };
    format!("{TOO_LONG}{shown})")
}

/// As much as fits, cut at a line, and its lines, of which the first has this number.
fn fit(text: &str, room: usize, tool: &str, first: usize) -> (String, Range<usize>) {
    if text.len() <= room {
        return (text.to_owned(), first..first + text.lines().count());
    }
    let cut = text.floor_char_boundary(room);
    match text[..cut].rfind('\n').unwrap_or(0) {
        0 => (format!("{TOO_LONG})"), first..first),
        end => {
            let shown = &text[..end];
            (format!("{shown}\n(cut here; {tool} shows the rest)"), first..first + shown.lines().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_listed_by_its_functions_and_its_classes_with_their_methods() {
        let inner = "def f():\n    def inner():\n        pass\n\n\n";
        let text =
            format!("{inner}class A:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, v): ...\n");
        assert_eq!(excerpt("a.py", &text, "", 20).unwrap().0, "(too long to show; its symbols: f, A(x))");
        assert_eq!(excerpt("a.py", &text, "A", 20).unwrap().0, "(too long to show; its symbols: x)");
        assert_eq!(excerpt("a.py", &text, "f", 20).unwrap().0, "def f():\n(cut here; read_symbol shows the rest)");
        assert_eq!(excerpt("a.txt", "one\ntwo\n", "", 6).unwrap().0, "one\n(cut here; read_file shows the rest)");
        assert!(is_list(&excerpt("a.txt", "onetwo\n", "", 3).unwrap().0));
        let many: String = (0..200).map(|n| format!("def function_{n}(): ...\n")).collect();
        let listed = excerpt("a.py", &many, "", 100).unwrap().0;
        assert!(listed.len() < LISTED + 100 && listed.contains(" more symbols)"), "{listed}");
    }
}
