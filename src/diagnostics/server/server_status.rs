//! The status that a server reports beside its diagnostics: that it has loaded, or that it cannot check at all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::model;
use crate::server_facts::REREAD;
use sextant_base::lock::lock;

/// Of one process.
#[derive(Debug, Default)]
pub(crate) struct Mood {
    /// Errors that it has logged.
    complaints: AtomicU64,
    last: Mutex<String>,
    /// The reason why it cannot check any file, until it reports otherwise.
    trouble: Mutex<Option<String>>,
    at_rest: AtomicBool,
    /// The time of the last notification of settings that it has not shown to have read.
    settings_at: Mutex<Option<Instant>>,
}

impl Mood {
    /// Starts over for a new process, which has reported nothing yet.
    pub(super) fn forget(&self) {
        self.at_rest.store(false, Ordering::SeqCst);
        *lock(&self.trouble) = None;
        *lock(&self.settings_at) = None;
    }

    pub(super) fn settings_changed(&self) {
        *lock(&self.settings_at) = Some(Instant::now());
    }

    /// Its first message about diagnostics after that is by the new settings.
    pub(super) fn settings_read(&self) {
        *lock(&self.settings_at) = None;
    }

    /// The time for which its answers may be by old settings; `None` if they are by the new ones.
    pub(super) fn rereads_for(&self) -> Option<Duration> {
        lock(&self.settings_at).and_then(|at| REREAD.checked_sub(at.elapsed()))
    }

    pub(super) fn complained(&self, text: &str) {
        *lock(&self.last) = model::name(text.lines().next().unwrap_or_default());
        self.complaints.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn complaints(&self) -> u64 {
        self.complaints.load(Ordering::SeqCst)
    }

    /// ESLint's state after its last run: 1 is well; a warning or an error is not.
    pub(super) fn note_state(&self, state: Option<u64>) {
        *lock(&self.trouble) = (state != Some(1)).then(|| "it says that it could not check".to_owned());
    }

    pub(super) fn cannot_check(&self, why: &str) {
        *lock(&self.trouble) = Some(format!("it cannot check: {why}"));
    }

    pub(super) fn note_rest(&self, at_rest: bool) {
        self.at_rest.store(at_rest, Ordering::SeqCst);
    }

    /// True if its last status was that it has loaded everything.
    pub(super) fn at_rest(&self) -> bool {
        self.at_rest.load(Ordering::SeqCst)
    }

    /// The reason why an empty list after so many complaints proves nothing; `None` if it does.
    pub(super) fn objection(&self, complaints: u64) -> Option<String> {
        let logged =
            || (self.complaints() != complaints).then(|| format!("it logged an error meanwhile: {}", lock(&self.last)));
        lock(&self.trouble).clone().or_else(logged)
    }

    /// It has found something, so it can check.
    pub(super) fn has_found(&self) {
        *lock(&self.trouble) = None;
    }
}
