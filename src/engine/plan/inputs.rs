//! Writes, reads and resolves the inputs of a step: texts, outputs of earlier steps, values of the session.
//!
//! ```text
//! target = step1.symbol, style = session.preferences.style, note = "words, with a comma"
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::output::StepOutput;

/// The name of the input whose symbols a step works on.
pub(crate) const TARGET: &str = "target";

/// One input of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Input {
    pub name: String,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    /// A part of an earlier step's output; steps are counted from 1.
    Step(usize, TextPart),
    /// `session.preferences.KEY`.
    Preference(String),
    /// `session.NAME`: a variable of the session.
    Variable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart {
    Output,
    /// The first symbol.
    Symbol,
    Symbols,
    Files,
}

const PARTS: [(&str, TextPart); 4] = [
    ("output", TextPart::Output),
    ("symbol", TextPart::Symbol),
    ("symbols", TextPart::Symbols),
    ("files", TextPart::Files),
];

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) if is_bare(text) => f.write_str(text),
            Self::Text(text) => write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Self::Step(number, part) => {
                let name = PARTS.iter().find(|(_, known)| known == part).map_or("output", |(name, _)| *name);
                write!(f, "step{number}.{name}")
            }
            Self::Preference(key) => write!(f, "session.preferences.{key}"),
            Self::Variable(name) => write!(f, "session.{name}"),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

impl From<Input> for String {
    fn from(input: Input) -> Self {
        input.to_string()
    }
}

impl TryFrom<String> for Input {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut inputs = parse(&text)?;
        match (inputs.pop(), inputs.is_empty()) {
            (Some(input), true) => Ok(input),
            _ => Err(format!("{text:?} is not one input")),
        }
    }
}

impl Value {
    /// The step that it refers to.
    pub fn step(&self) -> Option<usize> {
        match self {
            Self::Step(number, _) => Some(*number),
            _ => None,
        }
    }

    /// True if the value yields symbols or files.
    pub fn names_symbols(&self) -> bool {
        matches!(self, Self::Step(_, TextPart::Symbol | TextPart::Symbols | TextPart::Files))
    }
}

/// A text that needs no quotes: it cannot mean anything else.
fn is_bare(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | ':' | '-');
    !text.is_empty() && text.chars().all(plain)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Reads the inputs of one line. An error names the first fault.
pub(crate) fn parse(line: &str) -> Result<Vec<Input>, String> {
    let mut inputs: Vec<Input> = Vec::new();
    for item in split(line)? {
        let Some((name, value)) = item.split_once('=') else {
            return Err(format!("{item:?} is not an input; write `name = value`"));
        };
        let name = name.trim();
        if !is_name(name) {
            return Err(format!("{name:?} is not a name for an input; use letters, digits, _ and -"));
        }
        if inputs.iter().any(|known| known.name == name) {
            return Err(format!("the input {name} is given twice"));
        }
        inputs.push(Input { name: name.to_owned(), value: value_of(value.trim())? });
    }
    Ok(inputs)
}

/// Splits at the commas outside of quotes.
fn split(line: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                items.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if quoted {
        return Err("a quotation mark is not closed".to_owned());
    }
    items.push(&line[start..]);
    Ok(items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect())
}

fn value_of(text: &str) -> Result<Value, String> {
    if let Some(inner) = text.strip_prefix('"') {
        return unquoted(inner).map(Value::Text).ok_or_else(|| format!("{text} is not one quoted text"));
    }
    if let Some(key) = text.strip_prefix("session.preferences.") {
        return if is_key(key) {
            Ok(Value::Preference(key.to_owned()))
        } else {
            Err(format!("{key:?} is not a key of a preference"))
        };
    }
    if let Some(name) = text.strip_prefix("session.") {
        return if is_name(name) {
            Ok(Value::Variable(name.to_owned()))
        } else {
            Err(format!("{name:?} is not a name in the session"))
        };
    }
    if let Some((number, part)) = text.strip_prefix("step").and_then(|rest| rest.split_once('.'))
        && let Ok(number) = number.parse::<usize>()
    {
        return match PARTS.iter().find(|(name, _)| *name == part) {
            Some((_, part)) if number > 0 => Ok(Value::Step(number, *part)),
            Some(_) => Err("steps are counted from 1".to_owned()),
            None => Err(format!("a step has no {part:?}; it has output, symbol, symbols and files")),
        };
    }
    if text.is_empty() {
        return Err("an input needs a value; the empty text is \"\"".to_owned());
    }
    Ok(Value::Text(text.to_owned()))
}

