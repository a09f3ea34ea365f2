//! A conversation with a model: a stable prefix, messages that are only appended, several calls an answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::ToolSpec;
use sextant_base::token_estimate;

/// The input of one call. Two calls of one task share all of it but the last messages, so that providers can cache it.
#[derive(Clone, Copy, Debug)]
pub struct ChatInput<'a> {
    /// The rules. The same for every call of a task.
    pub system: &'a str,
    pub messages: &'a [ChatMessage],
    /// The tools that it may call; empty for an answer in text.
    pub tools: &'a [ToolSpec],
}

/// One message; they are never changed once they have been sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatMessage {
    User(String),
    Model(ChatReply),
    /// One for each use of a tool in the reply before, in its order.
    Results(Vec<ToolResult>),
}

/// Tokens that a message has beside its texts.
const FRAME: usize = 8;

impl ChatMessage {
    /// Estimated.
    pub fn tokens(&self) -> usize {
        let texts = match self {
            Self::User(text) => token_estimate::estimate(text),
            Self::Model(reply) => {
                let uses = reply.uses.iter().map(|used| FRAME + token_estimate::estimate(&used.parameters.to_string()));
                let opaque = reply.opaque.iter().map(|value| token_estimate::estimate(&value.to_string()));
                token_estimate::estimate(&reply.text) + uses.sum::<usize>() + opaque.sum::<usize>()
            }
            Self::Results(results) => results.iter().map(|result| FRAME + token_estimate::estimate(&result.text)).sum(),
        };
        FRAME + texts
    }
}

/// One answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatReply {
    pub text: String,
    pub uses: Vec<ToolUse>,
    /// Data that the provider wants back unchanged (signed reasoning and the like), in its own shape; only for that
    /// provider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Value>,
    /// True if it was cut off at the limit of tokens: the last use may then be missing.
    pub cut: bool,
}

/// A call that a model requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    /// The provider's name for it; ours if it sends none.
    pub id: String,
    pub tool: String,
    /// As [`ToolSpec::fit`] has taken them; unchanged if there is a problem.
    pub parameters: Value,
    /// The reason why it cannot run, for the model: no such tool, parameters that do not fit, JSON that is cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The result of a use of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the use.
    pub id: String,
    pub tool: String,
    pub ok: bool,
    pub text: String,
}
