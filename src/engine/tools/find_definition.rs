//! `definition`: shows where a name is defined, and the source there.

use std::path::{Component, Path, PathBuf};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::editor::editor_lookup::places;
use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::read_views::SeenTexts;
use crate::state::task::TaskWork;
use crate::state::task_scope;
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::symbol_lookup;
use crate::tools::tool::{Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_base::path;
use sextant_base::plural::counted;
use sextant_base::positions::{Encoding, LineIndex, Range};
use sextant_diagnostics::server::name_requests::NameQuestion;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_store::workspace::workspace_files;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most lines of a definition that are shown.
const LINES: usize = 40;
/// Most lines that are shown of a definition without a symbol: a variable, a parameter.
const FEW: usize = 4;
/// Most definitions of one name that are shown.
const MOST: usize = 3;
/// Bytes of the largest file of a library that is read.
const LARGEST: u64 = 4 << 20;

/// Folders of installed libraries, and the stubs of the standard library.
const LIBRARIES: &[&str] = &["site-packages", "dist-packages", "typeshed", "typeshed-fallback", "typeshed-stubs"];

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<Definition>("definition", "name in it", Access::Read)
    .serves(&[StepKind::Examine])
    .outside("Where a name in a symbol is defined.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    symbol: String,
    name: Option<String>,
}

#[async_trait]
impl Tool for Definition {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    fn spans_files(&self) -> bool {
        true
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let asked =
            symbol_lookup::ask(&edits.workspace, &self.symbol, self.name.as_deref(), &NameQuestion::Definition).await?;
        let found = places(&asked.said.value);
        let mut out = Vec::new();
        for place in found.iter().take(MOST) {
            out.push(shown(&edits.workspace, &mut work.seen, &place.file, place.range, asked.said.encoding).await);
        }
        if found.len() > MOST {
            out.push(format!("[{}]", counted(found.len() - MOST, "more definition")));
        }
        out.extend(asked.notes);
        Ok(ToolAnswer::text(out.join("\n")))
    }
}

/// A definition with its source, as far as the file may be read.
async fn shown(workspace: &Workspace, seen: &mut SeenTexts, file: &Path, range: Range, encoding: Encoding) -> String {
    let line = range.start.line.saturating_add(1);
    if let Some(library) = in_library(file) {
        let name = library_name(file);
        let text = tokio::task::spawn_blocking(move || library_text(&library)).await.ok().flatten();
        return match text {
            Some(text) => source(&name, &text, range, encoding).0,
            None => format!("{name}, line {line} (it cannot be read)"),
        };
    }
    let Some(relative) = path::relative(workspace.root.path(), file) else {
        return format!("outside of the workspace, and of its libraries, line {line}: it is not read");
    };
    let resolved =
        workspace.root.resolve(&relative).ok().filter(|path| !workspace_files::is_ignored(&workspace.root, path));
    let Some(resolved) = resolved else { return format!("{relative}, line {line} (it is not read)") };
    match target::document(workspace, &resolved).await {
        Ok(document) => {
            let (text, lines) = source(&document.path, &document.text, range, encoding);
            seen.lines(&document.path, &document.text, lines);
            text
        }
        Err(failure) => format!("{relative}, line {line} ({})", failure.message),
    }
}

/// The source of the symbol that is defined there, or the lines around a definition without one. Also returns the range
/// of these lines, from 0.
fn source(name: &str, text: &str, range: Range, encoding: Encoding) -> (String, std::ops::Range<usize>) {
    let index = LineIndex::new(text);
    let at = index.offset(text, range.start, encoding);
    let first = index.line_of(at);
    let outline = language::of_path(name).map(|language| Outline::parse(language, text)).unwrap_or_default();
    let inner = outline.at(at);
    let path = SymbolPath::new(name, inner.map(|symbol| outline.path_of(symbol)).unwrap_or_default());
    let own = inner.filter(|symbol| {
        let range = &outline.symbols[*symbol].name_range;
        range.start <= at && at <= range.end
    });
    let (begins, body) = match own {
        Some(symbol) => {
            (index.line_of(outline.symbols[symbol].extent.start), task_scope::source(text, &outline, symbol).to_owned())
        }
        None => (first, text.lines().skip(first).take(FEW).collect::<Vec<_>>().join("\n")),
    };
    let total = body.lines().count();
    let mut out = format!("{path}, line {}\n{}", first + 1, body.lines().take(LINES).collect::<Vec<_>>().join("\n"));
    if total > LINES {
        out.push_str(&format!("\n[{}]", counted(total - LINES, "more line")));
    }
    (out, begins..begins + total.min(LINES))
}

/// The file itself, where it is source text of an installed library. A server may name any file of the machine; no
/// other file outside of the workspace is read.
fn in_library(file: &Path) -> Option<PathBuf> {
    let real = file.canonicalize().ok()?;
    let is_source = real.to_str().is_some_and(|path| language::of_path(path).is_some());
    (is_source && library_root(&real).is_some()).then_some(real)
}

/// The index of the folder that makes a path one of a library.
fn library_root(path: &Path) -> Option<usize> {
    let parts: Vec<&str> = path.components().map(|part| part.as_os_str().to_str().unwrap_or_default()).collect();
    let python = |at: usize| {
        let of_lib = at > 0 && (parts[at - 1] == "lib" || parts[at - 1] == "lib64");
        of_lib
            && parts[at]
                .strip_prefix("python3")
                .is_some_and(|rest| rest.chars().all(|c| c == '.' || c.is_ascii_digit()))
    };
    // The last part is the file itself.
    (0..parts.len().saturating_sub(1)).rev().find(|at| LIBRARIES.contains(&parts[*at]) || python(*at))
}

/// A path of a library without its beginning on this machine.
pub(crate) fn library_name(path: &Path) -> String {
    let from = library_root(path).unwrap_or_default();
    let parts = path.components().skip(from).filter(|part| matches!(part, Component::Normal(_)));
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

fn library_text(path: &Path) -> Option<String> {
    let what = path.metadata().ok().filter(|what| what.is_file() && what.len() <= LARGEST)?;
    tracing::debug!(path = %path.display(), bytes = what.len(), "a library is read");
    std::fs::read_to_string(path).ok().map(|text| text.replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_are_read_outside_and_their_paths_are_short() {
        let short = |path: &str| library_root(Path::new(path)).map(|_| library_name(Path::new(path)));
        let found = [
            ("/u/.venv/lib/python3.11/site-packages/requests/api.py", "site-packages/requests/api.py"),
            ("/usr/lib/python3.11/json/__init__.py", "python3.11/json/__init__.py"),
            (
                "/x/site-packages/b/dist/typeshed-fallback/stdlib/os/__init__.pyi",
                "typeshed-fallback/stdlib/os/__init__.pyi",
            ),
        ];
        for (path, name) in found {
            assert_eq!(short(path).as_deref(), Some(name));
        }
        for other in ["/u/.ssh/id.py", "/u/python3/a.py", "/srv/other/site-packages", "/usr/lib/python3x/a.py"] {
            assert_eq!(short(other), None, "{other}");
        }
    }

    #[test]
    fn a_symbol_is_shown_whole_and_cut_and_a_variable_with_the_lines_below() {
        let long: String = (0..60).map(|n| format!("    x{n} = {n}\n")).collect();
        let text = format!("LIMIT = 3\n\n\ndef ö😀f():\n{long}");
        let range = |line, character| {
            let at = sextant_base::positions::Position { line, character };
            Range { start: at, end: at }
        };
        let shown = source("a.py", &text, range(3, 4), Encoding::Utf16).0;
        assert!(shown.starts_with("a.py::"), "{shown}");
        assert!(shown.contains("line 4\ndef") && shown.ends_with("[21 more lines]"), "{shown}");
        let shown = source("a.py", &text, range(0, 0), Encoding::Utf16).0;
        assert!(shown.starts_with("a.py, line 1\nLIMIT = 3\n"), "{shown}");
    }
}
