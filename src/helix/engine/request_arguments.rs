//! Reads the arguments of a command, as a user writes them behind its name, into a request.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::EngineHost;
use crate::link::AgentCommand;
use sextant_base::failure::Failure;
use sextant_base::path;
use sextant_base::positions::Range;
use sextant_engine::api::Request;

/// The place that a request is about, as an object among the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GivenPlace {
    /// A path, or a URI.
    #[serde(alias = "uri", alias = "path")]
    pub(super) file: Option<String>,
    /// The buffer with the focus, as Helix names it: from its working folder, or from `~`.
    pub(super) buffer: Option<String>,
    /// One-based.
    pub(super) line: Option<usize>,
    pub(super) lines: Option<(usize, usize)>,
    /// The range in LSP's form.
    pub(super) range: Option<Range>,
    pub(super) symbols: Vec<String>,
    pub(super) workspace: bool,
    /// For an answer: the number of its question in the session.
    pub(super) question: Option<u64>,
    /// For an undo: only the parts that the user has not changed since.
    pub(super) partial: bool,
    /// The request must change nothing.
    #[serde(alias = "forbidEdits")]
    pub(super) forbid_edits: bool,
    /// The request goes on with the conversation.
    #[serde(skip)]
    pub(super) follows: bool,
}

/// The arguments, whatever their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GivenArguments {
    /// All texts, joined into one.
    pub(super) text: String,
    pub(super) number: Option<usize>,
    pub(super) place: GivenPlace,
}

impl GivenArguments {
    /// # Errors
    /// An argument is neither a text, a number, nor a place.
    pub(super) fn read(arguments: &[Value]) -> Result<Self, Failure> {
        let mut given = Self::default();
        let example = "write agent.ask \"fix this\" {\"lines\": [3, 9]}";
        for argument in arguments {
            match argument {
                Value::String(text) if given.text.is_empty() => text.trim().clone_into(&mut given.text),
                Value::String(text) => given.text = format!("{} {}", given.text, text.trim()),
                Value::Number(number) => given.number = number.as_u64().and_then(|number| usize::try_from(number).ok()),
                Value::Null => {}
                Value::Object(_) => {
                    let read = serde_json::from_value(argument.clone());
                    // The list of all fields behind the wrong one would push the example off the screen.
                    let words =
                        |error: serde_json::Error| error.to_string().split(", expected").next().map(str::to_owned);
                    given.place = read.map_err(|error| Failure::user(words(error).unwrap_or_default(), example))?;
                }
                Value::Bool(_) | Value::Array(_) => {
                    return Err(Failure::user(format!("{argument} is no argument of a command"), example));
                }
            }
        }
        Ok(given)
    }
}

/// Reads the commands of the keys that ask or take back as the one command that they are. They have names of their own,
/// since Helix lists the keys with the beginning of what each types.
pub(super) fn as_request(command: &mut AgentCommand) {
    if command.command == "agent.undo-rest" {
        command.arguments.push(json!({"partial": true}));
        command.command = "agent.undo".to_owned();
    }
    let Some(about) = command.command.strip_prefix("agent.ask-") else { return };
    if about == "workspace" {
        command.arguments.push(json!({"workspace": true}));
    }
    command.command = "agent.ask".to_owned();
}

/// The name of the buffer among the arguments of a command.
pub(super) fn buffer_of(arguments: &[Value]) -> Option<&str> {
    arguments.iter().find_map(|argument| argument.get("buffer")?.as_str())
}

impl GivenPlace {
    /// Counted from 1.
    pub(super) fn first_line(&self) -> Option<usize> {
        self.lines().map(|(first, _)| first)
    }

    /// Puts these lines in the place of those of a page.
    pub(super) fn use_lines(&mut self, lines: Option<(usize, usize)>) {
        (self.line, self.lines, self.range) = (None, lines, None);
    }

    pub(super) fn lines(&self) -> Option<(usize, usize)> {
        let range = self.range.map(|range| (range.start.line as usize + 1, range.end.line as usize + 1));
        let ordered = |(one, other): (usize, usize)| (one.min(other).max(1), one.max(other).max(1));
        self.lines.or_else(|| self.line.map(|line| (line, line))).or(range).map(ordered)
    }
}

/// A file without symbolic links; the file need not exist yet.
pub(super) fn real(file: PathBuf) -> PathBuf {
    let in_folder = || Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(in_folder).unwrap_or(file)
}

impl EngineHost {
    /// The request that a command makes in a document.
    ///
    /// # Errors
    /// The request is empty, or is about a file outside of the workspace: its user means that file, and not the
    /// workspace.
    pub(super) fn request(&self, given: &GivenArguments, document: Option<&str>) -> Result<Request, Failure> {
        let GivenArguments { text, place, .. } = given;
        if text.is_empty() {
            return Err(Failure::user("the request is empty", "write agent.ask \"what to do\""));
        }
        let root = self.setup.root.path();
        let named = place.file.as_deref().map(|file| path::from_uri(file).unwrap_or_else(|| root.join(file)));
        let symbols = place.symbols.clone();
        let elsewhere = place.workspace || !symbols.is_empty();
        let here = || document.and_then(path::from_uri).map(real);
        let file = match named {
            Some(file) => Some(file),
            None => here().filter(|file| !elsewhere || path::relative(root, file).is_some()),
        };
        if let Some(file) = &file
            && path::relative(root, file).is_none()
        {
            let message = format!("{} is outside of the workspace", file.display());
            let hint = "start Helix in its folder, or add {\"workspace\": true}";
            return Err(Failure::user(message, hint));
        }
        let workspace = place.workspace || file.is_none() && symbols.is_empty();
        let lines = file.as_ref().and_then(|_| place.lines());
        let path = file.map(|file| file.to_string_lossy().into_owned());
        let text = if place.forbid_edits { format!("{text}. Do not change anything.") } else { text.clone() };
        Ok(Request { text, path, lines, symbols, workspace, follows: place.follows, ..Request::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_texts_numbers_and_places_in_any_order() {
        let read = |arguments: Value| GivenArguments::read(arguments.as_array().unwrap());
        let given = read(json!([{"lines": [9, 3]}, " fix ", "this"])).unwrap();
        assert_eq!((given.text.as_str(), given.place.lines()), ("fix this", Some((3, 9))));
        assert_eq!(read(json!([2])).unwrap().number, Some(2));
        let range = json!({"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 1}});
        assert_eq!(read(json!(["x", {"range": range}])).unwrap().place.lines(), Some((5, 6)));
        assert_eq!(read(json!([{"line": 0}])).unwrap().place.lines(), Some((1, 1)));
        for bad in [json!([true]), json!([["x"]]), json!([{"lnies": [1, 2]}]), json!([{"lines": "x"}])] {
            let failure = read(bad.clone()).unwrap_err();
            assert!(failure.hint.text().contains("agent.ask"), "{bad}");
        }
    }
}
