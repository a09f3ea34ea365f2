//! Applies a list of edits to a text, and gives the list that takes it back.

use crate::edits::TextEdit;
use sextant_base::positions::LineIndex;

/// The reason why a list of edits fits no text, or not this one. Lines are one-based.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    #[error("an edit reaches to byte {end}, but the text ends at {len}; read the text again")]
    OutOfRange { end: usize, len: usize },
    #[error("an edit starts at byte {start}, after its end at byte {end}")]
    Backwards { start: usize, end: usize },
    #[error("two edits overlap or stand in the wrong order on line {line}; make them one edit")]
    Overlap { line: usize },
    #[error("an edit on line {line} begins or ends inside a character (byte {offset}); read the text again")]
    InsideCharacter { line: usize, offset: usize },
}

/// The place of an offset after the edits; one inside an edit goes to the edit's start.
pub fn offset_after(offset: usize, edits: &[TextEdit]) -> usize {
    let mut shift = 0isize;
    for edit in edits {
        if edit.range.end <= offset && !(edit.range.is_empty() && edit.range.start == offset) {
            shift += edit.text.len() as isize - edit.range.len() as isize;
        } else if edit.range.start < offset {
            return edit.range.start.saturating_add_signed(shift);
        }
    }
    offset.saturating_add_signed(shift)
}

/// Checks that the edits are sorted, apart from each other, and on character boundaries of the text.
///
/// Edits may touch; several insertions at one place are made in list order.
pub fn check(text: &str, edits: &[TextEdit]) -> Result<(), ApplyError> {
    let line_of = |offset: usize| LineIndex::new(text).line_of(offset) + 1;
    let mut done = 0;
    for edit in edits {
        let (start, end) = (edit.range.start, edit.range.end);
        if start > end {
            return Err(ApplyError::Backwards { start, end });
        }
        if end > text.len() {
            return Err(ApplyError::OutOfRange { end, len: text.len() });
        }
        if start < done {
            return Err(ApplyError::Overlap { line: line_of(start) });
        }
        if let Some(offset) = [start, end].into_iter().find(|offset| !text.is_char_boundary(*offset)) {
            return Err(ApplyError::InsideCharacter { line: line_of(offset), offset });
        }
        done = end;
    }
    Ok(())
}

/// The text after the edits.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<String, ApplyError> {
    check(text, edits)?;
    let mut out = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut done = 0;
    for edit in edits {
        out.push_str(&text[done..edit.range.start]);
        out.push_str(&edit.text);
        done = edit.range.end;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// The edits that turn the result of [`apply`] back into `text`.
pub fn invert(text: &str, edits: &[TextEdit]) -> Result<Vec<TextEdit>, ApplyError> {
    check(text, edits)?;
    let mut grown = 0;
    let mut shrunk = 0;
    Ok(edits
        .iter()
        .map(|edit| {
            let start = edit.range.start + grown - shrunk;
            grown += edit.text.len();
            shrunk += edit.range.len();
            TextEdit::new(start..start + edit.text.len(), &text[edit.range.clone()])
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_fit_the_text_is_named() {
        let text = "a\nü\n";
        let bad = |edits: &[TextEdit]| apply(text, edits).unwrap_err();
        assert_eq!(bad(&[TextEdit::new(4..9, "")]), ApplyError::OutOfRange { end: 9, len: 5 });
        assert_eq!(bad(&[TextEdit::new(3..4, "")]), ApplyError::InsideCharacter { line: 2, offset: 3 });
        let overlapping = [TextEdit::new(0..2, "x"), TextEdit::new(1..2, "y")];
        assert_eq!(bad(&overlapping), ApplyError::Overlap { line: 1 });
        #[allow(clippy::reversed_empty_ranges)]
        let backwards = [TextEdit::new(2..1, "")];
        assert_eq!(bad(&backwards), ApplyError::Backwards { start: 2, end: 1 });
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        let edits = [TextEdit::new(1..1, "b"), TextEdit::new(1..1, "c"), TextEdit::new(1..2, "")];
        assert_eq!(apply("aXd", &edits).unwrap(), "abcd");
    }

    prop_compose! {
        fn text_and_edits()(text in "[ab\nü😀\r]{0,20}")
            (cuts in proptest::collection::vec((0..=text.len(), "[xü\n]{0,3}"), 0..6), text in Just(text))
            -> (String, Vec<TextEdit>) {
            let mut cuts: Vec<_> = cuts.into_iter().filter(|(at, _)| text.is_char_boundary(*at)).collect();
            cuts.sort_by_key(|(at, _)| *at);
            let edits = cuts.chunks_exact(2).map(|two| TextEdit::new(two[0].0..two[1].0, two[0].1.clone())).collect();
            (text, edits)
        }
    }

    proptest! {
        #[test]
        fn the_inverse_takes_it_back((text, edits) in text_and_edits()) {
            let after = apply(&text, &edits).unwrap();
            let back = invert(&text, &edits).unwrap();
            prop_assert_eq!(apply(&after, &back).unwrap(), text);
        }
    }
}
