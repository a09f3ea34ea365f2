//! Splits a question and a text into words, close to how the full-text index splits them.

use std::borrow::Cow;

/// Words too common to find anything by, in the languages of our users (English, Spanish); sorted.
const STOP: &[&str] = &[
    "a", "al", "an", "and", "are", "as", "at", "be", "but", "by", "como", "con", "de", "del", "do", "el", "en", "es",
    "esta", "este", "for", "from", "had", "has", "have", "he", "if", "in", "into", "is", "it", "its", "la", "las",
    "lo", "los", "mas", "no", "not", "o", "of", "on", "or", "para", "pero", "por", "que", "se", "si", "sin", "so",
    "su", "that", "the", "then", "there", "these", "they", "this", "to", "un", "una", "was", "were", "what", "when",
    "where", "which", "will", "with", "y", "you",
];

/// Parts of a question beyond this number are not looked at.
pub(in crate::memory) const TERMS: usize = 8;

/// One part of a question, as the user set it apart by white space: `cart_total` is two words in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Term {
    /// Folded, for comparing.
    pub words: Vec<String>,
    /// A quoted phrase of the index's language. It holds letters, digits and spaces only, so that no typed text is read
    /// as an operator.
    pub phrase: String,
}

/// The words of a text, folded.
pub(in crate::memory) fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(fold)
}

/// Lower case without the accents of Latin letters.
fn fold(word: &str) -> Cow<'_, str> {
    let plain_already = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if word.bytes().all(plain_already) {
        return Cow::Borrowed(word);
    }
    word.chars().flat_map(char::to_lowercase).filter(|c| !('\u{300}'..='\u{36f}').contains(c)).map(plain).collect()
}

fn plain(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' => 'i',
        'ĺ' | 'ļ' | 'ľ' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' => 's',
        'ţ' | 'ť' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

/// The parts of a question that can be searched for. Stop words are dropped unless there is nothing else.
pub(in crate::memory) fn terms(text: &str) -> Vec<Term> {
    let mut all: Vec<Term> = Vec::new();
    for token in text.split_whitespace() {
        let raw: Vec<&str> = token.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let term = Term {
            words: raw.iter().map(|word| fold(word).into_owned()).collect(),
            phrase: format!("\"{}\"", raw.join(" ")),
        };
        if !raw.is_empty() && !all.iter().any(|known| known.words == term.words) {
            all.push(term);
        }
    }
    if all.iter().any(|term| !is_stop(term)) {
        all.retain(|term| !is_stop(term));
    }
    all.truncate(TERMS);
    all
}

fn is_stop(term: &Term) -> bool {
    matches!(term.words.as_slice(), [word] if STOP.binary_search(&word.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<String> {
        terms(text).into_iter().map(|term| term.phrase).collect()
    }

    #[test]
    fn what_the_user_types_is_never_an_operator() {
        assert_eq!(phrases("foo-bar AND (\"x* OR content:y^"), ["\"foo bar\"", "\"x\"", "\"content y\""]);
        assert_eq!(phrases(" \"' ( ) * "), [""; 0]);
        assert_eq!(phrases("Total total TOTAL"), ["\"Total\""], "the same word once");
    }

    #[test]
    fn stop_words_are_dropped_unless_they_are_all_there_is() {
        assert!(STOP.is_sorted());
        assert_eq!(phrases("where is the total"), ["\"total\""]);
        assert_eq!(phrases("the of"), ["\"the\"", "\"of\""]);
        assert_eq!(phrases("la sesión"), ["\"sesión\""]);
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(words("Cart::total_über SESIÓN 42").collect::<Vec<_>>(), ["cart", "total", "uber", "sesion", "42"]);
    }
}
