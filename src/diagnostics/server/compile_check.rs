//! The part of a server's diagnostics that its compiler finds in the saved files: rust-analyzer runs `cargo check` after
//! a save, and its answers to a pull leave that out.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use tracing::Instrument;

use crate::model::{Freshness, Report};
use crate::server::Inner;
use crate::server::compile_runs::{CompileRun, CompileRuns};
use crate::server::compiled_elsewhere;
use crate::server::documents::DocumentNotice;
use crate::server::server_client::{PullMethod, ServerConnection};
use crate::server::settle::{self, NoAnswer, SettledAnswer};
use crate::server_facts::{COMPILER, Fact, LATE, NOT_COMPILED, NOT_REACHED, OTHER_UNSAVED, SAVED_ONLY};
use crate::{cargo_units, disk};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;

/// The wait for a run that the server starts by itself: the begin was measured 70 to 110 ms after the save.
const OWN_RUN: Duration = Duration::from_millis(400);

/// The wait after the end of a run, which may have been cancelled for another: rust-analyzer begins that one after a
/// pause of 50 ms (`ra_ap_rust-analyzer` 0.0.349, `flycheck.rs`).
const NEXT_RUN: Duration = Duration::from_millis(200);

/// The report on one of the asked files, and on files that nobody asked about; empty where no compiler runs beside the
/// server. What comes after the deadline is late.
pub(super) async fn reports(
    inner: &Arc<Inner>,
    path: &str,
    asked: &Arc<Vec<String>>,
    deadline: Deadline,
) -> Vec<Report> {
    let run = tokio::select! {
        run = settle::running(inner) => run.ok(),
        () = inner.observed.patience.end(deadline) => None,
    };
    let Some(run) = run.filter(|run| run.knows(Fact::CompilesBeside)) else { return Vec::new() };
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let (server, file, asked) = (Arc::clone(inner), path.to_owned(), Arc::clone(asked));
    let asking = async move {
        let compiled = tokio::time::timeout(LATE, compiled(&server, &run, &file, deadline)).await;
        let mut reports = vec![compiled.unwrap_or_else(|_| nothing(&server, &file, NoAnswer::Superseded, deadline))];
        if reports[0].freshness.is_fresh() {
            reports.extend(compiled_elsewhere::reports(&server, &run, &asked).await);
        }
        if let Err(reports) = sender.send(reports)
            && reports[0].version.is_some()
        {
            reports.into_iter().for_each(|report| server.late.keep(report));
            server.bump();
        }
    };
    tokio::spawn(asking.in_current_span());
    let reports = tokio::select! {
        reports = receiver => reports.ok(),
        () = inner.observed.patience.end(deadline) => None,
    };
    reports.unwrap_or_else(|| vec![nothing(inner, path, NoAnswer::Superseded, deadline)])
}

pub(super) fn source(inner: &Inner) -> String {
    format!("{}{COMPILER}", inner.source)
}

fn nothing(inner: &Inner, path: &str, why: NoAnswer, deadline: Deadline) -> Report {
    let (freshness, note) = match why {
        NoAnswer::Unavailable(reason) => (Freshness::Unavailable, reason),
        NoAnswer::Superseded => (Freshness::Timeout, NOT_COMPILED.to_owned()),
    };
    let report = inner.nothing(path, freshness, note, deadline.elapsed_ms());
    Report { provider: source(inner), ..report }
}

/// Waits for a run that has read the file as it is.
async fn compiled(inner: &Inner, run: &Arc<ServerConnection>, path: &str, deadline: Deadline) -> Report {
    if run.way() != PullMethod::Pull {
        // Its publishes have both parts.
        return nothing(inner, path, NoAnswer::Unavailable(NOT_COMPILED.to_owned()), deadline);
    }
    match settle(inner, run, path).await {
        Ok((answer, text)) => inner.report(&source(inner), path, &answer, &text, deadline.elapsed_ms()),
        Err(why) => nothing(inner, path, why, deadline),
    }
}

