//! Going on with a task that was paused, or whose process is gone, from where it was acknowledged last.

use tokio_util::sync::CancellationToken;

use crate::agent::durable::Durable;
use crate::agent::durable::recover::recorded;
use crate::agent::durable::state::RunState;
use crate::agent::journal::Journal;
use crate::agent::mode::{Mode, Phase};
use crate::agent::outcome::{Ending, Outcome};
use crate::agent::plan::make::plan_event;
use crate::agent::plan::{Plan, State, Steps};
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::traces;
use crate::base::failure::Failure;
use crate::editor::Document;
use crate::editor::event::Event;
use crate::memory::tasks::TaskState;

/// A task as it was found.
pub(crate) struct Waiting {
    pub(crate) phase: Phase,
    pub(crate) run: RunState,
    revision: i64,
}

impl Session {
    /// Goes on with the last task that is not over: one that was interrupted or stopped runs its open steps, the
    /// running one from its beginning; one that asks shows its question; a plan that was never approved is shown
    /// and waits, unless `approved`.
    pub async fn resume(&self, approved: bool, cancel: &CancellationToken) -> Ending<Outcome> {
        let mut events = Vec::new();
        let result = self.go_on(approved, Steps::All, cancel, &mut events).await;
        traces::keep(self).await;
        Ending::new(result, events, |outcome| (outcome.ok, outcome.summary.clone()))
    }

