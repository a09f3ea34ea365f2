//! Undo and redo through the engine: any sequence of tasks, undos, redos and typing gives what a simple model says.

use std::collections::BTreeSet;

use crate::support::undo::UndoWords;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sextant::base::hint::HintCode;
use sextant::engine::{Request, Target, UndoRequest, UndoState};

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act, last};
use crate::support::project::Project;
use crate::support::replies::change;

const FILES: [&str; 2] = ["a.py", "b.py"];
/// Functions of a file.
const SLOTS: usize = 3;

/// One thing that happens; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Event {
    /// A task: for each edit the slot, and whether the next slot of the file goes with it.
    Task(Vec<(usize, bool)>),
    Undo(Part, bool),
    Redo,
    /// The user writes another value into a slot.
    Types(usize),
    /// The user puts the value back that the last standing edit of this slot has replaced.
    TakesBack(usize),
    /// The user adds a line between functions.
    Notes(usize),
    /// The process ends, and another one goes on.
    Restarts,
}

#[derive(Clone, Debug)]
enum Part {
    Task,
    LastStep,
    Step(usize),
    Symbol(usize),
}

/// What an edit did in one slot.
#[derive(Clone, Debug)]
struct Atom {
    task: usize,
    step: usize,
    slot: usize,
    before: String,
    after: String,
    stands: bool,
}

/// An undo: what it took back, and what was over without it.
#[derive(Clone, Debug)]
struct Undo {
    done: Vec<usize>,
    over: Vec<usize>,
    files: BTreeSet<usize>,
    overtaken: bool,
}

/// Slots with values; every value is there once.
#[derive(Clone, Debug)]
struct Model {
    slots: Vec<String>,
    notes: [Vec<(usize, String)>; 2],
    atoms: Vec<Atom>,
    undos: Vec<Undo>,
    tasks: usize,
    values: u32,
}

impl Model {
    fn new() -> Self {
        let mut model = Self {
            slots: Vec::new(),
            notes: [Vec::new(), Vec::new()],
            atoms: Vec::new(),
            undos: Vec::new(),
            tasks: 0,
            values: 0,
        };
        model.slots = (0..FILES.len() * SLOTS).map(|_| model.value()).collect();
        model
    }

    /// No two values begin or end alike, so that a change of one is always all of it.
    fn value(&mut self) -> String {
        self.values += 1;
        let letter = char::from_u32(0x4e00 + self.values).expect("a letter");
        [letter; 3].iter().collect()
    }

    fn text(&self, file: usize) -> String {
        let mut out = String::new();
        for slot in 0..SLOTS {
            for (_, note) in self.notes[file].iter().filter(|(at, _)| *at == slot) {
                out.push_str(&format!("# {note}\n"));
            }
            out.push_str(&format!("def f{slot}():\n    return {}\n\n\n", self.slots[file * SLOTS + slot]));
        }
        out
    }

    /// The hunks of a part of a task that stand, or `None` where the part is nothing of it.
    fn part(&self, task: usize, part: &Part) -> Option<Vec<usize>> {
        let own = |index: &usize| self.atoms[*index].task == task && self.atoms[*index].stands;
        let all: Vec<usize> = (0..self.atoms.len()).filter(own).collect();
        let step = match part {
            Part::Task => return Some(all),
            Part::LastStep => all.last().map(|index| self.atoms[*index].step)?,
            Part::Step(step) => *step,
            Part::Symbol(slot) => {
                return Some(all.into_iter().filter(|index| self.atoms[*index].slot == *slot).collect());
            }
        };
        Some(all.into_iter().filter(|index| self.atoms[*index].step == step).collect())
    }

    fn touched(&self, task: usize, part: &Part) -> bool {
        self.atoms.iter().filter(|atom| atom.task == task).any(|atom| match part {
            Part::Task | Part::LastStep => true,
            Part::Step(step) => atom.step == *step,
            Part::Symbol(slot) => atom.slot == *slot,
        })
    }

