//! The capabilities that a server gets from us when it starts.

use lsp_types::{
    ClientCapabilities, ClientCodeActionKindOptions, ClientCodeActionLiteralOptions, ClientCodeActionResolveOptions,
    ClientDiagnosticsTagOptions, ClientInfo, CodeActionClientCapabilities, CodeActionKind,
    DefinitionClientCapabilities, DiagnosticClientCapabilities, DiagnosticTag, DiagnosticsCapabilities,
    GeneralClientCapabilities, HoverClientCapabilities, InitializeParams, MarkupKind, PositionEncodingKind,
    PublishDiagnosticsClientCapabilities, ReferenceClientCapabilities, RenameClientCapabilities, RootPath,
    TextDocumentClientCapabilities, TextDocumentSyncClientCapabilities, WindowClientCapabilities,
    WorkspaceClientCapabilities, WorkspaceEditClientCapabilities, WorkspaceFolder, WorkspaceFolders,
    WorkspaceFoldersInitializeParams,
};
use serde_json::json;

use crate::server::Inner;
use sextant_base::path;

/// The one folder that we work in.
pub(super) fn folders(inner: &Inner) -> Vec<WorkspaceFolder> {
    let name = inner.root.file_name().and_then(|name| name.to_str()).unwrap_or("workspace").to_owned();
    path::to_uri(&inner.root).map(|uri| WorkspaceFolder { uri: uri.into(), name }).into_iter().collect()
}

/// Servers without support for workspace folders use the root.
#[allow(deprecated)]
pub(super) fn params(inner: &Inner) -> InitializeParams {
    InitializeParams {
        process_id: i32::try_from(std::process::id()).ok(),
        client_info: Some(ClientInfo {
            name: "sextant".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        root_uri: path::to_uri(&inner.root).map(Into::into),
        root_path: inner.root.to_str().map(|root| RootPath::String(root.to_owned())),
        initialization_options: Some(inner.config.initialization_options.clone()),
        capabilities: capabilities(),
        workspace_folders_initialize_params: WorkspaceFoldersInitializeParams {
            workspace_folders: Some(WorkspaceFolders::WorkspaceFolderList(folders(inner))),
        },
        ..InitializeParams::default()
    }
}

fn capabilities() -> ClientCapabilities {
    ClientCapabilities {
        general: Some(GeneralClientCapabilities {
            position_encodings: Some(vec![
                PositionEncodingKind::UTF16,
                PositionEncodingKind::UTF8,
                PositionEncodingKind::UTF32,
            ]),
            ..GeneralClientCapabilities::default()
        }),
        workspace: Some(WorkspaceClientCapabilities {
            apply_edit: Some(true),
            configuration: Some(true),
            workspace_folders: Some(true),
            workspace_edit: Some(WorkspaceEditClientCapabilities {
                document_changes: Some(true),
                ..WorkspaceEditClientCapabilities::default()
            }),
            ..WorkspaceClientCapabilities::default()
        }),
        text_document: Some(TextDocumentClientCapabilities {
            synchronization: Some(TextDocumentSyncClientCapabilities {
                did_save: Some(true),
                ..TextDocumentSyncClientCapabilities::default()
            }),
            publish_diagnostics: Some(PublishDiagnosticsClientCapabilities {
                version_support: Some(true),
                diagnostics_capabilities: DiagnosticsCapabilities {
                    related_information: Some(true),
                    code_description_support: Some(true),
                    data_support: Some(true),
                    tag_support: Some(ClientDiagnosticsTagOptions {
                        value_set: vec![DiagnosticTag::Unnecessary, DiagnosticTag::Deprecated],
                    }),
                },
            }),
            // No dynamic registration of pull diagnostics: pyright then exits on the first refresh.
            diagnostic: Some(DiagnosticClientCapabilities {
                dynamic_registration: Some(false),
                related_document_support: Some(false),
                ..DiagnosticClientCapabilities::default()
            }),
            code_action: Some(code_actions()),
            ..names()
        }),
        window: Some(WindowClientCapabilities {
            work_done_progress: Some(true),
            ..WindowClientCapabilities::default()
        }),
        experimental: Some(json!({"serverStatusNotification": true})),
        ..ClientCapabilities::default()
    }
}

/// The capabilities for questions about a name.
fn names() -> TextDocumentClientCapabilities {
    TextDocumentClientCapabilities {
        definition: Some(DefinitionClientCapabilities {
            link_support: Some(true),
            ..DefinitionClientCapabilities::default()
        }),
        references: Some(ReferenceClientCapabilities::default()),
        hover: Some(HoverClientCapabilities {
            content_format: Some(vec![MarkupKind::Markdown, MarkupKind::PlainText]),
            ..HoverClientCapabilities::default()
        }),
        rename: Some(RenameClientCapabilities { prepare_support: Some(true), ..RenameClientCapabilities::default() }),
        ..TextDocumentClientCapabilities::default()
    }
}

fn code_actions() -> CodeActionClientCapabilities {
    let kinds = [
        CodeActionKind::QuickFix,
        CodeActionKind::Refactor,
        CodeActionKind::Source,
        CodeActionKind::SourceFixAll,
        CodeActionKind::SourceOrganizeImports,
    ];
    CodeActionClientCapabilities {
        code_action_literal_support: Some(ClientCodeActionLiteralOptions {
            code_action_kind: ClientCodeActionKindOptions { value_set: kinds.into() },
        }),
        is_preferred_support: Some(true),
        disabled_support: Some(true),
        data_support: Some(true),
        resolve_support: Some(ClientCodeActionResolveOptions {
            properties: ["edit", "command"].map(str::to_owned).into(),
        }),
        ..CodeActionClientCapabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_reads_what_the_protocol_calls_it() {
        let expected = json!({
            "general": {"positionEncodings": ["utf-16", "utf-8", "utf-32"]},
            "workspace": {
                "applyEdit": true,
                "configuration": true,
                "workspaceFolders": true,
                "workspaceEdit": {"documentChanges": true},
            },
            "textDocument": {
                "synchronization": {"didSave": true},
                "publishDiagnostics": {"relatedInformation": true, "versionSupport": true,
                    "codeDescriptionSupport": true, "dataSupport": true, "tagSupport": {"valueSet": [1, 2]}},
                "diagnostic": {"dynamicRegistration": false, "relatedDocumentSupport": false},
                "codeAction": {
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source",
                        "source.fixAll", "source.organizeImports"]}},
                    "isPreferredSupport": true,
                    "disabledSupport": true,
                    "dataSupport": true,
                    "resolveSupport": {"properties": ["edit", "command"]},
                },
                "definition": {"linkSupport": true},
                "references": {},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "rename": {"prepareSupport": true},
            },
            "window": {"workDoneProgress": true},
            "experimental": {"serverStatusNotification": true},
        });
        assert_eq!(serde_json::to_value(capabilities()).unwrap(), expected);
    }
}
