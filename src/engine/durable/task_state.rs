//! A task's state as one value with a version: all that another process needs to go on from here.
//!
//! It is small whatever the task has done: messages are stored apart, and changes are in the checkpoints.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::durable::stored_messages::StoredConversation;
use crate::plan::Plan;
use crate::plan::next_decision::Trigger;
use crate::plan::work_mode::Mode;
use crate::state::authority::Consent;
use crate::state::notes::Counted;
use crate::state::task::{Task, TaskProgress};
use crate::state::task_scope::Scope;
use sextant_base::token_estimate::head_and_tail;
use sextant_model::step::Usage;

/// Grows when an older program could not read the state.
const VERSION: u32 = 1;

/// Bytes of the largest state that is stored.
pub(crate) const LARGEST: usize = 64 << 10;

/// The most entries of a list that only spares a task repeated tries.
const TRIED: usize = 50;
/// Bytes of each of them.
const NAME: usize = 200;

/// The step in work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Counted from 1.
    pub step: usize,
    /// Checkpoints of the task before the step.
    pub mark: usize,
}

/// Where a task came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunOrigin {
    /// The client outside that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The process that keeps it; empty until it is stored.
    #[serde(default)]
    pub process: String,
    #[serde(default)]
    pub current_file: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState {
    version: u32,
    pub id: String,
    pub request: String,
    #[serde(flatten)]
    pub origin: RunOrigin,
    pub mode: Mode,
    pub scope: Scope,
    /// `None` for a task without a plan.
    #[serde(default)]
    pub plan: Option<Plan>,
    #[serde(default)]
    pub running: Option<Running>,
    /// The reason why the plan was being made again.
    #[serde(default)]
    pub replanning: Option<Trigger>,
    /// The known progress of the plan beside it.
    #[serde(flatten)]
    pub progress: TaskProgress,
    #[serde(default)]
    pub step: u32,
    #[serde(default)]
    pub errors: u32,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default)]
    pub tried: BTreeSet<String>,
    #[serde(default)]
    pub survived: BTreeMap<String, u32>,
    /// The messages, where an older program has stored them here: see [`StoredConversation`].
    #[serde(flatten, skip_serializing)]
    pub said: StoredConversation,
    /// The user's permissions, and whether the open steps are still those that were approved.
    #[serde(default)]
    pub consent: Consent,
    #[serde(default)]
    pub counted: Counted,
    /// The reason why the task cannot be resumed, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
}

impl RunState {
    pub(crate) fn of(task: &Task, plan: Option<&Plan>) -> Self {
        let state = Self {
            version: VERSION,
            id: task.work.journal.task.clone(),
            request: task.work.request.clone(),
            origin: RunOrigin {
                client: task.work.intent.client.clone(),
                process: String::new(),
                current_file: task.work.intent.current_file.clone(),
            },
            mode: task.work.mode,
            scope: task.work.scope.clone(),
            plan: plan.cloned(),
            running: task.keep.mark.map(|mark| Running { step: task.work.plan_step, mark }),
            replanning: task.keep.replanning.clone(),
            progress: task.progress.clone(),
            step: task.work.step,
            errors: task.counts.errors,
            usage: task.work.spent.now().used,
            tried: task.work.reports.offers.tried.iter().filter(|key| key.len() <= NAME).take(TRIED).cloned().collect(),
            survived: task
                .work
                .reports
                .offers
                .survived
                .iter()
                .filter(|(key, _)| key.len() <= NAME)
                .take(TRIED)
                .map(owned)
                .collect(),
            said: StoredConversation::default(),
            consent: task.work.intent.consent.clone(),
            counted: task.work.notes.counted(),
            ends: None,
        };
        state.within(LARGEST)
    }

