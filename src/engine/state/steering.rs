//! Holds the words that the user adds to the running task, until its model reads them.

use std::sync::Mutex;

use crate::state::request::Request;
use sextant_base::lock::lock;

/// The requests that no model has read yet, oldest first, each with the place that it was made at.
#[derive(Debug, Default)]
pub(crate) struct Steering {
    unread: Mutex<Vec<Request>>,
}

impl Steering {
    pub(crate) fn add(&self, request: Request) {
        lock(&self.unread).push(request);
    }

    /// All of them; from here on they count as read.
    pub(crate) fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *lock(&self.unread))
    }

    pub(crate) fn waits(&self) -> bool {
        !lock(&self.unread).is_empty()
    }
}

/// The words as the model reads them.
pub(crate) fn message(request: &Request) -> String {
    format!("The user adds, while you work: {}", request.text)
}
