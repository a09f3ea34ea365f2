//! Taking back: `undo that because it broke the tests`, `deshaz el paso 2`. The reason is kept.

use crate::agent::direct::phrase::Phrase;
use crate::agent::direct::{Direct, Said};
use crate::agent::outcome::Ending;
use crate::agent::remember::now_ms;
use crate::agent::session::Session;
use crate::agent::undo::Target;
use crate::base::failure::Failure;
use crate::editor::event::Event;
use crate::memory::entry::{Kind, Mode, NewEntry};

const LAST: &[&str] = &[
    "undo",
    "undo that",
    "undo it",
    "undo this",
    "undo the last change",
    "undo the last edit",
    "undo the last task",
    "undo your change",
    "undo your changes",
    "undo your last change",
    "undo what you did",
    "revert that",
    "revert it",
    "revert your changes",
    "revert the last change",
    "take that back",
    "take it back",
    "roll that back",
    "roll it back",
    "deshaz",
    "deshaz eso",
    "deshaz esto",
    "deshazlo",
    "deshacer",
    "deshaz el ultimo cambio",
    "deshaz tus cambios",
    "deshaz lo ultimo",
    "deshaz lo que hiciste",
    "revierte eso",
    "reviertelo",
    "revierte el ultimo cambio",
    "vuelve atras",
];

const STEP: &[&str] =
    &["undo step", "revert step", "take back step", "deshaz el paso", "deshaz paso", "revierte el paso"];

pub(super) fn recognise(phrase: &Phrase) -> Option<Direct> {
    let (wish, reason) =
        phrase.split_at(&["because", "since", "porque", "pues"]).unwrap_or_else(|| (phrase.whole(), String::new()));
    if LAST.contains(&wish.as_str()) {
        return Some(Direct::Undo { step: None, reason });
    }
    let number = STEP.iter().find_map(|step| wish.strip_prefix(step))?;
    let step = number.trim().parse().ok().filter(|step| *step > 0)?;
    Some(Direct::Undo { step: Some(step), reason })
}

impl Session {
    pub(super) async fn direct_undo(&self, step: Option<usize>, reason: &str) -> Result<Said, Failure> {
        let summary = self.take_back_what_was_named(step).await?;
        if !reason.is_empty() {
            self.keep_reason(&format!("the user had it undone ({summary}), because {reason}")).await;
        }
        let kept = if reason.is_empty() { String::new() } else { format!("; noted: {reason}") };
        Ok(Said::new("", format!("{summary}{kept}")))
    }

    /// The last task, or one of its steps.
    async fn take_back_what_was_named(&self, step: Option<usize>) -> Result<String, Failure> {
        self.with_its_plan(match step {
            None => self.undo().await,
            Some(step) => self.undo_part(&Target::Step(Some(step)), false).await,
        })
    }

    /// Shows the plan as an undo has left it. The last words come from the direct request.
    fn with_its_plan<T>(&self, ending: Ending<T>) -> Result<T, Failure> {
        for event in ending.events.into_iter().filter(|event| matches!(event, Event::Plan { .. })) {
            self.editor.show(event);
        }
        ending.result
    }

    async fn keep_reason(&self, text: &str) {
        let Some(remember) = self.remember().await else { return };
        let mode = Mode::from_name(&self.mode().to_string()).unwrap_or(Mode::Simple);
        let entry = NewEntry::new(&remember.session, mode, Kind::UserFeedback, text, now_ms());
        if let Err(error) = remember.run(move |memory| memory.append(entry)).await {
            tracing::warn!(%error, "the reason of an undo was not kept");
        }
    }
}
