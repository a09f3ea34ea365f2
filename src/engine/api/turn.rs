//! Decides whose turn it is: one task at a time, from any door. Every other caller gets a clear error meanwhile.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio_util::sync::CancellationToken;

use crate::editor::event::Event;
use crate::events::envelope::TaskEvent;
use crate::state::outcome::Ending;
use crate::state::session::Session;
use sextant_base::clock::now_ms;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_base::lock::lock;
use sextant_base::one_line::headline;

/// The caller that asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// For a reader: `Neovim`, `a shell (process 123)`.
    pub by: String,
    /// True if the caller is a program that has joined the session, and not the editor or shell that holds it.
    pub joined: bool,
}

impl Origin {
    pub fn new(by: impl Into<String>) -> Self {
        Self { by: by.into(), joined: false }
    }

    #[must_use]
    pub fn joined(self) -> Self {
        Self { joined: true, ..self }
    }
}

/// The task that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInTurn {
    pub what: String,
    pub by: String,
    pub root: PathBuf,
    /// Milliseconds since 1970.
    pub since: i64,
    /// [`Origin::joined`]: for the holder of the session.
    #[serde(skip)]
    pub joined: bool,
}

/// The turn, with the task that has it. A Neovim has one for all of its workspaces, since it shows one task.
#[derive(Debug, Default)]
pub struct TaskTurn {
    running: Mutex<Option<(TaskInTurn, CancellationToken)>>,
    /// The tasks whose turn is over and whose last events are not shown yet.
    closing: AtomicUsize,
    /// Called when a task is over, with its last events.
    ended: Notify,
}

impl TaskTurn {
    /// Takes the turn for a task.
    ///
    /// # Errors
    /// The turn is taken; the error names the task, its origin and how long it has run.
    pub(super) fn begin(self: &Arc<Self>, root: &Path, what: &str, origin: Origin) -> Result<TurnHeld, Failure> {
        let mut running = lock(&self.running);
        if let Some((task, _)) = running.as_ref() {
            return Err(busy_beside(task, root, &origin));
        }
        let cancel = CancellationToken::new();
        let (root, since) = (root.to_owned(), now_ms());
        let Origin { by, joined } = origin;
        let task = TaskInTurn { what: what.to_owned(), by: by.clone(), root, since, joined };
        *running = Some((task, cancel.clone()));
        Ok(TurnHeld { turn: Arc::clone(self), cancel, by })
    }

    /// The task that runs now.
    pub fn now(&self) -> Option<TaskInTurn> {
        lock(&self.running).as_ref().map(|(task, _)| task.clone())
    }

    pub fn is_free(&self) -> bool {
        lock(&self.running).is_none()
    }

    /// True if no task runs, and the last events of the one before are shown.
    pub fn is_over(&self) -> bool {
        self.is_free() && self.closing.load(Ordering::SeqCst) == 0
    }

    /// Waits for the next end of a task, from this call on.
    pub fn ended(&self) -> Notified<'_> {
        self.ended.notified()
    }

    /// Waits until no task runs and the last events of the one before are shown.
    pub async fn over(&self) {
        loop {
            let ended = self.ended();
            if self.is_over() {
                return;
            }
            ended.await;
        }
    }

    fn close(self: &Arc<Self>) -> Closing {
        self.closing.fetch_add(1, Ordering::SeqCst);
        Closing(Arc::clone(self))
    }

    /// Stops the running task; false where there is none.
    pub fn stop(&self) -> bool {
        lock(&self.running).as_ref().map(|(_, cancel)| cancel.cancel()).is_some()
    }
}

/// A task whose last events are being shown.
struct Closing(Arc<TaskTurn>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.closing.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

/// The error for the second caller.
pub fn busy(task: &TaskInTurn) -> Failure {
    running(task, &format!(", begun by {} in {}", task.by, task.root.display()))
}

/// The same for a caller that is known: it knows its own place.
fn busy_beside(task: &TaskInTurn, root: &Path, origin: &Origin) -> Failure {
    match (task.by == origin.by, task.root == root) {
        (true, true) => running(task, ""),
        (true, false) => running(task, &format!(", in {}", task.root.display())),
        (false, _) => busy(task),
    }
}

fn running(task: &TaskInTurn, place: &str) -> Failure {
    let seconds = now_ms().saturating_sub(task.since) / 1000;
    let message = format!("a task is running already, for {seconds} s: “{}”{place}", headline(&task.what));
    Failure::new(FailureKind::Busy, message, Hint::from("ask again when it is over").and(HintCode::Stop))
}

/// The turn, until this is dropped.
#[derive(Debug)]
#[must_use = "the turn is free again when this is dropped"]
pub struct TurnHeld {
    turn: Arc<TaskTurn>,
    pub cancel: CancellationToken,
    by: String,
}

impl Drop for TurnHeld {
    fn drop(&mut self) {
        lock(&self.turn.running).take();
        self.turn.ended.notify_waiters();
    }
}

/// A task as it runs. Its last events are shown when the turn is free again, since the user may answer at once.
pub(super) type TurnWork<T> = Pin<Box<dyn Future<Output = Ending<T>> + Send>>;

/// Runs a task whose turn it is, to its end. It runs in a task of its own. A panic costs this task alone, and work
/// continues when its waiting caller is gone.
pub(super) async fn run<T: Send + 'static>(
    session: Arc<Session>,
    held: TurnHeld,
    work: TurnWork<T>,
) -> Result<T, Failure> {
    let running = tokio::spawn(async move {
        let by = held.by.clone();
        session.events.emit(None, TaskEvent::TurnBegan { by: by.clone() });
        let Ending { result, events } = caught(work).await;
        let closing = held.turn.close();
        drop(held);
        events.into_iter().for_each(|event| session.events.show(event));
        session.events.emit(None, TaskEvent::TurnEnded { by });
        drop(closing);
        result
    });
    running.await.unwrap_or_else(|error| Err(broke_down(&error)))
}

async fn caught<T: Send + 'static>(work: TurnWork<T>) -> Ending<T> {
    tokio::spawn(work).await.unwrap_or_else(|error| {
        let failure = broke_down(&error);
        Ending { result: Err(failure.clone()), events: vec![Event::Failed { failure }] }
    })
}

fn broke_down(error: &tokio::task::JoinError) -> Failure {
    tracing::error!(%error, "a task ended in a panic");
    let hint = Hint::from("the log has the details").and(HintCode::Undo);
    Failure::new(FailureKind::Internal, "the task broke down", hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_reported_like_any_other_failure() {
        let ending = caught::<()>(Box::pin(async { panic!("on purpose") })).await;
        assert!(
            matches!(&ending.events[..], [Event::Failed { failure }] if failure.kind == FailureKind::Internal),
            "{ending:?}"
        );
        assert_eq!(ending.result.unwrap_err().kind, FailureKind::Internal);
    }

    #[test]
    fn who_comes_second_gets_the_name_of_what_runs() {
        let task = TaskInTurn {
            what: "fix it".into(),
            by: "Neovim".into(),
            root: "/w".into(),
            since: now_ms() - 3200,
            joined: false,
        };
        let words = |root: &str, by: &str| busy_beside(&task, Path::new(root), &Origin::new(by)).message;
        let running = "a task is running already, for 3 s: “fix it”";
        assert_eq!(words("/w", "Neovim"), running, "its own caller knows the place");
        assert_eq!(words("/other", "Neovim"), format!("{running}, in /w"));
        assert_eq!(words("/w", "claude"), format!("{running}, begun by Neovim in /w"));
        assert_eq!(busy(&task).kind, FailureKind::Busy);
    }
}
