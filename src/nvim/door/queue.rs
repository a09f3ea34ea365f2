//! Keeps the requests that were made while a task runs: the oldest starts when the task is over, and each can be taken
//! back before.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::door::{NvimDoor, UsedWorkspace};
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_engine::api::{Command, Event, Request};

/// A request that waits for its turn, and its workspace.
struct WaitingRequest {
    open: Arc<UsedWorkspace>,
    command: Command,
}

/// The requests that wait, oldest first.
#[derive(Default)]
pub(super) struct RequestQueue {
    waiting: Mutex<VecDeque<WaitingRequest>>,
}

/// The words of a command that waits for its turn; `None` for one that is refused instead.
pub(super) fn words(command: &Command) -> Option<&str> {
    match command {
        Command::Ask(request) | Command::Plan(request) => Some(&request.text),
        _ => None,
    }
}

impl NvimDoor {
    /// Puts a request behind the running task and the others that wait.
    pub(super) fn enqueue(self: &Arc<Self>, open: &Arc<UsedWorkspace>, command: Command) {
        let mut waiting = lock(&self.queue.waiting);
        waiting.push_back(WaitingRequest { open: Arc::clone(open), command });
        let first = waiting.len() == 1;
        drop(waiting);
        self.show_queue();
        if first {
            tokio::spawn(Arc::clone(self).start_waiting());
        }
    }

    /// Starts the requests one after the other, each when the task before it is over.
    async fn start_waiting(self: Arc<Self>) {
        loop {
            let ended = self.turn.ended();
            if !self.turn.is_over() {
                ended.await;
                continue;
            }
            let Some(next) = lock(&self.queue.waiting).pop_front() else { return };
            if let Err(command) = self.try_submit(&next.open, next.command) {
                lock(&self.queue.waiting).push_front(WaitingRequest { open: next.open, command: *command });
                ended.await;
                continue;
            }
            self.show_queue();
            if lock(&self.queue.waiting).is_empty() {
                return;
            }
        }
    }

    /// Takes back the request that was queued last; false if none waits.
    pub(super) fn take_back(&self) -> bool {
        let Some(last) = lock(&self.queue.waiting).pop_back() else { return false };
        self.drop_request(&last);
        self.show_queue();
        true
    }

    /// Takes back all of them: the user has stopped the work.
    pub(super) fn take_all_back(&self) {
        let mut waiting = std::mem::take(&mut *lock(&self.queue.waiting));
        let open: Vec<Arc<UsedWorkspace>> = lock(&self.open).clone();
        for open in open {
            let unread = open.session.take_unread().into_iter().map(Command::Ask);
            waiting.extend(unread.map(|command| WaitingRequest { open: Arc::clone(&open), command }));
        }
        if waiting.is_empty() {
            return;
        }
        waiting.iter().for_each(|one| self.drop_request(one));
        self.show_queue();
    }

    fn drop_request(&self, request: &WaitingRequest) {
        let words = words(&request.command).unwrap_or_default();
        let failure = Failure::new(FailureKind::Cancelled, format!("taken back: “{words}”"), "");
        request.open.session.emit(Event::Refused { failure, request: words.to_owned() });
    }

    fn show_queue(&self) {
        let waiting = lock(&self.queue.waiting);
        let requests = waiting.iter().filter_map(|one| words(&one.command)).map(str::to_owned).collect();
        drop(waiting);
        self.show(Event::Queued { requests });
    }

    /// Passes a request to the running task; false if none runs, or the request is of another workspace.
    pub(super) fn steer(&self, open: &Arc<UsedWorkspace>, request: Request) -> bool {
        let here = self.turn.now().is_some_and(|running| running.root == open.root);
        if here {
            open.session.steer(request);
        }
        here
    }

    /// Queues the words that came too late for the task that they were meant for.
    pub(super) fn queue_unread(self: &Arc<Self>, open: &Arc<UsedWorkspace>) {
        for request in open.session.take_unread() {
            self.submit(open, Command::Ask(request));
        }
    }
}
