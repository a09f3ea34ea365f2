//! A server's diagnostics read into our model: one unreadable item never hides the others.

use serde_json::Value;

use crate::base::text::{Encoding, LineIndex, Range};
use crate::diagnostics::model::{self, Confidence, Diagnostic, Location, Severity};

/// Related places of one diagnostic that are kept.
const RELATED: usize = 20;

/// Reads the items of one file; the second value counts those that cannot be read, or are too many. Every range is
/// one of the text.
///
/// `encoding` is the unit of the server; the answer is UTF-16. Hypotheses of a server start at `confidence`.
pub(super) fn diagnostics(
    items: &[Value],
    source: &str,
    file: &str,
    text: &str,
    encoding: Encoding,
    confidence: Confidence,
) -> (Vec<Diagnostic>, usize) {
    let index = LineIndex::new(text);
    let read: Vec<Diagnostic> = items
        .iter()
        .take(model::MOST)
        .filter_map(|item| {
            let range = index.convert(text, range(item)?, encoding, Encoding::Utf16);
            Some(Diagnostic {
                source: source.to_owned(),
                severity: Severity::from_lsp(item.get("severity").and_then(Value::as_u64)),
                code: code(item),
                message: words(item.get("message")?)?,
                location: Location::Range { file: file.to_owned(), range },
                confidence,
                suggested_action: None,
                evidence: evidence(item),
            })
        })
        .collect();
    let lost = items.len() - read.len();
    (read, lost)
}

/// A message is a text, or since LSP 3.18 a text with what it is written in.
fn words(message: &Value) -> Option<String> {
    message.as_str().or_else(|| message.get("value")?.as_str()).map(model::message)
}

pub(super) fn range(item: &Value) -> Option<Range> {
    serde_json::from_value(item.get("range")?.clone()).ok()
}

/// A code is a string or a number.
fn code(item: &Value) -> Option<String> {
    match item.get("code")? {
        Value::String(code) => Some(model::name(code)),
        Value::Number(code) => Some(code.to_string()),
        // An early draft of the protocol, still sent by some.
        Value::Object(code) => {
            code.get("value").map(|value| value.as_str().map_or_else(|| model::name(&value.to_string()), model::name))
        }
        _ => None,
    }
}

/// The related places, one a line: `file:///w/a.py:3: message`.
fn evidence(item: &Value) -> Option<String> {
    let related = item.get("relatedInformation")?.as_array()?;
    let lines: Vec<String> = related
        .iter()
        .take(RELATED)
        .filter_map(|place| {
            let line = place.pointer("/location/range/start/line")?.as_u64()?;
            let uri = place.pointer("/location/uri")?.as_str()?;
            Some(format!("{uri}:{}: {}", line.saturating_add(1), place.get("message")?.as_str()?))
        })
        .collect();
    (!lines.is_empty()).then(|| model::message(&lines.join("\n")))
}

/// What makes two sets the same, whatever their order and the vendor's extra fields.
pub(super) fn fingerprint(items: &[Value]) -> Vec<String> {
    let mut keys: Vec<String> = items
        .iter()
        .map(|item| ["range", "severity", "code", "message"].map(|key| item[key].to_string()).join("\u{1f}"))
        .collect();
    keys.sort();
    keys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::text::Position;

    #[test]
    fn units_are_converted_and_unreadable_items_counted() {
        let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}});
        let related = json!([{"message": "here", "location": {"uri": "file:///w/b.py", "range": range}}]);
        let items = [
            json!({"range": range, "message": "m", "code": 7, "severity": 2, "relatedInformation": related}),
            json!({"range": range}),
            json!("nonsense"),
        ];
        let (read, lost) = diagnostics(&items, "lsp:x", "a.py", "😀x", Encoding::Utf8, Confidence::Medium);
        assert_eq!(lost, 2);
        let at = |character| Position { line: 0, character };
        assert_eq!(read[0].location.range(), Some(Range { start: at(2), end: at(3) }));
        assert_eq!((read[0].code.as_deref(), read[0].severity), (Some("7"), Severity::Warning));
        assert_eq!(read[0].evidence.as_deref(), Some("file:///w/b.py:1: here"));
    }

    #[test]
    fn the_fingerprint_ignores_order_and_extra_fields() {
        let (a, b) = (json!({"message": "a", "data": 1}), json!({"message": "b"}));
        assert_eq!(fingerprint(&[a.clone(), b.clone()]), fingerprint(&[b.clone(), json!({"message": "a", "data": 2})]));
        assert_ne!(fingerprint(&[a]), fingerprint(&[b]));
    }
}
