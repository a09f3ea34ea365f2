//! Decides whether a request means a word: a forbidden word is named, and not asked for.

/// Words that negate the words after them (English, Spanish, German).
const DENIALS: &str = "no not never without avoid don't dont doesn't won't can't cannot mustn't shouldn't instead \
    sin nunca jamás ni evita evitar nada nicht nie kein keine keinen keiner ohne statt";

/// Words that a denial reaches over.
const REACH: usize = 4;

/// Words after which a verb is an order: `please silence this`, and not `where we ignore it`.
const BEFORE_ORDERS: &str =
    "and then please just simply to by or can could you y o luego solo sólo para und oder bitte nur";

/// The words of a text between blanks, without the marks that quote and end them.
pub fn words(text: &str) -> Vec<&str> {
    let edge = |c: char| "`\"'“”‘’«»()[]{}<>,;:!?¿¡".contains(c);
    let bare = |word: &str| word.trim_end_matches(|c| edge(c) || c == '.').len();
    text.split_whitespace().map(|word| word[..bare(word)].trim_start_matches(edge)).collect()
}

/// The sentences of a text, each with the mark that ends it. A period inside of a word, as in `a.py`, ends none.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n', '?', '!', ';']).flat_map(|part| part.split_inclusive(". "))
}

/// Words that make a request of a question: `can you fix it?`
const REQUESTS: &str = "can could would will please podrías puedes puede podría kannst könntest würdest bitte";

/// True if a sentence is a question that asks for no work.
pub fn only_asks(sentence: &str) -> bool {
    let first = words(sentence).into_iter().next().unwrap_or_default().to_lowercase();
    sentence.trim_end().ends_with('?') && !REQUESTS.split_whitespace().any(|word| word == first)
}

/// Checkers whose marks are written with a colon and a blank: `type: ignore` is one word here.
const MARKS: &[&str] = &["type", "pyright", "basedpyright", "mypy", "ruff", "pylint", "ty", "pyrefly", "flake8"];

fn joined(text: &str) -> String {
    MARKS.iter().fold(text.to_owned(), |text, mark| text.replace(&format!("{mark}: "), &format!("{mark}:")))
}

/// True if the text has a word that the test knows, not denied in the same clause.
pub fn says(text: &str, is: impl Fn(&str) -> bool) -> bool {
    !places(&joined(text), is).is_empty()
}

/// True if one of these verbs is an order.
pub fn orders(text: &str, verbs: &str) -> bool {
    let text = joined(text);
    let raw: Vec<&str> = text.split_whitespace().collect();
    let is_verb = |word: &str| verbs.split_whitespace().any(|verb| verb == word.to_lowercase());
    places(&text, is_verb).into_iter().any(|at| {
        let Some(before) = at.checked_sub(1).and_then(|at| raw.get(at)) else { return true };
        ends_clause(before) || BEFORE_ORDERS.split_whitespace().any(|word| word == before.to_lowercase())
    })
}

/// Words that take the words after them out of a request.
const EXCEPTIONS: &str = "except excluding exclude salvo excepto menos außer ausgenommen";
/// Words after which a clause has another subject.
const TURNS: &str = "but then just only instead pero sino luego solo sólo aber sondern dann nur";
/// Verbs that leave their object as it is, with the words behind its name.
const LEAVES: &str = "leave leaving keep keeping deja dejar dejando mantén lass lasse";
const LEFT: &str = "alone untouched unchanged as intact intacto igual como unverändert wie";

/// Words of a clause that a denial reaches over to a name.
const NAME_REACH: usize = 8;

