//! The stream of a session: numbers the events, passes them to observers, the front end first, and holds the last ones.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use crate::editor::Editor;
use crate::editor::event::Event;
use crate::events::envelope::{EventEnvelope, TaskEvent};
use crate::events::events_state::StreamState;
use crate::events::subscription::Subscription;
use sextant_base::clock::now_ms;
use sextant_base::lock::lock;

/// Receives every event, in order, on the thread that emits it: an observer neither waits nor emits. A slow listener
/// subscribes instead, see [`EventStream::subscribe`].
pub trait Observer: Send + Sync {
    fn notice(&self, envelope: &EventEnvelope);
}

/// The editor of the session, whichever it is.
pub(crate) struct FrontEnd(pub(crate) Arc<dyn Editor>);

impl Observer for FrontEnd {
    fn notice(&self, envelope: &EventEnvelope) {
        match &envelope.event {
            TaskEvent::Shown { event } => self.0.show(event.clone()),
            TaskEvent::Answered { .. } => self.0.show(Event::Answered),
            _ => {}
        }
    }
}

/// The bounds on the past events that are held, independent of the listeners.
#[derive(Clone, Copy, Debug)]
pub struct HeldLimits {
    pub events: usize,
    /// Bytes of the events as JSON.
    pub bytes: usize,
}

impl Default for HeldLimits {
    fn default() -> Self {
        Self { events: 4096, bytes: 4 << 20 }
    }
}

/// The last events, and the state after all of them.
pub(crate) struct HeldEvents {
    limits: HeldLimits,
    events: VecDeque<(Arc<EventEnvelope>, usize)>,
    bytes: usize,
    state: StreamState,
    /// The task of an event that names no task itself.
    current: Option<String>,
}

impl HeldEvents {
    pub(crate) fn state(&self) -> &StreamState {
        &self.state
    }

    /// The event of this number, while it is held.
    pub(crate) fn event(&self, seq: u64) -> Option<Arc<EventEnvelope>> {
        let first = self.state.seq + 1 - self.events.len() as u64;
        let index = usize::try_from(seq.checked_sub(first)?).ok()?;
        self.events.get(index).map(|(event, _)| Arc::clone(event))
    }

    fn add(&mut self, task: Option<&str>, event: TaskEvent) -> Arc<EventEnvelope> {
        let task = task.map(str::to_owned).or_else(|| self.current.clone().filter(|_| is_of_work(&event)));
        let envelope = EventEnvelope { seq: self.state.seq + 1, at: now_ms(), task, event };
        self.state.fold(&envelope);
        match &envelope.event {
            TaskEvent::TakenUp { .. } => self.current.clone_from(&envelope.task),
            TaskEvent::Shown { event: Event::Finished { .. } | Event::Failed { .. } } => self.current = None,
            _ => {}
        }
        let size = size(&envelope);
        let envelope = Arc::new(envelope);
        self.events.push_back((Arc::clone(&envelope), size));
        self.bytes += size;
        while self.events.len() > self.limits.events || self.bytes > self.limits.bytes {
            let Some((_, size)) = self.events.pop_front() else { break };
            self.bytes -= size;
        }
        envelope
    }
}

/// True if an event is about the current work, rather than about the session or finished work.
fn is_of_work(event: &TaskEvent) -> bool {
    let TaskEvent::Shown { event } = event else {
        return !matches!(event, TaskEvent::TakenUp { .. } | TaskEvent::OutsideBegan { .. });
    };
    !(event.is_aside() || matches!(event, Event::Interrupted { .. } | Event::Waiting { .. }))
}

/// The events of one session. Shared by all that emit.
pub struct EventStream {
    held: Arc<Mutex<HeldEvents>>,
    /// Held while observers receive an event, so that each of them sees the events in order.
    observers: Mutex<Vec<Arc<dyn Observer>>>,
    /// The number of the last event.
    last: watch::Sender<u64>,
}

impl EventStream {
    pub fn new(root: &str, limits: HeldLimits) -> Self {
        let state = StreamState::new(root);
        let held = HeldEvents { limits, events: VecDeque::new(), bytes: 0, state, current: None };
        Self { held: Arc::new(Mutex::new(held)), observers: Mutex::default(), last: watch::Sender::new(0) }
    }

    /// Adds an event, about a task or about the current work. Never waits: observers do not wait, and subscribers read
    /// in their own time.
    pub fn emit(&self, task: Option<&str>, event: TaskEvent) {
        self.emit_to(task, event, &[]);
    }

    /// Like [`Self::emit`], with these observers as well.
    pub(crate) fn emit_to(&self, task: Option<&str>, event: TaskEvent, own: &[Arc<dyn Observer>]) {
        let observers = lock(&self.observers);
        let envelope = lock(&self.held).add(task, event);
        observers.iter().chain(own).for_each(|observer| observer.notice(&envelope));
        self.last.send_replace(envelope.seq);
    }

    /// Shows something to every front end.
    pub fn show(&self, event: Event) {
        self.emit(None, TaskEvent::Shown { event });
    }

    /// The next events are about no task, until one is taken up.
    pub(crate) fn leave_task(&self) {
        lock(&self.held).current = None;
    }

    /// Drops the past events on request of the user; the numbers go on.
    pub(crate) fn forget_past(&self) {
        let mut held = lock(&self.held);
        (held.events, held.bytes) = (VecDeque::new(), 0);
    }

    /// Adds an observer, from the next event on.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        lock(&self.observers).push(observer);
    }

    /// The state after the last event.
    pub fn state(&self) -> StreamState {
        lock(&self.held).state.clone()
    }

    /// The state now, and every event after it. A listener that has read before passes the last number that it has seen
    /// in `after`. It first gets the missed events that are still held; the state already includes every event up to
    /// its own number.
    pub fn subscribe(&self, after: Option<u64>) -> (StreamState, Subscription) {
        let news = self.last.subscribe();
        let state = self.state();
        let after = after.unwrap_or(state.seq);
        (state, Subscription::new(Arc::clone(&self.held), news, after))
    }
}

impl Default for EventStream {
    fn default() -> Self {
        Self::new("", HeldLimits::default())
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("last", &*self.last.borrow()).finish_non_exhaustive()
    }
}

/// Bytes of an event as JSON.
fn size(envelope: &EventEnvelope) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Everything in an event can be serialized.
    let _ = serde_json::to_writer(&mut count, envelope);
    count.0
}
