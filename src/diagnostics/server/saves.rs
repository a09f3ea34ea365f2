//! Recognizes servers that check saved files, by their declared capabilities.

use lsp_types::Save;

use crate::server::received::Capabilities;

/// True if it gets saves but no changes: after the opening, it knows a text only from the disk.
pub(super) fn reads_the_disk(capabilities: &Capabilities) -> bool {
    let change = capabilities.text_document_sync.as_ref().and_then(|sync| sync.change);
    change.unwrap_or(0) == 0 && hears_of_saves(capabilities)
}

/// True if it asks for notifications of saves.
pub(super) fn hears_of_saves(capabilities: &Capabilities) -> bool {
    match capabilities.text_document_sync.as_ref().and_then(|sync| sync.save.as_ref()) {
        Some(Save::Bool(wanted)) => *wanted,
        Some(Save::SaveOptions(_)) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::server::received;

    #[test]
    fn only_what_is_declared_counts() {
        for (sync, disk, saves) in [
            (json!({"openClose": true, "save": true}), true, true),
            (json!({"openClose": true, "change": 0, "save": {"includeText": true}}), true, true),
            (json!({"openClose": true, "change": 2, "save": {}}), false, true),
            (json!({"openClose": true, "change": 1}), false, false),
            (json!({"openClose": true, "save": false}), false, false),
            (json!(1), false, false),
            (json!(null), false, false),
        ] {
            let declared: Capabilities = received::read(&json!({"textDocumentSync": sync})).unwrap();
            assert_eq!((reads_the_disk(&declared), hears_of_saves(&declared)), (disk, saves), "{declared:?}");
        }
    }
}
