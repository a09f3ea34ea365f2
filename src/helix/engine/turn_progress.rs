//! Reports a running task as LSP progress: what it waits for and for how long, each second.
//!
//! Parts that have no room on a narrow screen are left out whole, the least important first.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::engine::links::EngineLink;
use crate::message_line::{self, NARROW};
use sextant_base::lock::lock;
use sextant_base::plural::counted;
use sextant_engine::api::WaitPhase;

/// The pause between two reports of the seconds.
const SECOND: Duration = Duration::from_secs(1);

/// The time that a message stays: Helix shows messages and progress in the same line.
const READ: Duration = Duration::from_secs(5);

/// The title of a task, which Helix puts before each report.
const TITLE: &str = "Sextant";

/// The work of a task that has asked the user. The last line loses the question at the next key.
const WAITS: &str = "waits for your answer (space a, agent.answer)";

/// The name of a proxy without a server in Helix's configuration.
const ALONE: &str = "sextant";

/// The current work of a task, and since when.
#[derive(Debug)]
struct CurrentWork {
    what: String,
    /// True if the words have times of their own.
    timed: bool,
    since: Instant,
    tokens: u64,
    /// The running step of a plan and the number of its steps, and the finished part in percent.
    step: Option<(usize, usize)>,
    percent: Option<usize>,
    /// The time since which the task waits for the user's answer.
    asks: Option<Instant>,
    over: bool,
}

/// A running task, and the place of its progress.
#[derive(Debug)]
pub(super) struct TurnProgress {
    link: Arc<EngineLink>,
    token: String,
    began: Instant,
    work: Mutex<CurrentWork>,
}

impl TurnProgress {
    /// Begins the progress, and keeps its seconds up to date until it is dropped.
    pub(super) fn begin(link: Arc<EngineLink>, token: String, what: &str) -> Arc<Self> {
        if link.can("/window/workDoneProgress") {
            // The answer adds nothing to what the editor would do anyway.
            let asked = Arc::clone(&link);
            let params = json!({"token": token});
            let create = async move { asked.ask("window/workDoneProgress/create", params, None).await };
            let mut create = Box::pin(create);
            // Sent before the beginning; its answer is waited for beside everything else.
            if futures::FutureExt::now_or_never(&mut create).is_none() {
                tokio::spawn(create);
            }
        }
        let since = Instant::now();
        let what = message_line::line(what);
        let begin = json!({"kind": "begin", "title": TITLE, "message": what, "cancellable": false});
        let work =
            CurrentWork { what, timed: false, since, tokens: 0, step: None, percent: None, asks: None, over: false };
        let progress = Arc::new(Self { link, token, began: since, work: Mutex::new(work) });
        progress.send(begin);
        let ticking = Arc::downgrade(&progress);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SECOND).await;
                let Some(progress) = ticking.upgrade() else { return };
                progress.report();
            }
        });
        progress
    }

    pub(super) fn end(&self) {
        // No report may come behind the end.
        let mut work = lock(&self.work);
        work.over = true;
        self.send(json!({"kind": "end"}));
    }

    /// Sets the thing that the task waits for.
    pub(super) fn phase(&self, phase: WaitPhase, detail: &str, tokens: u64) {
        let what = match phase {
            WaitPhase::Servers => "waiting for language servers",
            WaitPhase::Model => "waiting for the model",
            WaitPhase::Thinking => "thinking",
            WaitPhase::Retry => detail,
            WaitPhase::Working => "working",
        };
        lock(&self.work).tokens = tokens;
        self.work(what, phase == WaitPhase::Retry);
    }

    /// Sets the current work. The same work goes on with its seconds.
    pub(super) fn work(&self, what: &str, timed: bool) {
        {
            let mut work = lock(&self.work);
            let what = message_line::line(what);
            if work.what == what {
                return;
            }
            (work.what, work.timed, work.since) = (what, timed, Instant::now());
        }
        self.report();
    }

    /// Sets the running step of a plan.
    pub(super) fn step(&self, step: usize, of: usize, finished: usize) {
        {
            let mut work = lock(&self.work);
            (work.step, work.percent) = (Some((step, of)), (finished * 100).checked_div(of));
        }
        self.report();
    }

    /// Reports that a question is open, until it is closed.
    pub(super) fn asks(&self, is_open: bool) {
        lock(&self.work).asks = is_open.then(Instant::now);
    }

    fn report(&self) {
        let work = lock(&self.work);
        // The user has pressed a key since an earlier message, which clears the line.
        let in_turn = self.link.messaged().filter(|since| *since < self.began.elapsed());
        if work.over || in_turn.is_some_and(|since| since < READ) {
            return;
        }
        let mut value =
            json!({"kind": "report", "message": work.line(self.began.elapsed(), room(&self.link, work.percent))});
        if let Some(percent) = work.percent {
            value["percentage"] = json!(percent);
        }
        self.send(value);
    }

    fn send(&self, value: Value) {
        self.link.notify("$/progress", json!({"token": self.token, "value": value}));
    }
}