    /// True if the undo goes through.
    fn undo(&mut self, part: &Part, partial: bool) -> bool {
        let walks = matches!(part, Part::Task | Part::LastStep);
        for (nth, task) in (0..self.tasks).rev().enumerate() {
            if !self.atoms.iter().any(|atom| atom.task == task && atom.stands) {
                if nth == 0 && !walks && self.touched(task, part) {
                    return false;
                }
                continue;
            }
            let Some(wanted) = self.part(task, part).filter(|wanted| !wanted.is_empty()) else { return false };
            let mut slots = self.slots.clone();
            let (mut done, mut over, mut left) = (Vec::new(), Vec::new(), false);
            for index in wanted.into_iter().rev() {
                let atom = &self.atoms[index];
                if slots[atom.slot] == atom.after {
                    slots[atom.slot].clone_from(&atom.before);
                    done.push(index);
                } else {
                    left |= slots[atom.slot] != atom.before;
                    over.push(index);
                }
            }
            let changes = slots != self.slots;
            if left && !partial {
                return false;
            }
            if !changes && !left {
                if walks {
                    continue;
                }
                return false;
            }
            self.slots = slots;
            let files = done.iter().map(|index| self.atoms[*index].slot / SLOTS).collect();
            done.iter().chain(&over).for_each(|index| self.atoms[*index].stands = false);
            self.undos.push(Undo { done, over, files, overtaken: false });
            return true;
        }
        false
    }

    fn redo(&mut self) -> bool {
        let free = |undo: &Undo| !undo.overtaken && !undo.files.is_empty();
        let Some(at) = self.undos.iter().rposition(free) else { return false };
        let mut slots = self.slots.clone();
        for index in self.undos[at].done.iter().rev() {
            let atom = &self.atoms[*index];
            if slots[atom.slot] == atom.before {
                slots[atom.slot].clone_from(&atom.after);
            } else if slots[atom.slot] != atom.after {
                return false;
            }
        }
        self.slots = slots;
        let undo = self.undos.remove(at);
        undo.done.iter().chain(&undo.over).for_each(|index| self.atoms[*index].stands = true);
        true
    }
}

fn event() -> impl Strategy<Value = Event> {
    let part = || {
        prop_oneof![
            4 => Just(Part::Task),
            2 => Just(Part::LastStep),
            2 => (1..4usize).prop_map(Part::Step),
            2 => (0..FILES.len() * SLOTS).prop_map(Part::Symbol),
        ]
    };
    let slot = || 0..FILES.len() * SLOTS;
    prop_oneof![
        4 => proptest::collection::vec((slot(), any::<bool>()), 1..4).prop_map(Event::Task),
        6 => (part(), proptest::bool::weighted(0.25)).prop_map(|(part, partial)| Event::Undo(part, partial)),
        4 => Just(Event::Redo),
        1 => slot().prop_map(Event::Types),
        1 => slot().prop_map(Event::TakesBack),
        1 => slot().prop_map(Event::Notes),
        1 => Just(Event::Restarts),
    ]
}

struct World {
    project: Project,
    engine: TestEngine,
    model: Model,
    memory: bool,
}

impl World {
    fn new(memory: bool) -> Self {
        let model = Model::new();
        let project = Project::new(&[(FILES[0], &model.text(0)), (FILES[1], &model.text(1))]);
        let engine = TestEngine::new(&project, Setup { memory, ..Setup::default() });
        Self { project, engine, model, memory }
    }