async fn settle(inner: &Inner, run: &Arc<ServerConnection>, path: &str) -> Result<(SettledAnswer, Arc<str>), NoAnswer> {
    let mut news = inner.news.subscribe();
    let mut ask_at = Instant::now() + OWN_RUN;
    loop {
        news.borrow_and_update();
        refuse_unsaved(inner, path).await?;
        if let Some(done) = proof(inner, path).await {
            let ended = done.ended.map_or_else(Instant::now, Instant::from_std);
            tokio::time::sleep_until(ended + NEXT_RUN).await;
            if let Some(answer) = take(inner, run, path, &done).await? {
                return Ok(answer);
            }
            continue;
        }
        // A server that loads starts a run by itself at the end.
        let may_ask = inner.observed.mood.at_rest() && !lock(&inner.observed.compiler).is_running();
        let own_run_over = async {
            if !may_ask {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep_until(ask_at).await;
        };
        tokio::select! {
            reason = run.connection.reason() => return Err(NoAnswer::Unavailable(reason)),
            changed = news.changed() => changed.map_err(|_| NoAnswer::Superseded)?,
            () = own_run_over => {
                ask_for_run(inner, run, path);
                // A run that reports nothing is asked for another time.
                ask_at = Instant::now() + OWN_RUN;
            }
        }
    }
}

/// Fails if the disk has another text of this file, or of another that is open.
async fn refuse_unsaved(inner: &Inner, path: &str) -> Result<(), NoAnswer> {
    if !inner.is_saved(path).await {
        return Err(NoAnswer::Unavailable(SAVED_ONLY.to_owned()));
    }
    match inner.unsaved_beside(path, |_| true).await {
        Some(other) => Err(NoAnswer::Unavailable(OTHER_UNSAVED.replace("{file}", &other))),
        None => Ok(()),
    }
}

/// The run that has read the saved files as they are.
async fn proof(inner: &Inner, path: &str) -> Option<CompileRun> {
    let edits = lock(&inner.documents).edits;
    let last = {
        let compiler = lock(&inner.observed.compiler);
        let is_proof = |run: &&CompileRun| run.edits >= edits && !compiler.may_be_cancelled();
        compiler.last().filter(is_proof).filter(|_| inner.observed.mood.at_rest()).cloned()?
    };
    let written = tokio::fs::metadata(inner.root.join(path)).await.and_then(|file| file.modified()).ok()?;
    (written <= last.began).then_some(last)
}

/// Takes the diagnostics of the run. The server sends them within one turn of its loop, some after the end of the run:
/// the answer to a request that was sent after that end comes after all of them.
async fn take(
    inner: &Inner,
    run: &Arc<ServerConnection>,
    path: &str,
    done: &CompileRun,
) -> Result<Option<(SettledAnswer, Arc<str>)>, NoAnswer> {
    let (uri, version, text) = {
        let documents = lock(&inner.documents);
        let document = documents.get(path).ok_or(NoAnswer::Superseded)?;
        (document.uri.clone(), document.version, Arc::clone(&document.text))
    };
    settle::round_trip(run, &uri, LATE).await.map_err(NoAnswer::Unavailable)?;
    if proof(inner, path).await.as_ref() != Some(done) || !disk::has(&inner.root.join(path), &text).await {
        return Ok(None);
    }
    let compiler = lock(&inner.observed.compiler);
    match compiler.failure().or_else(|| not_reached(inner, &compiler, path)) {
        Some(failure) => Err(NoAnswer::Unavailable(failure)),
        None => {
            let items = Arc::new(compiler.items(&uri));
            let answer = SettledAnswer { freshness: Freshness::Versioned, version, items, run: Arc::clone(run) };
            Ok(Some((answer, text)))
        }
    }
}

/// The reason why the file was left out: another part of the project has an error, and this one has not been heard of.
pub(super) fn not_reached(inner: &Inner, compiler: &CompileRuns, path: &str) -> Option<String> {
    let file = |uri| sextant_base::path::relative_or_absolute(&inner.root, &sextant_base::path::from_uri(uri)?);
    let filled: Vec<(String, bool)> =
        compiler.filled().filter_map(|(uri, is_error)| Some((file(uri)?, is_error))).collect();
    let (broken, _) = filled.iter().find(|(_, is_error)| *is_error)?;
    let is_heard_of = cargo_units::has_read(&inner.root, filled.iter().map(|(file, _)| file.as_str()), path);
    let is_checked = || cargo_units::target(&inner.root, path).is_some_and(|target| compiler.has_checked(&target));
    (!is_heard_of && !is_checked()).then(|| NOT_REACHED.replace("{file}", broken))
}

/// Asks for a run where the server starts none by itself: no save, or a file that another program has written.
fn ask_for_run(inner: &Inner, run: &ServerConnection, path: &str) {
    let documents = lock(&inner.documents);
    if let Some(uri) = documents.get(path).map(|document| document.uri.clone())
        && lock(&inner.observed.compiler).is_wanted(documents.edits)
    {
        let params = json!({"textDocument": {"uri": uri}});
        run.connection.send_notice(&DocumentNotice { method: "rust-analyzer/runFlycheck", params });
    }
}
