//! A command as configuration: its start, the format of its output, and the unit of its columns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Confidence, Reach, Severity};
use sextant_base::positions::Encoding;

/// The commands that a name alone selects.
const BUILTIN: &str = include_str!("builtin.toml");

/// One command. It is run without a shell, in the workspace root.
///
/// Flat, as the user's file is: serde cannot flatten parts of it and refuse unknown keys at once. So is [`Mapping`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// The short name: its reports come from `tool:NAME`.
    pub name: String,
    /// Program and arguments. `{file}` is the absolute path of the checked file, and `{root}` that of the workspace.
    /// With `{file}` it is run once for every file, without it once for all.
    pub command: Vec<String>,
    /// LSP language ids; empty means any.
    #[serde(default)]
    pub languages: Vec<String>,
    #[serde(default = "file")]
    pub reach: Reach,
    pub format: CommandFormat,
    /// From a code, or else from the tool's own word in lower case, or else from `*`. Without a match the word counts
    /// by its meaning (`error`, `note`, `style`, …); an unknown word is a warning.
    #[serde(default)]
    pub severity: BTreeMap<String, Severity>,
    /// True if it reads the file from the disk. Otherwise it gets the text on its standard input.
    #[serde(default = "yes")]
    pub needs_saved: bool,
    #[serde(default)]
    pub columns: Columns,
    /// The number of the first line.
    #[serde(default = "one")]
    pub first_line: u32,
    /// The number of the first column. (mypy counts lines from 1 and columns from 0.)
    #[serde(default = "one")]
    pub first_column: u32,
    /// Milliseconds after which it is killed with all that it started.
    #[serde(default = "minute")]
    pub timeout_ms: u64,
    #[serde(default = "medium")]
    pub confidence: Confidence,
    /// The exit statuses of a complete run; the first is that of a run without findings.
    #[serde(default = "zero_or_one")]
    pub ran: Vec<i32>,
    /// The lines of its output that are absolute paths name the files that it has read.
    #[serde(default)]
    pub lists_files: bool,
    /// Arguments with which its program prints the path of a file. Relative names in its output begin in that file's
    /// folder. Without arguments they begin in the root.
    #[serde(default)]
    pub names_from: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandFormat {
    Json(Box<Mapping>),
    Sarif,
    /// Patterns with the groups `file`, `line`, `column`, `end_line`, `end_column`, `severity`, `code` and `message`.
    /// The first that matches a line reads it; other lines are ignored.
    Regex(Vec<String>),
}

/// The places of the fields in JSON output, as JSON pointers (RFC 6901) relative to an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    /// True if every line of the output is a document of its own.
    pub lines: bool,
    /// The list of items in a document, from its top; a value that is not a list is one item.
    pub items: String,
    /// Only items that hold this value are read.
    pub only: Option<Only>,
    /// The places of an item, and the mark of the primary one; the pointers to the place then start there.
    pub spans: Option<Spans>,
    pub file: Option<String>,
    pub line: Option<String>,
    pub column: Option<String>,
    pub end_line: Option<String>,
    pub end_column: Option<String>,
    pub severity: Option<String>,
    pub code: Option<String>,
    pub message: String,
    /// The tool's own suggestion for a fix.
    pub suggestion: Option<String>,
    /// The words beside the place of an item; the pointer starts there.
    pub label: Option<String>,
    /// The parts of an item that say how it may be fixed, where there is no `suggestion`.
    pub help: Option<HelpParts>,
    /// Where the documents name the parts of a project that were read, and whether all of them were.
    pub units: Option<Units>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// The first file of a part that was read, of a message about it.
    pub at: String,
    /// Points to `false` if others were left out.
    pub all: String,
    /// The files that came of a part. Beside them rustc leaves the list of the sources that it has read.
    #[serde(default)]
    pub artifacts: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    pub at: String,
    pub is: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spans {
    pub at: String,
    /// Points to a boolean.
    pub primary: String,
    /// Points from a place in a macro of another project, which has an absolute path, to the place that uses the macro.
    #[serde(default)]
    pub expansion: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HelpParts {
    /// The list of parts.
    pub at: String,
    /// Points to the level of a part, which is this one for help.
    pub level: String,
    pub is: String,
    /// Points to the text of a part.
    pub message: String,
}

/// The unit of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Columns {
    Utf8,
    Utf16,
    #[default]
    Codepoints,
    /// Right in lines of ASCII only; in other lines only the line number is used.
    Ascii,
}

