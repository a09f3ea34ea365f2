//! Reads a SARIF 2.1.0 log: every result that stands as a finding, in the log's order.

use serde_json::Value;
use url::Url;

use crate::finding::{Finding, FindingPlace};
use sextant_base::path;
use sextant_base::positions::Encoding;

/// Reads a log. Results that passed, are suppressed or are gone since the baseline are left out.
///
/// # Errors
/// The error in the log as a whole. A result that cannot be read is left out and counted.
pub fn read(text: &str) -> Result<(Vec<Finding>, usize), String> {
    let log: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let runs = log.get("runs").and_then(Value::as_array).ok_or("no SARIF log: it has no runs")?;
    if let Some(version) = log.get("version").and_then(Value::as_str).filter(|version| !version.starts_with("2.")) {
        return Err(format!("SARIF {version} is not read, only 2.1.0"));
    }
    let mut findings = Vec::new();
    let mut lost = 0;
    for run in runs {
        let results = run.get("results").and_then(Value::as_array);
        for result in results.into_iter().flatten().filter(|result| stands(result)) {
            match finding(run, result) {
                Some(finding) => findings.push(finding),
                None => lost += 1,
            }
        }
    }
    Ok((findings, lost))
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn stands(result: &Value) -> bool {
    let failed = text(result, "/kind").is_none_or(|kind| matches!(kind, "fail" | "open" | "review"));
    let rejected = |one: &Value| matches!(text(one, "/status"), Some("rejected" | "underReview"));
    let suppressions = result.get("suppressions").and_then(Value::as_array);
    let suppressed = suppressions.is_some_and(|all| all.iter().any(|one| !rejected(one)));
    failed && !suppressed && text(result, "/baselineState") != Some("absent")
}

fn finding(run: &Value, result: &Value) -> Option<Finding> {
    let rule = rule(run, result);
    let code = text(result, "/ruleId").or(text(result, "/rule/id")).or(rule.and_then(|rule| text(rule, "/id")));
    let level = text(result, "/level").or(rule.and_then(|rule| text(rule, "/defaultConfiguration/level")));
    let columns = match text(run, "/columnKind") {
        Some("unicodeCodePoints") => Encoding::Utf32,
        _ => Encoding::Utf16,
    };
    let place = result.pointer("/locations/0/physicalLocation");
    let region = place.and_then(|place| place.get("region"));
    let number = |key: &str| {
        let number = region?.get(key)?.as_u64()?.checked_sub(1)?;
        u32::try_from(number).ok()
    };
    let start = number("startLine").map(|line| FindingPlace { line, column: Some(number("startColumn").unwrap_or(0)) });
    // Without an end column a region reaches to the end of its line.
    let end =
        start.map(|start| FindingPlace { line: number("endLine").unwrap_or(start.line), column: number("endColumn") });
    Some(Finding {
        file: place.and_then(|place| file(run, place)),
        start,
        end,
        severity: Some(level.unwrap_or("warning").to_owned()),
        code: code.map(str::to_owned),
        message: message(rule, result)?,
        suggestion: suggestion(result),
        columns: Some(columns),
    })
}

/// The description of the only fix; several fixes give no suggestion.
fn suggestion(result: &Value) -> Option<String> {
    let [fix] = result.get("fixes")?.as_array()?.as_slice() else { return None };
    text(fix, "/description/text").filter(|words| !words.trim().is_empty()).map(str::to_owned)
}

fn rule<'v>(run: &'v Value, result: &Value) -> Option<&'v Value> {
    let rules = run.pointer("/tool/driver/rules")?.as_array()?;
    let index = result.get("ruleIndex").or_else(|| result.pointer("/rule/index")).and_then(Value::as_u64);
    match index.and_then(|index| usize::try_from(index).ok()) {
        Some(index) => rules.get(index),
        None => {
            let id = text(result, "/ruleId").or(text(result, "/rule/id"))?;
            rules.iter().find(|rule| text(rule, "/id") == Some(id))
        }
    }
}

fn message(rule: Option<&Value>, result: &Value) -> Option<String> {
    if let Some(words) = text(result, "/message/text").or(text(result, "/message/markdown")) {
        return Some(words.to_owned());
    }
    let id = text(result, "/message/id")?;
    let mut words = text(rule?.get("messageStrings")?.get(id)?, "/text")?.to_owned();
    let arguments = result.pointer("/message/arguments").and_then(Value::as_array);
    for (number, argument) in arguments.into_iter().flatten().enumerate() {
        words = words.replace(&format!("{{{number}}}"), argument.as_str().unwrap_or_default());
    }
    Some(words)
}

