//! What a task may take away or spread over without a further word of the user, and when nothing is begun at all.
//!
//! What the user asked for in words is asked for. What a checker reports is not: it may be mended, and no more.
//! What an approved plan says is asked for as well, and what it does not say is asked about.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agent::change::Wanted;
use crate::agent::doubt::{Doubt, Uncounted};
use crate::agent::journal::Journal;
use crate::agent::mode::Mode;
use crate::agent::plan::State;
use crate::agent::plan::question::Question;
use crate::agent::scope::{self, Scope};
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::tool_failure;
use crate::agent::verdict::Found;
use crate::agent::{facts, look};
use crate::base::failure::{Failure, Kind};
use crate::diagnostics::merge::{self, Placed};
use crate::diagnostics::model::{Confidence, Diagnostic};
use crate::diagnostics::policy::decide::{self, ChangeSize};
use crate::diagnostics::policy::{Effect, Limits, Trace, stop};
use crate::diagnostics::{grouping, syntax};
use crate::edits::apply::apply;
use crate::llm::ask::{self, Ask};
use crate::symbols::language;
use crate::symbols::outline::{Kind as SymbolKind, Outline};
use crate::symbols::path::SymbolPath;

/// Groups that the way out of too much noise names.
const KINDS: usize = 4;

/// On whose word a task works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The user asked for this change.
    Asked,
    /// What providers report is to be mended.
    Reported,
    /// A step of a plan that the user approved.
    Approved,
}

/// What the user has allowed and what waits for a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Consent {
    /// Symbols whose deletion the user has allowed.
    pub(crate) allowed: BTreeSet<String>,
    /// What the step that runs was kept from deleting.
    pub(crate) withheld: BTreeSet<String>,
    /// Whether the open steps were planned anew since the user approved the plan: nobody has agreed to their words.
    pub(crate) replanned: bool,
    /// Why the edit that is being made is not credited with what goes away.
    pub(crate) doubts: Vec<Doubt>,
    /// What went away in the task and is not counted as fixed.
    pub(crate) uncounted: Vec<Uncounted>,
}

impl Consent {
    /// A step that came to nothing because it lacks the user's word: the question for it.
    pub(crate) fn question(&self, step: usize, title: &str, state: State, mark: usize) -> Option<Question> {
        if self.withheld.is_empty() || state == State::Done {
            return None;
        }
        let what: Vec<&str> = self.withheld.iter().map(String::as_str).collect();
        let text = format!(
            "Step {} (“{title}”) would delete {}, which the approved plan does not say. To do the step again allows it. What now?",
            step + 1,
            what.join(", ")
        );
        Some(Question { step, text, mark, allows: self.withheld.iter().cloned().collect(), suggested: Vec::new() })
    }
}

pub(crate) fn basis(mode: Mode, request: &str, needs_providers: bool) -> Basis {
    match mode {
        Mode::Planner | Mode::Supervised => Basis::Approved,
        Mode::Simple if needs_providers || ask::mends(request) => Basis::Reported,
        Mode::Simple => Basis::Asked,
    }
}

/// The symbols that an edit would leave the project without, outermost only; a file that it would empty.
///
/// What gets another name in its place, or turns up elsewhere in the same edit, is not lost. What is inside of a
/// function is that function's own affair.
pub(crate) fn lost(wanted: &[Wanted]) -> Vec<String> {
    let mut gone: Vec<(String, String)> = Vec::new();
    let mut added: BTreeSet<String> = BTreeSet::new();
    for want in wanted {
        let (before, after, path, hunks) = match want {
            Wanted::Change { document, hunks } => {
                let Ok(after) = apply(&document.text, hunks) else { continue };
                (document.text.as_str(), after, &document.path, hunks.as_slice())
            }
            Wanted::Create { path, text } => ("", text.clone(), path, [].as_slice()),
        };
        let Some(language) = language::of_path(path) else {
            if after.trim().is_empty() && !before.trim().is_empty() {
                gone.push((path.clone(), String::new()));
            }
            continue;
        };
        let (old, new) = (Outline::parse(language, before), Outline::parse(language, &after));
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
                symbol.parent.is_some_and(|parent| is_gone(parent) || old.symbols[parent].kind != SymbolKind::Class);
            let start = scope::moved(symbol.name_range.start, hunks);
            let renamed = fresh.iter().any(|new_one| new.symbols[*new_one].name_range.start == start);
            // A text that does not parse says nothing of what is in it.
            let unread = new.has_errors && has_word(&after, &symbol.name);
            if !inside && !renamed && !unread {
                gone.push((SymbolPath::new(path, &old_names[index]).to_string(), symbol.name.clone()));
            }
        }
    }
    gone.into_iter().filter(|(_, name)| name.is_empty() || !added.contains(name)).map(|(path, _)| path).collect()
}

