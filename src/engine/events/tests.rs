//! The stream: numbers, order, late and slow listeners, and what is held for them.

use std::sync::{Arc, Mutex};

use crate::editor::event::Event;
use crate::events::envelope::{EventEnvelope, TaskEvent};
use crate::events::events_state::StreamState;
use crate::events::stream::{EventStream, HeldLimits, Observer};
use crate::events::subscription::{Delivery, Subscription};
use crate::plan::work_mode::{Mode, Phase};
use sextant_base::lock::lock;

fn progress(text: &str) -> Event {
    Event::Progress { text: text.to_owned() }
}

fn stream(events: usize, bytes: usize) -> EventStream {
    EventStream::new("/w", HeldLimits { events, bytes })
}

/// All that a listener can get now: the numbers of events, and those of states as negative numbers.
fn numbers(subscription: &mut Subscription) -> Vec<i64> {
    let given = std::iter::from_fn(|| subscription.take());
    given
        .map(|delivery| match delivery {
            Delivery::Event(envelope) => envelope.seq.cast_signed(),
            Delivery::Resync(resync) => -resync.state.seq.cast_signed(),
        })
        .collect()
}

#[derive(Default)]
struct Collector(Mutex<Vec<EventEnvelope>>);

impl Observer for Collector {
    fn notice(&self, envelope: &EventEnvelope) {
        lock(&self.0).push(envelope.clone());
    }
}

#[test]
fn many_who_emit_at_once_are_numbered_without_a_gap_and_in_one_order() {
    let stream = stream(10_000, 1 << 24);
    let collector = Arc::new(Collector::default());
    stream.observe(Arc::<Collector>::clone(&collector));
    let (_, mut listener) = stream.subscribe(None);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let stream = &stream;
            scope.spawn(move || (0..100).for_each(|n| stream.show(progress(&format!("{thread} {n}")))));
        }
    });
    let seen = lock(&collector.0).clone();
    assert_eq!(seen.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(), (1..=800).collect::<Vec<_>>());
    let given: Vec<EventEnvelope> = std::iter::from_fn(|| listener.take())
        .map(|delivery| match delivery {
            Delivery::Event(envelope) => envelope,
            Delivery::Resync(resync) => panic!("{resync:?}"),
        })
        .collect();
    assert_eq!(given, seen, "a subscriber sees what observers do, in the same order");
    for thread in 0..8 {
        let own = seen.iter().filter_map(|envelope| match &envelope.event {
            TaskEvent::Shown { event: Event::Progress { text } } => text.strip_prefix(&format!("{thread} ")),
            _ => None,
        });
        assert!(own.map(|n| n.parse::<usize>().unwrap()).eq(0..100), "of one thread in its order");
    }
}

#[test]
fn who_comes_late_gets_the_state_and_what_comes_after() {
    let stream = stream(100, 1 << 20);
    stream.emit(Some("t1"), TaskEvent::TakenUp { request: "fix".into(), mode: Mode::Planner, again: false });
    stream.show(Event::Started { request: "fix".into(), mode: "planner".into(), model: "m".into() });
    stream.emit(Some("t1"), TaskEvent::PhaseChanged { phase: Phase::Executing });
    stream.emit(Some("t1"), TaskEvent::StepBegan { step: 2 });
    let question = Event::Question {
        text: "go on?".into(),
        options: vec!["yes".into()],
        kind: crate::editor::event::QuestionKind::Plan,
        shows: None,
    };
    stream.show(question.clone());
    let (state, mut late) = stream.subscribe(None);
    let work = state.work.clone().unwrap();
    assert_eq!((state.seq, state.root.as_str(), state.over, state.question), (5, "/w", false, Some(question)));
    assert_eq!((work.task.as_deref(), work.request.as_str(), work.mode.as_str()), (Some("t1"), "fix", "planner"));
    assert_eq!((work.model.as_str(), work.phase, work.step), ("m", Some(Phase::Executing), 2));
    assert_eq!(numbers(&mut late), Vec::<i64>::new(), "nothing twice");
    stream.emit(None, TaskEvent::Answered { choice: Some(1), words: None });
    stream.show(Event::Finished { ok: true, summary: "done".into(), answer: String::new() });
    stream.show(progress("of nothing"));
    let given: Vec<Delivery> = std::iter::from_fn(|| late.take()).collect();
    let tasks: Vec<Option<&str>> = given
        .iter()
        .map(|delivery| match delivery {
            Delivery::Event(envelope) => envelope.task.as_deref(),
            Delivery::Resync(resync) => panic!("{resync:?}"),
        })
        .collect();
    assert_eq!(tasks, [Some("t1"), Some("t1"), None], "what comes after a task is not its own");
    let state = stream.state();
    assert!(state.over && state.question.is_none(), "{state:?}");
    assert_eq!(state.end, Some(Event::Finished { ok: true, summary: "done".into(), answer: String::new() }));
    stream.emit(Some("t2"), TaskEvent::TakenUp { request: "more".into(), mode: Mode::Simple, again: false });
    let state = stream.state();
    assert_eq!((state.over, state.end, state.work.unwrap().step), (false, None, 0), "nothing of the task before");
}

