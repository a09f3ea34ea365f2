//! Judges a try of an editing step: by its changes, its diagnostics and its checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::check_criteria::CheckResult;
use crate::plan::next_decision::{StepChecked, StepDiagnosed, StepReport};
use crate::plan::output::StepOutput;
use crate::plan::step_errors::StepError;
use crate::plan::{Step, StepPart, StepState};
use crate::planner::evaluate_checks;
use crate::planner::run_step::Tried;
use crate::run::step_contract;
use crate::state::agent_config::Config;
use crate::state::comparison::Verdict;
use crate::state::delta_wording;
use crate::state::journal::Journal;
use crate::state::judged_step::JudgedStep;
use crate::state::outcome::Ended;
use crate::state::refused_edit::RefusedEdit;
use crate::state::snapshots::Snapshots;
use crate::state::task::{Conversation, Task};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_base::secrets::mask;
use sextant_diagnostics::model::Severity;
use sextant_model::step::LastResult;
use sextant_text::symbols::symbol_path::SymbolPath;

fn floor(config: &Config) -> Severity {
    config.diagnostics.severity_floor
}

/// A try of a step that has ended, with the state found after it.
pub(crate) struct EndedTry<'a> {
    pub(crate) step: &'a Step,
    /// Checkpoints of the task before the step.
    pub(crate) mark: usize,
    pub(crate) ended: Ended,
    pub(crate) parts: Vec<StepPart>,
    pub(crate) verdict: Verdict,
    pub(crate) findings: Vec<CheckResult>,
    /// Diagnostics that the step names.
    pub(crate) expected: usize,
    /// Those of them that are still there.
    pub(crate) left: usize,
    /// The reports before it, and the texts behind it.
    pub(crate) before: Snapshots,
    pub(crate) texts: BTreeMap<String, Arc<str>>,
}

pub(crate) fn facts_after(config: &Config, task: &Task, tried: &EndedTry<'_>) -> StepReport {
    let EndedTry { step, mark, ended, verdict, findings, expected, left, .. } = tried;
    let (errors, all) = (verdict.count(Severity::Error), verdict.new_from(floor(config)).count());
    StepReport {
        diagnosed: StepDiagnosed {
            expected: *expected,
            met: expected.saturating_sub(*left),
            new_errors: errors,
            new_warnings: all.saturating_sub(errors),
        },
        checked: StepChecked { checks: step.checks.len(), unmet: evaluate_checks::unmet(findings) },
        changed: task.work.journal.checkpoints.len() > *mark,
        answered: matches!(ended, Ended::Done { answer, .. } if !answer.is_empty()),
        broken: match ended {
            Ended::Done { .. } => None,
            Ended::OutOfSteps => Some("ran out of steps".to_owned()),
            Ended::TooManyErrors(last) => Some(last.clone()),
            Ended::Objected(objection) => Some(objection.reason.clone()),
            Ended::Unsolved(why) => Some(why.clone()),
        },
        adherence: task.progress.course.adherence,
        ..StepReport::default()
    }
}

/// Begins the outcome of a step that waits for an answer of the user's.
pub(crate) const ASKS: &str = "asks: ";

