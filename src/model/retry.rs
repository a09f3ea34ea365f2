//! Decides whether and when a call is tried again: the server's Retry-After, and our own patience.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime};

/// A question that is asked again after a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryNotice {
    /// The number of the next attempt, and of all.
    pub attempt: u32,
    pub of: u32,
    pub wait: Duration,
    pub why: String,
}

impl RetryNotice {
    /// The notice for a reader: `retry 2 of 4 in 3 s: 429 Too Many Requests`. A question that is asked again at once is
    /// another one, and does not count as an attempt.
    pub fn line(&self) -> String {
        let Self { attempt, of, wait, why } = self;
        if wait.is_zero() {
            return format!("asking again: {why}");
        }
        format!("retry {attempt} of {of} in {:.0} s: {why}", wait.as_secs_f64().ceil())
    }
}

/// Exponential backoff with jitter. Attempts are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Attempts in all, the first one included; at least 1.
    pub max_attempts: u32,
    /// The wait after the first attempt, before jitter.
    pub base: Duration,
    /// The longest wait of our own choosing.
    pub cap: Duration,
    /// The longest wait that a server may ask for.
    pub patience: Duration,
}

impl Default for RetryPolicy {
    /// 0.5 s, doubled to at most 8 s, as the official clients of OpenAI and Anthropic do; a minute of patience.
    fn default() -> Self {
        Self {
            max_attempts: 4,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(8),
            patience: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// The wait after `attempt` failed; `None` gives up. `jitter` lies in 0..1 and shortens our own wait by up to a
    /// half; a wait that the server named is never shortened.
    pub fn wait(&self, attempt: u32, retry_after: Option<Duration>, jitter: f64) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        let own = doubled.min(self.cap).mul_f64(1.0 - 0.5 * jitter.clamp(0.0, 1.0));
        match retry_after {
            Some(asked) if asked > self.patience => None,
            Some(asked) => Some(asked.max(own)),
            None => Some(own),
        }
    }
}

/// A number in 0..1 from the random keys that the standard library gives its hash maps.
pub fn jitter() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

/// Worth trying again: too many requests, time-outs and the server's own errors (RFC 9110), and 529, which
/// Anthropic sends when overloaded.
pub fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 520..=524 | 529)
}

/// Refused for want of capacity rather than broken.
pub fn is_capacity(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504 | 529)
}

/// Reads `retry-after-ms`, or `Retry-After` as seconds or as an HTTP date (RFC 9110, 10.2.3). A date that has passed
/// means no wait; an unreadable value is `None`.
pub fn retry_after(milliseconds: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<Duration> {
    if let Some(ms) = milliseconds.and_then(|text| text.trim().parse::<u64>().ok()) {
        return Some(Duration::from_millis(ms));
    }
    let text = after?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = httpdate::parse_http_date(text).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use proptest::prelude::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn waits_double_up_to_the_cap_and_end() {
        let policy = RetryPolicy { max_attempts: 7, ..RetryPolicy::default() };
        let waits: Vec<_> = (1..=7).map(|attempt| policy.wait(attempt, None, 0.0)).collect();
        let ms = |n| Some(Duration::from_millis(n));
        assert_eq!(waits, [ms(500), ms(1000), ms(2000), ms(4000), ms(8000), ms(8000), None]);
        assert_eq!(policy.wait(1, None, 1.0), ms(250), "jitter takes off up to a half");
    }

    #[test]
    fn only_an_attempt_after_a_wait_is_counted_for_a_reader() {
        let notice = |wait| RetryNotice { attempt: 2, of: 4, wait, why: "busy".into() }.line();
        assert_eq!(notice(Duration::from_millis(2300)), "retry 2 of 4 in 3 s: busy");
        assert_eq!(notice(Duration::ZERO), "asking again: busy");
    }

    #[test]
    fn the_server_is_obeyed_but_not_for_ever() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(1, Some(seconds(7)), 0.5), Some(seconds(7)));
        assert_eq!(policy.wait(1, Some(seconds(0)), 0.0), Some(Duration::from_millis(500)), "never a hot loop");
        assert_eq!(policy.wait(1, Some(seconds(61)), 0.0), None);
        assert_eq!(policy.wait(4, Some(seconds(1)), 0.0), None, "attempts end all the same");
    }

    #[test]
    fn retry_after_is_read_as_seconds_date_or_milliseconds() {
        let now = UNIX_EPOCH + seconds(784_111_777);
        assert_eq!(retry_after(None, Some(" 120 "), now), Some(seconds(120)));
        assert_eq!(retry_after(None, Some("1.5"), now), Some(Duration::from_millis(1500)));
        assert_eq!(retry_after(Some("250"), Some("9"), now), Some(Duration::from_millis(250)));
        assert_eq!(retry_after(None, Some("Sun, 06 Nov 1994 08:49:47 GMT"), now), Some(seconds(10)));
        assert_eq!(retry_after(None, Some("Sun, 06 Nov 1994 08:49:27 GMT"), now), Some(Duration::ZERO));
        assert_eq!(retry_after(None, Some("Thu, 29 Feb 2024 00:00:00 GMT"), UNIX_EPOCH), Some(seconds(1_709_164_800)));
        for broken in ["", "soon", "-1", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "NaN"] {
            assert_eq!(retry_after(None, Some(broken), now), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(text in ".{0,40}") {
            retry_after(Some(&text), Some(&text), UNIX_EPOCH);
            retry_after(None, Some(&format!("Sun, {text}")), UNIX_EPOCH);
        }

        #[test]
        fn a_wait_never_exceeds_cap_or_patience(attempt in 0_u32..40, asked in proptest::option::of(0_u64..1000)) {
            let policy = RetryPolicy { max_attempts: 100, ..RetryPolicy::default() };
            if let Some(wait) = policy.wait(attempt, asked.map(seconds), jitter()) {
                prop_assert!(wait <= policy.patience);
                prop_assert!(asked.is_none_or(|asked| wait >= seconds(asked)));
            }
        }
    }
}
