//! What a request is, as far as words alone tell: a repair, a question, or work that needs understanding.

/// The offline model serves the first kind only; a prompt reminds a language model of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Repair,
    Question,
    Work,
}

/// Openings of a question, or of a wish to be shown or told something (English, Spanish, German).
const QUESTION_OPENINGS: &str = "is are does did has show list check review analyze analyse what why how where when \
    who which explain describe summarize summarise tell \
    muestra lista revisa qué que cómo como dónde donde cuándo quién cuál explica explícame explicame resume \
    zeig zeige prüfe gibt was warum wieso wie wo wann wer welche erkläre erklär beschreibe";

/// Stems of words that speak of mending what is reported.
const REPAIR_STEMS: &str = "fix repair correct resolve clean tidy organi diagnos error warning lint import unused \
    missing problem issue quick corrig corrij arregl repar solucion limpi aviso advertencia \
    beheb korrig fehler warnung aufräum";

/// Stems of verbs that ask for something that no language server offers.
const WORK_STEMS: &str = "add rename write implement create refactor move extract delete remove translate document \
    test change replace convert optimi rewrite generate make insert inline split \
    añad agreg renombr escrib crea elimin borr cambi traduc mueve genera \
    füge umbenenn benenn schreib erstell lösch änder ersetz";

/// Nothing but the words is looked at; an empty request asks for what can be done.
pub fn classify(query: &str) -> Ask {
    let lower = query.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let speaks_of = |stems: &str, words: &[&str]| {
        words.iter().any(|word| stems.split_whitespace().any(|stem| word.starts_with(stem)))
    };
    let first = words.first().copied().unwrap_or_default();
    if QUESTION_OPENINGS.split_whitespace().any(|opening| opening == first) || lower.trim_start().starts_with("por qu")
    {
        return Ask::Question;
    }
    if speaks_of(REPAIR_STEMS, &words) {
        return Ask::Repair;
    }
    if lower.trim_end().ends_with('?') || speaks_of("expl erklär", &words) {
        return Ask::Question;
    }
    if speaks_of(WORK_STEMS, &words[..words.len().min(1)]) {
        return Ask::Work;
    }
    Ask::Repair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_work_and_repairs_are_told_apart() {
        for (query, wanted) in [
            ("", Ask::Repair),
            ("fix the errors in Cart::total", Ask::Repair),
            ("Can you fix this?", Ask::Repair),
            ("Add the missing import", Ask::Repair),
            ("remove unused imports", Ask::Repair),
            ("arregla los errores", Ask::Repair),
            ("behebe die Fehler", Ask::Repair),
            ("Cart::total", Ask::Repair),
            ("explain Cart::total", Ask::Question),
            ("Why does the fix fail", Ask::Question),
            ("¿Qué hace total?", Ask::Question),
            ("¿Por qué falla?", Ask::Question),
            ("Wie funktioniert das?", Ask::Question),
            ("is total ever negative?", Ask::Question),
            ("please explain total", Ask::Question),
            ("show me the errors in total", Ask::Question),
            ("Are there any errors?", Ask::Question),
            ("rename total to sum", Ask::Work),
            ("add a parameter tax", Ask::Work),
            ("escribe una docstring", Ask::Work),
        ] {
            assert_eq!(classify(query), wanted, "{query}");
        }
    }
}
