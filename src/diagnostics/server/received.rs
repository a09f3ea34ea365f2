//! Reads a server's messages field by field: a field of a wrong type counts as missing, and costs no other.
//!
//! The protocol's own structures read as a whole or not at all: a wrong related place would lose its diagnostic, and
//! all others of the message. The parts that go back to the server (a diagnostic, a code action) are kept unchanged,
//! with their `data` and the fields that no type knows.

use lsp_types::LspAny;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use sextant_base::positions::Range;

/// Reads an object; any other value gives `None`.
pub(super) fn read<T: DeserializeOwned>(sent: &LspAny) -> Option<T> {
    sent.is_object().then(|| T::deserialize(sent).ok()).flatten()
}

/// A field that may be of another type.
pub(super) fn fitting<'de, D: Deserializer<'de>, T: DeserializeOwned>(field: D) -> Result<Option<T>, D::Error> {
    LspAny::deserialize(field).map(|sent| T::deserialize(sent).ok())
}

/// A list whose items may each be of another type.
fn each<'de, D: Deserializer<'de>, T: DeserializeOwned>(field: D) -> Result<Option<Vec<T>>, D::Error> {
    let sent: Option<Vec<LspAny>> = fitting(field)?;
    Ok(sent.map(|items| items.into_iter().filter_map(|item| T::deserialize(item).ok()).collect()))
}

/// A part that counts as declared if it is anything but null, in any form.
fn declared<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(field: D) -> Result<Option<T>, D::Error> {
    let sent = LspAny::deserialize(field)?;
    Ok((!sent.is_null()).then(|| read(&sent).unwrap_or_default()))
}

/// The answer to `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Initialized {
    #[serde(deserialize_with = "declared")]
    pub(super) capabilities: Option<Capabilities>,
    #[serde(deserialize_with = "declared")]
    pub(super) server_info: Option<ServerName>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ServerName {
    #[serde(deserialize_with = "fitting")]
    pub(super) name: Option<String>,
}

