//! Selects the reports that a request wants repaired: by code, kind, severity, provider, name and place.

use serde::{Deserialize, Serialize};

use crate::request_kind::kinds::{self, Kind, Reported};

/// The meaning of a request's name in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairPlace {
    pub name: String,
    /// Full paths of symbols, files and folders.
    pub paths: Vec<String>,
}

/// The role of a name in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// `in count`: a place, or a mistake.
    Place,
    /// `fix count`: a place, or a word of the message.
    Object,
    /// `the undefined name Path`: a word of the message.
    Word,
    /// A place if there is one of that name, otherwise only a word.
    Aside,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) role: Role,
    /// True if its form marks it as a name.
    pub(super) sure: bool,
}

impl Name {
    pub(super) fn new(text: String, role: Role, sure: bool) -> Self {
        Self { text, role, sure }
    }
}

/// The subject of one wish of a request. Codes and kinds are alternatives; everything else has to hold as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) codes: Vec<String>,
    pub(super) kinds: Vec<Kind>,
    pub(super) severities: Vec<&'static str>,
    pub(super) providers: Vec<String>,
    pub(super) names: Vec<Name>,
    /// True if it is about reports at all, if only as `problems`.
    pub(super) speaks: bool,
    /// Words of a message, once the names of places are known.
    pub(super) about: Vec<String>,
    pub(super) places: Vec<String>,
}

/// The repairs that a request wants, by its words alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairWish {
    pub(super) parts: Vec<Part>,
    /// Its other wishes, in its own words.
    pub undone: Vec<String>,
}

/// The same, once the meanings of its names are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowed {
    parts: Vec<Part>,
    /// Names without a meaning here.
    pub missing: Vec<String>,
    pub undone: Vec<String>,
}

impl RepairWish {
    /// The words that may be names of symbols, files or folders, each with whether it may be one of any file: a plain
    /// word is searched at the user's place.
    pub fn names(&self) -> Vec<(&str, bool)> {
        let names = self.parts.iter().flat_map(|part| &part.names).filter(|name| name.role != Role::Word);
        names.map(|name| (name.text.as_str(), name.sure || name.role == Role::Place)).collect()
    }

    /// Takes the meanings of its names. A name outside of the places may still be in a scope, by its last name.
    pub fn resolved(self, places: &[RepairPlace], scope: &[String]) -> Narrowed {
        let Self { mut parts, undone } = self;
        let mut missing = Vec::new();
        for part in &mut parts {
            for name in std::mem::take(&mut part.names) {
                let known = places.iter().find(|place| place.name == name.text).map(|place| place.paths.clone());
                let paths = known.unwrap_or_else(|| in_scope(&name.text, scope));
                match name.role {
                    Role::Word => part.about.push(name.text),
                    _ if !paths.is_empty() => part.places.extend(paths),
                    Role::Place => missing.push(name.text),
                    Role::Object => part.about.push(name.text),
                    Role::Aside => {}
                }
            }
            part.places = without_files_of_symbols(&part.places);
        }
        Narrowed { parts, missing, undone }
    }
}

impl Narrowed {
    /// True if no report is left aside.
    pub fn is_all(&self) -> bool {
        self.missing.is_empty() && (self.parts.is_empty() || self.parts.iter().any(|part| *part == part.unlimited()))
    }

    /// True if it names this kind.
    pub fn names(&self, kind: Kind) -> bool {
        self.missing.is_empty() && self.parts.iter().any(|part| part.kinds.contains(&kind))
    }

    pub fn wants(&self, one: &Reported<'_>) -> bool {
        // If a place is not found, the wanted reports are unknown.
        self.missing.is_empty() && (self.parts.is_empty() || self.parts.iter().any(|part| part.wants(one)))
    }

    /// All symbols, files and folders that it is about; empty if it names none.
    pub fn places(&self) -> Vec<String> {
        // One part without a place is about the whole scope.
        if self.parts.iter().any(|part| part.places.is_empty()) {
            return Vec::new();
        }
        self.parts.iter().flat_map(|part| part.places.iter().cloned()).collect()
    }

    /// Its names that nobody reports, each with the place that it gives for the name.
    pub fn absent(&self, reported: &[Reported<'_>]) -> Vec<String> {
        if !self.missing.is_empty() {
            return Vec::new();
        }
        let mut out = Vec::new();
        for part in self.parts.iter().filter(|part| **part != part.unlimited()) {
            for item in part.items().into_iter().filter(|item| !reported.iter().any(|one| item.wants(one))) {
                out.push(item.words());
            }
        }
        out
    }
}

impl Part {
    /// The same words without any limit.
    fn unlimited(&self) -> Self {
        Self { speaks: self.speaks, ..Self::default() }
    }

