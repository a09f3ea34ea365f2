//! Finds edits that silence a complaint without repairing its cause: rules by name, over a file before and after.
//!
//! The rules compare the two texts, so existing code may stay and may move. Python is read by its grammar; of other
//! languages, what their queries mark.

mod conditions;
mod marks;
mod python;
mod python_names;
mod strictness_config;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sextant_text::symbols::language;

pub use strictness_config::{BENEATH, configures_checker, is_settings};

/// A rule's judgement of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It only hides.
    Refused,
    /// It takes a check away, which the user may want.
    Asked,
    /// It may be well meant: it is done, but the complaints that it removes do not count as fixed.
    NotCounted,
}

/// An objecting rule, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairObjection {
    pub rule: &'static str,
    pub weight: Weight,
    /// `it adds the suppression “noqa:f401”`.
    pub reason: String,
}

/// The thing that a rule counts, and the suspicious direction.
struct RepairRule {
    name: &'static str,
    weight: Weight,
    /// True if more of it is suspicious; otherwise less.
    more: bool,
    text: &'static str,
}

const fn more(name: &'static str, weight: Weight, text: &'static str) -> RepairRule {
    RepairRule { name, weight, more: true, text }
}

const fn fewer(name: &'static str, text: &'static str) -> RepairRule {
    RepairRule { name, weight: Weight::Asked, more: false, text }
}

/// The rule about the subjects of a type: the same type on the same subject, in another place, has moved.
const WIDENED: &str = "any_annotation";

/// The rule about one function, at any place.
const EMPTIED: &str = "body_emptied";

const RULES: &[RepairRule] = &[
    more("suppression_comment", Weight::Refused, "it adds a suppression"),
    more("any_cast", Weight::Refused, "it casts to Any"),
    more("names_by_string", Weight::Refused, "it looks a name up in a dictionary, where no checker sees it"),
    more("constant_getattr", Weight::Refused, "it names an attribute by a string, where no checker sees it"),
    more("code_in_string", Weight::Refused, "it puts code into a string, where no checker sees it"),
    more("no_type_check", Weight::Refused, "it turns the type check off"),
    more("type_checking_guard", Weight::Refused, "it hides code from the type checker"),
    more("dead_code", Weight::Refused, "it makes code unreachable, which is not checked"),
    more("test_skipped", Weight::Refused, "it skips a test"),
    fewer("check_removed", "it takes a check away"),
    fewer("test_removed", "it takes a test away"),
    more(EMPTIED, Weight::Asked, "it empties a function"),
    more(WIDENED, Weight::NotCounted, "it widens a type to Any"),
    more("type_asserted", Weight::NotCounted, "it states a type that nothing holds it to"),
    more("unwrapped", Weight::NotCounted, "it stops the program where a value is missing"),
    more("import_kept", Weight::NotCounted, "it names an import so that it counts as used"),
    more("one_platform", Weight::NotCounted, "it hides code from the checkers of other versions and platforms"),
    more("handed_on", Weight::NotCounted, "it hands on a value that no checker follows"),
    more("error_swallowed", Weight::NotCounted, "it swallows an error"),
    more("getattr_hook", Weight::NotCounted, "it answers for every attribute"),
    more("getattr_default", Weight::NotCounted, "it gives an attribute a default by its name in a string"),
    more("wildcard_import", Weight::NotCounted, "it imports every name"),
    RepairRule { name: "annotation_removed", weight: Weight::NotCounted, more: false, text: "it takes a type away" },
];

/// The things in a text that a rule counts, each with its number of occurrences.
pub(crate) type Things = BTreeMap<&'static str, BTreeMap<String, usize>>;

/// All functions of a text, and those with a working body: some rules need them beside their own counts.
pub(crate) const FUNCTIONS: &str = "functions";
pub(crate) const WORKING: &str = "working";

pub(crate) fn note(things: &mut Things, rule: &'static str, thing: impl AsRef<str>) {
    let flat: String = thing.as_ref().split_whitespace().collect::<Vec<_>>().join(" ");
    *things.entry(rule).or_default().entry(flat).or_default() += 1;
}

fn things(path: &str, text: &str) -> Things {
    let tree = language::of_path(path).filter(|language| language.name == "python");
    match tree.and_then(|language| language.tree(text)) {
        Some(tree) => python::things(tree.root_node(), text),
        None => marks::things(path, text),
    }
}

/// The things in all files of one edit, before it and after it: code that moves from one to another is not added or
/// taken away.
#[derive(Debug, Default)]
pub struct WholeEdit {
    before: Things,
    after: Things,
}

impl WholeEdit {
    /// Of the path of each file with its text before and after.
    pub fn of<'t>(files: impl IntoIterator<Item = (&'t str, &'t str, &'t str)>) -> Self {
        let mut whole = Self::default();
        for (path, before, after) in files {
            pool(&mut whole.before, things(path, before));
            pool(&mut whole.after, things(path, after));
        }
        whole
    }

    /// True if a rule finds nothing in all of the files together.
    fn lets_through(&self, rule: &RepairRule) -> bool {
        objection(rule, &self.before, &self.after).is_none()
    }
}

