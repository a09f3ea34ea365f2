//! The abilities of a model: the style of the work with it, and how much it reads at once. Taken from its provider and
//! name; its server's report replaces that, and the user's settings replace both.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, Provider};

/// The style in which a task is worked on with a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Tools, several calls an answer, the whole history: for strong models.
    Conversation,
    /// One JSON object a step, the facts again each time: for models in between.
    #[default]
    Step,
    /// The text of the symbol in scope, its new text back: for small models.
    Compact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Abilities {
    pub style: Style,
    /// Tokens that question and answer may have together.
    pub context: usize,
}

/// The abilities of an unknown model.
impl Default for Abilities {
    fn default() -> Self {
        Self { style: Style::default(), context: UNKNOWN_CONTEXT }
    }
}

/// The context that every server in use gives a model.
const UNKNOWN_CONTEXT: usize = 8192;
/// The context of every hosted model of a strong family.
const HOSTED_CONTEXT: usize = 128_000;

/// Billions of parameters up to which a model does more in one answer of plain text than with tools: those of 1.5 and 3
/// were measured to lose by choosing among tools and by writing code into JSON.
const SMALL: f64 = 4.5;
/// From this size on models of all makers call tools soundly.
const LARGE: f64 = 20.0;

/// Strong families, and the tokens that the hosted ones read. The first that a name holds counts.
const STRONG: &[(&str, usize)] = &[
    ("gpt-oss", 131_072),
    ("gpt-4.1", 1_000_000),
    ("gpt-5", 272_000),
    ("gpt-3.5", 16_385),
    ("gpt", HOSTED_CONTEXT),
    ("codex", 200_000),
    ("claude", 200_000),
    ("gemini", 1_000_000),
    ("deepseek", HOSTED_CONTEXT),
    ("qwen3-coder", 256_000),
    ("qwen-max", HOSTED_CONTEXT),
    ("qwen3-max", 256_000),
    ("kimi", 256_000),
    ("glm", HOSTED_CONTEXT),
    ("grok", HOSTED_CONTEXT),
    ("devstral", HOSTED_CONTEXT),
    ("codestral", HOSTED_CONTEXT),
    ("mistral-large", HOSTED_CONTEXT),
    ("mistral-medium", HOSTED_CONTEXT),
    ("llama-4", HOSTED_CONTEXT),
    ("minimax", HOSTED_CONTEXT),
];

/// Families with large models only: a number in the name is that of one expert.
const LARGE_ONLY: &[&str] = &["gpt-oss", "llama-4", "minimax", "kimi"];

/// OpenAI's reasoning models, whose whole names are this short.
const SHORT: &[(&str, usize)] = &[("o1", 200_000), ("o3", 200_000), ("o4", 200_000)];

/// Families of small models, and words for a small one.
const SMALL_FAMILIES: &[&str] = &["smollm", "tinyllama", "phi-3-mini", "phi-3.5-mini", "phi-4-mini", "tiny", "nano"];

/// A server's report on its model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportedAbilities {
    /// Tokens of question and answer together.
    pub context: Option<usize>,
    /// Billions of parameters.
    pub size: Option<f64>,
}

/// The abilities of a model, from its name and its server's report.
pub fn known(endpoint: &Endpoint, reported: ReportedAbilities) -> Abilities {
    let name = base_name(&endpoint.model);
    // The providers' own addresses serve only models that can call tools.
    let own = endpoint.home && !matches!(endpoint.provider, Provider::OLLAMA | Provider::COMPATIBLE);
    let style = if own { Style::Conversation } else { style(&name, reported.size) };
    // A model on this machine has the context that its server was started with, even if it could have more.
    let of_name = || if endpoint.local { UNKNOWN_CONTEXT } else { context(&name, own) };
    Abilities { style, context: reported.context.unwrap_or_else(of_name) }
}

/// A name without its maker, in lower case.
fn base_name(model: &str) -> String {
    model.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase()
}

fn style(name: &str, reported: Option<f64>) -> Style {
    let size = size(name).or(reported);
    if LARGE_ONLY.iter().any(|family| name.contains(family)) {
        return Style::Conversation;
    }
    match size {
        Some(size) if size <= SMALL => Style::Compact,
        Some(size) if size >= LARGE => Style::Conversation,
        Some(_) => Style::Step,
        None if strong(name).is_some() => Style::Conversation,
        None if SMALL_FAMILIES.iter().any(|family| name.contains(family)) => Style::Compact,
        None => Style::Step,
    }
}

/// The context of a strong family.
fn strong(name: &str) -> Option<usize> {
    let short = SHORT.iter().find(|(start, _)| name == *start || name.starts_with(&format!("{start}-")));
    let family = || STRONG.iter().find(|(family, _)| name.contains(family));
    short.or_else(family).map(|(_, context)| *context)
}

