//! The questions to an editor's servers about a name, and the conversion of their answers to our types.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use sextant_base::path;
use sextant_base::positions::{Encoding, Position, Range};
use sextant_diagnostics::server::name_requests::{LookupError, NameQuestion};

/// The most places that are read from one answer.
pub const MOST_PLACES: usize = 5000;

/// A question about the name that stands at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameLookup {
    pub path: String,
    /// The version of the document that holds the place.
    pub version: i64,
    /// The column is in bytes.
    pub at: Position,
    pub question: NameQuestion,
    /// Other files that may hold the name. The servers get them with the question: a server that has just been started
    /// answers before it has found the files of the project.
    pub beside: Vec<String>,
    /// The longest wait for a server that still reads the project, if the question is about all of it.
    pub reading: Duration,
}

/// The answer of one server.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupAnswer {
    /// The server's name.
    pub provider: String,
    pub said: Result<SaidOfName, LookupError>,
}

/// An answer in the server's own form.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidOfName {
    pub value: Value,
    /// The unit of its columns.
    pub encoding: Encoding,
    /// The versions of the documents that it would change, as far as the editor has them open.
    pub versions: BTreeMap<String, i64>,
    /// The server's own words for what it was still reading, such as `indexing 3/66`: the answer may lack that part.
    pub unread: Option<String>,
}

/// A place that a server names; the range is in the server's unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPlace {
    /// An absolute path.
    pub file: PathBuf,
    pub range: Range,
}

/// An answer has content, is empty, or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    Something,
    Nothing,
    Unreadable,
}

/// The worth of an answer to this question.
pub fn worth(question: &NameQuestion, value: &Value) -> Worth {
    // An empty list that came through Lua is an empty object.
    let is_empty = value.is_null()
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_object().is_some_and(serde_json::Map::is_empty);
    let something = match question {
        NameQuestion::Definition | NameQuestion::References => !places(value).is_empty(),
        NameQuestion::Hover => !hover(value).is_empty(),
        NameQuestion::Rename { .. } => {
            value.get("documentChanges").is_some_and(Value::is_array)
                || value.get("changes").is_some_and(Value::is_object)
        }
    };
    // An object without a text in it counts as an answer without content.
    let is_empty_hover = *question == NameQuestion::Hover && value.get("contents").is_some();
    match something {
        true => Worth::Something,
        false if is_empty || is_empty_hover => Worth::Nothing,
        false => Worth::Unreadable,
    }
}

/// The places of `Location`, `Location[]` or `LocationLink[]`; unreadable ones are left out.
pub(crate) fn places(value: &Value) -> Vec<NamedPlace> {
    let one = |value: &Value| {
        let range = |key: &str| value.get(key).and_then(|range| serde_json::from_value::<Range>(range.clone()).ok());
        let uri = value.get("uri").or_else(|| value.get("targetUri"))?.as_str()?;
        let range = range("range").or_else(|| range("targetSelectionRange")).or_else(|| range("targetRange"))?;
        // Lines of a notebook's cell are not those of its file.
        let range = if path::is_part(uri) { Range::default() } else { range };
        Some(NamedPlace { file: path::from_uri(uri)?, range })
    };
    let mut found: Vec<NamedPlace> = match value {
        Value::Array(list) => list.iter().take(MOST_PLACES).filter_map(one).collect(),
        value => one(value).into_iter().collect(),
    };
    found.sort_by(|a, b| (&a.file, a.range.start).cmp(&(&b.file, b.range.start)));
    found.dedup();
    found
}

/// The text of a hover, in any of the protocol's forms. Code stands in fences.
pub(crate) fn hover(value: &Value) -> String {
    let part = |part: &Value| match (part, part.get("language").and_then(Value::as_str)) {
        (Value::String(text), _) => text.clone(),
        (part, language) => {
            let text = part.get("value").and_then(Value::as_str).unwrap_or_default();
            language.map_or_else(|| text.to_owned(), |language| format!("```{language}\n{text}\n```"))
        }
    };
    let parts: Vec<String> = match value.get("contents") {
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(one) => vec![part(one)],
        None => Vec::new(),
    };
    let texts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_come_in_three_forms_sorted_and_once() {
        let range = |line: u32| json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}});
        let location = |file: &str, line: u32| json!({"uri": format!("file:///w/{file}"), "range": range(line)});
        assert_eq!(places(&location("a.py", 1)).len(), 1);
        let many = json!([location("b.py", 1), location("a.py", 9), location("a.py", 2), location("a.py", 2), 7]);
        let found: Vec<(String, u32)> =
            places(&many).iter().map(|at| (at.file.display().to_string(), at.range.start.line)).collect();
        assert_eq!(found, [("/w/a.py".into(), 2), ("/w/a.py".into(), 9), ("/w/b.py".into(), 1)]);
        let link = json!([{"targetUri": "file:///w/a.py", "targetRange": range(1), "targetSelectionRange": range(2)}]);
        assert_eq!(places(&link)[0].range.start.line, 2);
        let cell = json!({"uri": "file:///w/n.ipynb#c2", "range": range(7)});
        assert_eq!(places(&cell)[0].range, Range::default());
        for none in
            [json!(null), json!([]), json!("x"), json!({"uri": 3}), json!({"uri": "http://x", "range": range(1)})]
        {
            assert!(places(&none).is_empty(), "{none}");
        }
    }

    #[test]
    fn hovers_come_in_four_forms() {
        let text = |contents: Value| hover(&json!({"contents": contents}));
        assert_eq!(text(json!({"kind": "markdown", "value": "```python\nx\n```"})), "```python\nx\n```");
        assert_eq!(text(json!("x")), "x");
        assert_eq!(text(json!([{"language": "python", "value": "x"}, "", "y"])), "```python\nx\n```\n\ny");
        assert_eq!((text(json!(3)), hover(&json!(null))), (String::new(), String::new()));
    }

    #[test]
    fn nothing_and_garbage_are_distinguished() {
        let rename = NameQuestion::Rename { new_name: "x".into() };
        assert_eq!(worth(&rename, &json!(null)), Worth::Nothing);
        assert_eq!(worth(&rename, &json!({"changes": {}})), Worth::Something);
        assert_eq!(worth(&rename, &json!({"changes": 3})), Worth::Unreadable);
        assert_eq!(worth(&NameQuestion::Hover, &json!({"contents": ""})), Worth::Nothing);
        assert_eq!(worth(&NameQuestion::Definition, &json!("here")), Worth::Unreadable);
        assert_eq!(worth(&NameQuestion::References, &json!([])), Worth::Nothing);
    }
}