/// Preferences may have points in their keys.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(is_name)
}

fn unquoted(inner: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next()?),
            '"' => return chars.as_str().trim().is_empty().then_some(out),
            _ => out.push(c),
        }
    }
    None
}

/// The text of one value, given the outputs of the steps (by index) and the session's value.
///
/// # Errors
/// The value cannot be resolved; nothing is made up for it.
pub(crate) fn resolve(value: &Value, outputs: &[Option<&StepOutput>], session: Option<&str>) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Preference(_) | Value::Variable(_) => {
            session.map(str::to_owned).ok_or_else(|| format!("{value} is not known"))
        }
        Value::Step(number, part) => {
            let output = number
                .checked_sub(1)
                .and_then(|index| outputs.get(index).copied().flatten())
                .ok_or_else(|| format!("{value}: step {number} has no output"))?;
            let symbols = || output.symbols.iter().map(ToString::to_string).collect::<Vec<_>>();
            let (text, what) = match part {
                TextPart::Output => return Ok(output.text.clone()),
                TextPart::Symbol => (symbols().into_iter().next().unwrap_or_default(), "symbol"),
                TextPart::Symbols => (symbols().join(", "), "symbol"),
                TextPart::Files => (output.files.join(", "), "file"),
            };
            if text.is_empty() { Err(format!("{value}: step {number} gave no {what}")) } else { Ok(text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sextant_text::symbols::symbol_path::SymbolPath;

    #[test]
    fn inputs_are_texts_or_references() {
        let line = r#"target = step1.symbol, all=step12.symbols, style = session.preferences.code.style, n = session.last_file, w = "a, \"b\" \\", bare = Cart::total"#;
        let inputs = parse(line).unwrap();
        let values: Vec<&Value> = inputs.iter().map(|input| &input.value).collect();
        assert_eq!(values[0], &Value::Step(1, TextPart::Symbol));
        assert_eq!(values[1], &Value::Step(12, TextPart::Symbols));
        assert_eq!(values[2], &Value::Preference("code.style".into()));
        assert_eq!(values[3], &Value::Variable("last_file".into()));
        assert_eq!(values[4], &Value::Text("a, \"b\" \\".into()));
        assert_eq!(values[5], &Value::Text("Cart::total".into()));
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn what_is_no_input_is_named() {
        for (line, wanted) in [
            ("target", "write `name = value`"),
            ("1a = x", "not a name"),
            ("a = 1, a = 2", "twice"),
            ("a = step0.output", "counted from 1"),
            ("a = step1.color", "it has output, symbol, symbols and files"),
            ("a = session.", "not a name in the session"),
            ("a = session.preferences.", "not a key"),
            ("a = \"open", "not closed"),
            ("a = \"x\" y", "not one quoted text"),
            ("a =", "needs a value"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(wanted), "{line}: {error}");
        }
    }

    #[test]
    fn a_reference_is_what_the_step_handed_on_or_an_error() {
        let output = StepOutput::new("three uses", ["a.py::f", "b.py::g"].map(SymbolPath::parse).to_vec());
        let empty = StepOutput::default();
        let outputs = [Some(&output), None, Some(&empty)];
        let of = |text: &str| resolve(&parse(&format!("x = {text}")).unwrap()[0].value, &outputs, None);
        assert_eq!(of("step1.output").unwrap(), "three uses");
        assert_eq!(of("step1.symbol").unwrap(), "a.py::f");
        assert_eq!(of("step1.symbols").unwrap(), "a.py::f, b.py::g");
        assert_eq!(of("step1.files").unwrap(), "a.py, b.py");
        assert!(of("step2.output").unwrap_err().contains("step 2 has no output"));
        assert!(of("step3.symbol").unwrap_err().contains("gave no symbol"));
        assert!(of("step9.output").unwrap_err().contains("step 9 has no output"));
        assert!(of("session.preferences.style").unwrap_err().contains("is not known"));
        assert_eq!(resolve(&Value::Preference("style".into()), &outputs, Some("short")).unwrap(), "short");
    }

    proptest! {
        #[test]
        fn an_input_survives_being_written_and_read(text in "[a-z\"\\\\, =.step1on]{0,20}") {
            let input = Input { name: "x".into(), value: Value::Text(text) };
            prop_assert_eq!(parse(&input.to_string()).unwrap(), vec![input]);
        }

        #[test]
        fn no_line_is_too_strange(line in "[a-z\"\\\\, =.0-9é]{0,40}") {
            let _ = parse(&line);
        }
    }
}
