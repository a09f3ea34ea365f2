//! Sends Sextant's own diagnostics of a file to the one link that has it.
//!
//! An editor with several servers then shows each of them once.

use serde_json::{Value, json};

use crate::engine::EngineHost;
use crate::engine::links::{ERROR, INFO};
use crate::link::{EngineSays, OwnDiagnostics};
use sextant_base::document_fault::DocumentFault;
use sextant_base::positions::{Encoding, LineIndex};
use sextant_diagnostics::code_aliases;

impl EngineHost {
    /// The link that has to show the diagnostics of a file: the one that has it open, else the one that was used last.
    pub(super) fn shower(&self, uri: &str) -> Option<u64> {
        let open = self.buffers.mirror.of_uri(uri).map(|document| document.link);
        open.or_else(|| self.buffers.links.used_last().map(|link| link.id))
    }

    /// Sends `owner` the result of `words` in its unit of columns, and the others an empty list.
    pub(super) fn publish(&self, uri: &str, owner: Option<u64>, words: impl Fn(Encoding) -> Vec<Value>) {
        for link in self.buffers.links.all() {
            let diagnostics = if Some(link.id) == owner { words(link.hello.encoding) } else { Vec::new() };
            link.out.notify(&EngineSays::Diagnostics(OwnDiagnostics { uri: uri.to_owned(), diagnostics }));
        }
    }

    /// True if the editor shows the reports of one of these providers on a file: it has the file open at that server.
    pub(super) fn shows_reports(&self, uri: &str, sources: &[String]) -> bool {
        let reports = |name: &str| {
            let of_server = |source: &String| code_aliases::tool(source).split('/').next() == Some(name);
            sources.iter().any(of_server)
        };
        self.buffers.links.all().iter().any(|link| {
            let server = link.hello.server.as_ref();
            server.is_some_and(|server| reports(&server.name)) && self.buffers.mirror.version_at(link.id, uri).is_some()
        })
    }

    /// Shows the faults of a page on their lines; an empty list removes them.
    pub(super) fn tell_faults(&self, uri: &str, text: &str, faults: &[DocumentFault]) {
        self.tell_lines(uri, text, faults, ERROR);
    }

    /// Shows notes on the lines of a page in place of its faults.
    pub(super) fn tell_notes(&self, uri: &str, text: &str, notes: &[DocumentFault]) {
        self.tell_lines(uri, text, notes, INFO);
    }

    fn tell_lines(&self, uri: &str, text: &str, faults: &[DocumentFault], severity: u8) {
        let index = LineIndex::new(text);
        let words = |encoding: Encoding| {
            let one = |fault: &DocumentFault| {
                let line = fault.line.saturating_sub(1).min(index.line_count().saturating_sub(1));
                let range = index.range(text, index.line_range(text, line), encoding);
                json!({"range": range, "severity": severity, "source": "sextant", "message": fault.message})
            };
            faults.iter().map(one).collect()
        };
        self.publish(uri, self.shower(uri), words);
    }

    /// Sends a message to every proxy.
    pub(super) fn tell_all(&self, what: &EngineSays) {
        for link in self.buffers.links.all() {
            link.out.notify(what);
        }
    }
}
