//! Streams a page of Sextant's into its open buffer, and never over the user's text there.
//!
//! The page is a file beside the session's socket, which an editor shows on request.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::engine::buffers::EditorBuffers;
use crate::engine::conversation_text::HEAD;
use crate::engine::links::{ANSWER, EngineLink};
use crate::engine::open_documents::MirroredDocument;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_base::positions::Position;
use sextant_base::{path, private_files};

/// The pause between two changes of a page: sixty in a second.
const TICK: Duration = Duration::from_millis(16);

/// The largest page that is read back, in bytes.
const LARGEST: u64 = 8 << 20;

/// The bytes of its end by which a text that has lost its beginning is recognized.
const TAIL: usize = 400;

/// The number of tries of a change that the user's typing interrupts.
const TRIES: u32 = 3;

/// The fate of a page that an earlier engine has left in an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// The page has one text, which another one replaces. The last shown text is noted beside the file. From it the
    /// next engine can distinguish the user's changes from Sextant's text.
    Document,
    /// The page only grows: new text comes behind the old.
    Log,
}

/// The page in one editor, or in the file that an editor is about to read.
#[derive(Clone, Debug, Default)]
struct ShownText {
    /// The wanted text at the last put, and the text of the buffer or file then. Empty before that.
    base: String,
    shown: Option<String>,
    /// The text that is being put into the buffer. The buffer may have it before the editor confirms it.
    coming: Option<String>,
}

#[derive(Debug, Default)]
struct PageText {
    wanted: String,
    /// The text of the file, and of each editor that has had the page open.
    file: ShownText,
    editors: HashMap<Option<u32>, ShownText>,
    /// The file's text, and the texts that an earlier engine has shown or was about to show. An editor that opens one
    /// of them has Sextant's text.
    written: Option<String>,
    before: Vec<String>,
    /// True if an editor has had it open.
    met: bool,
    /// True if a task brings it up to date.
    streaming: bool,
    /// The time since which an editor is about to open it. The editor reads the file on its own time, and would then
    /// refuse to write one that has changed since.
    opening: Option<Instant>,
}

impl ShownText {
    fn takes(&mut self, base: String, shown: String) {
        (self.base, self.shown) = (base, Some(shown));
    }
}

impl PageText {
    /// The page in an editor; that of the file before the editor has opened it.
    fn of(&self, editor: Option<u32>) -> &ShownText {
        self.editors.get(&editor).unwrap_or(&self.file)
    }

    fn editor(&mut self, editor: Option<u32>) -> &mut ShownText {
        let file = &self.file;
        self.editors.entry(editor).or_insert_with(|| file.clone())
    }
}

#[derive(Debug)]
struct HeldPage {
    file: PathBuf,
    uri: String,
    /// The file that notes the last shown text, as JSON.
    note: Option<PathBuf>,
    text: Mutex<PageText>,
    /// One change at a time.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
pub(super) struct EditorPage(Arc<HeldPage>);

impl EditorPage {
    pub(super) fn new(folder: &Path, name: &str, kind: PageKind) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let file = folder.join(name);
        let uri = path::to_uri(&file).unwrap_or_default();
        let note = (kind == PageKind::Document).then(|| folder.join(format!("{name}.shown")));
        let text = PageText { before: note.as_deref().map(noted).unwrap_or_default(), ..PageText::default() };
        Self(Arc::new(HeldPage { file, uri, note, text: Mutex::new(text), turn: tokio::sync::Mutex::default() }))
    }

    pub(super) fn uri(&self) -> &str {
        &self.0.uri
    }

    pub(super) fn wanted(&self) -> String {
        lock(&self.0.text).wanted.clone()
    }

    /// The text in an editor, if it is open in one.
    pub(super) fn open(&self, buffers: &EditorBuffers) -> Option<MirroredDocument> {
        buffers.mirror.of_uri(&self.0.uri)
    }

    /// The user's changed text; `None` if the text is unchanged, or open nowhere.
    pub(super) fn edited(&self, buffers: &EditorBuffers) -> Option<Arc<str>> {
        let held = lock(&self.0.text);
        let MirroredDocument { text, editor, .. } = self.open(buffers)?;
        let ShownText { shown, coming, .. } = held.of(editor);
        let ours = || [shown, coming].into_iter().flatten().any(|ours| *text == **ours);
        (shown.is_some() && !ours()).then_some(text)
    }

    /// The text that the user's changes begin with, where it is known.
    pub(super) fn base(&self, buffers: &EditorBuffers) -> Option<String> {
        let editor = self.open(buffers)?.editor;
        lock(&self.0.text).of(editor).shown.clone()
    }

