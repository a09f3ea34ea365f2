//! The stream of events, from outside: who comes in the middle of a task sees what the first listener sees.

use std::time::Duration;

use serde_json::json;
use sextant::engine::{
    Delivery, Ending, Event, EventEnvelope, Phase, Request, StreamState, Subscription, TaskEvent, TaskFact,
};
use sextant::llm::step::PlanReplyStep;

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};

/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A listener of its own: what it was told at its start, and all that it was given since.
struct Listener {
    start: StreamState,
    given: Vec<EventEnvelope>,
    subscription: Subscription,
}

impl Listener {
    fn new(engine: &TestEngine) -> Self {
        let (start, subscription) = engine.session.events().subscribe(None);
        Self { start, given: Vec::new(), subscription }
    }

    fn enter(&mut self, delivery: Delivery) {
        // As it goes over a wire.
        let text = serde_json::to_string(&delivery).expect("data");
        // The answer of a finished task stays inside the process.
        let again = serde_json::from_str::<Delivery>(&text).expect("the same again");
        assert_eq!(serde_json::to_string(&again).expect("data"), text);
        match delivery {
            Delivery::Event(envelope) => self.given.push(envelope),
            Delivery::Resync(resync) => panic!("nothing here is beyond what is held: {resync:?}"),
        }
    }

    /// Reads on until something of this kind has come.
    async fn until(&mut self, wanted: impl Fn(&TaskEvent) -> bool) {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.subscription.next()).await;
            let delivery = next.expect("it never came").expect("the session is there");
            self.enter(delivery);
            if self.given.last().is_some_and(|envelope| wanted(&envelope.event)) {
                return;
            }
        }
    }

    fn read_all(&mut self) {
        while let Some(delivery) = self.subscription.take() {
            self.enter(delivery);
        }
    }

    /// How things stand, worked out from what it was told.
    fn state(&self) -> StreamState {
        let mut state = self.start.clone();
        self.given.iter().for_each(|envelope| state.fold(envelope));
        let text = serde_json::to_string(&state).expect("data");
        let again = serde_json::from_str::<StreamState>(&text).expect("the same again");
        assert_eq!(serde_json::to_string(&again).expect("data"), text);
        state
    }

    fn shown(&self) -> Vec<Event> {
        let shown = self.given.iter().filter_map(|envelope| match &envelope.event {
            TaskEvent::Shown { event } => Some(event.clone()),
            _ => None,
        });
        shown.collect()
    }
}

/// Shows the last words as a door does.
fn end<T>(engine: &TestEngine, ending: Ending<T>) -> bool {
    ending.events.into_iter().for_each(|event| engine.session.emit(event));
    ending.result.is_ok()
}

fn request(text: &str) -> Request {
    Request { text: text.into(), symbols: vec!["a.py::f".into()], ..Request::default() }
}

/// Both are told the same, and what the front end showed is what the first was told of it.
fn same(engine: &mut TestEngine, mut first: Listener, mut second: Listener) -> Listener {
    first.read_all();
    second.read_all();
    let numbers: Vec<u64> = first.given.iter().map(|envelope| envelope.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "no number is left out");
    assert!(first.given.is_sorted_by_key(|envelope| envelope.at), "time goes on");
    let since = second.start.seq as usize;
    assert!(0 < since && since < first.given.len(), "it came in the middle");
    assert_eq!(second.given, first.given[since..], "from its number on it is told the same");
    assert_eq!(second.state(), first.state());
    assert_eq!(first.state(), engine.session.events().state());
    let mut seen = engine.seen();
    // The stream has the answer itself.
    seen.retain(|event| *event != Event::Answered);
    assert_eq!(first.shown(), seen, "the front end shows what the stream says");
    let again: Vec<EventEnvelope> = {
        let mut late = Listener { subscription: engine.session.events().subscribe(Some(0)).1, ..Listener::new(engine) };
        late.read_all();
        late.given
    };
    assert_eq!(again, first.given, "what is still held comes by number");
    first
}

