//! The way out of a failure: words that hold at every door, and codes that each door words its own way.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way out that has another name in an editor and in a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintCode {
    /// Takes back the last change.
    Undo,
    /// Takes back every change that the user has not edited since.
    UndoRest,
    /// The user's own changes, which are the editor's to undo.
    UndoOwn,
    /// A place that the user has changed as well, which is the editor's to undo.
    UndoByHand,
    /// Brings back the last change that was taken back.
    Redo,
    /// Stops the task that runs.
    Stop,
    /// Goes on with the plan or task that waits.
    Resume,
    /// Shows how far the task that waits has come.
    ShowWaiting,
    /// Goes on with the plan that waited before.
    ResumeEarlier,
    /// Makes a plan.
    Plan,
    /// Starts a task.
    Start,
    /// Shows the form of a request.
    Request,
    /// The settings of language servers and models.
    Servers,
    /// The settings of a language model.
    Models,
    /// The settings of commands that find diagnostics.
    Commands,
    /// The records of tasks, and their place.
    Memory,
    /// Shows the memory.
    Remembered,
    /// Writes the buffer, or loads the file again.
    Buffer,
    /// Changes the encoding of a file.
    Encoding,
    /// The place of the log.
    Log,
}

/// A way out. In JSON it is a text, or a text with codes and the words for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Hint {
    Text(String),
    Coded {
        text: String,
        #[serde(default)]
        codes: Vec<HintCode>,
        /// The words for a person, where the text is for a model: only a model can take its way out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
    },
}

impl Hint {
    /// The words that hold at every door; a model gets these alone.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Coded { text, .. } => text,
        }
    }

    /// The same words for a person.
    pub fn for_person(&self) -> &str {
        self.person().unwrap_or_else(|| self.text())
    }

    /// The words for a person, where those for a model are others.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Coded { person, .. } => person.as_deref(),
        }
    }

    pub fn codes(&self) -> &[HintCode] {
        match self {
            Self::Text(_) => &[],
            Self::Coded { codes, .. } => codes,
        }
    }

    /// The same, and another way out.
    #[must_use]
    pub fn and(self, code: HintCode) -> Self {
        let (text, mut codes, person) = match self {
            Self::Text(text) => (text, Vec::new(), None),
            Self::Coded { text, codes, person } => (text, codes, person),
        };
        codes.push(code);
        Self::Coded { text, codes, person }
    }

    /// The same for a model, and these words for a person.
    #[must_use]
    pub fn but_for_person(self, words: impl Into<String>) -> Self {
        let (text, codes) = match self {
            Self::Text(text) => (text, Vec::new()),
            Self::Coded { text, codes, .. } => (text, codes),
        };
        Self::Coded { text, codes, person: Some(words.into()) }
    }

    /// All of it in the words of a door; a code without words is left out.
    pub fn worded(&self, words: impl Fn(HintCode) -> &'static str) -> String {
        let coded = self.codes().iter().map(|code| words(*code));
        let text = self.for_person().trim_end_matches('.');
        let parts = std::iter::once(text).chain(coded).filter(|part| !part.is_empty());
        match self {
            Self::Text(text) => text.clone(),
            Self::Coded { .. } => parts.collect::<Vec<_>>().join("; "),
        }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<HintCode> for Hint {
    fn from(code: HintCode) -> Self {
        Self::Coded { text: String::new(), codes: vec![code], person: None }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_words_the_codes_and_json_keeps_them() {
        let words = |code| if code == HintCode::Undo { "undo it" } else { "" };
        let hint = Hint::from("it is kept.").and(HintCode::Undo).and(HintCode::UndoOwn);
        assert_eq!(hint.worded(words), "it is kept; undo it");
        assert_eq!(Hint::from("Ask again.").worded(words), "Ask again.");
        assert_eq!(Hint::from(HintCode::Undo).worded(words), "undo it");
        let split = Hint::from("read it again").and(HintCode::Undo).but_for_person("ask again");
        assert_eq!((split.text(), split.worded(words).as_str()), ("read it again", "ask again; undo it"));
        for hint in [hint, split, Hint::from("plain")] {
            let json = serde_json::to_string(&hint).unwrap();
            assert_eq!(serde_json::from_str::<Hint>(&json).unwrap(), hint, "{json}");
        }
    }
}
