//! Shows the session's events in the editor: progress, one line at the end, and the pages of conversation and plan.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use crate::engine::end_line::TaskEnd;
use crate::engine::links::{ERROR, INFO, WARNING};
use crate::engine::question_page::AskedQuestion;
use crate::engine::turn_progress::TurnProgress;
use crate::engine::{EngineHost, helix_wording};
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_engine::api::{Delivery, Event, Phase, Subscription, TaskEvent, WaitPhase};

#[derive(Default)]
struct Shower {
    turns: u64,
    turn: Option<Arc<TurnProgress>>,
    /// Files that were changed in buffers; the user has to write them.
    unsaved: BTreeSet<String>,
    /// The words of the model since the task began.
    words: String,
    /// True if the task is about the plan, and whether it has changed anything.
    of_plan: bool,
    edited: bool,
}

/// Shows all events, until the session or the engine is gone.
pub(super) async fn follow(engine: Weak<EngineHost>, mut events: Subscription) {
    let mut shower = Shower::default();
    while let Some(delivery) = events.next().await {
        let Some(engine) = engine.upgrade() else { return };
        match delivery {
            Delivery::Event(envelope) => shower.take(&engine, envelope.event),
            Delivery::Resync(resync) => {
                if let Some(plan) = resync.state.plan {
                    shower.show(&engine, plan);
                }
            }
        }
    }
}

impl Shower {
    fn take(&mut self, engine: &Arc<EngineHost>, event: TaskEvent) {
        match event {
            TaskEvent::TurnBegan { by } => self.begin(engine, &by),
            TaskEvent::TurnEnded { .. } => {
                self.end();
                look_at_changes(engine);
                engine.look_at_blocks(engine.answers.page.uri());
            }
            TaskEvent::Answered { choice, .. } => {
                self.turn.iter().for_each(|turn| turn.asks(false));
                engine.question.close(engine, choice);
            }
            TaskEvent::Shown { event } => self.show(engine, event),
            TaskEvent::TakenUp { .. }
            | TaskEvent::OutsideBegan { .. }
            | TaskEvent::PhaseChanged { .. }
            | TaskEvent::StepBegan { .. }
            | TaskEvent::Did { .. }
            | TaskEvent::Traced { .. } => {}
        }
    }

    fn begin(&mut self, engine: &EngineHost, by: &str) {
        self.end();
        self.unsaved.clear();
        self.words.clear();
        (self.of_plan, self.edited) = (false, false);
        let now = engine.session.get().and_then(|session| session.agent.turn().now());
        if now.as_ref().is_some_and(|task| task.joined) {
            engine.asked_by(None);
        }
        let Some(link) = engine.buffers.links.used_last() else { return };
        self.turns += 1;
        let token = format!("sextant:{}", self.turns);
        let what = headline(&now.map_or_else(|| by.to_owned(), |task| task.what));
        self.turn = Some(TurnProgress::begin(link, token, &what));
    }

    fn end(&mut self) {
        if let Some(turn) = self.turn.take() {
            turn.end();
        }
    }

    fn works_on(&self, what: &str) {
        if let Some(turn) = &self.turn {
            turn.work(what, false);
        }
    }

    fn show(&mut self, engine: &Arc<EngineHost>, event: Event) {
        // The end of a progress clears Helix's status line: the last message of a task has to come behind it.
        if engine.session.get().is_some_and(|session| session.agent.turn().is_free()) {
            self.end();
        }
        match event {
            Event::Started { request, mode, model } => {
                let by = format!("{mode}, {model}");
                engine.answers.change(&engine.buffers, |text, page| text.begin(page, &request, &by));
            }
            Event::Progress { text } => {
                // The last report on a call of an outside client, which takes no turn.
                if self.turn.is_none() && std::mem::take(&mut self.edited) {
                    look_at_changes(engine);
                }
                self.works_on(&text);
            }
            Event::Words { text, thought } => self.words(engine, &text, thought),
            Event::Acting { tool, target, .. } => self.works_on(&format!("{tool} {target}")),
            Event::Acted { tool, ok, text, .. } => {
                let mark = if ok { "-" } else { "- ✗" };
                entry(engine, &format!("{mark} {tool}: {}", headline(&text)));
            }
            Event::Edited { path, .. } => {
                self.edited = true;
                if engine.buffers.mirror.of_file(&engine.setup.root.path().join(&path)).is_some() {
                    self.unsaved.insert(path);
                }
            }
            event @ Event::Plan { .. } => self.plan(engine, event),
            Event::Question { text, options, shows, .. } => self.question(engine, text, options, shows),
            Event::Phase { phase, detail, tokens } => self.phase(engine, phase, &detail, tokens),
            Event::Introduced { entries, of, .. } => self.introduced(engine, &of, &entries),
            Event::Trace { markdown } | Event::Page { markdown, .. } => {
                engine.answers.block(&engine.buffers, &markdown)
            }
            Event::Mode { mode } => engine.say(INFO, &format!("plans run in {mode} mode from now on")),
            Event::Interrupted { request, .. } => {
                let text = format!("“{request}” was interrupted; agent.resume goes on, agent.undo takes it back");
                engine.say(INFO, &text);
            }
            Event::Waiting { request, done, of } => {
                let text = format!("“{request}” waits, {done} of {} done; agent.resume goes on", counted(of, "step"));
                engine.say(INFO, &text);
            }
            Event::Finished { ok, summary, answer } => self.finished(engine, ok, &summary, &answer),
            Event::Failed { failure } | Event::Refused { failure, .. } => self.failed(engine, &failure),
            Event::Risk { .. }
            | Event::Review { .. }
            | Event::Place { .. }
            | Event::BlockTarget { .. }
            | Event::Places { .. }
            | Event::Log { .. }
            | Event::Conversation { .. }
            | Event::Answered
            | Event::Queued { .. }
            | Event::PlanChecked { .. } => {}
        }
    }

