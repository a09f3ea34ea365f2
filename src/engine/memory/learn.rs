//! The learnings on a kind of task, and the fixes that the user does not want to see again.

use std::collections::{BTreeMap, BTreeSet};

use crate::events::task_events::TaskEvents;
use crate::memory;
use crate::state::notes::{Approach, short};
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_base::plural::counted;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::step::FixOffer;
use sextant_store::memory::decision_record::{Event, TraceRecord};
use sextant_store::memory::learnings::{Experience, Learning};
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::store::Memory;

/// Failures after which a fix is not offered again, unless more than half of its uses were good.
const REJECTIONS: u32 = 2;

/// The text for a prompt and a reader.
pub(crate) fn line(learning: &Learning) -> String {
    let Learning { task, approach, successes, failures, note, .. } = learning;
    let all = successes + failures;
    let note = if note.is_empty() { String::new() } else { format!(": {}", short(note, 80)) };
    if is_rejected(learning) {
        format!("for {task} avoid “{approach}”, bad {failures} of {}{note}", counted(all, "time"))
    } else {
        format!("for {task}: “{approach}” good {successes} of {}{note}", counted(all, "time"))
    }
}

fn is_rejected(learning: &Learning) -> bool {
    learning.failures >= REJECTIONS && learning.reliability() < 0.5
}

pub(crate) fn experience(approach: &Approach, project: &str) -> Experience {
    Experience {
        task: approach.kind.clone(),
        approach: approach.approach.clone(),
        project: Some(project.to_owned()),
        success: approach.success,
        note: approach.note.clone(),
        timestamp: now_ms(),
    }
}

/// The record by which a later word of the user finds the actions of a task.
pub(crate) fn record(session: &str, task: &str, approach: &Approach) -> TraceRecord {
    TraceRecord {
        session: session.to_owned(),
        task: task.to_owned(),
        step: 0,
        event: Event::Decision,
        subject: approach.approach.clone(),
        reason: approach.kind.clone(),
        detail: serde_json::json!({"checkpoint": approach.checkpoint}),
        timestamp: now_ms(),
    }
}

/// The known objections to fixes, by code and title.
fn against(memory: &Memory, codes: &BTreeSet<String>, project: &str) -> Result<BTreeMap<(String, String), Learning>> {
    let mut out = BTreeMap::new();
    for code in codes {
        for learning in memory.learnings(&format!("fix {code}"), Some(project), usize::MAX)? {
            if is_rejected(&learning) {
                out.insert((code.clone(), learning.approach.clone()), learning);
            }
        }
    }
    Ok(out)
}

/// Removes fixes that were bad before, where the same diagnostic has another fix, with a trace for each.
fn sift(fixes: &[FixOffer], against: &dyn Fn(&FixOffer) -> Option<String>) -> (Vec<FixOffer>, Vec<Trace>) {
    let mut kept = Vec::with_capacity(fixes.len());
    let mut entries = Vec::new();
    for fix in fixes {
        let Some(why) = against(fix) else {
            kept.push(fix.clone());
            continue;
        };
        let other = fixes.iter().any(|other| other.diagnostic == fix.diagnostic && against(other).is_none());
        let (effect, end) =
            if other { (Effect::SetAside, "another one is offered") } else { (Effect::Kept, "it is the only one") };
        let about = format!("the fix “{}” in {}", fix.title, fix.symbol);
        entries.push(Trace::new(effect, about, "learned", format!("{why}; {end}")));
        if !other {
            kept.push(fix.clone());
        }
    }
    (kept, entries)
}

/// Removes the fixes that proved bad here twice, where another is offered for the same diagnostic.
pub(crate) async fn trusted(
    store: &TaskStore,
    task_events: &TaskEvents,
    step: u32,
    found: &[LocatedDiagnostic],
    fixes: Vec<FixOffer>,
) -> Vec<FixOffer> {
    let code = |fix: &FixOffer| found.get(fix.diagnostic?)?.diagnostic.code.clone();
    let codes: BTreeSet<String> = fixes.iter().filter_map(&code).collect();
    let Some(remember) = memory::remember(store).await.filter(|_| !codes.is_empty()) else { return fixes };
    let project = remember.project;
    let bad = match remember.run(move |memory| against(memory, &codes, project)).await {
        Ok(bad) => bad,
        Err(error) => {
            tracing::warn!(%error, "nothing is known of the offered fixes");
            return fixes;
        }
    };
    let proved = |fix: &FixOffer| Some(line(bad.get(&(code(fix)?, fix.title.clone()))?));
    let (kept, entries) = sift(&fixes, &proved);
    for entry in entries {
        task_events.trace(step.max(1), entry);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_fix_is_left_out_only_beside_another_of_the_same_diagnostic() {
        let fix = |id: &str, title: &str, diagnostic| FixOffer {
            id: id.into(),
            title: title.into(),
            symbol: "a.py::f".into(),
            diagnostic: Some(diagnostic),
            preferred: false,
            changes: Vec::new(),
        };
        let fixes = [fix("1", "bad", 0), fix("2", "good", 0), fix("3", "bad", 1), fix("4", "other", 2)];
        let (kept, entries) = sift(&fixes, &|fix| (fix.title == "bad").then(|| "bad 2 of 2 times".to_owned()));
        assert_eq!(kept.iter().map(|fix| fix.id.as_str()).collect::<Vec<_>>(), ["2", "3", "4"]);
        let reasons: Vec<(Effect, &str)> = entries.iter().map(|entry| (entry.effect, entry.reason.as_str())).collect();
        assert_eq!(reasons[0], (Effect::SetAside, "bad 2 of 2 times; another one is offered"));
        assert_eq!(reasons[1], (Effect::Kept, "bad 2 of 2 times; it is the only one"));
    }

    #[test]
    fn two_failures_are_a_rejection_unless_it_mostly_works() {
        let learning = |successes, failures| Learning {
            task: "fix X".into(),
            approach: "Do it".into(),
            project: None,
            successes,
            failures,
            note: "undone by the user".into(),
            last_used: 1,
        };
        assert!(!is_rejected(&learning(0, 1)) && is_rejected(&learning(0, 2)) && !is_rejected(&learning(5, 2)));
        assert_eq!(line(&learning(0, 2)), "for fix X avoid “Do it”, bad 2 of 2 times: undone by the user");
        assert_eq!(line(&learning(2, 0)), "for fix X: “Do it” good 2 of 2 times: undone by the user");
    }
}
