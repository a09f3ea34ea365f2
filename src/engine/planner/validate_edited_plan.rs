//! Checks a plan that the user has changed, most often as a document, against the present plan and the project.

use std::borrow::Cow;

use crate::plan::document;
use crate::plan::step_numbers::{self, StepFault};
use crate::plan::{Plan, SKIPPED_BY_USER, Step, StepExtent, StepResult, StepState};
use crate::planner::complete_step;
use crate::planner::validate_plan::{self, ReadStep};
use crate::state::edit_service::EditService;
use crate::state::task_scope::Scope;
use sextant_base::document_fault::DocumentFault;
use sextant_base::failure::Failure;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The fault of a document without a step.
const NO_STEP: &str = "no step is left; `- [-]` skips a step and keeps it in sight";

/// A plan as the user wants it, with the text that its lines are of.
pub(crate) struct WantedPlan<'t> {
    plan: Plan,
    text: Cow<'t, str>,
    faults: Vec<DocumentFault>,
}

impl<'t> WantedPlan<'t> {
    /// The plan that the user has written. `base` is the text that they began with, where it is known.
    pub(crate) fn read(text: &'t str, base: Option<&str>, standing: &Plan) -> Self {
        let (mut plan, faults) = document::read(text);
        if let Some(base) = base {
            follow_marks(&document::read(base).0.steps, &standing.steps, &mut plan.steps);
        }
        Self { plan, text: text.into(), faults }
    }

    /// The standing plan with an open step skipped, or with one opened that failed or was skipped. Steps are counted
    /// from 1.
    ///
    /// # Errors
    /// No such step has the number, or its state is another one.
    pub(crate) fn marked(standing: &Plan, number: usize, mark: StepState) -> Result<Self, Failure> {
        let opens = mark == StepState::Open;
        let way = if opens { "name a step marked [!] or [-]" } else { "name a step marked [ ]" };
        let refused = |why: &str| Failure::user(format!("step {number} {why}"), way);
        let mut plan = standing.clone();
        let step = number.checked_sub(1).and_then(|index| plan.steps.get_mut(index));
        let step = step.ok_or_else(|| refused("does not exist"))?;
        match (step.state, opens) {
            (StepState::Failed | StepState::Skipped, true) | (StepState::Open, false) => step.state = mark,
            (StepState::Open, true) => return Err(refused("is open already")),
            (StepState::Skipped, false) => return Err(refused("is skipped already")),
            (StepState::Running, _) => return Err(refused("is running")),
            (StepState::Done, _) => return Err(refused("is done")),
            (StepState::Failed, false) => return Err(refused("has failed, and is not run again")),
        }
        Ok(Self { text: document::write(&plan).into(), plan, faults: Vec::new() })
    }
}

/// A checked plan, with notes about its steps by lines.
pub(crate) struct CheckedPlan {
    pub(crate) plan: Plan,
    pub(crate) notes: Vec<DocumentFault>,
}

