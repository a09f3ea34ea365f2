//! The arguments of a command from Neovim, read once.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lua_messages::CommandPlace;
use sextant_base::failure::{Failure, FailureKind};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GivenRequest {
    /// The words of a request, or the text of a plan.
    pub(crate) text: String,
    pub(crate) place: CommandPlace,
    /// The workspace that the command names, as the keys of a window do.
    pub(crate) root: Option<PathBuf>,
    /// The arguments of this command alone.
    #[serde(flatten)]
    rest: Value,
}

impl GivenRequest {
    /// # Errors
    /// `json` is no such list of arguments.
    pub(crate) fn read(json: &str) -> Result<Self, Failure> {
        // An empty Lua table arrives as an empty list.
        let json = if json == "[]" { "{}" } else { json };
        serde_json::from_str(json).map_err(unreadable)
    }

    /// An argument that is a word; empty where it is not given.
    pub(crate) fn word(&self, name: &str) -> &str {
        self.rest[name].as_str().unwrap_or_default()
    }

    /// True if an argument is given and true.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.rest[name] == true
    }

    /// The arguments of one command.
    ///
    /// # Errors
    /// They are not of this shape.
    pub(crate) fn own<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(&self.rest).map_err(unreadable)
    }

    /// True if the command comes from a file, of this project or of another one.
    pub(crate) fn stands_in_file(&self) -> bool {
        !self.place.path.is_empty() && self.place.buftype.is_empty()
    }
}

#[allow(clippy::needless_pass_by_value, reason = "this is what `map_err` passes")]
fn unreadable(error: serde_json::Error) -> Failure {
    Failure::new(FailureKind::Internal, format!("the command cannot be read: {error}"), "see the log")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_arguments_is_read_as_lua_sends_it() {
        for json in ["[]", "{}"] {
            let given = GivenRequest::read(json).unwrap();
            assert!(given.text.is_empty() && given.root.is_none() && !given.stands_in_file(), "{json}");
        }
        let given = GivenRequest::read(r#"{"text": "fix", "place": {"path": "/a.py"}, "steer": true, "which": "2"}"#);
        let given = given.unwrap();
        assert!(given.is_set("steer") && !given.is_set("follows") && given.stands_in_file());
        assert_eq!((given.text.as_str(), given.word("which"), given.word("steps")), ("fix", "2", ""));
        assert!(GivenRequest::read("[1]").is_err() && GivenRequest::read("x").is_err());
    }
}
