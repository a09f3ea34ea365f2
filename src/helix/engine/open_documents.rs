//! Keeps the open documents as the editors' proxies report them: texts, versions, and whether the user types.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::link::{ChangedDocument, OpenedDocument};
use sextant_base::lock::lock;
use sextant_base::path;

/// The most expected texts of Sextant's own edits, for one file.
const EXPECTED: usize = 64;

/// A document of one link. Two servers of one editor each have a link with the same document.
#[derive(Clone, Debug)]
pub(super) struct MirroredDocument {
    pub(super) link: u64,
    /// The process of the editor.
    pub(super) editor: Option<u32>,
    pub(super) uri: String,
    /// The path without symbolic links, if the file exists.
    pub(super) file: PathBuf,
    pub(super) version: i64,
    pub(super) text: Arc<str>,
    /// The time of the user's last change.
    pub(super) typed: Option<Instant>,
    /// A number that grows with every touch of any document.
    touched: u64,
}

/// A change of a document, by the user or by Sextant.
#[derive(Clone, Debug)]
pub(super) struct MirroredChange {
    pub(super) link: u64,
    pub(super) uri: String,
    pub(super) before: Arc<str>,
    pub(super) after: Arc<str>,
    pub(super) ours: bool,
}

#[derive(Debug, Default)]
struct HeldDocument {
    documents: HashMap<(u64, String), MirroredDocument>,
    expected: HashMap<String, VecDeque<Arc<str>>>,
    touches: u64,
    /// The editor whose user asked for the running task; its documents go before those of another one.
    asking: Option<u32>,
    /// The other editors that have had a message since then, each with its document.
    notified: HashSet<(u32, PathBuf)>,
}

impl HeldDocument {
    /// Drops the expected texts of documents that are no longer open anywhere.
    fn forget(&mut self) {
        let documents = &self.documents;
        self.expected.retain(|uri, _| documents.keys().any(|(_, open)| open == uri));
    }

    /// The first of several documents: that of the asking editor, else the one that was touched last.
    fn first<'a>(&self, found: impl Iterator<Item = &'a MirroredDocument>) -> Option<&'a MirroredDocument> {
        let asks = |document: &MirroredDocument| self.asking.is_some() && document.editor == self.asking;
        found.max_by_key(|document| (asks(document), document.touched))
    }
}

#[derive(Debug, Default)]
pub(super) struct Mirror {
    held: Mutex<HeldDocument>,
    /// Changes with every change of a document.
    news: watch::Sender<u64>,
}

impl Mirror {
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Sets the editor that asks for the running task from now on; `None` if another program asks.
    pub(super) fn asked_by(&self, editor: Option<u32>) {
        let mut held = lock(&self.held);
        held.asking = editor;
        held.notified.clear();
    }

    /// The links of other editors that have a file of this document open: one for each editor, and each only once while
    /// one editor asks.
    pub(super) fn others_to_notify(&self, document: &MirroredDocument) -> Vec<u64> {
        let mut held = lock(&self.held);
        let others = held.documents.values().filter(|other| other.file == document.file);
        let others = others.filter_map(|other| Some((other.editor?, other.link)));
        let others: Vec<(u32, u64)> = others.filter(|(editor, _)| Some(*editor) != document.editor).collect();
        let new = |(editor, _): &(u32, u64)| held.notified.insert((*editor, document.file.clone()));
        others.into_iter().filter(new).map(|(_, link)| link).collect()
    }

    pub(super) fn opened(&self, link: u64, editor: Option<u32>, opened: OpenedDocument) {
        let Some(file) = path::from_uri(&opened.uri) else { return };
        let file = file.canonicalize().unwrap_or(file);
        let mut held = lock(&self.held);
        held.touches += 1;
        let OpenedDocument { uri, version, text, .. } = opened;
        let touched = held.touches;
        let document = MirroredDocument { link, editor, uri: uri.clone(), file, version, text, typed: None, touched };
        held.documents.insert((link, uri), document);
        drop(held);
        self.moved();
    }

    /// `None` for a document that was never opened.
    pub(super) fn changed(&self, link: u64, changed: ChangedDocument) -> Option<MirroredChange> {
        let mut held = lock(&self.held);
        held.touches += 1;
        let touched = held.touches;
        let expected = held.expected.get(&changed.uri);
        let ours = expected.is_some_and(|texts| texts.iter().any(|text| **text == *changed.text));
        let document = held.documents.get_mut(&(link, changed.uri.clone()))?;
        let before = std::mem::replace(&mut document.text, Arc::clone(&changed.text));
        (document.version, document.touched) = (changed.version, touched);
        if !ours {
            document.typed = Some(Instant::now());
            // A user who types on has left the text that was put there.
            held.expected.remove(&changed.uri);
        }
        drop(held);
        self.moved();
        Some(MirroredChange { link, uri: changed.uri, before, after: changed.text, ours })
    }

