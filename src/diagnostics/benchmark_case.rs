//! One case of a matcher's benchmark as a JSON line, and its answer: the pure part of `sextant diff --batch`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delta::{Delta, MatchedBy, SnapshotChange, SnapshotFile, delta};
use crate::model::{Confidence, Diagnostic, Location, Severity};
use sextant_base::positions::{Encoding, LineIndex, Range};

/// A case: two snapshots. Further keys in the line are ignored.
#[derive(Deserialize)]
struct WrittenCase {
    id: Value,
    files: BTreeMap<String, WrittenTexts>,
    before: Vec<WrittenDiagnostic>,
    after: Vec<WrittenDiagnostic>,
}

/// A text is null if the file does not exist on that side.
#[derive(Deserialize)]
struct WrittenTexts {
    before: Option<String>,
    after: Option<String>,
}

/// A diagnostic as LSP writes it, with its file beside it.
#[derive(Deserialize)]
struct WrittenDiagnostic {
    file: Option<String>,
    range: Option<Range>,
    severity: Option<u64>,
    #[serde(default)]
    code: Value,
    #[serde(default)]
    source: Option<String>,
    message: String,
}

#[derive(Serialize)]
struct WrittenAnswer {
    id: Value,
    new: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    fixed: Vec<usize>,
    masked: Vec<usize>,
    revealed: Vec<usize>,
    updated: Vec<(usize, usize)>,
}

/// Answers one case.
///
/// `new` is every after-index without a partner and `fixed` every before-index without one, as the scorer of pairs
/// expects. `revealed` and `masked` name the part of each that is only a matter of sight. `updated` is a part of
/// `pairs`.
///
/// # Errors
/// The error in the line, and its place.
pub fn answer(line: &str) -> Result<String, String> {
    let case: WrittenCase = serde_json::from_str(line).map_err(|error| format!("not a case: {error}"))?;
    let files = case.files.iter().map(|(path, texts)| SnapshotFile {
        path,
        before: texts.before.as_deref(),
        after: texts.after.as_deref(),
    });
    let change = SnapshotChange { files: files.collect(), renames: Vec::new() };
    let before = read(case.before, |path| case.files.get(path)?.before.as_deref());
    let after = read(case.after, |path| case.files.get(path)?.after.as_deref());
    let Delta { mut new, revealed, persisting, mut fixed, masked } = delta(&change, &before, &after);
    new.extend(&revealed);
    new.sort_unstable();
    fixed.extend(&masked);
    fixed.sort_unstable();
    let pairs = persisting.iter().map(|pair| (pair.before, pair.after)).collect();
    let updated = persisting.iter().filter(|p| p.how == MatchedBy::Updated).map(|p| (p.before, p.after)).collect();
    let answer = WrittenAnswer { id: case.id, new, pairs, fixed, masked, revealed, updated };
    serde_json::to_string(&answer).map_err(|error| format!("no answer: {error}"))
}

/// Clamps the ranges in a text of the case to that text.
fn read<'c>(list: Vec<WrittenDiagnostic>, text: impl Fn(&str) -> Option<&'c str>) -> Vec<Diagnostic> {
    let mut indexes: BTreeMap<String, (&str, LineIndex)> = BTreeMap::new();
    let clamp = |mut sent: WrittenDiagnostic| {
        if let (Some(file), Some(range)) = (&sent.file, sent.range)
            && let Some(text) = text(file)
        {
            let (text, index) = indexes.entry(file.clone()).or_insert_with(|| (text, LineIndex::new(text)));
            sent.range = Some(index.convert(text, range, Encoding::Utf16, Encoding::Utf16));
        }
        sent.into_diagnostic()
    };
    list.into_iter().map(clamp).collect()
}

impl WrittenDiagnostic {
    fn into_diagnostic(self) -> Diagnostic {
        let code = match self.code {
            Value::String(code) if !code.is_empty() => Some(code),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        };
        let location = match (self.file, self.range) {
            (Some(file), Some(range)) => Location::Range { file, range },
            (Some(file), None) => Location::File { file },
            (None, _) => Location::Project,
        };
        Diagnostic {
            source: self.source.unwrap_or_default(),
            severity: Severity::from_lsp(self.severity),
            code,
            message: self.message,
            location,
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = r#"{"start":{"line":LINE,"character":4},"end":{"line":LINE,"character":7}}"#;

    fn diagnostic(line: usize, message: &str) -> String {
        let range = AT.replace("LINE", &line.to_string());
        format!(r#"{{"file":"a.py","range":{range},"severity":1,"code":"E","source":"x","message":"{message}"}}"#)
    }

    #[test]
    fn a_case_is_answered_with_every_key() {
        let line = format!(
            r#"{{"id":7,"kind":"any","files":{{"a.py":{{"before":"x = bad\ny = bad\n","after":"import a\nx = bad\ny = good\n"}},"b.py":{{"before":null,"after":""}}}},"before":[{},{}],"after":[{},{}]}}"#,
            diagnostic(0, "one"),
            diagnostic(1, "m"),
            diagnostic(1, "two words"),
            diagnostic(0, "m")
        );
        assert_eq!(
            answer(&line).as_deref(),
            Ok(r#"{"id":7,"new":[1],"pairs":[[0,0]],"fixed":[1],"masked":[],"revealed":[],"updated":[[0,0]]}"#)
        );
    }

    #[test]
    fn a_line_that_is_no_case_is_an_error_that_says_why() {
        for (line, why) in [
            ("", "EOF"),
            ("[1]", "invalid"),
            (r#"{"id":1}"#, "missing field `files`"),
            (r#"{"id":1,"files":{},"before":[{"message":3}],"after":[]}"#, "expected a string"),
            (r#"{"id":1,"files":{"a":5},"before":[],"after":[]}"#, "column 22"),
        ] {
            let error = answer(line).expect_err(line);
            assert!(error.starts_with("not a case: ") && error.contains(why), "{line}: {error}");
        }
    }
}