    async fn task(&mut self, edits: &[(usize, bool)]) {
        let task = self.model.tasks;
        let model = &mut self.model;
        for (number, (slot, two)) in edits.iter().enumerate() {
            let file = slot / SLOTS;
            let next = slot + 1;
            // With a line of the user's in between there are two places.
            let two = *two && next / SLOTS == file && !model.notes[file].iter().any(|(at, _)| *at == next % SLOTS);
            let body =
                |slot: usize, model: &Model| format!("def f{}():\n    return {}\n", slot % SLOTS, model.slots[slot]);
            let whole = |model: &Model| {
                let second = if two { format!("\n\n{}", body(next, model)) } else { String::new() };
                format!("{}{second}", body(*slot, model))
            };
            let old = whole(model);
            for slot in (*slot..=next).take(1 + usize::from(two)) {
                let (before, after) = (model.slots[slot].clone(), model.value());
                model.slots[slot].clone_from(&after);
                model.atoms.push(Atom { task, step: number + 1, slot, before, after, stands: true });
            }
            let edit = change(FILES[file], old, whole(model));
            let end = number + 1 == edits.len();
            self.engine.model.push(if end { last("edit_file", edit) } else { act("edit_file", edit) });
            let overtakes = |undo: &&mut Undo| undo.files.contains(&file);
            model.undos.iter_mut().filter(overtakes).for_each(|undo| undo.overtaken = true);
        }
        model.tasks += 1;
        let request = Request { text: format!("write {task}"), workspace: true, ..Request::default() };
        let outcome = self.engine.ask_about(&request).await;
        assert_eq!(outcome["ok"], true, "{outcome}");
    }

    async fn happens(&mut self, event: &Event) -> Result<(), TestCaseError> {
        match event {
            Event::Task(edits) => self.task(edits).await,
            Event::Undo(part, partial) => {
                let target = match part {
                    Part::Task => Target::Task,
                    Part::LastStep => Target::Step(None),
                    Part::Step(step) => Target::Step(Some(*step)),
                    Part::Symbol(slot) => Target::Symbol(format!("{}::f{}", FILES[slot / SLOTS], slot % SLOTS)),
                };
                let wanted = self.model.undo(part, *partial);
                let request = UndoRequest { target, partial: *partial, ..UndoRequest::default() };
                let undone = self.engine.session.take_back(&request).await.result;
                prop_assert_eq!(undone.is_ok(), wanted, "{:?}: {:?}", event, undone);
            }
            Event::Redo => {
                let wanted = self.model.redo();
                let redone = self.engine.session.bring_back().await.result;
                prop_assert_eq!(redone.is_ok(), wanted, "{:?}", redone);
            }
            Event::Types(slot) => {
                self.model.slots[*slot] = self.model.value();
                self.write(slot / SLOTS);
            }
            Event::TakesBack(slot) => {
                let last = self.model.atoms.iter().rfind(|atom| atom.slot == *slot && atom.stands).cloned();
                if let Some(atom) = last.filter(|atom| self.model.slots[*slot] == atom.after) {
                    self.model.slots[*slot] = atom.before;
                    self.write(slot / SLOTS);
                }
            }
            Event::Notes(slot) => {
                let note = self.model.value();
                self.model.notes[slot / SLOTS].push((slot % SLOTS, note));
                self.write(slot / SLOTS);
            }
            Event::Restarts if self.memory => {
                self.engine.session.close().await;
                self.engine = TestEngine::new(&self.project, Setup { memory: true, ..Setup::default() });
            }
            Event::Restarts => {}
        }
        for (file, path) in FILES.iter().enumerate() {
            prop_assert_eq!(self.project.read(path), self.model.text(file), "{} after {:?}", path, event);
        }
        Ok(())
    }

    fn write(&self, file: usize) {
        self.project.write(FILES[file], &self.model.text(file));
    }
}

#[test]
fn any_sequence_of_undos_redos_and_typing_gives_what_a_simple_model_says() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    for memory in [true, false] {
        let config = Config { cases: 40, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
        let ran = TestRunner::new(config).run(&proptest::collection::vec(event(), 4..16), |events| {
            runtime.block_on(async {
                let mut world = World::new(memory);
                for event in &events {
                    world.happens(event).await?;
                }
                Ok(())
            })
        });
        if let Err(failure) = ran {
            panic!("memory {memory}: {failure}");
        }
    }
}

