//! Which of the servers' fixes are offered: none that only hides a diagnostic, none that deletes a check.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::agent::scope;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::apply_fix;
use crate::agent::verdict::Found;
use crate::base::deadline::Deadline;
use crate::diagnostics::policy::{Effect, Trace};
use crate::editor::Fix;
use crate::edits::TextEdit;
use crate::llm::offline::is_suppression;
use crate::llm::step::FixOffer;
use crate::symbols::path::SymbolPath;

/// Comments that silence a checker, in the languages that Sextant reads.
static SUPPRESSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)#\s*(noqa|type:\s*ignore|pyright:|basedpyright:|mypy:|ty:\s*ignore|pyrefly:\s*ignore|pylint:\s*disable|ruff:\s*(noqa|ignore)|fmt:\s*(off|skip)|pragma:\s*no)|eslint-disable|@ts-(ignore|nocheck|expect-error)|biome-ignore|NOLINT",
    )
    .ok()
});

/// Statements that check something: a fix that removes one repairs nothing.
static CHECK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*(assert|raise|if|elif|while|except)\b").ok());

/// How long the servers may take to say what they offer for one diagnostic; a cold one that looks for imports takes
/// seconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Suppression,
    DeletesCheck,
}

/// An offer as the task keeps it: its id changes with every edit, its key does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    pub id: String,
    /// Title, symbol and diagnostic.
    pub key: String,
    /// What it is meant for: symbol and diagnostic.
    pub about: String,
    /// The diagnostic's code; empty where it has none.
    pub code: String,
}

impl Offered {
    pub(crate) fn title(&self) -> &str {
        self.key.strip_suffix(&self.about).map_or(&self.key, |title| title.trim_end_matches('|'))
    }

    pub(crate) fn symbol(&self) -> &str {
        self.about.split('|').next().unwrap_or_default()
    }
}

fn count(pattern: &LazyLock<Option<Regex>>, text: &str) -> usize {
    pattern.as_ref().map_or(0, |regex| text.lines().filter(|line| regex.is_match(line)).count())
}

/// Why these edits of a file are no repair.
pub fn refusal(text: &str, hunks: &[TextEdit]) -> Option<Refusal> {
    let after = crate::edits::apply::apply(text, hunks).ok()?;
    if count(&SUPPRESSION, &after) > count(&SUPPRESSION, text) {
        return Some(Refusal::Suppression);
    }
    (count(&CHECK, &after) < count(&CHECK, text)).then_some(Refusal::DeletesCheck)
}

/// The fixes for these diagnostics, in their order, at most `most`, and of how many of them the servers were asked.
/// Positions are indices into `found`.
pub(crate) async fn offers(
    session: &Session,
    task: &mut Task,
    found: &[Found],
    most: usize,
    deadline: Deadline,
) -> (Vec<FixOffer>, usize) {
    let mut offers = Vec::new();
    task.offered.clear();
    for (index, item) in found.iter().enumerate() {
        if offers.len() >= most || deadline.passed() {
            return (offers, index);
        }
        let Some(range) = item.diagnostic.location.range() else { continue };
        let patience = Deadline::after(deadline.left().min(PATIENCE));
        let fixes = match session.editor.fixes(&item.symbol.file, Some(range), patience).await {
            Ok(fixes) => fixes,
            Err(error) => {
                tracing::warn!(%error, "no fixes could be asked for");
                continue;
            }
        };
        for fix in fixes.iter().filter(|fix| answers(fix, item)) {
            if is_suppression(&fix.title) {
                let reason = "it would only hide what it is for";
                let about = format!("fix “{}” for {}", fix.title, item.symbol);
                task.trace.push(task.step.max(1), Trace::new(Effect::SetAside, about, "suppression", reason));
                continue;
            }
            let about = crate::agent::weigh::key(item);
            let key = format!("{}|{about}", fix.title);
            if task.tried.contains(&key) {
                continue;
            }
            let code = item.diagnostic.code.clone().unwrap_or_default();
            task.offered.push(Offered { id: fix.id.clone(), key, about, code });
            offers.push(FixOffer {
                id: fix.id.clone(),
                title: fix.title.clone(),
                symbol: item.symbol.to_string(),
                diagnostic: Some(index),
                preferred: fix.preferred,
                changes: Vec::new(),
            });
        }
    }
    (offers, found.len())
}

/// Looks up what each fix would change besides its symbol, as far as the scope allows it: a step that may
/// touch the symbol alone could not carry out a fix that adds an import.
pub(crate) async fn look_up_changes(session: &Session, task: &Task, offers: &mut [FixOffer], deadline: Deadline) {
    for offer in offers {
        if deadline.passed() {
            break;
        }
        let patience = Deadline::after(deadline.left().min(PATIENCE));
        let Ok(wanted) = apply_fix::wanted(session, &offer.id, patience).await else {
            // One that does not say what its fix would change is not asked about all the others.
            if patience.passed() {
                break;
            }
            continue;
        };
        let mut changes: Vec<String> = wanted.iter().flat_map(scope::touched).collect();
        changes.retain(|path| *path != offer.symbol && task.scope.holds(&SymbolPath::parse(path)));
        offer.changes = changes;
    }
}

/// Whether a fix is meant for a diagnostic.
fn answers(fix: &Fix, item: &Found) -> bool {
    let same = fix
        .repairs
        .iter()
        .any(|known| known.message == item.diagnostic.message && known.location == item.diagnostic.location);
    let silent = fix.repairs.is_empty() && fix.provider == item.diagnostic.source;
    same || silent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(before: &str, after: &str) -> Option<Refusal> {
        refusal(before, &crate::edits::hunks::hunks(before, after))
    }

    #[test]
    fn hiding_and_deleting_checks_is_no_repair() {
        assert_eq!(judge("x = y\n", "x = y  # type: ignore[name-defined]\n"), Some(Refusal::Suppression));
        assert_eq!(judge("x = y\n", "x = y  # noqa: F821\n"), Some(Refusal::Suppression));
        assert_eq!(judge("x = y\n", "x = y  # pyright: ignore\n"), Some(Refusal::Suppression));
        assert_eq!(judge("assert x\ny = 1\n", "y = 1\n"), Some(Refusal::DeletesCheck));
        assert_eq!(judge("import os\nx = 1  # noqa\n", "x = 1  # noqa\n"), None, "an old one may stay");
        assert_eq!(judge("if x == None:\n    y()\n", "if x is None:\n    y()\n"), None);
    }

    #[test]
    fn patterns_are_valid() {
        assert!(SUPPRESSION.is_some() && CHECK.is_some());
    }
}
