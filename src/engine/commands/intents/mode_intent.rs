//! Changes the mode in the user's own words: `switch to supervised`, `cambia a planificador`.

use crate::commands::intents::intent::{Direct, ModeWish};
use crate::commands::intents::intent_answer::DirectAnswer;
use crate::commands::intents::phrase::{Phrase, fold};
use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::state::agent_config::PlanMode;
use crate::state::plan_service::PlanService;

const OPENINGS: &[&str] = &[
    "switch to",
    "switch to the",
    "switch mode to",
    "change to",
    "change to the",
    "change mode to",
    "set mode to",
    "set the mode to",
    "go to",
    "cambia a",
    "cambia al",
    "cambia a modo",
    "cambia al modo",
    "pasa a",
    "pasa al",
    "pasa a modo",
    "pasa al modo",
    "cambia el modo a",
];

/// Openings that need the word for mode to be clear.
const LOOSE: &[&str] = &["use", "use the", "mode", "usa el modo", "usa modo", "modo"];

pub(crate) fn recognise(phrase: &Phrase) -> Option<Direct> {
    let loose = phrase.after(OPENINGS).is_none();
    let words = phrase.after(OPENINGS).or_else(|| phrase.after(LOOSE))?;
    let whole = phrase.whole();
    let named = whole.split(' ').any(|word| word == "mode" || word == "modo");
    let wanted = match words {
        [mode] if !loose || named => fold(mode),
        [mode, word] if matches!(fold(word).as_str(), "mode" | "modo") => fold(mode),
        _ => return None,
    };
    Some(Direct::Mode(match wanted.as_str() {
        "planner" | "planificador" => ModeWish::Plan(PlanMode::Planner),
        "supervised" | "supervisado" => ModeWish::Plan(PlanMode::Supervised),
        "simple" | "sencillo" => ModeWish::Simple,
        _ => return None,
    }))
}

pub(crate) fn direct_mode(plans: &PlanService, events: &EventStream, wanted: ModeWish) -> DirectAnswer {
    let ModeWish::Plan(mode) = wanted else {
        let text =
            "a request without a plan is the simple mode already; planner and supervised are how a plan is carried out"
                .to_owned();
        return DirectAnswer::new("", text);
    };
    plans.set_mode(mode);
    let name = plans.mode().to_string();
    // The front end keeps the mode for the sessions of other workspaces.
    events.show(Event::Mode { mode: name.clone() });
    DirectAnswer::new("", format!("plans are now carried out in mode {name}"))
}
