//! The outcomes of the runs, and the goals of each mode.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::memory::entries::session;
use crate::memory::entry::{Mode, names};
use crate::memory::memory_error::Result;
use crate::memory::store::unsigned;
use crate::memory::store::{self, Memory};

names! {
    Outcome {
        Success = "success",
        Failure = "failure",
        /// Stopped by the user: counted as use, but not as success or failure.
        Cancelled = "cancelled",
    }
}

/// One finished run of the agent: a row of the table, column by column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    pub session: String,
    pub task: String,
    pub mode: Mode,
    pub model: String,
    pub outcome: Outcome,
    /// Milliseconds since 1970.
    pub started: i64,
    pub duration_ms: u32,
    pub steps: u32,
    pub errors: u32,
    pub replans: u32,
    pub escalations: u32,
    /// Recalls and searches, and how many of them found something.
    pub lookups: u32,
    pub hits: u32,
    /// Microseconds that all of them took together.
    pub retrieval_us: u32,
    pub tokens: RunTokens,
    /// Millionths of the model's currency.
    pub cost_micros: u32,
    /// Calls of the model, and calls that were answered without it.
    pub calls: u32,
    pub calls_saved: u32,
}

/// The tokens of a run's questions and answers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTokens {
    pub prompt: u32,
    pub answer: u32,
    /// The part of the prompts' tokens that the provider read from its cache.
    pub cached: u32,
}

/// A goal and its measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    pub name: String,
    /// Shares are in 0..=1, times in milliseconds; `None` without any measurement.
    pub measured: Option<f64>,
    pub bound: f64,
    /// True if the measure must be above the bound, or below it.
    pub above: bool,
}

impl Goal {
    pub fn met(&self) -> Option<bool> {
        self.measured.map(|measured| if self.above { measured > self.bound } else { measured < self.bound })
    }
}

/// One mode's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeStats {
    pub mode: Mode,
    pub runs: u64,
    pub successes: u64,
    pub failures: u64,
    pub cancelled: u64,
    /// A share of the runs that were not cancelled.
    pub success_rate: Option<f64>,
    pub mean_ms: Option<f64>,
    /// Runs with at least one, as a share of the runs that were not cancelled.
    pub replanned: Option<f64>,
    pub escalated: Option<f64>,
    #[serde(flatten)]
    pub lookups: LookupStats,
    #[serde(flatten)]
    pub spent: SpentStats,
    pub goals: Vec<Goal>,
}

/// The lookups in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookupStats {
    /// The share of lookups with a result.
    pub hit_rate: Option<f64>,
    /// Milliseconds a lookup.
    pub mean_retrieval_ms: Option<f64>,
}

/// The cost of all runs together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpentStats {
    pub steps: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// The part of the tokens in that the provider read from its cache.
    #[serde(default)]
    pub tokens_cached: u64,
    pub cost_micros: u64,
    pub calls: u64,
    pub calls_saved: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// In the order of [`Mode::ALL`].
    pub modes: Vec<ModeStats>,
    /// Tokens of shortened chats and of the results found for prompts, divided by the tokens left of them.
    pub compression: Option<f64>,
}

impl Memory {
    /// Sets another outcome for the run of a task and returns the former one; `None` if the task has no run.
    pub fn set_outcome(&self, session: &str, task: &str, outcome: Outcome) -> Result<Option<Outcome>> {
        let (session, task) = (session.to_owned(), task.to_owned());
        self.write(move |conn| {
            let own = "task = ?2 AND session = (SELECT id FROM sessions WHERE name = ?1)";
            let sql = format!("SELECT outcome FROM runs WHERE {own} ORDER BY id DESC LIMIT 1");
            let former = conn.prepare_cached(&sql)?.query_row((&session, &task), |row| row.get(0)).optional()?;
            conn.prepare_cached(&format!("UPDATE runs SET outcome = ?3 WHERE {own}"))?
                .execute((&session, &task, outcome))?;
            Ok(former)
        })
    }

    /// Keeps a run, in place of the kept run of the same task: a run that paused and went on is one.
    pub fn replace_run(&self, run: RunRecord) -> Result<()> {
        self.write(move |conn| {
            let session = session(conn, &run.session)?;
            conn.execute("DELETE FROM runs WHERE session = ?1 AND task = ?2", (session, &run.task))?;
            insert(conn, &run)
        })
    }