/// The path of an artifact: relative to the root if the log names no base for it.
fn file(run: &Value, place: &Value) -> Option<String> {
    let own = place.get("artifactLocation")?;
    let listed = own.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
    let listed = listed.and_then(|index| run.pointer("/artifacts")?.get(index)?.get("location"));
    let given = own.get("uri").and(Some(own)).or(listed)?;
    let uri = text(given, "/uri")?;
    if let Some(path) = path::from_uri(uri) {
        return Some(path.to_string_lossy().into_owned());
    }
    let base = text(given, "/uriBaseId").and_then(|id| run.get("originalUriBaseIds")?.get(id)?.get("uri")?.as_str());
    // The root stands for an unknown base; it is taken off again below.
    let known = base.and_then(|base| Url::parse(base).ok());
    let joined = known.clone().or_else(|| Url::parse("file:///").ok())?.join(uri).ok()?;
    let path = joined.to_file_path().ok()?.to_string_lossy().into_owned();
    Some(if known.is_some() { path } else { path.trim_start_matches('/').to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(run: &Value) -> Vec<Finding> {
        read(&json!({"version": "2.1.0", "runs": [run]}).to_string()).expect("a log").0
    }

    fn result(extra: Value) -> Value {
        let mut result = json!({"ruleId": "R1", "message": {"text": "m"}});
        result.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        result
    }

    #[test]
    fn levels_and_messages_may_come_from_the_rule() {
        let rules = json!([{"id": "R1", "defaultConfiguration": {"level": "note"},
            "messageStrings": {"default": {"text": "{0} is not {1}"}}}]);
        let run = json!({"tool": {"driver": {"name": "t", "rules": rules}}, "results": [
            {"ruleIndex": 0, "message": {"id": "default", "arguments": ["a", "b"]}},
            {"ruleId": "R1", "level": "error", "message": {"text": "m"}},
            {"ruleId": "R2", "message": {"text": "m"}},
        ]});
        let found: Vec<_> = of(&run).into_iter().map(|f| (f.code.unwrap(), f.severity.unwrap(), f.message)).collect();
        let row = |code: &str, level: &str, message: &str| (code.to_owned(), level.to_owned(), message.to_owned());
        assert_eq!(found, [row("R1", "note", "a is not b"), row("R1", "error", "m"), row("R2", "warning", "m")]);
    }

    #[test]
    fn of_several_fixes_none_is_the_one() {
        let fix = |title: &str| json!({"description": {"text": title}, "artifactChanges": []});
        let run = json!({"results": [
            result(json!({"fixes": [fix("Remove it")]})), result(json!({"fixes": [fix("a"), fix("b")]})),
            result(json!({"fixes": [{"artifactChanges": []}]})), result(json!({})),
        ]});
        let found: Vec<_> = of(&run).into_iter().map(|finding| finding.suggestion).collect();
        assert_eq!(found, [Some("Remove it".to_owned()), None, None, None]);
    }

    #[test]
    fn regions_and_artifacts_in_every_shape() {
        let place = |artifact: Value, region: Value| {
            result(json!({"locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}]}))
        };
        let run = json!({
            "originalUriBaseIds": {"SRC": {"uri": "file:///w/src/"}},
            "artifacts": [{"location": {"uri": "lib/x.py"}}],
            "columnKind": "unicodeCodePoints",
            "results": [
                place(json!({"uri": "a%20b.py"}), json!({"startLine": 3, "startColumn": 5, "endColumn": 9})),
                place(json!({"uri": "c.py", "uriBaseId": "SRC"}), json!({"startLine": 1})),
                place(json!({"uri": "file:///w/d.py"}), json!({"startLine": 1, "endLine": 2, "endColumn": 1})),
                place(json!({"index": 0}), json!({"charOffset": 4})),
            ],
        });
        let place = |line, column| Some(FindingPlace { line, column });
        let found: Vec<_> = of(&run).into_iter().map(|f| (f.file.unwrap(), f.start, f.end, f.columns)).collect();
        let points = Some(Encoding::Utf32);
        assert_eq!(
            found,
            [
                ("a b.py".to_owned(), place(2, Some(4)), place(2, Some(8)), points),
                ("/w/src/c.py".to_owned(), place(0, Some(0)), place(0, None), points),
                ("/w/d.py".to_owned(), place(0, Some(0)), place(1, Some(0)), points),
                ("lib/x.py".to_owned(), None, None, points),
            ]
        );
    }

    #[test]
    fn what_does_not_stand_is_left_out_and_what_cannot_be_read_is_counted() {
        let run = json!({"results": [
            result(json!({"kind": "pass"})), result(json!({"baselineState": "absent"})),
            result(json!({"suppressions": [{"kind": "inSource"}]})),
            result(json!({"suppressions": [{"kind": "inSource", "status": "rejected"}]})),
            result(json!({"suppressions": []})), json!({"ruleId": "R1"}),
        ]});
        let log = json!({"version": "2.1.0", "runs": [run]}).to_string();
        let (found, lost) = read(&log).unwrap();
        assert_eq!((found.len(), lost), (2, 1));
    }

    #[test]
    fn what_is_no_log_is_an_error() {
        for text in ["", "[]", "{}", r#"{"version":"1.0.0","runs":[]}"#, r#"{"runs":3}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
