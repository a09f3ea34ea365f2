//! Simple mode: act step by step until the model is done, the steps run out, or three errors in a row.

use tokio_util::sync::CancellationToken;

use crate::agent::change::{self, Wanted, When};
use crate::agent::direct::{self, Say};
use crate::agent::durable::{self, recover};
use crate::agent::ledger::Snaps;
use crate::agent::mode::{Mode, Phase};
use crate::agent::outcome::{self, Ending, Outcome};
use crate::agent::plan::contract::{self, Objection};
use crate::agent::plan::ending;
use crate::agent::remember::keep;
use crate::agent::request::{self, Request};
use crate::agent::scope::Scope;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::answer::{self, EditAnswer};
use crate::agent::tools::{ToolAnswer, target, tool_failure};
use crate::agent::{
    analyse, answered, budget, consent, facts, further, gate, look, look_over, mended, risk, stop, traces,
};
use crate::base::deadline::Deadline;
use crate::base::failure::{Failure, Kind};
use crate::base::plural::counted;
use crate::base::secrets::mask;
use crate::base::text::LineIndex;
use crate::diagnostics::policy::{Effect, Trace};
use crate::diagnostics::syntax;
use crate::editor::Document;
use crate::editor::event::Event;
use crate::edits::hunks::hunks;
use crate::llm::ask::{self, Ask};
use crate::llm::step::{Action, LastResult, ModelError};

/// Results that are kept for the model; older ones have been acted upon.
const RESULTS: usize = 6;
/// Lines of the current text that a refusal of a stale edit shows.
const CURRENT_LINES: usize = 60;

/// How the steps came to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done {
        changed: bool,
        answer: String,
    },
    OutOfSteps,
    /// The last of the errors.
    TooManyErrors(String),
    /// The model does not want to go on with the step of its plan.
    Objected(Objection),
}

/// Answers a request in simple mode. What is finished when it fails or is stopped is kept.
pub async fn ask(session: &Session, request: &Request, cancel: &CancellationToken) -> Ending<Outcome> {
    let result = answer(session, request, cancel).await;
    traces::keep(session).await;
    Ending::new(result, Vec::new(), |outcome| (outcome.ok, outcome.summary.clone()))
}

async fn answer(session: &Session, request: &Request, cancel: &CancellationToken) -> Result<Outcome, Failure> {
    if let Some(done) = stop::unless_stopped(session, cancel, direct::direct(session, request)).await?? {
        return Ok(done);
    }
    stop::unless_stopped(session, cancel, durable::durable(session)).await?;
    recover::recover(session).await;
    let begun = async {
        let scope = stop::unless_stopped(session, cancel, request::scope(session, request)).await??;
        stop::unless_stopped(session, cancel, begin(session, request, Mode::Simple, scope, cancel)).await?
    };
    let answered = match begun.await.map_err(Failure::without_change) {
        Ok(mut task) => run_ask(session, &mut task, cancel).await,
        Err(failure) => Err(failure),
    };
    if session.plan.lock().await.is_none() {
        look_over::leave_all(session).await;
    }
    answered
}

