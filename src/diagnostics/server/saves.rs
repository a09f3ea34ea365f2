//! Servers that check saved files: which are known by what they declare.

use serde_json::Value;

/// Whether it is not told of changes, but of saves: all it can know of a text after its opening is what the disk has.
pub(super) fn reads_the_disk(capabilities: &Value) -> bool {
    let sync = &capabilities["textDocumentSync"];
    let kind = sync.get("change").and_then(Value::as_u64).unwrap_or(0);
    kind == 0 && hears_of_saves(capabilities)
}

/// Whether it asks to be told of saves.
pub(super) fn hears_of_saves(capabilities: &Value) -> bool {
    match &capabilities["textDocumentSync"]["save"] {
        Value::Bool(wanted) => *wanted,
        options => options.is_object(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_declared_counts() {
        for (sync, disk, saves) in [
            (json!({"openClose": true, "save": true}), true, true),
            (json!({"openClose": true, "change": 0, "save": {"includeText": true}}), true, true),
            (json!({"openClose": true, "change": 2, "save": {}}), false, true),
            (json!({"openClose": true, "change": 1}), false, false),
            (json!({"openClose": true, "save": false}), false, false),
            (json!(1), false, false),
            (Value::Null, false, false),
        ] {
            let declared = json!({"textDocumentSync": sync});
            assert_eq!((reads_the_disk(&declared), hears_of_saves(&declared)), (disk, saves), "{declared}");
        }
    }
}
