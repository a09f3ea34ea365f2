//! Prints a joined session's work for this command: its events from the start of our turn on, and its questions.

use std::io::{BufRead, IsTerminal};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::cli::answer_option::{GivenAnswer, GivenAnswers};
use crate::cli::printing::Printer;
use crate::cli::{cli_wording, join, terminal};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_engine::api::{Delivery, Event, EventEnvelope, QuestionKind, TaskEvent};
use sextant_serve::rpc::rpc_client::{EventFeed, JoinedSession};

/// The time limit for the last events after the answer.
const LAST: Duration = Duration::from_secs(5);

/// The result of the plan that an answer from here went on with.
type Continued = Arc<Mutex<Option<Result<Value, Failure>>>>;

/// The printing of a session's events.
pub(super) struct Following {
    /// The number up to which events are printed; 0 while it is not known.
    until: watch::Sender<u64>,
    printing: JoinHandle<()>,
    continued: Continued,
}

struct Follower {
    by: String,
    until: watch::Receiver<u64>,
    printer: Printer,
    answers: GivenAnswers,
    /// True if a person can be asked here.
    terminal: bool,
    ours: bool,
    session: Arc<JoinedSession>,
    continued: Continued,
}

impl Following {
    /// Prints the events of the task of `by`. A reader of JSON lines is a program and gets no questions.
    pub(super) async fn start(
        session: &Arc<JoinedSession>,
        by: String,
        answers: &[GivenAnswer],
        as_json: bool,
    ) -> Result<Self, Failure> {
        let events = session.events(None).await?;
        let (until, number) = watch::channel(0);
        let continued = Continued::default();
        let follower = Follower {
            by,
            until: number,
            printer: Printer::new(as_json),
            answers: GivenAnswers::new(answers),
            terminal: !as_json && std::io::stdin().is_terminal(),
            ours: false,
            session: Arc::clone(session),
            continued: Arc::clone(&continued),
        };
        Ok(Self { until, printing: tokio::spawn(follower.follow(events)), continued })
    }
}

/// Prints the last events. If an answer went on with a plan, its result is the outcome.
pub(super) async fn end(mut following: Following, session: &Arc<JoinedSession>) -> Option<Result<Value, Failure>> {
    if let Ok(info) = session.info().await {
        following.until.send_replace(info.state.seq);
        let _ = tokio::time::timeout(LAST, &mut following.printing).await;
    }
    following.printing.abort();
    lock(&following.continued).take()
}

impl Follower {
    async fn follow(mut self, mut events: EventFeed) {
        let mut number = 0;
        loop {
            let last = *self.until.borrow_and_update();
            if last > 0 && number >= last {
                return;
            }
            let delivery = tokio::select! {
                delivery = events.next() => delivery,
                changed = self.until.changed() => if changed.is_ok() { continue } else { return },
            };
            match delivery {
                Some(Delivery::Event(envelope)) => {
                    number = envelope.seq;
                    self.take(envelope).await;
                }
                Some(Delivery::Resync(resync)) => {
                    number = resync.state.seq;
                    let text = "some of what happened was too much for this terminal and is left out".to_owned();
                    self.printer.print(Event::Progress { text });
                }
                None => return,
            }
        }
    }

    async fn take(&mut self, envelope: EventEnvelope) {
        match envelope.event {
            TaskEvent::TurnBegan { by } if by == self.by => self.ours = true,
            TaskEvent::TurnEnded { by } if by == self.by => self.ours = false,
            TaskEvent::Shown { event } if self.ours && is_of_work(&event) => {
                let asks = if let Event::Question { kind, .. } = &event { Some(*kind) } else { None };
                self.printer.print(event);
                if let Some(kind) = asks {
                    self.answer(kind).await;
                }
            }
            _ => {}
        }
    }

    /// Answers with a given answer, or lets a person answer. The user at the editor can do so as well.
    async fn answer(&mut self, kind: QuestionKind) {
        if let Some(choice) = self.answers.take(kind) {
            let answered = answer(&self.session, &self.by, choice).await;
            keep(&self.continued, answered);
        } else if self.terminal {
            let (session, by, continued) = (Arc::clone(&self.session), self.by.clone(), Arc::clone(&self.continued));
            tokio::spawn(async move {
                while let Some(choice) = read().await {
                    let answered = answer(&session, &by, choice).await;
                    if let Err(failure) = &answered {
                        terminal::complain(&cli_wording::failure(failure).one_line());
                        continue;
                    }
                    return keep(&continued, answered);
                }
            });
        }
    }
}

async fn answer(session: &JoinedSession, by: &str, choice: usize) -> Result<Option<Value>, Failure> {
    let taken = session.answer(choice, by.to_owned()).await?;
    taken.outcome.map(join::value).transpose()
}

fn keep(continued: &Continued, answered: Result<Option<Value>, Failure>) {
    if let Some(outcome) = answered.transpose() {
        *lock(continued) = Some(outcome);
    }
}

/// A line of the terminal as a number; `None` at the end of the input.
async fn read() -> Option<usize> {
    let line = tokio::task::spawn_blocking(|| {
        terminal::note("> ");
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        matches!(read, Ok(1..)).then_some(line)
    });
    let line = line.await.ok().flatten()?;
    Some(line.trim().parse().unwrap_or(0))
}

/// True if an event belongs to the task of this command, and is not its last, which the command has itself.
fn is_of_work(event: &Event) -> bool {
    !(event.is_aside() || matches!(event, Event::Answered | Event::Failed { .. }))
}
