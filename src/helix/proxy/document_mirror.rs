//! Mirrors the text of the editor's open documents, from its messages to the server, beside the forward path.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::mpsc::UnboundedSender;

use crate::link::{ChangedDocument, NamedDocument, OpenedDocument, ProxySays};
use crate::proxy::proxy_state::{ProxyState, Table, key};
use crate::proxy::shared_files;
use sextant_base::lock::lock;
use sextant_base::positions::{Encoding, Position, Range};

/// The messages on the forward path, in its order. Bodies are as they came.
#[derive(Debug)]
pub(super) enum MirrorEvent {
    Opened(Vec<u8>),
    Changed(Vec<u8>),
    Closed(String),
    Saved(String),
    /// A link to the engine is up: it gets every event from here on, and the open documents.
    LinkUp(UnboundedSender<ProxySays>),
    LinkDown,
}

#[derive(Clone, Debug)]
pub(super) struct MirroredText {
    /// The URI as the editor writes it.
    pub(super) uri: String,
    pub(super) language: String,
    pub(super) version: i64,
    pub(super) text: Arc<str>,
}

/// All documents, by key.
#[derive(Debug, Default)]
pub(super) struct MirroredTexts {
    pub(super) open: HashMap<String, MirroredText>,
    /// The number of events that were processed.
    pub(super) done: u64,
    link: Option<UnboundedSender<ProxySays>>,
}

