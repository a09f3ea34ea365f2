//! Limits the tokens, time and money of a task: checks them before each question to the model, and reports the end.

use std::time::Duration;

use crate::editor::event::Event;
use crate::state::agent_config::{Config, Limits};
use crate::state::journal::Journal;
use crate::state::task_store::TaskStore;
use crate::state::usage::{Spent, SpentLog};
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::plural::counted;
use sextant_model::price::Price;
use sextant_model::step::{Model, Usage};

/// The first limit that is reached, in words with the amount used; `None` below all limits.
pub(crate) fn reached(limits: &Limits, price: Option<Price>, usage: Usage, elapsed: Duration) -> Option<String> {
    let tokens = usage.tokens();
    if limits.tokens > 0 && tokens >= limits.tokens {
        let about = if usage.estimated { "about " } else { "" };
        return Some(format!("it has used {about}{tokens} of {} (`limits.tokens`)", counted(limits.tokens, "token")));
    }
    if limits.seconds > 0 && elapsed >= Duration::from_secs(limits.seconds) {
        return Some(format!("its time of {} s is over (`limits.seconds`)", limits.seconds));
    }
    match price.map(|price| price.micros(&usage) as f64 / 1_000_000.0) {
        Some(cost) if limits.cost > 0.0 && cost >= limits.cost => {
            Some(format!("it has cost {cost:.4} of {} (`limits.cost`)", limits.cost))
        }
        _ => None,
    }
}

pub(crate) fn over_budget(config: &Config, model: &dyn Model, usage: &SpentLog) -> Option<String> {
    let spent = usage.now();
    reached(&config.limits, model.price(), spent.counted(), spent.elapsed())
}

/// Seconds that a command may take now, at least 1: its own limit, or what is left of the task's.
pub(crate) fn command_seconds(config: &Config, spent: &SpentLog) -> u64 {
    let own = config.limits.command_seconds.max(1);
    match config.limits.seconds {
        0 => own,
        all => own.min(all.saturating_sub(spent.now().elapsed().as_secs())).max(1),
    }
}

/// Warns once a task about a limit that cannot be checked, rather than pass over it.
pub(crate) fn say_what_is_not_counted(store: &TaskStore, model: &dyn Model) {
    if store.config.limits.cost > 0.0 && model.price().is_none() && !model.needs_providers() {
        let text = "`limits.cost` cannot stop this: the model has no `price` in the configuration".to_owned();
        store.events.show(Event::Progress { text });
    }
}

/// Ends when the time of the task is over; never ends where it has no limit.
pub(crate) async fn out_of_time(config: &Config, spent: Spent) {
    match config.limits.seconds {
        0 => std::future::pending().await,
        seconds => tokio::time::sleep(Duration::from_secs(seconds).saturating_sub(spent.elapsed())).await,
    }
}

/// The error that the user sees; finished changes stay.
pub(crate) fn stop(journal: &Journal, why: &str) -> Failure {
    let files: Vec<String> = journal.net().into_iter().map(|change| change.path).collect();
    let done = if files.is_empty() {
        "nothing was changed".to_owned()
    } else {
        format!("changed so far and kept: {}", files.join(", "))
    };
    Failure::new(
        FailureKind::Limit,
        format!("stopped: {why}"),
        format!("{done}; raise the limit, or set it to 0 for none"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt_tokens: u64, completion_tokens: u64) -> Usage {
        Usage { calls: 1, prompt_tokens, completion_tokens, cached_tokens: 0, estimated: false }
    }

    #[test]
    fn the_limit_that_is_reached_is_named_with_what_was_used() {
        let none = Limits::default();
        assert_eq!(
            reached(
                &none,
                Some(Price { input: 1.0, output: 1.0, cached: None }),
                usage(1 << 40, 1),
                Duration::from_secs(1 << 30)
            ),
            None,
            "0 is no limit"
        );
        let limits = Limits { tokens: 100, seconds: 9, cost: 0.5, ..Limits::default() };
        let price = Some(Price { input: 2.0, output: 10.0, cached: None });
        let reason = |usage, seconds| reached(&limits, price, usage, Duration::from_secs(seconds)).unwrap_or_default();
        assert_eq!(reason(usage(60, 39), 8), "");
        assert_eq!(reason(usage(60, 40), 8), "it has used 100 of 100 tokens (`limits.tokens`)");
        assert_eq!(reason(usage(1, 1), 9), "its time of 9 s is over (`limits.seconds`)");
        assert!(reason(Usage { estimated: true, ..usage(60, 40) }, 0).contains("about 100"));
        let limits = Limits { tokens: 0, ..limits };
        let reason = reached(&limits, price, usage(200_000, 10_000), Duration::ZERO).unwrap_or_default();
        assert_eq!(reason, "it has cost 0.5000 of 0.5 (`limits.cost`)");
        assert_eq!(reached(&limits, None, usage(1 << 40, 1), Duration::ZERO), None, "no price, no cost");
    }
}
