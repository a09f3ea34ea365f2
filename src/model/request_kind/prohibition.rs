//! Decides whether a clause of a request forbids every change: addressed to the agent, and not about a part alone.

use crate::request_kind::lexicon::{ANYTHING, BOUNDS, EDITS, FILLERS, GENERIC, LIGHT, MODALS, POLITE, REST};
use crate::request_kind::read_request::Word;

/// True if a clause forbids every change.
pub(super) fn forbids(clause: &[Word]) -> bool {
    if clause
        .iter()
        .enumerate()
        .any(|(at, word)| word.is("read-only readonly dry-run") && !word.name && is_order(clause, at))
        || clause.windows(2).any(|pair| pair[0].is("dry solo") && pair[1].is("run lectura"))
    {
        return true;
    }
    (0..clause.len()).any(|at| {
        let after = &clause[at + 1..];
        if keeps_as_it_is(&clause[at], after) {
            return true;
        }
        // `change nothing`, and `nothing may be changed`.
        if clause[at].is(EDITS)
            && !clause[at].folded.ends_with('s')
            && after.first().is_some_and(|word| word.is("nothing nada nichts"))
        {
            let addressed = if clause[at].is(LIGHT) { is_lead(&clause[..at]) } else { !makes_code_do(clause, at) };
            return addressed && is_universal(&after[1..]);
        }
        if clause[at].is("nothing nada nichts") && at == 0 {
            let extra = |word: &&Word| !word.is(EDITS) && !word.is(POLITE) && !word.is(MODALS);
            let rest: Vec<Word> = after.iter().filter(extra).cloned().collect();
            let edits = after.iter().any(|word| word.is(EDITS) && !word.is(LIGHT));
            return edits && is_universal(&rest);
        }
        if !commands_not(clause, at) {
            return false;
        }
        let Some(verb) = after.iter().take(3).position(|word| word.is(EDITS)) else { return false };
        let between = after[..verb].iter().all(|word| word.is("any to the please actually really ever single zu"));
        let rest = &after[verb + 1..];
        let light = after[verb].is(LIGHT) && !rest.iter().any(|word| word.is(ANYTHING));
        between && !light && is_universal(rest)
    })
}

/// A clause that begins with doing nothing: `do nothing`, `please do nothing`.
pub(super) fn opens_light(clause: &[Word]) -> bool {
    clause.iter().position(|word| word.is(LIGHT)).is_some_and(|at| is_lead(&clause[..at]))
}

/// The agent does the action behind these words, and nobody else. `functions that do nothing` are code.
fn is_lead(before: &[Word]) -> bool {
    let leads = |word: &Word| word.is(POLITE) || word.is(FILLERS) || word.is(MODALS) || word.is(BOUNDS);
    before.iter().all(|word| leads(word) && !word.name && !word.is("which that"))
}

/// Code does the action of the word at this place: `let f change nothing`, `f should change nothing`.
pub(super) fn makes_code_do(clause: &[Word], at: usize) -> bool {
    let before = &clause[..at];
    let verb = before.iter().position(|word| !word.is(POLITE) || word.is("let"));
    let causes = verb.is_some_and(|verb| match before[verb..].first() {
        Some(first) if first.is("let") => before.len() > verb + 1 && !before[verb + 1].is("us me"),
        Some(first) if first.is("make haz") => before.len() > verb + 1,
        _ => false,
    });
    let subject = match before {
        [.., subject, modal] => modal.is(MODALS) && !subject.is(POLITE) && !subject.is("you we i"),
        _ => false,
    };
    causes || subject
}

/// True if such a word is about the work, and not about its result: `a read-only property`.
fn is_order(clause: &[Word], at: usize) -> bool {
    let mode = clause.get(at + 1).is_some_and(|next| next.is("mode modo modus"));
    let others = || clause.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, word)| word);
    mode || others().all(|word| word.is(FILLERS) || word.is(POLITE) || word.is(GENERIC) || word.is(BOUNDS))
}

/// No word follows, or only words for everything.
fn is_universal(object: &[Word]) -> bool {
    !object.iter().any(|word| word.is(REST))
        && object
            .iter()
            .all(|word| word.is(ANYTHING) || word.is(FILLERS) || word.is(POLITE) || word.is(GENERIC) || word.is(BOUNDS))
}

/// `leave everything as it is`, `deja todo como está`.
fn keeps_as_it_is(verb: &Word, after: &[Word]) -> bool {
    if !verb.is("leave keep deja lass") {
        return false;
    }
    let kept = after.iter().any(|word| word.is("alone untouched unchanged intacto intacta")) || {
        after.windows(2).any(|pair| pair[0].is("as como wie") && pair[1].is("it is they are esta estan es"))
    };
    let all = after.iter().take_while(|word| !word.is("as como wie alone untouched unchanged intacto intacta"));
    // `that file` was named before.
    let other = after.windows(2).any(|pair| pair[0].is("that those") && pair[1].is("file files module function class"));
    kept && !other && is_universal(&all.cloned().collect::<Vec<_>>())
}

/// True if a negation is addressed to the agent, and not about the behaviour of the code.
fn commands_not(clause: &[Word], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|i| clause.get(i));
    let word = &clause[at];
    if word.is("not") {
        let ordered = before(1).is_some_and(|w| w.is("must should may shall can will are"))
            && before(2).is_some_and(|w| w.is("you"));
        return at == 0 || ordered || before(1).is_some_and(|w| w.is("do please just but"));
    }
    if word
        .is("dont never no ni nicht kein keine keinen sin ohne without avoid evita cannot cant mustnt shouldnt nunca")
    {
        return !before(1).is_some_and(|w| w.is("they that which i we does did it que"));
    }
    false
}
