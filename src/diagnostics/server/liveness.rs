//! Decides when to give up on a server that neither speaks nor works: a slow one has the whole of a deadline, a mute
//! one has not.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;

/// A server that has answered before is mute after this time of open requests without a message, and without work.
const SILENCE: Duration = Duration::from_secs(3);

/// A server that has never reported on a file may be loading, and has its first deadline; silence at its end counts
/// from here.
const FIRST: Duration = Duration::from_secs(1);

/// The silence after which the server's processor time is checked. A start takes processor time too.
const LOOKED_AT: Duration = Duration::from_millis(500);

/// The total wait for a mute server, until it sends a message.
const LEFT: Duration = Duration::from_millis(300);

const TICK: Duration = Duration::from_millis(100);

/// A server whose processes use less than this part of the time does not work.
const PART: u32 = 20;

/// The known state of one server process.
#[derive(Debug, Default)]
pub(crate) struct Patience(Mutex<Silence>);

#[derive(Debug, Default)]
struct Silence {
    process: Option<u32>,
    /// True if it ever reported on a file.
    spoken: bool,
    mute: bool,
    /// Requests that are open now, and the time since when one is.
    open: usize,
    since: Option<Instant>,
    /// Silence during earlier requests.
    before: Duration,
    /// The time of the first look in this silence, and the processor time used until then.
    mark: Option<(Instant, Duration)>,
    /// The time that callers waited for it since it is mute.
    spent: Duration,
}

impl Silence {
    fn length(&self) -> Duration {
        self.before + self.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// A message, or work: the silence until now counts no longer.
    fn end(&mut self) {
        let since = (self.open > 0).then(Instant::now);
        let (process, spoken, open) = (self.process, self.spoken, self.open);
        *self = Self { process, spoken, open, since, ..Self::default() };
    }

    /// True if it has worked since the first look.
    fn works(&self) -> bool {
        let Some(((at, before), now)) = self.mark.zip(self.process.and_then(processor)) else { return false };
        now.saturating_sub(before) * PART >= at.elapsed()
    }

    fn look(&mut self, passed: bool) {
        if self.mute {
            return;
        }
        let length = self.length();
        if self.mark.is_none() && length >= LOOKED_AT {
            self.mark = self.process.and_then(processor).map(|used| (Instant::now(), used));
        }
        let enough = if self.spoken { length >= SILENCE } else { passed && length >= FIRST };
        if enough && self.works() {
            self.end();
        } else if enough {
            self.mute = true;
        }
    }
}

/// One open request.
struct OpenRequest<'a>(&'a Patience);

impl<'a> OpenRequest<'a> {
    fn new(patience: &'a Patience) -> Self {
        let mut silence = lock(&patience.0);
        silence.open += 1;
        silence.since.get_or_insert_with(Instant::now);
        Self(patience)
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let mut silence = lock(&self.0.0);
        silence.open = silence.open.saturating_sub(1);
        if silence.open == 0 {
            silence.before = silence.length();
            silence.since = None;
        }
    }
}

impl Patience {
    /// Starts over for a new process.
    pub(super) fn forget(&self, process: Option<u32>) {
        let mut silence = lock(&self.0);
        silence.end();
        (silence.process, silence.spoken) = (process, false);
    }

    /// Notes a message of any kind.
    pub(super) fn heard(&self) {
        lock(&self.0).end();
    }

    /// Notes a report on a file.
    pub(super) fn spoke(&self) {
        lock(&self.0).spoken = true;
    }

    pub(super) fn is_mute(&self) -> bool {
        lock(&self.0).mute
    }

    /// Waits until a request made now is given up.
    pub(super) async fn end(&self, deadline: Deadline) {
        let _question = OpenRequest::new(self);
        loop {
            let left = deadline.left();
            let tick = {
                let mut silence = lock(&self.0);
                silence.look(left.is_zero());
                if silence.mute { TICK.min(LEFT.saturating_sub(silence.spent)) } else { TICK }
            };
            if left.is_zero() || tick.is_zero() {
                return;
            }
            let start = Instant::now();
            tokio::time::sleep(tick.min(left)).await;
            let mut silence = lock(&self.0);
            if silence.mute {
                silence.spent += start.elapsed();
            }
        }
    }
}

/// The processor time that a group of processes has used; `None` if the system does not provide it.
fn processor(group: u32) -> Option<Duration> {
    let ticks = Some(rustix::param::clock_ticks_per_second()).filter(|ticks| *ticks > 0)?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let stats = processes.filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    let used: u64 = stats.filter_map(|stat| used_by(&stat, group)).sum();
    Some(Duration::from_millis(used * 1000 / ticks))
}

/// The ticks in a line of `stat`, if its process is in this group. The name may hold any characters.
fn used_by(stat: &str, group: u32) -> Option<u64> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    // State, parent, group; user and system time are the 14th and 15th, those of children that ended follow.
    (number(2)? == u64::from(group)).then(|| (11..=14).filter_map(number).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A silence that began some time ago.
    fn silent(spoken: bool, length: Duration) -> Silence {
        Silence { spoken, open: 1, before: length, since: Some(Instant::now()), ..Silence::default() }
    }

    fn is_mute(spoken: bool, length: Duration, passed: bool) -> bool {
        let mut silence = silent(spoken, length);
        silence.look(passed);
        silence.mute
    }

    #[test]
    fn a_deadline_makes_one_mute_that_has_said_nothing_yet_and_silence_one_that_has() {
        assert!(!is_mute(false, Duration::from_secs(20), false), "it may be loading");
        assert!(is_mute(false, Duration::from_secs(20), true));
        assert!(!is_mute(false, Duration::from_millis(300), true), "a short deadline proves nothing");
        assert!(!is_mute(true, Duration::from_secs(2), true), "it is slow");
        assert!(is_mute(true, SILENCE, false));
    }

    #[test]
    fn one_that_works_is_not_mute_and_a_word_ends_the_silence() {
        let mut silence = silent(true, SILENCE);
        let own = fs::read_to_string("/proc/self/stat").unwrap();
        let group: u32 = own.rsplit_once(") ").unwrap().1.split(' ').nth(2).unwrap().parse().unwrap();
        silence.process = Some(group);
        silence.mark = Some((Instant::now(), Duration::ZERO));
        let busy = Instant::now();
        while processor(group).unwrap() < Duration::from_millis(10) && busy.elapsed() < Duration::from_secs(60) {}
        silence.look(false);
        assert!(!silence.mute && silence.length() < FIRST, "{silence:?}");

        let patience = Patience(Mutex::new(Silence { mute: true, ..silent(true, SILENCE) }));
        patience.heard();
        assert!(!patience.is_mute() && lock(&patience.0).length() < FIRST);
    }

    #[tokio::test]
    async fn a_mute_one_is_waited_for_once_and_briefly() {
        let patience = Patience(Mutex::new(Silence { mute: true, ..Silence::default() }));
        let hour = Deadline::after(Duration::from_secs(3600));
        patience.end(hour).await;
        assert!(lock(&patience.0).spent >= LEFT);
        patience.end(hour).await;
    }

    #[test]
    fn a_line_of_stat_is_read_whatever_the_program_is_called() {
        let line = "7 (a) b (c) S 1 42 42 0 -1 4194304 1 2 3 4 10 20 1 2 20 0 1 0 100";
        assert_eq!((used_by(line, 42), used_by(line, 43)), (Some(33), None));
    }
}
