//! Running an approved plan, step by step: each in the scope of its own symbols, each judged after it.

use tokio_util::sync::CancellationToken;

use crate::agent::outcome::{Ending, Outcome};
use crate::agent::plan::{Plan, State, Steps, make};
use crate::agent::scope::Scope;
use crate::agent::session::Session;
use crate::agent::simple::Ended;
use crate::agent::task::Task;
use crate::agent::verdict::{self, Verdict};
use crate::base::failure::{Failure, Kind};
use crate::diagnostics::model::Severity;
use crate::editor::event::Event;

impl Session {
    /// Runs the plan that waits for approval. What a failed or stopped run has finished is kept.
    pub async fn approve(&self, steps: Steps, cancel: &CancellationToken) -> Ending<Outcome> {
        let mut events = Vec::new();
        let result = self.carry_out(steps, cancel, &mut events).await;
        Ending::new(result, events, |outcome| (outcome.ok, outcome.summary.clone()))
    }

    async fn carry_out(
        &self,
        steps: Steps,
        cancel: &CancellationToken,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Failure> {
        let Some((mut plan, mut task)) = self.plan.lock().await.take() else {
            return Err(Failure::user(
                "there is no plan to approve",
                "make one first: `:AgentPlan make this file type-clean`",
            ));
        };
        if !plan.steps.iter().any(|step| step.state == State::Open) {
            let failure = Failure::user("the plan has no open step", "make a new plan with :AgentPlan");
            *self.plan.lock().await = Some((plan, task));
            return Err(failure);
        }
        self.use_cancel(cancel);
        let ran = self.run_plan(&mut plan, &mut task, steps, cancel).await;
        let phase = match &ran {
            Err(failure) if failure.kind == Kind::Cancelled => "stopped",
            Err(_) => "failed",
            Ok(()) if plan.steps.iter().any(|step| step.state == State::Open) => "waiting for approval",
            Ok(()) => "completed",
        };
        events.push(make::plan_event(&plan, phase));
        let done = plan.steps.iter().filter(|step| step.state == State::Done).count();
        let word = format!("{done} of {} steps done", plan.steps.len());
        let mut outcome = self.finish(&mut task, &word).await;
        outcome.ok = !plan.steps.iter().any(|step| step.state == State::Failed);
        *self.plan.lock().await = Some((plan, task));
        ran.map(|()| outcome)
    }

    async fn run_plan(
        &self,
        plan: &mut Plan,
        task: &mut Task,
        steps: Steps,
        cancel: &CancellationToken,
    ) -> Result<(), Failure> {
        let whole = task.scope.clone();
        for index in 0..plan.steps.len() {
            if plan.steps[index].state != State::Open {
                continue;
            }
            plan.steps[index].state = State::Running;
            self.editor.show(make::plan_event(plan, "executing"));
            let result = self.run_step(plan, index, task, cancel).await;
            task.scope = whole.clone();
            match result {
                Ok((state, outcome)) => {
                    plan.steps[index].state = state;
                    plan.steps[index].outcome = outcome;
                }
                Err(failure) => {
                    plan.steps[index].state = if failure.kind == Kind::Cancelled { State::Open } else { State::Failed };
                    plan.steps[index].outcome = failure.message.clone();
                    return Err(failure);
                }
            }
            self.editor.show(make::plan_event(plan, "executing"));
            if steps == Steps::One {
                break;
            }
        }
        Ok(())
    }

    async fn run_step(
        &self,
        plan: &Plan,
        index: usize,
        task: &mut Task,
        cancel: &CancellationToken,
    ) -> Result<(State, String), Failure> {
        let step = &plan.steps[index];
        let mut texts = Vec::new();
        for symbol in &step.symbols {
            if let Ok(document) = self.document(&symbol.file).await {
                texts.push((document.path, document.text));
            }
        }
        let text_of = |file: &str| texts.iter().find(|(path, _)| path == file).map(|(_, text)| text.clone());
        if let Some(missing) = make::missing(step, text_of) {
            return Ok((State::Skipped, format!("{missing} is not there any more")));
        }
        task.scope = Scope::Symbols(step.symbols.clone());
        task.results.clear();
        (task.step, task.errors) = (0, 0);
        let request =
            std::mem::replace(&mut task.request, format!("{}. Expected after it: {}", step.title, step.expect));
        let before = self.known().await;
        let ended = self.run_steps(task, cancel).await;
        task.request = request;
        let ended = ended?;
        let verdict = verdict::compare(&before, &self.known().await, &[], &[]);
        Ok(judge(&verdict, ended, self.config.diagnostics.severity_floor))
    }
}

/// What a step came to: new errors mean that it failed, whatever it says of itself.
fn judge(verdict: &Verdict, ended: Ended, floor: Severity) -> (State, String) {
    let errors = verdict.count(Severity::Error);
    let fixed = verdict.fixed_from(floor);
    if errors > 0 {
        let first = verdict.new.first().map(|found| found.diagnostic.message.as_str()).unwrap_or_default();
        return (State::Failed, format!("{errors} new errors, the first: {first}"));
    }
    match ended {
        Ended::Done { changed: false, answer } if fixed == 0 => {
            let answer = if answer.is_empty() { "nothing was changed".to_owned() } else { answer };
            (State::Failed, answer)
        }
        Ended::Done { .. } => (State::Done, format!("{fixed} fixed, {} new", verdict.new_from(floor).count())),
        Ended::OutOfSteps => (State::Failed, "ran out of steps".to_owned()),
        Ended::TooManyErrors(last) => (State::Failed, last),
    }
}
