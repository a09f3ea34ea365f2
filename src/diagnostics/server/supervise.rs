//! The life of a server over its processes: started by the first request, started again, ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lsp_types::{
    DidChangeConfigurationNotification, DidChangeConfigurationParams, ExitNotification, InitializedNotification,
    InitializedParams, ShutdownRequest,
};

use crate::server::restart::{Deaths, Next};
use crate::server::server_client::{self, ServerConnection};
use crate::server::{Inner, LanguageServer, ServerPhase};
use crate::server_facts::Fact;
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;

/// The time for a server to end by itself once it answered `shutdown`.
const EXIT: Duration = Duration::from_millis(500);

/// Starts the server unless it is started already.
pub(super) fn start(inner: &Arc<Inner>) {
    let first = inner.phase.send_if_modified(|phase| {
        let idle = matches!(phase, ServerPhase::Idle);
        if idle {
            *phase = ServerPhase::Starting;
        }
        idle
    });
    if first {
        tokio::spawn(supervise(Arc::clone(inner)));
    }
}

async fn supervise(inner: Arc<Inner>) {
    let mut stop = inner.stop.subscribe();
    let stopped = tokio::select! {
        reason = live(&inner) => reason,
        _ = stop.wait_for(|stop| *stop) => "it was shut down".to_owned(),
    };
    let last = inner.phase.send_replace(ServerPhase::Ended(stopped));
    if let ServerPhase::Running(run) = last {
        run.connection.kill("it was shut down");
    }
    inner.bump();
}

/// Runs one process after the other; returns the reason why there will be no other.
async fn live(inner: &Arc<Inner>) -> String {
    let mut deaths = Deaths::default();
    for number in 1.. {
        inner.run.store(number, Ordering::SeqCst);
        inner.phase.send_replace(ServerPhase::Starting);
        let reason = match server_client::start(inner, number).await {
            Ok(run) => {
                let run = Arc::new(run);
                introduce(inner, &run);
                run.connection.reason().await
            }
            Err(error) if error.fatal => return error.reason,
            Err(error) => error.reason,
        };
        if *inner.stop.borrow() {
            return reason;
        }
        tracing::warn!(server = inner.config.name, reason, "language server died");
        match deaths.record(Instant::now()) {
            Next::GiveUp => return format!("it died 4 times in a minute and was given up; the last time {reason}"),
            Next::Again(pause) => {
                inner.phase.send_replace(ServerPhase::Pausing(reason));
                inner.bump();
                tokio::time::sleep(pause).await;
            }
        }
    }
    String::new()
}

/// Gives a new process the full state of its predecessors.
fn introduce(inner: &Inner, run: &Arc<ServerConnection>) {
    let mut documents = lock(&inner.documents);
    documents.by_range = run.knows(Fact::ChangesByRange).then_some(run.encoding);
    documents.keeps_headers = run.knows(Fact::Preamble);
    documents.looks_once = run.knows(Fact::LooksOnce);
    run.connection.notify::<InitializedNotification>(&InitializedParams {});
    if !inner.config.settings.is_null() {
        let params = DidChangeConfigurationParams { settings: inner.config.settings.clone() };
        run.connection.notify::<DidChangeConfigurationNotification>(&params);
    }
    for notice in documents.reopen() {
        run.connection.send_notice(&notice);
    }
    inner.phase.send_replace(ServerPhase::Running(Arc::clone(run)));
    inner.bump();
}

impl LanguageServer {
    /// Sends the settings again. pyright looks for its files of settings only then: one that has come is not watched.
    pub fn configure_again(&self) {
        if let ServerPhase::Running(run) = &*self.inner.phase.borrow() {
            let params = DidChangeConfigurationParams { settings: self.inner.config.settings.clone() };
            run.connection.notify::<DidChangeConfigurationNotification>(&params);
        }
    }

    /// Starts the server, and returns the name that it gives itself in the handshake, in lower case.
    ///
    /// # Errors
    /// The reason why there is no handshake, with the last words of the server.
    pub async fn greet(&self, deadline: Deadline) -> Result<String, String> {
        start(&self.inner);
        let mut phase = self.inner.phase.subscribe();
        let is_known = |phase: &ServerPhase| !matches!(phase, ServerPhase::Idle | ServerPhase::Starting);
        let wait = tokio::time::timeout(deadline.left(), phase.wait_for(is_known));
        let late = || format!("it does not answer within {} s", deadline.elapsed_ms() / 1000);
        let known = wait.await.ok().and_then(Result::ok).map(|phase| phase.clone()).ok_or_else(late)?;
        match known {
            ServerPhase::Running(run) => Ok(run.own_name().to_owned()),
            ServerPhase::Pausing(reason) | ServerPhase::Ended(reason) => Err(reason),
            ServerPhase::Idle | ServerPhase::Starting => Err(late()),
        }
    }

    /// Ends the server: `shutdown` and `exit`, and past the deadline by force.
    pub async fn shutdown(&self, deadline: Deadline) {
        let running = match &*self.inner.phase.borrow() {
            ServerPhase::Running(run) => Some(Arc::clone(run)),
            _ => None,
        };
        if let Some(run) = running {
            // A mute server gets no request to leave.
            let mute = self.inner.observed.patience.is_mute();
            if !mute && run.connection.request::<ShutdownRequest>(&(), deadline.left()).await.is_ok() {
                run.connection.notify::<ExitNotification>(&());
                // Past this time it is killed below.
                let _ = tokio::time::timeout(EXIT.min(deadline.left()), run.connection.reason()).await;
            }
            self.inner.stop.send_replace(true);
            run.connection.kill("it was shut down");
            run.connection.reason().await;
        }
        self.inner.stop.send_replace(true);
    }
}
