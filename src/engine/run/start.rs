//! Starts a task: shows it, and learns the providers' reports on its files before anything changes.

use tokio_util::sync::CancellationToken;

use crate::diagnostics::{collect_diagnostics, look_before, outside_look, reported, workspace_look};
use crate::durable::stored_review;
use crate::edit::{file_ownership, permissions, review_texts};
use crate::editor::Document;
use crate::editor::event::{Event, WaitPhase};
use crate::memory::keep;
use crate::plan::work_mode::Mode;
use crate::run::{quickfix_lists, repair_scope, request_names, widen_scope};
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::request::Request;
use crate::state::review::workspace_review::ReviewNote;
use crate::state::risk;
use crate::state::snapshots::Snapshots;
use crate::state::span;
use crate::state::task::{AskedPlace, Task, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::{target, task_budget};
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_diagnostics::syntax;
use sextant_model::request_kind::{self, Ask};
use sextant_model::step::Model;

/// Starts a task: shows it, and learns the providers' reports on its files before anything changes.
pub(crate) async fn begin(
    edits: &EditService,
    model: &dyn Model,
    request: &Request,
    mode: Mode,
    scope: Scope,
    cancel: &CancellationToken,
) -> Result<Task, Failure> {
    edits.hub.use_cancel(cancel);
    let current = request.path.as_deref().and_then(|path| edits.workspace.root.resolve(path).ok());
    let mut task = Task::new(&request.text, mode, current, scope);
    task.work.intent.place =
        AskedPlace { cursor: cursor(&edits.workspace, request).await, entry: request.entry.clone() };
    task.work.take_up(&edits.hub.events);
    span::belongs_to(&task);
    edits.store.note_asked(&task.work.journal.task, &request.text);
    request_names::analyse_into(&edits.workspace, &mut task.work.intent, &task.work.request).await;
    widen_scope::widen(&edits.workspace, &edits.hub.events, &mut task.work).await;
    repair_scope::narrow(&edits.workspace, model.needs_providers(), &mut task.work).await;
    edits.hub.events.show(Event::Started {
        request: request.text.clone(),
        mode: mode.to_string(),
        model: model.name().to_owned(),
    });
    task_budget::say_what_is_not_counted(&edits.store, model);
    let documents = documents(&edits.workspace, &task.work, &request.text).await?;
    if matches!(request_kind::classify(&request.text), Ask::Repair | Ask::Work) {
        // Nobody has to pay for a reply that cannot be carried out.
        file_ownership::check_task(edits, &task.work.scope.files()).await?;
    }
    workspace_look::drop_stale(&edits.hub, &documents).await;
    first_look(&edits.hub, &documents, cancel).await?;
    quickfix_lists::follow(edits).await;
    look_over_once(edits, model, &mut task.work).await;
    let known = collect_diagnostics::known(&edits.hub).await;
    if model.needs_providers() && request_kind::classify(&request.text) == Ask::Repair {
        refuse_blind(&documents, &known)?;
    }
    permissions::begin_on_reports(&edits.hub, &task).await?;
    widen_scope::widen_to_codes(&mut task.work, &known).await;
    task.work.remember_start(&known, false);
    outside_look::enter(&edits.hub, &mut task.work.reports).await;
    request_names::weigh_named(&task.work.events, &task.work.request, &mut task.work.intent.analysis, &known).await;
    review_texts::take_in(edits).await;
    if !model.needs_providers() {
        // A model that only applies offers reads no remarks.
        task.work.intent.review = edits.store.review.take_notes().iter().map(ReviewNote::line).collect();
    }
    stored_review::save(&edits.store.review).await;
    keep::remember_start(&edits.store, &task.work.events, &task.work.request).await;
    tell_risk(&edits.hub, &mut task.work, None).await;
    Ok(task)
}

/// The files of a task as they are now: those in its scope, and those that its question is about.
async fn documents(workspace: &Workspace, work: &TaskWork, request: &str) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    let of_scope = work.scope.files();
    for file in work.intent.analysis.read(&work.scope).files() {
        let in_scope = of_scope.contains(&file);
        // A look at a file may have to wait for a server.
        if !in_scope && !request_kind::speaks_of_reports(request) {
            continue;
        }
        let document = match target::document(workspace, &file).await {
            Err(_) if !in_scope || work.intent.analysis.new_files.contains(&file) => continue,
            read => read?,
        };
        if in_scope && let Some(reason) = &document.locked {
            let error = crate::editor::editor_error::EditorError::Locked { path: file, reason: reason.clone() };
            return Err(error.into());
        }
        documents.push(document);
    }
    Ok(documents)
}

