//! `read_symbol`: the source of one symbol, decorators and leading comments included.

use serde::Deserialize;

use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::Failure;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadSymbolParameters {
    symbol: String,
}

pub(crate) async fn run(
    session: &Session,
    task: &mut Task,
    given: ReadSymbolParameters,
) -> Result<ToolAnswer, Failure> {
    let place = target::place(session, &given.symbol).await?;
    let source = crate::agent::state::scope::source(&place.document.text, &place.outline, place.symbol);
    let text = format!("{}\n{source}", place.path());
    task.conversation.seen.insert(place.document.path, place.document.text);
    Ok(ToolAnswer::text(text))
}
