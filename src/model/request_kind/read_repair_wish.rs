//! Reads the words of a request for the wanted repairs, and for its other wishes.

use crate::request_kind::filter_reports::{Name, Part, RepairWish, Role};
use crate::request_kind::kinds::{Kind, PROVIDERS};
use crate::request_kind::lexicon::{
    ADDS, APPLIES, ASIDES, BOUNDS, CLEAN, DELETES, FILLERS, FIRST_LOOKS, FIX_VERBS, FOREIGN, GENERIC, GERUNDS,
    INTERROGATIVES, MAKES, MODALS, NEGATIONS, NO_VERBS, NUMBERED, OFFERS, ONLY, ORDINALS, OWNERS, PARTICIPLES, PLACES,
    POLITE, PRONOUNS, TIDIES, WISHES, WRONG, YET,
};
use crate::request_kind::read_request::{ClauseWish, RequestReading, Word};

/// Reads a request. Without a wish for a repair in it the result is empty.
pub(super) fn read(query: &str) -> RepairWish {
    let (mut wanted, mut shown) = (RepairWish::default(), Part::default());
    for sentence in RequestReading::of(query).wishes() {
        // The end of the last wish of this sentence: a clause without a verb continues it.
        let mut open = None;
        for (clause, wish) in sentence {
            match wish {
                ClauseWish::Repair => {
                    let (part, role) = part_of(clause, true);
                    let refers = clause.iter().any(|word| word.is(PRONOUNS) || has_pronoun(word));
                    wanted.parts.push(if part == Part::default() && refers { shown.clone() } else { part });
                    open = Some(role);
                }
                ClauseWish::Question if is_first_look(clause, !wanted.parts.is_empty()) => {
                    shown = Part { names: Vec::new(), ..part_of(clause, false).0 };
                }
                ClauseWish::Nothing => match open {
                    Some(_) if is_foreign(clause) => wanted.undone.push(in_words(clause)),
                    Some(role) => open = Some(go_on(&mut wanted.parts, clause, role)),
                    None => {}
                },
                ClauseWish::Question | ClauseWish::Fix | ClauseWish::Work => {
                    wanted.undone.push(in_words(clause));
                    open = None;
                }
            }
        }
    }
    wanted
}

/// A clause as it was written.
fn in_words(clause: &[Word]) -> String {
    let words: Vec<&str> = clause.iter().map(|word| word.raw.as_str()).collect();
    words.join(" ").trim_matches(|c: char| c.is_whitespace() || ",.;:!¡¿?".contains(c)).to_owned()
}

/// `check the file`, `what is wrong here`: a repair begins with that anyway.
fn is_first_look(clause: &[Word], after: bool) -> bool {
    let verb = clause.iter().find(|word| !word.is(POLITE));
    if after {
        return verb.is_some_and(|verb| verb.begins("check review revisa comprueba pruf"));
    }
    let asks = clause.first().is_some_and(|word| word.is(INTERROGATIVES));
    verb.is_some_and(|verb| verb.begins(FIRST_LOOKS)) || (asks && clause.iter().any(|w| w.is(WRONG) || w.reports()))
}

/// `and docstrings too`: work that is named by its noun alone.
fn is_foreign(clause: &[Word]) -> bool {
    let last = clause.iter().rev().find(|word| !(word.is(FILLERS) || word.is(POLITE)));
    last.is_some_and(|word| word.is(FOREIGN) && !word.name) && !clause[0].is(BOUNDS)
}

/// `arréglalos`.
fn has_pronoun(word: &Word) -> bool {
    let stem = ["los", "las", "lo"].iter().find_map(|end| word.folded.strip_suffix(end));
    stem.is_some_and(|stem| stem.ends_with(['a', 'e', 'r']) && word.begins(FIX_VERBS))
}

/// A clause without a verb: more objects of the last one. Returns the place where the next one would continue.
fn go_on(parts: &mut Vec<Part>, clause: &[Word], role: Role) -> Role {
    let (mut part, end) = part_of(clause, false);
    let Some(last) = parts.last_mut() else { return end };
    let unused = last.kinds.iter().any(|kind| matches!(kind, Kind::UnusedImport | Kind::Unused));
    if unused && part.kinds.is_empty() && clause.iter().any(|word| word.begins("variable")) {
        part.kinds.push(Kind::UnusedVariable);
        part.names.retain(|name| !name.text.starts_with("variable"));
    }
    let of_message = last.names.iter().map(|name| name.role).find(|role| matches!(role, Role::Object | Role::Word));
    let mut is_place = role == Role::Place;
    // `but only pathlib`.
    let limits = clause.iter().any(|word| word.is(ONLY));
    for name in &mut part.names {
        is_place |= name.role == Role::Place;
        name.role = match name.role {
            Role::Object | Role::Word if role != Role::Place && of_message.is_some() => of_message.unwrap_or(name.role),
            _ if name.sure || name.role == Role::Place => Role::Place,
            Role::Object if limits => Role::Object,
            _ => Role::Aside,
        };
    }
    let names_only = part == Part { names: part.names.clone(), ..Part::default() };
    if names_only && part.names.is_empty() {
        return role;
    }
    if names_only {
        last.names.append(&mut part.names);
        return if is_place { Role::Place } else { role };
    }
    match (last.names.is_empty(), part.names.is_empty()) {
        (true, false) => last.names.clone_from(&part.names),
        (false, true) => part.names.clone_from(&last.names),
        _ => {}
    }
    parts.push(part);
    if is_place { Role::Place } else { end }
}

