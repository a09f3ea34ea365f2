//! Splits the lines of a large edit from its message: Neovim reads one part a turn, so that no key waits for all.
//!
//! Reading is quick by itself (1 ms for 10,000 lines). But many strings in one turn pay for the garbage of all of Lua.
//! For all of them at once it takes 7 to 10 ms, measured with 500 diagnostics shown.

use serde::Serialize;

use crate::lua_messages::BufferEdit;

/// Bytes of lines that Neovim reads in one turn: with the most garbage about 2 ms, where 60,000 took up to 7.
const PART: usize = 16_000;

/// Lines that belong at the end of those of a hunk. Edits and hunks are counted from 1, as in Lua.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Chunk {
    edit: usize,
    hunk: usize,
    lines: Vec<String>,
}

/// Takes the lines out of the edits that do not fit into a message with those before them. The answer has the lines of
/// each further message, in order.
pub(super) fn take(edits: &mut [BufferEdit]) -> Vec<Vec<Chunk>> {
    let mut messages: Vec<Vec<Chunk>> = Vec::new();
    let mut bytes = 0;
    for (edit, change) in edits.iter_mut().enumerate() {
        let (BufferEdit::Change { hunks, .. } | BufferEdit::Create { hunks, .. }) = change else { continue };
        for (hunk, (.., lines)) in hunks.iter_mut().enumerate() {
            let mut kept = Vec::new();
            for line in std::mem::take(lines) {
                let number = bytes / PART;
                bytes += line.len() + 1;
                if number == 0 {
                    kept.push(line);
                    continue;
                }
                messages.resize_with(number.max(messages.len()), Vec::new);
                let message = &mut messages[number - 1];
                match message.last_mut() {
                    Some(part) if part.edit == edit + 1 && part.hunk == hunk + 1 => part.lines.push(line),
                    _ => message.push(Chunk { edit: edit + 1, hunk: hunk + 1, lines: vec![line] }),
                }
            }
            *lines = kept;
        }
    }
    messages.retain(|message| !message.is_empty());
    messages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lua_messages::Hunk;

    fn create(hunks: Vec<Hunk>) -> BufferEdit {
        BufferEdit::Create { path: String::new(), hunks, newline: true, empty: false }
    }

    fn lines_of(edit: &BufferEdit) -> Vec<Vec<String>> {
        match edit {
            BufferEdit::Create { hunks, .. } => hunks.iter().map(|hunk| hunk.4.clone()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_small_edit_travels_whole() {
        let mut edits = [create(vec![(0, 0, 0, 0, vec!["a".to_owned(); 100])])];
        assert!(take(&mut edits).is_empty());
        assert_eq!(lines_of(&edits[0])[0].len(), 100);
    }

    #[test]
    fn a_line_longer_than_a_message_is_one_of_its_own() {
        let long = "x".repeat(3 * PART);
        let mut edits = [create(vec![(0, 0, 0, 0, vec![long, "b".to_owned()])])];
        let messages = take(&mut edits);
        assert_eq!(messages, [[Chunk { edit: 1, hunk: 1, lines: vec!["b".to_owned()] }]]);
    }

    proptest! {
        #[test]
        fn put_together_again_it_is_the_same_edit(
            sizes in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_usize..30_000, 0..8), 0..4), 0..4),
        ) {
            let edit = |hunks: &Vec<Vec<usize>>| {
                let lines = |sizes: &Vec<usize>| sizes.iter().map(|size| size.to_string().repeat(size / 5)).collect();
                create(hunks.iter().map(|sizes| (0, 0, 0, 0, lines(sizes))).collect())
            };
            let mut edits: Vec<BufferEdit> = sizes.iter().map(edit).collect();
            let whole: Vec<_> = edits.iter().map(lines_of).collect();
            let messages = take(&mut edits);
            let mut again: Vec<_> = edits.iter().map(lines_of).collect();
            for part in messages.iter().flatten() {
                again[part.edit - 1][part.hunk - 1].extend(part.lines.iter().cloned());
            }
            prop_assert_eq!(again, whole);
            for message in &messages {
                let bytes: usize = message.iter().flat_map(|part| &part.lines).map(|line| line.len() + 1).sum();
                // The last line of a message may reach beyond its end.
                prop_assert!(bytes < PART + 30_000);
            }
        }
    }
}