    /// The figures of all runs, by mode.
    pub fn stats(&self) -> Result<Stats> {
        let modes: Result<Vec<ModeStats>> = Mode::ALL.iter().map(|mode| self.mode_stats(*mode)).collect();
        let (chats, recalls) = (self.compression()?, self.recalled_tokens()?);
        Ok(Stats { modes: modes?, compression: share(chats.0 + recalls.0, chats.1 + recalls.1) })
    }
}

fn insert(conn: &Connection, run: &RunRecord) -> Result<()> {
    let sql = "INSERT INTO runs (session, task, mode, model, outcome, started, duration_ms, steps, errors, replans, \
               escalations, lookups, hits, retrieval_us, tokens_in, tokens_out, cost_micros, calls, calls_saved, \
               tokens_cached) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";
    let session = session(conn, &run.session)?;
    conn.execute(
        sql,
        rusqlite::params![
            session,
            run.task,
            run.mode,
            run.model,
            run.outcome,
            run.started,
            run.duration_ms,
            run.steps,
            run.errors,
            run.replans,
            run.escalations,
            run.lookups,
            run.hits,
            run.retrieval_us,
            run.tokens.prompt,
            run.tokens.answer,
            run.cost_micros,
            run.calls,
            run.calls_saved,
            run.tokens.cached
        ],
    )?;
    Ok(())
}

impl Memory {
    fn mode_stats(&self, mode: Mode) -> Result<ModeStats> {
        let sql = "SELECT count(*), total(outcome = 'success'), total(outcome = 'failure'), \
                   total(iif(outcome <> 'cancelled', duration_ms, 0)), total(outcome <> 'cancelled' AND replans > 0), \
                   total(outcome <> 'cancelled' AND escalations > 0), total(lookups), total(hits), total(retrieval_us), \
                   total(steps), total(tokens_in), total(tokens_out), total(cost_micros), total(calls), total(calls_saved), \
                   total(tokens_cached) FROM runs WHERE mode = ?1";
        self.read(|conn| {
            let rows = store::all(conn, sql, [mode], |row| {
                let number = |at| Ok::<u64, rusqlite::Error>(row.get::<_, f64>(at)? as u64);
                let (runs, successes, failures) = (unsigned(row, 0)?, number(1)?, number(2)?);
                let ended = successes + failures;
                let mut stats = ModeStats {
                    mode,
                    runs,
                    successes,
                    failures,
                    cancelled: runs.saturating_sub(ended),
                    success_rate: share(successes, ended),
                    mean_ms: share(number(3)?, ended),
                    replanned: share(number(4)?, ended),
                    escalated: share(number(5)?, ended),
                    lookups: LookupStats {
                        hit_rate: share(number(7)?, number(6)?),
                        mean_retrieval_ms: share(number(8)?, number(6)?).map(|us| us / 1000.0),
                    },
                    spent: SpentStats {
                        steps: number(9)?,
                        tokens_in: number(10)?,
                        tokens_out: number(11)?,
                        cost_micros: number(12)?,
                        calls: number(13)?,
                        calls_saved: number(14)?,
                        tokens_cached: number(15)?,
                    },
                    goals: Vec::new(),
                };
                stats.goals = goals(&stats);
                Ok(stats)
            })?;
            // An aggregate without groups always gives one row.
            rows.into_iter()
                .next()
                .ok_or_else(|| crate::memory::memory_error::MemoryError::Storage("no figures".to_owned()))
        })
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The goals of each mode: simple succeeds in more than 90 % within 10 s on average; planner in more than 85 % and
/// plans again in fewer than 25 %; supervised succeeds in more than 95 % and asks in fewer than 10 %.
fn goals(stats: &ModeStats) -> Vec<Goal> {
    let goal = |name: &str, measured, bound, above| Goal { name: name.to_owned(), measured, bound, above };
    let success = |bound| goal("success", stats.success_rate, bound, true);
    match stats.mode {
        Mode::Simple => vec![success(0.90), goal("mean time", stats.mean_ms, 10_000.0, false)],
        Mode::Planner => vec![success(0.85), goal("re-planned", stats.replanned, 0.25, false)],
        Mode::Supervised => vec![success(0.95), goal("escalated", stats.escalated, 0.10, false)],
    }
}

#[cfg(test)]
#[path = "metrics/tests.rs"]
mod tests;
