//! Keeps the reports that came after their deadline, until the editor's side collects them.

use std::sync::{Mutex, OnceLock};

use crate::late_signal::LateSignal;
use crate::model::Report;
use sextant_base::lock::lock;

#[derive(Debug, Default)]
pub(crate) struct LateAnswers {
    waiting: Mutex<Vec<Report>>,
    /// Raised with every answer; empty where nobody waits for them.
    signal: OnceLock<LateSignal>,
}

impl LateAnswers {
    /// Raises this signal from now on. The first signal stays.
    pub(super) fn signal_by(&self, signal: &LateSignal) {
        let _ = self.signal.set(signal.clone());
    }

    /// Keeps a report. A caller who missed the one before needs the last one alone.
    pub(super) fn keep(&self, report: Report) {
        let mut waiting = lock(&self.waiting);
        let is_older = |known: &Report| known.file == report.file && known.provider == report.provider;
        waiting.retain(|known| known.unasked.is_some() || !is_older(known));
        waiting.push(report);
        drop(waiting);
        self.signal.get().inspect(|signal| signal.raise());
    }

    /// Drops those of one provider about a file: a newer answer is on its way.
    pub(super) fn supersede(&self, file: &str, provider: &str) {
        lock(&self.waiting).retain(|report| report.file != file || report.provider != provider);
    }

    pub(super) fn take(&self) -> Vec<Report> {
        std::mem::take(&mut *lock(&self.waiting))
    }
}