#[derive(Deserialize)]
struct MirroredNotice<P> {
    params: P,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenParams {
    text_document: OpenItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenItem {
    uri: String,
    #[serde(default)]
    language_id: String,
    #[serde(default)]
    version: i64,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentChange {
    text_document: ChangedItem,
    content_changes: Vec<ContentChange>,
}

#[derive(Deserialize)]
struct ChangedItem {
    uri: String,
    #[serde(default)]
    version: i64,
}

#[derive(Deserialize)]
struct ContentChange {
    #[serde(default)]
    range: Option<Range>,
    text: String,
}

/// Processes events until the forward path is gone.
pub(super) fn run(shared: &ProxyState, events: &Receiver<MirrorEvent>) {
    while let Ok(event) = events.recv() {
        // If a document cannot be kept, only the knowledge of it is lost.
        if catch_unwind(AssertUnwindSafe(|| apply(shared, event))).is_err() {
            tracing::error!("a document could not be followed");
        }
        lock(&shared.texts).done += 1;
        shared.mirrored.notify_all();
    }
}

/// Waits until the mirror has caught up, then calls `then` with both locks held: no message goes through meanwhile.
pub(super) fn caught_up<T>(shared: &ProxyState, then: impl FnOnce(&mut MirroredTexts, &mut Table) -> T) -> T {
    let mut texts = lock(&shared.texts);
    loop {
        let mut table = lock(&shared.table);
        if texts.done == table.received {
            return then(&mut texts, &mut table);
        }
        drop(table);
        let waited = shared.mirrored.wait_timeout(texts, Duration::from_millis(20));
        texts = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
    }
}

fn apply(shared: &ProxyState, event: MirrorEvent) {
    let mut texts = lock(&shared.texts);
    match event {
        MirrorEvent::Opened(body) => {
            let Ok(MirroredNotice { params: OpenParams { text_document: item } }) = serde_json::from_slice(&body)
            else {
                return;
            };
            let text: Arc<str> = Arc::from(item.text);
            let key = key(&item.uri);
            let (uri, language_id, version) = (item.uri.clone(), item.language_id.clone(), item.version);
            texts.tell(|| ProxySays::Opened(OpenedDocument { uri, language_id, version, text: Arc::clone(&text) }));
            let known = MirroredText { uri: item.uri, language: item.language_id, version, text };
            shared_files::compare(shared, &key, &known);
            texts.open.insert(key, known);
        }
        MirrorEvent::Changed(body) => {
            let Ok(MirroredNotice { params }) = serde_json::from_slice::<MirroredNotice<DocumentChange>>(&body) else {
                return;
            };
            texts.change(shared, params);
        }
        MirrorEvent::Closed(uri) => {
            texts.open.remove(&key(&uri));
            texts.tell(|| ProxySays::Closed(NamedDocument { uri }));
        }
        MirrorEvent::Saved(uri) => texts.tell(|| ProxySays::Saved(NamedDocument { uri })),
        MirrorEvent::LinkUp(link) => {
            texts.link = Some(link);
            let opened = |known: &MirroredText| {
                let MirroredText { uri, language, version, text } = known.clone();
                ProxySays::Opened(OpenedDocument { uri, language_id: language, version, text })
            };
            let all: Vec<ProxySays> = texts.open.values().map(opened).collect();
            all.into_iter().for_each(|message| texts.tell(|| message));
        }
        MirrorEvent::LinkDown => texts.link = None,
    }
}

impl MirroredTexts {
    /// Sends a message to the engine, if there is one.
    pub(super) fn tell(&self, message: impl FnOnce() -> ProxySays) {
        if let Some(link) = &self.link {
            let _ = link.send(message());
        }
    }

    fn change(&mut self, shared: &ProxyState, DocumentChange { text_document, content_changes }: DocumentChange) {
        let key = key(&text_document.uri);
        let Some(known) = self.open.get_mut(&key) else { return };
        let encoding = shared.encoding();
        let mut text = String::from(&*known.text);
        for change in content_changes {
            match change.range {
                Some(range) => replace(&mut text, range, &change.text, encoding),
                None => text = change.text,
            }
        }
        known.text = Arc::from(text);
        known.version = text_document.version;
        let known = known.clone();
        shared_files::compare(shared, &key, &known);
        let MirroredText { uri, version, text, .. } = known;
        self.tell(|| ProxySays::Changed(ChangedDocument { uri, version, text }));
    }
}

fn replace(text: &mut String, range: Range, new: &str, encoding: Encoding) {
    let start = offset(text, range.start, encoding);
    let end = offset(text, range.end, encoding).max(start);
    text.replace_range(start..end, new);
}

/// The byte offset of a position. Before the line's `\n`, a `\r` counts as any other character: an editor may remove it
/// by itself.
fn offset(text: &str, position: Position, encoding: Encoding) -> usize {
    let start = match position.line.checked_sub(1) {
        None => 0,
        Some(before) => match memchr::memchr_iter(b'\n', text.as_bytes()).nth(before as usize) {
            Some(end) => end + 1,
            None => return text.len(),
        },
    };
    let line = &text[start..];
    let line = &line[..memchr::memchr(b'\n', line.as_bytes()).unwrap_or(line.len())];
    let mut left = position.character as usize;
    for (at, c) in line.char_indices() {
        let width = match encoding {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        };
        if left < width {
            return start + at;
        }
        left -= width;
    }
    start + line.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sextant_base::positions::LineIndex;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn a_place_is_found_in_every_encoding_and_none_leads_out_of_its_line() {
        let text = "aä😀b\r\nx\n";
        for (encoding, units) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            assert_eq!(offset(text, at(0, units), encoding), 7, "{encoding:?}");
        }
        assert_eq!(offset(text, at(0, 6), Encoding::Utf16), 9, "before the line feed alone");
        assert_eq!(offset(text, at(0, 99), Encoding::Utf16), 9);
        assert_eq!(offset(text, at(2, 0), Encoding::Utf16), text.len());
        assert_eq!(offset(text, at(7, 7), Encoding::Utf16), text.len());
    }

    proptest! {
        #[test]
        fn changes_in_a_row_give_the_text_that_the_editor_has(
            text in "[a-zäß😀\n]{0,40}",
            edits in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64, "[xö😀\n]{0,6}"), 1..8),
            which in 0..3,
        ) {
            let encoding = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32][which as usize];
            let (mut editor, mut mirror) = (text.clone(), text);
            for (from, to, new) in edits {
                let places: Vec<usize> = (0..=editor.len()).filter(|at| editor.is_char_boundary(*at)).collect();
                let place = |share: f64| places[(share * places.len() as f64) as usize % places.len()];
                let (start, end) = (place(from).min(place(to)), place(from).max(place(to)));
                let index = LineIndex::new(&editor);
                let position = |offset| index.position(&editor, offset, encoding);
                let range = Range { start: position(start), end: position(end) };
                replace(&mut mirror, range, &new, encoding);
                editor.replace_range(start..end, &new);
                prop_assert_eq!(&mirror, &editor);
            }
        }
    }
}
