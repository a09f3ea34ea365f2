//! The plan as the user has edited it in Neovim: it becomes the plan, or its faults go back by lines.

use std::sync::Arc;

use crate::door::{GivenRequest, NvimDoor};
use sextant_base::failure::Failure;
use sextant_engine::api::{Event, Origin, PlanRefused};

impl NvimDoor {
    /// Takes the text for the plan that waits.
    pub(super) fn write_plan(self: &Arc<Self>, given: GivenRequest) {
        let Some(open) = self.meant(&given) else {
            return self.refuse(Failure::user("no plan was made here yet", ":AgentPlan makes one"));
        };
        tokio::spawn(async move {
            let held = match open.session.begin("a change of the plan", Origin::new("Neovim")) {
                Ok(held) => held,
                Err(failure) => return open.session.emit(Event::refused(failure)),
            };
            let base = Some(given.word("base")).filter(|base| !base.is_empty());
            let taken = open.session.edit_plan(&given.text, base).await;
            drop(held);
            match taken {
                Ok(edited) => {
                    open.session.emit(Event::PlanChecked { faults: Vec::new() });
                    open.session.emit(edited.event);
                }
                Err(PlanRefused::Faults(faults)) => open.session.emit(Event::PlanChecked { faults }),
                Err(PlanRefused::Failure(failure)) => open.session.emit(Event::refused(failure)),
            }
        });
    }
}