/// The plan that the user wants, or all of its faults, each with its line. Done steps stay as they are, with their
/// results: a document has only their words.
pub(crate) async fn rewritten(
    edits: &EditService,
    scope: &Scope,
    standing: &Plan,
    wanted: WantedPlan<'_>,
) -> Result<CheckedPlan, Vec<DocumentFault>> {
    let WantedPlan { plan: read, text, faults: mut problems } = wanted;
    let (lines, parts) = (document::step_lines(&text), document::part_lines(&text));
    let line = |index: usize| lines.get(index).copied().unwrap_or(1);
    let fault = |index: usize, StepFault { detail, message }| {
        let line = document::detail_line(&text, line(index), detail);
        DocumentFault { line, message }
    };
    let given: Vec<bool> = read.steps.iter().map(|step| !step.extent.creates.is_empty()).collect();
    let followed = step_numbers::follow(&standing.steps, &read.steps);
    let known_of = |index: usize| followed.same[index].and_then(|at| standing.steps.get(at));
    let mut steps: Vec<Step> = Vec::new();
    for (index, step) in read.steps.into_iter().enumerate() {
        let known = known_of(index);
        problems.extend(added_parts(&step, known, &parts, line(index)));
        let merged = merged(step, known).map_err(|message| StepFault::of("", message));
        let merged = merged.and_then(|mut step| followed.renumber(index + 1, &mut step).map(|()| step));
        match merged {
            Ok(step) => steps.push(step),
            Err(wrong) => problems.push(fault(index, wrong)),
        }
    }
    problems.extend(done_and_gone(standing, &followed.same));
    if steps.is_empty() && problems.is_empty() && !standing.steps.is_empty() {
        problems.push(DocumentFault { line: 1, message: NO_STEP.to_owned() });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for index in 0..steps.len() {
        if steps[index].state != StepState::Open {
            continue;
        }
        let whole = match completed(edits, scope, &mut steps[index], known_of(index)).await {
            Ok(whole) => whole,
            Err(message) => {
                problems.push(DocumentFault { line: line(index), message });
                continue;
            }
        };
        let before: Vec<&Step> = steps[..index].iter().collect();
        // The document is the user's word: its steps may go beyond the scope of the request.
        let (held, wrong) = validate_plan::check_step(edits, scope, ReadStep::of(steps[index].clone()), &before).await;
        problems.extend(wrong.into_iter().map(|wrong| fault(index, wrong)));
        let extent = StepExtent { whole, outside: still_marked(&held, known_of(index)), ..held.extent };
        steps[index] = Step { state: StepState::Open, extent, ..held };
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let unasked = (0..).zip(&steps).zip(given).filter(|(_, given)| !given);
    let notes = unasked.filter_map(|((index, step), _)| created(step, line(index))).collect();
    let model = standing.model.clone();
    Ok(CheckedPlan { plan: Plan { title: read.title, reason: read.reason, steps, model, declined: false }, notes })
}

/// The faults of the parts that the user has added to a step.
fn added_parts(
    step: &Step,
    known: Option<&Step>,
    lines: &[(usize, String)],
    step_line: usize,
) -> impl Iterator<Item = DocumentFault> {
    let had = move |title: &str| known.is_some_and(|known| known.result.parts.iter().any(|part| part.title == title));
    let message = "the parts of a step come from its run; a step of its own begins its line";
    step.result.parts.iter().filter(move |part| !had(&part.title)).map(move |part| {
        let line = lines.iter().find(|(_, title)| *title == part.title).map_or(step_line, |(at, _)| *at);
        DocumentFault { line, message: message.to_owned() }
    })
}

/// The note on a step whose text does not name the files that it creates: a misspelt path would become a file.
fn created(step: &Step, line: usize) -> Option<DocumentFault> {
    let files: Vec<String> = step.extent.creates.iter().map(ToString::to_string).collect();
    let message = format!("this step creates {}, which is not there", files.join(", "));
    (!files.is_empty()).then_some(DocumentFault { line, message })
}

/// Gives each step whose mark the user has left alone the state that it has now: the plan may have run, or been rolled
/// back, since the user began with `base`.
fn follow_marks(base: &[Step], standing: &[Step], steps: &mut [Step]) {
    let before = step_numbers::follow(base, steps).same;
    let now = step_numbers::follow(standing, steps).same;
    for ((step, before), now) in steps.iter_mut().zip(before).zip(now) {
        let known = before.and_then(|at| base.get(at)).zip(now.and_then(|at| standing.get(at)));
        if let Some((_, now)) = known.filter(|(before, _)| before.state == step.state) {
            step.state = now.state;
        }
    }
}

/// The symbols outside the scope that were marked so before. The user's own need no mark.
fn still_marked(step: &Step, known: Option<&Step>) -> Vec<SymbolPath> {
    let marked = known.map(|known| &known.extent.outside[..]).unwrap_or_default();
    step.extent.outside.iter().filter(|path| marked.contains(path)).cloned().collect()
}

/// The faults of a document without steps that are done.
fn done_and_gone(standing: &Plan, same: &[Option<usize>]) -> Vec<DocumentFault> {
    let gone = (0..).zip(&standing.steps).filter(|(at, _)| !same.contains(&Some(*at)));
    let done = gone.filter(|(_, step)| step.state == StepState::Done);
    let message =
        |step: &Step| format!("the step “{}” is done and belongs into the plan; roll it back first", step.title);
    done.map(|(_, step)| DocumentFault { line: 1, message: message(step) }).collect()
}

/// A step of the document with the facts known about it.
fn merged(step: Step, known: Option<&Step>) -> Result<Step, String> {
    let was = known.map_or(StepState::Open, |known| known.state);
    match (was, step.state) {
        // A step that ran keeps its content; the user only decides whether it runs again.
        (_, now) if now == was && was != StepState::Open => Ok(known.cloned().unwrap_or(step)),
        (StepState::Open | StepState::Failed | StepState::Skipped, StepState::Open) => {
            Ok(Step { result: StepResult::default(), ..step })
        }
        (StepState::Open | StepState::Failed, StepState::Skipped) => {
            let result = StepResult { outcome: SKIPPED_BY_USER.to_owned(), ..StepResult::default() };
            Ok(Step { result, ..step })
        }
        (StepState::Done, _) => Err("this step is done; roll it back first".to_owned()),
        (_, now) => Err(format!("only a run makes a step [{}]; use [ ] or [-]", document::mark(now))),
    }
}

/// Completes an open step. Returns whether its paths without names are files as a whole: the user's own are.
async fn completed(edits: &EditService, scope: &Scope, step: &mut Step, known: Option<&Step>) -> Result<bool, String> {
    let kept = known.filter(|known| known.symbols == step.symbols && !step.symbols.is_empty());
    complete_step::complete(&edits.workspace, scope, step).await?;
    let has_file = !step.kind.only_looks() && step.symbols.iter().any(|symbol| symbol.names.is_empty());
    Ok(has_file && (step.extent.whole || kept.is_none_or(|known| known.extent.whole)))
}

/// The subjects of the steps that have run or will run and that the scope does not hold.
pub(crate) fn outside(scope: &Scope, plan: &Plan) -> Vec<SymbolPath> {
    let runs = plan.steps.iter().filter(|step| step.state != StepState::Skipped);
    let mut out: Vec<SymbolPath> = Vec::new();
    for path in runs.flat_map(|step| validate_plan::outside(scope, step)) {
        if !out.contains(&path) {
            out.push(path);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(state: StepState) -> Step {
        let result = StepResult { outcome: "came".into(), ..StepResult::default() };
        Step { title: "one".into(), because: "it was so".into(), state, result, ..Step::default() }
    }

    #[test]
    fn a_mark_that_the_user_left_alone_follows_a_run_and_a_rollback() {
        let steps = |marks: &[(&str, StepState)]| -> Vec<Step> {
            marks
                .iter()
                .map(|(title, state)| Step { title: (*title).into(), state: *state, ..Step::default() })
                .collect()
        };
        use StepState::{Done, Open, Running, Skipped};
        let base = steps(&[("ran", Running), ("next", Open), ("back", Done), ("left", Open), ("last", Open)]);
        let standing = steps(&[("ran", Done), ("next", Done), ("back", Open), ("left", Open), ("last", Open)]);
        let mut text = steps(&[
            ("ran", Running),
            ("next", Open),
            ("back", Done),
            ("left", Skipped),
            ("mine", Open),
            ("last", Open),
        ]);
        follow_marks(&base, &standing, &mut text);
        let states: Vec<StepState> = text.iter().map(|step| step.state).collect();
        assert_eq!(states, [Done, Done, Open, Skipped, Open, Open]);
        let mut again = steps(&[("ran", Open)]);
        follow_marks(&base, &standing, &mut again);
        assert_eq!(again[0].state, Open, "the user's own mark stays");
    }

    #[test]
    fn what_ran_stays_and_the_rest_is_the_users() {
        let wanted = |state| Step { title: "one".into(), because: "mine".into(), state, ..Step::default() };
        let (done, failed, open) = (step(StepState::Done), step(StepState::Failed), step(StepState::Open));
        assert_eq!(merged(wanted(StepState::Done), Some(&done)), Ok(done.clone()), "with its result");
        assert!(merged(wanted(StepState::Open), Some(&done)).unwrap_err().contains("roll it back"));
        let again = merged(wanted(StepState::Open), Some(&failed)).unwrap();
        assert_eq!((again.because.as_str(), again.result.outcome.as_str()), ("mine", ""));
        let skipped = merged(wanted(StepState::Skipped), Some(&open)).unwrap();
        assert_eq!(skipped.result.outcome, SKIPPED_BY_USER);
        for state in [StepState::Done, StepState::Failed, StepState::Running] {
            assert!(merged(wanted(state), None).unwrap_err().contains("use [ ] or [-]"), "{state:?}");
        }
    }
}
