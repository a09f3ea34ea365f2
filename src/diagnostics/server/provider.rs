//! The server as a `DiagnosticsProvider`: one settling a file, shared by all callers, and the late answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tracing::Instrument;

use crate::model::{DiagnosticsProvider, FileText, Freshness, Reach, Report};
use crate::server::server_client::{PullMethod, ServerConnection};
use crate::server::settle::{self, NoAnswer};
use crate::server::{Inner, LanguageServer, ServerPhase, compile_check, saves, supervise};
use crate::server_facts::{LATE, PERHAPS_SAVED_ONLY};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;

/// The reason why a replaced text has no diagnostics.
const CHANGED: &str = "the text changed meanwhile";

/// A settling that runs or has ended. It goes on after its first deadline, for the late answer.
#[derive(Debug)]
pub(crate) struct Settling {
    id: u64,
    /// The state of all files in the request; a later request after a change needs a new one.
    epoch: u64,
    version: i64,
    task: AbortHandle,
    result: watch::Receiver<Option<Report>>,
    /// The callers that wait for it now. If it ends without one, its answer is late.
    waiting: usize,
}

impl Settling {
    pub(crate) fn abort(&self) {
        self.task.abort();
    }
}

#[async_trait]
impl DiagnosticsProvider for LanguageServer {
    fn name(&self) -> &str {
        &self.inner.source
    }

    fn languages(&self) -> &[String] {
        &self.inner.config.languages
    }

    fn reach(&self) -> Reach {
        match &*self.inner.phase.borrow() {
            ServerPhase::Running(run) => run.reach(),
            _ => Reach::Project,
        }
    }

    async fn fetch(&self, files: &[FileText], deadline: Deadline) -> Vec<Report> {
        let covered: Vec<FileText> = files.iter().filter(|file| self.covers(&file.path)).cloned().collect();
        if covered.is_empty() {
            return Vec::new();
        }
        let mut versions = Vec::new();
        // The versions are read under the same lock: another caller may bring another text a moment later.
        self.inner.tell(|documents| {
            let notices = documents.sync(&covered);
            versions = covered.iter().map(|file| documents.get(&file.path).map(|known| known.version)).collect();
            notices
        });
        supervise::start(&self.inner);
        let questions = covered.iter().zip(versions);
        let asked = questions.map(|(file, version)| one(&self.inner, &file.path, version, deadline));
        let paths = Arc::new(covered.iter().map(|file| file.path.clone()).collect());
        let compiled = covered.iter().map(|file| compile_check::reports(&self.inner, &file.path, &paths, deadline));
        let (mut reports, compiled) =
            futures::join!(futures::future::join_all(asked), futures::future::join_all(compiled));
        reports.extend(compiled.into_iter().flatten());
        reports
    }
}

impl LanguageServer {
    /// The report of a request that could not be sent before the deadline.
    pub fn unasked(&self, path: &str, deadline: Deadline) -> Report {
        let note = "it was busy with another question".to_owned();
        self.inner.nothing(path, Freshness::Timeout, note, deadline.elapsed_ms())
    }
}

/// Waits for the settling of one file, begun by this call or by an earlier one about the same state.
async fn one(inner: &Arc<Inner>, path: &str, version: Option<i64>, deadline: Deadline) -> Report {
    let Some(version) = version else {
        let note = "the path has no URI".to_owned();
        return inner.nothing(path, Freshness::Unavailable, note, deadline.elapsed_ms());
    };
    let report = loop {
        let Some((id, mut result)) = join(inner, path, version) else {
            break inner.nothing(path, Freshness::Timeout, CHANGED.to_owned(), deadline.elapsed_ms());
        };
        let mut waiter = Waiter { inner, path, id, waits: true };
        // An error means that another caller replaced the settling, after a change of another file.
        let replaced = tokio::select! {
            biased;
            outcome = result.wait_for(Option::is_some) => outcome.is_err(),
            () = inner.observed.patience.end(deadline) => false,
        };
        // Under the lock that the settling takes to end: its report is either here now or will be late.
        let report = {
            let mut settling = lock(&inner.settling);
            waiter.leave(&mut settling);
            result.borrow().clone()
        };
        match report {
            Some(report) => break report,
            None if replaced && !deadline.passed() => {}
            None => break silent(inner, path, deadline.elapsed_ms()).await,
        }
    };
    Report { elapsed_ms: deadline.elapsed_ms(), wanted_version: Some(version), ..report }
}

/// One waiting caller of a settling; a caller that goes away is no longer counted, and the answer will be late.
struct Waiter<'a> {
    inner: &'a Inner,
    path: &'a str,
    id: u64,
    /// True if it is still counted.
    waits: bool,
}