/// Whether the task has put a symbol of this name into another file before: then it is moved and not lost.
fn put_elsewhere(journal: &Journal, lost: &str) -> bool {
    let lost = SymbolPath::parse(lost);
    let name = lost.names.rsplit("::").next().unwrap_or_default();
    let holds = |path: &str, text: &Option<String>| {
        let (Some(language), Some(text)) = (language::of_path(path), text) else { return false };
        Outline::parse(language, text).symbols.iter().any(|symbol| symbol.name == name)
    };
    !name.is_empty()
        && journal.net().iter().any(|change| {
            change.path != lost.file && holds(&change.path, &change.after) && !holds(&change.path, &change.before)
        })
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|found| found == word)
}

/// Whether words ask for a symbol to go: it is named right after a word of removal, or what such a word speaks of is
/// no name at all (`the dead code`) and the symbol is what the words are about.
pub(crate) fn says(words: &str, symbol: &str, scope: &Scope) -> bool {
    let path = SymbolPath::parse(symbol);
    let last = path.names.rsplit("::").next().unwrap_or_default();
    let name = last.split('#').next().unwrap_or(last);
    ask::removals(words).iter().any(|object| {
        if name.is_empty() {
            return object.iter().any(|word| word.to_lowercase() == "file" || path.file.contains(*word));
        }
        let named = |own: &SymbolPath| own.names.rsplit("::").next().is_some_and(|name| object.contains(&name));
        let listed = match scope {
            Scope::Symbols(symbols) if symbols.iter().any(named) => false,
            Scope::Symbols(symbols) => symbols.iter().any(|own| own.to_string() == symbol),
            Scope::Files(_) | Scope::Workspace => true,
        };
        object.contains(&name) || listed && ask::is_generic(object)
    })
}

/// Refuses an edit that goes further than the task was asked to go. Called before anything is written.
pub(crate) fn permit(session: &Session, task: &mut Task, wanted: &[Wanted]) -> Result<(), Failure> {
    let basis = basis(task.mode, &task.request, session.model.needs_providers());
    if basis == Basis::Asked {
        return Ok(());
    }
    let mut lost = lost(wanted);
    lost.retain(|path| !put_elsewhere(&task.journal, path));
    let change = ChangeSize {
        files: wanted.iter().map(Wanted::path).collect::<BTreeSet<_>>().len(),
        symbols: wanted.iter().flat_map(scope::touched).collect::<BTreeSet<_>>().len(),
        destructive: !lost.is_empty(),
    };
    let step = task.step.max(1);
    if let Some(reason) = decide::takes_away(&change) {
        let heard = basis == Basis::Reported || !task.consent.replanned;
        let asked =
            |path: &String| task.consent.allowed.contains(path) || heard && says(&task.request, path, &task.scope);
        let (said, unsaid): (Vec<String>, Vec<String>) = lost.into_iter().partition(asked);
        for path in said {
            let who = if basis == Basis::Approved { "the approved plan says so" } else { "the request asks for it" };
            task.trace.push(step, Trace::new(Effect::Kept, format!("deletion of {path}"), "asked_for", who));
        }
        if !unsaid.is_empty() {
            let what = unsaid.join(", ");
            let trace = Trace::new(Effect::Asked, format!("deletion of {what}"), "destructive_asks", reason);
            task.trace.push(step, trace);
            task.consent.withheld.extend(unsaid);
            return Err(unasked(basis, &what));
        }
    }
    let narrow = basis == Basis::Approved || !matches!(task.scope, Scope::Workspace) || ask::wants_all(&task.request);
    if let Some(reason) = decide::is_wide(&change, &Limits::default()).filter(|_| !narrow) {
        task.trace.push(step, Trace::new(Effect::Asked, "a change for what is reported", "wide_asks", &*reason));
        return Err(tool_failure(
            format!("{reason}, and it was only asked to mend what is reported; nothing was written"),
            "mend it in fewer places, or let the user ask for it with a plan (:AgentPlan)",
        ));
    }
    Ok(())
}

