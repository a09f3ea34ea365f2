//! The texts that a server has of each file, and its publishes about them since.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use lsp_types::{
    DidChangeTextDocumentNotification, DidChangeTextDocumentParams, DidCloseTextDocumentNotification,
    DidCloseTextDocumentParams, DidOpenTextDocumentNotification, DidOpenTextDocumentParams,
    DidSaveTextDocumentNotification, DidSaveTextDocumentParams, LspAny, Notification, Position, Range,
    TextDocumentContentChangeEvent, TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument,
    TextDocumentIdentifier, TextDocumentItem, VersionedTextDocumentIdentifier,
};

use crate::model::FileText;
use crate::server::header_files::{includes, is_header};
use crate::server::language_id::language_id;
use crate::server::received::SentDiagnostic;
use crate::server::sourced_files::sources_others;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex};

/// Publishes kept for one text. No check needs more than two phases.
const KEPT: usize = 4;

/// A notification that is still to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DocumentNotice {
    pub method: &'static str,
    pub params: LspAny,
}

impl DocumentNotice {
    pub(super) fn of<N: Notification>(params: &N::Params) -> Self {
        // The protocol's own types have strings for keys, and so are always JSON.
        Self { method: N::METHOD.as_str(), params: serde_json::to_value(params).unwrap_or_default() }
    }

    pub(super) fn is_change(&self) -> bool {
        self.method == DidChangeTextDocumentNotification::METHOD.as_str()
    }
}

/// One `publishDiagnostics`.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub version: Option<i64>,
    pub items: Arc<Vec<SentDiagnostic>>,
    pub at: Instant,
    /// The [`SentDocuments::epoch`] when it arrived.
    pub epoch: u64,
}

/// The publishes about one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Publishes {
    /// Since the server was last sent the file.
    pub since_sent: Vec<Published>,
    /// The last list since the opening, of whichever text: a silent server holds it still.
    pub last_list: Arc<Vec<SentDiagnostic>>,
}

/// The set of diagnostics that a report was made from.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    pub version: i64,
    pub epoch: u64,
    pub items: Arc<Vec<SentDiagnostic>>,
    /// True if it came by publish, so that a further publish amends it.
    pub published: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct OpenDocument {
    pub uri: String,
    pub language: String,
    /// 1 at the first opening, then up by one with each text; never goes back, so that no old publish fits.
    pub version: i64,
    pub text: Arc<str>,
    /// The epoch of its last change.
    pub changed: u64,
    pub published: Publishes,
    pub settled: Option<Settled>,
    /// The version of its last opening, and of the last save that the server was notified of.
    pub opened: i64,
    pub saved: Option<i64>,
    /// The lines that begin with `#` when diagnostics last settled: clangd's preamble.
    pub directives: Option<Vec<String>>,
    /// The [`SentDocuments::headers`] when it was last opened.
    pub headers: u64,
    pub open: bool,
}

impl OpenDocument {
    fn new(uri: String, file: &FileText, epoch: u64, headers: u64) -> Self {
        Self {
            uri,
            language: language_id(&file.path).to_owned(),
            version: 1,
            text: Arc::clone(&file.text),
            changed: epoch,
            published: Publishes::default(),
            settled: None,
            opened: 1,
            saved: None,
            directives: None,
            headers,
            open: true,
        }
    }

    /// The same text as a new version.
    fn send_again(&mut self, epoch: u64, by_range: Option<Encoding>) -> DocumentNotice {
        self.version += 1;
        (self.opened, self.changed) = (self.version, epoch);
        self.published.since_sent.clear();
        did_change(self, &self.text, by_range)
    }

    pub(super) fn id(&self) -> TextDocumentIdentifier {
        TextDocumentIdentifier { uri: self.uri.as_str().into() }
    }

    /// Texts of one file are counted from one; nobody writes more of them than this.
    fn lsp_version(&self) -> i32 {
        i32::try_from(self.version).unwrap_or(i32::MAX)
    }

    /// True if the server has the text as a change only, and not as a file.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.version != self.opened && self.saved != Some(self.version)
    }
}

