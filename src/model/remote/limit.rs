//! The limit of tokens for an answer.

use std::sync::atomic::{AtomicU32, Ordering};

/// Tokens that one answer may have.
pub(super) struct AnswerLimit {
    pub(super) set: Option<u32>,
    /// The most that the server is known to allow.
    pub(super) most: AtomicU32,
}

/// The tokens of a file of a thousand lines, the default.
const WHOLE_FILES: u32 = 16_384;
/// The limit that every server allows.
const EVERYWHERE: u32 = 4096;
/// The names that providers have for the limit.
const LIMIT_NAMES: &[&str] = &["max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens"];

impl AnswerLimit {
    /// Never more than half of the model's context.
    pub(super) fn tokens(&self, context: usize) -> u32 {
        let half = u32::try_from(context / 2).unwrap_or(u32::MAX).max(1);
        self.set.unwrap_or_else(|| WHOLE_FILES.min(half).min(self.most.load(Ordering::Relaxed)))
    }

    /// True if a refusal is of a limit that nobody has set, so that a lower one can be tried.
    pub(super) fn lower(&self, status: u16, detail: &str, sent: u32) -> bool {
        let detail = detail.to_lowercase();
        let named = matches!(status, 400 | 422) && LIMIT_NAMES.iter().any(|name| detail.contains(name));
        let lower = named && self.set.is_none() && sent > EVERYWHERE;
        if lower {
            self.most.store(EVERYWHERE, Ordering::Relaxed);
        }
        lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_files_fit_where_the_model_reads_enough() {
        let limit = |set| AnswerLimit { set, most: AtomicU32::new(u32::MAX) };
        assert_eq!([8192, 32_768, 200_000, 0].map(|context| limit(None).tokens(context)), [4096, 16_384, 16_384, 1]);
        assert_eq!(limit(Some(700)).tokens(200_000), 700);
        let refused = "max_tokens: 16384 > 8192, which is the maximum allowed";
        let own = limit(None);
        assert!(!own.lower(429, refused, 16_384) && !own.lower(400, "no such model", 16_384));
        assert!(own.lower(400, refused, 16_384) && !own.lower(400, refused, 4096), "once is enough");
        assert_eq!(own.tokens(200_000), 4096);
        assert!(!limit(Some(20_000)).lower(400, refused, 20_000), "the user's own limit stays");
    }
}