/// The slots for the words of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClauseSlot {
    /// The thing to repair.
    Object,
    /// `of total`.
    Owner,
    Place,
    /// `for total`.
    Aside,
    /// `so that total works`: nothing is named there.
    Reason,
}

impl ClauseSlot {
    fn behind(word: &Word, after: &[Word]) -> Self {
        // `the error that x is not defined`.
        let subject = after.first().is_some_and(|word| !(word.is(PRONOUNS) || word.is(GENERIC)));
        let verb = subject && after.get(1).is_some_and(|next| next.is("is are was isnt arent no nicht esta estan ist"));
        match word {
            word if word.is(PLACES) => Self::Place,
            word if word.is(OWNERS) => Self::Owner,
            word if word.is("that que which dass") && verb => Self::Object,
            word if word.is("for para fur") => Self::Aside,
            _ => Self::Reason,
        }
    }
}

/// Reads one clause, and the role of its last words.
fn part_of(clause: &[Word], has_verb: bool) -> (Part, Role) {
    let skipped = clause.iter().take_while(|word| word.is(POLITE) || word.is(NEGATIONS) || word.is(ONLY)).count();
    let verb = clause.get(skipped).filter(|word| has_verb && is_verb(word)).map(|_| skipped);
    let makes = verb.is_some_and(|at| clause[at].begins(MAKES));
    let clean = makes && clause.iter().any(|word| word.is(CLEAN) || word.is("free libre frei sin without ohne"));
    let kinds = if clean { Vec::new() } else { kinds(clause) };
    // `the undefined name Path`: the subject of the message, and not a place.
    let quotes = kinds.iter().any(|kind| !matches!(kind, Kind::Syntax | Kind::Type | Kind::Lint));
    let (mut part, mut slot) = (Part { speaks: !kinds.is_empty(), ..Part::default() }, ClauseSlot::Object);
    for (at, word) in clause.iter().enumerate().filter(|(at, _)| Some(*at) != verb) {
        if word.is_code() {
            part.codes.push(word.raw.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
        } else if !word.name && word.is(PROVIDERS) {
            part.providers.push(word.folded.clone());
            part.speaks = true;
        } else if !word.name && is_bound(word) {
            slot = ClauseSlot::behind(word, &clause[at + 1..]);
        } else if slot == ClauseSlot::Place && ends_place(clause, at) {
            part.names.push(Name::new(plain(&word.raw), Role::Aside, false));
        } else if let Some(picked) = picked(&clause[at..]).filter(|_| verb.is_none_or(|verb| verb < at)) {
            // An order is no place: the request is refused with these words.
            part.names.push(Name::new(picked, Role::Place, true));
        } else if word.folded.chars().all(|c| c.is_ascii_digit()) {
            let line = at.checked_sub(1).and_then(|before| clause.get(before)).filter(|word| word.is(NUMBERED));
            part.names.extend(line.map(|_| Name::new(format!("line {}", word.folded), Role::Place, true)));
        } else if is_name(word) || !is_spoken(word, &mut part) || (kinds.is_empty() && word.begins("missing variable"))
        {
            let role = match slot {
                ClauseSlot::Reason => continue,
                ClauseSlot::Place => Role::Place,
                ClauseSlot::Aside => Role::Aside,
                ClauseSlot::Object | ClauseSlot::Owner if !word.name && makes => Role::Aside,
                ClauseSlot::Object if quotes => Role::Word,
                ClauseSlot::Object | ClauseSlot::Owner => Role::Object,
            };
            part.names.push(Name::new(plain(&word.raw), role, word.name));
        }
    }
    part.kinds = kinds;
    let role = if slot == ClauseSlot::Place { Role::Place } else { Role::Object };
    (part, role)
}

/// `in other`: a word that adds nothing elsewhere may be a name as the whole of a place.
fn ends_place(clause: &[Word], at: usize) -> bool {
    let word = &clause[at];
    let is_whole = at + 1 == clause.len() && at.checked_sub(1).is_some_and(|before| clause[before].is(PLACES));
    is_whole && word.is(FILLERS) && !word.is(GENERIC) && !word.is(PRONOUNS)
}

/// `first error`, `nächsten Warnung`: a report by its order.
fn picked(words: &[Word]) -> Option<String> {
    let [order, report, ..] = words else { return None };
    let picks = order.is(ORDINALS) && !order.name && (report.is_code() || report.reports());
    picks.then(|| format!("{} {}", plain(&order.raw), plain(&report.raw)))
}

fn is_bound(word: &Word) -> bool {
    word.is(BOUNDS) || word.is(PLACES) || word.is(OWNERS)
}

fn is_verb(word: &Word) -> bool {
    let fixes = word.begins(FIX_VERBS) || word.nearly(FIX_VERBS) || word.is(GERUNDS) || word.is("quick");
    !word.name && (fixes || [TIDIES, DELETES, ADDS, MAKES, APPLIES].iter().any(|verbs| word.begins(verbs)))
}

/// True if a word is a name by its form. A German noun has a capital letter and may be a word for reports.
fn is_name(word: &Word) -> bool {
    let noun =
        word.raw.chars().skip(1).all(|c| c.is_lowercase() || c.is_ascii_punctuation()) && !word.raw.contains('`');
    let compound = word.folded.contains("fehler") || word.folded.contains("warnung");
    word.name && !(noun && (compound || of_kind(word)))
}

/// True if a word has a meaning other than a name; notes its severity, and that it is about reports.
fn is_spoken(word: &Word, part: &mut Part) -> bool {
    let compound = |stem: &str| word.folded.contains(stem);
    let severity = if word.is("error errors errores err") || compound("fehler") || word.nearly("errors errores") {
        Some("error")
    } else if word.begins("warn aviso advertencia") || compound("warnung") || word.nearly("warning warnings aviso") {
        Some("warning")
    } else if word.is("hint hints hinweis hinweise") {
        Some("hint")
    } else if word.is("info infos") {
        Some("info")
    } else {
        None
    };
    if let Some(severity) = severity {
        part.speaks = true;
        part.severities.push(severity);
        return true;
    }
    if word.is(CLEAN) {
        return true;
    }
    if word.reports() || of_kind(word) {
        part.speaks = true;
        return true;
    }
    let end_verb = word.begins(FIX_VERBS) && !word.is(NO_VERBS);
    let lists = [POLITE, FILLERS, GENERIC, WISHES, PARTICIPLES, GERUNDS, OFFERS, NEGATIONS, YET, MODALS, ASIDES];
    end_verb || lists.iter().any(|list| word.is(list))
}

const UNUSED: &str = "unused unbenutz ungenutz";
const UNDEFINED: &str = "undefined indefinid undefinier";
const MISSING: &str = "falta fehlend fehlt";
const SYNTAX: &str = "syntax sintaxis parse-error";
const LINT: &str = "lint";

/// True if a word is part of the name of a kind.
fn of_kind(word: &Word) -> bool {
    [UNUSED, UNDEFINED, MISSING, SYNTAX, LINT, "import variable typ unresolved"].iter().any(|list| word.begins(list))
        || word.is(
            "missing name names nombre nombres namen tipo tipos type types typing used usar usado usada usados usadas",
        )
        || word.is("defined definido definida definidos definidas definir definiert resolved accessed")
}

/// The kinds that a clause names.
fn kinds(clause: &[Word]) -> Vec<Kind> {
    let begins = |stems: &str| clause.iter().any(|word| !is_name(word) && word.begins(stems));
    let is = |list: &str| clause.iter().any(|word| !is_name(word) && word.is(list));
    let import = begins("import");
    let unused = begins(UNUSED) || is("usar usado usada usados usadas used accessed");
    let undefined = begins(UNDEFINED) || is("defined definido definida definidos definidas definir definiert");
    let unresolved = begins("unresolved") || is("resolved aufgelost");
    let missing = begins(MISSING) || is("missing");
    let types = is("type types typing tipo tipos typ typen") || begins("typfehler typwarn type-check typecheck");
    let mut out = Vec::new();
    match (import, unused, undefined, unresolved) {
        (true, true, ..) => out.push(Kind::UnusedImport),
        (true, _, true, _) | (false, _, true, _) | (false, false, _, true) => out.push(Kind::UndefinedName),
        (true, _, _, true) => out.push(Kind::UnresolvedImport),
        (true, ..) if missing => out.push(Kind::MissingImport),
        (true, ..) => out.push(Kind::Import),
        (false, true, ..) if begins("variable") => out.push(Kind::UnusedVariable),
        (false, true, ..) => out.push(Kind::Unused),
        (false, false, false, false) => {}
    }
    if begins(SYNTAX) {
        out.push(Kind::Syntax);
    }
    if begins(LINT) {
        out.push(Kind::Lint);
    }
    if types && out.is_empty() {
        out.push(Kind::Type);
    }
    out
}

/// A word without quotation marks and the like, as a name is looked up.
fn plain(raw: &str) -> String {
    let core = raw.trim_start_matches("./").trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '/')));
    let core = core.strip_suffix("'s").or(core.strip_suffix("’s")).unwrap_or(core);
    core.trim_end_matches("()").to_owned()
}