    fn question(&self, engine: &Arc<EngineHost>, text: String, options: Vec<String>, shows: Option<String>) {
        self.turn.iter().for_each(|turn| turn.asks(true));
        engine.question.ask(engine, AskedQuestion { text, options, shows });
    }

    fn phase(&self, engine: &EngineHost, phase: WaitPhase, detail: &str, tokens: u64) {
        self.turn.iter().for_each(|turn| turn.phase(phase, detail, tokens));
        if phase == WaitPhase::Retry {
            entry(engine, &format!("- {}", headline(detail)));
        }
    }

    fn words(&mut self, engine: &EngineHost, words: &str, thought: bool) {
        self.works_on(if thought { "thinking" } else { "answering" });
        if thought {
            return engine.answers.change(&engine.buffers, |text, page| text.think(page, words));
        }
        self.words.push_str(words);
        engine.answers.change(&engine.buffers, |text, page| text.words(page, words));
    }

    fn failed(&mut self, engine: &EngineHost, failure: &Failure) {
        engine.requests.ended(false);
        let line = helix_wording::failure(failure).one_line();
        engine.answers.block(&engine.buffers, &format!("**{line}**"));
        self.note(engine, &line);
        engine.changes.ended(engine, Some(failure));
        engine.say(ERROR, &helix_wording::failure_line(failure));
    }

    fn plan(&mut self, engine: &EngineHost, event: Event) {
        if let Event::Plan { phase, steps, done, failed, running, .. } = &event {
            if let Some(turn) = self.turn.as_ref().filter(|_| phase == "executing") {
                let finished = done + failed;
                turn.step(running.unwrap_or(finished.min(*steps)), *steps, finished);
            }
            if self.turn.is_some() && *phase == Phase::Planning.words() && *steps > 0 {
                engine.say(INFO, &format!("a plan of {} waits (agent.plan shows it)", counted(*steps, "step")));
            }
            if *steps == 0 {
                engine.say(INFO, "the plan has no step: there is nothing to do; agent.show \"plan\" shows why");
            }
        }
        // An outcome that a late answer has changed: the task that runs or ran last may be another one.
        self.of_plan |= !matches!(event, Event::Plan { amend: true, .. });
        engine.plan.take(engine, event);
    }

    fn introduced(&self, engine: &EngineHost, of: &str, entries: &[sextant_engine::api::QuickfixEntry]) {
        engine.found.show(engine, of, entries);
        let one = |entry: &sextant_engine::api::QuickfixEntry| {
            format!("- {}:{}:{}: {}: {}\n", entry.path, entry.line, entry.column, entry.kind, headline(&entry.text))
        };
        if !entries.is_empty() {
            let list: String = entries.iter().map(one).collect();
            engine.answers.block(&engine.buffers, &format!("Introduced:\n\n{list}"));
        }
    }

    /// The last line: the result of the task, and the work that is left to the editor.
    fn finished(&mut self, engine: &EngineHost, ok: bool, summary: &str, answer: &str) {
        engine.requests.ended(ok);
        engine.answers.block(&engine.buffers, &format!("**{}**", summary.trim()));
        self.note(engine, summary);
        engine.changes.ended(engine, None);
        // The answer is the result of a question; for an edit the summary has more.
        let words = match answer.trim() {
            _ if self.edited => "",
            "" => self.words.trim(),
            answer => answer,
        };
        let open = self.unsaved.iter().filter(|path| unsaved(engine, path)).count();
        let asks = engine.question.options().is_some();
        let line = TaskEnd { ok, words, summary, unsaved: open, asks }.line();
        engine.say(if ok { INFO } else { WARNING }, &line);
    }

    /// Notes the end of a task about the plan in the plan's page.
    fn note(&self, engine: &EngineHost, text: &str) {
        if self.of_plan || engine.plan.is_being_made() {
            engine.plan.set(engine, |shown| text.clone_into(&mut shown.note));
        }
    }
}

/// Adds an entry to the list of what was done.
fn entry(engine: &EngineHost, line: &str) {
    engine.answers.change(&engine.buffers, |text, page| text.entry(page, line));
}

fn look_at_changes(engine: &Arc<EngineHost>) {
    let engine = Arc::clone(engine);
    tokio::spawn(async move { engine.changes.look(&engine).await });
}

/// True if the disk has another text than the buffer.
fn unsaved(engine: &EngineHost, path: &str) -> bool {
    let file = engine.setup.root.path().join(path);
    engine.buffers.mirror.of_file(&file).is_some_and(|open| {
        sextant_store::workspace::open_beneath::text(engine.setup.root.path(), path, 64 << 20).as_deref()
            != Some(&*open.text)
    })
}