fn twice(project: &Project, memory: bool) -> TestEngine {
    let edits = [("return 1", "return 11"), ("return f()", "return f() + 1"), ("return 11", "return 111")];
    let mut replies = edits.map(|(old, new)| last("edit_file", replace(old, new))).to_vec();
    replies[0].proceed = true;
    TestEngine::new(project, Setup { replies, memory, ..Setup::default() })
}

async fn ask(engine: &TestEngine, text: &str) -> serde_json::Value {
    engine.ask_about(&Request { text: text.into(), path: Some("a.py".into()), ..Request::default() }).await
}

#[tokio::test]
async fn undo_goes_back_task_by_task_and_says_which_request_it_is_about() {
    for memory in [true, false] {
        let project = project();
        let engine = twice(&project, memory);
        ask(&engine, "change both").await;
        ask(&engine, "raise f").await;
        ask(&engine, "what does f do?").await;
        let undo = async || engine.session.take_back(&UndoRequest::default()).await.result;
        let undone = undo().await.expect("undone");
        assert_eq!(undone.last_request.as_deref(), Some("what does f do?"));
        assert_eq!(undone.request, "raise f");
        let words = "undone “raise f”: a.py (the last request, “what does f do?”, changed nothing)";
        assert_eq!(undone.summary, words);
        engine.session.undo_part(&Target::Step(None), false).await.result.expect("the last step of the task before");
        assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
        let list = engine.session.history().await.expect("a list");
        assert_eq!(
            list.tasks.iter().map(|task| task.state).collect::<Vec<_>>(),
            [UndoState::Undone, UndoState::Partly]
        );
        assert_eq!(
            (list.undo, list.redo),
            (Some(list.tasks[1].task.clone()), Some((list.tasks[1].task.clone(), "2".into())))
        );
        let rest = undo().await.expect("undone");
        assert_eq!((rest.request.as_str(), project.read("a.py").as_str()), ("change both", TEXT), "{}", rest.summary);
        let end = undo().await.expect_err("nothing is left");
        assert!(end.message == "there is nothing to undo" && end.hint.codes() == [HintCode::Redo], "{end:?}");
        for _ in 0..3 {
            engine.session.bring_back().await.result.expect("brought back");
        }
        assert!(project.read("a.py").contains("return 111") && project.read("a.py").contains("f() + 1"));
        let end = engine.session.bring_back().await.result.expect_err("all is there");
        assert_eq!(end.message, "there is nothing to bring back");
    }
}

#[tokio::test]
async fn words_of_undo_bring_nothing_back_and_words_of_redo_do() {
    let project = project();
    let engine = twice(&project, true);
    ask(&engine, "change both").await;
    for text in ["undo that", "undo that because it is still wrong", "deshaz eso porque no"] {
        ask(&engine, text).await;
        assert_eq!(project.read("a.py"), TEXT, "{text}");
    }
    let done = project.read("a.py");
    for text in ["redo", "rehaz eso", "undo the undo"] {
        let redone = ask(&engine, text).await;
        assert!(
            redone["summary"].as_str().is_some_and(|words| words.starts_with("brought back “change both”")),
            "{redone}"
        );
        assert_ne!(project.read("a.py"), done, "{text}");
        ask(&engine, "deshazlo").await;
    }
    let asked = || engine.model.asked.lock().unwrap().len();
    assert_eq!(asked(), 2);
    ask(&engine, "redo the layout of the module").await;
    assert!(asked() > 2, "what only sounds like it is for the model");
}

