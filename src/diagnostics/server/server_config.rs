//! The start and the configuration of one language server.

use std::path::PathBuf;

use lsp_types::LspAny;
use serde::{Deserialize, Serialize};

use crate::program;

/// One language server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// The short name: its reports come from `lsp:NAME`.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// LSP language ids; empty means any.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The source of the answers to `workspace/configuration`: `{"python": {"analysis": {…}}}`.
    #[serde(default)]
    pub settings: LspAny,
    #[serde(default)]
    pub initialization_options: LspAny,
    /// True if it is known to publish the diagnostics of a version once and whole. From any other server, a publish
    /// with the text's version is a guess.
    #[serde(default)]
    pub publishes_once: bool,
    /// The socket of a running server, in place of a program to start: behind a proxy of ours. Never from a file.
    #[serde(skip)]
    pub socket: Option<PathBuf>,
}

impl ServerConfig {
    /// Gives a program that is named without a folder its whole path. A missing one keeps its name, and cannot be
    /// started.
    pub fn look_up(&mut self, places: &[PathBuf]) {
        if let Some(name) = self.command.first_mut().filter(|name| !name.contains('/'))
            && let Some(program) = program::find(places, name)
        {
            *name = program.display().to_string();
        }
    }

    /// The part of the settings under a dotted name; `null` if it is missing.
    pub fn section(&self, name: &str) -> LspAny {
        let mut value = &self.settings;
        for part in name.split('.').filter(|part| !part.is_empty()) {
            match value.get(part) {
                Some(inner) => value = inner,
                None => return LspAny::Null,
            }
        }
        value.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_section_is_found_by_its_dotted_name() {
        let config = ServerConfig { settings: json!({"a": {"b": {"c": 1}}}), ..ServerConfig::default() };
        assert_eq!(config.section("a.b"), json!({"c": 1}));
        assert_eq!(config.section("a.x"), LspAny::Null);
        assert_eq!(config.section(""), config.settings);
    }
}