    pub(super) fn closed(&self, link: u64, uri: &str) {
        let mut held = lock(&self.held);
        held.documents.remove(&(link, uri.to_owned()));
        held.forget();
        drop(held);
        self.moved();
    }

    /// Removes a link that is gone, with its open documents.
    pub(super) fn left(&self, link: u64) {
        let mut held = lock(&self.held);
        held.documents.retain(|(owner, _), _| *owner != link);
        held.forget();
        drop(held);
        self.moved();
    }

    /// Marks a change to this text as Sextant's own.
    pub(super) fn expect(&self, uri: &str, text: &Arc<str>) {
        let mut held = lock(&self.held);
        let texts = held.expected.entry(uri.to_owned()).or_default();
        texts.push_back(Arc::clone(text));
        while texts.len() > EXPECTED {
            texts.pop_front();
        }
    }

    /// The document of a file. Of several, it is that of the asking editor, else the one that was touched last.
    pub(super) fn of_file(&self, file: &Path) -> Option<MirroredDocument> {
        let held = lock(&self.held);
        held.first(held.documents.values().filter(|document| document.file == file)).cloned()
    }

    pub(super) fn of_uri(&self, uri: &str) -> Option<MirroredDocument> {
        let held = lock(&self.held);
        held.first(held.documents.values().filter(|document| document.uri == uri)).cloned()
    }

    /// The file below the root that an editor has touched last; if it has none there, any editor's.
    pub(super) fn touched_last(&self, root: &Path, editor: Option<u32>) -> Option<String> {
        let held = lock(&self.held);
        let below = held.documents.values().filter(|document| path::relative(root, &document.file).is_some());
        below.max_by_key(|document| (document.editor == editor, document.touched)).map(|found| found.uri.clone())
    }

    /// The open document that an editor means by the name of a buffer: a path from its working folder, which is mostly the
    /// root, or from the home folder.
    pub(super) fn of_buffer(&self, root: &Path, name: &str, editor: Option<u32>) -> Option<String> {
        let name = Path::new(name.strip_prefix("~/").unwrap_or(name));
        let held = lock(&self.held);
        let named = held.documents.values().filter(|document| document.file.ends_with(name));
        let order = |document: &&MirroredDocument| {
            (document.editor != editor, document.file != root.join(name), document.file.components().count())
        };
        named.min_by_key(order).map(|found| found.uri.clone())
    }

    /// The version that one link has of a document.
    pub(super) fn version_at(&self, link: u64, uri: &str) -> Option<i64> {
        lock(&self.held).documents.get(&(link, uri.to_owned())).map(|document| document.version)
    }

    /// True if a document of this link is not the text that is read of its file: another editor's document goes before.
    pub(super) fn is_overruled(&self, link: u64) -> bool {
        let held = lock(&self.held);
        let overruled = |own: &MirroredDocument| {
            let first = held.first(held.documents.values().filter(|other| other.file == own.file));
            first.is_some_and(|first| first.editor != own.editor && first.text != own.text)
        };
        held.documents.values().filter(|document| document.link == link).any(overruled)
    }

    /// The document in each editor that has it open, as the link has it that was touched last.
    pub(super) fn in_editors(&self, uri: &str) -> Vec<MirroredDocument> {
        let held = lock(&self.held);
        let mut found: HashMap<Option<u32>, &MirroredDocument> = HashMap::new();
        for document in held.documents.values().filter(|document| document.uri == uri) {
            let known = found.entry(document.editor).or_insert(document);
            if known.touched < document.touched {
                *known = document;
            }
        }
        found.into_values().cloned().collect()
    }

    /// All open documents, each once.
    pub(super) fn uris(&self) -> HashSet<String> {
        lock(&self.held).documents.keys().map(|(_, uri)| uri.clone()).collect()
    }

    /// Files below the root that are open, sorted.
    pub(super) fn paths(&self, root: &Path) -> Vec<String> {
        let held = lock(&self.held);
        let mut paths: Vec<String> =
            held.documents.values().filter_map(|document| path::relative(root, &document.file)).collect();
        drop(held);
        paths.sort();
        paths.dedup();
        paths
    }

