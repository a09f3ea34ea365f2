//! Running an approved plan, step by step: each in the scope of its own symbols, each judged after it.

use tokio_util::sync::CancellationToken;

use crate::agent::evaluate::{self, Decision, Facts, Trigger};
use crate::agent::journal::Checkpoint;
use crate::agent::mode::Phase;
use crate::agent::outcome::{Ending, Outcome};
use crate::agent::plan::question::{OPTIONS, Question};
use crate::agent::plan::{Plan, State, Step, Steps, make};
use crate::agent::scope::Scope;
use crate::agent::session::Session;
use crate::agent::simple::Ended;
use crate::agent::task::Task;
use crate::agent::tools::answer::headline;
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
        self.use_trace(&task.trace);
        let ran = self.run_plan(&mut plan, &mut task, steps, cancel).await;
        let phase = match &ran {
            Err(failure) if failure.kind == Kind::Cancelled => Phase::Paused,
            Err(_) => Phase::Error,
            Ok(()) if task.question.is_some() => Phase::Paused,
            Ok(()) if plan.steps.iter().any(|step| step.state == State::Open) => Phase::Planning,
            Ok(()) => Phase::Completed,
        };
        let outcome = self.end_run(&plan, &mut task, phase, events).await;
        *self.plan.lock().await = Some((plan, task));
        ran.map(|()| outcome)
    }

    /// The run is over or pauses: the document, the open question, the outcome.
    async fn end_run(&self, plan: &Plan, task: &mut Task, phase: Phase, events: &mut Vec<Event>) -> Outcome {
        events.push(make::plan_event(plan, phase.words()));
        if let Some(question) = &task.question {
            let options = OPTIONS.iter().map(|option| (*option).to_owned()).collect();
            events.push(Event::Question { text: question.text.clone(), options });
        }
        let done = plan.steps.iter().filter(|step| step.state == State::Done).count();
        let replans = if task.replans > 0 { format!(", planned anew {} times", task.replans) } else { String::new() };
        let word = format!("{done} of {} steps done{replans}", plan.steps.len());
        let mut outcome = self.finish(task, &word).await;
        let failed = plan.steps.iter().skip(task.replaced).any(|step| step.state == State::Failed);
        outcome.ok = !failed && task.question.is_none();
        outcome
    }

    /// Ends a run where it stands, without another step.
    pub(crate) async fn pause(&self) -> Ending<Outcome> {
        let mut events = Vec::new();
        let mut waiting = self.plan.lock().await;
        let result = match waiting.as_mut() {
            Some((plan, task)) => Ok(self.end_run(plan, task, Phase::Paused, &mut events).await),
            None => Err(Failure::user("there is no plan", "make one first with :AgentPlan")),
        };
        Ending::new(result, events, |outcome| (outcome.ok, outcome.summary.clone()))
    }

    async fn run_plan(
        &self,
        plan: &mut Plan,
        task: &mut Task,
        steps: Steps,
        cancel: &CancellationToken,
    ) -> Result<(), Failure> {
        let whole = task.scope.clone();
        let mut attempts = 1;
        while let Some(index) = plan.steps.iter().position(|step| step.state == State::Open) {
            plan.steps[index].state = State::Running;
            self.editor.show(make::plan_event(plan, Phase::Executing.words()));
            let mark = task.journal.checkpoints.len();
            let result = self.run_step(plan, index, task, cancel).await;
            task.scope = whole.clone();
            let (state, outcome, mut facts) = match result {
                Ok(ran) => ran,
                Err(failure) => {
                    plan.steps[index].state = if failure.kind == Kind::Cancelled { State::Open } else { State::Failed };
                    plan.steps[index].outcome = failure.message.clone();
                    return Err(failure);
                }
            };
            (plan.steps[index].state, plan.steps[index].outcome) = (state, outcome);
            task.plan_errors += u32::from(state == State::Failed);
            (facts.attempts, facts.errors, facts.replans) = (attempts, task.plan_errors, task.replans);
            facts.invalid = self.invalid_steps(plan).await;
            self.editor.show(make::plan_event(plan, Phase::Executing.words()));
            attempts = 1;
            match evaluate::decide(task.mode, &facts) {
                Decision::Continue => {}
                Decision::Repeat(_) => {
                    plan.steps[index].state = State::Open;
                    attempts = facts.attempts + 1;
                    continue;
                }
                Decision::Replan(trigger) => {
                    if !self.replan(plan, task, &trigger, cancel).await? {
                        break;
                    }
                }
                Decision::Ask(trigger) => {
                    task.question = Some(Question::new(index, &plan.steps[index].title, &trigger, mark));
                    break;
                }
                Decision::Stop(why) => {
                    self.editor.show(Event::Progress { text: why });
                    break;
                }
            }
            if steps == Steps::One {
                break;
            }
        }
        Ok(())
    }

    /// Plans anew for what is left; what is done stays. False when nothing is left to be done.
    async fn replan(
        &self,
        plan: &mut Plan,
        task: &mut Task,
        trigger: &Trigger,
        cancel: &CancellationToken,
    ) -> Result<bool, Failure> {
        task.replans += 1;
        task.plan_errors = 0;
        self.editor.show(Event::Progress { text: format!("planning anew: {}", trigger.words()) });
        let files = Vec::new();
        task.journal.checkpoints.push(Checkpoint { id: self.next_checkpoint(), files });
        let done: Vec<String> =
            plan.steps.iter().filter(|step| step.state == State::Done).map(|step| step.title.clone()).collect();
        let mut problems = vec![trigger.words()];
        if !done.is_empty() {
            problems.push(format!("done already: {}", done.join("; ")));
        }
        let new = self.propose(task, problems, cancel).await?;
        plan.steps.retain(|step| step.state != State::Open);
        let more = !new.steps.is_empty();
        if more {
            task.replaced = plan.steps.len();
        }
        plan.steps.extend(new.steps);
        Ok(more)
    }

    /// The symbols of open steps that are gone.
    async fn invalid_steps(&self, plan: &Plan) -> Vec<String> {
        let mut gone = Vec::new();
        for step in plan.steps.iter().filter(|step| step.state == State::Open) {
            gone.extend(self.missing(step).await);
        }
        gone
    }

    async fn missing(&self, step: &Step) -> Option<String> {
        let mut texts = Vec::new();
        for symbol in &step.symbols {
            if let Ok(document) = self.document(&symbol.file).await {
                texts.push((document.path, document.text));
            }
        }
        make::missing(step, |file| texts.iter().find(|(path, _)| path == file).map(|(_, text)| text.clone()))
    }

    async fn run_step(
        &self,
        plan: &Plan,
        index: usize,
        task: &mut Task,
        cancel: &CancellationToken,
    ) -> Result<(State, String, Facts), Failure> {
        let step = &plan.steps[index];
        if let Some(missing) = self.missing(step).await {
            let facts = Facts { missing: Some(missing.clone()), ..Facts::default() };
            return Ok((State::Skipped, format!("{missing} is not there any more"), facts));
        }
        task.scope = Scope::Symbols(step.symbols.clone());
        task.results.clear();
        (task.step, task.errors) = (0, 0);
        let targets = self.targets(step, &task.scope).await;
        let request =
            std::mem::replace(&mut task.request, format!("{}. Expected after it: {}", step.title, step.expect));
        let mut before = self.known().await;
        let ended = self.run_steps(task, cancel).await;
        task.request = request;
        let ended = ended?;
        // What was first looked at in this step, right before its edit, has its baseline there.
        for (key, snap) in &task.start {
            before.entry(key.clone()).or_insert_with(|| snap.clone());
        }
        let scope = task.scope.clone();
        let verdict = verdict::compare(&before, &self.known().await, &[], &[]);
        let left = self.targets(step, &scope).await;
        let floor = self.config.diagnostics.severity_floor;
        let facts = Facts {
            expected: targets,
            met: targets.saturating_sub(left),
            new_errors: verdict.count(Severity::Error),
            new_warnings: verdict.new_from(floor).count()
                - verdict.count(Severity::Error).min(verdict.new_from(floor).count()),
            changed: matches!(ended, Ended::Done { changed: true, .. }),
            answered: matches!(&ended, Ended::Done { answer, .. } if !answer.is_empty()),
            broken: match &ended {
                Ended::Done { .. } => None,
                Ended::OutOfSteps => Some("ran out of steps".to_owned()),
                Ended::TooManyErrors(last) => Some(last.clone()),
            },
            ..Facts::default()
        };
        let (state, outcome) = judge(&verdict, ended, floor);
        Ok((state, outcome, facts))
    }

    /// How many of the diagnostics that a step names are there.
    async fn targets(&self, step: &Step, scope: &Scope) -> usize {
        let named = |code: &Option<String>| code.as_ref().is_some_and(|code| step.because.contains(code.as_str()));
        self.in_scope(scope).await.iter().filter(|found| named(&found.diagnostic.code)).count()
    }
}

/// What a step came to: new errors mean that it failed, whatever it says of itself.
fn judge(verdict: &Verdict, ended: Ended, floor: Severity) -> (State, String) {
    let errors = verdict.count(Severity::Error);
    let fixed = verdict.fixed_from(floor);
    if errors > 0 {
        let first = verdict.new.first().map(|found| headline(&found.diagnostic.message)).unwrap_or_default();
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