/// The judgement of a step: new errors and unmet checks mean that it failed, even when it claims success.
pub(crate) fn judge_edit(config: &Config, task: &Task, tried: EndedTry<'_>, facts: StepReport) -> Tried {
    let EndedTry { step, mark, ended, parts, verdict, findings, before, texts, .. } = tried;
    let (fixed, new) = (verdict.fixed_from(floor(config)), verdict.new_from(floor(config)).count());
    let broken = verdict.count(Severity::Error);
    let failed = |error: StepError, outcome: String| {
        let mut tried = Tried::failed(error, outcome.clone(), facts.clone());
        // Only the cause that kept the step from its end is broken. The rest has its own part in the score.
        tried.facts.broken.clone_from(&facts.broken);
        Tried { parts: parts.clone(), outcome, ..tried }
    };
    if let Ended::Objected(objection) = ended {
        let outcome = match objection.question.is_empty() {
            true => format!("the model objects: {}", objection.reason),
            false => format!("{ASKS}{}", headline(&objection.question)),
        };
        let mut tried = failed(StepError::ModelObjected, outcome);
        tried.facts.objection = Some(objection.reason.clone());
        return Tried { objection: Some(objection), ..tried };
    }
    if broken > 0 {
        let first = verdict.new.first().map(|found| headline(&found.diagnostic.message)).unwrap_or_default();
        return failed(StepError::BrokeSomething, format!("{}, the first: {first}", counted(broken, "new error")));
    }
    let answer = match ended {
        // The step's changes before a stop count as well. A repair by another edit is no work of this step's.
        Ended::Done { answer, .. } if !facts.changed && (fixed == 0 || !is_reached(&facts, &findings)) => {
            return failed(StepError::NothingDone, idle(&task.conversation, task.counts.refused.as_ref(), &answer));
        }
        Ended::Done { answer, .. } => answer,
        Ended::OutOfSteps => return failed(StepError::OutOfSteps, "ran out of steps".to_owned()),
        Ended::TooManyErrors(last) | Ended::Unsolved(last) => return failed(StepError::ErrorsInARow, last),
        Ended::Objected(_) => String::new(),
    };
    if let Some(missed) = missed(step, &findings) {
        return failed(StepError::CheckUnmet, missed);
    }
    let unknown = findings.iter().filter(|finding| matches!(finding, CheckResult::Unknown(_))).count();
    let unknown =
        if unknown > 0 { format!(", {} that nobody can tell", counted(unknown, "check")) } else { String::new() };
    let (by, own) = if facts.changed { ("", fixed) } else { ("repaired by another edit: ", 0) };
    let outcome = format!("{by}{}{unknown}", delta_wording::of_step(&verdict, new, fixed));
    let text = format!("{answer}\n{outcome}");
    let mut output = StepOutput::new(text.trim(), changed_symbols(task, mark));
    (output.fixed, output.new, output.deviation) = (own, new, step_contract::hundredths(&facts));
    let judged = JudgedStep {
        title: step.title.clone(),
        outcome: outcome.clone(),
        checks: unknown,
        before,
        mark,
        end: task.work.journal.checkpoints.len(),
        texts,
        renewed: None,
    };
    // A late answer renews the outcome of a change of its own alone.
    let judged = facts.changed.then_some(judged);
    Tried { state: StepState::Done, outcome, facts, parts, output: Some(output), objection: None, judged }
}

/// True if nothing of the step's own goal is left: the diagnostics that it names are gone, or its checks hold.
fn is_reached(facts: &StepReport, findings: &[CheckResult]) -> bool {
    let StepDiagnosed { expected, met, .. } = facts.diagnosed;
    let holds = !findings.is_empty() && findings.iter().all(|finding| *finding == CheckResult::Met);
    (expected > 0 && met == expected) || holds
}

/// The first check of the step that does not hold.
fn missed(step: &Step, findings: &[CheckResult]) -> Option<String> {
    step.checks.iter().zip(findings).find_map(|(check, finding)| match finding {
        CheckResult::Unmet(why) => Some(format!("check `{check}` does not hold: {}", headline(why))),
        CheckResult::Met | CheckResult::Unknown(_) => None,
    })
}

/// Why a step that came to its end did nothing: the last refusal, and the model's own words.
fn idle(conversation: &Conversation, refused: Option<&RefusedEdit>, answer: &str) -> String {
    let words = |result: &LastResult| match refused {
        Some(edit) if edit.is_answered_by(&result.text) => {
            let cause = headline(&mask(&edit.failure.for_people()));
            format!(" (the edit of {} was refused: {cause})", headline(&edit.target))
        }
        _ => format!(" ({} failed: {})", result.tool, headline(&result.text)),
    };
    let refused = conversation.results.iter().rev().find(|result| !result.ok).map(words);
    let claim = if answer.is_empty() { String::new() } else { format!("; the model says “{}”", headline(answer)) };
    format!("nothing was changed{}{claim}", refused.unwrap_or_default())
}

/// Two parts one after the other: the worse end, the answers of both.
pub(crate) fn joined(before: Option<Ended>, now: Ended) -> Ended {
    match (before, now) {
        (Some(Ended::Done { changed, answer }), Ended::Done { changed: more, answer: second }) => {
            Ended::Done { changed: changed || more, answer: format!("{answer}\n{second}").trim().to_owned() }
        }
        (_, now) => now,
    }
}

/// The symbols of the step in the files that it changed; all of them where it changed none.
fn changed_symbols(task: &Task, mark: usize) -> Vec<SymbolPath> {
    let checkpoints = task.work.journal.checkpoints.get(mark..).unwrap_or_default().to_vec();
    let changed = Journal { checkpoints, ..Journal::default() }.net();
    let mut out: Vec<SymbolPath> = Vec::new();
    let files = task.work.scope.whole_files().iter().map(|file| SymbolPath::new(file, ""));
    for symbol in task.work.scope.symbols().iter().cloned().chain(files) {
        let touched = changed.is_empty() || changed.iter().any(|change| change.path == symbol.file);
        if touched && !out.contains(&symbol) {
            out.push(symbol);
        }
    }
    out
}
