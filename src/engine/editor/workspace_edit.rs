//! Reads LSP's `WorkspaceEdit` into our types: text edits by file, and the operations that are not carried out.

use std::path::Path;

use serde_json::Value;

use crate::editor::WorkspaceChange;
use sextant_base::path;
use sextant_base::positions::Range;

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

fn add(out: &mut WorkspaceChange, uri: &str, edits: Option<&Value>, root: &Path) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        assert_eq!(change.files, vec![("a.py".into(), vec![(serde_json::from_value(range).unwrap(), "x".into())])]);
        assert_eq!(change.operations.len(), 2);
        let old = json!({"changes": {"file:///w/a.py": [{"newText": 3}]}});
        let change = read(&old, Path::new("/w"));
        assert_eq!(change.operations, vec!["an edit of a.py that cannot be read"]);
    }
}