/// The columns that Helix leaves a report on a narrow screen: `ruff:  0% Sextant ⋅ ` stands before it.
fn room(link: &EngineLink, percent: Option<usize>) -> usize {
    let name = link.hello.server.as_ref().map_or(ALONE, |server| server.name.as_str());
    let percent = percent.map_or(0, |percent| format!("{percent:>2}% ").len());
    NARROW.saturating_sub(name.chars().count() + ": ".len() + percent + TITLE.len() + 3)
}

impl CurrentWork {
    /// The work in one line of so many characters, as far as other parts can be left out.
    fn line(&self, in_all: Duration, room: usize) -> String {
        let (what, timed, since) = match self.asks {
            Some(since) => (WAITS, false, since),
            None => (self.what.as_str(), self.timed, self.since),
        };
        let seconds = if timed { String::new() } else { format!(" {} s", since.elapsed().as_secs()) };
        let step = self.step.map(|(step, of)| format!("step {step} of {of}"));
        let work = Some(format!("{what}{seconds}"));
        let in_all = Some(format!("{} s in all", in_all.as_secs()));
        let tokens = match self.tokens {
            0 => None,
            tokens @ ..1000 => Some(counted(tokens, "token")),
            tokens => Some(format!("{}.{}k tokens", tokens / 1000, tokens % 1000 / 100)),
        };
        let joined = |parts: &[&Option<String>]| {
            let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
            parts.join(" · ")
        };
        let shorter =
            [joined(&[&step, &work, &in_all, &tokens]), joined(&[&step, &work, &in_all]), joined(&[&step, &work])];
        let fits = |line: &String| line.chars().count() <= room;
        // A wide screen shows all of a long work.
        shorter.into_iter().find(fits).unwrap_or_else(|| joined(&[&work]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_step_the_work_and_its_times() {
        let mut work = CurrentWork {
            what: "waiting for the model".into(),
            timed: false,
            since: Instant::now(),
            tokens: 0,
            step: None,
            percent: None,
            asks: None,
            over: false,
        };
        let line = |work: &CurrentWork| work.line(Duration::from_secs(12), 79);
        assert_eq!(line(&work), "waiting for the model 0 s · 12 s in all");
        (work.tokens, work.step) = (1290, Some((2, 3)));
        assert_eq!(line(&work), "step 2 of 3 · waiting for the model 0 s · 12 s in all · 1.2k tokens");
        (work.what, work.timed, work.tokens) = ("retry 2 of 4 in 3 s".into(), true, 290);
        assert_eq!(line(&work), "step 2 of 3 · retry 2 of 4 in 3 s · 12 s in all · 290 tokens");
        work.asks = Some(Instant::now());
        assert_eq!(line(&work), "step 2 of 3 · waits for your answer (space a, agent.answer) 0 s · 12 s in all");
    }

    #[test]
    fn parts_without_room_are_left_out_whole() {
        let work = CurrentWork {
            what: "waiting for the model".into(),
            timed: false,
            since: Instant::now(),
            tokens: 1079,
            step: Some((1, 5)),
            percent: Some(0),
            asks: None,
            over: false,
        };
        let line = |room| work.line(Duration::from_secs(2), room);
        assert_eq!(line(66), "step 1 of 5 · waiting for the model 0 s · 2 s in all · 1.0k tokens");
        assert_eq!(line(65), "step 1 of 5 · waiting for the model 0 s · 2 s in all");
        assert_eq!(line(51), "step 1 of 5 · waiting for the model 0 s");
        assert_eq!(line(38), "waiting for the model 0 s");
        assert_eq!(line(20), "waiting for the model 0 s");
    }
}
