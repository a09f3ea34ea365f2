//! Classifies a request by its words alone: a repair of reports, a question, work that needs understanding, none of
//! these, or a prohibition.

pub mod filter_reports;
pub mod kinds;
mod lexicon;
mod prohibition;
mod read_repair_wish;
mod read_request;
pub mod rename_reach;

use crate::mentions;
use crate::request_kind::filter_reports::RepairWish;
use crate::request_kind::read_request::{ClauseWish, RequestReading};

/// The offline model serves repairs only; a prompt reminds a language model of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To fix the reports.
    Repair,
    Question,
    /// Work that needs understanding.
    Work,
    /// A repair that a word of it turns or limits; or every change is forbidden.
    Forbidden,
    /// Anything else: a greeting, a name alone, no words at all.
    Unclear,
}

/// Stems of words for fixing reports.
const REPAIR_STEMS: &str = "fix repair correct resolve clean tidy organi diagnos error warning lint import unused \
    missing problem issue quick corrig corrij arregl repar solucion limpi aviso advertencia \
    beheb korrig fehler warnung aufräum";

/// Stems of words for the reports of checkers, as a whole.
const REPORT_STEMS: &str = "diagnos error warning lint clean tidy problem issue type complain \
    aviso advertencia queja fehler warnung meldung";

/// Stems of words for tests, and for failures of running code.
const RUN_STEMS: &str = "test fail crash hang prueba falla schlägt scheiter absturz stürzt";

/// Words that add nothing to a wish for a fix.
const FILLERS: &str = "a an the this that these those it them here there is are in of on at for from with and or to be \
    please can could would you i me my our we now just make get all any each every whole entire py python static type \
    types typing file files function functions method methods class classes module project workspace line lines code \
    el la los las un una unos unas este esta esto estos estas de del en por favor todo toda todos todas mi tipo tipos y \
    archivo archivos fichero función funcion método metodo clase módulo modulo proyecto línea linea líneas lineas código \
    der die das den dem des ein eine einen dieser diese dieses bitte alle im aus von und mein meine typ typen datei \
    dateien funktion methode klasse modul projekt zeile zeilen";

/// Stems of verbs that may remove a symbol.
const REMOVAL_STEMS: &str = "delet remov drop eras prun discard strip obsolet inline merg extract mov renam split \
    rewrit replac elimin borr quit suprim mueve renombr reemplaz lösch entfern streich verschieb ersetz umbenenn";

/// Words that end the object of such a verb: a place or a purpose stands behind them.
const BOUNDS: &str = "from in of at inside within so that because to into with by until \
    de del desde en para con aus von im am zu damit mit";

/// Stems of words for symbols that are not named.
const GENERIC_STEMS: &str = "function method class symbol definition dead code duplicat it them both all \
    función funcion método metodo clase símbolo simbolo código codigo funktion methode klasse";

/// Stems of words for everything.
const ALL_STEMS: &str = "all every whole entire project workspace todo toda todos todas alle ganz jede überall";

/// True if a request plainly wants something fixed.
pub fn asks_repair(query: &str) -> bool {
    let reading = RequestReading::of(query);
    matches!(reading.wish(), ClauseWish::Repair | ClauseWish::Fix) && !reading.forbids()
}

/// True if it wants the reports fixed, and not one thing of its own.
pub fn asks_report_repair(query: &str) -> bool {
    asks_repair(query) && has_stem(query, REPORT_STEMS)
}

/// True if it is about the reports of checkers, without leaving them as they are.
pub fn speaks_of_reports(query: &str) -> bool {
    has_stem(query, REPORT_STEMS) && !mentions::leaves_alone(query, |word| begins(word, REPORT_STEMS))
}

/// True if it is about a test, or about code that fails when it runs: nobody reports that.
pub fn speaks_of_running(query: &str) -> bool {
    // A path names a place, and not the subject: `tests/test_cart.py`.
    let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '-');
    let fails = mentions::words(query).into_iter().any(|word| is_word(word) && begins(word, RUN_STEMS));
    fails && !has_stem(query, REPORT_STEMS)
}