/// All files of one server, by path relative to the root.
#[derive(Debug, Default)]
pub(crate) struct SentDocuments {
    root: PathBuf,
    files: HashMap<String, OpenDocument>,
    /// Up by one on every change of any text: the answer to an earlier request may be for the text before.
    pub epoch: u64,
    /// Up by one on every change of an open text, every save and every change of the disk.
    pub edits: u64,
    /// Up by one with every header that was written, and with every file of settings for them.
    pub headers: u64,
    /// The server keeps what it has read of the headers, and first answers from that (clangd): only a file that is
    /// opened again is read whole before the answer.
    pub keeps_headers: bool,
    /// The server looks at a text when it gets it and at no other time: one that sources others is sent again after a
    /// change elsewhere.
    pub looks_once: bool,
    /// True from the first publish of a process on.
    heard: bool,
    /// The unit of positions of a server to which a whole text is sent as the range of the text before.
    pub by_range: Option<Encoding>,
}

impl SentDocuments {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, ..Self::default() }
    }

    pub(crate) fn get(&self, path: &str) -> Option<&OpenDocument> {
        self.files.get(path).filter(|document| document.open)
    }

    /// The number of open texts about which nothing was published since they were sent.
    pub(super) fn unpublished(&self) -> usize {
        self.files.values().filter(|document| document.open && document.published.since_sent.is_empty()).count()
    }

    pub(crate) fn get_mut(&mut self, path: &str) -> Option<&mut OpenDocument> {
        self.files.get_mut(path).filter(|document| document.open)
    }

    /// The open files, sorted.
    pub(crate) fn open(&self) -> Vec<String> {
        let mut open: Vec<String> = self.files.iter().filter(|(_, d)| d.open).map(|(path, _)| path.clone()).collect();
        open.sort();
        open
    }

    /// Takes the texts over as one change and returns the notifications for the server.
    pub(crate) fn sync(&mut self, files: &[FileText]) -> Vec<DocumentNotice> {
        let mut notices = Vec::new();
        let is_other = |file: &&FileText| self.get(&file.path).is_some_and(|known| *known.text != *file.text);
        let (others, headers) = files
            .iter()
            .filter(is_other)
            .fold((0, 0), |(others, headers), file| (others + 1, headers + u64::from(self.is_included(&file.path))));
        self.headers += headers;
        if others > 0 {
            self.epoch += 1;
            self.edits += 1;
        }
        let (epoch, by_range, headers) = (self.epoch, self.by_range, self.headers);
        // It reads the sourced files from the disk.
        let looks_again = self.looks_once && !self.files.values().any(|known| known.open && known.is_unsaved());
        for file in files {
            match self.files.get_mut(&file.path) {
                Some(known) if known.open && self.keeps_headers && known.headers != headers => {
                    notices.push(did_close(known));
                    known.text = Arc::clone(&file.text);
                    (known.version, known.changed, known.headers) = (known.version + 1, epoch, headers);
                    known.published = Publishes::default();
                    (known.settled, known.directives) = (None, None);
                    notices.push(did_open(known));
                }
                Some(known) if known.open && *known.text == *file.text => {
                    let is_due = looks_again && known.changed != epoch && sources_others(&known.text);
                    notices.extend(is_due.then(|| known.send_again(epoch, by_range)));
                }
                Some(known) => {
                    let was_open = std::mem::replace(&mut known.open, true);
                    let before = std::mem::replace(&mut known.text, Arc::clone(&file.text));
                    known.version += 1;
                    known.changed = epoch;
                    known.published.since_sent.clear();
                    if !was_open {
                        (known.opened, known.headers) = (known.version, headers);
                    }
                    notices.push(if was_open { did_change(known, &before, by_range) } else { did_open(known) });
                }
                None => {
                    let Some(uri) = path::to_uri(&self.root.join(&file.path)) else { continue };
                    let document = OpenDocument::new(uri, file, epoch, headers);
                    notices.push(did_open(&document));
                    self.files.insert(file.path.clone(), document);
                }
            }
        }
        notices
    }

    /// Forgets the publishes of an earlier process and opens every file again.
    pub(crate) fn reopen(&mut self) -> Vec<DocumentNotice> {
        self.heard = false;
        let mut notices = Vec::new();
        let headers = self.headers;
        for document in self.files.values_mut().filter(|document| document.open) {
            document.published = Publishes::default();
            (document.settled, document.headers) = (None, headers);
            document.opened = document.version;
            notices.push(did_open(document));
        }
        notices
    }

    /// At the first publish, sends the texts again that a server may have missed: bash-language-server looks at none but
    /// the last of those that came before its start was over.
    pub(crate) fn missed(&mut self) -> Vec<DocumentNotice> {
        if !self.looks_once || std::mem::replace(&mut self.heard, true) {
            return Vec::new();
        }
        let by_range = self.by_range;
        let open = self.files.values().filter(|document| document.open && document.published.since_sent.is_empty());
        open.map(|document| did_change(document, &document.text, by_range)).collect()
    }

    pub(crate) fn saved(&mut self, path: &str) -> Option<DocumentNotice> {
        self.edits += 1;
        let document = self.get_mut(path)?;
        document.saved = Some(document.version);
        // The text may always be sent along, and a server that wants it must have it.
        let params = DidSaveTextDocumentParams { text_document: document.id(), text: Some(document.text.to_string()) };
        Some(DocumentNotice::of::<DidSaveTextDocumentNotification>(&params))
    }

    pub(crate) fn close(&mut self, path: &str) -> Option<DocumentNotice> {
        let document = self.files.get_mut(path).filter(|document| document.open)?;
        document.open = false;
        document.published = Publishes::default();
        document.settled = None;
        let notice = did_close(document);
        self.epoch += 1;
        Some(notice)
    }

    /// The disk has other files than before.
    pub(crate) fn changed_on_disk<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        // An answer under way may be for the project before.
        self.epoch += 1;
        self.edits += 1;
        self.headers += paths.filter(|path| self.is_included(path)).count() as u64;
    }

    /// Recognizes a file that the server reads as a part of others.
    fn is_included(&self, path: &str) -> bool {
        let mut open = self.files.values().filter(|document| document.open);
        is_header(path) || self.keeps_headers && open.any(|document| includes(&document.text, path))
    }

    /// Takes a publish in; returns its path if that is an open file.
    pub(crate) fn publish(
        &mut self,
        uri: &str,
        version: Option<i64>,
        items: Arc<Vec<SentDiagnostic>>,
        at: Instant,
    ) -> Option<String> {
        let file = path::from_uri(uri).and_then(|p| path::relative(&self.root, &p))?;
        let epoch = self.epoch;
        // The empty list of a file that was closed, which is open again.
        if self.keeps_headers && version.is_none() {
            return None;
        }
        let document = self.get_mut(&file)?;
        let Publishes { since_sent, last_list } = &mut document.published;
        if since_sent.len() == KEPT {
            since_sent.remove(0);
        }
        *last_list = Arc::clone(&items);
        since_sent.push(Published { version, items, at, epoch });
        Some(file)
    }
}

