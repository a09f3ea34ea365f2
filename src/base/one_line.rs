//! One message from a checker or a model, as one line that can be shown.

/// Characters of one message; repository text is untrusted and can be long.
pub(crate) const MESSAGE: usize = 300;

/// Without control characters, on one line, cut to [`MESSAGE`] characters.
pub fn clean(message: &str) -> String {
    let words = message.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut out = words.collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = out.char_indices().nth(MESSAGE) {
        out.truncate(cut);
        out.push('…');
    }
    out
}

/// The first line of a message, cleaned: the lines after it are details.
pub fn headline(message: &str) -> String {
    clean(message.trim_start().lines().next().unwrap_or_default())
}

/// A text in quotation marks, for a sentence that goes on or ends behind it: without a full stop of its own.
pub fn quoted(text: &str) -> String {
    format!("“{}”", text.trim_end().trim_end_matches('.'))
}

/// The same text with a capital letter at its start.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_repository_are_tamed() {
        assert_eq!(clean("Type \"x\"\n  is\u{1b}[31m bad\u{0}"), "Type \"x\" is [31m bad");
        assert_eq!(clean(&"é".repeat(400)).chars().count(), MESSAGE + 1);
    }

    #[test]
    fn a_quoted_sentence_leaves_the_full_stop_to_the_one_around_it() {
        assert_eq!(format!("Not done: {}.", quoted("write a poem. ")), "Not done: “write a poem”.");
        assert_eq!(quoted("is it so?"), "“is it so?”");
    }
}