    /// Leaves out as little as brings the state to this size. Parts that only spare work go first, then texts, and at
    /// last the parts that a resume needs; the state records that then.
    fn within(mut self, bytes: usize) -> Self {
        let fits = |state: &Self| serde_json::to_string(state).is_ok_and(|text| text.len() <= bytes);
        if fits(&self) {
            return self;
        }
        let newest = |count: usize| count.saturating_sub(TRIED);
        self.counted.approaches.drain(..newest(self.counted.approaches.len()));
        self.consent.forget_old(TRIED);
        for text in [8192, 2048, 512, 64] {
            if fits(&self) {
                return self;
            }
            self.shorten_texts(text);
        }
        if !fits(&self) {
            let kept = Self { ends: Some(TOO_LARGE.to_owned()), ..self.head() };
            tracing::warn!(task = kept.id, "the state of a task is too large to go on with it in another process");
            return kept;
        }
        self
    }

    fn shorten_texts(&mut self, bytes: usize) {
        let cut = |text: &mut String| *text = head_and_tail(text, bytes / 4);
        for step in self.plan.iter_mut().flat_map(|plan| &mut plan.steps) {
            step.result.output.iter_mut().for_each(|output| cut(&mut output.text));
            cut(&mut step.result.outcome);
        }
        self.progress.course.inputs.iter_mut().for_each(|(_, text)| cut(text));
        self.progress.course.escalations.iter_mut().for_each(cut);
        // The steps of a plan hold the work to do; without one the request does.
        if self.plan.is_some() || bytes <= 2048 {
            cut(&mut self.request);
        }
        cut(&mut self.consent.foreseen);
        self.consent.forget_old(bytes / 128);
    }

    /// The part that an undo and a list need.
    fn head(&self) -> Self {
        let mut request = self.request.clone();
        request.truncate((0..=request.len().min(1024)).rev().find(|at| request.is_char_boundary(*at)).unwrap_or(0));
        Self {
            version: self.version,
            id: self.id.clone(),
            request,
            origin: RunOrigin { current_file: None, ..self.origin.clone() },
            mode: self.mode,
            scope: Scope::Workspace,
            plan: None,
            running: None,
            replanning: None,
            progress: TaskProgress::default(),
            step: self.step,
            errors: self.errors,
            usage: self.usage,
            tried: BTreeSet::new(),
            survived: BTreeMap::new(),
            said: StoredConversation::default(),
            consent: Consent::default(),
            counted: Counted { approaches: Vec::new(), open_error: None, ..self.counted.clone() },
            ends: None,
        }
    }

    /// Reads a stored state. The error gives the reason why it cannot be used.
    pub(crate) fn read(value: Value) -> Result<Self, String> {
        let version = value["version"].as_u64().unwrap_or(0);
        if version > u64::from(VERSION) {
            return Err(format!("it was left by a newer Sextant (state {version}, this one reads {VERSION})"));
        }
        serde_json::from_value(value).map_err(|error| format!("its state cannot be read ({error})"))
    }

    /// Every path that the state names, each to be confirmed before the task is resumed.
    pub(crate) fn paths(&self) -> BTreeSet<&str> {
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        let symbols = steps.flat_map(|step| step.symbols.iter().chain(&step.extent.creates));
        let mut paths: BTreeSet<&str> = symbols.map(|symbol| symbol.file.as_str()).collect();
        paths.extend(self.origin.current_file.as_deref());
        for scope in [&self.scope].into_iter().chain(&self.progress.asked_scope) {
            paths.extend(scope.whole_files().iter().map(String::as_str));
            paths.extend(scope.symbols().iter().map(|symbol| symbol.file.as_str()));
        }
        paths.remove("");
        paths
    }

