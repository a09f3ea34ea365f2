//! The reports of a compiler beside a client of Neovim, which reads more files than it was asked about.

use std::path::Path;
use std::sync::Arc;

use crate::editor::{NvimEditor, converted};
use crate::lua_messages::{ClientReport, CompiledElsewhere, List};
use sextant_diagnostics::disk;
use sextant_diagnostics::files_outside_root;
use sextant_diagnostics::model::{Diagnostic, Freshness, Report, Unasked};
use sextant_diagnostics::policy::confidence;
use sextant_diagnostics::unrequested_files;

impl NvimEditor {
    /// The report of an entry on its own file, and those on files that nobody asked about.
    pub(super) async fn reports(&self, mut entry: ClientReport) -> Vec<Report> {
        let (elsewhere, more) = (std::mem::take(&mut entry.elsewhere), entry.more.take());
        let (client, encoding) = (entry.client.clone(), entry.encoding);
        let own = self.report(entry).await;
        let empty = |path: &str| Report {
            file: self.relative(path),
            diagnostics: Vec::new(),
            freshness: Freshness::Unavailable,
            version: None,
            wanted_version: None,
            ..own.clone()
        };
        let mut reports = Vec::new();
        for CompiledElsewhere { path, earlier, items } in elsewhere {
            let Some(text) = disk::text(Path::new(&path)).await else { continue };
            let (text, confidence): (Arc<str>, _) = (text.into(), confidence::of_server(Freshness::Exact));
            let read = |items| converted(client.clone(), self.relative(&path), items, encoding, &text, confidence);
            let earlier = match earlier {
                Some(List(earlier)) => Some(read(earlier).await),
                None => None,
            };
            let diagnostics = read(items).await;
            if !self.owns(&path) {
                let earlier = earlier.unwrap_or_default();
                let message = |one: &Diagnostic| one.message.clone();
                reports.extend(files_outside_root::report(&own.provider, &path, &earlier, &diagnostics, message));
                continue;
            }
            let unasked = Some(Unasked { text: Arc::clone(&text), earlier });
            reports.push(Report { diagnostics, freshness: Freshness::Exact, note: None, unasked, ..empty(&path) });
        }
        let more =
            more.map(|more| Report { note: Some(unrequested_files::not_reported(more.files)), ..empty(&more.path) });
        reports.extend(more);
        reports.push(own);
        reports
    }
}