impl From<Columns> for Encoding {
    fn from(columns: Columns) -> Self {
        match columns {
            Columns::Utf8 => Self::Utf8,
            Columns::Utf16 => Self::Utf16,
            Columns::Codepoints | Columns::Ascii => Self::Utf32,
        }
    }
}

fn file() -> Reach {
    Reach::File
}
fn yes() -> bool {
    true
}
fn one() -> u32 {
    1
}
fn minute() -> u64 {
    60_000
}
fn medium() -> Confidence {
    Confidence::Medium
}
fn zero_or_one() -> Vec<i32> {
    vec![0, 1]
}

/// An entry of the list in a configuration file: a name of the built-in table, or a command in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandSpec {
    Named(String),
    Full(serde_json::Value),
}

impl CommandSpec {
    /// # Errors
    /// The error in it, with the list of names.
    pub fn config(self) -> Result<CommandConfig, String> {
        match self {
            Self::Named(name) => {
                let known = builtin()?;
                let names: Vec<String> = known.iter().map(|config| config.name.clone()).collect();
                let found = known.into_iter().find(|config| config.name == name);
                found.ok_or_else(|| format!("no command is known by the name {name}; there are {}", names.join(", ")))
            }
            Self::Full(value) => {
                let name = value["name"].as_str().unwrap_or("without a name").to_owned();
                serde_json::from_value(value).map_err(|error| format!("the command {name}: {error}"))
            }
        }
    }
}

/// The commands that a name selects.
///
/// # Errors
/// If the table itself cannot be read, which a test rules out.
pub fn builtin() -> Result<Vec<CommandConfig>, String> {
    #[derive(Deserialize)]
    struct Table {
        command: Vec<CommandConfig>,
    }
    toml::from_str::<Table>(BUILTIN).map(|table| table.command).map_err(|error| error.to_string())
}

impl CommandConfig {
    pub fn asks_by_file(&self) -> bool {
        self.command.iter().any(|part| part.contains("{file}"))
    }

    /// The reason why it is unusable.
    pub fn problem(&self) -> Option<String> {
        if self.name.is_empty() || self.name.contains(|c: char| c == ':' || c.is_whitespace()) {
            return Some("its name is empty, or has a colon or a blank in it".to_owned());
        }
        if self.command.first().is_none_or(String::is_empty) {
            return Some("it names no program".to_owned());
        }
        if self.command.first().is_some_and(|program| program.contains('/') && !program.starts_with('/')) {
            // A relative path would name a file of the repository, since the command runs there.
            return Some("its program is a relative path; give a name or an absolute path".to_owned());
        }
        if self.ran.is_empty() {
            return Some("`ran` lists no exit status".to_owned());
        }
        if !self.needs_saved && !self.asks_by_file() {
            return Some("it gets one text on its standard input, so its arguments must name {file}".to_owned());
        }
        match &self.format {
            CommandFormat::Json(mapping) if mapping.message.is_empty() => {
                Some("its format does not say where `message` is".into())
            }
            CommandFormat::Regex(patterns) if patterns.is_empty() => Some("its format has no pattern".to_owned()),
            _ => None,
        }
    }

    /// The severity of a finding: by its code, or by the tool's word, or by the map's `*`. Otherwise by the meaning of
    /// the word, and a warning for an unknown word.
    pub fn severity_of(&self, code: Option<&str>, word: Option<&str>) -> Severity {
        let word = word.map(str::to_lowercase);
        let mut keys = code.into_iter().chain(word.as_deref()).chain(["*"]);
        let configured = keys.find_map(|key| self.severity.get(key)).copied();
        configured.or_else(|| meaning(word.as_deref()?.trim())).unwrap_or(Severity::Warning)
    }
}