fn acted(event: &TaskEvent) -> bool {
    matches!(event, TaskEvent::Shown { event: Event::Acted { .. } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_in_the_middle_of_the_first_of_two_tasks_sees_the_rest_of_both() {
    let replies = vec![
        act("read_symbol", json!({"symbol": "a.py::f"})),
        act("edit_file", replace("return 1", "return 11")),
        last("edit_file", replace("return 11", "return 12")),
        last("edit_file", replace("return 12", "return 13")),
    ];
    let project = project();
    let mut engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    let mut first = Listener::new(&engine);
    assert!(first.start.over && first.start.work.is_none(), "{:?}", first.start);
    let one = request("make f return 12");
    let task = engine.session.ask(&one, &engine.cancel);
    let middle = async {
        first.until(acted).await;
        Listener::new(&engine)
    };
    let (ending, second) = tokio::join!(task, middle);
    let work = second.start.work.clone().expect("a task runs");
    assert_eq!((work.request.as_str(), work.mode.as_str(), second.start.over), ("make f return 12", "simple", false));
    assert!(end(&engine, ending));
    assert_eq!(engine.session.events().state().work.expect("work").phase, Some(Phase::Completed));
    let two = request("make f return 13");
    let ending = engine.session.ask(&two, &engine.cancel).await;
    assert!(end(&engine, ending));
    let first = same(&mut engine, first, second);
    let state = first.state();
    assert!(state.over && matches!(state.end, Some(Event::Finished { ok: true, .. })), "{state:?}");
    assert_eq!(state.work.expect("work").request, "make f return 13");
    let tasks: Vec<&String> = first.given.iter().filter_map(|envelope| envelope.task.as_ref()).collect();
    assert!(tasks.first() != tasks.last() && tasks.is_sorted(), "one task after the other: {tasks:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_task_is_over_for_everybody() {
    let replies = vec![act("edit_file", replace("return 1", "return 11"))];
    let project = project();
    // It must not be done before it is stopped.
    let mut engine = TestEngine::new(&project, Setup { replies, silent_from: Some(1), ..Setup::default() });
    let mut first = Listener::new(&engine);
    let wish = request("change f");
    let task = engine.session.ask(&wish, &engine.cancel);
    let middle = async {
        first.until(acted).await;
        let second = Listener::new(&engine);
        engine.cancel.cancel();
        second
    };
    let (ending, second) = tokio::join!(task, middle);
    assert!(!end(&engine, ending), "it was stopped");
    let state = same(&mut engine, first, second).state();
    assert!(state.over && matches!(state.end, Some(Event::Failed { .. })), "{state:?}");
    assert_eq!(state.work.expect("work").phase, Some(Phase::Paused), "it can be gone on with");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_asks_is_told_with_its_document_its_question_and_the_answer() {
    let checked = PlanReplyStep { checks: vec!["symbol a.py::f gone".into()], ..planned("one", &["a.py::f"]) };
    let setup = Setup {
        replies: vec![last("edit_file", replace("return 1", "return 11"))],
        plans: vec![plan_of([checked])],
        config: json!({"mode": "supervised"}),
        ..Setup::default()
    };
    let project = project();
    let mut engine = TestEngine::new(&project, setup);
    let first = Listener::new(&engine);
    let planned = engine.session.plan(&request("change f"), &engine.cancel).await;
    assert!(end(&engine, planned));
    let state = engine.session.events().state();
    assert!(matches!(&state.plan, Some(Event::Plan { phase, .. }) if phase == Phase::Planning.words()), "{state:?}");
    assert_eq!(state.work.as_ref().and_then(|work| work.phase), Some(Phase::Planning));
    let second = Listener::new(&engine);
    let ending = engine.session.approve(sextant::engine::Steps::All, &engine.cancel).await;
    assert!(end(&engine, ending));
    let asked = Listener::new(&engine).start;
    assert!(matches!(&asked.question, Some(Event::Question { options, .. }) if !options.is_empty()), "{asked:?}");
    let work = asked.work.clone().expect("work");
    assert_eq!((asked.over, work.phase, work.step), (true, Some(Phase::Paused), 1), "it waits for its answer");
    let ending = engine.session.answer_question(4, &engine.cancel).await;
    assert!(end(&engine, ending));
    let first = same(&mut engine, first, second);
    assert_eq!(first.state().question, None, "it was answered");
    assert!(first.given.iter().any(|envelope| envelope.event == TaskEvent::Answered { choice: Some(4), words: None }));
    assert!(first.given.iter().any(|envelope| envelope.event == TaskEvent::StepBegan { step: 1 }));
    let facts: Vec<&TaskFact> = first
        .given
        .iter()
        .filter_map(|envelope| match &envelope.event {
            TaskEvent::Did { fact } => Some(&**fact),
            _ => None,
        })
        .collect();
    let told = |wanted: fn(&TaskFact) -> bool| facts.iter().filter(|fact| wanted(fact)).count();
    assert_eq!(told(|fact| matches!(fact, TaskFact::Escalated)), 1, "{facts:?}");
    assert_eq!(
        told(|fact| matches!(fact, TaskFact::PlanMade { .. })),
        1,
        "what memory and statistics hear, others hear"
    );
    assert_eq!(told(|fact| matches!(fact, TaskFact::AnswerGiven { .. })), 1);
    assert!(told(|fact| matches!(fact, TaskFact::ModelAnswered { .. })) > 1 && facts.len() > 5, "{facts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_in_the_middle_of_a_run_is_open_until_it_is_answered_or_nobody_waits() {
    let replies = vec![act("run_command", json!({"command": ["echo", "x"]}))];
    for answers in [true, false] {
        let project = project();
        let mut engine = TestEngine::new(&project, Setup { replies: replies.clone(), ..Setup::default() });
        engine.session.answers_come();
        let mut first = Listener::new(&engine);
        let wish = request("run echo");
        let task = engine.session.ask(&wish, &engine.cancel);
        let middle = async {
            first.until(|event| matches!(event, TaskEvent::Shown { event: Event::Question { .. } })).await;
            let second = Listener::new(&engine);
            assert!(second.start.question.is_some(), "{:?}", second.start);
            if answers {
                assert_eq!(engine.session.answer_waiting(1), Some(Ok(())));
            } else {
                engine.cancel.cancel();
            }
            second
        };
        let (ending, second) = tokio::join!(task, middle);
        assert_eq!(end(&engine, ending), answers);
        let first = same(&mut engine, first, second);
        assert_eq!(first.state().question, None);
        let choice = answers.then_some(1);
        assert!(
            first.given.iter().any(|envelope| envelope.event == TaskEvent::Answered { choice, words: None }),
            "{choice:?}"
        );
    }
}

#[tokio::test]
async fn what_a_door_shows_of_its_own_is_about_no_task() {
    let project = project();
    let mut engine = TestEngine::new(&project, Setup::default());
    let first = Listener::new(&engine);
    let ending = engine.session.ask(&request("look"), &engine.cancel).await;
    let second = Listener::new(&engine);
    engine.session.emit(Event::Page { name: "memory".into(), markdown: "# M".into(), entries: Vec::new() });
    assert!(end(&engine, ending));
    let first = same(&mut engine, first, second);
    let page = first.given.iter().find(|envelope| {
        envelope.event
            == TaskEvent::Shown {
                event: Event::Page { name: "memory".into(), markdown: "# M".into(), entries: Vec::new() },
            }
    });
    assert!(page.is_some_and(|page| page.task.is_none()), "{page:?}");
    assert!(first.given.last().is_some_and(|last| last.task.is_some()), "the end of a task is its own");
    assert!(first.state().over);
}
