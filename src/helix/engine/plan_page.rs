//! Keeps the plan's page in an editor up to date, and takes it over when the user has changed and saved it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::engine::EngineHost;
use crate::engine::links::{ERROR, INFO};
use crate::engine::plan_page_text::{self, PlanText};
use crate::engine::streamed_page::{EditorPage, PageKind};
use crate::link::{EngineSays, OwnActions, OwnHovers};
use crate::message_line;
use sextant_base::document_fault::DocumentFault;
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_base::plural::counted;
use sextant_engine::api::{EditedPlan, Event, Origin, PlanRefused, StepState};

#[derive(Debug)]
pub(super) struct PlanPage {
    pub(super) page: EditorPage,
    shown: Mutex<PlanText>,
    /// Locked while the buffer's text is taken over: an approval right behind a save waits for it.
    taking_over: tokio::sync::Mutex<()>,
    /// True while a saved text waits for the end of the running task.
    waits_to_rest: AtomicBool,
}

impl PlanPage {
    pub(super) fn new(folder: &Path) -> Self {
        let page = EditorPage::new(folder, "plan.md", PageKind::Document);
        Self {
            page,
            shown: Mutex::default(),
            taking_over: tokio::sync::Mutex::default(),
            waits_to_rest: AtomicBool::new(false),
        }
    }

    /// Lets the user's changes in the page make way for the next text; the editor's own undo brings them back.
    pub(super) fn give_way(&self, engine: &EngineHost) {
        if let Some(text) = self.page.edited(&engine.buffers) {
            self.page.accept(&engine.buffers, &text);
            engine.tell_faults(self.page.uri(), &text, &[]);
            engine.say(INFO, "the plan's page had changes of yours: undo in it (u) brings them back");
        }
    }

    /// Prepares the page for a plan that is about to be made.
    pub(super) fn begin(&self, engine: &EngineHost, request: &str) {
        self.give_way(engine);
        self.set(engine, |shown| *shown = PlanText { request: request.to_owned(), ..PlanText::default() });
    }

    pub(super) fn set(&self, engine: &EngineHost, change: impl FnOnce(&mut PlanText)) {
        let text = {
            let mut shown = lock(&self.shown);
            change(&mut shown);
            shown.text()
        };
        self.page.change(&engine.buffers, |page| *page = text);
        self.dress(engine);
    }

    pub(super) fn take(&self, engine: &EngineHost, event: Event) {
        self.set(engine, |shown| {
            // A late answer changes an outcome: the words of the end still hold.
            if !matches!(event, Event::Plan { amend: true, .. }) {
                shown.note.clear();
            }
            shown.take(event);
        });
    }

    /// True if a plan was asked for and is not there yet.
    pub(super) fn is_being_made(&self) -> bool {
        let shown = lock(&self.shown);
        shown.markdown.is_empty() && !shown.request.is_empty()
    }

    /// True if the page shows a text that belongs to a plan.
    pub(super) fn stands(&self) -> bool {
        let shown = lock(&self.shown);
        !shown.markdown.is_empty() || !shown.request.is_empty()
    }

    /// Sends the proxies the actions on offer in the page.
    pub(super) fn dress(&self, engine: &EngineHost) {
        let uri = self.page.uri().to_owned();
        let text = self.page.edited(&engine.buffers).map_or_else(|| self.page.wanted(), |text| text.to_string());
        let steps = plan_page_text::steps(&text);
        let (items, hovers) = (lock(&self.shown).actions(&steps), plan_page_text::hovers(&text, &steps));
        engine.tell_all(&EngineSays::Actions(OwnActions { uri: uri.clone(), items }));
        engine.tell_all(&EngineSays::Hovers(OwnHovers { uri, items: hovers }));
    }

    /// Takes over the text that the user has saved; that of a plan that runs, when it has ended.
    pub(super) async fn saved(&self, engine: &Arc<EngineHost>) {
        if let Ok(session) = engine.session()
            && !session.agent.turn().is_free()
            && self.page.edited(&engine.buffers).is_some()
        {
            if self.waits_to_rest.swap(true, Ordering::SeqCst) {
                return;
            }
            engine.say(INFO, "your plan counts when the running task has ended (agent.stop ends it)");
            session.agent.turn().over().await;
            self.waits_to_rest.store(false, Ordering::SeqCst);
        }
        self.take_over(engine).await;
    }

