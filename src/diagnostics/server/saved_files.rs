//! Compares the open texts of a server with the disk, from which some servers read.

use std::sync::Arc;

use crate::disk;
use crate::server::Inner;
use sextant_base::lock::lock;

impl Inner {
    /// True if the disk has the text of a file that the server was given.
    pub(super) async fn is_saved(&self, path: &str) -> bool {
        let text = lock(&self.documents).get(path).map(|document| Arc::clone(&document.text));
        match text {
            Some(text) => disk::has(&self.root.join(path), &text).await,
            None => false,
        }
    }

    /// An open file that the disk has with another text: of those that the server reads from there for this one.
    pub(super) async fn unsaved_beside(&self, path: &str, is_read: impl Fn(&str) -> bool) -> Option<String> {
        let open = lock(&self.documents).open();
        for other in open.into_iter().filter(|other| other != path && is_read(other)) {
            if !self.is_saved(&other).await {
                return Some(other);
            }
        }
        None
    }
}
