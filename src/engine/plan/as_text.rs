//! Writes paths of symbols in JSON as the text that a user reads.

use serde::{Deserialize, Deserializer, Serializer};

use sextant_text::symbols::symbol_path::SymbolPath;

pub(crate) fn serialize<S: Serializer>(symbols: &[SymbolPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(symbols.iter().map(ToString::to_string))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SymbolPath>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    // These are whole paths, so that the part before the names is a file, whatever its name.
    let path = |text: String| match text.split_once("::") {
        Some((file, names)) => SymbolPath::new(file, names),
        None => SymbolPath::new(text, ""),
    };
    Ok(texts.into_iter().map(path).collect())
}