    /// Each code and kind by itself; without these the part as it is.
    fn items(&self) -> Vec<Self> {
        let of = |codes: Vec<String>, kinds: Vec<Kind>| Self { codes, kinds, ..self.clone() };
        let codes = self.codes.iter().map(|code| of(vec![code.clone()], Vec::new()));
        let kinds = self.kinds.iter().map(|kind| of(Vec::new(), vec![*kind]));
        let items: Vec<Self> = codes.chain(kinds).collect();
        if items.is_empty() { vec![self.clone()] } else { items }
    }

    fn wants(&self, one: &Reported<'_>) -> bool {
        let code = |code: &String| {
            code.eq_ignore_ascii_case(one.code) || one.also.iter().any(|other| code.eq_ignore_ascii_case(other))
        };
        let of_kind = self.codes.iter().any(code) || self.kinds.iter().any(|kind| kind.holds(one));
        let any_kind = self.codes.is_empty() && self.kinds.is_empty();
        (any_kind || of_kind)
            && (!self.minds_severity() || self.severities.contains(&one.severity))
            && (self.providers.is_empty() || self.providers.iter().any(|name| kinds::says_so(one.source, name)))
            && (self.about.is_empty() || self.about.iter().any(|word| speaks_of(one, word)))
            && (self.places.is_empty() || self.places.iter().any(|place| is_in(one.symbol, place)))
    }

    /// True if its word for a severity limits it: `the F541 error` means F541, at any severity.
    fn minds_severity(&self) -> bool {
        let lint = self.kinds == [Kind::Lint] && self.severities.contains(&"warning");
        let named = !self.codes.is_empty() || (!lint && self.kinds.iter().any(|kind| kind.is_named_error()));
        !self.severities.is_empty() && !named
    }

    /// `F541`, `unused import in count`, `error of ruff about “json”`.
    fn words(&self) -> String {
        let named = self.codes.iter().map(String::as_str).chain(self.kinds.iter().map(|kind| kind.name()));
        let mut what: Vec<&str> = named.collect();
        if what.is_empty() {
            what = self.severities.clone();
        }
        let mut out = if what.is_empty() { "diagnostic".to_owned() } else { what.join(" or ") };
        if !self.providers.is_empty() {
            out.push_str(&format!(" of {}", self.providers.join(" or ")));
        }
        if !self.about.is_empty() {
            let quoted: Vec<String> = self.about.iter().map(|word| format!("“{word}”")).collect();
            out.push_str(&format!(" about {}", quoted.join(" or ")));
        }
        if !self.places.is_empty() {
            out.push_str(&format!(" in {}", self.places.join(" or ")));
        }
        out
    }
}

/// The entries of a scope that end in this name.
fn in_scope(name: &str, scope: &[String]) -> Vec<String> {
    let name = name.replace('.', "::");
    let ends = |path: &&String| path.strip_suffix(&name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
    scope.iter().filter(ends).cloned().collect()
}

/// `total in cart.py`: the file gives the place of the symbol, and is not a place of its own.
fn without_files_of_symbols(places: &[String]) -> Vec<String> {
    let file = |place: &str| place.split("::").next().unwrap_or_default().to_owned();
    let is_symbol = |place: &&String| place.contains("::");
    let files: Vec<&String> = places.iter().filter(|place| !is_symbol(place)).collect();
    let held: Vec<&String> =
        places.iter().filter(is_symbol).filter(|symbol| files.iter().any(|known| **known == file(symbol))).collect();
    let stays = |place: &&String| {
        let names_them = held.iter().any(|symbol| file(symbol) == **place);
        if is_symbol(place) { held.is_empty() || held.contains(place) } else { !names_them }
    };
    places.iter().filter(stays).cloned().collect()
}

/// True if a symbol is a place, or inside of one: a symbol, a file, a folder.
fn is_in(symbol: &str, place: &str) -> bool {
    let place = place.trim_end_matches('/');
    symbol.strip_prefix(place).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with("::") || (!place.contains("::") && rest.starts_with('/'))
    })
}

/// True if a code or a message has a word, in the singular or the plural.
fn speaks_of(one: &Reported<'_>, word: &str) -> bool {
    let singular = |word: &str| word.strip_suffix('s').filter(|short| short.len() > 3).unwrap_or(word).to_owned();
    let word = singular(&word.to_lowercase());
    let is_part = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let message = one.message.to_lowercase();
    let mut words = message.split(is_part).flat_map(|part| std::iter::once(part).chain(part.split('.')));
    one.code.to_lowercase() == word || words.any(|found| singular(found) == word)
}
