//! The compiler's diagnostics of files that nobody asked about, where its last run says something else of them than the
//! run before.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::delta::hidden_checks::stops;
use crate::model::{Freshness, Report, Unasked};
use crate::policy::confidence;
use crate::server::compile_check::{not_reached, source};
use crate::server::received::{SentDiagnostic, SentText};
use crate::server::server_client::ServerConnection;
use crate::server::{Inner, read_diagnostics};
use crate::unrequested_files::{self, ChangedFindings};
use crate::{disk, files_outside_root};
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::positions::Encoding;

/// Reports on these files, after a run that was taken as a proof.
pub(super) async fn reports(inner: &Inner, run: &ServerConnection, asked: &[String]) -> Vec<Report> {
    let mut changed = changed(inner);
    changed.retain(|file| !asked.contains(&file.path) && inner.covers(&file.path));
    let more = changed.split_off(changed.len().min(unrequested_files::MOST));
    let mut reports = Vec::new();
    for file in changed {
        reports.extend(report(inner, run, file).await);
    }
    reports.extend(more.first().map(|file| {
        let note = unrequested_files::not_reported(more.len());
        Report { provider: source(inner), ..inner.nothing(&file.path, Freshness::Unavailable, note, 0) }
    }));
    reports
}

fn changed(inner: &Inner) -> Vec<ChangedFindings<Vec<SentDiagnostic>>> {
    let compiler = lock(&inner.observed.compiler);
    let Some(began) = compiler.last().map(|run| run.began) else { return Vec::new() };
    let file = |uri: &str| path::relative_or_absolute(&inner.root, &path::from_uri(uri)?);
    let found: BTreeMap<String, Vec<SentDiagnostic>> =
        compiler.uris().filter_map(|uri| Some((file(uri)?, compiler.items(uri)))).collect();
    let has_read = |path: &str| not_reached(inner, &compiler, path).is_none();
    let stops = |items: &Vec<SentDiagnostic>| may_stop(inner, items);
    lock(&inner.observed.last_compiled).take(&inner.root, began, found, has_read, stops)
}

/// True if one of them may have kept the compiler from checking types.
fn may_stop(inner: &Inner, items: &[SentDiagnostic]) -> bool {
    let confidence = confidence::of_server(Freshness::Exact);
    let (read, _) = read_diagnostics::diagnostics(items, &source(inner), ".", "", Encoding::Utf16, confidence);
    read.iter().any(stops)
}

async fn report(inner: &Inner, run: &ServerConnection, file: ChangedFindings<Vec<SentDiagnostic>>) -> Option<Report> {
    if files_outside_root::is_outside(&file.path) {
        return files_outside_root::report(
            &source(inner),
            &file.path,
            &file.earlier.unwrap_or_default(),
            &file.now,
            message,
        );
    }
    let text: Arc<str> = disk::text(&inner.root.join(&file.path)).await?.into();
    let confidence = confidence::of_server(Freshness::Exact);
    let source = source(inner);
    let read = |items: &[SentDiagnostic]| {
        read_diagnostics::diagnostics(items, &source, &file.path, &text, run.encoding, confidence)
    };
    let (earlier, lost_before) = file.earlier.as_deref().map(read).unzip();
    let (diagnostics, lost) = read(&file.now);
    let report = inner.nothing(&file.path, Freshness::Exact, String::new(), 0);
    if lost_before.unwrap_or_default() + lost > 0 {
        let note = Some(unrequested_files::not_reported(1));
        return Some(Report { provider: source, freshness: Freshness::Unavailable, note, ..report });
    }
    Some(Report { provider: source, diagnostics, note: None, unasked: Some(Unasked { text, earlier }), ..report })
}

fn message(item: &SentDiagnostic) -> String {
    let (SentText::Plain(message) | SentText::Marked { value: message }) =
        item.fields().and_then(|fields| fields.message).unwrap_or_else(|| SentText::Plain(String::new()));
    message
}
