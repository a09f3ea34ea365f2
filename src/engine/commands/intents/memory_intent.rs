//! Reads memory requests in the user's words: `remember that …`, `I prefer …`, `olvida …`, `what do you know about …`.

use crate::commands::intents::intent::Direct;
use crate::commands::intents::phrase::{Phrase, fold, two_wishes};

const LEARNED: &[&str] = &[
    "what have you learned",
    "what have you learnt",
    "what did you learn",
    "what have you learned so far",
    "what have you learned about this project",
    "que has aprendido",
    "que aprendiste",
    "que has aprendido hasta ahora",
    "que has aprendido de este proyecto",
];

const RECALL: &[&str] = &[
    "what do you know about",
    "what do you remember about",
    "what did i say about",
    "que sabes de",
    "que sabes sobre",
    "que recuerdas de",
    "que recuerdas sobre",
    "que te dije de",
    "que te dije sobre",
];

const FORGET: &[&str] = &[
    "forget",
    "forget about",
    "forget everything about",
    "forget all about",
    "forget what i said about",
    "forget that",
    "forget the preference for",
    "olvida",
    "olvida lo de",
    "olvida todo sobre",
    "olvida lo que dije de",
    "olvida lo que dije sobre",
    "olvida que",
    "olvidate de",
];

const FORGET_ALL: &[&str] = &[
    "forget everything",
    "forget all",
    "forget it all",
    "forget all of it",
    "forget everything you know",
    "forget everything you remember",
    "forget everything about this project",
    "clear the memory",
    "clear your memory",
    "erase the memory",
    "erase your memory",
    "delete everything you remember",
    "olvida todo",
    "olvidalo todo",
    "olvidate de todo",
    "olvida todo lo que sabes",
    "olvida todo lo que recuerdas",
    "olvida todo lo de este proyecto",
    "borra la memoria",
    "borra tu memoria",
];

const REMEMBER: &[&str] =
    &["remember that", "remember:", "keep in mind that", "recuerda que", "recuerda:", "ten en cuenta que"];

/// Openings whose whole sentence is remembered.
const PREFER: &[&str] = &["i prefer", "prefiero", "yo prefiero"];

/// Beginnings of something that the user wants done now.
const WISHES: &[&str] = &["that you", "you to", "you", "it if you", "que", "to have you", "si"];

/// Phrases that use `forget` in passing, and not about memory.
const PASSING: &[&str] = &[
    "it",
    "that",
    "this",
    "eso",
    "esto",
    "lo",
    "todo",
    "all",
    "everything",
    "about it",
    "the",
    "el",
    "la",
    "los",
    "las",
    "my",
    "mi",
];

pub(crate) fn recognise(phrase: &Phrase) -> Option<Direct> {
    if phrase.is(LEARNED) {
        return Some(Direct::Learned);
    }
    if let Some(about) = phrase.after(RECALL).filter(|about| !about.is_empty()) {
        return Some(Direct::Recall(about.join(" ")));
    }
    if phrase.question {
        return None;
    }
    if phrase.is(FORGET_ALL) {
        return Some(Direct::ForgetAll);
    }
    if let Some(what) = phrase.after(FORGET).filter(|what| !what.is_empty() && !two_wishes(what)) {
        let first = fold(&what[0]);
        let bare = phrase.after(&["forget", "olvida"]).is_some_and(|rest| rest.len() == what.len());
        let passing = PASSING.contains(&fold(&what.join(" ")).as_str()) || (bare && PASSING.contains(&first.as_str()));
        return (!passing).then(|| Direct::Forget(what.join(" ")));
    }
    if let Some(what) = phrase.after(REMEMBER).filter(|what| !what.is_empty() && !two_wishes(what)) {
        return Some(Direct::Remember(what.join(" ")));
    }
    let what = phrase.after(PREFER).filter(|what| !what.is_empty() && !two_wishes(what))?;
    let text = fold(&what.join(" "));
    let wish = WISHES.iter().any(|wish| text == *wish || text.starts_with(&format!("{wish} ")));
    let opening = if phrase.spanish() { "prefiero" } else { "I prefer" };
    (!wish).then(|| Direct::Remember(format!("{opening} {}", what.join(" "))))
}