    /// Takes the user's text over: it is the current text of the page. A text that the page has left meanwhile changes
    /// nothing, or the text that has replaced it would count as the user's.
    pub(super) fn accept(&self, buffers: &EditorBuffers, text: &str) {
        let mut held = lock(&self.0.text);
        if let Some(open) = self.open(buffers).filter(|open| *open.text == *text) {
            held.editor(open.editor).shown = Some(text.to_owned());
            drop(held);
            self.note(&[text]);
        }
    }

    /// Changes the text, and brings it to wherever it is shown, in a moment.
    pub(super) fn change(&self, buffers: &EditorBuffers, change: impl FnOnce(&mut String)) {
        let mut held = lock(&self.0.text);
        change(&mut held.wanted);
        if std::mem::replace(&mut held.streaming, true) {
            return;
        }
        drop(held);
        let (page, buffers) = (self.clone(), buffers.clone());
        tokio::spawn(async move {
            tokio::time::sleep(TICK).await;
            let _turn = page.0.turn.lock().await;
            // Any change from here on comes with the next put.
            lock(&page.0.text).streaming = false;
            page.put(&buffers).await;
        });
    }

    /// Brings the text to the file and to its open buffers, of each editor that has it open.
    async fn put(&self, buffers: &EditorBuffers) {
        let open = buffers.mirror.in_editors(&self.0.uri);
        if open.is_empty() {
            return self.put_into(buffers, None).await;
        }
        let editors = open.iter().map(|document| self.put_into(buffers, document.editor));
        futures::future::join_all(editors).await;
    }

    async fn put_into(&self, buffers: &EditorBuffers, editor: Option<u32>) {
        let mut tries = 0;
        while tries < TRIES {
            // A user who types for long is waited for all the same: nothing else would bring the page up to date.
            if buffers.rest(std::slice::from_ref(&self.0.file)).await.is_err() {
                continue;
            }
            tries += 1;
            let open = buffers.mirror.in_editors(&self.0.uri);
            let Some(document) = open.iter().find(|document| document.editor == editor) else {
                if !open.is_empty() {
                    return;
                }
                if lock(&self.0.text).opening.is_some_and(|since| since.elapsed() < ANSWER) {
                    return;
                }
                if let Err(error) = self.write() {
                    tracing::warn!(file = %self.0.file.display(), %error, "a page cannot be written");
                }
                return;
            };
            let Some((wanted, target)) = self.target(editor, &document.text) else { return };
            // If this process ends in between, either text is Sextant's.
            self.note(&[&document.text, &target]);
            lock(&self.0.text).editor(editor).coming = Some(target.clone());
            let put = buffers.put(document, &target, "the page").await;
            let mut held = lock(&self.0.text);
            held.editor(editor).coming = None;
            if put.is_ok() {
                self.note(&[&target]);
                let is_last = wanted == held.wanted;
                held.editor(editor).takes(wanted, target);
                if is_last {
                    return;
                }
            }
        }
    }

    /// The text for the buffer; `None` if the buffer has it, or is the user's now.
    fn target(&self, editor: Option<u32>, now: &str) -> Option<(String, String)> {
        let held = lock(&self.0.text);
        let ShownText { base, shown, .. } = held.of(editor);
        // The shown text of a page that another process has opened is unknown before it is looked at.
        let shown = shown.as_deref()?;
        if held.wanted.is_empty() || held.wanted == *base && now == shown {
            return None;
        }
        let wanted = held.wanted.clone();
        // A conversation that holds the user's words is not Sextant's own text, however often it was put.
        let is_ours = self.0.note.is_some() || base.is_empty() || shown == base;
        if now == shown && is_ours {
            return Some((wanted.clone(), wanted));
        }
        // A new end comes behind the user's typing.
        if self.0.note.is_some() {
            return None;
        }
        let target = with_new_end(now, base, &wanted)?;
        Some((wanted, target))
    }

    fn write(&self) -> io::Result<()> {
        let wanted = self.wanted();
        let mut before = {
            let held = lock(&self.0.text);
            held.written.clone().map_or_else(|| held.before.clone(), |written| vec![written])
        };
        before.push(wanted.clone());
        // If this process ends in between, each of these texts is Sextant's.
        self.note(&before.iter().map(String::as_str).collect::<Vec<_>>());
        private_files::replace(&self.0.file, wanted.as_bytes())?;
        self.note(&[&wanted]);
        let mut held = lock(&self.0.text);
        held.file.takes(wanted.clone(), wanted.clone());
        held.editors.clear();
        held.written = Some(wanted);
        Ok(())
    }

    /// Notes the shown texts for the next engine.
    fn note(&self, shown: &[&str]) {
        let Some(note) = &self.0.note else { return };
        let text = serde_json::to_vec(shown).map_err(io::Error::from);
        if let Err(error) = text.and_then(|text| private_files::replace(note, &text)) {
            tracing::warn!(file = %note.display(), %error, "what a page shows cannot be noted");
        }
    }

