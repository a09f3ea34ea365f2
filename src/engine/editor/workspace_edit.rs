//! Reads LSP's `WorkspaceEdit` into our types: text edits by file, and the operations that are not carried out.

use std::path::Path;

use serde_json::Value;

use crate::editor::WorkspaceChange;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex, Range};

/// Reads `changes` and `documentChanges`. Edits of files outside the root are named in `operations`.
///
/// The ranges keep the unit that the server counts in; the caller converts them.
pub fn read(edit: &Value, root: &Path) -> WorkspaceChange {
    let mut out = WorkspaceChange::default();
    if let Some(list) = edit.get("documentChanges").and_then(Value::as_array) {
        for change in list {
            match change.get("kind").and_then(Value::as_str) {
                Some(kind) => out.operations.push(format!("{kind} {}", target(change))),
                None => {
                    let uri = change.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or("");
                    add(&mut out, uri, change.get("edits"), root);
                }
            }
        }
    } else if let Some(map) = edit.get("changes").and_then(Value::as_object) {
        for (uri, edits) in map {
            add(&mut out, uri, Some(edits), root);
        }
    }
    out
}

fn target(operation: &Value) -> &str {
    ["uri", "oldUri"].iter().find_map(|key| operation.get(key).and_then(Value::as_str)).unwrap_or("?")
}

/// The extension of notebooks. A server counts lines in their cells, and their files are JSON.
const NOTEBOOK: &str = "ipynb";

fn add(out: &mut WorkspaceChange, uri: &str, edits: Option<&Value>, root: &Path) {
    if path::from_uri(uri)
        .is_some_and(|file| path::is_part(uri) || file.extension().is_some_and(|kind| kind == NOTEBOOK))
    {
        let file = path::from_uri(uri).and_then(|file| path::relative_or_absolute(root, &file)).unwrap_or_default();
        out.operations.push(format!("edit a cell of {file}, which has to be changed in its notebook by hand"));
        return;
    }
    let Some(file) = path::from_uri(uri).and_then(|p| path::relative(root, &p)) else {
        out.operations.push(format!("edit {uri}, which is outside the workspace"));
        return;
    };
    let mut texts = Vec::new();
    for edit in edits.and_then(Value::as_array).into_iter().flatten() {
        let range = edit.get("range").and_then(|r| serde_json::from_value::<Range>(r.clone()).ok());
        let text = edit.get("newText").and_then(Value::as_str);
        match (range, text) {
            (Some(range), Some(text)) => texts.push((range, text.to_owned())),
            _ => out.operations.push(format!("an edit of {file} that cannot be read")),
        }
    }
    match out.files.iter_mut().find(|(known, _)| *known == file) {
        Some((_, known)) => known.extend(texts),
        None => out.files.push((file, texts)),
    }
}

/// The reason why no place of a server in a text is known.
pub(crate) const LONE_RETURN: &str =
    "where a carriage return stands without a line feed and servers count lines otherwise";

/// The reason why edits of a file do not fit its text, in words that follow those of an operation.
pub fn misfit(file: &str, text: &str, edits: &[(Range, String)], encoding: Encoding) -> Option<String> {
    let index = LineIndex::new(text);
    if index.has_lone_return() && !edits.is_empty() {
        return Some(format!("an edit of {file}, {LONE_RETURN}"));
    }
    let is_misfit = |range: &Range| index.allowed_byte_range(text, *range, encoding).is_none();
    let (range, _) = edits.iter().find(|(range, _)| is_misfit(range))?;
    Some(format!(
        "an edit of {file} from line {}, which is not a place in its text",
        range.start.line.saturating_add(1)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sextant_base::positions::Position;

    use super::*;

    #[test]
    fn both_shapes_are_read_and_the_rest_is_named() {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
        let edit = json!({"documentChanges": [
            {"textDocument": {"uri": "file:///w/a.py", "version": 3}, "edits": [{"range": range, "newText": "x"}]},
            {"kind": "rename", "oldUri": "file:///w/b.py", "newUri": "file:///w/c.py"},
            {"textDocument": {"uri": "file:///etc/x.py"}, "edits": []},
        ]});
        let change = read(&edit, Path::new("/w"));
        assert_eq!(
            change.files,
            vec![("a.py".into(), vec![(serde_json::from_value(range.clone()).unwrap(), "x".into())])]
        );
        assert_eq!(change.operations.len(), 2);
        for uri in ["file:///w/n.ipynb#cell2", "file:///w/n.ipynb"] {
            let change = read(&json!({"changes": {uri: [{"range": range, "newText": "x"}]}}), Path::new("/w"));
            assert_eq!((change.files.len(), change.operations.len()), (0, 1), "{uri}");
            assert!(change.operations[0].starts_with("edit a cell of n.ipynb"), "{change:?}");
        }
        let old = json!({"changes": {"file:///w/a.py": [{"newText": 3}]}});
        let change = read(&old, Path::new("/w"));
        assert_eq!(change.operations, vec!["an edit of a.py that cannot be read"]);
    }

    #[test]
    fn edits_that_do_not_fit_a_text_are_named_with_the_reason() {
        let at = |line| Range { start: Position { line, character: 0 }, end: Position { line, character: 9 } };
        let said = |text: &str, line| misfit("a.py", text, &[(at(line), String::new())], Encoding::Utf16);
        assert_eq!(said("x = 1\r\n", 0), None);
        assert!(said("x = 1\n", 4).is_some_and(|why| why.contains("line 5")));
        for text in ["x = 1\r", "x = 1\r\r\ny\r\r\n", "# a\rb\n"] {
            assert!(said(text, 0).is_some_and(|why| why.contains("carriage return")), "{text:?}");
        }
        assert_eq!(misfit("a.py", "x\r", &[], Encoding::Utf16), None, "nothing to place");
    }
}
