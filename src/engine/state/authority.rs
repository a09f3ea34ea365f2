//! The user's permissions: in words, by a plan, by an answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::plan::StepState;
use crate::plan::user_question::Question;
use crate::plan::work_mode::Mode;
use crate::state::edit_request::EditRequest;
use crate::state::journal::Journal;
use crate::state::task::TaskIntent;
use crate::state::task_scope::Scope;
use crate::state::uncredited_fix::{Doubt, Uncounted};
use sextant_diagnostics::model::Diagnostic;
use sextant_model::request_kind;
use sextant_text::edits::apply_text::offset_after;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;
use sextant_text::symbols::whole_word::holds_word;

/// Groups that the way out of too much noise names.
pub(crate) const KINDS: usize = 4;

/// The authority on which a task works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The user asked for this change.
    Asked,
    /// The reports of providers are to be fixed.
    Reported,
    /// A step of a plan that the user approved.
    Approved,
}

/// The user's permissions, and the actions that wait for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Consent {
    /// Symbols whose deletion the user has allowed.
    pub(crate) allowed: BTreeSet<String>,
    /// Files and symbols that the user, when asked, has not let the task edit.
    pub(crate) declined: BTreeSet<String>,
    /// The deletions that the running step was refused.
    pub(crate) withheld: BTreeSet<String>,
    /// The diagnostics that the last refused edit would introduce, in a question's words.
    pub(crate) foreseen: String,
    /// True if the open steps were replanned since the user approved the plan: nobody has agreed to their words.
    pub(crate) replanned: bool,
    /// True for a task from the record of another process. The words in it may not be the user's: they name no file
    /// that something runs.
    #[serde(skip)]
    pub(crate) restored: bool,
    /// The reasons not to credit the current edit with disappeared diagnostics.
    pub(crate) doubts: Vec<Doubt>,
    /// Diagnostics that disappeared in the task and do not count as fixed.
    pub(crate) uncounted: Vec<Uncounted>,
}

impl Consent {
    /// Keeps the newest `most` doubts: those of an older edit are reported by then.
    pub(crate) fn forget_old(&mut self, most: usize) {
        self.doubts.drain(..self.doubts.len().saturating_sub(most));
        self.uncounted.drain(..self.uncounted.len().saturating_sub(most));
    }

    /// The question for a step that changed nothing because it lacks the user's permission.
    pub(crate) fn question(&self, step: usize, title: &str, state: StepState, mark: usize) -> Option<Question> {
        if self.withheld.is_empty() || state == StepState::Done {
            return None;
        }
        let what: Vec<&str> = self.withheld.iter().map(String::as_str).collect();
        let (number, what) = (step + 1, what.join(", "));
        let mut text = format!(
            "Step {number} (“{title}”) would delete {what}, which the approved plan does not say. To do the step again allows it. What now?"
        );
        if !self.foreseen.is_empty() {
            text = format!("{text}\n{}", self.foreseen);
        }
        let allows = self.withheld.iter().cloned().collect();
        Some(Question { step, text, mark, allows, ..Question::default() })
    }
}

/// The basis of a task. A client outside follows its own user: the reports of providers do not bind it.
pub(crate) fn basis_of(intent: &TaskIntent, mode: Mode, request: &str, needs_providers: bool) -> Basis {
    if intent.client.is_some() || intent.is_direct { Basis::Asked } else { basis(mode, request, needs_providers) }
}

pub(crate) fn basis(mode: Mode, request: &str, needs_providers: bool) -> Basis {
    match mode {
        Mode::Planner | Mode::Supervised => Basis::Approved,
        Mode::Simple if needs_providers || request_kind::asks_repair(request) => Basis::Reported,
        Mode::Simple => Basis::Asked,
    }
}

/// The symbols that an edit would remove from the project, outermost only; a file that it would empty.
///
/// A symbol that gets another name in its place, or turns up elsewhere in the same edit, is not lost. The inside of a
/// function is that function's own affair.
pub(crate) fn lost(wanted: &[EditRequest]) -> Vec<SymbolPath> {
    let mut gone: Vec<(SymbolPath, String)> = Vec::new();
    let mut added: BTreeSet<String> = BTreeSet::new();
    for want in wanted {
        let (before, Some(after), path, hunks) = (want.before(), want.after(), want.path(), want.hunks()) else {
            continue;
        };
        let Some(language) = language::of_path(path) else {
            if after.trim().is_empty() && !before.trim().is_empty() {
                gone.push((SymbolPath::new(path, ""), String::new()));
            }
            continue;
        };
        let (old, new) = (Outline::parse(language, before), Outline::parse(language, after));
        let names = |outline: &Outline| -> Vec<String> {
            (0..outline.symbols.len()).map(|symbol| outline.path_of(symbol)).collect()
        };
        let (old_names, new_names) = (names(&old), names(&new));
        let fresh = |symbol: &usize| !old_names.contains(&new_names[*symbol]);
        let fresh: Vec<usize> = (0..new.symbols.len()).filter(fresh).collect();
        added.extend(fresh.iter().map(|symbol| new.symbols[*symbol].name.clone()));
        let is_gone = |symbol: usize| !new_names.contains(&old_names[symbol]);
        for (index, symbol) in old.symbols.iter().enumerate().filter(|(index, _)| is_gone(*index)) {
            let inside =
                symbol.parent.is_some_and(|parent| is_gone(parent) || !old.symbols[parent].kind.holds_members());
            let start = offset_after(symbol.name_range.start, hunks);
            let renamed = fresh.iter().any(|new_one| new.symbols[*new_one].name_range.start == start);
            // A text that does not parse is no evidence of a loss.
            let unread = new.has_errors && holds_word(after, &symbol.name);
            if !inside && !renamed && !unread {
                gone.push((SymbolPath::new(path, &old_names[index]), symbol.name.clone()));
            }
        }
    }
    gone.into_iter().filter(|(_, name)| name.is_empty() || !added.contains(name)).map(|(path, _)| path).collect()
}