    /// Shows it in the editor that has just asked for it, and in no other: a user who types there would type into it.
    ///
    /// # Errors
    /// The file cannot be written, or the editor refuses.
    pub(super) async fn show(&self, buffers: &EditorBuffers, link: &EngineLink) -> Result<(), Failure> {
        self.show_at(buffers, link, None).await
    }

    /// Shows it with the cursor at a place, or where it was.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub(super) async fn show_at(
        &self,
        buffers: &EditorBuffers,
        link: &EngineLink,
        place: Option<Position>,
    ) -> Result<(), Failure> {
        let failed = |why: String| not_shown(&self.0.file, &why);
        if self.open(buffers).is_none() {
            let _turn = self.0.turn.lock().await;
            self.write().map_err(|error| failed(error.to_string()))?;
            lock(&self.0.text).opening = Some(Instant::now());
        }
        link.show(&self.0.uri, place).await.map_err(failed)
    }

    /// Puts the text that has come since an editor read the file, now that it has the file open.
    pub(super) fn opened(&self, buffers: &EditorBuffers) {
        for document in buffers.mirror.in_editors(&self.0.uri) {
            self.meet(document.editor, &document.text);
        }
        self.change(buffers, |_| {});
    }

    /// Takes the page as an editor has it: with Sextant's text, with that of an earlier engine, or with the user's.
    fn meet(&self, editor: Option<u32>, text: &str) {
        let mut held = lock(&self.0.text);
        held.opening = None;
        let first = !std::mem::replace(&mut held.met, true);
        let known = held.of(editor);
        if known.shown.as_deref() == Some(text) || known.coming.as_deref() == Some(text) {
            return;
        }
        let is_log = self.0.note.is_none();
        let is_new = known.shown.is_none() || !held.editors.contains_key(&editor);
        // The file may be older than the page, and another editor may have saved it since.
        let other = held.editors.values().find(|other| other.shown.as_deref() == Some(text)).cloned();
        let ours = held.written.iter().chain(&held.before).any(|ours| ours == text)
            || is_log && is_new && held.wanted.starts_with(text);
        if let Some(other) = other.filter(|_| is_new) {
            held.editors.insert(editor, other);
        } else if ours || text.is_empty() && known.shown.is_none() {
            held.editor(editor).takes(text.to_owned(), text.to_owned());
        } else if first && is_log {
            let new = held.wanted.strip_prefix(HEAD).unwrap_or(&held.wanted);
            held.wanted = format!("{text}{new}");
            held.editor(editor).takes(text.to_owned(), text.to_owned());
        } else if known.shown.is_none() {
            // The user has changed the page: it stays, and an approval is for this text.
            held.editor(editor).shown = Some(held.before.first().cloned().unwrap_or_default());
        }
    }

    /// Removes the file at the end of the session, unless a user still looks at it.
    pub(super) fn remove(&self, buffers: &EditorBuffers) {
        if self.open(buffers).is_none() {
            let _ = fs::remove_file(&self.0.file);
            self.0.note.iter().for_each(|note| drop(fs::remove_file(note)));
        }
    }
}

/// A page that an editor does not show.
pub(super) fn not_shown(file: &Path, why: &str) -> Failure {
    let (message, hint) = (format!("the page cannot be shown: {why}"), format!("open {}", file.display()));
    Failure::new(FailureKind::Editor, message, hint)
}

/// The beginning of a line, counted from 0.
pub(super) fn line_start(line: usize) -> Position {
    Position { line: u32::try_from(line).unwrap_or(u32::MAX), character: 0 }
}

/// The user's text with the change of Sextant's text, if that is a change of its last turn.
fn with_new_end(now: &str, base: &str, wanted: &str) -> Option<String> {
    let same = base.bytes().zip(wanted.bytes()).take_while(|(one, other)| one == other).count();
    let same = (0..=same).rev().find(|at| base.is_char_boundary(*at)).unwrap_or(0);
    let (old, new) = (&base[same..], &wanted[same..]);
    if same == 0 || old.contains("\n## ") {
        // The first turns are gone from a long conversation.
        let tail = &base[base.floor_char_boundary(base.len().saturating_sub(TAIL))..];
        let at = wanted.rfind(tail).filter(|_| tail.len() >= TAIL)?;
        return Some(format!("{now}{}", &wanted[at + tail.len()..]));
    }
    match now.rfind(old).filter(|_| !old.is_empty()) {
        Some(at) => Some(format!("{}{new}{}", &now[..at], &now[at + old.len()..])),
        None => Some(format!("{now}{new}")),
    }
}

/// The texts that an earlier engine has shown last. Empty if the note cannot be read: the page is the user's then.
fn noted(note: &Path) -> Vec<String> {
    let read = |file: fs::File| serde_json::from_reader(file.take(LARGEST)).ok();
    private_files::open(note, false).ok().and_then(read).unwrap_or_default()
}

#[cfg(test)]
mod tests;
