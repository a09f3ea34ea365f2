//! The figures of a handful of runs, counted by hand.

use crate::memory::metrics::*;

fn run(mode: Mode, outcome: Outcome, duration_ms: u32, replans: u32, escalations: u32) -> RunRecord {
    RunRecord {
        session: "s".into(),
        task: format!("{mode:?} {duration_ms}"),
        mode,
        model: "offline".into(),
        outcome,
        started: 100,
        duration_ms,
        steps: 2,
        errors: 0,
        replans,
        escalations,
        lookups: 4,
        hits: 3,
        retrieval_us: 800,
        tokens: RunTokens { prompt: 1000, answer: 50, cached: 900 },
        cost_micros: 7,
        calls: 2,
        calls_saved: 1,
    }
}

#[test]
fn figures_are_by_mode_and_cancelled_runs_are_use_but_no_result() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("m.db")).unwrap();
    let empty = memory.stats().unwrap();
    assert_eq!((empty.modes.len(), empty.modes[0].success_rate, empty.modes[0].goals[0].met()), (3, None, None));

    for (outcome, ms, replans) in [
        (Outcome::Success, 1000, 0),
        (Outcome::Success, 2000, 2),
        (Outcome::Success, 3000, 0),
        (Outcome::Failure, 6000, 0),
        (Outcome::Cancelled, 90_000, 5),
    ] {
        memory.replace_run(run(Mode::Planner, outcome, ms, replans, 0)).unwrap();
    }
    memory.replace_run(run(Mode::Simple, Outcome::Success, 10, 0, 0)).unwrap();
    let stats = memory.stats().unwrap();
    let planner = &stats.modes[1];
    assert_eq!((planner.runs, planner.successes, planner.failures, planner.cancelled), (5, 3, 1, 1));
    assert_eq!((planner.success_rate, planner.mean_ms, planner.replanned), (Some(0.75), Some(3000.0), Some(0.25)));
    assert_eq!((planner.lookups.hit_rate, planner.lookups.mean_retrieval_ms), (Some(0.75), Some(0.2)));
    assert_eq!((planner.spent.tokens_in, planner.spent.calls_saved), (5000, 5));
    assert_eq!((planner.spent.tokens_out, planner.spent.tokens_cached), (250, 4500));
    let met: Vec<Option<bool>> = planner.goals.iter().map(Goal::met).collect();
    assert_eq!(met, [Some(false), Some(false)], "75 % is not above 85 %, and 25 % is not below 25 %");
    assert_eq!(stats.modes[0].goals.iter().map(Goal::met).collect::<Vec<_>>(), [Some(true), Some(true)]);
    assert_eq!(stats.modes[2].runs, 0);
}
