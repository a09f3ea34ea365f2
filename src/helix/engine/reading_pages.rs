//! Shows texts to read, each in a file that is never changed while it is open: an editor counts it as saved.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use crate::engine::buffers::EditorBuffers;
use crate::engine::links::{ANSWER, EngineLink};
use crate::engine::streamed_page::not_shown;
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_base::{path, private_files};

/// A text to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadingPage<'a> {
    /// The name of its file.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// The task whose diff it is; `None` for every other page.
    pub(super) task: Option<&'a str>,
}

/// The diff of a task, as it was shown or taken over last.
#[derive(Clone, Debug)]
pub(super) struct ShownDiff {
    pub(super) task: String,
    pub(super) text: String,
}

/// A written page. An editor reads it on its own time, and reports that it is open after that.
#[derive(Debug)]
struct WrittenPage {
    text: String,
    /// [`ReadingPage::task`].
    task: Option<String>,
    at: Instant,
}

#[derive(Debug)]
pub(super) struct ReadingPages {
    folder: PathBuf,
    written: Mutex<HashMap<PathBuf, WrittenPage>>,
}

impl ReadingPages {
    pub(super) fn new(folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Self { folder, written: Mutex::default() }
    }

    /// Recognizes a document that is a file beside the session's socket.
    pub(super) fn has(&self, uri: &str) -> bool {
        path::from_uri(uri).is_some_and(|file| file.parent() == Some(&self.folder))
    }

    /// Shows a text in a page. A page with another text that is open stays as it is.
    ///
    /// # Errors
    /// The file cannot be written, or the editor refuses.
    pub(super) async fn show(
        &self,
        buffers: &EditorBuffers,
        link: &EngineLink,
        page: ReadingPage<'_>,
    ) -> Result<(), Failure> {
        let file = self.place(buffers, page);
        let uri = path::to_uri(&file).unwrap_or_default();
        if buffers.mirror.of_uri(&uri).is_none() {
            private_files::replace(&file, page.text.as_bytes())
                .map_err(|error| not_shown(&file, &error.to_string()))?;
        }
        link.show(&uri, None).await.map_err(|why| not_shown(&file, &why))
    }

    /// The diff in a page; `None` for a page without one.
    pub(super) fn diff(&self, uri: &str) -> Option<ShownDiff> {
        let file = path::from_uri(uri)?;
        let written = lock(&self.written);
        let page = written.get(&file)?;
        Some(ShownDiff { task: page.task.clone()?, text: page.text.clone() })
    }

    /// The user's text of a page has been taken over.
    pub(super) fn taken(&self, uri: &str, text: &str) {
        let Some(file) = path::from_uri(uri) else { return };
        if let Some(page) = lock(&self.written).get_mut(&file) {
            text.clone_into(&mut page.text);
        }
    }

    /// The first file of this name that has no other text in an editor.
    fn place(&self, buffers: &EditorBuffers, page: ReadingPage<'_>) -> PathBuf {
        let ReadingPage { name, text, task } = page;
        let mut written = lock(&self.written);
        let mut number = 1_u32;
        loop {
            let file = match number {
                1 => self.folder.join(format!("{name}.md")),
                _ => self.folder.join(format!("{name}-{number}.md")),
            };
            let open = path::to_uri(&file).and_then(|uri| buffers.mirror.of_uri(&uri));
            let taken = match (open, written.get(&file)) {
                (Some(open), _) => *open.text != *text,
                (None, Some(page)) => page.text != text && page.at.elapsed() < ANSWER,
                (None, None) => false,
            };
            if !taken {
                let task = task.map(str::to_owned);
                written.insert(file.clone(), WrittenPage { text: text.to_owned(), task, at: Instant::now() });
                return file;
            }
            number += 1;
        }
    }

    /// Removes the files at the end of the session, unless a user still looks at them.
    pub(super) fn remove(&self, buffers: &EditorBuffers) {
        for file in lock(&self.written).keys() {
            if path::to_uri(file).is_none_or(|uri| buffers.mirror.of_uri(&uri).is_none()) {
                let _ = fs::remove_file(file);
            }
        }
    }
}
