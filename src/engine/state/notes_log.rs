//! Collects the notes of a task for memory, as an observer of the task's actions.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::events::envelope::{EventEnvelope, TaskEvent};
use crate::events::fact::{CallFact, PlanEndFact, PlanFact, RecallFact, RunFact, StepChange, StepFact, TaskFact};
use crate::events::stream::Observer;
use crate::state::notes::{Approach, CLAUSE, Counted, Draft, Notes, SENTENCE, Tally, short};
use crate::state::task_kind;
use sextant_base::lock::lock;
use sextant_base::one_line::quoted;
use sextant_base::plural::counted;
use sextant_store::memory::entry::{EntryId, Kind, Role};
use sextant_store::memory::metrics::Outcome;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The weight of a plan that worked, beside a step that worked (1.0): planner mode recalls by it.
const PATTERN: f64 = 1.5;

/// The notes of one task. Only observed facts enter them; the writer of the memory takes them from here.
#[derive(Debug)]
pub(crate) struct NotesLog {
    request: String,
    notes: Mutex<Notes>,
}

/// The notes that a run leaves besides its entries.
pub(crate) struct RunNotes {
    /// With the lookups of this run in their sum.
    pub(crate) counted: Counted,
    pub(crate) approaches: Vec<Approach>,
    /// The lookups of this run.
    pub(crate) tally: Tally,
    pub(crate) recalled: BTreeSet<EntryId>,
}

impl Observer for NotesLog {
    fn notice(&self, envelope: &EventEnvelope) {
        let TaskEvent::Did { fact } = &envelope.event else { return };
        let mut notes = self.notes();
        match &**fact {
            TaskFact::WorkBegan => notes.clock.start(),
            TaskFact::CallSaved => notes.counts.calls_saved += 1,
            TaskFact::Escalated => notes.counts.escalations += 1,
            TaskFact::Said { role, text } => notes.said(*role, text),
            TaskFact::InView { any, codes } => {
                notes.had_work |= *any;
                notes.codes.clone_from(codes);
            }
            TaskFact::Recalled { recall } => recalled(&mut notes, recall),
            TaskFact::ToolCalled { call } => called(&mut notes, call),
            TaskFact::AnswerGiven { question, answer } => {
                let content = format!("Asked “{}”, the user chose: {}.", short(question, 140), short(answer, 60));
                notes.add(Kind::UserFeedback, &content);
            }
            TaskFact::PlanMade { plan } => plan_made(&mut notes, plan),
            TaskFact::PlanChanged { words, changes } => plan_changed(&mut notes, &self.request, words, changes),
            TaskFact::StepEnded { step } => step_ended(&mut notes, step),
            TaskFact::RunEnded { run } => run_ended(&mut notes, &self.request, run),
            TaskFact::BudgetRenewed { .. } | TaskFact::UserWaited { .. } | TaskFact::ModelAnswered { .. } => {}
        }
    }
}

impl NotesLog {
    pub(crate) fn new(request: &str) -> Self {
        Self { request: request.to_owned(), notes: Mutex::default() }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        lock(&self.notes)
    }

    /// Continues the count of another process.
    pub(crate) fn count_on(&self, counted: Counted) {
        *self.notes() = Notes::count_on(counted);
    }

    pub(crate) fn counted(&self) -> Counted {
        self.notes().counted()
    }

    /// When the work began, in milliseconds since 1970; 0 before it did.
    pub(crate) fn started(&self) -> i64 {
        self.notes().clock.started
    }

    pub(crate) fn worked(&self) -> Duration {
        self.notes().clock.worked()
    }

    /// True if a diagnostic was in view when it began.
    pub(crate) fn had_work(&self) -> bool {
        self.notes().had_work
    }

    pub(crate) fn has_drafts(&self) -> bool {
        !self.notes().drafts.is_empty()
    }

    /// Takes the drafts; they count as written from here on.
    pub(crate) fn take_drafts(&self) -> Vec<Draft> {
        std::mem::take(&mut self.notes().drafts)
    }

    /// The notes of the run that is over; the next one of the same task counts its own.
    pub(crate) fn take_run(&self) -> RunNotes {
        let mut notes = self.notes();
        let tally = std::mem::take(&mut notes.lookups.tally);
        let sum = &mut notes.lookups.total;
        sum.lookups += tally.lookups;
        sum.hits += tally.hits;
        sum.retrieval_us = sum.retrieval_us.saturating_add(tally.retrieval_us);
        RunNotes {
            counted: notes.counted(),
            approaches: std::mem::take(&mut notes.approaches),
            tally,
            recalled: std::mem::take(&mut notes.lookups.recalled),
        }
    }
}

