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

/// Stems of words for what checkers report, as a whole.
const REPORT_STEMS: &str = "diagnos error warning lint clean tidy problem issue type complain \
    aviso advertencia queja fehler warnung meldung";

/// Stems of what language servers offer under such a verb after all: `add the missing import`.
const OFFERED_STEMS: &str = "import unused missing lint clean tidy organi aufräum limpi";

/// Stems of verbs that may be said of reports, and mean mending them then.
const DELETION_STEMS: &str = "delet remov drop elimin borr quit lösch entfern";

/// Words that add nothing to a wish to have something mended.
const FILLERS: &str = "a an the this that these those it them here there is are in of on at for from with and or to be \
    please can could would you i me my our we now just make get all any each every whole entire py python static type \
    types typing file files function functions method methods class classes module project workspace line lines code \
    el la los las un una unos unas este esta esto estos estas de del en por favor todo toda todos todas mi tipo tipos y \
    archivo archivos fichero función funcion método metodo clase módulo modulo proyecto línea linea líneas lineas código \
    der die das den dem des ein eine einen dieser diese dieses bitte alle im aus von und mein meine typ typen datei \
    dateien funktion methode klasse modul projekt zeile zeilen";

/// Stems of verbs after which a symbol may be there no longer.
const REMOVAL_STEMS: &str = "delet remov drop eras prun discard strip obsolet inline merg extract mov renam split \
    rewrit replac elimin borr quit suprim mueve renombr reemplaz lösch entfern streich verschieb ersetz umbenenn";

/// Words that end what such a verb speaks of: behind them stands where, or what for.
const BOUNDS: &str = "from in of at inside within so that because to into with by until \
    de del desde en para con aus von im am zu damit mit";

/// Stems of words for symbols that are not named.
const GENERIC_STEMS: &str = "function method class symbol definition dead code duplicat it them both all \
    función funcion método metodo clase símbolo simbolo código codigo funktion methode klasse";

/// Stems of words that speak of everything.
const ALL_STEMS: &str = "all every whole entire project workspace todo toda todos todas alle ganz jede überall";

/// Whether a request wants something mended, in so many words.
pub fn mends(query: &str) -> bool {
    classify(query) == Ask::Repair && has_stem(query, REPAIR_STEMS)
}

/// Whether it wants what is reported mended, and not one thing of its own.
pub fn mends_reports(query: &str) -> bool {
    mends(query) && has_stem(query, REPORT_STEMS)
}

/// Whether it wants what is reported mended and nothing else: every word is about that, a filler, or a name of what
/// it is to be mended in.
pub fn only_mends_reports(query: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let known = |word: &str| {
        let lower = word.to_lowercase();
        FILLERS.split_whitespace().any(|filler| filler == lower)
            || begins(word, REPAIR_STEMS)
            || begins(word, REPORT_STEMS)
            || is_name(word)
    };
    mends_reports(query) && words(query).into_iter().all(known)
}

/// Whether it says that everything is meant.
pub fn wants_all(query: &str) -> bool {
    has_stem(query, ALL_STEMS)
}

/// What each verb of removal speaks of: `delete the function f in a.py` gives `the function f`.
pub fn removals(text: &str) -> Vec<Vec<&str>> {
    let words = words(text);
    let is_bound = |word: &&&str| BOUNDS.split_whitespace().any(|bound| bound == word.to_lowercase());
    let object = |at: usize| words[at + 1..].iter().take_while(|word| !is_bound(word)).copied().collect();
    (0..words.len()).filter(|at| begins(words[*at], REMOVAL_STEMS)).map(object).collect()
}

/// Whether these words speak of symbols without naming one.
pub fn is_generic(object: &[&str]) -> bool {
    object.iter().any(|word| begins(word, GENERIC_STEMS))
}

/// The words of a text; a name with underscores is one.
pub fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect()
}

fn begins(word: &str, stems: &str) -> bool {
    let word = word.to_lowercase();
    // A short stem is a word of its own: `it` is not the beginning of `items`.
    stems.split_whitespace().any(|stem| if stem.len() < 4 { word == stem } else { word.starts_with(stem) })
}

