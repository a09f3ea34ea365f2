//! A server's diagnostics read into our model: one unreadable item never hides the others.

use crate::model::{self, Confidence, Diagnostic, Location, Severity};
use crate::server::received::{RelatedPlace, SentCode, SentDiagnostic, SentText};
use sextant_base::positions::{Encoding, LineIndex, Range};

/// Related places of one diagnostic that are kept.
const RELATED: usize = 20;

/// Reads the items of one file; the second value counts the unreadable and surplus ones. Every range is one of the
/// text.
///
/// `encoding` is the unit of the server; the answer is UTF-16. Hypotheses of a server start at `confidence`.
pub(super) fn diagnostics(
    items: &[SentDiagnostic],
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
            let fields = item.fields()?;
            let location = Location::sent(file, text, &index, fields.range?, encoding);
            let (SentText::Plain(message) | SentText::Marked { value: message }) = fields.message?;
            Some(Diagnostic {
                source: source.to_owned(),
                severity: Severity::from_lsp(fields.severity),
                code: fields.code.map(code),
                message: model::message(&message),
                location,
                confidence,
                suggested_action: None,
                evidence: evidence(&fields.related_information.unwrap_or_default()),
            })
        })
        .collect();
    let lost = items.len() - read.len();
    (read, lost)
}

/// A range in the form of a request to a server.
pub(super) fn to_lsp(range: Range) -> lsp_types::Range {
    let [start, end] =
        [range.start, range.end].map(|at| lsp_types::Position { line: at.line, character: at.character });
    lsp_types::Range { start, end }
}

fn code(sent: SentCode) -> String {
    match sent {
        SentCode::Text(code) => model::name(&code),
        SentCode::Number(code) => code.to_string(),
        SentCode::Draft { value } => value.as_str().map_or_else(|| model::name(&value.to_string()), model::name),
    }
}

/// The related places, one a line: `file:///w/a.py:3: message`.
fn evidence(related: &[RelatedPlace]) -> Option<String> {
    let line = |place: &RelatedPlace| {
        let (line, uri) = (place.location.range.start.line, &place.location.uri);
        format!("{uri}:{}: {}", line.saturating_add(1), place.message)
    };
    let lines: Vec<String> = related.iter().take(RELATED).map(line).collect();
    (!lines.is_empty()).then(|| model::message(&lines.join("\n")))
}

/// The identity of a set, independent of its order and the vendor's extra fields.
pub(super) fn fingerprint(items: &[SentDiagnostic]) -> Vec<String> {
    let mut keys: Vec<String> = items.iter().map(SentDiagnostic::key).collect();
    keys.sort();
    keys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use sextant_base::positions::Position;

    #[test]
    fn units_are_converted_and_unreadable_items_counted() {
        let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}});
        let related = json!([{"message": "here", "location": {"uri": "file:///w/b.py", "range": range}}]);
        let items = [
            json!({"range": range, "message": "m", "code": 7, "severity": 2, "relatedInformation": related}),
            json!({"range": range}),
            json!("nonsense"),
        ]
        .map(SentDiagnostic);
        let (read, lost) = diagnostics(&items, "lsp:x", "a.py", "😀x", Encoding::Utf8, Confidence::Medium);
        assert_eq!(lost, 2);
        let at = |character| Position { line: 0, character };
        assert_eq!(read[0].location.range(), Some(Range { start: at(2), end: at(3) }));
        assert_eq!((read[0].code.as_deref(), read[0].severity), (Some("7"), Severity::Warning));
        assert_eq!(read[0].evidence.as_deref(), Some("file:///w/b.py:1: here"));
    }

    #[test]
    fn the_fingerprint_ignores_order_and_extra_fields() {
        let sent = |message: &str, data: u8| SentDiagnostic(json!({"message": message, "data": data}));
        let (a, b) = (sent("a", 1), sent("b", 1));
        assert_eq!(fingerprint(&[a.clone(), b.clone()]), fingerprint(&[b.clone(), sent("a", 2)]));
        assert_ne!(fingerprint(&[a]), fingerprint(&[b]));
    }
}
