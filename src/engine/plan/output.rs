//! Holds the output that a finished step hands to later steps.

use serde::{Deserialize, Serialize};

use crate::plan::as_text;
use sextant_base::plural::counted;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Bytes of an output's text: about 1,200 tokens.
const TEXT: usize = 4200;

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepOutput {
    /// At most 4,200 bytes, cut at a line.
    pub text: String,
    #[serde(with = "as_text")]
    pub symbols: Vec<SymbolPath>,
    pub files: Vec<String>,
    /// Diagnostics that are gone and those that are new, from the severity floor up.
    pub fixed: usize,
    pub new: usize,
    /// How far the step left the plan, in hundredths.
    pub deviation: u8,
}

impl StepOutput {
    pub fn new(text: &str, symbols: Vec<SymbolPath>) -> Self {
        let mut files: Vec<String> = Vec::new();
        for symbol in &symbols {
            if !files.contains(&symbol.file) {
                files.push(symbol.file.clone());
            }
        }
        Self { text: capped(text), symbols, files, ..Self::default() }
    }
}

/// Whole lines within the limit; a single longer line is cut inside.
fn capped(text: &str) -> String {
    let text = text.trim_end();
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let mut cut = TEXT;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let end = text[..cut].rfind('\n').unwrap_or(cut);
    let left = text[end..].trim_start_matches('\n').lines().count();
    format!("{}\n… {}", &text[..end], counted(left, "more line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_capped_at_a_line_and_names_each_file_once() {
        let long = "é line\n".repeat(2000);
        let symbols = ["a.py::f", "a.py::g", "b.py"].map(SymbolPath::parse).to_vec();
        let output = StepOutput::new(&long, symbols);
        assert!(output.text.len() <= TEXT + 40 && output.text.ends_with("more lines"), "{}", output.text.len());
        assert_eq!(output.files, ["a.py", "b.py"]);
        assert!(StepOutput::new(&"é".repeat(5000), Vec::new()).text.contains("… 1 more line"));
        let json = serde_json::to_string(&output).unwrap();
        assert_eq!(serde_json::from_str::<StepOutput>(&json).unwrap(), output);
    }
}
