//! Who is told of an event while it is emitted, and the front end as the first of them.

use std::sync::Arc;

use crate::agent::events::envelope::{EventEnvelope, TaskEvent};
use crate::editor::Editor;

/// Is told of every event, in order, by whoever emits it: neither waits nor emits. Whoever may be slow subscribes
/// instead, see [`crate::agent::events::stream::EventStream::subscribe`].
pub trait Observer: Send + Sync {
    fn notice(&self, envelope: &EventEnvelope);
}

/// The editor of the session, whichever it is.
pub(crate) struct FrontEnd(pub(crate) Arc<dyn Editor>);

impl Observer for FrontEnd {
    fn notice(&self, envelope: &EventEnvelope) {
        if let TaskEvent::Shown { event } = &envelope.event {
            self.0.show(event.clone());
        }
    }
}