fn has_stem(text: &str, stems: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| begins(word, stems))
}

/// Nothing but the words is looked at; an empty request asks for what can be done.
pub fn classify(query: &str) -> Ask {
    let lower = query.to_lowercase();
    let words = words(&lower);
    let speaks_of = |stems: &str, words: &[&str]| {
        words.iter().any(|word| stems.split_whitespace().any(|stem| word.starts_with(stem)))
    };
    let first = words.first().copied().unwrap_or_default();
    if QUESTION_OPENINGS.split_whitespace().any(|opening| opening == first) || lower.trim_start().starts_with("por qu")
    {
        return Ask::Question;
    }
    let works = speaks_of(WORK_STEMS, &words[..words.len().min(1)]);
    if speaks_of(REPAIR_STEMS, &words) && !(works && needs_understanding(&lower, &words)) {
        return Ask::Repair;
    }
    if lower.trim_end().ends_with('?') || speaks_of("expl erklär", &words) {
        return Ask::Question;
    }
    if works { Ask::Work } else { Ask::Repair }
}

/// Whether a verb of work at the beginning is meant as such, though a word of mending follows: `add error handling`,
/// but not `add the missing import`, `make it type-clean` or `remove all type errors`.
fn needs_understanding(query: &str, words: &[&str]) -> bool {
    let offered = words.iter().any(|word| begins(word, OFFERED_STEMS));
    let removes_reports = || {
        if !words.first().is_some_and(|first| begins(first, DELETION_STEMS)) {
            return false;
        }
        let object = removals(query).into_iter().next().unwrap_or_default();
        object.last().is_some_and(|word| begins(word, REPORT_STEMS))
    };
    !offered && !removes_reports()
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
            ("add error handling to total", Ask::Work),
            ("rename fix_total to mend", Ask::Work),
            ("replace the warning with an exception", Ask::Work),
            ("make the error message nicer", Ask::Work),
            ("make this file type-clean", Ask::Repair),
            ("remove all type errors", Ask::Repair),
            ("elimina los errores de total", Ask::Repair),
            ("delete the error class", Ask::Work),
        ] {
            assert_eq!(classify(query), wanted, "{query}");
        }
    }

    #[test]
    fn mending_is_told_from_asking_and_reports_from_one_bug() {
        for (query, wanted) in [
            ("fix this", (true, false)),
            ("make this file type-clean", (true, true)),
            ("fix all errors", (true, true)),
            ("break it", (false, false)),
            ("rename total", (false, false)),
            ("Cart::total", (false, false)),
        ] {
            assert_eq!((mends(query), mends_reports(query)), wanted, "{query}");
        }
        assert!(wants_all("fix everything") && !wants_all("fix this"));
    }

    #[test]
    fn a_wish_for_more_than_mending_is_never_taken_for_mending_alone() {
        let named = |word: &str| ["prices", "total", "cart"].contains(&word.to_lowercase().as_str());
        for (query, wanted) in [
            ("fix the type error in total", true),
            ("Fix all errors in prices.py, please", true),
            ("make this file type-clean", true),
            ("arregla los errores de tipo en Cart::total", true),
            ("behebe alle Fehler in dieser Datei", true),
            ("fix this", false),
            ("fix the type error in total and handle negative prices", false),
            ("fix the errors in other", false),
            ("fix the error and rename total", false),
            ("why does the error remain", false),
        ] {
            assert_eq!(only_mends_reports(query, named), wanted, "{query}");
        }
    }

    #[test]
    fn a_verb_of_removal_speaks_of_what_follows_it() {
        assert_eq!(removals("Delete `Cart::total` and sum in a.py"), [vec!["Cart", "total", "and", "sum"]]);
        assert_eq!(removals("Remove the unused variable in f"), [vec!["the", "unused", "variable"]]);
        assert_eq!(removals("fix f"), Vec::<Vec<&str>>::new());
        assert!(is_generic(&["the", "dead", "code"]) && !is_generic(&["items", "unused", "import"]));
    }
}
