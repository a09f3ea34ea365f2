//! The names that macros make of parts: a use of such a name does not mention it.

use std::collections::HashSet;
use std::sync::Arc;

use sextant_text::symbols::interface::identifiers;
use sextant_text::symbols::language::Language;

/// The most parts of which one name is made.
const MOST_PARTS: usize = 4;

/// The words that macros of some texts paste to others.
#[derive(Debug, Default)]
pub(super) struct PastedNames {
    parts: HashSet<String>,
}

impl PastedNames {
    pub(super) fn of(language: &Language, texts: &[Arc<str>]) -> Self {
        let Some(mark) = language.paste_mark else { return Self::default() };
        let mut parts = HashSet::new();
        for line in texts.iter().flat_map(|text| text.lines()).filter(|line| line.contains(mark)) {
            parts.extend(identifiers(line).map(str::to_owned));
        }
        Self { parts }
    }

    /// True if a name can be made of these words, and of those that macros add.
    pub(super) fn can_make(&self, name: &str, words: &HashSet<String>) -> bool {
        !self.parts.is_empty() && self.is_made(name, words, MOST_PARTS)
    }

    fn is_made(&self, name: &str, words: &HashSet<String>, most: usize) -> bool {
        let is_part = |part: &str| self.parts.contains(part) || words.contains(part);
        let ends = name.char_indices().map(|(at, _)| at).skip(1);
        most > 1
            && ends.into_iter().any(|at| {
                let (first, rest) = name.split_at(at);
                is_part(first) && (is_part(rest) || self.is_made(rest, words, most - 1))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_text::symbols::language::of_path;

    #[test]
    fn a_name_is_made_of_words_where_a_macro_pastes_them() {
        let words: HashSet<String> = ["total", "GET"].map(str::to_owned).into();
        let (c, pasting): (_, Arc<str>) = (of_path("a.c").unwrap(), "#define GET(n) get_##n\n".into());
        let pasted = PastedNames::of(c, &[pasting]);
        assert!(pasted.can_make("get_total", &words) && !pasted.can_make("set_total", &words));
        assert!(!PastedNames::of(c, &["#define GET(n) #n\n".into()]).can_make("get_total", &words));
    }
}
