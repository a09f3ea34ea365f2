//! `read_symbol`: the source of one symbol, decorators and leading comments included.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::plan::StepKind;
use crate::agent::state::called::Subject;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::agent::tools::tool::{Tool, ToolDefinition};
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::Failure;
use crate::llm::tools::Access;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<ReadSymbol>("read_symbol", "", Access::Read).serves(&[
    StepKind::Edit,
    StepKind::Examine,
    StepKind::Search,
]);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadSymbol {
    symbol: String,
}

#[async_trait]
impl Tool for ReadSymbol {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    async fn run(&self, session: &Session, task: &mut Task) -> Result<ToolAnswer, Failure> {
        let place = target::place(session, &self.symbol).await?;
        let source = crate::agent::state::scope::source(&place.document.text, &place.outline, place.symbol);
        let text = format!("{}\n{source}", place.path());
        task.conversation.seen.insert(place.document.path, place.document.text);
        Ok(ToolAnswer::text(text))
    }
}