/// The names of severities in tools, in lower case. Numbers are left out: one tool's 1 is another's 2.
const WORDS: &[(Severity, &[&str])] = &[
    (Severity::Error, &["error", "err", "e", "fatal", "fatal error", "f", "failure", "critical", "blocker", "major"]),
    (Severity::Warning, &["warning", "warn", "w", "minor"]),
    (Severity::Info, &["info", "information", "informational", "i", "note", "n", "notice", "message"]),
    (Severity::Hint, &["hint", "h", "help", "suggestion", "style", "convention", "c", "refactor", "r", "none"]),
];

fn meaning(word: &str) -> Option<Severity> {
    WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(severity, _)| *severity)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_builtin_table_is_sound() {
        let known = builtin().expect("the table");
        let names: Vec<&str> = known.iter().map(|config| config.name.as_str()).collect();
        assert_eq!(names, ["ruff", "mypy", "pytest", "cargo", "clippy", "tsc"]);
        for config in &known {
            assert_eq!(config.problem(), None, "{}", config.name);
            assert!(crate::command::read_output::Reader::new(&config.format).is_ok(), "{}", config.name);
        }
    }

    #[test]
    fn a_wish_is_a_name_or_a_whole_command() {
        let config = |value| serde_json::from_value::<CommandSpec>(value).unwrap().config();
        assert_eq!(config(json!("mypy")).map(|config| config.first_column), Ok(0));
        assert!(config(json!("rm")).unwrap_err().contains("ruff, mypy, pytest, cargo, clippy, tsc"));
        let full = json!({"name": "x", "command": ["x"], "format": "sarif"});
        assert_eq!(config(full.clone()).map(|config| (config.needs_saved, config.ran)), Ok((true, vec![0, 1])));
        let mut wrong = full;
        wrong["colums"] = json!("utf8");
        let error = config(wrong).unwrap_err();
        assert!(error.contains("the command x") && error.contains("colums"), "{error}");
    }

    #[test]
    fn what_makes_a_command_unusable_is_said() {
        let good: CommandConfig =
            serde_json::from_value(json!({"name": "x", "command": ["x"], "format": "sarif"})).unwrap();
        assert_eq!(good.problem(), None);
        for (bad, word) in [
            (CommandConfig { name: "a:b".into(), ..good.clone() }, "name"),
            (CommandConfig { command: vec![], ..good.clone() }, "program"),
            (CommandConfig { command: vec!["./check.sh".into()], ..good.clone() }, "relative path"),
            (CommandConfig { ran: vec![], ..good.clone() }, "exit status"),
            (CommandConfig { needs_saved: false, ..good.clone() }, "{file}"),
            (CommandConfig { format: CommandFormat::Regex(vec![]), ..good.clone() }, "pattern"),
            (CommandConfig { format: CommandFormat::Json(Box::default()), ..good.clone() }, "message"),
        ] {
            assert!(bad.problem().is_some_and(|problem| problem.contains(word)), "{bad:?}");
        }
    }

    #[test]
    fn a_code_goes_before_a_word_and_a_word_before_the_rest() {
        let mut config = CommandSpec::Named("ruff".into()).config().unwrap();
        config.severity = [("F821", Severity::Error), ("note", Severity::Hint), ("*", Severity::Info)]
            .map(|(k, v)| (k.into(), v))
            .into();
        assert_eq!(config.severity_of(Some("F821"), Some("note")), Severity::Error);
        assert_eq!(config.severity_of(Some("X"), Some("NOTE")), Severity::Hint);
        assert_eq!(config.severity_of(None, None), Severity::Info);
        config.severity.clear();
        assert_eq!(config.severity_of(None, Some("error")), Severity::Error, "the tool's own word");
        assert_eq!(config.severity_of(None, Some("NOTE")), Severity::Info);
        assert_eq!(config.severity_of(None, Some("Convention")), Severity::Hint);
        assert_eq!(config.severity_of(None, Some("7")), Severity::Warning);
    }
}
