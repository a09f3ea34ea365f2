//! Edits new files, and known ones whose server has just died, in whole sessions, and checks the complete outcomes.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sextant::engine::{Config, Editor, Engine, Request};
use sextant::llm::input::{PlanInput, StepInput};
use sextant::llm::step::{Action, Model, ModelError, OnText, PlanReply, StepReply, Usage};
use sextant::workspace::root::Root;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::job::Job;
use crate::language::write;
use crate::subjects::Subject;
use crate::text::{Random, Slot, State};

/// A way to kill and restart an editor's server.
#[async_trait]
pub trait Door: Send {
    fn editor(&self) -> Arc<dyn Editor>;
    async fn kill(&mut self);
    async fn again(&mut self);
}

/// One edit and the final report of its task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct First {
    pub number: usize,
    pub kind: String,
    /// The status of the diagnostics: `complete`, `partial`, …
    pub status: String,
    /// The errors in a complete answer.
    pub faults: Vec<String>,
}

/// Answers with the prepared edits, each once; before the second one it waits until it is released.
#[derive(Default)]
struct Hand {
    edits: Mutex<VecDeque<Value>>,
    /// True if it waits before it answers.
    holds: AtomicBool,
    asked: Notify,
    go: Notify,
}

impl Hand {
    fn take(&self) -> Option<Value> {
        self.edits.lock().expect("no panic").pop_front()
    }

    fn lay(&self, edits: impl IntoIterator<Item = Value>) {
        *self.edits.lock().expect("no panic") = edits.into_iter().collect();
    }
}

#[async_trait]
impl Model for Hand {
    fn name(&self) -> &str {
        "hand"
    }

    async fn step(&self, _: &StepInput, _: OnText<'_>) -> (Result<StepReply, ModelError>, Usage) {
        // The first edit of two leaves one behind; the server dies at the question after it.
        if self.holds.swap(false, Ordering::SeqCst) {
            self.asked.notify_one();
            self.go.notified().await;
        }
        let edit = self.take();
        let more = !self.edits.lock().expect("no panic").is_empty();
        self.holds.store(more, Ordering::SeqCst);
        let action = edit.map(|parameters| Action { tool: "edit_file".into(), parameters });
        let reply =
            StepReply { action, reasoning: "as it is".into(), confidence: 1.0, proceed: more, ..StepReply::default() };
        (Ok(reply), Usage::default())
    }

    async fn plan(&self, _: &PlanInput, _: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage) {
        let empty = PlanReply {
            title: String::new(),
            reason: String::new(),
            steps: Vec::new(),
            confidence: 1.0,
            declined: false,
        };
        (Ok(empty), Usage::default())
    }
}

fn file(subject: &Subject, number: usize) -> String {
    subject.language.other_file(&format!("first_{number}"))
}

fn mistake(subject: &Subject, number: usize) -> Slot {
    let number = u32::try_from(number).unwrap_or(0);
    if subject.names { Slot::Name(number) } else { Slot::Syntax(number) }
}

/// The text of a file before any editor opens it: with one mistake, or without.
fn before(subject: &Subject, number: usize) -> State {
    let mut state = State::new();
    if number % 3 == 1 {
        state.slots[1] = mistake(subject, number + 1);
    }
    state
}

/// Writes the files for the coming edits.
pub fn prepare(root: &Path, subject: &Subject, trials: usize) -> std::io::Result<()> {
    (0..2 * trials).try_for_each(|n| write(root.join(file(subject, n)), &before(subject, n).text(subject.language)))
}

/// Another text than this: a mistake more, a mistake less, or a change that does not matter.
fn changed(state: &State, subject: &Subject, number: usize, random: &mut Random) -> (&'static str, State) {
    let mut after = state.clone();
    let broken = state.slots.iter().position(|slot| *slot != Slot::Clean);
    let kind = match (random.below(3), broken) {
        (0, Some(at)) => {
            after.slots[at] = Slot::Clean;
            "less"
        }
        (1, _) if !state.has_syntax_error() => {
            after.slots[5 + usize::try_from(random.below(5)).unwrap_or(0)] = mistake(subject, 10_000 + number);
            "more"
        }
        _ => {
            after.neutral += 1;
            "neutral"
        }
    };
    (kind, after)
}

/// The edit that makes one text of another: the changed lines, with as many before them as make them unique.
fn edit(path: &str, before: &str, after: &str) -> Value {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let differs = |at: &usize| old[*at] != new[*at];
    let (first, last) = ((0..old.len()).find(differs).expect("a change"), (0..old.len()).rfind(differs).expect("one"));
    let begin = (0..=first).rev().find(|at| before.matches(&old[*at..=last].join("\n")).count() == 1).unwrap_or(0);
    json!({"path": path, "old_string": old[begin..=last].join("\n"), "new_string": new[begin..=last].join("\n")})
}

/// The wrong parts of a complete answer.
fn faults(kind: &str, outcome: &Value, place: Option<u64>) -> Vec<String> {
    let new: Vec<&Value> = outcome["new_diagnostics"].as_array().into_iter().flatten().collect();
    let fixed = outcome["fixed"].as_u64().unwrap_or(0);
    let mut out = Vec::new();
    let here = |item: &&Value| Some(item["line"].as_u64().unwrap_or(0)) == place;
    if kind == "more" && !new.iter().any(here) {
        out.push(format!("missed in line {place:?}"));
    }
    // The effect of a syntax error on the lines below is the server's own affair.
    out.extend(
        new.iter().filter(|item| kind != "more" || item["line"].as_u64() < place).map(|item| format!("untrue {item}")),
    );
    if (kind == "less") != (fixed > 0) {
        out.push(format!("{fixed} fixed"));
    }
    out
}