#[test]
fn what_was_missed_and_is_held_comes_by_number_and_what_is_not_is_a_marked_gap() {
    let stream = stream(10, 1 << 20);
    (0..8).for_each(|_| stream.show(progress("x")));
    assert_eq!(numbers(&mut stream.subscribe(Some(5)).1), [6, 7, 8]);
    assert_eq!(numbers(&mut stream.subscribe(Some(0)).1), (1..=8).collect::<Vec<_>>());
    (0..8).for_each(|_| stream.show(progress("x")));
    assert_eq!(numbers(&mut stream.subscribe(Some(6)).1), (7..=16).collect::<Vec<_>>(), "the oldest that is held");
    let mut old = stream.subscribe(Some(5)).1;
    assert_eq!(numbers(&mut old), [-16], "one too far back");
    stream.show(progress("x"));
    assert_eq!(numbers(&mut old), [17], "and events again from there on");
    for foreign in [18, 1000, u64::MAX] {
        assert_eq!(numbers(&mut stream.subscribe(Some(foreign)).1), [-17], "a number of another process: {foreign}");
    }
}

#[test]
fn who_is_slow_costs_no_memory_holds_up_nobody_and_gets_a_note_of_what_was_left_out() {
    let stream = stream(1000, 20_000);
    let (start, mut slow) = stream.subscribe(None);
    let (_, mut quick) = stream.subscribe(None);
    let mut seen = 0;
    for n in 0..2000 {
        stream.show(progress(&format!("{n} {}", "x".repeat(100))));
        seen += numbers(&mut quick).len();
    }
    assert_eq!(seen, 2000, "another who is slow does not matter");
    let held = numbers(&mut stream.subscribe(Some(1900)).1);
    assert!(held == (1901..=2000).collect::<Vec<_>>(), "{held:?}");
    assert_eq!(numbers(&mut stream.subscribe(Some(1800)).1), [-2000], "20,000 bytes hold less than 200 of these");
    let Some(Delivery::Resync(resync)) = slow.take() else { panic!("a gap has to be marked") };
    assert_eq!((resync.after, resync.state.seq), (start.seq, 2000));
    assert_eq!(slow.take(), None);
    stream.show(Event::Started { request: "y".repeat(30_000), mode: "simple".into(), model: "m".into() });
    let Some(Delivery::Resync(resync)) = slow.take() else { panic!("what is too large for all is a gap as well") };
    assert_eq!(resync.state.work.unwrap().request.len(), 30_000, "and what it did is in the state");
    stream.show(progress("small"));
    assert_eq!(numbers(&mut slow), [2002]);
}

#[tokio::test]
async fn who_waits_is_woken_and_the_end_of_the_session_is_the_end_after_all_was_given() {
    let stream = stream(10, 1 << 20);
    let (_, mut listener) = stream.subscribe(None);
    let waiting = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(Delivery::Event(envelope)) = listener.next().await {
            seen.push(envelope.seq);
        }
        seen
    });
    tokio::task::yield_now().await;
    stream.show(progress("a"));
    tokio::task::yield_now().await;
    stream.show(progress("b"));
    stream.show(progress("c"));
    drop(stream);
    assert_eq!(waiting.await.unwrap(), [1, 2, 3]);
}

#[test]
fn what_is_to_be_forgotten_is_held_no_more_and_numbers_go_on() {
    let stream = stream(10, 1 << 20);
    stream.show(progress("secret"));
    stream.forget_past();
    assert_eq!(numbers(&mut stream.subscribe(Some(0)).1), [-1]);
    stream.show(progress("next"));
    assert_eq!(numbers(&mut stream.subscribe(Some(1)).1), [2]);
}

#[test]
fn an_event_that_is_written_and_read_is_the_same_and_folds_to_the_same() {
    let stream = stream(100, 1 << 20);
    let collector = Arc::new(Collector::default());
    stream.observe(Arc::<Collector>::clone(&collector));
    stream.emit(Some("t"), TaskEvent::TakenUp { request: "fix".into(), mode: Mode::Simple, again: false });
    stream.show(Event::Plan {
        markdown: "# P".into(),
        phase: "p".into(),
        steps: 2,
        done: 1,
        failed: 0,
        running: None,
        amend: false,
    });
    stream.show(Event::Words { text: "ñ\u{1b}\n".into(), thought: true });
    stream.emit(None, TaskEvent::Answered { choice: None, words: None });
    let mut folded = StreamState::new("/w");
    for envelope in lock(&collector.0).iter() {
        let text = serde_json::to_string(envelope).unwrap();
        let read: EventEnvelope = serde_json::from_str(&text).unwrap();
        assert_eq!(&read, envelope, "{text}");
        folded.fold(&read);
        folded.fold(&read);
        let delivery = Delivery::Event(read);
        let text = serde_json::to_string(&delivery).unwrap();
        assert!(text.starts_with(r#"{"type":"event","seq":"#), "{text}");
        assert_eq!(serde_json::from_str::<Delivery>(&text).unwrap(), delivery);
    }
    assert_eq!(folded, stream.state(), "an event that comes twice counts once");
    let text = serde_json::to_string(&folded).unwrap();
    assert_eq!(serde_json::from_str::<StreamState>(&text).unwrap(), folded);
}
