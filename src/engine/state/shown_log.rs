//! Notes what a task shows in the conversation beside its request: words of the model, calls with their results,
//! questions with their answers, lines of progress. A conversation that is opened again shows them.

use std::sync::Mutex;

use crate::editor::event::{CallResult, Event, ShownPart, WaitPhase};
use crate::events::envelope::{EventEnvelope, TaskEvent};
use crate::events::stream::Observer;
use sextant_base::lock::lock;
use sextant_base::token_estimate::head_and_tail;

/// Most lines of one request; the first ones go.
const LINES: usize = 300;
/// Tokens of the longest text.
const TEXT: usize = 2000;

/// The parts of the task that was taken up last.
#[derive(Debug, Default)]
pub(crate) struct ShownLog {
    now: Mutex<ShownTurn>,
}

#[derive(Debug, Default)]
struct ShownTurn {
    task: Option<String>,
    parts: Vec<ShownPart>,
}

impl ShownLog {
    /// The parts of a task so far; from here on it has none.
    pub(crate) fn take(&self, task: &str) -> Vec<ShownPart> {
        let mut now = lock(&self.now);
        let is_it = now.task.as_deref() == Some(task);
        let parts = if is_it { std::mem::take(&mut now.parts) } else { Vec::new() };
        drop(now);
        parts.into_iter().filter_map(kept).collect()
    }
}

/// The form that is kept; `None` for blank words.
fn kept(part: ShownPart) -> Option<ShownPart> {
    let short = |text: &str| head_and_tail(text, TEXT);
    match part {
        ShownPart::Words { text } if text.trim().is_empty() => None,
        ShownPart::Words { text } => Some(ShownPart::Words { text: short(text.trim()) }),
        ShownPart::Call { step, tool, target, result } => {
            let result = result.map(|CallResult { ok, text }| CallResult { ok, text: short(&text) });
            Some(ShownPart::Call { step, tool, target, result })
        }
        ShownPart::Note { text } => Some(ShownPart::Note { text: short(&text) }),
        ShownPart::Question { text, options, shows, answer } => {
            Some(ShownPart::Question { text, options, shows: shows.as_deref().map(short), answer })
        }
        ShownPart::Risk { .. } => Some(part),
    }
}

impl ShownTurn {
    fn add(&mut self, event: &Event) {
        match event {
            Event::Words { text, thought: false } => match self.parts.last_mut() {
                Some(ShownPart::Words { text: before }) => before.push_str(text),
                _ => self.parts.push(ShownPart::Words { text: text.clone() }),
            },
            Event::Acting { step, tool, target, .. } => {
                let (step, tool, target) = (*step, tool.clone(), target.clone());
                self.parts.push(ShownPart::Call { step, tool, target, result: None });
            }
            Event::Acted { step, tool, ok, text } => self.finish(*step, tool, *ok, text),
            Event::Progress { text } => self.parts.push(ShownPart::Note { text: text.clone() }),
            Event::Phase { phase: WaitPhase::Retry, detail, .. } => {
                self.parts.push(ShownPart::Note { text: detail.clone() });
            }
            Event::Risk { line, .. } => self.parts.push(ShownPart::Risk { text: line.clone() }),
            Event::Question { text, options, shows, .. } => {
                let (text, options, shows) = (text.clone(), options.clone(), shows.clone());
                self.parts.push(ShownPart::Question { text, options, shows, answer: None });
            }
            _ => return,
        }
        let over = self.parts.len().saturating_sub(LINES);
        self.parts.drain(..over);
    }

    /// Gives the last question its answer.
    fn answer(&mut self, choice: Option<usize>, words: Option<&String>) {
        let last = self.parts.iter_mut().rev().find_map(|part| match part {
            ShownPart::Question { options, answer, .. } => Some((options, answer)),
            _ => None,
        });
        let Some((options, answer @ None)) = last else { return };
        let option = choice.and_then(|choice| Some(format!("{choice}. {}", options.get(choice.checked_sub(1)?)?)));
        *answer = words.cloned().or(option);
    }

    /// Gives the first open call of a step its result: those of one step return in their order.
    fn finish(&mut self, of: u32, name: &str, ok: bool, shown: &str) {
        for part in &mut self.parts {
            if let ShownPart::Call { step, tool, result: result @ None, .. } = part
                && *step == of
                && tool == name
            {
                *result = Some(CallResult { ok, text: shown.to_owned() });
                return;
            }
        }
    }
}

impl Observer for ShownLog {
    fn notice(&self, envelope: &EventEnvelope) {
        match &envelope.event {
            TaskEvent::TakenUp { again, .. } => {
                let mut now = lock(&self.now);
                if !again || now.task != envelope.task {
                    *now = ShownTurn { task: envelope.task.clone(), parts: Vec::new() };
                }
            }
            TaskEvent::Shown { event } => {
                let mut now = lock(&self.now);
                if now.task.is_some() && now.task == envelope.task {
                    now.add(event);
                }
            }
            TaskEvent::Answered { choice, words } => {
                let mut now = lock(&self.now);
                if now.task.is_some() && now.task == envelope.task {
                    now.answer(*choice, words.as_ref());
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::event::QuestionKind;

    fn acting(step: u32, target: &str) -> Event {
        Event::Acting { step, tool: "read_file".into(), target: target.into(), reasoning: String::new() }
    }

    #[test]
    fn a_result_belongs_to_the_first_open_call_of_its_step() {
        let mut turn = ShownTurn::default();
        turn.add(&Event::Words { text: "I ".into(), thought: false });
        turn.add(&Event::Words { text: "hidden".into(), thought: true });
        turn.add(&Event::Words { text: "look".into(), thought: false });
        turn.add(&acting(1, "a.py"));
        turn.add(&acting(1, "b.py"));
        turn.add(&Event::Acted { step: 1, tool: "read_file".into(), ok: true, text: "4 lines".into() });
        let result = Some(CallResult { ok: true, text: "4 lines".into() });
        let call =
            |target: &str, result| ShownPart::Call { step: 1, tool: "read_file".into(), target: target.into(), result };
        assert_eq!(turn.parts, [ShownPart::Words { text: "I look".into() }, call("a.py", result), call("b.py", None)]);
    }

    #[test]
    fn an_answer_belongs_to_the_last_question_by_its_number_or_in_words() {
        let mut turn = ShownTurn::default();
        let question = |text: &str, answer: Option<&str>| ShownPart::Question {
            text: text.into(),
            options: vec!["f".into(), "g".into()],
            shows: None,
            answer: answer.map(str::to_owned),
        };
        let ask = |text: &str| Event::Question {
            text: text.into(),
            options: vec!["f".into(), "g".into()],
            kind: QuestionKind::Ask,
            shows: None,
        };
        turn.add(&ask("which"));
        turn.answer(Some(2), None);
        // A question is closed once.
        turn.answer(None, None);
        turn.add(&ask("why"));
        turn.answer(Some(0), Some(&"no reason".into()));
        turn.add(&ask("when"));
        turn.answer(None, None);
        let all = [question("which", Some("2. g")), question("why", Some("no reason")), question("when", None)];
        assert_eq!(turn.parts, all);
    }

    #[test]
    fn a_long_turn_keeps_its_last_lines() {
        let mut turn = ShownTurn::default();
        (0..LINES + 5).for_each(|number| turn.add(&acting(1, &number.to_string())));
        assert_eq!(turn.parts.len(), LINES);
        assert!(matches!(&turn.parts[0], ShownPart::Call { target, .. } if target == "5"));
    }
}
