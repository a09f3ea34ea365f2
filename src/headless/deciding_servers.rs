//! Chooses the servers that are asked: one whose editor has another text of an open file decides nothing.
//!
//! Two editors may have one file open. The text of only one of them is read and edited, so a server of the other one
//! would answer for a text that the user did not ask about, or not at all.

use std::sync::Arc;

use futures::FutureExt;

use crate::HeadlessEditor;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::model::{DiagnosticsProvider, FileText, Report};
use sextant_diagnostics::server::LanguageServer;

impl HeadlessEditor {
    /// The servers that have every open file as it is read.
    pub(super) fn deciding(&self) -> Vec<Arc<LanguageServer>> {
        self.servers().into_iter().filter(|server| self.decides(server)).collect()
    }

    fn decides(&self, server: &Arc<LanguageServer>) -> bool {
        self.overruled(server).now_or_never().is_none()
    }

    async fn overruled(&self, server: &Arc<LanguageServer>) {
        match &self.buffers {
            Some(buffers) => buffers.overruled(server).await,
            None => std::future::pending().await,
        }
    }

    /// The reports of a server, none once it is overruled: the user may go on typing in the other editor meanwhile.
    pub(super) async fn reports_of(
        &self,
        server: &Arc<LanguageServer>,
        texts: &[FileText],
        deadline: Deadline,
    ) -> Vec<Report> {
        tokio::select! {
            biased;
            () = self.overruled(server) => Vec::new(),
            reports = server.fetch(texts, deadline) => if self.decides(server) { reports } else { Vec::new() },
        }
    }

    /// The late answers of the servers. Those of an overruled one are dropped.
    pub(super) fn late_reports(&self) -> Vec<Report> {
        let late = self.servers().into_iter().map(|server| (server.late(), self.decides(&server)));
        late.filter(|(_, decides)| *decides).flat_map(|(reports, _)| reports).collect()
    }
}
