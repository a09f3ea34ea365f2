//! The marks between and behind symbols: the `,` of a list, the `;` of a field.

use crate::edits::TextEdit;
use crate::edits::indent::indent;
use crate::edits::symbol::layout;
use crate::symbols::language::Language;
use crate::symbols::outline::Symbol;

fn mark(target: &Symbol) -> Option<char> {
    target.separator.map(|separator| separator.mark)
}

/// Content that ends like the symbol whose place it takes.
pub(super) fn as_before(text: &str, target: &Symbol, content: &str) -> String {
    let had = |mark: &char| text[target.extent.clone()].ends_with(*mark);
    with_mark(content, target.tail.or(mark(target)).filter(had))
}

/// Content that ends as a symbol of this kind does between others.
pub(super) fn ended(target: &Symbol, content: &str) -> String {
    with_mark(content, mark(target))
}

fn with_mark(content: &str, mark: Option<char>) -> String {
    let mark = mark.filter(|mark| !content.ends_with(*mark));
    mark.map_or_else(|| content.to_owned(), |mark| format!("{content}{mark}"))
}

/// Inserts behind the last symbol of a list, which has no separator behind it.
pub(super) fn insert_behind_last(
    text: &str,
    language: &Language,
    target: &Symbol,
    blank: usize,
    content: &str,
) -> Option<TextEdit> {
    let separator = mark(target).filter(|mark| !text[target.extent.clone()].ends_with(*mark))?;
    let end = layout::line_end(text, target.extent.end);
    let behind = &text[target.extent.end..end];
    let is_last_on_line = language.is_only_comments(behind);
    let content = content.trim_end_matches(separator);
    if !is_last_on_line {
        // The list stands on one line.
        let at = target.extent.end;
        return Some(TextEdit::new(at..at, format!("{separator} {}", content.trim_start())));
    }
    let lines = "\n".repeat(1 + blank);
    Some(TextEdit::new(target.extent.end..end, format!("{separator}{behind}{lines}{content}")))
}

/// Inserts behind a symbol that has other code behind it on its line.
pub(super) fn insert_on_line(text: &str, language: &Language, target: &Symbol, content: &str) -> Option<TextEdit> {
    let at = target.extent.end;
    let behind = &text[at..layout::line_end(text, at)];
    if behind.trim().is_empty() || language.is_only_comments(behind) {
        return None;
    }
    let line = layout::line_start(text, target.extent.start);
    let indent = indent(&text[line..]);
    let own = &text[target.extent.clone()];
    let mark = target.tail.filter(|mark| !own.ends_with(*mark)).map(String::from).unwrap_or_default();
    // The code behind it stands on the same line.
    let content = with_mark(content, target.tail.filter(|mark| own.ends_with(*mark)));
    let bare = content.trim_start();
    let gap = if bare.contains('\n') || own.contains('\n') { format!("\n{indent}") } else { " ".to_owned() };
    // The code behind must not become a comment.
    let last = bare.rsplit('\n').next().unwrap_or(bare);
    let end = if language.without_comment(last) == last { String::new() } else { format!("\n{indent}") };
    Some(TextEdit::new(at..at, format!("{mark}{gap}{bare}{end}")))
}

/// Removes the last symbol of a list together with the separator before it, where none may stand at the end.
pub(super) fn delete_last(text: &str, language: &Language, target: &Symbol) -> Option<TextEdit> {
    let separator = mark(target).filter(|mark| !text[target.extent.clone()].ends_with(*mark))?;
    let above = text[..target.extent.start].trim_end();
    if language.trailing_separator && target.separator.is_some_and(|separator| !separator.is_strict)
        || !above.ends_with(separator)
    {
        return None;
    }
    Some(TextEdit::new(above.len() - separator.len_utf8()..target.extent.end, ""))
}
