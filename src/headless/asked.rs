//! Builds questions about documents for the providers that know texts and no versions.

use sextant_base::deadline::Deadline;
use sextant_diagnostics::command::background::EditorText;
use sextant_diagnostics::model::{DiagnosticsProvider, FileText, Reach, Report};
use sextant_engine::api::{Document, EditorError};

pub(super) fn text(read: &Result<Document, EditorError>) -> Option<FileText> {
    read.as_ref().ok().map(file_text)
}

pub(super) fn file_text(document: &Document) -> FileText {
    FileText { path: document.path.clone(), text: document.text.clone() }
}

pub(super) fn asked(document: &Document, edited: &[String]) -> EditorText {
    EditorText {
        path: document.path.clone(),
        text: document.text.clone(),
        version: document.version,
        edited: edited.contains(&document.path),
    }
}

/// Asks a provider that knows texts and no versions. A provider for single files is asked about the edited files alone.
pub(super) async fn ask(
    provider: &dyn DiagnosticsProvider,
    documents: &[Document],
    edited: &[String],
    deadline: Deadline,
) -> Vec<Report> {
    let single = provider.reach() == Reach::File;
    let wanted = documents.iter().filter(|document| !single || edited.contains(&document.path));
    let texts: Vec<FileText> = wanted.map(file_text).collect();
    let mut reports = provider.fetch(&texts, deadline).await;
    for report in &mut reports {
        let document = documents.iter().find(|document| document.path == report.file);
        report.wanted_version = document.map(|document| document.version);
        report.version = report.wanted_version.filter(|_| report.freshness.is_fresh());
    }
    reports
}
