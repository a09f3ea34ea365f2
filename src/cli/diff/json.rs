//! Writes the answer as one JSON object, for a program.

use serde_json::{Map, Value, json};

use crate::cli::diff::compare::{ComparedState, Comparison};
use crate::cli::diff::report::unknown;
use sextant_diagnostics::render_located;

/// `new`, `updated`, `revealed`, `masked` and `fixed` list diagnostics; `counts` has every state. Lines are counted
/// from 1, columns in bytes from 1, `range` is LSP's (from 0, in UTF-16).
pub(super) fn json(found: &Comparison) -> Value {
    let mut out = Map::new();
    out.insert("before".into(), json!({"revision": found.before.name, "commit": found.before.commit}));
    let after = found.after.as_ref();
    out.insert("after".into(), json!({"revision": found.after_name(), "commit": after.map(|after| &after.commit)}));
    out.insert("status".into(), json!(if found.is_partial() { "partial" } else { "complete" }));
    out.insert("providers".into(), json!(found.providers));
    out.insert("files".into(), json!({"checked": found.checked, "changed": found.changed}));
    let counts = ComparedState::ALL.map(|state| (state.name().to_owned(), json!(found.count(state))));
    out.insert("counts".into(), Value::Object(counts.into_iter().collect()));
    for state in ComparedState::ALL.into_iter().filter(|state| *state != ComparedState::Unchanged) {
        let entries = found.entries.iter().filter(|entry| entry.state == state);
        let list = entries.map(|entry| {
            let mut one = render_located::json(&entry.found);
            if let Some(was) = entry.was.as_ref().filter(|_| state == ComparedState::Updated) {
                one["was"] = render_located::json(was);
            }
            one
        });
        out.insert(state.name().into(), list.collect());
    }
    let silent = found.silent.iter().map(|silent| {
        json!({"provider": silent.provider, "side": silent.side, "files": silent.files, "why": silent.why,
            "answered": silent.guess})
    });
    out.insert("silent".into(), silent.collect());
    out.insert("unconfirmed".into(), json!(found.unconfirmed));
    out.insert("notes".into(), json!(unknown(found)));
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::diff::report::tests::sample;

    #[test]
    fn every_state_has_its_list_and_the_unchanged_are_counted() {
        let answer = json(&sample());
        assert_eq!(answer["status"], "complete");
        assert_eq!(answer["after"], json!({"revision": "working tree", "commit": null}));
        assert_eq!(answer["counts"]["unchanged"], 1);
        assert!(answer.get("unchanged").is_none());
        assert_eq!(answer["new"][0]["symbol"], "Cart::total");
        assert_eq!(answer["new"][0]["message"], "bad\n  in detail");
        assert_eq!(answer["updated"][0]["was"]["severity"], "warning");
        assert_eq!((&answer["masked"], &answer["revealed"]), (&json!([]), &json!([])));
    }
}