/// Whether a request is about what providers report, and they are asked at all.
pub(crate) fn works_on_reports(session: &Session, request: &str) -> bool {
    let driven = session.model.needs_providers() && ask::classify(request) == Ask::Repair;
    (driven || ask::mends_reports(request)) && session.config.diagnostics.on_edit
}

/// Refuses to begin on what is reported where it is too much to weigh, or says too little.
///
/// # Errors
/// With the figures and the way out.
pub(crate) async fn begin_on_reports(session: &Session, task: &Task) -> Result<(), Failure> {
    if !works_on_reports(session, &task.request) {
        return Ok(());
    }
    let found = facts::in_scope(session, &task.scope).await;
    let once = move || -> Vec<Found> {
        let items: Vec<Placed> = found.iter().map(placed).collect();
        merge::merge(&items).iter().map(|group| found[group.shown].clone()).collect()
    };
    let found = tokio::task::spawn_blocking(once).await.unwrap_or_default();
    let items: Vec<Placed> = found.iter().map(placed).collect();
    // What names no place is a hint, as in `unplaced_is_low`.
    let believed = |item: &Placed| match item.diagnostic.location.file() {
        Some(_) => item.diagnostic.clone(),
        None => Diagnostic { confidence: Confidence::Low, ..item.diagnostic.clone() },
    };
    let diagnostics: Vec<Diagnostic> = items.iter().map(believed).collect();
    let diagnostics: Vec<&Diagnostic> = diagnostics.iter().collect();
    let known = look::known(session).await;
    // A language model can work without any; what lives on the providers' words cannot.
    let heard = known.keys().any(|(_, provider)| provider != syntax::NAME) || !session.model.needs_providers();
    let asked = matches!(task.scope, Scope::Symbols(_)) || names_a_kind(&task.request, &diagnostics);
    let Some((rule, reason)) = stop(&diagnostics, heard, asked, &Limits::default()) else { return Ok(()) };
    task.trace.push(1, Trace::new(Effect::Stopped, &task.request, rule, &*reason));
    let kinds = grouping::by_theme(&items).into_iter().take(KINDS);
    let kinds: Vec<String> = kinds.map(|group| format!("{} ({})", group.key, group.members.len())).collect();
    let hint = if rule == "noise" {
        format!("ask at a symbol or with a range, or name a kind of them: {}", kinds.join(", "))
    } else {
        "attach a language server or name a command (:help sextant-option-commands), or say what is to be changed"
            .to_owned()
    };
    Err(Failure::new(Kind::User, format!("nothing was begun: {reason}"), hint))
}

fn placed(found: &Found) -> Placed<'_> {
    Placed { diagnostic: &found.diagnostic, symbol: &found.symbol }
}

fn unasked(basis: Basis, what: &str) -> Failure {
    match basis {
        Basis::Approved => tool_failure(
            format!("this would delete {what}, which the approved plan does not say; nothing was written"),
            "do the step without it; where it cannot be done without, end the step, and the user is asked",
        ),
        _ => tool_failure(
            format!("this would delete {what}, and it was only asked to mend what is reported; nothing was written"),
            "mend it in place; where it has to go, say so in your answer: the user can ask for it by name",
        ),
    }
}

/// Whether a request names a code or a kind of what is reported.
pub(crate) fn names_a_kind(request: &str, diagnostics: &[&Diagnostic]) -> bool {
    let kinds: BTreeSet<String> = diagnostics.iter().flat_map(|diagnostic| kinds(diagnostic)).collect();
    kinds.iter().any(|kind| names(request, kind))
}

/// Whether a request names the kind of this one.
pub(crate) fn is_named(request: &str, diagnostic: &Diagnostic) -> bool {
    kinds(diagnostic).iter().any(|kind| names(request, kind))
}

/// Its code and its theme.
fn kinds(diagnostic: &Diagnostic) -> Vec<String> {
    let theme = crate::diagnostics::theme::theme(diagnostic).map(str::to_owned);
    diagnostic.code.iter().cloned().chain(theme).collect()
}

/// Every word of the kind begins a word of the request: `unused import` is in `fix the unused imports`.
fn names(request: &str, kind: &str) -> bool {
    let lower = request.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).collect();
    let kind = kind.to_lowercase();
    let mut parts = kind.split_whitespace().peekable();
    parts.peek().is_some() && parts.all(|part| words.iter().any(|word| word.starts_with(part)))
}

#[cfg(test)]
mod tests;