    pub(crate) async fn go_on(
        &self,
        approved: bool,
        steps: Steps,
        cancel: &CancellationToken,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Failure> {
        self.use_cancel(cancel);
        if self.has_record() {
            self.unless_stopped(cancel, self.durable()).await?;
        }
        self.recover_quietly().await;
        self.catch_up().await?;
        let Some(waiting) = self.waiting().await? else {
            // Without memory there is at most the plan of this process.
            if self.plan.lock().await.is_none() {
                return Err(nothing("nothing was begun here"));
            }
            return self.carry_out(Steps::All, cancel, events).await;
        };
        let (phase, running) = (waiting.phase, waiting.run.running);
        let (mut task, plan) = self.take_up(waiting).await?;
        task.spent.resume(task.usage);
        self.use_trace(&task.trace);
        self.editor.show(Event::Started {
            request: task.request.clone(),
            mode: task.mode.to_string(),
            model: self.model.name().to_owned(),
        });
        let Some(mut plan) = plan else {
            self.look_again(&mut task, cancel).await?;
            return self.run_ask(&mut task, cancel).await;
        };
        if let Some(running) = running {
            let left = self.roll_back_to(&mut task, running.mark, true).await?;
            if !left.is_empty() {
                let text = format!("left as you changed it since: {}", left.join(", "));
                self.editor.show(Event::Progress { text });
            }
            if let Some(step) = plan.steps.get_mut(running.step.saturating_sub(1)) {
                (step.state, step.outcome) = (State::Open, String::new());
            }
            task.keep.mark = None;
        }
        let waits = phase == Phase::Planning && !approved;
        if waits || task.question.is_some() {
            self.show_waiting(plan, task, phase, events).await
        } else {
            self.editor.show(plan_event(&plan, Phase::Executing.words()));
            self.look_again(&mut task, cancel).await?;
            self.run_on(plan, task, steps, cancel, events).await
        }
    }

    async fn run_on(
        &self,
        mut plan: Plan,
        mut task: Task,
        steps: Steps,
        cancel: &CancellationToken,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Failure> {
        if let Some(trigger) = task.keep.replanning.take()
            && let Err(failure) = self.replan(&mut plan, &mut task, &trigger, cancel).await
        {
            self.keep_task(&mut task, Some(&plan), Phase::Paused).await;
            *self.plan.lock().await = Some((plan, task));
            return Err(failure);
        }
        let more = plan.steps.iter().any(|step| step.state == State::Open);
        *self.plan.lock().await = Some((plan, task));
        if more {
            return self.carry_out(steps, cancel, events).await;
        }
        // It was interrupted between its last step and its end.
        self.end_waiting(Phase::Completed, events).await
    }

    async fn show_waiting(
        &self,
        plan: Plan,
        task: Task,
        phase: Phase,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Failure> {
        let asks = task.question.is_some();
        *self.plan.lock().await = Some((plan, task));
        self.end_waiting(if asks { Phase::Paused } else { phase }, events).await
    }

    /// What the providers say of the task's files now: a new process knows nothing yet.
    async fn look_again(&self, task: &mut Task, cancel: &CancellationToken) -> Result<(), Failure> {
        let unknown = task.start.is_empty();
        let mut documents: Vec<Document> = Vec::new();
        let mut files = task.scope.files();
        files.extend(task.journal.net().into_iter().map(|change| change.path));
        files.sort();
        files.dedup();
        for file in files {
            documents.extend(self.look_at(&file).await?);
        }
        self.first_look(&documents, cancel).await?;
        if unknown && !task.journal.is_empty() {
            let text = "what was introduced before the interruption is not known any more".to_owned();
            self.editor.show(Event::Progress { text });
        }
        task.remember_start(&self.known().await, !task.journal.is_empty());
        Ok(())
    }

    /// The last task that is not over, of this process or of one that is gone. `None` where nothing is kept.
    pub(crate) async fn waiting(&self) -> Result<Option<Waiting>, Failure> {
        if !self.has_record() {
            return Ok(None);
        }
        let Some(durable) = self.durable().await else { return Ok(None) };
        let session = durable.session();
        let tasks = durable.run(move |memory| memory.tasks(&session)).await;
        let Some(tasks) = self.or_tell(&durable, tasks) else { return Ok(None) };
        let mut why = "every task is done, or was never begun".to_owned();
        for kept in tasks {
            if kept
                .owner
                .as_deref()
                .is_some_and(|owner| owner != durable.owner().name() && durable.owner().is_alive(owner))
            {
                why = "another process is working on the last task".to_owned();
                continue;
            }
            match resumable(kept) {
                Ok(Some(waiting)) => return Ok(Some(waiting)),
                Ok(None) => {}
                Err(problem) => why = problem,
            }
        }
        Err(nothing(&why))
    }

    /// The task and its plan in this process, ready to run.
    async fn take_up(&self, waiting: Waiting) -> Result<(Task, Option<Plan>), Failure> {
        let mut known = self.plan.lock().await;
        // This process has more of its own plan than was kept.
        if let Some((plan, task)) =
            known.take_if(|(_, task)| task.id == waiting.run.id && task.keep.revision == Some(waiting.revision))
        {
            return Ok((task, Some(plan)));
        }
        drop(known);
        waiting.run.paths().into_iter().try_for_each(|path| recorded(&self.root, path))?;
        let (mut task, mut plan) = waiting.run.into_task();
        task.keep.revision = Some(waiting.revision);
        if let Some(durable) = self.durable().await {
            let loaded = self.load(&durable, &mut task).await;
            self.or_tell(&durable, loaded);
            self.claim(&mut task, plan.as_ref()).await?;
        }
        follow_rollback(&task.journal, plan.as_mut());
        Ok((task, plan))
    }

    /// The plan of a task as it stands, in this process or as it is kept.
    pub(crate) async fn plan_of(&self, task: &str) -> Option<Plan> {
        if let Some((plan, _)) = self.plan.lock().await.as_ref().filter(|(_, known)| known.id == task) {
            return Some(plan.clone());
        }
        let durable = self.durable().await?;
        self.kept(&durable, task).await.and_then(|(run, _)| run.plan)
    }

    pub(crate) async fn kept(&self, durable: &Durable, task: &str) -> Option<(RunState, Phase)> {
        let session = durable.session();
        let tasks = self.or_tell(durable, durable.run(move |memory| memory.tasks(&session)).await)?;
        let kept = tasks.into_iter().find(|kept| kept.task == task)?;
        let phase = phase(&kept);
        Some((RunState::read(kept.state).ok()?, phase))
    }

    /// After a rollback: the plan that goes with the files now. Answers with what is shown of it.
    pub(crate) async fn replace_plan(&self, journal: &Journal, plan: Option<Plan>) -> Option<(Phase, Plan)> {
        let open = |plan: &Plan| plan.steps.iter().any(|step| step.state == State::Open);
        let mut known = self.plan.lock().await;
        if let Some((own, task)) = known.as_mut().filter(|(_, task)| task.id == journal.task) {
            own.clone_from(plan.as_ref()?);
            task.journal = journal.clone();
            task.question = None;
            let phase = if open(own) { Phase::Planning } else { Phase::Completed };
            self.keep_task(task, Some(own), phase).await;
            return Some((phase, own.clone()));
        }
        drop(known);
        let durable = self.durable().await?;
        let (mut run, before) = self.kept(&durable, &journal.task).await?;
        let phase = match &plan {
            Some(plan) if open(plan) => Phase::Planning,
            Some(_) => Phase::Completed,
            // An interrupted task was decided about: it is not asked about again.
            None if before == Phase::Executing => Phase::Paused,
            None => before,
        };
        (run.running, run.question, run.replanning) = (None, None, None);
        run.plan.clone_from(&plan);
        self.keep_state(&run, phase).await;
        plan.map(|plan| (phase, plan))
    }
}

fn nothing(why: &str) -> Failure {
    Failure::user(format!("there is nothing to resume: {why}"), ":AgentAsk or :AgentPlan starts something")
}

fn phase(kept: &TaskState) -> Phase {
    serde_json::from_value(kept.phase.clone().into()).unwrap_or(Phase::Error)
}

/// Whether there is something to go on with.
fn resumable(kept: TaskState) -> Result<Option<Waiting>, String> {
    let (phase, revision) = (phase(&kept), kept.revision);
    if phase == Phase::Completed {
        return Ok(None);
    }
    let run = RunState::read(kept.state)?;
    let rest = match &run.plan {
        Some(plan) => {
            run.question.is_some()
                || phase == Phase::Executing
                || plan.steps.iter().any(|step| matches!(step.state, State::Open | State::Running))
        }
        None => run.mode == Mode::Simple,
    };
    Ok(rest.then_some(Waiting { phase, run, revision }))
}

/// A rollback whose process died before the plan was told of it.
fn follow_rollback(journal: &Journal, plan: Option<&mut Plan>) {
    if let (Some(rolled), Some(plan)) = (journal.rolled_back(), plan) {
        let what = rolled.symbols.first().map(String::as_str).unwrap_or_default();
        crate::agent::undo::Target::parse(what).reopen(plan);
    }
}
