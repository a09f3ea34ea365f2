//! Runs a command that a plan checks a step with.

use crate::editor::event::Event;
use crate::state::call_summary::command_line;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::tools::run_command::{self, CommandRun, RunCommand};
use crate::tools::tool::ToolCall;
use crate::tools::validate_call;
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_model::step::Model;

/// Runs the command of a check through the gate, with the time limit and cap of a model's own call.
pub(crate) async fn run_check(
    edits: &EditService,
    model: &dyn Model,
    work: &TaskWork,
    command: &[String],
) -> Result<CommandRun, Failure> {
    let (step, tool, target) = (work.step, run_command::TOOL.name.to_owned(), clean(&command_line(command)));
    let reasoning = "a check of the plan".to_owned();
    edits.hub.events.show(Event::Acting { step, tool: tool.clone(), target, reasoning });
    let call = ToolCall::new(&run_command::TOOL, RunCommand { command: command.to_vec() });
    let ran = match validate_call::gate(&edits.workspace, &edits.approvals, work, &tool, Ok(call)).await {
        Ok(_) => run_command::execute(&edits.hub, model, &work.spent, work.step, &work.seen, command).await,
        Err(refused) => Err(refused),
    };
    let (ok, text) = match &ran {
        Ok(ran) => (ran.passed, ran.text.clone()),
        Err(failure) => (false, failure.one_line()),
    };
    edits.hub.events.show(Event::Acted { step, tool, ok, text });
    ran
}
