//! The price of a model's tokens, if the user has set one.

use serde::{Deserialize, Serialize};

use crate::step::Usage;

/// In the currency of the model's own bill, for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// For tokens that the provider read from its cache; a tenth of `input` if it is not set, the usual price.
    pub cached: Option<f64>,
}

/// The price of a cached token as a part of that of an uncached one.
const CACHED: f64 = 0.1;

impl Price {
    /// Millionths of the currency; a price that is not a number, or below zero, costs nothing.
    pub fn micros(&self, usage: &Usage) -> u64 {
        let part = |price: f64, tokens: u64| if price > 0.0 { price * tokens as f64 } else { 0.0 };
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let read = part(self.input, usage.prompt_tokens - cached);
        let again = part(self.cached.unwrap_or(self.input * CACHED), cached);
        (read + again + part(self.output, usage.completion_tokens)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_counted_in_millionths() {
        let usage = Usage { calls: 1, prompt_tokens: 2000, completion_tokens: 100, ..Usage::default() };
        let price = Price { input: 3.0, output: 15.0, cached: None };
        assert_eq!(price.micros(&usage), 7500);
        let cached = Usage { cached_tokens: 1000, ..usage };
        assert_eq!(price.micros(&cached), 4800, "a tenth of the price for half of the prompt");
        assert_eq!(Price { cached: Some(0.0), ..price }.micros(&cached), 4500);
        assert_eq!(price.micros(&Usage { cached_tokens: 9999, ..usage }), 2100, "no more than there were");
        assert_eq!(Price { input: f64::NAN, output: -1.0, cached: Some(-1.0) }.micros(&cached), 0);
    }
}