/// The declarations of a server that this code depends on.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Capabilities {
    #[serde(deserialize_with = "fitting")]
    pub(super) position_encoding: Option<String>,
    #[serde(deserialize_with = "declared")]
    pub(super) text_document_sync: Option<DeclaredSync>,
    #[serde(deserialize_with = "declared")]
    pub(super) diagnostic_provider: Option<DeclaredPull>,
    #[serde(deserialize_with = "declared")]
    pub(super) code_action_provider: Option<DeclaredActions>,
    #[serde(deserialize_with = "declared")]
    pub(super) execute_command_provider: Option<DeclaredCommands>,
    /// For these only their presence matters, as a flag or as options.
    pub(super) definition_provider: LspAny,
    pub(super) references_provider: LspAny,
    pub(super) hover_provider: LspAny,
    pub(super) rename_provider: LspAny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DeclaredSync {
    #[serde(deserialize_with = "fitting")]
    pub(super) change: Option<u64>,
    #[serde(deserialize_with = "fitting")]
    pub(super) save: Option<lsp_types::Save>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DeclaredPull {
    #[serde(deserialize_with = "fitting")]
    pub(super) identifier: Option<String>,
    #[serde(deserialize_with = "fitting")]
    pub(super) inter_file_dependencies: Option<bool>,
    #[serde(deserialize_with = "fitting")]
    pub(super) workspace_diagnostics: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DeclaredActions {
    #[serde(deserialize_with = "fitting")]
    pub(super) resolve_provider: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DeclaredCommands {
    #[serde(deserialize_with = "each")]
    pub(super) commands: Option<Vec<String>>,
}

/// `textDocument/publishDiagnostics`.
#[derive(Debug, Deserialize)]
pub(crate) struct Publish {
    pub(super) uri: String,
    #[serde(default, deserialize_with = "fitting")]
    pub(super) version: Option<i64>,
    pub(super) diagnostics: Vec<SentDiagnostic>,
}

/// The answer to `textDocument/diagnostic`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pulled {
    #[serde(deserialize_with = "fitting")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "fitting")]
    pub(super) items: Option<Vec<SentDiagnostic>>,
}

/// A diagnostic as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SentDiagnostic(pub(super) LspAny);

impl SentDiagnostic {
    pub(super) fn fields(&self) -> Option<DiagnosticFields> {
        read(&self.0)
    }

    /// Its place, in the server's units.
    pub(super) fn range(&self) -> Option<Range> {
        Range::deserialize(self.0.get("range")?).ok()
    }

    /// The identity of a diagnostic.
    pub(super) fn key(&self) -> String {
        ["range", "severity", "code", "message"].map(|field| self.0[field].to_string()).join("\u{1f}")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DiagnosticFields {
    #[serde(deserialize_with = "fitting")]
    pub(super) range: Option<Range>,
    #[serde(deserialize_with = "fitting")]
    pub(super) severity: Option<u64>,
    #[serde(deserialize_with = "fitting")]
    pub(super) code: Option<SentCode>,
    #[serde(deserialize_with = "fitting")]
    pub(super) message: Option<SentText>,
    #[serde(deserialize_with = "each")]
    pub(super) related_information: Option<Vec<RelatedPlace>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum SentCode {
    Text(String),
    Number(serde_json::Number),
    /// An early draft of the protocol, still sent by some.
    Draft {
        value: LspAny,
    },
}

/// A text, or since LSP 3.18 a text with its markup kind.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum SentText {
    Plain(String),
    Marked { value: String },
}

#[derive(Debug, Deserialize)]
pub(super) struct RelatedPlace {
    pub(super) location: RelatedLocation,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RelatedLocation {
    pub(super) uri: String,
    pub(super) range: RelatedRange,
}

#[derive(Debug, Deserialize)]
pub(super) struct RelatedRange {
    pub(super) start: RelatedStart,
}

#[derive(Debug, Deserialize)]
pub(super) struct RelatedStart {
    pub(super) line: u64,
}

/// A code action as it came, or a bare command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SentAction(pub(super) LspAny);

impl SentAction {
    pub(super) fn fields(&self) -> Option<ActionFields> {
        read(&self.0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ActionFields {
    #[serde(deserialize_with = "fitting")]
    pub(super) title: Option<String>,
    #[serde(deserialize_with = "fitting")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "fitting")]
    pub(super) is_preferred: Option<bool>,
    #[serde(deserialize_with = "fitting")]
    pub(super) diagnostics: Option<Vec<SentDiagnostic>>,
    #[serde(deserialize_with = "declared")]
    pub(super) disabled: Option<IgnoredAny>,
    /// A workspace edit; the code that carries it out reads it.
    pub(super) edit: Option<LspAny>,
    #[serde(deserialize_with = "fitting")]
    command: Option<SentCommand>,
    /// Of a bare command.
    arguments: Option<LspAny>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SentCommand {
    Bare(String),
    Within {
        command: String,
        #[serde(default)]
        arguments: Option<LspAny>,
    },
}

impl ActionFields {
    /// The command of an action, or of a bare command, with its arguments.
    pub(super) fn command(&self) -> Option<(&str, LspAny)> {
        let (name, arguments) = match self.command.as_ref()? {
            SentCommand::Bare(name) => (name, &self.arguments),
            SentCommand::Within { command, arguments } => (command, arguments),
        };
        Some((name, arguments.clone().unwrap_or_else(|| LspAny::Array(Vec::new()))))
    }
}

/// `window/logMessage` and `window/showMessage`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ServerMessage {
    #[serde(rename = "type", deserialize_with = "fitting")]
    pub(super) kind: Option<lsp_types::MessageType>,
    #[serde(deserialize_with = "fitting")]
    pub(super) message: Option<String>,
}

/// The status messages of ESLint and rust-analyzer, in their own formats.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ServerStatus {
    #[serde(deserialize_with = "fitting")]
    pub(super) state: Option<u64>,
    #[serde(deserialize_with = "fitting")]
    pub(super) quiescent: Option<bool>,
    #[serde(deserialize_with = "fitting")]
    pub(super) message: Option<String>,
}

/// `workspace/configuration`: every item has its answer, an unreadable one too.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WantedSettings {
    #[serde(deserialize_with = "fitting")]
    pub(super) items: Option<Vec<LspAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WantedSection {
    #[serde(deserialize_with = "fitting")]
    pub(super) section: Option<String>,
}

/// `workspace/applyEdit`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WantedEdit {
    pub(super) edit: Option<LspAny>,
}

/// tsserver's answer: its list, or an object around it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum TsAnswer {
    List(Vec<LspAny>),
    Body { body: Vec<LspAny> },
}

/// One item of it. Lines and columns (UTF-16) count from one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TsDiagnostic {
    #[serde(deserialize_with = "declared")]
    pub(super) start: Option<TsPlace>,
    #[serde(deserialize_with = "declared")]
    pub(super) end: Option<TsPlace>,
    #[serde(deserialize_with = "fitting")]
    pub(super) category: Option<String>,
    pub(super) code: Option<LspAny>,
    pub(super) text: Option<LspAny>,
    pub(super) message: Option<LspAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TsPlace {
    #[serde(deserialize_with = "fitting")]
    pub(super) line: Option<u64>,
    #[serde(deserialize_with = "fitting")]
    pub(super) offset: Option<u64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_does_not_fit_costs_no_other() {
        let range = json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}});
        let related = json!([{"message": 3}, "x",
            {"message": "m", "location": {"uri": "file:///b", "range": {"start": {"line": 4}}}}]);
        let sent = SentDiagnostic(json!({"range": range, "severity": "high", "code": [], "message": {"value": "m"},
            "relatedInformation": related, "data": {"x": [1]}, "vendor": true}));
        let fields = sent.fields().unwrap();
        assert!(fields.range.is_some() && fields.range == sent.range());
        assert!(fields.severity.is_none() && fields.code.is_none());
        assert!(matches!(fields.message, Some(SentText::Marked { value }) if value == "m"));
        assert_eq!(fields.related_information.map(|places| places.len()), Some(1));
        assert_eq!(serde_json::to_value(&sent).unwrap(), sent.0, "it goes back as it came");
        for other in [json!(3), json!(null), json!([range, 1, 2, "m"])] {
            assert!(SentDiagnostic(other).fields().is_none());
        }
    }

    #[test]
    fn a_large_code_stays_the_number_that_it_is() {
        let sent = SentDiagnostic(json!({"code": 9_007_199_254_740_993_u64}));
        let Some(SentCode::Number(code)) = sent.fields().unwrap().code else { panic!("a number") };
        assert_eq!(code.to_string(), "9007199254740993");
    }

    #[test]
    fn what_is_declared_in_an_unknown_way_is_declared_still() {
        let declared = |sent| read::<Initialized>(&sent).unwrap().capabilities.unwrap();
        let odd = declared(json!({"capabilities": {"diagnosticProvider": true, "textDocumentSync": 1,
            "executeCommandProvider": {"commands": ["a", 3, "b"]}, "hoverProvider": {"x": [[]]}}}));
        assert!(odd.diagnostic_provider.is_some_and(|pull| pull.inter_file_dependencies.is_none()));
        assert_eq!(odd.execute_command_provider.unwrap().commands.unwrap(), ["a", "b"]);
        let half = json!({"capabilities": {"diagnosticProvider": {"interFileDependencies": 1, "identifier": "x"}}});
        assert_eq!(declared(half).diagnostic_provider.unwrap().identifier.as_deref(), Some("x"));
        assert!(declared(json!({"capabilities": {"diagnosticProvider": null}})).diagnostic_provider.is_none());
        assert!(read::<Initialized>(&json!({"capabilities": null})).unwrap().capabilities.is_none());
    }

    #[test]
    fn a_command_stands_bare_or_within_an_action() {
        let command = |sent| SentAction(sent).fields().unwrap().command().map(|(name, given)| (name.to_owned(), given));
        assert_eq!(command(json!({"command": "x", "arguments": [1]})), Some(("x".to_owned(), json!([1]))));
        let within = json!({"title": "t", "command": {"command": "x", "title": 3}, "arguments": [2]});
        assert_eq!(command(within), Some(("x".to_owned(), json!([]))));
        assert_eq!(command(json!({"command": 3})), None);
    }
}
