//! Decides when a dead server is started again, and when it is given up.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A server that dies this often within [`WINDOW`] is given up.
const DEATHS: usize = 4;
const WINDOW: Duration = Duration::from_secs(60);
/// The pause before the first restart; doubled with each further death in the window.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Again(Duration),
    GiveUp,
}

/// The recent deaths of one server.
#[derive(Debug, Default)]
pub struct Deaths(VecDeque<Instant>);

impl Deaths {
    pub fn record(&mut self, now: Instant) -> Next {
        self.0.push_back(now);
        while self.0.front().is_some_and(|death| now.duration_since(*death) > WINDOW) {
            self.0.pop_front();
        }
        match self.0.len() {
            count if count >= DEATHS => Next::GiveUp,
            count => Next::Again(PAUSE * 2u32.pow(count as u32 - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_the_fourth_death_in_a_minute_is_the_last() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let again = |ms| Next::Again(Duration::from_millis(ms));
        let mut deaths = Deaths::default();
        let quick: Vec<Next> = [0, 1, 2, 3].map(|s| deaths.record(at(s))).to_vec();
        assert_eq!(quick, [again(100), again(200), again(400), Next::GiveUp]);
        let mut deaths = Deaths::default();
        let slow: Vec<Next> = [0, 30, 55, 70, 200].map(|s| deaths.record(at(s))).to_vec();
        assert_eq!(slow, [again(100), again(200), again(400), again(400), again(100)]);
    }
}
