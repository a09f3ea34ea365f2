//! Writes diagnostics as a SARIF 2.1.0 log: one run a provider, each result with its baseline state and a fingerprint
//! that moves with its symbol.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use url::Url;

use crate::delta::same_message::template;
use crate::merge::Placed;
use crate::model::Severity;

/// The fingerprint's key; its number goes up when the same diagnostic would get another one.
const FINGERPRINT: &str = "sextantSymbol/v1";

/// The change of a result since the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaselineState {
    New,
    Unchanged,
    Updated,
    Absent,
}

impl BaselineState {
    fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Updated => "updated",
            Self::Absent => "absent",
        }
    }
}

/// A diagnostic to write; `state` is `None` without a comparison.
#[derive(Clone, Copy, Debug)]
pub struct SarifResult<'a> {
    pub placed: Placed<'a>,
    pub state: Option<BaselineState>,
}

/// The log as JSON. Results keep their order within their provider's run; runs are sorted by name.
///
/// Of several alike in one symbol the first in order has the ordinal 1. Gone results are counted apart from present
/// ones, so that a fingerprint does not depend on repairs beside it.
pub fn write(entries: &[SarifResult], version: &str) -> Value {
    let mut runs: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut ordinals: HashMap<(String, bool), usize> = HashMap::new();
    for entry in entries {
        let key = key(&entry.placed);
        let absent = entry.state == Some(BaselineState::Absent);
        let ordinal = ordinals.entry((key.clone(), absent)).and_modify(|n| *n += 1).or_insert(1);
        let print = fingerprint(&format!("{key}\u{1f}{ordinal}"));
        runs.entry(&entry.placed.diagnostic.source).or_default().push(result(entry, &print));
    }
    let runs: Vec<Value> = runs.into_iter().map(|(source, results)| run(source, results, version)).collect();
    json!({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": runs})
}

fn run(source: &str, results: Vec<Value>, version: &str) -> Value {
    let mut rules: Vec<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<Value> = rules.into_iter().map(|id| json!({"id": id})).collect();
    json!({
        "tool": {
            "driver": {"name": source, "rules": rules},
            "extensions": [{"name": "sextant", "version": version}],
        },
        "columnKind": "utf16CodeUnits",
        "results": results,
    })
}

fn result(entry: &SarifResult, print: &str) -> Value {
    let Placed { diagnostic, symbol } = entry.placed;
    let mut result = json!({
        "level": level(diagnostic.severity),
        "message": {"text": diagnostic.message},
        "partialFingerprints": {FINGERPRINT: print},
    });
    if let Some(code) = &diagnostic.code {
        result["ruleId"] = json!(code);
    }
    if let Some(word) = &diagnostic.suggested_action {
        result["properties"] = json!({"suggestedAction": word});
    }
    if let Some(state) = entry.state {
        result["baselineState"] = json!(state.name());
    }
    if let Some(file) = diagnostic.location.file() {
        let mut physical = json!({"artifactLocation": {"uri": uri(file)}});
        if let Some(range) = diagnostic.location.range() {
            physical["region"] = json!({
                "startLine": range.start.line.saturating_add(1), "startColumn": range.start.character.saturating_add(1),
                "endLine": range.end.line.saturating_add(1), "endColumn": range.end.character.saturating_add(1),
            });
        }
        let mut location = json!({"physicalLocation": physical});
        if !symbol.names.is_empty() {
            location["logicalLocations"] = json!([{"fullyQualifiedName": symbol.names}]);
        }
        result["locations"] = json!([location]);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

/// A path as a URI reference, so that blanks and percent signs survive.
fn uri(file: &str) -> String {
    let whole = Url::from_file_path(format!("/{file}")).ok();
    whole.map_or_else(|| file.to_owned(), |url| url.path().trim_start_matches('/').to_owned())
}

/// The stable part of a diagnostic whose symbol moves: source, symbol path, code, and the message without its numbers
/// and names.
fn key(placed: &Placed) -> String {
    let Placed { diagnostic, symbol } = placed;
    let code = diagnostic.code.as_deref().unwrap_or_default();
    [&diagnostic.source, &symbol.to_string(), code, &template(&diagnostic.message)].join("\u{1f}")
}

/// FNV-1a in 64 bits: the same on every machine and in every version, unlike the standard library's.
fn fingerprint(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Confidence, Diagnostic, Location};
    use crate::sarif::read_sarif::read;
    use sextant_base::positions::{Encoding, LineIndex, Position, Range};
    use sextant_text::symbols::symbol_path::SymbolPath;

    fn diag(source: &str, code: &str, message: &str, line: u32) -> Diagnostic {
        let at = |character| Position { line, character };
        Diagnostic {
            source: source.into(),
            severity: Severity::Error,
            code: (!code.is_empty()).then(|| code.into()),
            message: message.into(),
            location: Location::Range { file: "a b.py".into(), range: Range { start: at(2), end: at(5) } },
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }

    fn log(list: &[(Diagnostic, &str, Option<BaselineState>)]) -> Value {
        let symbols: Vec<SymbolPath> = list.iter().map(|(_, names, _)| SymbolPath::new("a b.py", *names)).collect();
        let entries: Vec<SarifResult> = list
            .iter()
            .zip(&symbols)
            .map(|((diagnostic, _, state), symbol)| SarifResult {
                placed: Placed { diagnostic, symbol },
                state: *state,
            })
            .collect();
        write(&entries, "1.0.0")
    }

    fn prints(log: &Value) -> Vec<String> {
        let runs = log["runs"].as_array().unwrap().iter();
        let results = runs.flat_map(|run| run["results"].as_array().unwrap());
        results.map(|result| result["partialFingerprints"][FINGERPRINT].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_result_has_all_that_a_reader_of_baselines_needs() {
        let log = log(&[(diag("lsp:x", "E1", "m", 4), "A::f", Some(BaselineState::Updated))]);
        let run = &log["runs"][0];
        assert_eq!((&log["version"], &run["tool"]["driver"]["name"]), (&json!("2.1.0"), &json!("lsp:x")));
        assert_eq!(run["columnKind"], "utf16CodeUnits");
        let result = &run["results"][0];
        assert_eq!(
            (&result["ruleId"], &result["level"], &result["baselineState"]),
            (&json!("E1"), &json!("error"), &json!("updated"))
        );
        let place = &result["locations"][0];
        assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "a%20b.py");
        assert_eq!(
            place["physicalLocation"]["region"],
            json!({"startLine": 5, "startColumn": 3, "endLine": 5, "endColumn": 6})
        );
        assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "A::f");
    }

    #[test]
    fn fingerprints_follow_the_symbol_and_tell_twins_apart() {
        let one = |line, message: &str| (diag("lsp:x", "E1", message, line), "f", None);
        let before = prints(&log(&[one(3, "Line too long (90 > 88)"), one(5, "Line too long (91 > 88)")]));
        let moved = prints(&log(&[one(40, "Line too long (90 > 88)"), one(52, "Line too long (99 > 88)")]));
        assert_eq!(before, moved);
        assert_ne!(before[0], before[1], "twins");
        let elsewhere = prints(&log(&[(diag("lsp:x", "E1", "Line too long (90 > 88)", 3), "g", None)]));
        assert_ne!(before[0], elsewhere[0], "another symbol");
        let absent = (diag("lsp:x", "E1", "Line too long (1 > 88)", 1), "f", Some(BaselineState::Absent));
        assert_eq!(
            prints(&log(&[absent, one(3, "Line too long (90 > 88)")]))[1],
            before[0],
            "gone results count apart"
        );
        assert_eq!(fingerprint(""), "cbf29ce484222325");
        assert_eq!(fingerprint("a"), "af63dc4c8601ec8c");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            picks in proptest::collection::vec((0usize..2, 0usize..3, "[a-z\"{}é ]{1,12}", 0u32..9, 0usize..5), 0..10),
        ) {
            let states = [None, Some(BaselineState::New), Some(BaselineState::Unchanged), Some(BaselineState::Updated), Some(BaselineState::Absent)];
            let list: Vec<(Diagnostic, &str, Option<BaselineState>)> = picks
                .iter()
                .map(|(s, c, message, line, state)| {
                    (diag(["lsp:x", "tool:y"][*s], ["E1", "E2", ""][*c], message, *line), "f", states[*state])
                })
                .collect();
            let (found, lost) = read(&log(&list).to_string()).expect("a log");
            prop_assert_eq!(lost, 0);
            let mut there: Vec<&Diagnostic> =
                list.iter().filter(|(_, _, state)| *state != Some(BaselineState::Absent)).map(|(d, _, _)| d).collect();
            there.sort_by(|a, b| a.source.cmp(&b.source));
            prop_assert_eq!(found.len(), there.len());
            let text = "0123456789\n".repeat(10);
            let index = LineIndex::new(&text);
            for (finding, diagnostic) in found.iter().zip(there) {
                prop_assert_eq!((&finding.code, &finding.message), (&diagnostic.code, &diagnostic.message));
                prop_assert_eq!(finding.file.as_deref(), diagnostic.location.file());
                prop_assert_eq!(finding.location("a b.py", &text, &index, Encoding::Utf8), diagnostic.location.clone());
            }
        }
    }
}