fn pool(into: &mut Things, of: Things) {
    for (rule, things) in of {
        let known = into.entry(rule).or_default();
        things.into_iter().for_each(|(thing, count)| *known.entry(thing).or_default() += count);
    }
}

/// The rules that object to a file's change, as a part of an edit. A file that did not exist is empty before.
pub fn objections(path: &str, before: &str, after: &str, edit: &WholeEdit) -> Vec<RepairObjection> {
    let (mut old, new) = (things(path, before), things(path, after));
    forget_gone(&mut old, &new);
    let rules = RULES.iter().filter(|rule| rule.name == EMPTIED || !edit.lets_through(rule));
    let mut out: Vec<RepairObjection> = rules.filter_map(|rule| objection(rule, &old, &new)).collect();
    // A file that is emptied is a matter of symbols.
    if after.trim().is_empty() {
        out.clear();
    }
    if before.is_empty() && path.ends_with(".pyi") {
        let reason = "it makes a stub, which is believed instead of the source".to_owned();
        out.push(RepairObjection { rule: "stub_made", weight: Weight::NotCounted, reason });
    }
    out
}

/// An edit that removes a function removes its checks and its types with it: that has a rule of its own, which knows
/// symbols. A renamed function is not gone.
fn forget_gone(old: &mut Things, new: &Things) {
    let names = |side: &Things| side.get(FUNCTIONS).cloned().unwrap_or_default();
    let (was, is) = (names(old), names(new));
    let gone: Vec<&String> = was.keys().filter(|name| !is.contains_key(*name)).collect();
    let fresh = is.keys().filter(|name| !was.contains_key(*name)).count();
    if gone.len() > fresh {
        let is_gone = |thing: &str| {
            let name = thing.split_once(':').map_or(thing, |(name, _)| name);
            gone.iter().any(|gone| *gone == name)
        };
        for rule in ["check_removed", "annotation_removed"] {
            old.entry(rule).or_default().retain(|thing, _| !is_gone(thing));
        }
    }
    // A function that did nothing before, or is new, is not emptied.
    let working = old.get(WORKING).cloned().unwrap_or_default();
    let idle = new.get(EMPTIED).into_iter().flatten().filter(|(name, _)| !working.contains_key(*name));
    old.entry(EMPTIED).or_default().extend(idle.map(|(name, count)| (name.clone(), *count)));
}

fn objection(rule: &RepairRule, old: &Things, new: &Things) -> Option<RepairObjection> {
    let none = BTreeMap::new();
    let (old, new) = (old.get(rule.name).unwrap_or(&none), new.get(rule.name).unwrap_or(&none));
    let thing = match rule {
        RepairRule { name: WIDENED, .. } => widened(old, new),
        RepairRule { more: true, .. } => added(old, new),
        RepairRule { more: false, .. } => lost(old, new),
    }?;
    let mut shown: String = thing.chars().take(60).collect();
    if shown.len() < thing.len() {
        shown.push('…');
    }
    let reason = if shown.is_empty() { rule.text.to_owned() } else { format!("{} (“{shown}”)", rule.text) };
    Some(RepairObjection { rule: rule.name, weight: rule.weight, reason })
}

/// Things that occur more often than before. A mark narrowed from everything to one thing does not count as more.
fn added<'t>(old: &BTreeMap<String, usize>, new: &'t BTreeMap<String, usize>) -> Option<&'t String> {
    let count = |side: &BTreeMap<String, usize>, thing: &str| side.get(thing).copied().unwrap_or(0);
    let narrowed = |thing: &str| {
        thing.split_once(':').is_some_and(|(mark, _)| {
            let all = format!("{mark}:*");
            count(new, &all) < count(old, &all)
        })
    };
    new.iter().find(|(thing, now)| **now > count(old, thing) && !narrowed(thing)).map(|(thing, _)| thing)
}

/// As [`added`], but one more mention of the same name has moved, or was taken along.
fn widened<'t>(old: &BTreeMap<String, usize>, new: &'t BTreeMap<String, usize>) -> Option<&'t String> {
    let is_named = |thing: &str| thing.split_once(": ").is_some_and(|(name, _)| !name.is_empty());
    let fresh = new.iter().filter(|(thing, _)| !(is_named(thing) && old.contains_key(*thing)));
    let fresh: BTreeMap<String, usize> = fresh.map(|(thing, count)| (thing.clone(), *count)).collect();
    added(old, &fresh).and_then(|thing| new.get_key_value(thing)).map(|(thing, _)| thing)
}

/// Things that are gone, if there are fewer in all: a reworded thing is not gone.
fn lost<'t>(old: &'t BTreeMap<String, usize>, new: &BTreeMap<String, usize>) -> Option<&'t String> {
    let fewer = new.values().sum::<usize>() < old.values().sum();
    let gone = |(thing, then): &(&String, &usize)| new.get(*thing).is_none_or(|now| now < *then);
    if fewer { old.iter().find(gone).map(|(thing, _)| thing) } else { None }
}