#[tokio::test]
async fn a_new_edit_ends_the_way_forward_for_its_own_file() {
    let project = project();
    let engine = twice(&project, true);
    ask(&engine, "change both").await;
    engine.session.undo().await.result.expect("undone");
    engine.model.push(last("edit_file", replace("return f()", "return f() - 1")));
    // The third answer of the script finds nothing to replace and is followed by this one.
    ask(&engine, "lower g").await;
    assert!(project.read("a.py").contains("f() - 1"));
    let refused = engine.session.redo().await.result.expect_err("overtaken");
    assert!(refused.hint.text().contains("“lower g” has changed a.py since the last undo"), "{refused:?}");
    assert!(project.read("a.py").contains("f() - 1") && project.read("a.py").contains("return 1\n"));
}

#[tokio::test]
async fn in_the_session_that_made_it_an_edit_of_a_file_that_runs_is_undone_without_a_question() {
    let project = Project::new(&[("Makefile", "all:\n\techo one\n")]);
    let engine = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    let edit = change("Makefile", "one", "two");
    engine.model.push(last("edit_file", edit));
    let request = Request { text: "echo two in Makefile".into(), workspace: true, ..Request::default() };
    engine.ask_about(&request).await;
    assert!(project.read("Makefile").contains("two"));
    engine.session.undo().await.result.expect("an undo");
    assert!(project.read("Makefile").contains("one"));
    engine.session.redo().await.result.expect("a redo");
    assert!(project.read("Makefile").contains("two"));
    let later = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    let refused = later.session.undo().await.result.expect_err("nobody can be asked");
    assert!(refused.message.contains("Makefile"), "{refused:?}");
    assert!(project.read("Makefile").contains("two"));
}

#[tokio::test]
async fn an_undo_says_what_became_of_the_last_request() {
    let replies = || {
        let edits = [("return 1", "return 11"), ("return f()", "return f() + 1")];
        edits.map(|(old, new)| last("edit_file", replace(old, new))).to_vec()
    };
    for (first, second, words) in [
        ("fix it", "fix it", "undone “fix it”: a.py (the last request, of the same words, is undone already)"),
        ("raise f", "raise g", "undone “raise f”: a.py (the last request, “raise g”, is undone already)"),
    ] {
        let project = project();
        let engine = TestEngine::new(&project, Setup { replies: replies(), memory: true, ..Setup::default() });
        ask(&engine, first).await;
        ask(&engine, second).await;
        let undone = engine.session.undo().await.result.expect("undone");
        assert_eq!(undone, format!("undone “{second}”: a.py"));
        assert_eq!(engine.session.undo().await.result.expect("undone"), words);
    }
    let project = project();
    let engine = TestEngine::new(&project, Setup { replies: replies(), memory: true, ..Setup::default() });
    ask(&engine, "raise f").await;
    ask(&engine, "raise g").await;
    let undone = engine.session.undo_part(&Target::parse("raise f"), false).await.result.expect("undone");
    assert_eq!(undone, "undone “raise f”: a.py (the last request, “raise g”, stays as it is)");
}

#[tokio::test]
async fn a_diff_is_of_the_task_that_its_words_name() {
    let project = project();
    let engine = twice(&project, true);
    ask(&engine, "change both").await;
    ask(&engine, "raise f").await;
    let diff = async |part: &str| engine.session.changed_text(None, &Target::parse(part)).await;
    for (part, line) in
        [("", "+    return 111"), ("change both", "+    return f() + 1"), ("\"raise f\"", "+    return 111")]
    {
        let shown = diff(part).await.expect(part);
        assert!(shown.contains(line), "{part}: {shown}");
    }
    let named = engine.session.history().await.expect("a list").tasks[1].task.clone();
    assert!(diff(&format!("task {named}")).await.expect("a diff").contains("+    return f() + 1"));
    let unknown = diff("nonsense").await.expect_err("it is no part");
    assert!(!unknown.message.contains("changed nothing that stands"), "{unknown:?}");
    assert!(format!("{unknown:?}").contains("a.py::f"), "what there is: {unknown:?}");
}