/// True if a word that the test knows is named to be left alone: `do not touch b.py`, `everything except b.py`.
pub fn leaves_alone(text: &str, is: impl Fn(&str) -> bool) -> bool {
    let raw: Vec<&str> = text.split_whitespace().collect();
    let one_of = |list: &str, word: &str| {
        let plain = word.to_lowercase().replace('’', "'");
        let plain = plain.trim_matches(|c: char| !c.is_alphanumeric());
        list.split_whitespace().any(|known| known == plain)
    };
    words(text).into_iter().enumerate().filter(|(_, word)| is(word)).any(|(at, _)| {
        let before: Vec<&str> = raw[..at]
            .iter()
            .rev()
            .take(NAME_REACH)
            .take_while(|word| !word.ends_with([';', '.', ':', '!', '?']) && !one_of(TURNS, word))
            .copied()
            .collect();
        let has_comma = raw[at].ends_with([',', ';', '.', ':', '!', '?']);
        let behind = raw[at + 1..].iter().take(if has_comma { 0 } else { 4 });
        let left = before.iter().any(|word| one_of(LEAVES, word)) && behind.into_iter().any(|word| one_of(LEFT, word));
        // `do not touch a.py, b.py or c.py` denies all of them, and `no, do it in b.py` nothing.
        let clause = before.iter().take_while(|word| !word.ends_with(',') || word.contains('.') || word.contains('`'));
        let denied = clause.copied().any(|word| one_of(DENIALS, word) || one_of(EXCEPTIONS, word));
        left || denied
    })
}

fn places(text: &str, is: impl Fn(&str) -> bool) -> Vec<usize> {
    let raw: Vec<&str> = text.split_whitespace().collect();
    let found = words(text).into_iter().enumerate().filter(|(_, word)| is(word)).map(|(at, _)| at);
    found.filter(|at| !is_denied(&raw, *at)).collect()
}

fn is_denied(raw: &[&str], at: usize) -> bool {
    let before = raw[..at].iter().rev().take(REACH).take_while(|word| !ends_clause(word));
    let denies = |word: &&str| {
        let plain = word.to_lowercase().replace('’', "'");
        let plain = plain.trim_matches(|c: char| !c.is_alphanumeric());
        DENIALS.split_whitespace().any(|denial| denial == plain)
    };
    before.into_iter().any(denies)
}

fn ends_clause(word: &str) -> bool {
    word.ends_with([',', ';', '.', ':', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_is_not_asked_for() {
        let noqa = |text: &str| says(text, |word| word == "noqa");
        for text in ["add a noqa to line 3", "Not urgent, add a `noqa`.", "añade un noqa"] {
            assert!(noqa(text), "{text}");
        }
        let ignores = |text: &str| says(text, |word| word.starts_with("type:"));
        assert!(ignores("add a type: ignore") && !ignores("do not add a type: ignore"));
        for text in ["don't add noqa", "fix it without any noqa", "sin noqa", "no uses noqa", "fix it", "ohne noqa"] {
            assert!(!noqa(text), "{text}");
        }
    }

    #[test]
    fn a_name_is_left_alone_where_the_words_say_so() {
        let left = |text: &str| leaves_alone(text, |word| word == "b.py");
        for text in [
            "rename f, do not touch b.py",
            "rename f without changing the public names of b.py",
            "don’t change `b.py`",
            "change everything except b.py",
            "do not touch a.py, `c.py` or b.py",
            "leave b.py alone",
            "rename f and leave b.py as it is, please",
            "no toques b.py",
            "sin cambiar b.py",
            "lass b.py wie es ist",
        ] {
            assert!(left(text), "{text}");
        }
        for text in [
            "update the callers in b.py",
            "no, do it in b.py",
            "do not change a.py but update b.py",
            "f is not used. Use it in b.py",
            "leave early in b.py",
            "do not touch a.py; b.py is yours",
        ] {
            assert!(!left(text), "{text}");
        }
    }

    #[test]
    fn a_question_asks_for_no_work_unless_it_is_a_request() {
        let asks = |text: &str| sentences(text).map(only_asks).collect::<Vec<_>>();
        assert_eq!(asks("The Makefile is broken? No: fix a.py"), [true, false]);
        assert_eq!(asks("what does conftest.py do?"), [true]);
        assert_eq!(asks("Can you fix the Makefile? And a.py. Thanks"), [false, false, false]);
        assert_eq!(asks("¿puedes arreglar a.py?"), [false]);
    }

    #[test]
    fn an_order_is_distinguished_from_a_word_in_passing() {
        let ignores = |text: &str| orders(text, "ignore ignora silence");
        for text in
            ["ignore this warning", "ignora este aviso", "fix the rest, ignore F401", "please silence F401 here"]
        {
            assert!(ignores(text), "{text}");
        }
        for text in ["fix the place where we ignore None", "do not ignore errors", "fix what ignores the tax"] {
            assert!(!ignores(text), "{text}");
        }
    }
}