fn recalled(notes: &mut Notes, recall: &RecallFact) {
    notes.lookups.recalled.extend(&recall.entries);
    let tally = &mut notes.lookups.tally;
    *tally = Tally {
        lookups: tally.lookups + 1,
        hits: tally.hits + u32::from(recall.hit),
        retrieval_us: tally.retrieval_us.saturating_add(recall.took_us),
        found: tally.found + recall.found,
        given: tally.given + recall.given,
    };
}

/// Adds the result of a tool call: a failure, or the success that repaired one.
fn called(notes: &mut Notes, call: &CallFact) {
    let (tool, reason) = (&call.tool, &call.problem);
    let symbol = call.fix.as_ref().map_or(&call.subject, |fix| &fix.symbol);
    let title = call.fix.as_ref().map(|fix| &fix.title);
    let what = title.map_or_else(|| format!("{tool} {symbol}"), |title| format!("“{title}” in {symbol}"));
    notes.counts.steps += 1;
    let (kind, content) = if call.ok {
        let repaired = notes.open_error.take_if(|(failed, _)| call.edits || failed == tool);
        let Some((_, error)) = repaired else {
            tried(notes, call);
            return;
        };
        (Kind::Solution, format!("After “{error}” this worked: {}.", what.trim_end()))
    } else {
        notes.counts.errors += 1;
        if call.is_circumstance {
            return;
        }
        notes.open_error = Some((tool.clone(), short(&format!("{}: {reason}", what.trim_end()), CLAUSE)));
        (Kind::Error, format!("{} failed: {reason}", what.trim_end()))
    };
    let draft = notes.add(kind, &content);
    draft.tools.push(tool.clone());
    let file = SymbolPath::parse(symbol).file;
    if !file.is_empty() {
        draft.files.push(file);
    }
    if call.ok || call.taken_back {
        tried(notes, call);
    }
}

/// Adds an edit as an approach to its goal.
fn tried(notes: &mut Notes, call: &CallFact) {
    if !call.edits {
        return;
    }
    let code = call.fix.as_ref().map(|fix| &fix.code).filter(|code| !code.is_empty());
    let kind = code.map_or_else(|| task_kind::kind(&call.goal, &notes.codes), |code| format!("fix {code}"));
    notes.approaches.push(Approach {
        kind,
        approach: call.fix.as_ref().map_or(&call.tool, |fix| &fix.title).clone(),
        success: call.ok,
        note: short(&call.problem, SENTENCE),
        checkpoint: call.checkpoint.clone(),
    });
}

fn plan_made(notes: &mut Notes, plan: &PlanFact) {
    if let Some(title) = &plan.refused {
        let title = short(title, 100);
        notes.add(Kind::UserFeedback, &format!("The user did not run the plan {}.", quoted(&title)));
    }
    let titles: Vec<String> = plan.steps.iter().map(|title| short(title, 60)).collect();
    let draft = notes.add(Kind::Plan, &format!("Plan “{}”: {}", short(&plan.title, 80), titles.join("; ")));
    draft.files.clone_from(&plan.files);
    notes.clock.stop();
}

/// Adds the user's change of a plan that was shown, with its words. Removed steps are a lesson for plans of this kind;
/// so are steps in other words.
fn plan_changed(notes: &mut Notes, request: &str, words: &str, changes: &[StepChange]) {
    let words = short(words, 100);
    notes.add(Kind::UserFeedback, &format!("The user wanted the plan otherwise: {words}"));
    for change in changes {
        let content = match change {
            StepChange::Reworded { from, to } => {
                format!("The user reworded the step “{}”: {}", short(from, 80), short(to, 100))
            }
            StepChange::TakenOut { title } => {
                let title = short(title, 80);
                let (kind, note) = (task_kind::plan_kind(request), format!("taken out by the user: {words}"));
                let (approach, checkpoint) = (format!("step {title}"), String::new());
                notes.approaches.push(Approach { kind, approach, success: false, note, checkpoint });
                format!("The user took the step “{title}” out of the plan.")
            }
            StepChange::Added { title } => format!("The user added the step {}.", quoted(&short(title, 100))),
        };
        notes.add(Kind::UserFeedback, &content);
    }
}

