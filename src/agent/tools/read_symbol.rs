//! `read_symbol`: the source of one symbol, decorators and leading comments included.

use serde::Deserialize;

use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::{ToolAnswer, target};
use crate::base::failure::Failure;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    symbol: String,
}

pub(super) async fn run(session: &Session, task: &mut Task, given: Parameters) -> Result<ToolAnswer, Failure> {
    let place = target::place(session, &given.symbol).await?;
    let source = crate::agent::scope::source(&place.document.text, &place.outline, place.symbol);
    let text = format!("{}\n{source}", place.path());
    task.seen.insert(place.document.path, place.document.text);
    Ok(ToolAnswer::text(text))
}
