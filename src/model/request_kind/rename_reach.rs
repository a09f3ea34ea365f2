//! Reads the renames of a request that ask for every use of the name (English, Spanish): `rename f to g everywhere`.

use crate::mentions::{sentences, words};

/// A rename that asks for every use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideRename {
    /// The old name, as the user wrote it: a name alone, or a path to a symbol.
    pub old: String,
    pub new: String,
    /// True if the request is this and nothing else.
    pub whole: bool,
}

const VERBS: &str = "rename renombra renombrar renombre";
/// Words between the verb and the old name.
const KINDS: &str = "the el la function method class variable symbol field constant struct type función funcion método \
    metodo clase símbolo simbolo campo constante tipo";
const INTO: &str = "to as into a como por";
/// Words before a place, between the names or behind them.
const AT: &str = "in of from inside within at en de dentro";

/// Words that mean every use by themselves.
const ALONE: &str = "everywhere wherever project-wide workspace-wide";
/// Words for all, with the words that they are about; articles may stand between.
const ALL_OF: &[(&str, &str)] = &[
    (
        "all every each todos todas cada",
        "uses use usages usage references reference callers caller occurrences occurrence places files usos uso \
         referencias referencia llamadas llamada apariciones ocurrencias sitios partes lados lugares archivos ficheros",
    ),
    ("its their sus", "uses usages references callers occurrences usos referencias llamadas apariciones ocurrencias"),
    (
        "whole entire across throughout todo toda",
        "project workspace codebase repo repository proyecto repositorio espacio código codigo",
    ),
];
const ARTICLES: &str = "the of its their el la los las sus de whole entire";

/// Words that take a part out, or limit the rest to one.
const LIMITS: &str = "only solo sólo solamente not don't dont without no sin never nunca except excluding exclude salvo \
    excepto menos leave keep deja this este esta ese esa";
/// Words after which such a clause forbids other work alone: `do not change anything else`.
const ELSE: &str = "else more other más mas otra otro otras otros";

/// Words that a request of one rename may have besides its names and its reach.
const ASIDE: &str = "please por favor with and in including across throughout con y en incluyendo where donde it is \
    it's used se use usa usan of work trabajo call sites code base over plus";

fn is(word: &str, list: &str) -> bool {
    let word = word.to_lowercase();
    list.split_whitespace().any(|known| known == word)
}

/// The renames of a request that ask for every use.
pub fn wide_renames(request: &str) -> Vec<WideRename> {
    let all: Vec<&str> = sentences(request).filter(|sentence| !sentence.trim().is_empty()).collect();
    let read = |sentence: &&str| of_sentence(sentence, all.len() == 1);
    if request.split([',', ';', '\n']).flat_map(sentences).any(limits) {
        Vec::new()
    } else {
        all.iter().filter_map(read).collect()
    }
}

/// True if a clause takes something out.
fn limits(clause: &str) -> bool {
    let words = words(clause);
    words.iter().any(|word| is(word, LIMITS)) && !words.iter().any(|word| is(word, ELSE))
}

fn of_sentence(sentence: &str, alone: bool) -> Option<WideRename> {
    let words = words(sentence);
    let verb = words.iter().position(|word| is(word, VERBS))?;
    let old = verb + 1 + words[verb + 1..].iter().take_while(|word| is(word, KINDS)).count();
    let place = words.get(old + 1).is_some_and(|word| is(word, AT));
    let into = if place { old + 3 } else { old + 1 };
    let new = into + 1;
    let is_name = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let (old, new) = (*words.get(old)?, words.get(new).filter(|name| !name.is_empty() && is_name(name))?);
    if !words.get(into).is_some_and(|word| is(word, INTO)) || old.is_empty() {
        return None;
    }
    let (before, behind) = (&words[..verb], &words[into + 2..]);
    let reach: Vec<bool> = reach(behind);
    if !(reach.contains(&true) || self::reach(before).contains(&true)) || names_place(behind) {
        return None;
    }
    let mut rest =
        before.iter().chain(behind.iter().zip(&reach).filter(|(_, reached)| !**reached).map(|(word, _)| word));
    let whole =
        alone && !place && verb + 1 < into && rest.all(|word| word.is_empty() || is(word, ASIDE) || is(word, ARTICLES));
    Some(WideRename {
        old: old.trim_start_matches('@').trim_end_matches("()").to_owned(),
        new: (*new).to_owned(),
        whole,
    })
}

/// Which words belong to a wish for every use.
fn reach(words: &[&str]) -> Vec<bool> {
    let mut reached: Vec<bool> = words.iter().map(|word| is(word, ALONE)).collect();
    for (at, word) in words.iter().enumerate() {
        for (_, things) in ALL_OF.iter().filter(|(all, _)| is(word, all)) {
            let gap = words[at + 1..].iter().take_while(|word| is(word, ARTICLES) && !is(word, things)).count();
            if words.get(at + 1 + gap).is_some_and(|word| is(word, things)) {
                reached[at..=at + 1 + gap].fill(true);
            }
        }
    }
    reached
}

/// True if a file or folder limits the place behind the names: `everywhere in a.py`.
fn names_place(behind: &[&str]) -> bool {
    behind.windows(2).any(|pair| is(pair[0], AT) && pair[1].contains(['.', '/', ':', '_']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request: &str) -> Vec<(String, String, bool)> {
        wide_renames(request).into_iter().map(|found| (found.old, found.new, found.whole)).collect()
    }

    #[test]
    fn a_rename_reaches_every_use_where_the_request_says_so() {
        for request in [
            "rename foo to bar with all its uses",
            "rename foo to bar everywhere",
            "Rename `foo` to `bar` in the whole project.",
            "please rename the function foo to bar and all its callers",
            "rename foo() to bar across the workspace",
            "rename foo to bar with its usages",
            "rename foo to bar in all files",
            "rename foo to bar, and all of its references",
            "rename foo to bar throughout the entire codebase",
            "renombra foo a bar con todos sus usos",
            "renombra la función foo a bar en todo el proyecto",
            "renombra foo a bar en todas partes",
            "renombra foo como bar en todos los archivos",
            "renombra foo a bar en todos los sitios donde se usa",
        ] {
            assert_eq!(read(request), [("foo".to_owned(), "bar".to_owned(), true)], "{request}");
        }
        for request in [
            "rename foo to bar everywhere, and update its docstring",
            "In the whole project, rename foo in a.py to bar. Then sort the list.",
            "rename foo to bar with all its uses, do not change anything else",
        ] {
            assert_eq!(read(request), [("foo".to_owned(), "bar".to_owned(), false)], "{request}");
        }
    }

    #[test]
    fn a_rename_that_does_not_say_so_or_takes_a_part_out_does_not() {
        for request in [
            "rename foo to bar",
            "rename foo to bar in a.py",
            "rename foo to bar everywhere in a.py",
            "rename foo to bar everywhere in this file",
            "rename all uses of foo to bar in this function",
            "rename foo to bar, but not everywhere",
            "rename foo to bar everywhere except in tests",
            "rename foo to bar in all files but leave b.py alone",
            "rename foo to bar only in the whole class",
            "rename foo to bar and fix all errors",
            "use bar everywhere",
            "renombra foo a bar",
            "renombra foo a bar en este archivo, con todos sus usos",
            "renombra foo a bar en todo el proyecto salvo en las pruebas",
            "rename everywhere",
            "",
        ] {
            assert_eq!(read(request), [], "{request}");
        }
    }
}
