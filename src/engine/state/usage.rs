//! The usage of a task, as an observer counts it. The loop compares it with the limits.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::events::envelope::{EventEnvelope, TaskEvent};
use crate::events::fact::TaskFact;
use crate::events::stream::Observer;
use sextant_base::lock::lock;
use sextant_model::step::Usage;

/// The usage of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    started: Instant,
    /// Time of questions to the user: it does not count for the task.
    waited: Duration,
    /// Tokens and calls of all of it.
    pub(crate) used: Usage,
    /// The usage before the user resumed the task: a resumed task gets its limits again.
    before: Usage,
}

impl Default for Spent {
    fn default() -> Self {
        let (used, before) = (Usage::default(), Usage::default());
        Self { started: Instant::now(), waited: Duration::ZERO, used, before }
    }
}

impl Spent {
    /// The usage that counts against the limits.
    pub(crate) fn counted(&self) -> Usage {
        Usage {
            calls: self.used.calls.saturating_sub(self.before.calls),
            prompt_tokens: self.used.prompt_tokens.saturating_sub(self.before.prompt_tokens),
            completion_tokens: self.used.completion_tokens.saturating_sub(self.before.completion_tokens),
            cached_tokens: self.used.cached_tokens.saturating_sub(self.before.cached_tokens),
            estimated: self.used.estimated,
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.waited)
    }
}

/// Counts the usage of one task.
#[derive(Debug, Default)]
pub(crate) struct SpentLog(Mutex<Spent>);

impl Observer for SpentLog {
    fn notice(&self, envelope: &EventEnvelope) {
        let TaskEvent::Did { fact } = &envelope.event else { return };
        let mut spent = lock(&self.0);
        match &**fact {
            TaskFact::ModelAnswered { usage } => spent.used.add(*usage),
            TaskFact::UserWaited { time } => spent.waited += *time,
            TaskFact::BudgetRenewed { whole } => {
                let before = if *whole { spent.used } else { spent.before };
                *spent = Spent { used: spent.used, before, ..Spent::default() };
            }
            _ => {}
        }
    }
}

impl SpentLog {
    /// The current usage.
    pub(crate) fn now(&self) -> Spent {
        *lock(&self.0)
    }

    /// Continues the count of another process.
    pub(crate) fn count_on(&self, used: Usage) {
        lock(&self.0).used = used;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::events::task_events::TaskEvents;
    use crate::plan::work_mode::Mode;

    #[test]
    fn what_counts_is_what_was_used_since_the_limits_were_given() {
        let log = Arc::new(SpentLog::default());
        let mut events = TaskEvents::new("t", Mode::Simple);
        events.observe(Arc::<SpentLog>::clone(&log));
        let usage = Usage { calls: 1, prompt_tokens: 10, completion_tokens: 2, cached_tokens: 0, estimated: false };
        events.did(TaskFact::ModelAnswered { usage });
        events.did(TaskFact::ModelAnswered { usage: Usage { estimated: true, ..usage } });
        lock(&log.0).started -= Duration::from_secs(9);
        events.did(TaskFact::UserWaited { time: Duration::from_secs(4) });
        let spent = log.now();
        assert_eq!((spent.counted().calls, spent.counted().prompt_tokens, spent.counted().estimated), (2, 20, true));
        assert_eq!(spent.elapsed().as_secs(), 5, "the time of a question is the user's");
        events.did(TaskFact::BudgetRenewed { whole: false });
        assert_eq!((log.now().counted().calls, log.now().elapsed().as_secs()), (2, 0), "the time alone");
        events.did(TaskFact::BudgetRenewed { whole: true });
        events.did(TaskFact::ModelAnswered { usage });
        assert_eq!((log.now().counted().calls, log.now().used.calls), (1, 3), "the task keeps its sum");
    }
}