    /// The time since the user typed in a file, in the editor that is edited; `None` if they never have.
    pub(super) fn rested(&self, file: &Path) -> Option<Duration> {
        let held = lock(&self.held);
        let of_file = || held.documents.values().filter(|document| document.file == file);
        let editor = held.first(of_file())?.editor;
        let typed = of_file().filter(|document| document.editor == editor).filter_map(|found| found.typed);
        typed.max().map(|typed| typed.elapsed())
    }

    /// The same over all files.
    pub(super) fn rested_anywhere(&self) -> Option<Duration> {
        lock(&self.held).documents.values().filter_map(|document| document.typed).max().map(|typed| typed.elapsed())
    }

    fn moved(&self) {
        self.news.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(uri: &str, text: &str) -> OpenedDocument {
        OpenedDocument { uri: uri.into(), language_id: "python".into(), version: 1, text: text.into() }
    }

    fn changed(uri: &str, version: i64, text: &str) -> ChangedDocument {
        ChangedDocument { uri: uri.into(), version, text: text.into() }
    }

    #[test]
    fn what_we_put_there_is_ours_at_every_link_and_anything_else_is_typed() {
        let (mirror, uri) = (Mirror::default(), "file:///w/a.py");
        for link in [1, 2] {
            mirror.opened(link, Some(7), opened(uri, "a\n"));
        }
        assert!(mirror.changed(3, changed(uri, 2, "x")).is_none(), "never opened there");
        mirror.expect(uri, &"b\n".into());
        for link in [1, 2] {
            assert!(mirror.changed(link, changed(uri, 2, "b\n")).unwrap().ours, "{link}");
        }
        assert_eq!(mirror.rested_anywhere(), None);
        let change = mirror.changed(1, changed(uri, 3, "bc\n")).unwrap();
        assert!(!change.ours && *change.before == *"b\n");
        assert!(mirror.rested(Path::new("/w/a.py")).is_some());
        assert_eq!(&*mirror.of_uri(uri).unwrap().text, "bc\n", "the one that was touched last");
        assert!(!mirror.changed(2, changed(uri, 3, "b\n")).unwrap().ours, "typed back");
    }

    #[test]
    fn of_two_editors_the_one_that_asks_goes_first_and_the_other_is_notified_once() {
        let (mirror, uri, file) = (Mirror::default(), "file:///w/a.py", Path::new("/w/a.py"));
        for (link, editor) in [(1, 10), (2, 10), (3, 20)] {
            mirror.opened(link, Some(editor), opened(uri, &format!("{editor}\n")));
        }
        assert_eq!(&*mirror.of_file(file).unwrap().text, "20\n", "nobody asks: the one that was touched last");
        mirror.asked_by(Some(10));
        mirror.changed(3, changed(uri, 2, "typed elsewhere\n"));
        let asking = mirror.of_file(file).unwrap();
        assert_eq!((&*asking.text, asking.link), ("10\n", 2));
        assert_eq!(mirror.rested(file), None, "typing in the other one is in nobody's way");
        assert_eq!([1, 2, 3].map(|link| mirror.is_overruled(link)), [false, false, true]);
        assert_eq!((mirror.others_to_notify(&asking), mirror.others_to_notify(&asking)), (vec![3], vec![]));
        mirror.asked_by(Some(20));
        assert_eq!(mirror.others_to_notify(&mirror.of_uri(uri).unwrap()).len(), 1, "one link of the editor");
        assert_eq!([1, 2, 3].map(|link| mirror.is_overruled(link)), [true, true, false]);
        mirror.changed(1, changed(uri, 2, "typed elsewhere\n"));
        assert_eq!([1, 2].map(|link| mirror.is_overruled(link)), [false, true], "the text of the second one is behind");
        mirror.left(3);
        assert_eq!(mirror.of_file(file).unwrap().editor, Some(10), "who asked is gone");
    }

    #[test]
    fn a_link_that_is_gone_has_nothing_open() {
        let mirror = Mirror::default();
        mirror.opened(1, None, opened("file:///w/a.py", "a\n"));
        mirror.opened(2, None, opened("file:///w/b.py", "b\n"));
        mirror.opened(2, None, opened("untitled:1", "b\n"));
        assert_eq!(mirror.paths(Path::new("/w")), ["a.py", "b.py"]);
        mirror.left(2);
        mirror.expect("file:///w/a.py", &"c\n".into());
        mirror.closed(1, "file:///w/none.py");
        assert_eq!(lock(&mirror.held).expected.len(), 1);
        assert_eq!(mirror.paths(Path::new("/w")), ["a.py"]);
        assert!(mirror.of_file(Path::new("/w/b.py")).is_none());
        mirror.closed(1, "file:///w/a.py");
        assert!(lock(&mirror.held).expected.is_empty(), "whole texts of what nobody has open");
    }
}