/// Runs a task without a plan from where it stands to its end.
pub(crate) async fn run_ask(
    session: &Session,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Outcome, Failure> {
    task.notes.start_clock();
    durable::keep_call(session, task).await;
    let ended = run_steps(session, task, cancel).await;
    let (limits, say) = (&session.config.limits, Say::to(&task.request));
    let word = match &ended {
        // The answer has been shown as it came.
        Ok(Ended::Done { .. }) => String::new(),
        Ok(Ended::OutOfSteps) => say.of(
            format!("stopped after {}", counted(limits.steps, "step")),
            format!("detenido tras {} pasos", limits.steps),
        ),
        Ok(Ended::TooManyErrors(last)) => {
            let errors = counted(limits.errors, "error");
            say.of(
                format!("gave up after {errors} in a row, the last: {last}"),
                format!("abandonado tras {} errores seguidos, el último: {last}", limits.errors),
            )
        }
        Ok(Ended::Objected(objection)) => objection.reason.clone(),
        Err(_) => say.of("broken off", "interrumpido"),
    };
    let phase = match &ended {
        Ok(Ended::Done { .. }) => Phase::Completed,
        Ok(_) => Phase::Paused,
        Err(failure) if ending::goes_on(failure.kind) => Phase::Paused,
        Err(_) => Phase::Error,
    };
    durable::keep_task(session, task, None, phase).await;
    let mut outcome = outcome::finish(session, task, &word).await;
    keep::remember_end(session, task, &ended, &outcome).await;
    if ended.is_err() && !outcome.files.is_empty() {
        session.editor.show(Event::Progress { text: outcome.summary.clone() });
    }
    let changed = may_have_changed(session, task);
    let ended = ended.map_err(|failure| if changed { failure } else { failure.without_change() });
    match ended.map_err(ending::resumable)? {
        Ended::Done { answer, .. } => outcome.answer = answer,
        Ended::OutOfSteps | Ended::TooManyErrors(_) | Ended::Objected(_) => outcome.ok = false,
    }
    Ok(outcome)
}

/// Whether a task has changed a file, or an edit or a command of it may have.
pub(crate) fn may_have_changed(session: &Session, task: &Task) -> bool {
    !task.journal.is_empty() || session.making.open() || task.answered.ran_command
}

/// Runs steps until one of the ends. A cancelled call leaves whole tool calls behind, never half ones.
pub(crate) async fn run_steps(
    session: &Session,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Ended, Failure> {
    let changes = task.journal.checkpoints.len();
    loop {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        task.step += 1;
        if task.step > session.config.limits.steps {
            return Ok(Ended::OutOfSteps);
        }
        if let Some(why) = budget::over_budget(session, task) {
            return Err(budget::stop(task, &why));
        }
        let input = stop::unless_stopped(session, cancel, facts::step_facts(session, task)).await?;
        let words = |text: &str| session.editor.show(Event::Words { text: text.to_owned() });
        let (reply, usage) = tokio::select! {
            answered = session.model.step(&input, &words) => answered,
            () = cancel.cancelled() => return Err(Failure::cancelled()),
            () = budget::out_of_time(session, task.spent) => continue,
        };
        task.usage.add(usage);
        let mut more = Vec::new();
        let changed = task.journal.checkpoints.len() > changes;
        if let Some(ended) = reply.as_ref().ok().and_then(|reply| contract::ends(task, reply, changed)) {
            return Ok(ended);
        }
        let result = match reply {
            Ok(reply) => match reply.action.clone() {
                None => return Ok(Ended::Done { changed, answer: reply.answer }),
                Some(action) => {
                    more.clone_from(&reply.more);
                    let (result, ok) = act(session, task, &action, &reply.reasoning).await;
                    if ok && (!reply.proceed || mended::mended(session, task).await) {
                        return Ok(Ended::Done {
                            changed: task.journal.checkpoints.len() > changes,
                            answer: reply.answer,
                        });
                    }
                    result
                }
            },
            Err(ModelError::Unusable { problems, .. }) => {
                LastResult { tool: "reply".into(), ok: false, text: problems.join("; ") }
            }
            Err(error) => return Err(model_failure(&error)),
        };
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        task.errors = if result.ok { 0 } else { task.errors + 1 };
        let text = result.text.clone();
        task.results.push(result);
        task.course.fresh = 1 + further::look_further(session, task, &more).await;
        let old = task.results.len().saturating_sub(RESULTS.max(task.course.fresh));
        task.results.drain(..old);
        durable::keep_call(session, task).await;
        if task.errors >= session.config.limits.errors {
            return Ok(Ended::TooManyErrors(text));
        }
    }
}

pub(crate) async fn act(session: &Session, task: &mut Task, action: &Action, reasoning: &str) -> (LastResult, bool) {
    let (step, tool) = (task.step, action.tool.clone());
    let target = ["symbol", "path", "fix", "query", "pattern"]
        .iter()
        .find_map(|key| action.parameters.get(*key).and_then(|value| value.as_str()))
        .unwrap_or_default();
    let target = task.offered_title(target).unwrap_or_else(|| target.to_owned());
    let about = format!("{tool} {target}");
    session.editor.show(Event::Acting { step, tool: tool.clone(), target, reasoning: reasoning.to_owned() });
    let edits = task.journal.checkpoints.len();
    let cancel = session.cancelled();
    let ran = async {
        let need = gate::gate(session, task, &tool, &action.parameters).await?;
        answered::run_once(session, task, &tool, &action.parameters, need).await
    };
    let (ok, mut text) = match stop::unless_stopped(session, &cancel, ran).await.and_then(|ran| ran) {
        Ok(answer) => (true, mask(&answer.text).into_owned()),
        Err(failure) => (false, mask(&failure.one_line()).into_owned()),
    };
    if task.journal.checkpoints.len() == edits
        && let Ok(Some(verdict)) = stop::unless_stopped(session, &cancel, change::settle_deferred(session, task)).await
    {
        text = format!("{text}\n{}", answer::deferred(&verdict, &session.config.diagnostics));
    }
    // Of an edit also what it did to the diagnostics: whether what it was for is gone.
    let lines = if task.journal.checkpoints.len() == edits { 1 } else { 2 };
    let came_of_it = answer::clean(&text.lines().take(lines).collect::<Vec<_>>().join("; "));
    let reason = format!("{reasoning} → {}{came_of_it}", if ok { "" } else { "failed: " });
    task.trace.push(step, Trace::new(Effect::Acted, about, session.model.name(), reason));
    session.editor.show(Event::Acted { step, tool: tool.clone(), ok, text: shown(&tool, ok, &text) });
    traces::keep(session).await;
    task.note_acted(action, ok, &text);
    keep::keep(session, task).await;
    (LastResult { tool, ok, text }, ok)
}

/// Carries out an edit of a tool and words the answer.
pub(crate) async fn edit(
    session: &Session,
    task: &mut Task,
    wanted: Vec<Wanted>,
    notes: Vec<String>,
    when: When,
) -> Result<ToolAnswer, Failure> {
    let checks = &session.config.diagnostics;
    let deadline = Deadline::after_ms(checks.timeout_ms);
    let changed = change::change(session, task, wanted, when, deadline).await?;
    let late = std::mem::take(&mut task.late);
    let answer = EditAnswer::of(&changed, checks, &late, notes);
    Ok(ToolAnswer { text: answer.text(), edit: Some(answer) })
}

/// Refuses an edit of a text that the model has seen in another state, and shows it the current one.
pub(crate) fn refuse_stale(task: &mut Task, document: &Document) -> Result<(), Failure> {
    let seen = task.seen.insert(document.path.clone(), document.text.clone());
    let Some(seen) = seen.filter(|seen| *seen != document.text) else { return Ok(()) };
    let index = LineIndex::new(&document.text);
    let changed = hunks(&document.text, &seen);
    let first = changed.first().map_or(0, |edit| index.line_of(edit.range.start));
    let from = first.saturating_sub(3);
    let open = mask(&document.text);
    let current: Vec<&str> = open.lines().skip(from).take(CURRENT_LINES).collect();
    Err(tool_failure(
        format!("{} changed since it was read; nothing was written", document.path),
        format!("from line {} it now reads:\n{}", from + 1, current.join("\n")),
    ))
}

/// The bytes of a symbol in a document.
pub(crate) fn place_in(document: &Document, symbol: &str) -> Result<std::ops::Range<usize>, Failure> {
    let language = crate::symbols::language::of_path(&document.path).ok_or_else(|| {
        tool_failure(format!("{} is in a language without symbols here", document.path), "leave out symbol")
    })?;
    let outline = crate::symbols::outline::Outline::parse(language, &document.text);
    let names = crate::symbols::path::SymbolPath::parse(symbol).names;
    let names = if names.is_empty() { symbol.to_owned() } else { names };
    let index = outline.find(&names).map_err(|missing| {
        tool_failure(
            format!("no single symbol {names} in {}", document.path),
            format!("there is {}", missing.candidates.join(", ")),
        )
    })?;
    Ok(outline.symbols[index].extent.clone())
}

/// Starts a task: shows it, and learns what the providers say about its files before anything changes.
pub(crate) async fn begin(
    session: &Session,
    request: &Request,
    mode: Mode,
    scope: Scope,
    cancel: &CancellationToken,
) -> Result<Task, Failure> {
    session.use_cancel(cancel);
    let current = request.path.as_deref().and_then(|path| session.root.resolve(path).ok());
    let mut task = Task::new(&request.text, mode, current, scope);
    session.use_trace(&task.trace);
    session.note_asked(&task.id, &request.text);
    analyse::analyse_into(session, &mut task).await;
    session.editor.show(Event::Started {
        request: request.text.clone(),
        mode: mode.to_string(),
        model: session.model.name().to_owned(),
    });
    budget::say_what_is_not_counted(session);
    let mut documents = Vec::new();
    for file in task.scope.files() {
        let document = target::document(session, &file).await?;
        if let Some(reason) = &document.locked {
            let error = crate::editor::error::EditorError::Locked { path: file, reason: reason.clone() };
            return Err(error.into());
        }
        documents.push(document);
    }
    look_over::drop_stale(session, &documents).await;
    first_look(session, &documents, cancel).await?;
    if look_over::is_wide(session, &task) {
        let text = "looking over the files of the workspace".to_owned();
        session.editor.show(Event::Progress { text });
        let deadline = Deadline::after_ms(session.config.diagnostics.start_timeout_ms);
        task.reach = Some(look_over::look_over(session, deadline).await);
    }
    let known = look::known(session).await;
    if session.model.needs_providers() && ask::classify(&request.text) == Ask::Repair {
        refuse_blind(&documents, &known)?;
    }
    consent::begin_on_reports(session, &task).await?;
    task.remember_start(&known, false);
    analyse::weigh_named(&mut task, &known).await;
    keep::remember_start(session, &mut task).await;
    risk::tell_risk(session, &mut task, None).await;
    Ok(task)
}

/// A model that lives on the providers' words must not take their silence for "nothing wrong".
fn refuse_blind(documents: &[Document], known: &Snaps) -> Result<(), Failure> {
    // That a text parses says nothing about what it means.
    let said = |path: &str| known.keys().any(|(file, provider)| file == path && provider != syntax::NAME);
    let Some(blind) = documents.iter().find(|document| !said(&document.path)) else { return Ok(()) };
    let hint =
        "attach a language server to it (:checkhealth vim.lsp), or configure a language model (:help sextant-models)";
    Err(Failure::new(Kind::Editor, format!("no language server has said anything about {}", blind.path), hint))
}

pub(crate) async fn first_look(
    session: &Session,
    documents: &[Document],
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    if !session.config.diagnostics.on_edit {
        return Ok(());
    }
    let paths: Vec<String> = documents.iter().map(|document| document.path.clone()).collect();
    let bystanders = look::bystanders(session, &paths).await;
    if documents.is_empty() && bystanders.is_empty() {
        let text = "no file was named and none is open, so nothing is known of diagnostics".to_owned();
        session.editor.show(Event::Progress { text });
    }
    let deadline = Deadline::after_ms(session.config.diagnostics.start_timeout_ms);
    let waiting = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        session.editor.show(Event::Progress { text: "waiting for the language servers".to_owned() });
        std::future::pending::<()>().await;
    };
    let reports = tokio::select! {
        reports = look::ensure_baseline(session, documents, &bystanders, deadline) => reports,
        () = waiting => Vec::new(),
        () = cancel.cancelled() => return Err(Failure::cancelled()),
    };
    for report in reports.iter().filter(|report| !report.freshness.is_fresh()) {
        let why = report.note.as_deref().unwrap_or("no answer in time");
        session.editor.show(Event::Progress {
            text: format!("{} says nothing about {} yet: {why}", report.provider, report.file),
        });
    }
    Ok(())
}

/// What a user sees of a tool's answer: of reading only how much, of editing all.
fn shown(tool: &str, ok: bool, text: &str) -> String {
    let reads = gate::need(tool) == Some(gate::Need::Read);
    if ok && reads { counted(text.lines().count(), "line") } else { text.to_owned() }
}

pub(crate) fn model_failure(error: &ModelError) -> Failure {
    let hint = match error {
        ModelError::Unreachable { .. } => {
            "check base_url and whether the server runs; `provider = \"offline\"` needs none"
        }
        ModelError::Unauthorized { .. } => "check the key and that it belongs to this provider",
        ModelError::Busy { .. } => "try again later, or use another model",
        ModelError::Rejected { .. } => "check the model's name and the provider in the configuration",
        ModelError::Cut { .. } | ModelError::Stalled { .. } => "try again; what was finished is kept",
        ModelError::Unusable { .. } => "try again, or use a model that can answer in JSON",
    };
    Failure::new(Kind::Model, error.to_string(), hint)
}
