//! Making a plan: the facts to the model, its reply held against the project, the document shown.

use tokio_util::sync::CancellationToken;

use crate::agent::durable::{self, recover};
use crate::agent::mode::Phase;
use crate::agent::outcome::Ending;
use crate::agent::plan::{Plan, State, Step, anew, document, validate};
use crate::agent::remember::keep;
use crate::agent::request::{self, Request};
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::target;
use crate::agent::{budget, facts, look_over, risk, start, stop, traces};
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

/// Makes a plan, or changes the one that waits (`change: …`). It waits for approval; no file is changed.
pub async fn plan(session: &Session, request: &Request, cancel: &CancellationToken) -> Ending<Plan> {
    let result = match anew::change_of(session, request).await {
        Some(words) => anew::change_plan(session, &words, cancel).await,
        None => {
            let made = make_plan(session, request, cancel).await.map_err(Failure::without_change);
            // The plan before it is not what was asked for last: nobody is to approve it by mistake.
            if !made.as_ref().is_ok_and(|plan| !plan.steps.is_empty()) {
                *session.plan.lock().await = None;
                look_over::leave_all(session).await;
            }
            made
        }
    };
    traces::keep(session).await;
    let events = match &result {
        Ok(plan) => vec![plan_event(plan, Phase::Planning.words())],
        Err(failure) => vec![Event::Failed { failure: failure.clone() }],
    };
    Ending { result, events }
}

async fn make_plan(session: &Session, request: &Request, cancel: &CancellationToken) -> Result<Plan, Failure> {
    stop::unless_stopped(session, cancel, durable::durable(session)).await?;
    recover::recover(session).await;
    let scope = stop::unless_stopped(session, cancel, request::scope(session, request)).await??;
    let mut task =
        stop::unless_stopped(session, cancel, start::begin(session, request, session.mode(), scope, cancel)).await??;
    let plan = match propose(session, &mut task, Wanted::default(), cancel).await {
        Ok(plan) => plan,
        Err(failure) => {
            keep::remember_no_plan(session, &mut task, &failure).await;
            return Err(failure);
        }
    };
    risk::tell_risk(session, &mut task, Some(plan.steps.len())).await;
    keep::remember_plan(session, &plan, &mut task).await;
    // Without steps there is nothing to approve, to change or to go on with.
    if !plan.steps.is_empty() {
        durable::keep_plan(session, &plan, &mut task).await;
        *session.plan.lock().await = Some((plan.clone(), task));
    }
    Ok(plan)
}

/// Asks the model for steps from where things stand, and holds them against the project.
pub(super) async fn propose(
    session: &Session,
    task: &mut Task,
    wanted: Wanted,
    cancel: &CancellationToken,
) -> Result<Plan, Failure> {
    let mut input = stop::unless_stopped(session, cancel, facts::plan_facts(session, task)).await?;
    let because = wanted.problems.clone();
    (input.problems, input.standing, input.change) = (wanted.problems, wanted.standing, wanted.change);
    let words = |text: &str| session.editor.show(Event::Words { text: text.to_owned() });
    let mut attempt = 0;
    loop {
        attempt += 1;
        if let Some(why) = budget::over_budget(session, task) {
            return Err(budget::stop(task, &why));
        }
        let (reply, usage) = tokio::select! {
            answered = session.model.plan(&input, &words) => answered,
            () = cancel.cancelled() => return Err(Failure::cancelled()),
            () = budget::out_of_time(session, task.spent) => continue,
        };
        task.usage.add(usage);
        let problems = match reply {
            Ok(reply) => {
                match stop::unless_stopped(session, cancel, validate::validate(session, task, reply, &wanted.kept))
                    .await?
                {
                    Ok(plan) => {
                        for (number, step) in (1..).zip(&plan.steps) {
                            let trace = Trace::new(Effect::Planned, &step.title, session.model.name(), &step.because);
                            task.trace.push_step(number, trace);
                        }
                        return Ok(plan);
                    }
                    Err(problems) => problems,
                }
            }
            Err(ModelError::Unusable { problems, .. }) => problems,
            Err(error) => {
                let trace = Trace::new(Effect::Stopped, "the plan", session.model.name(), error.to_string());
                task.trace.push(1, trace);
                return Err(crate::agent::run_loop::model_failure(&error));
            }
        };
        let trace = Trace::new(Effect::Refused, "a plan", session.model.name(), problems.join("; "));
        task.trace.push(1, trace);
        if attempt > ATTEMPTS {
            let message = format!("no usable plan came back: {}", problems.join("; "));
            return Err(Failure::new(Kind::Model, message, "ask in other words, or use another model"));
        }
        input.problems = because.iter().cloned().chain(problems).collect();
    }
}

pub(crate) async fn full_path(session: &Session, given: &str) -> Result<SymbolPath, Failure> {
    let path = SymbolPath::parse(given);
    if !path.file.is_empty() && path.names.is_empty() {
        let document = target::document(session, &path.file).await?;
        return Ok(SymbolPath::new(document.path, ""));
    }
    let place = target::place(session, given).await?;
    Ok(SymbolPath::new(&place.document.path, place.outline.path_of(place.symbol)))
}

/// Which of these symbols are there now.
pub(super) async fn present(session: &Session, symbols: &[SymbolPath]) -> Vec<SymbolPath> {
    let mut present = Vec::new();
    for symbol in symbols {
        let Ok(document) = target::document(session, &symbol.file).await else { continue };
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