/// True if the task has put a symbol of this name into another file before: then it is moved and not lost.
pub(crate) fn put_elsewhere(journal: &Journal, lost: &SymbolPath) -> bool {
    let name = path_spelling::last_name(&lost.names);
    let holds = |path: &str, text: &Option<Arc<str>>| {
        let (Some(language), Some(text)) = (language::of_path(path), text) else { return false };
        Outline::parse(language, text).symbols.iter().any(|symbol| symbol.name == name)
    };
    !name.is_empty()
        && journal.net().iter().any(|change| {
            change.path != lost.file && holds(&change.path, &change.after) && !holds(&change.path, &change.before)
        })
}

/// True if the task itself has put a symbol where it is: then no work of anybody else is lost with it.
pub(crate) fn made_here(journal: &Journal, lost: &SymbolPath) -> bool {
    let Some(language) = language::of_path(&lost.file) else { return false };
    journal.net().iter().filter(|change| change.path == lost.file && !lost.names.is_empty()).any(|change| {
        let before = change.before.as_deref().unwrap_or_default();
        Outline::parse(language, before).find_all(&lost.names).is_err()
    })
}

/// Stands for a name of several words in the words of a request.
const ONE_WORD: &str = "_named_symbol_";

/// True if words ask for a symbol to go. Either the symbol stands right after a word of removal; or that word refers to
/// no name at all (`the dead code`), and the words are about the symbol.
pub(crate) fn says(words: &str, path: &SymbolPath, scope: &Scope) -> bool {
    let name = path_spelling::last_name(&path.names);
    let is_one_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // A word such as `for` ends the object of a verb, but not inside of the name `impl Debug for Cart`.
    let joined = (!is_one_word).then(|| words.replace(name, ONE_WORD));
    let (words, name) = joined.as_deref().map_or((words, name), |joined| (joined, ONE_WORD));
    request_kind::removals(words).iter().any(|object| {
        if name.is_empty() {
            return object.iter().any(|word| word.to_lowercase() == "file" || path.file.contains(*word));
        }
        let named = |own: &SymbolPath| !own.names.is_empty() && object.contains(&path_spelling::last_name(&own.names));
        let listed = match scope {
            Scope::Files(_) | Scope::Workspace => true,
            scope if scope.whole_files().contains(&path.file) => true,
            scope if scope.symbols().iter().any(named) => false,
            scope => scope.symbols().contains(path),
        };
        object.contains(&name) || listed && request_kind::is_generic(object)
    })
}

/// True if a request names a code or a kind of one of the diagnostics.
pub(crate) fn names_a_kind(request: &str, diagnostics: &[&Diagnostic]) -> bool {
    let kinds: BTreeSet<String> = diagnostics.iter().flat_map(|diagnostic| kinds(diagnostic)).collect();
    kinds.iter().any(|kind| names(request, kind))
}

/// True if a request names the kind of this one.
pub(crate) fn is_named(request: &str, diagnostic: &Diagnostic) -> bool {
    kinds(diagnostic).iter().any(|kind| names(request, kind))
}

/// Its code and its theme.
pub(crate) fn kinds(diagnostic: &Diagnostic) -> Vec<String> {
    let theme = sextant_diagnostics::code_aliases::theme(diagnostic).map(str::to_owned);
    diagnostic.code.iter().cloned().chain(theme).collect()
}

/// Every word of the kind begins a word of the request: `unused import` is in `fix the unused imports`.
pub(crate) fn names(request: &str, kind: &str) -> bool {
    let lower = request.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).collect();
    let kind = kind.to_lowercase();
    let mut parts = kind.split_whitespace().peekable();
    parts.peek().is_some() && parts.all(|part| words.iter().any(|word| word.starts_with(part)))
}

#[cfg(test)]
mod tests;