/// All edits of one server through one editor.
pub async fn run(door: &mut impl Door, job: &Job, subject: &Subject) -> Vec<First> {
    let model = Arc::new(Hand::default());
    let config = json!({"memory": {"enabled": false}, "diagnostics": {"timeout_ms": job.budget_ms}});
    let config: Config = serde_json::from_value(config).expect("a configuration");
    let agent = |editor| {
        let root = Root::new(Path::new(&job.root)).expect("a root");
        Engine::new(editor, Arc::<Hand>::clone(&model), root, config.clone())
    };
    let mut with = agent(door.editor());
    let mut random = Random(job.seed);
    let mut done: Vec<First> = Vec::new();
    let mut last: Option<(String, State)> = None;
    for number in 0..job.trials {
        if job.between {
            done.push(between(door, &with, &model, job, subject, number, &mut random).await);
            door.again().await;
            with = agent(door.editor());
            continue;
        }
        let dies = job.kills && number % 5 == 4 && last.is_some();
        let (path, state) = match last.take().filter(|_| dies) {
            Some(known) => known,
            None => (file(subject, number), before(subject, number)),
        };
        let (kind, after) = changed(&state, subject, number, &mut random);
        if dies {
            door.kill().await;
        }
        let text = after.text(subject.language);
        model.lay([edit(&path, &state.text(subject.language), &text)]);
        let request = Request { text: "change it".into(), workspace: true, ..Request::default() };
        let outcome = with.ask(&request, &CancellationToken::new()).await.result;
        let outcome = serde_json::to_value(outcome.expect("an outcome")).expect("JSON");
        assert_eq!(outcome["files"], json!([path]), "the edit was not made: {outcome}");
        let kind = if dies { format!("{kind}, killed") } else { kind.into() };
        done.push(judged(number, kind, &outcome, &after, subject));
        last = Some((path, after));
        if dies {
            door.again().await;
            with = agent(door.editor());
            last = None;
        }
    }
    done
}

fn judged(number: usize, kind: String, outcome: &Value, after: &State, subject: &Subject) -> First {
    let status = outcome["diagnostics_status"].as_str().unwrap_or_default().to_owned();
    let of_this = |slot: &Slot| *slot == mistake(subject, 10_000 + number);
    let wanted = after.slots.iter().zip(after.expected(subject)).filter(|(slot, _)| of_this(slot));
    let place = wanted.map(|(_, expected)| u64::from(expected.line) + 1).next();
    let what = kind.split(',').next().unwrap_or_default();
    let faults = if status == "complete" { faults(what, outcome, place) } else { Vec::new() };
    First { number, kind, status, faults }
}

/// A task of two edits with the server killed between them. The first edit changes nothing that matters. The second one
/// may, in the same file or in one that no editor had opened.
async fn between(
    door: &mut impl Door,
    agent: &Engine,
    model: &Hand,
    job: &Job,
    subject: &Subject,
    number: usize,
    random: &mut Random,
) -> First {
    let (path, state) = (file(subject, number), before(subject, number));
    let mut first = state.clone();
    first.neutral += 1;
    let (from, to) = (state.text(subject.language), first.text(subject.language));
    let harmless = edit(&path, &from, &to);
    let other = number % 2 == 1;
    // Files that are edited in passing stand behind those of the trials.
    let (path, state) =
        if other { (file(subject, job.trials + number), before(subject, job.trials + number)) } else { (path, first) };
    let (kind, after) = changed(&state, subject, number, random);
    model.lay([harmless, edit(&path, &state.text(subject.language), &after.text(subject.language))]);
    let request = Request { text: "change it".into(), workspace: true, ..Request::default() };
    let cancel = CancellationToken::new();
    let asked = agent.ask(&request, &cancel);
    let kill = async {
        model.asked.notified().await;
        door.kill().await;
        model.go.notify_one();
    };
    let (ended, ()) = tokio::join!(asked, kill);
    let outcome = serde_json::to_value(ended.result.expect("an outcome")).expect("JSON");
    let edited = outcome["files"].as_array().map_or(0, Vec::len);
    assert_eq!(edited, 1 + usize::from(other), "the edits were not made: {outcome}");
    let kind = format!("{kind}, {}, killed", if other { "of another file" } else { "of the same file" });
    judged(number, kind, &outcome, &after, subject)
}

/// One line for a server and an editor; true if no complete answer was wrong.
pub fn report(name: &str, editor: &str, done: &[First], show: usize) -> bool {
    let complete = done.iter().filter(|one| one.status == "complete").count();
    let killed: Vec<&First> = done.iter().filter(|one| one.kind.ends_with("killed")).collect();
    let wrong: Vec<&First> = done.iter().filter(|one| !one.faults.is_empty()).collect();
    println!(
        "{name:<22}{editor:<10}{:>5} first edits and {:>3} after a kill, {complete:>4} complete ({} of the killed), {:>3} wrong",
        done.len() - killed.len(),
        killed.len(),
        killed.iter().filter(|one| one.status == "complete").count(),
        wrong.len(),
    );
    for one in wrong.iter().take(show) {
        println!("    WRONG #{} {}: {}", one.number, one.kind, one.faults.join("; "));
    }
    wrong.is_empty()
}