    /// Makes the text of the buffer the current plan. If it cannot be, the user gets the reason, and the answer is
    /// false.
    pub(super) async fn take_over(&self, engine: &Arc<EngineHost>) -> bool {
        let _turn = self.taking_over.lock().await;
        let Some(text) = self.page.edited(&engine.buffers) else {
            engine.tell_faults(self.page.uri(), &text_of(self, engine), &[]);
            return true;
        };
        let base = self.page.base(&engine.buffers).map(|base| plan_page_text::without_comments(&base));
        let change = PlanChange::Write(&plan_page_text::without_comments(&text), base.as_deref());
        match self.change_plan(engine, change).await {
            Ok(notes) => {
                self.page.accept(&engine.buffers, &text);
                engine.tell_notes(self.page.uri(), &text, &notes);
                // The page's comments and spelling are set again, if the user has changed them.
                self.set(engine, |_| {});
                true
            }
            Err(PlanRefused::Faults(faults)) => {
                engine.tell_faults(self.page.uri(), &text, &faults);
                let first = faults.first().map(|fault| format!("line {}: {}", fault.line, fault.message));
                let many = match faults.len() {
                    0 | 1 => String::new(),
                    many => format!("{}; ", counted(many, "fault")),
                };
                let line = format!("{} ({many}the last plan stands)", first.unwrap_or_default());
                // The page has each of them on its line.
                engine.say(ERROR, &message_line::fit(&line, ""));
                false
            }
            Err(PlanRefused::Failure(failure)) => {
                engine.refuse(None, &failure);
                false
            }
        }
    }

    /// Skips an open step of the current plan, or opens one that failed or was skipped.
    pub(super) async fn mark(
        &self,
        engine: &Arc<EngineHost>,
        mark: StepState,
        number: Option<usize>,
    ) -> Result<(), Failure> {
        let command = if mark == StepState::Open { "agent.retry" } else { "agent.skip" };
        let unnamed = || Failure::user(format!("{command} needs the number of a step"), format!("write {command} 2"));
        let number = number.ok_or_else(unnamed)?;
        if self.page.edited(&engine.buffers).is_some() && !self.take_over(engine).await {
            return Ok(());
        }
        self.change_plan(engine, PlanChange::Mark(number, mark)).await.map_err(Failure::from)?;
        let marked = match mark {
            StepState::Open => format!("step {number} is open again"),
            _ => format!("step {number} is skipped (agent.retry {number} opens it)"),
        };
        engine.say(INFO, &marked);
        Ok(())
    }

    /// Changes the current plan. Returns the notes about its steps.
    async fn change_plan(
        &self,
        engine: &Arc<EngineHost>,
        change: PlanChange<'_>,
    ) -> Result<Vec<DocumentFault>, PlanRefused> {
        let session = engine.session().map_err(PlanRefused::Failure)?;
        let by = engine.buffers.links.used_last().map_or_else(|| "an editor".to_owned(), |link| link.editor());
        let held = session.agent.begin("a change of the plan", Origin::new(by));
        let held = held.map_err(PlanRefused::Failure)?;
        let changed = match change {
            PlanChange::Write(document, base) => session.agent.edit_plan(document, base).await,
            PlanChange::Mark(number, mark) => session.agent.mark_step(number, mark).await,
        };
        drop(held);
        let EditedPlan { event, notes, .. } = changed?;
        session.agent.emit(event);
        Ok(notes)
    }
}

/// A change of the plan by the user.
enum PlanChange<'a> {
    /// The page that was saved, and the one that the user began with.
    Write(&'a str, Option<&'a str>),
    /// The number of a step, counted from 1, and its mark.
    Mark(usize, StepState),
}

fn text_of(plan: &PlanPage, engine: &EngineHost) -> String {
    plan.page.open(&engine.buffers).map_or_else(String::new, |document| document.text.to_string())
}
