//! Numbers the symbols that share a name and an owner: `parse#2` is the second one.

use std::collections::HashMap;

use super::Symbol;

/// How often each name of an owner was seen.
#[derive(Debug, Default)]
pub(super) struct Ordinals(HashMap<(String, String), usize>);

impl Ordinals {
    pub(super) fn next(&mut self, symbol: &Symbol) -> usize {
        let key = (symbol.owner.clone(), symbol.name.clone());
        *self.0.entry(key).and_modify(|seen| *seen += 1).or_insert(1)
    }
}
