//! Writes the answer as a SARIF 2.1.0 log: a run for every provider, with the compared sides and the unknown results.

use serde_json::{Value, json};

use crate::cli::diff::compare::{ComparedState, Comparison};
use crate::cli::diff::report::unknown;
use sextant_diagnostics::merge::Placed;
use sextant_diagnostics::sarif::write::{BaselineState, SarifResult, write};

/// Every diagnostic with its `baselineState`. SARIF has no word for a merely hidden or uncovered one. A diagnostic
/// hidden by a syntax error is `absent`, and one uncovered by its repair is `new`.
pub(super) fn sarif(found: &Comparison) -> Value {
    let entries: Vec<SarifResult<'_>> = found
        .entries
        .iter()
        .map(|entry| SarifResult {
            placed: Placed { diagnostic: &entry.found.diagnostic, symbol: &entry.found.symbol },
            state: Some(baseline(entry.state)),
        })
        .collect();
    let mut log = write(&entries, env!("CARGO_PKG_VERSION"));
    if let Some(runs) = log["runs"].as_array_mut() {
        for provider in &found.providers {
            // A run without results reports that there are none; a missing run reports nothing.
            if !runs.iter().any(|run| run["tool"]["driver"]["name"] == json!(provider)) {
                runs.push(
                    json!({"tool": {"driver": {"name": provider}}, "columnKind": "utf16CodeUnits", "results": []}),
                );
            }
        }
        runs.iter_mut().for_each(|run| annotate(run, found));
    }
    log
}

fn baseline(state: ComparedState) -> BaselineState {
    match state {
        ComparedState::New | ComparedState::Revealed => BaselineState::New,
        ComparedState::Updated => BaselineState::Updated,
        ComparedState::Masked | ComparedState::Fixed => BaselineState::Absent,
        ComparedState::Unchanged => BaselineState::Unchanged,
    }
}

/// Adds the sides of the whole comparison, and the unknown results.
fn annotate(run: &mut Value, found: &Comparison) {
    let notes: Vec<Value> =
        unknown(found).into_iter().map(|text| json!({"level": "warning", "message": {"text": text}})).collect();
    run["invocations"] = json!([{"executionSuccessful": !found.is_partial(), "toolExecutionNotifications": notes}]);
    let after = found.after.as_ref().map(|after| &after.commit);
    run["properties"] = json!({
        "before": {"revision": found.before.name, "commit": found.before.commit},
        "after": {"revision": found.after_name(), "commit": after},
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::diff::report::tests::sample;

    #[test]
    fn every_provider_has_a_run_and_every_result_a_state() {
        let found = Comparison {
            providers: vec!["lsp:basedpyright".into(), "lsp:ruff".into()],
            gaps: vec!["many".into()],
            ..sample()
        };
        let log = sarif(&found);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let states: Vec<&str> = results.iter().filter_map(|result| result["baselineState"].as_str()).collect();
        assert_eq!(states, ["new", "updated", "absent", "unchanged"]);
        assert_eq!(
            (&log["runs"][1]["tool"]["driver"]["name"], &log["runs"][1]["results"]),
            (&json!("lsp:ruff"), &json!([]))
        );
        let invocation = &log["runs"][1]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["message"]["text"], "many");
        assert_eq!(log["runs"][0]["properties"]["before"]["commit"], "1234");
    }
}