fn did_open(document: &OpenDocument) -> DocumentNotice {
    let text_document = TextDocumentItem {
        uri: document.uri.as_str().into(),
        language_id: document.language.clone().into(),
        version: document.lsp_version(),
        text: document.text.to_string(),
    };
    DocumentNotice::of::<DidOpenTextDocumentNotification>(&DidOpenTextDocumentParams { text_document })
}

fn did_close(document: &OpenDocument) -> DocumentNotice {
    let params = DidCloseTextDocumentParams { text_document: document.id() };
    DocumentNotice::of::<DidCloseTextDocumentNotification>(&params)
}

fn did_change(document: &OpenDocument, before: &str, by_range: Option<Encoding>) -> DocumentNotice {
    let (text, index) = (document.text.to_string(), LineIndex::new(before));
    // The server may see the end in another line.
    let by_range = by_range.filter(|_| !index.has_lone_return());
    let change: TextDocumentContentChangeEvent = match by_range {
        None => TextDocumentContentChangeWholeDocument { text }.into(),
        Some(encoding) => {
            let end = index.position(before, before.len(), encoding);
            let end = Position { line: end.line, character: end.character };
            TextDocumentContentChangePartial::new(Range { start: Position::default(), end }, None, text).into()
        }
    };
    DocumentNotice::of::<DidChangeTextDocumentNotification>(&DidChangeTextDocumentParams {
        text_document: VersionedTextDocumentIdentifier {
            version: document.lsp_version(),
            text_document_identifier: document.id(),
        },
        content_changes: vec![change],
    })
}

#[cfg(test)]
mod tests;
