//! One deadline for a whole piece of work, so that every wait inside it draws on the same budget.

use std::time::{Duration, Instant};

/// A wait for the answers of servers.
#[derive(Clone, Copy, Debug)]
pub struct AnswerWait {
    pub deadline: Deadline,
    /// True if a server that is silent at first is waited for up to the deadline.
    pub waits: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    start: Instant,
    end: Instant,
}

impl Deadline {
    pub fn after(budget: Duration) -> Self {
        let start = Instant::now();
        Self { start, end: start + budget }
    }

    pub fn after_ms(budget_ms: u64) -> Self {
        Self::after(Duration::from_millis(budget_ms))
    }

    /// Returns a deadline with the same budget, counted from now.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self::after(self.end.saturating_duration_since(self.start))
    }

    /// The time left; zero once the deadline has passed.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    pub fn left_ms(&self) -> u64 {
        u64::try_from(self.left().as_millis()).unwrap_or(u64::MAX)
    }

    pub fn passed(&self) -> bool {
        self.left().is_zero()
    }

    /// Milliseconds since the deadline was set.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
