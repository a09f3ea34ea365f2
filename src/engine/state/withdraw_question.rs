//! Withdraws the open question of a plan that is another one now, so that every door closes it.

use crate::editor::event::Event;
use crate::events::envelope::TaskEvent;
use crate::events::stream::EventStream;
use crate::state::task::{TaskProgress, TaskWork};

/// Closes the question of the plan that waits, and says why. Nothing happens without a question.
pub(crate) fn withdraw_question(events: &EventStream, work: &TaskWork, progress: &mut TaskProgress, why: &str) {
    if progress.question.take().is_none() {
        return;
    }
    let of = Some(work.journal.task.as_str());
    events.emit(of, TaskEvent::Answered { choice: None, words: None });
    let text = format!("the question is closed: {why}");
    events.emit(of, TaskEvent::Shown { event: Event::Progress { text } });
}
