//! The user's settings for the talk with a model.

use serde::Deserialize;

use crate::abilities::{Abilities, Style};
use crate::endpoint::{Provider, wrong};
use crate::price::Price;
use sextant_base::failure::Failure;

/// The choice between OpenAI's interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    #[default]
    Chat,
    Responses,
}

/// The way in which a model gets its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolWay {
    /// By the provider's own means.
    #[default]
    Native,
    /// In the rules, and called in one JSON object: for servers without means of their own.
    Json,
}

/// The settings of a model. Everything has a default.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manner {
    /// The provider's default when absent; some models accept no other.
    pub temperature: Option<f64>,
    /// True to send the JSON schema along; a server that refuses it is asked without anyway.
    pub schema: bool,
    /// The price of its tokens; without it runs are counted without their cost.
    pub price: Option<Price>,
    /// In place of the style that follows from its name.
    pub style: Option<Style>,
    /// Tokens that question and answer may have together, in place of its server's report or the value for its name.
    pub context: Option<usize>,
    pub tools: ToolWay,
    /// `none`, `low`, `medium`, `high`, or another word that the provider takes.
    pub reasoning_effort: Option<String>,
    /// True if the reader sees the model's thinking aloud, if the provider sends it.
    pub show_reasoning: bool,
    /// The time that Ollama keeps the model in memory after a call, in its own words: `30m`, `-1`.
    pub keep_alive: Option<String>,
    pub api: Option<Api>,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            temperature: None,
            schema: true,
            price: None,
            style: None,
            context: None,
            tools: ToolWay::default(),
            reasoning_effort: None,
            show_reasoning: false,
            keep_alive: None,
            api: None,
        }
    }
}

/// A context below this has no room for a question and its answer.
const LEAST_CONTEXT: usize = 1024;

impl Manner {
    /// The names of its options, which stand beside those of the address.
    pub const OPTIONS: &[&str] = &[
        "temperature",
        "schema",
        "price",
        "style",
        "context",
        "tools",
        "reasoning_effort",
        "show_reasoning",
        "keep_alive",
        "api",
    ];

    /// A setting that can have no effect is an error.
    pub fn check(&self, provider: Provider) -> Result<(), Failure> {
        let openai = matches!(provider, Provider::OPENAI | Provider::COMPATIBLE);
        if self.api == Some(Api::Responses) && !openai {
            let hint = "take it out, or use `openai` or `openai_compatible`";
            return Err(wrong(format!("`api = 'responses'` is not for {}", provider.name()), hint));
        }
        if self.keep_alive.is_some() && provider != Provider::OLLAMA {
            return Err(wrong(format!("`keep_alive` is for Ollama, not for {}", provider.name()), "take it out"));
        }
        if self.context.is_some_and(|context| context < LEAST_CONTEXT) {
            return Err(wrong(format!("`context` must be {LEAST_CONTEXT} or more"), "or leave it out"));
        }
        Ok(())
    }

    /// The abilities, overridden by the user's settings.
    pub fn over(&self, known: Abilities) -> Abilities {
        Abilities { style: self.style.unwrap_or(known.style), context: self.context.unwrap_or(known.context) }
    }
}
