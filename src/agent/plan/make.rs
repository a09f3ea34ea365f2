//! Making a plan: the facts to the model, its reply held against the project, the document shown.

use tokio_util::sync::CancellationToken;

use crate::agent::budget;
use crate::agent::look_over;
use crate::agent::mode::Phase;
use crate::agent::outcome::Ending;
use crate::agent::plan::{Plan, State, Step, document};
use crate::agent::request::Request;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::traces;
use crate::base::failure::{Failure, Kind};
use crate::diagnostics::policy::{Effect, Trace};
use crate::editor::event::Event;
use crate::llm::step::ModelError;
use crate::symbols::language;
use crate::symbols::outline::Outline;
use crate::symbols::path::SymbolPath;

/// How often a model is asked again when its plan does not fit the project.
const ATTEMPTS: usize = 2;

/// What a plan is asked for with, besides the facts.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// What was wrong, or what has made a new plan necessary.
    pub(super) problems: Vec<String>,
    /// Steps that stay; the new ones are numbered behind them.
    pub(super) kept: Vec<Step>,
    /// The plan that stands, as a model reads it.
    pub(super) standing: Vec<String>,
    /// What the user wants changed in it.
    pub(super) change: String,
}

impl Session {
    /// Makes a plan, or changes the one that waits (`change: …`). It waits for approval; no file is changed.
    pub async fn plan(&self, request: &Request, cancel: &CancellationToken) -> Ending<Plan> {
        let result = match self.change_of(request).await {
            Some(words) => self.change_plan(&words, cancel).await,
            None => {
                let made = self.make_plan(request, cancel).await.map_err(Failure::without_change);
                // The plan before it is not what was asked for last: nobody is to approve it by mistake.
                if !made.as_ref().is_ok_and(|plan| !plan.steps.is_empty()) {
                    *self.plan.lock().await = None;
                    look_over::leave_all(self).await;
                }
                made
            }
        };
        traces::keep(self).await;
        let events = match &result {
            Ok(plan) => vec![plan_event(plan, Phase::Planning.words())],
            Err(failure) => vec![Event::Failed { failure: failure.clone() }],
        };
        Ending { result, events }
    }

    async fn make_plan(&self, request: &Request, cancel: &CancellationToken) -> Result<Plan, Failure> {
        self.unless_stopped(cancel, self.durable()).await?;
        self.recover().await;
        let scope = self.unless_stopped(cancel, self.scope(request)).await??;
        let mut task = self.unless_stopped(cancel, self.begin(request, self.mode(), scope, cancel)).await??;
        let plan = match self.propose(&mut task, Wanted::default(), cancel).await {
            Ok(plan) => plan,
            Err(failure) => {
                self.remember_no_plan(&mut task, &failure).await;
                return Err(failure);
            }
        };
        self.tell_risk(&mut task, Some(plan.steps.len())).await;
        self.remember_plan(&plan, &mut task).await;
        // Without steps there is nothing to approve, to change or to go on with.
        if !plan.steps.is_empty() {
            self.keep_plan(&plan, &mut task).await;
            *self.plan.lock().await = Some((plan.clone(), task));
        }
        Ok(plan)
    }

    /// Asks the model for steps from where things stand, and holds them against the project.
    pub(super) async fn propose(
        &self,
        task: &mut Task,
        wanted: Wanted,
        cancel: &CancellationToken,
    ) -> Result<Plan, Failure> {
        let mut input = self.unless_stopped(cancel, self.plan_facts(task)).await?;
        let because = wanted.problems.clone();
        (input.problems, input.standing, input.change) = (wanted.problems, wanted.standing, wanted.change);
        let words = |text: &str| self.editor.show(Event::Words { text: text.to_owned() });
        let mut attempt = 0;
        loop {
            attempt += 1;
            if let Some(why) = self.over_budget(task) {
                return Err(budget::stop(task, &why));
            }
            let (reply, usage) = tokio::select! {
                answered = self.model.plan(&input, &words) => answered,
                () = cancel.cancelled() => return Err(Failure::cancelled()),
                () = self.out_of_time(task.spent) => continue,
            };
            task.usage.add(usage);
            let problems = match reply {
                Ok(reply) => match self.unless_stopped(cancel, self.validate(task, reply, &wanted.kept)).await? {
                    Ok(plan) => {
                        for (number, step) in (1..).zip(&plan.steps) {
                            let trace = Trace::new(Effect::Planned, &step.title, self.model.name(), &step.because);
                            task.trace.push_step(number, trace);
                        }
                        return Ok(plan);
                    }
                    Err(problems) => problems,
                },
                Err(ModelError::Unusable { problems, .. }) => problems,
                Err(error) => {
                    let trace = Trace::new(Effect::Stopped, "the plan", self.model.name(), error.to_string());
                    task.trace.push(1, trace);
                    return Err(crate::agent::simple::model_failure(&error));
                }
            };
            let trace = Trace::new(Effect::Refused, "a plan", self.model.name(), problems.join("; "));
            task.trace.push(1, trace);
            if attempt > ATTEMPTS {
                let message = format!("no usable plan came back: {}", problems.join("; "));
                return Err(Failure::new(Kind::Model, message, "ask in other words, or use another model"));
            }
            input.problems = because.iter().cloned().chain(problems).collect();
        }
    }

    pub(crate) async fn full_path(&self, given: &str) -> Result<SymbolPath, Failure> {
        let path = SymbolPath::parse(given);
        if !path.file.is_empty() && path.names.is_empty() {
            let document = self.document(&path.file).await?;
            return Ok(SymbolPath::new(document.path, ""));
        }
        let place = self.place(given).await?;
        Ok(SymbolPath::new(&place.document.path, place.outline.path_of(place.symbol)))
    }

    /// Which of these symbols are there now.
    pub(super) async fn present(&self, symbols: &[SymbolPath]) -> Vec<SymbolPath> {
        let mut present = Vec::new();
        for symbol in symbols {
            let Ok(document) = self.document(&symbol.file).await else { continue };
            let found = match language::of_path(&document.path) {
                _ if symbol.names.is_empty() => true,
                Some(language) => Outline::parse(language, &document.text).find(&symbol.names).is_ok(),
                None => false,
            };
            if found {
                present.push(symbol.clone());
            }
        }
        present
    }
}

pub(in crate::agent) fn plan_event(plan: &Plan, phase: &str) -> Event {
    let of = |state: State| plan.steps.iter().filter(|step| step.state == state).count();
    Event::Plan {
        markdown: document::write(plan),
        phase: phase.to_owned(),
        steps: plan.steps.len(),
        done: of(State::Done),
        failed: of(State::Failed),
        running: plan.steps.iter().position(|step| step.state == State::Running).map(|index| index + 1),
    }
}