/// True if it wants the reports fixed and nothing else: every word is about that, a filler, or a name of the place to
/// fix.
pub fn asks_only_report_repair(query: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let known = |word: &str| {
        let lower = word.to_lowercase();
        FILLERS.split_whitespace().any(|filler| filler == lower)
            || begins(word, REPAIR_STEMS)
            || begins(word, REPORT_STEMS)
            || is_name(word)
    };
    asks_report_repair(query) && words(query).into_iter().all(known)
}

/// True if it asks for everything.
pub fn wants_all(query: &str) -> bool {
    has_stem(query, ALL_STEMS)
}

/// The most words in the object of one verb.
const LONGEST: usize = 200;

/// The object of each verb of removal: `delete the function f in a.py` gives `the function f`.
pub fn removals(text: &str) -> Vec<Vec<&str>> {
    let words = words(text);
    let is_bound = |word: &&&str| BOUNDS.split_whitespace().any(|bound| bound == word.to_lowercase());
    let object = |at: usize| words[at + 1..].iter().take(LONGEST).take_while(|word| !is_bound(word)).copied().collect();
    (0..words.len()).filter(|at| begins(words[*at], REMOVAL_STEMS)).map(object).collect()
}

/// True if these words mean symbols without naming one.
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

/// Only the words are looked at. An unclear request is not a repair, since a repair edits files.
pub fn classify(query: &str) -> Ask {
    let reading = RequestReading::of(query);
    match reading.wish() {
        _ if reading.forbids() => Ask::Forbidden,
        ClauseWish::Question => Ask::Question,
        ClauseWish::Repair if reading.is_negated() => Ask::Forbidden,
        ClauseWish::Repair => Ask::Repair,
        ClauseWish::Fix | ClauseWish::Work => Ask::Work,
        ClauseWish::Nothing => Ask::Unclear,
    }
}

/// Words that a question without a question mark begins with.
const ASKING: &str = "what why how when where who which whose explain describe tell is are does do did can could \
    qué que cómo como por cuándo dónde quién cuál explica describe dime was wie warum wo wer erkläre";

/// Recognizes the form of a question. `print the sum` wishes to see something, and may be work as well.
pub fn has_form_of_question(query: &str) -> bool {
    let first = words(query).first().map(|word| word.to_lowercase()).unwrap_or_default();
    query.contains('?') || ASKING.split_whitespace().any(|word| word == first)
}

/// A request that wants an answer alone, by its words and by its form.
pub fn is_plain_question(query: &str) -> bool {
    classify(query) == Ask::Question && has_form_of_question(query)
}

/// Classifies a step of a plan that the user has approved: its title, and the expectation after it. A step that is
/// not a question or work of another kind is the work that the plan was made for.
pub fn classify_step(query: &str) -> Ask {
    match classify(title(query)) {
        Ask::Unclear => Ask::Repair,
        other => other,
    }
}

/// The words of a step without the expectation after it.
fn title(query: &str) -> &str {
    query.split(". Expected after it: ").next().unwrap_or_default()
}

/// The reports that a request wants repaired, and its other wishes. For a step of a plan its own words count if they
/// ask for a repair. Otherwise the words that the plan was made for (`user`) count.
pub fn repair_filter(query: &str, user: &str) -> RepairWish {
    let own = user.is_empty() || classify(title(query)) == Ask::Repair;
    let words = if own { title(query) } else { user };
    if classify(words) == Ask::Repair { read_repair_wish::read(words) } else { RepairWish::default() }
}

/// True if a request forbids every change: then no tool of its task may make one, for any call of a model. A request
/// that forbids a part (`but leave the tests alone`) does not.
pub fn forbids(query: &str) -> bool {
    RequestReading::of(query).forbids()
}

/// True if it does so until the user's next word: `plan it, but change nothing yet`.
pub fn forbids_for_now(query: &str) -> bool {
    let reading = RequestReading::of(query);
    reading.forbids() && reading.waits()
}

#[cfg(test)]
mod tests;
