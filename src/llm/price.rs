//! What a model's tokens cost, where the user has said so.

use serde::{Deserialize, Serialize};

use crate::llm::step::Usage;

/// In the currency of the model's own bill, for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

impl Price {
    /// Millionths of the currency; a price that is no number, or below zero, costs nothing.
    pub fn micros(&self, usage: &Usage) -> u64 {
        let part = |price: f64, tokens: u64| if price > 0.0 { price * tokens as f64 } else { 0.0 };
        (part(self.input, usage.prompt_tokens) + part(self.output, usage.completion_tokens)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_counted_in_millionths() {
        let usage = Usage { calls: 1, prompt_tokens: 2000, completion_tokens: 100, cached_tokens: 0, estimated: false };
        assert_eq!(Price { input: 3.0, output: 15.0 }.micros(&usage), 7500);
        assert_eq!(Price { input: f64::NAN, output: -1.0 }.micros(&usage), 0);
    }
}
