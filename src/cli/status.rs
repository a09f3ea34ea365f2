//! `sextant status`, `watch` and `stop`: shows the work of a workspace's session, once or as it happens, or stops it.

use crate::cli::exit_status::CommandStatus;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::headless_run::{self, Where};
use crate::cli::join::{self, SessionOption};
use crate::cli::printing::Printer;
use crate::cli::terminal;
use sextant_base::clock::now_ms;
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::{Delivery, Event, EventEnvelope, StreamState, TaskEvent};
use sextant_serve::rpc::api::session_api::SessionInfo;
use sextant_serve::rpc::rpc_client::JoinedSession;

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    session: SessionOption,
}

#[derive(Clone, Copy)]
enum StatusWish {
    Status,
    Watch,
    Stop,
}

pub(super) fn status(arguments: &StatusArguments) -> CommandStatus {
    run(arguments, StatusWish::Status)
}

pub(super) fn watch(arguments: &StatusArguments) -> CommandStatus {
    run(arguments, StatusWish::Watch)
}

pub(super) fn stop(arguments: &StatusArguments) -> CommandStatus {
    run(arguments, StatusWish::Stop)
}

fn run(arguments: &StatusArguments, wish: StatusWish) -> CommandStatus {
    let ended = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let ended = runtime.block_on(answer(arguments, wish));
            runtime.shutdown_timeout(Duration::from_millis(100));
            ended
        }
        Err(error) => Err(Failure::new(FailureKind::Internal, format!("no runtime: {error}"), "free some memory")),
    };
    match ended {
        Ok(()) => CommandStatus::Done,
        Err(failure) => {
            headless_run::fail(&failure, arguments.place.json);
            CommandStatus::NotDone
        }
    }
}

async fn answer(arguments: &StatusArguments, wish: StatusWish) -> Result<(), Failure> {
    let (_, root) = arguments.place.find()?;
    let session = join::running(&arguments.session, &root).await?;
    let as_json = arguments.place.json;
    let Some(session) = session else {
        if matches!(wish, StatusWish::Status) {
            if as_json {
                terminal::json(&json!({"session": null}));
            } else {
                terminal::line(&format!("No session runs in {}.", root.path().display()));
            }
            return Ok(());
        }
        let message = format!("no session runs in {}", root.path().display());
        return Err(Failure::user(message, "`sextant sessions` lists those of other workspaces"));
    };
    match wish {
        StatusWish::Status => {
            let info = session.info().await?;
            if as_json {
                terminal::json(&serde_json::to_value(&info).unwrap_or_default());
            } else {
                terminal::line(&words(&info));
            }
            Ok(())
        }
        StatusWish::Watch => look_on(&session, as_json).await,
        StatusWish::Stop => {
            let stopped = session.cancel().await?;
            if as_json {
                terminal::json(&json!({"stopped": stopped}));
            } else {
                terminal::line(if stopped { "Stopped. What was finished is kept." } else { "Nothing is running." });
            }
            Ok(())
        }
    }
}

/// A session for a reader.
fn words(info: &SessionInfo) -> String {
    let entry = &info.session;
    let mut lines = vec![format!("{} in {} (process {}, {})", entry.name, entry.root.display(), entry.pid, info.model)];
    match &info.running {
        Some(task) => {
            let seconds = now_ms().saturating_sub(task.since).max(0) / 1000;
            lines.push(format!("running for {seconds} s, begun by {}: {}", task.by, task.what));
        }
        None => lines.push("nothing is running".to_owned()),
    }
    lines.extend(stands(&info.state));
    lines.join("\n")
}

/// The lines that a late reader should know.
fn stands(state: &StreamState) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(work) = &state.work {
        lines.push(format!("last request: {} ({})", work.request, work.mode));
    }
    if let Some(Event::Plan { phase, steps, done, failed, .. }) = &state.plan {
        lines.push(format!("plan: {phase}, {done} of {steps} done, {failed} failed"));
    }
    if let Some(Event::Question { text, .. }) = &state.question {
        lines.push(format!("it asks: {text}"));
    }
    if let Some(Event::Introduced { entries, .. }) = &state.introduced {
        lines.push(format!("listed diagnostics: {}", entries.len()));
    }
    lines
}

/// Prints the events, until the session or this command ends.
async fn look_on(session: &Arc<JoinedSession>, as_json: bool) -> Result<(), Failure> {
    let info = session.info().await?;
    let mut events = session.events(Some(info.state.seq)).await?;
    let mut printer = Printer::new(false);
    if as_json {
        terminal::json(&serde_json::to_value(&info).unwrap_or_default());
    } else {
        terminal::line(&words(&info));
    }
    while let Some(delivery) = events.next().await {
        if as_json {
            terminal::json(&serde_json::to_value(&delivery).unwrap_or_default());
            continue;
        }
        match delivery {
            Delivery::Event(EventEnvelope { event: TaskEvent::Shown { event }, .. }) => printer.print(event),
            Delivery::Event(EventEnvelope { event: TaskEvent::TurnBegan { by }, .. }) => {
                terminal::line(&format!("— {by}"));
            }
            Delivery::Event(_) => {}
            Delivery::Resync(resync) => {
                terminal::line("… some of what happened was too much and is left out");
                stands(&resync.state).iter().for_each(|line| terminal::line(line));
            }
        }
    }
    terminal::line("the session has ended");
    Ok(())
}
