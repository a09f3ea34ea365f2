//! Takes back and brings back in the user's words. Examples: `undo that because it broke the tests`, `deshaz el paso
//! 2`, `redo`, `rehaz eso`.

use crate::commands::intents::intent::Direct;
use crate::commands::intents::intent_answer::DirectAnswer;
use crate::commands::intents::phrase::{Phrase, fold};
use crate::commands::undo::redo::bring_back;
use crate::commands::undo::{UndoRequest, Undone, take_back};
use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::state::edit_service::EditService;
use crate::state::outcome::Ending;
use crate::state::plan_service::PlanService;
use crate::state::undo_target::Target;
use sextant_base::failure::Failure;

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

const REDO: &[&str] = &[
    "redo",
    "redo that",
    "redo it",
    "redo this",
    "redo the last undo",
    "redo what you undid",
    "undo the undo",
    "undo that undo",
    "bring it back",
    "bring that back",
    "rehaz",
    "rehazlo",
    "rehaz eso",
    "rehaz esto",
    "rehacer",
    "rehaz lo deshecho",
    "deshaz lo deshecho",
    "recuperalo",
];

/// Verbs before the name of a symbol.
const VERBS: &[&str] = &["undo", "revert", "take back", "deshaz", "revierte"];

pub(crate) fn recognise(phrase: &Phrase) -> Option<Direct> {
    if phrase.is(REDO) {
        return Some(Direct::Redo);
    }
    let (wish, reason) =
        phrase.split_at(&["because", "since", "porque", "pues"]).unwrap_or_else(|| (phrase.whole(), String::new()));
    if LAST.contains(&wish.as_str()) {
        return Some(Direct::Undo { target: Target::Task, reason });
    }
    if let Some(number) = STEP.iter().find_map(|step| wish.strip_prefix(step)) {
        let step = number.trim().parse().ok().filter(|step| *step > 0)?;
        return Some(Direct::Undo { target: Target::Step(Some(step)), reason });
    }
    // Only a plain path of a symbol counts: `undo the rename` is for the model.
    let symbol =
        phrase.after(VERBS)?.first().map(|word| word.trim_end_matches(',')).filter(|word| word.contains("::"))?;
    let alone = VERBS.iter().any(|verb| wish == format!("{verb} {}", fold(symbol)));
    let target = Target::Symbol(symbol.trim_matches(['`', '@']).to_owned());
    alone.then_some(Direct::Undo { target, reason })
}

pub(crate) async fn undo(
    edits: &EditService,
    plans: &PlanService,
    target: &Target,
    reason: &str,
) -> Result<DirectAnswer, Failure> {
    let wish =
        UndoRequest { target: target.clone(), partial: false, reason: reason.to_owned(), ..UndoRequest::default() };
    let undone = with_its_plan(&edits.hub.events, take_back(edits, plans, &wish).await)?;
    let kept = if reason.is_empty() { String::new() } else { format!("; noted: {reason}") };
    Ok(DirectAnswer::new("", format!("{}{kept}", undone.summary)))
}

pub(crate) async fn redo(edits: &EditService, plans: &PlanService) -> Result<DirectAnswer, Failure> {
    let undone = with_its_plan(&edits.hub.events, bring_back(edits, plans).await)?;
    Ok(DirectAnswer::new("", undone.summary))
}

/// Shows the plan as an undo has left it. The last words come from the direct request.
fn with_its_plan(events: &EventStream, ending: Ending<Undone>) -> Result<Undone, Failure> {
    for event in ending.events.into_iter().filter(|event| matches!(event, Event::Plan { .. })) {
        events.show(event);
    }
    ending.result
}