fn context(name: &str, own: bool) -> usize {
    // The first GPT-4 read no more than this, and is served still.
    if name == "gpt-4" || name.starts_with("gpt-4-0") {
        return 8192;
    }
    strong(name).unwrap_or(if own { HOSTED_CONTEXT } else { UNKNOWN_CONTEXT })
}

/// Billions of parameters by the name: `1.5b`, `e4b`, `135m`, `8x22b`. The largest counts, as in `30b-a3b`, where the
/// second is the active part.
fn size(name: &str) -> Option<f64> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let sizes = words.filter_map(|word| {
        let word = word.rsplit('x').next().unwrap_or(word);
        let word = word.strip_prefix('e').unwrap_or(word);
        let (number, unit) = match (word.strip_suffix('b'), word.strip_suffix('m')) {
            (Some(number), _) => (number, 1.0),
            (None, Some(number)) => (number, 0.001),
            (None, None) => return None,
        };
        // Matches `3B` and `1.5b`, but not a word that ends in the letter.
        let plain = number.starts_with(|c: char| c.is_ascii_digit()) && number.ends_with(|c: char| c.is_ascii_digit());
        Some(number.parse::<f64>().ok().filter(|_| plain)? * unit)
    });
    sizes.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{RemoteConfig, resolve};
    use proptest::prelude::*;

    fn abilities(provider: Provider, model: &str, base: Option<&str>, reported: ReportedAbilities) -> Abilities {
        let mut config = RemoteConfig::new(provider, model);
        (config.base_url, config.api_key) = (base.map(str::to_owned), Some("k".to_owned()));
        known(&resolve(&config, &|_| None).unwrap(), reported)
    }

    fn style_of(model: &str) -> Style {
        abilities(Provider::COMPATIBLE, model, Some("http://h/v1"), ReportedAbilities::default()).style
    }

    #[test]
    fn the_style_follows_from_the_name() {
        for (style, names) in [
            (
                Style::Conversation,
                "gpt-4o gpt-5-mini o3 o4-mini claude-sonnet-4-5 gemini-2.5-flash deepseek-chat deepseek-v3.2 \
                 qwen3-coder:30b qwen3-coder-plus qwen-max Qwen2.5-Coder-32B-Instruct kimi-k2-instruct glm-4.6 grok-4 \
                 devstral-small-2505 devstral:24b codestral-latest mistral-large-latest mistral-medium-3 \
                 meta-llama/llama-4-scout-17b-16e-instruct MiniMax-M2 gpt-oss:20b openai/gpt-oss-120b llama3.3:70b \
                 qwen3-30b-a3b mixtral-8x22b",
            ),
            (
                Style::Compact,
                "qwen2.5-coder:1.5b Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf llama3.2:3b gemma-3n-e2b-it gemma3n:e4b \
                 deepseek-r1:1.5b SmolLM2-135M smollm tinyllama phi-4-mini gemma-3-270m deepseek-coder-1.3b qwen3:4b",
            ),
            (
                Style::Step,
                "m test-high qwen2.5-coder:7b qwen2.5-coder deepseek-r1:8b glm-4-9b mixtral-8x7b llama3.1:8b phi-4 limb",
            ),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(style_of(name), style, "{name}");
            }
        }
    }

    #[test]
    fn a_provider_s_own_address_is_enough_and_what_its_server_tells_wins() {
        let nothing = ReportedAbilities::default();
        for provider in [Provider::OPENAI, Provider::ANTHROPIC, Provider::GEMINI] {
            let own = abilities(provider, "something-new", None, nothing);
            assert_eq!(own, Abilities { style: Style::Conversation, context: HOSTED_CONTEXT });
        }
        let claude = abilities(Provider::ANTHROPIC, "claude-opus-4-5", None, nothing);
        assert_eq!(claude.context, 200_000);
        let ollama = abilities(Provider::OLLAMA, "devstral", None, nothing);
        assert_eq!((ollama.style, ollama.context), (Style::Conversation, UNKNOWN_CONTEXT), "as its server has it");
        let reported = ReportedAbilities { context: Some(32_768), size: Some(1.54) };
        let small = abilities(Provider::COMPATIBLE, "m", Some("http://127.0.0.1:8080"), reported);
        assert_eq!(small, Abilities { style: Style::Compact, context: 32_768 });
        let large = ReportedAbilities { context: None, size: Some(32.5) };
        assert_eq!(abilities(Provider::OLLAMA, "mine", None, large).style, Style::Conversation);
    }

    proptest! {
        #[test]
        fn no_name_makes_it_panic(name in "[a-z0-9.:/é-]{1,30}") {
            style(&base_name(&name), None);
            context(&base_name(&name), false);
        }
    }
}
