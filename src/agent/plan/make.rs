//! Making a plan: the facts to the model, its reply held against the project, the document shown.

use tokio_util::sync::CancellationToken;

use crate::agent::mode::Phase;
use crate::agent::outcome::Ending;
use crate::agent::plan::{Plan, State, Step, document};
use crate::agent::request::Request;
use crate::agent::scope::Scope;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::base::failure::{Failure, Kind};
use crate::diagnostics::policy::{Effect, Trace};
use crate::editor::event::Event;
use crate::llm::step::{ModelError, PlanReply};
use crate::symbols::language;
use crate::symbols::outline::Outline;
use crate::symbols::path::SymbolPath;

/// How often a model is asked again when its plan does not fit the project.
const ATTEMPTS: usize = 2;

impl Session {
    /// Makes a plan. It waits for approval; nothing is changed.
    pub async fn plan(&self, request: &Request, cancel: &CancellationToken) -> Ending<Plan> {
        let result = self.make_plan(request, cancel).await;
        let events = match &result {
            Ok(plan) => vec![plan_event(plan, Phase::Planning.words())],
            Err(failure) => vec![Event::Failed { failure: failure.clone() }],
        };
        Ending { result, events }
    }

    async fn make_plan(&self, request: &Request, cancel: &CancellationToken) -> Result<Plan, Failure> {
        self.recover().await;
        let scope = self.scope(request).await?;
        let mut task = self.begin(request, self.mode(), scope, cancel).await?;
        let plan = match self.propose(&mut task, Vec::new(), cancel).await {
            Ok(plan) => plan,
            Err(failure) => {
                self.remember_no_plan(&mut task, &failure).await;
                return Err(failure);
            }
        };
        self.remember_plan(&plan, &mut task).await;
        self.keep_plan(&plan, &mut task).await;
        *self.plan.lock().await = Some((plan.clone(), task));
        Ok(plan)
    }

    /// Asks the model for steps from where things stand, and holds them against the project.
    pub(super) async fn propose(
        &self,
        task: &mut Task,
        problems: Vec<String>,
        cancel: &CancellationToken,
    ) -> Result<Plan, Failure> {
        let mut input = self.plan_facts(task).await;
        input.problems = problems;
        let words = |text: &str| self.editor.show(Event::Words { text: text.to_owned() });
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (reply, usage) = tokio::select! {
                answered = self.model.plan(&input, &words) => answered,
                () = cancel.cancelled() => return Err(Failure::cancelled()),
            };
            task.usage.add(usage);
            let problems = match reply {
                Ok(reply) => match self.validate(task, reply).await {
                    Ok(plan) => {
                        for (number, step) in (1..).zip(&plan.steps) {
                            let trace = Trace::new(Effect::Planned, &step.title, self.model.name(), &step.because);
                            task.trace.push(number, trace);
                        }
                        return Ok(plan);
                    }
                    Err(problems) => problems,
                },
                Err(ModelError::Unusable { problems, .. }) => problems,
                Err(error) => return Err(crate::agent::simple::model_failure(&error)),
            };
            if attempt > ATTEMPTS {
                let message = format!("no usable plan came back: {}", problems.join("; "));
                return Err(Failure::new(Kind::Model, message, "ask in other words, or use another model"));
            }
            input.problems = problems;
        }
    }

    /// Every symbol that a step names must exist, inside the root and inside the scope of the request.
    async fn validate(&self, task: &Task, reply: PlanReply) -> Result<Plan, Vec<String>> {
        let mut problems = Vec::new();
        let mut steps = Vec::new();
        for (index, step) in reply.steps.into_iter().enumerate() {
            let mut symbols = Vec::new();
            for given in &step.symbols {
                match self.full_path(given).await {
                    Ok(symbol) if within(&task.scope, &symbol) => symbols.push(symbol),
                    Ok(symbol) => problems.push(format!(
                        "step {}: {symbol} is outside {}",
                        index + 1,
                        task.scope.names().join(", ")
                    )),
                    Err(failure) => problems.push(format!("step {}: {}", index + 1, failure.one_line())),
                }
            }
            if step.symbols.is_empty() {
                problems.push(format!("step {} names no symbol", index + 1));
            }
            steps.push(Step {
                title: step.title,
                symbols,
                because: step.because,
                expect: step.expect,
                state: State::Open,
                outcome: String::new(),
            });
        }
        if problems.is_empty() { Ok(Plan { title: reply.title, reason: reply.reason, steps }) } else { Err(problems) }
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
}

pub(in crate::agent) fn plan_event(plan: &Plan, phase: &str) -> Event {
    Event::Plan { markdown: document::write(plan), phase: phase.to_owned() }
}

/// A file in the scope allows its module level as well.
fn within(scope: &Scope, symbol: &SymbolPath) -> bool {
    scope.holds(symbol)
}

/// Whether the symbols of a step are still there.
pub(super) fn missing(step: &Step, text_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    step.symbols.iter().find_map(|symbol| {
        let text = text_of(&symbol.file);
        let found = match (&text, language::of_path(&symbol.file)) {
            (None, _) => false,
            (Some(_), _) if symbol.names.is_empty() => true,
            (Some(text), Some(language)) => Outline::parse(language, text).find(&symbol.names).is_ok(),
            (Some(_), None) => false,
        };
        (!found).then(|| symbol.to_string())
    })
}
