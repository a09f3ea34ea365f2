//! One listener with a pace of its own: it reads the held events, and gets the state instead where it came too late.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::events::envelope::EventEnvelope;
use crate::events::events_state::StreamState;
use crate::events::stream::HeldEvents;
use sextant_base::lock::lock;

/// One item that a listener gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delivery {
    Event(EventEnvelope),
    /// Some events are no longer held: the state instead, and events again from there on.
    Resync(Box<Resync>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resync {
    /// The last number that the listener got. The events between it and the state's number are left out.
    pub after: u64,
    pub state: StreamState,
}

/// One listener. It keeps only its place, so the stream's own bounds limit its cost.
pub struct Subscription {
    held: Arc<Mutex<HeldEvents>>,
    news: watch::Receiver<u64>,
    /// The last number that the listener got.
    after: u64,
}

impl Subscription {
    pub(crate) fn new(held: Arc<Mutex<HeldEvents>>, news: watch::Receiver<u64>, after: u64) -> Self {
        Self { held, news, after }
    }

    /// The next item without a wait; `None` where nothing has come yet.
    pub fn take(&mut self) -> Option<Delivery> {
        let held = lock(&self.held);
        let state = held.state();
        if self.after == state.seq {
            return None;
        }
        if let Some(event) = held.event(self.after.saturating_add(1)) {
            self.after += 1;
            drop(held);
            return Some(Delivery::Event(EventEnvelope::clone(&event)));
        }
        // Too far back, or a number of another process.
        let resync = Resync { after: self.after, state: state.clone() };
        self.after = state.seq;
        Some(Delivery::Resync(Box::new(resync)))
    }

    /// Waits for the next item; `None` when the session is gone and everything was delivered. Dropping the future loses
    /// nothing.
    pub async fn next(&mut self) -> Option<Delivery> {
        loop {
            if let Some(delivery) = self.take() {
                return Some(delivery);
            }
            if self.news.changed().await.is_err() {
                return self.take();
            }
        }
    }
}