impl Waiter<'_> {
    fn leave(&mut self, settling: &mut HashMap<String, Settling>) {
        self.waits = false;
        if let Some(known) = settling.get_mut(self.path).filter(|known| known.id == self.id) {
            known.waiting = known.waiting.saturating_sub(1);
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if self.waits {
            let inner = self.inner;
            self.leave(&mut lock(&inner.settling));
        }
    }
}

async fn silent(inner: &Inner, path: &str, elapsed_ms: u64) -> Report {
    let phase = inner.phase.borrow().clone();
    let (freshness, note) = match phase {
        ServerPhase::Pausing(reason) => (Freshness::Unavailable, format!("{reason}; it is being started again")),
        ServerPhase::Ended(reason) => (Freshness::Unavailable, reason),
        ServerPhase::Idle | ServerPhase::Starting => {
            (Freshness::Timeout, format!("still starting after {elapsed_ms} ms"))
        }
        ServerPhase::Running(run) if may_wait_for_a_save(inner, &run) && !inner.is_saved(path).await => {
            (Freshness::Unavailable, PERHAPS_SAVED_ONLY.to_owned())
        }
        ServerPhase::Running(_) => (Freshness::Timeout, format!("no answer for this text within {elapsed_ms} ms")),
    };
    inner.nothing(path, freshness, note, elapsed_ms)
}

/// True if its silence on an unsaved text may be its habit.
fn may_wait_for_a_save(inner: &Inner, run: &ServerConnection) -> bool {
    let spoken = inner.observed.speaks_unsaved.load(Ordering::Relaxed);
    run.way() == PullMethod::Push && saves::hears_of_saves(&run.capabilities) && !spoken
}

/// `None` if the file has moved on from the version.
fn join(inner: &Arc<Inner>, path: &str, version: i64) -> Option<(u64, watch::Receiver<Option<Report>>)> {
    let mut settling = lock(&inner.settling);
    let epoch = {
        let documents = lock(&inner.documents);
        documents.get(path).filter(|known| known.version == version)?;
        documents.epoch
    };
    // A second request replaces the answer that waits for delivery by a newer one.
    inner.late.supersede(path, &inner.source);
    let last = settling.get_mut(path);
    if let Some(known) = last
        && known.result.borrow().is_none()
        && (known.epoch, known.version) == (epoch, version)
        && !known.task.is_finished()
    {
        known.waiting += 1;
        return Some((known.id, known.result.clone()));
    }
    let id = settling.get(path).map_or(0, |known| known.id + 1);
    let (sender, result) = watch::channel(None);
    // The lock is held until the entry stands, so that a task that ends at once finds it.
    let task =
        tokio::spawn(run(Arc::clone(inner), path.to_owned(), id, version, sender).in_current_span()).abort_handle();
    let entry = Settling { id, epoch, version, task, result: result.clone(), waiting: 1 };
    if let Some(superseded) = settling.insert(path.to_owned(), entry) {
        superseded.abort();
    }
    Some((id, result))
}

async fn run(inner: Arc<Inner>, path: String, id: u64, version: i64, sender: watch::Sender<Option<Report>>) {
    let start = Instant::now();
    let elapsed = || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let outcome = tokio::time::timeout(LATE, settle::settle(&inner, &path, version)).await;
    if let Ok(Ok(_)) = outcome {
        inner.observed.patience.spoke();
    }
    let text = lock(&inner.documents).get(&path).filter(|known| known.version == version).map(|k| Arc::clone(&k.text));
    let report = match (outcome, text) {
        (Ok(Ok(answer)), Some(text)) => {
            // On a thread of its own: a server may send thousands, which must not delay others.
            let (inner, path, ms) = (Arc::clone(&inner), path.clone(), elapsed());
            let report =
                tokio::task::spawn_blocking(move || inner.report(&inner.source, &path, &answer, &text, ms)).await;
            let Ok(report) = report else { return };
            report
        }
        (Ok(Err(NoAnswer::Unavailable(reason))), _) => inner.nothing(&path, Freshness::Unavailable, reason, elapsed()),
        (Ok(Ok(_) | Err(NoAnswer::Superseded)), _) => {
            inner.nothing(&path, Freshness::Timeout, CHANGED.to_owned(), elapsed())
        }
        (Err(_), _) => inner.nothing(&path, Freshness::Timeout, "no answer at all".into(), elapsed()),
    };
    let mut settling = lock(&inner.settling);
    if let Some(known) = settling.get_mut(&path).filter(|known| known.id == id) {
        if known.waiting == 0 && report.version.is_some() {
            inner.late.keep(report.clone());
        }
        sender.send_replace(Some(report));
    }
    drop(settling);
    inner.bump();
}
