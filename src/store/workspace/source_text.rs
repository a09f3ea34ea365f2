//! The source in a file, for its names: in notebooks and in files that are not UTF-8 too.

use serde_json::Value;

use crate::workspace::root::Root;
use crate::workspace::workspace_files;
use sextant_text::symbols::language::{self, LANGUAGES, Language};

/// How the path of a notebook ends.
const NOTEBOOK: &str = ".ipynb";

/// A notebook holds its source in cells. Type checkers read it from the command line; no server is asked about it here.
pub fn is_notebook(path: &str) -> bool {
    path.ends_with(NOTEBOOK)
}

/// The language of the source in a file.
pub fn language_of(path: &str) -> Option<&'static Language> {
    let holds =
        |language: &&Language| path.rsplit_once('.').is_some_and(|(_, ending)| language.embedded_in.contains(&ending));
    let own = language::of_path(if is_notebook(path) { "cells.py" } else { path });
    own.or_else(|| LANGUAGES.iter().find(holds))
}

/// True if a file can be opened as a text of its own language.
pub fn is_plain(root: &Root, path: &str) -> bool {
    !is_notebook(path) && workspace_files::text(root, path).is_some()
}

/// The source in a listed file on disk.
pub fn of(root: &Root, path: &str) -> Option<String> {
    let text = workspace_files::lossy_text(root, path)?;
    Some(if is_notebook(path) { cells(&text) } else { text })
}

/// The source of the code cells of a notebook; of a damaged one its text as it stands.
fn cells(notebook: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(notebook) else { return notebook.to_owned() };
    let cells = value["cells"].as_array().into_iter().flatten().filter(|cell| cell["cell_type"] == "code");
    let mut out = String::new();
    for cell in cells {
        match &cell["source"] {
            Value::Array(lines) => lines.iter().filter_map(Value::as_str).for_each(|line| out.push_str(line)),
            source => out.push_str(source.as_str().unwrap_or_default()),
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_a_notebook_is_that_of_its_code_cells() {
        let lines = serde_json::json!({"cells": [
            {"cell_type": "markdown", "source": "import other"},
            {"cell_type": "code", "source": ["import a\n", "a.f()"]},
            {"cell_type": "code", "source": "from b import g"},
        ]});
        assert_eq!(cells(&lines.to_string()), "import a\na.f()\nfrom b import g\n");
        assert_eq!(cells("{\"cells\": [import a"), "{\"cells\": [import a");
    }
}
