//! A page of ours: a file beside the session's socket that an editor shows on request, streamed into its buffer while
//! it is open there. What the user has typed in it is never written over.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::base::failure::{Failure, FailureKind};
use crate::base::lock::lock;
use crate::base::{own, path};
use crate::editors::lsp::engine::buffers::EditorBuffers;
use crate::editors::lsp::engine::links::{ANSWER, EngineLink};
use crate::editors::lsp::engine::mirror::MirroredDocument;

/// Between two changes of a page: sixty in a second.
const TICK: Duration = Duration::from_millis(16);

/// How often a change is tried that the user's typing comes in between.
const TRIES: u32 = 3;

#[derive(Debug, Default)]
struct PageText {
    wanted: String,
    /// What was wanted when it was put last, and what the buffer or the file had then.
    base: String,
    shown: String,
    /// Whether a task brings it up to date.
    streaming: bool,
    /// Since when an editor is about to open it. It reads the file on its own time, and would then refuse to write one
    /// that has changed since.
    opening: Option<Instant>,
}

#[derive(Debug)]
struct Held {
    file: PathBuf,
    uri: String,
    text: Mutex<PageText>,
    /// One change at a time.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
pub(super) struct EditorPage(Arc<Held>);

impl EditorPage {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let file = folder.join(name);
        let uri = path::to_uri(&file).unwrap_or_default();
        Self(Arc::new(Held { file, uri, text: Mutex::default(), turn: tokio::sync::Mutex::default() }))
    }

    pub(super) fn uri(&self) -> &str {
        &self.0.uri
    }

    pub(super) fn wanted(&self) -> String {
        lock(&self.0.text).wanted.clone()
    }

    /// The text in an editor, where it is open in one.
    pub(super) fn open(&self, buffers: &EditorBuffers) -> Option<MirroredDocument> {
        buffers.mirror.of_uri(&self.0.uri)
    }

    /// What the user has made of it; `None` where it is as we left it, or open nowhere.
    pub(super) fn edited(&self, buffers: &EditorBuffers) -> Option<Arc<str>> {
        let text = self.open(buffers)?.text;
        let held = lock(&self.0.text);
        (!held.shown.is_empty() && *text != *held.shown).then_some(text)
    }

    /// The user's text is taken over: it is what stands there.
    pub(super) fn accept(&self, text: &str) {
        let mut held = lock(&self.0.text);
        text.clone_into(&mut held.shown);
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
            // Whatever is changed from here on comes with the next one.
            lock(&page.0.text).streaming = false;
            page.put(&buffers).await;
        });
    }

    /// Brings the text to where it is shown.
    async fn put(&self, buffers: &EditorBuffers) {
        for _ in 0..TRIES {
            let Some(document) = self.open(buffers) else {
                if lock(&self.0.text).opening.is_some_and(|since| since.elapsed() < ANSWER) {
                    return;
                }
                if let Err(error) = self.write() {
                    tracing::warn!(file = %self.0.file.display(), %error, "a page cannot be written");
                }
                return;
            };
            let Some((wanted, target)) = self.target(&document.text) else { return };
            if buffers.rest(std::slice::from_ref(&self.0.file)).await.is_err() {
                return;
            }
            if buffers.put(&document, &target, "the page").await.is_ok() {
                let mut held = lock(&self.0.text);
                (held.base, held.shown) = (wanted, target);
                if held.base == held.wanted {
                    return;
                }
            }
        }
    }

    /// What the buffer is to have; `None` where it has it, or where it is the user's now.
    fn target(&self, now: &str) -> Option<(String, String)> {
        let held = lock(&self.0.text);
        if held.wanted.is_empty() || held.wanted == held.base && *now == *held.shown {
            return None;
        }
        let wanted = held.wanted.clone();
        if *now == *held.shown || held.shown.is_empty() {
            return Some((wanted.clone(), wanted));
        }
        // Behind what the user has typed, where there is only more.
        let more = held.wanted.strip_prefix(held.base.as_str()).filter(|more| !more.is_empty())?;
        Some((wanted.clone(), format!("{now}{more}")))
    }

    fn write(&self) -> io::Result<()> {
        let wanted = self.wanted();
        let mut file = own::open(&self.0.file, true)?;
        file.set_len(0)?;
        file.write_all(wanted.as_bytes())?;
        let mut held = lock(&self.0.text);
        (held.base, held.shown) = (wanted.clone(), wanted);
        Ok(())
    }

    /// Shows it in the editor that has just asked for it, and nowhere else: whoever types would type into it.
    ///
    /// # Errors
    /// The file cannot be written, or the editor refuses.
    pub(super) async fn show(&self, buffers: &EditorBuffers, link: &EngineLink) -> Result<(), Failure> {
        let failed = |why: String| {
            let file = self.0.file.display();
            Failure::new(FailureKind::Editor, format!("the page cannot be shown: {why}"), format!("open {file}"))
        };
        if self.open(buffers).is_none() {
            let _turn = self.0.turn.lock().await;
            self.write().map_err(|error| failed(error.to_string()))?;
            lock(&self.0.text).opening = Some(Instant::now());
        }
        let params = json!({"uri": self.0.uri, "external": false, "takeFocus": true});
        let answer = link.ask("window/showDocument", params, Some(ANSWER)).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        if answer["success"] == false {
            return Err(failed("the editor did not open it".to_owned()));
        }
        Ok(())
    }

    /// An editor has it open now: what has come since it read the file is put there.
    pub(super) fn opened(&self, buffers: &EditorBuffers) {
        lock(&self.0.text).opening = None;
        self.change(buffers, |_| {});
    }

    /// The file goes with the session, unless somebody still looks at it.
    pub(super) fn remove(&self, buffers: &EditorBuffers) {
        if self.open(buffers).is_none() {
            let _ = fs::remove_file(&self.0.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(base: &str, shown: &str, wanted: &str) -> EditorPage {
        let page = EditorPage::new(Path::new("/nowhere"), "answer.md");
        let text = PageText { wanted: wanted.into(), base: base.into(), shown: shown.into(), ..PageText::default() };
        *lock(&page.0.text) = text;
        page
    }

    #[test]
    fn what_the_user_typed_in_a_page_stays() {
        let target = |page: &EditorPage, now: &str| page.target(now).map(|(_, target)| target);
        assert_eq!(target(&page("a", "a", "ab"), "a").as_deref(), Some("ab"));
        assert_eq!(target(&page("a", "a", "a"), "a"), None);
        assert_eq!(target(&page("a", "a", "ab"), "a and mine\n").as_deref(), Some("a and mine\nb"), "behind it");
        assert_eq!(target(&page("a", "a", "x"), "mine"), None, "other words are not put over it");
        assert_eq!(target(&page("", "", "x"), "of an engine before\n").as_deref(), Some("x"));
    }
}