/// Looks over the workspace, if the task is about its reports and this process has not looked yet.
pub(crate) async fn look_over_once(edits: &EditService, model: &dyn Model, work: &mut TaskWork) {
    let is_wide = workspace_look::is_wide(&edits.workspace.config, model.needs_providers(), work);
    if !is_wide || work.reports.reach.is_some() {
        return;
    }
    let text = "looking over the files of the workspace".to_owned();
    edits.hub.events.show(Event::Progress { text });
    let deadline = Deadline::after_ms(edits.workspace.config.diagnostics.start_timeout_ms);
    work.reports.reach = Some(workspace_look::look_over(&edits.hub, deadline).await);
}

/// The line that the user is on, with its text; empty where the request is about no single line.
async fn cursor(workspace: &Workspace, request: &Request) -> String {
    let (Some(path), Some((first, last))) = (&request.path, request.lines) else { return String::new() };
    let Ok(document) = target::document(workspace, path).await else { return String::new() };
    let line = document.text.lines().nth(first.saturating_sub(1)).unwrap_or_default().trim().to_owned();
    match (first == last, line.is_empty()) {
        (true, true) => format!("line {first}, an empty one"),
        (true, false) => format!("line {first}: {line}"),
        (false, _) => format!("lines {first} to {last}, the first: {line}"),
    }
}

/// Refuses a model that depends on the providers' reports where there are none. It must not take their silence for
/// "nothing wrong".
pub(crate) fn refuse_blind(documents: &[Document], known: &Snapshots) -> Result<(), Failure> {
    let Some(blind) = documents.iter().find(|document| !has_reports(known, &document.path)) else { return Ok(()) };
    let hint = "attach a language server to it, repeat the request once an attached one has loaded, or configure a \
                language model";
    let hint = Hint::from(hint).and(HintCode::Servers);
    Err(Failure::new(FailureKind::Editor, format!("no language server has said anything about {}", blind.path), hint))
}

/// True if a provider has reported on a file. A syntax check alone does not judge the meaning of a text.
pub(crate) fn has_reports(known: &Snapshots, path: &str) -> bool {
    known.keys().any(|(file, provider)| file == path && provider != syntax::NAME)
}

pub(crate) async fn first_look(
    hub: &DiagnosticsHub,
    documents: &[Document],
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    if !hub.workspace.config.diagnostics.on_edit {
        return Ok(());
    }
    let paths: Vec<String> = documents.iter().map(|document| document.path.clone()).collect();
    let bystanders = collect_diagnostics::bystanders(hub.workspace.editor.as_ref(), &hub.looked, &paths).await;
    if documents.is_empty() && bystanders.is_empty() {
        let text = "no file was named and none is open, so nothing is known of diagnostics".to_owned();
        hub.events.show(Event::Progress { text });
    }
    hub.events.show(Event::Phase { phase: WaitPhase::Servers, detail: String::new(), tokens: 0 });
    let deadline = Deadline::after_ms(collect_diagnostics::first_look_ms(hub).await);
    let look = async {
        collect_diagnostics::let_go(hub).await;
        look_before::ensure_baseline(hub, documents, &bystanders, deadline).await
    };
    let reports = tokio::select! {
        reports = collect_diagnostics::waiting(&hub.events, look) => reports,
        () = cancel.cancelled() => return Err(Failure::cancelled()),
    };
    for report in reports.iter().filter(|report| !report.freshness.is_fresh()) {
        let why = report.note.as_deref().unwrap_or("no answer in time");
        hub.events.show(Event::Progress {
            text: format!("{} says nothing about {} yet: {why}", report.provider, report.file),
        });
    }
    Ok(())
}

/// Assesses a task and shows it; again with the steps of its plan, once there is one.
pub(crate) async fn tell_risk(hub: &DiagnosticsHub, work: &mut TaskWork, plan_steps: Option<usize>) {
    // An answer costs and breaks nothing.
    if plan_steps.is_none() && request_kind::is_plain_question(&work.request) {
        return;
    }
    let risk = risk::assess(&work.request, &work.scope, reported::count_in_scope(hub, &work.scope).await, plan_steps);
    tracing::info!(?risk, "the risk of a task");
    hub.events.show(Event::Risk {
        level: risk.level.to_string(),
        steps: risk.estimated_steps,
        complexity: risk.complexity,
        confidence: risk.confidence,
        reasons: risk.reasons.clone(),
        line: risk::line(&risk),
    });
    work.intent.risk = Some(risk);
}
