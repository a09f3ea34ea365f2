//! How the run of a plan ended: whether it can go on another time, and which steps failed and why.

use crate::agent::direct::Say;
use crate::agent::outcome::FailedStep;
use crate::agent::plan::{Plan, State};
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::answer::headline;
use crate::agent::undo;
use crate::base::failure::{Failure, Kind};
use crate::editor::event::Event;

/// Failed steps that a summary tells of; the document has them all.
const TOLD: usize = 3;

/// Whether what ended a run from outside may be over at another time, so that the run can go on then.
pub(in crate::agent) fn goes_on(kind: Kind) -> bool {
    matches!(kind, Kind::Cancelled | Kind::Limit | Kind::Model | Kind::Editor)
}

/// The failure with the way on, where there is one.
pub(in crate::agent) fn resumable(mut failure: Failure) -> Failure {
    if matches!(failure.kind, Kind::Limit | Kind::Model | Kind::Editor) {
        failure.hint = format!("{}; :AgentResume goes on with it", failure.hint.trim_end_matches('.'));
    }
    failure
}

/// The failed steps of a plan with their reasons; those before the last new plan are replaced by it.
pub(super) fn failed_steps(plan: &Plan, replaced: usize) -> Vec<FailedStep> {
    let steps = plan.steps.iter().enumerate().filter(|(_, step)| step.state == State::Failed);
    steps
        .map(|(index, step)| FailedStep {
            step: index + 1,
            title: step.title.clone(),
            reason: headline(&step.outcome),
            replaced: index < replaced,
        })
        .collect()
}

/// How far a plan came, and why not further.
pub(super) fn words(say: Say, (done, all): (usize, usize), replans: u32, failed: &[FailedStep]) -> String {
    let times = say.counted(replans as usize, "time", "vez", "veces");
    let steps = say.counted(all, "step", "paso", "pasos");
    let mut out = say.of(format!("{done} of {steps} done"), format!("{done} de {steps} hechos"));
    if replans > 0 {
        out.push_str(&say.of(format!(", planned anew {times}"), format!(", replanificado {times}")));
    }
    for FailedStep { step, title, reason, .. } in failed.iter().filter(|step| !step.replaced).take(TOLD) {
        let english = format!(". Step {step} (“{title}”) failed: {reason}");
        out.push_str(&say.of(english, format!(". El paso {step} («{title}») falló: {reason}")));
    }
    out
}

/// Takes back what a step had done whose model went away, or whose budget ended: it begins anew, as after a
/// process that was killed.
///
/// # Errors
/// A file cannot be put back.
pub(in crate::agent) async fn take_back_unfinished(session: &Session, task: &mut Task) -> Result<(), Failure> {
    let Some(mark) = task.keep.mark.take() else { return Ok(()) };
    if task.journal.checkpoints.len() <= mark {
        return Ok(());
    }
    let left = undo::roll_back_to(session, task, mark, true).await?;
    if !left.is_empty() {
        let text = format!("left as you changed it since: {}", left.join(", "));
        session.editor.show(Event::Progress { text });
    }
    Ok(())
}