fn step_ended(notes: &mut Notes, step: &StepFact) {
    let (kind, word) = if step.done { (Kind::Success, "done") } else { (Kind::Error, "failed") };
    let content = format!("Step “{}” {word}: {}", short(&step.title, 100), step.outcome);
    notes.add(kind, &content).files.clone_from(&step.files);
}

fn run_ended(notes: &mut Notes, request: &str, run: &RunFact) {
    let success = run.how == Outcome::Success;
    if let Some(plan) = &run.plan {
        plan_ended(notes, request, run, plan);
    } else if success && !run.files.is_empty() {
        let content = format!("“{}”: {}", short(request, 100), run.summary);
        notes.add(Kind::Success, &content).files.clone_from(&run.files);
    }
    notes.clock.stop();
    notes.said(Role::Assistant, &run.said);
}

fn plan_ended(notes: &mut Notes, request: &str, run: &RunFact, plan: &PlanEndFact) {
    let (kind, success) = (task_kind::plan_kind(request), run.how == Outcome::Success);
    if success {
        let titles: Vec<String> = plan.steps.iter().map(|title| short(title, 60)).collect();
        let content = format!("{kind}: {} worked: {}", counted(titles.len(), "step"), titles.join("; "));
        let draft = notes.add(Kind::Pattern, &content);
        draft.files.clone_from(&run.files);
        draft.relevance = if plan.replans == 0 { PATTERN } else { 1.0 };
    }
    if plan.over {
        let approach = format!("{}, {} replanned", counted(plan.steps.len(), "step"), plan.replans);
        let (note, checkpoint) = (String::new(), String::new());
        notes.approaches.push(Approach { kind, approach, success, note, checkpoint });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::work_mode::Mode;
    use crate::state::call_summary::{Called, Subject, came_back};
    use crate::state::notes::TAKEN_BACK;
    use crate::state::offered::Offered;
    use crate::state::task::{Task, TaskWork};
    use crate::state::task_scope::Scope;
    use sextant_base::failure::FailureKind;
    use sextant_model::tools::Access;

    fn task() -> Task {
        let mut task = Task::new("fix total", Mode::Simple, None, Scope::Workspace);
        task.work.reports.offers.offered.push(Offered {
            id: "f1".into(),
            key: "Add None check|a.py::f|bad".into(),
            about: "a.py::f|bad".into(),
            code: "reportX".into(),
        });
        task
    }

    fn called(tool: &str, access: Access, subject: Subject) -> Called {
        Called { tool: tool.into(), access: Some(access), subject }
    }

    fn acted(work: &TaskWork, called: &Called, ok: bool, text: &str) {
        let failed = (!ok).then_some(FailureKind::Tool);
        work.events.did(came_back(&work.journal, &work.request, &work.reports.offers, called, failed, text));
    }

    #[test]
    fn an_error_and_what_repaired_it_are_kept_in_a_sentence() {
        let task = task();
        let edit = called("edit_symbol", Access::Edit, Subject::symbol("a.py::f"));
        acted(&task.work, &edit, false, "no single symbol f in a.py (there is g)\nmore");
        acted(&task.work, &called("read_file", Access::Read, Subject::file("a.py")), true, "def f(): ...");
        acted(&task.work, &edit, true, "edited a.py::f");
        acted(&task.work, &called("edit_file", Access::Edit, Subject::file("b.py")), true, "edited b.py");
        assert!(task.work.notes.has_drafts());
        let drafts = task.work.notes.take_drafts();
        let kept: Vec<(Kind, &str)> = drafts.iter().map(|draft| (draft.kind, draft.content.as_str())).collect();
        assert_eq!(kept[0], (Kind::Error, "edit_symbol a.py::f failed: no single symbol f in a.py (there is g)"));
        let solution =
            "After “edit_symbol a.py::f: no single symbol f in a.py (there is g)” this worked: edit_symbol a.py::f.";
        assert_eq!(kept[1..], [(Kind::Solution, solution)]);
        assert_eq!(drafts[1].files, ["a.py"]);
        let counted = task.work.notes.counted();
        assert_eq!((counted.steps, counted.errors), (4, 1));
        assert!(!task.work.notes.has_drafts(), "what was taken counts as written");
    }

    #[test]
    fn a_failure_of_a_server_is_counted_and_teaches_nothing() {
        let task = task();
        let call = CallFact { tool: "rename_symbol".into(), is_circumstance: true, ..CallFact::default() };
        task.work.events.did(TaskFact::ToolCalled { call });
        acted(&task.work, &called("edit_file", Access::Edit, Subject::file("a.py")), true, "edited a.py");
        let (drafts, errors) = (task.work.notes.take_drafts(), task.work.notes.counted().errors);
        assert_eq!((drafts, errors), (Vec::new(), 1), "no error, and so no solution of it");
    }

    #[test]
    fn a_fix_that_was_taken_back_is_no_approach_and_a_fix_that_is_gone_says_nothing_of_it() {
        let task = task();
        let apply = called("apply_fix", Access::Edit, Subject::fix("f1"));
        acted(&task.work, &apply, false, "there is no such fix any more");
        assert_eq!(task.work.notes.counted().approaches, []);
        acted(&task.work, &apply, false, &format!("{TAKEN_BACK}: it introduced an error"));
        acted(&task.work, &apply, true, "edited a.py::f");
        let approaches = task.work.notes.take_run().approaches;
        let learned: Vec<(&str, &str, bool)> =
            approaches.iter().map(|one| (one.kind.as_str(), one.approach.as_str(), one.success)).collect();
        assert_eq!(learned, [("fix reportX", "Add None check", false), ("fix reportX", "Add None check", true)]);
    }

    #[test]
    fn what_is_asked_of_memory_is_summed_up_over_the_runs_of_a_task() {
        let task = task();
        let recall = |entry, hit| RecallFact { entries: vec![EntryId(entry)], hit, took_us: 5, found: 9, given: 4 };
        task.work.events.did(TaskFact::Recalled { recall: recall(1, true) });
        task.work.events.did(TaskFact::Recalled { recall: recall(2, false) });
        let first = task.work.notes.take_run();
        let sums = |tally: Tally| (tally.lookups, tally.hits, tally.retrieval_us, tally.found, tally.given);
        assert_eq!((sums(first.tally), first.recalled.len()), ((2, 1, 10, 18, 8), 2));
        task.work.events.did(TaskFact::Recalled { recall: recall(1, true) });
        let second = task.work.notes.take_run();
        assert_eq!((second.tally.lookups, second.recalled.len()), (1, 1), "a run has its own");
        assert_eq!((second.counted.total.lookups, second.counted.total.hits), (3, 2), "the task has all");
    }

    #[test]
    fn a_fact_that_is_written_and_read_enters_the_same() {
        let (task, other) = (task(), task());
        let edit = called("edit_symbol", Access::Edit, Subject::symbol("a.py::f"));
        let run = RunFact {
            how: Outcome::Success,
            said: "done".into(),
            summary: "1 file changed".into(),
            files: vec!["a.py".into()],
            plan: None,
        };
        let step = StepFact { title: "one".into(), done: true, outcome: "ok".into(), files: vec!["a.py".into()] };
        let facts = [
            TaskFact::InView { any: true, codes: vec!["reportX".into()] },
            came_back(
                &task.work.journal,
                &task.work.request,
                &task.work.reports.offers,
                &edit,
                Some(FailureKind::Tool),
                "not there",
            ),
            TaskFact::CallSaved,
            TaskFact::AnswerGiven { question: "go on?".into(), answer: "yes".into() },
            TaskFact::StepEnded { step },
            TaskFact::Escalated,
            TaskFact::RunEnded { run },
        ];
        for fact in facts {
            let text = serde_json::to_string(&fact).unwrap();
            let read: TaskFact = serde_json::from_str(&text).unwrap();
            assert_eq!(read, fact, "{text}");
            task.work.events.did(fact);
            other.work.events.did(read);
        }
        assert_eq!(task.work.notes.counted(), other.work.notes.counted());
        let contents = |task: &Task| -> Vec<String> {
            task.work.notes.take_drafts().into_iter().map(|draft| draft.content).collect()
        };
        let notes = contents(&task);
        assert_eq!(notes, contents(&other));
        assert_eq!(
            notes,
            [
                "edit_symbol a.py::f failed: not there",
                "Asked “go on?”, the user chose: yes.",
                "Step “one” done: ok",
                "“fix total”: 1 file changed",
                "done"
            ]
        );
        let counted = task.work.notes.counted();
        assert_eq!((counted.calls_saved, counted.escalations, counted.had_work), (1, 1, true));
    }
}