    /// The task, without its journal and its baseline, and its plan.
    pub(crate) fn into_task(self) -> (Task, Option<Plan>) {
        let mut task = Task::named(self.id, &self.request, self.mode, self.origin.current_file, self.scope);
        let steps = self.plan.as_ref().map_or(0, |plan| plan.steps.len());
        task.progress = self.progress;
        task.progress.question.take_if(|question| question.step >= steps);
        (task.work.step, task.counts.errors) = (self.step, self.errors);
        task.work.spent.count_on(self.usage);
        (task.work.reports.offers.tried, task.work.reports.offers.survived) = (self.tried, self.survived);
        self.said.into_task(&mut task.conversation);
        task.work.intent.consent = self.consent;
        task.work.notes.count_on(self.counted);
        task.keep.replanning = self.replanning;
        if let Some(running) = self.running {
            (task.work.plan_step, task.keep.mark) = (running.step, Some(running.mark));
        }
        (task, self.plan)
    }
}

fn owned(pair: (&String, &u32)) -> (String, u32) {
    (pair.0.clone(), *pair.1)
}

/// The reason why a state holds no plan and no scope.
const TOO_LARGE: &str = "its plan and what it may edit are more than is kept of a task";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::user_question::Question;
    use crate::plan::{Step, StepResult, StepState};
    use sextant_text::symbols::symbol_path::SymbolPath;

    fn symbol() -> impl Strategy<Value = SymbolPath> {
        ("[a-z]{1,4}(\\.py|/x\\.py|)", "([A-Z]::)?[a-z]{0,3}(#2)?")
            .prop_map(|(file, names)| SymbolPath::new(file, names))
    }

    fn plan() -> impl Strategy<Value = Plan> {
        let state = prop_oneof![
            Just(StepState::Open),
            Just(StepState::Running),
            Just(StepState::Done),
            Just(StepState::Failed)
        ];
        let step = (".{0,6}", proptest::collection::vec(symbol(), 0..3), state, ".{0,4}").prop_map(
            |(title, symbols, state, outcome)| Step {
                title,
                symbols,
                state,
                result: StepResult { outcome, ..StepResult::default() },
                ..Step::default()
            },
        );
        (".{0,6}", proptest::collection::vec(step, 0..4)).prop_map(|(title, steps)| Plan {
            title,
            steps,
            ..Plan::default()
        })
    }

    fn scope() -> impl Strategy<Value = Scope> {
        prop_oneof![
            Just(Scope::Workspace),
            proptest::collection::vec("[a-z.]{1,5}", 0..3).prop_map(Scope::Files),
            proptest::collection::vec(symbol(), 0..3).prop_map(Scope::Symbols),
        ]
    }

    proptest! {
        #[test]
        fn a_state_survives_being_kept_and_taken_up(
            (request, scope, plan) in (".{0,8}", scope(), proptest::option::of(plan())),
            (mark, counts) in (proptest::option::of(0..9usize), proptest::array::uniform4(0..99u32)),
            (names, survived) in (proptest::collection::btree_set(".{0,5}", 0..4), proptest::collection::btree_map(".{0,5}", 0..9u32, 0..4)),
            question in proptest::option::of((".{0,9}", 0..9usize)),
            gone in proptest::option::of(".{0,5}"),
        ) {
            let mut task = Task::new(&request, Mode::Planner, Some("a.py".into()), scope);
            (task.work.step, task.counts.errors, task.progress.plan_errors, task.progress.replans) = counts.into();
            (task.work.reports.offers.tried, task.work.reports.offers.survived) = (names.clone(), survived);
            task.work.spent.count_on(Usage { calls: 3, ..Usage::default() });
            (task.work.intent.consent.allowed, task.work.intent.consent.withheld) = (names, task.work.reports.offers.tried.clone());
            task.work.intent.consent.replanned = mark.is_some();
            let (steps, errors) = (task.work.step, task.counts.errors);
            let (escalations, had_work) = (task.progress.replans, mark.is_some());
            task.work.notes.count_on(Counted { steps, errors, escalations, had_work, ..Counted::default() });
            let steps = plan.as_ref().map_or(0, |plan| plan.steps.len());
            let question = question.filter(|_| steps > 0);
            task.progress.question = question.map(|(text, mark)| Question { step: steps - 1, text, mark, ..Question::default() });
            task.keep.mark = mark;
            task.work.plan_step = usize::from(mark.is_some());
            task.keep.replanning = gone.map(Trigger::MissingResource);
            let state = RunState::of(&task, plan.as_ref());
            let text = serde_json::to_string(&state).unwrap();
            let back = RunState::read(serde_json::from_str(&text).unwrap()).unwrap();
            prop_assert_eq!(&back, &state);
            let (again, plan) = back.into_task();
            prop_assert_eq!(&again.work.journal.task, &task.work.journal.task);
            prop_assert_eq!(RunState::of(&again, plan.as_ref()), state);
        }
    }

    #[test]
    fn a_state_of_before_the_consent_and_the_counts_was_kept_is_read() {
        let task = Task::new("fix it", Mode::Planner, None, Scope::Workspace);
        let mut old = serde_json::to_value(RunState::of(&task, None)).unwrap();
        let fields = old.as_object_mut().unwrap();
        assert!(fields.remove("consent").is_some() && fields.remove("counted").is_some());
        let (again, _) = RunState::read(old).unwrap().into_task();
        assert_eq!((again.work.request.as_str(), again.work.notes.counted().steps), ("fix it", 0));
        assert_eq!(again.work.intent.consent, Consent::default());
    }

    #[test]
    fn a_state_is_small_whatever_the_task_has_done_and_says_what_it_lacks() {
        let mut task = Task::new("fix it", Mode::Planner, None, Scope::Workspace);
        task.conversation.transcript.tell("x".repeat(9 << 20));
        task.work.reports.offers.tried = (0..5000).map(|n| format!("fix {n}")).collect();
        task.work.reports.offers.survived = (0..5000).map(|n| (format!("complaint {n}"), n)).collect();
        let output = |n: usize| crate::plan::output::StepOutput::new(&format!("line {n}\n").repeat(900), Vec::new());
        let step = |n| Step {
            title: format!("step {n}"),
            symbols: vec![SymbolPath::new("a.py", format!("f{n}"))],
            result: StepResult { output: Some(output(n)), ..StepResult::default() },
            ..Step::default()
        };
        let mut plan = Plan { steps: (0..60).map(step).collect(), ..Plan::default() };
        let size = |state: &RunState| serde_json::to_string(state).unwrap().len();
        let state = RunState::of(&task, Some(&plan));
        assert!(size(&state) <= LARGEST, "{}", size(&state));
        assert_eq!((state.plan.as_ref().map(|plan| plan.steps.len()), &state.ends), (Some(60), &None));

        plan.steps = (0..3000).map(step).collect();
        let state = RunState::of(&task, Some(&plan));
        assert!(size(&state) <= LARGEST && state.ends.is_some(), "{}", size(&state));
        assert_eq!(state.request, "fix it");
    }

    #[test]
    fn a_state_of_before_the_conversation_was_kept_apart_is_read_with_it() {
        let task = Task::new("fix it", Mode::Simple, None, Scope::Workspace);
        let mut old = serde_json::to_value(RunState::of(&task, None)).unwrap();
        old["transcript"] = serde_json::json!({"fence": "f", "model": "m", "messages": [{"user": "fix it"}]});
        old["results"] = serde_json::json!([{"tool": "search", "ok": true, "text": "found"}]);
        let (again, _) = RunState::read(old).unwrap().into_task();
        assert!(again.conversation.transcript.tells("fix it"));
        assert_eq!(again.conversation.results[0].text, "found");
    }

    #[test]
    fn what_is_no_state_is_said_and_not_guessed() {
        assert!(RunState::read(Value::Null).is_err());
        assert!(RunState::read(serde_json::json!({"version": 99})).unwrap_err().contains("newer"));
        assert!(RunState::read(serde_json::json!({"version": 1, "id": 7})).is_err());
    }
}
