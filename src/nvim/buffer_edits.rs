//! Converts between texts and buffers: hunks to rows and bytes, and Lua's diagnostics to Sextant's.

use crate::joined_hunks::{Joined, joined};
use crate::lua_messages::{BufferState, Hunk, WireDiagnostic, severity};
use sextant_base::positions::{Encoding, LineIndex};
use sextant_diagnostics::model::{self, Confidence, Diagnostic, Location};
use sextant_text::edits::hunks::hunks;

/// A buffer has no line for the end after the last `\n`; this is the text that its lines spell.
fn body(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// The edits that turn the lines of a buffer into those of another text.
pub(super) struct BufferHunks {
    /// The calls of `nvim_buf_set_text`, top down.
    pub(super) hunks: Vec<Hunk>,
    /// The new rows of the kept lines, as in `joined::Joined`.
    pub(super) kept: Vec<i64>,
    /// True if the file ends in `\n`.
    pub(super) newline: bool,
}

/// The smallest edit between two texts that Neovim takes without a pause.
pub(super) fn buffer_hunks(before: &str, after: &str) -> BufferHunks {
    let (old, new) = (body(before), body(after));
    let index = LineIndex::new(old);
    let place = |offset: usize| {
        let line = index.line_of(offset);
        (line, offset - index.line_start(line))
    };
    let Joined { hunks, kept } = joined(old, &index, hunks(old, new));
    let hunks = hunks
        .into_iter()
        .map(|edit| {
            let (start_row, start_col) = place(edit.range.start);
            let (end_row, end_col) = place(edit.range.end);
            let lines = edit.text.split('\n').map(str::to_owned).collect();
            (start_row, start_col, end_row, end_col, lines)
        })
        .collect();
    BufferHunks { hunks, kept, newline: after.is_empty() || after.ends_with('\n') }
}

/// The text of a buffer that was read in pieces.
pub(super) fn text_of(facts: &BufferState) -> Option<String> {
    let parts = facts.parts.as_ref()?;
    if facts.empty {
        return Some(String::new());
    }
    let mut text = parts.join("\n");
    if facts.newline {
        text.push('\n');
    }
    Some(text)
}

/// The diagnostics of a client on a text; every range lies within it.
pub(super) fn diagnostics(
    client: &str,
    file: &str,
    items: &[WireDiagnostic],
    encoding: Encoding,
    text: &str,
    confidence: Confidence,
) -> Vec<Diagnostic> {
    let index = LineIndex::new(text);
    items
        .iter()
        .map(|item| Diagnostic {
            source: format!("lsp:{client}"),
            severity: severity(item),
            code: item.code.as_deref().map(model::name),
            message: model::message(&item.message),
            location: Location::sent(file, text, &index, item.range, encoding),
            confidence,
            suggested_action: None,
            evidence: Some("language server".to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text that Neovim makes of the hunks, applied bottom up.
    fn set_text(before: &str, list: &[Hunk]) -> String {
        let mut lines: Vec<String> = body(before).split('\n').map(str::to_owned).collect();
        for (start_row, start_col, end_row, end_col, new) in list.iter().rev() {
            let head = lines[*start_row][..*start_col].to_owned();
            let tail = lines[*end_row][*end_col..].to_owned();
            let text = format!("{head}{}{tail}", new.join("\n"));
            lines.splice(*start_row..=*end_row, text.split('\n').map(str::to_owned));
        }
        lines.join("\n")
    }

    #[test]
    fn a_client_is_believed_as_any_server_is_and_its_ranges_are_of_the_text() {
        use sextant_diagnostics::model::{Confidence, Freshness};
        use sextant_diagnostics::policy::confidence;
        let item: WireDiagnostic = serde_json::from_str(
            r#"{"range": {"start": {"line": 0, "character": 1}, "end": {"line": 4294967296, "character": 0}}}"#,
        )
        .unwrap();
        let believed = confidence::of_server(Freshness::Exact);
        let found = diagnostics("x", "a.py", &[item], Encoding::Utf16, "ab\ncd", believed);
        let end = found[0].location.range().unwrap().end;
        assert_eq!((found[0].confidence, end.line, end.character), (Confidence::Medium, 1, 2));
    }

    proptest! {
        #[test]
        fn a_buffer_ends_up_with_the_wanted_text(before in "[ab😀\n]{0,30}", after in "[ab😀\n]{0,30}") {
            let BufferHunks { hunks, newline, .. } = buffer_hunks(&before, &after);
            let mut text = set_text(&before, &hunks);
            if newline && !after.is_empty() {
                text.push('\n');
            }
            prop_assert_eq!(text, after);
        }
    }
}
