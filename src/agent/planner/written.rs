//! A plan that waits, replaced by a document that somebody wrote: read as a plan's own document is, held against the
//! project as a model's is.

use crate::agent::durable;
use crate::agent::events::fact::TaskFact;
use crate::agent::memory::keep;
use crate::agent::plan::event::plan_event;
use crate::agent::plan::mode::Phase;
use crate::agent::plan::{Plan, Step, StepState, document};
use crate::agent::planner::{replan, validate};
use crate::agent::state::outcome::Ending;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::base::failure::Failure;
use crate::base::hint::HintCode;
use crate::llm::step::{PlanReply, PlanReplyStep};

/// Problems that a refusal names.
const NAMED: usize = 5;

/// Puts a document in the place of the plan that waits. What is done stays as it is and has to stand first; what does
/// not hold changes nothing.
pub(crate) async fn set(session: &Session, markdown: &str) -> Ending<Plan> {
    let Some((plan, mut task)) = session.plan.lock().await.take() else {
        let result = Err(Failure::user("no plan waits here that could be changed", HintCode::Plan));
        return Ending { result, events: Vec::new() };
    };
    let result = wanted(session, &task, &plan, markdown).await;
    let standing = match &result {
        Ok(new) => {
            session.take_up(&mut task);
            task.progress.question = None;
            let changes = replan::changes(&plan, new);
            task.events.did(TaskFact::PlanChanged { words: "a plan written by hand".to_owned(), changes });
            keep::keep(session, &mut task).await;
            durable::keep_plan(session, new, &mut task).await;
            new.clone()
        }
        Err(_) => plan,
    };
    let events = result.iter().map(|plan| plan_event(plan, Phase::Planning.words())).collect();
    *session.plan.lock().await = Some((standing, task));
    Ending { result, events }
}

async fn wanted(session: &Session, task: &Task, plan: &Plan, markdown: &str) -> Result<Plan, Failure> {
    let (written, problems) = document::read(markdown);
    if !problems.is_empty() {
        let lines = problems.iter().map(|problem| format!("line {}: {}", problem.line, problem.message));
        return Err(refused(lines.collect()));
    }
    let closed = |plan: &Plan| plan.steps.iter().filter(|step| step.state != StepState::Open).count();
    let kept: Vec<Step> = plan.steps.iter().filter(|step| step.state != StepState::Open).cloned().collect();
    let stands = |(step, kept): (&Step, &Step)| (&step.title, step.state) == (&kept.title, kept.state);
    if closed(&written) != kept.len() || !written.steps.iter().zip(&kept).all(stands) {
        let what = "the steps that have run have to stand first, as they are".to_owned();
        return Err(refused(vec![what]));
    }
    let open = written.steps.iter().skip(kept.len()).map(asked).collect();
    let reply = PlanReply { title: written.title, reason: written.reason, steps: open, confidence: 1.0 };
    let new = validate::validate(session, task, reply, &kept).await.map_err(refused)?;
    let steps = kept.into_iter().chain(new.steps).collect();
    Ok(Plan { steps, title: new.title, reason: new.reason, ..plan.clone() })
}

/// A step as a model would have asked for it.
fn asked(step: &Step) -> PlanReplyStep {
    let texts = |items: &[crate::symbols::path::SymbolPath]| items.iter().map(ToString::to_string).collect();
    PlanReplyStep {
        title: step.title.clone(),
        symbols: texts(&step.symbols),
        because: step.because.clone(),
        expect: step.expect.clone(),
        kind: step.kind.name().to_owned(),
        with: step.inputs.iter().map(ToString::to_string).collect(),
        after: step.after.clone(),
        creates: texts(&step.creates),
        checks: step.checks.iter().map(ToString::to_string).collect(),
        fallback: step.fallback.clone(),
    }
}

fn refused(problems: Vec<String>) -> Failure {
    let more = if problems.len() > NAMED { format!("; and {} more", problems.len() - NAMED) } else { String::new() };
    let said: Vec<String> = problems.into_iter().take(NAMED).collect();
    let message = format!("this is no plan that could be run: {}{more}", said.join("; "));
    Failure::user(message, "the plan that waits is as it was; plan/get has its document")
}
