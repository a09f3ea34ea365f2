//! Shows the diagnostics that tasks have introduced in the editor's list.
//!
//! Each stays until its line changes, or its task withdraws it. One that a server of the editor shows is not shown a
//! second time: the hover of its line names it as introduced.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::engine::EngineHost;
use crate::engine::links::EngineLink;
use crate::engine::open_documents::MirroredChange;
use crate::link::{EngineSays, OwnDiagnostics, OwnHover, OwnHovers};
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex, Position, Range};
use sextant_engine::api::QuickfixEntry;
use sextant_store::workspace::open_beneath;

/// The largest file whose lines are looked up on disk, in bytes.
const LARGEST: u64 = 8 << 20;

/// The source of Sextant's diagnostics, as an editor names it.
const SOURCE: &str = "sextant";

/// The last column of a range that ends with its line.
const END: u32 = 10_000;

/// The most tasks of other programs whose findings are kept.
const CLIENTS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnFinding {
    /// The client's task that it belongs to; empty for the user's own.
    of: String,
    /// Zero-based.
    line: usize,
    /// In bytes of the line.
    column: usize,
    /// The line's text at the time of the report.
    text: String,
    severity: u8,
    message: String,
    /// [`QuickfixEntry::sources`].
    sources: Vec<String>,
}

/// The findings of one file, and the link that shows them.
#[derive(Debug, Default)]
struct FoundInFile {
    owner: Option<u64>,
    found: Vec<OwnFinding>,
}

#[derive(Debug, Default)]
struct AllFound {
    /// By the URI of their file.
    files: BTreeMap<String, FoundInFile>,
    /// The tasks of clients, oldest first.
    clients: VecDeque<String>,
}

#[derive(Debug, Default)]
pub(super) struct OwnFindings {
    all: Mutex<AllFound>,
    /// Locked while the links get a file's findings, so that two links never both end up showing it.
    telling: Mutex<()>,
}

impl OwnFindings {
    /// Sets the current findings of one task, in place of its earlier ones. The findings of other tasks stay.
    pub(super) fn show(&self, engine: &EngineHost, of: &str, entries: &[QuickfixEntry]) {
        let texts = |uri: &str| text_of(engine, uri);
        let mut new: BTreeMap<String, Vec<OwnFinding>> = BTreeMap::new();
        for entry in entries {
            let Some(uri) = path::to_uri(&engine.setup.root.path().join(&entry.path)) else { continue };
            let line = (entry.line as usize).saturating_sub(1);
            let text = texts(&uri).lines().nth(line).unwrap_or_default().to_owned();
            new.entry(uri).or_default().push(OwnFinding {
                of: of.to_owned(),
                line,
                column: (entry.column as usize).saturating_sub(1),
                text,
                severity: severity(&entry.kind),
                message: entry.text.clone(),
                sources: entry.sources.clone(),
            });
        }
        let changed = lock(&self.all).replace(of, new, texts);
        changed.iter().for_each(|uri| self.publish(engine, uri));
    }

    /// The user has changed a file: findings on a changed line go, the rest move with their lines.
    pub(super) fn changed(&self, engine: &EngineHost, change: &MirroredChange) {
        let mut held = lock(&self.all);
        let Some(file) = held.files.get_mut(&change.uri) else { return };
        // Each server of an editor has a link that reports the same change.
        let owner = *file.owner.get_or_insert(change.link);
        if owner != change.link && engine.buffers.links.get(owner).is_some() {
            return;
        }
        let now = moved(&file.found, &change.before, &change.after);
        let differs = now != file.found;
        (file.owner, file.found) = (Some(change.link), now);
        if file.found.is_empty() {
            held.files.remove(&change.uri);
        }
        drop(held);
        if differs {
            self.publish(engine, &change.uri);
        }
    }

    /// Sends the findings that no proxy shows any more to a proxy that has just come.
    pub(super) fn tell(&self, engine: &EngineHost, link: &EngineLink) {
        let _telling = lock(&self.telling);
        let links = &engine.buffers.links;
        let mut nobodys = Vec::new();
        for (uri, file) in &mut lock(&self.all).files {
            if file.owner.is_none_or(|owner| owner == link.id || links.get(owner).is_none()) {
                file.owner = Some(link.id);
                nobodys.push(uri.clone());
            }
        }
        for uri in nobodys {
            link.out.notify(&EngineSays::Hovers(OwnHovers { uri: uri.clone(), items: self.hovers(&uri) }));
            let diagnostics = self.words(engine, &uri, link.hello.encoding);
            link.out.notify(&EngineSays::Diagnostics(OwnDiagnostics { uri, diagnostics }));
        }
    }

    /// A file was opened or closed, or a server is gone: others show its reports now, or nobody does.
    pub(super) fn look_again(&self, engine: &EngineHost, at: Option<&str>) {
        let files: Vec<String> =
            lock(&self.all).files.keys().filter(|uri| at.is_none_or(|at| at == *uri)).cloned().collect();
        files.iter().for_each(|uri| self.publish(engine, uri));
    }

    fn publish(&self, engine: &EngineHost, uri: &str) {
        let _telling = lock(&self.telling);
        let owner = engine.shower(uri);
        if let Some(file) = lock(&self.all).files.get_mut(uri) {
            file.owner = owner;
        }
        for link in engine.buffers.links.all() {
            let items = if Some(link.id) == owner { self.hovers(uri) } else { Vec::new() };
            link.out.notify(&EngineSays::Hovers(OwnHovers { uri: uri.to_owned(), items }));
        }
        engine.publish(uri, owner, |encoding| self.words(engine, uri, encoding));
    }

    /// Names each finding as introduced, at its line: a server's own diagnostic does not.
    fn hovers(&self, uri: &str) -> Vec<OwnHover> {
        let found = lock(&self.all).files.get(uri).map(|file| file.found.clone()).unwrap_or_default();
        let hover = |found: &OwnFinding| {
            let place = |character| Position { line: u32::try_from(found.line).unwrap_or(u32::MAX), character };
            let markdown = format!("**Introduced by the agent** ({}): {}", word(found.severity), found.message);
            OwnHover { range: Range { start: place(0), end: place(END) }, markdown }
        };
        found.iter().map(hover).collect()
    }

    fn words(&self, engine: &EngineHost, uri: &str, encoding: Encoding) -> Vec<Value> {
        let found = lock(&self.all).files.get(uri).map(|file| file.found.clone()).unwrap_or_default();
        let text = text_of(engine, uri);
        let index = LineIndex::new(&text);
        let unseen = |found: &&OwnFinding| !engine.shows_reports(uri, &found.sources);
        found.iter().filter(unseen).map(|found| found.words(&text, &index, encoding)).collect()
    }
}

impl AllFound {
    /// Replaces findings, and returns the files with new ones. `text` is called for the files that have findings: in a
    /// file that no editor has open they go with their line too.
    fn replace(
        &mut self,
        of: &str,
        new: BTreeMap<String, Vec<OwnFinding>>,
        text: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let oldest = self.client(of);
        let mut changed = Vec::new();
        for (uri, file) in &mut self.files {
            let (before, text) = (file.found.clone(), text(uri));
            let stands = |found: &OwnFinding| text.lines().nth(found.line) == Some(found.text.as_str());
            file.found.retain(|found| found.of != of && Some(&found.of) != oldest.as_ref() && stands(found));
            file.found.extend(new.get(uri).cloned().unwrap_or_default());
            if file.found != before {
                changed.push(uri.clone());
            }
        }
        self.files.retain(|_, file| !file.found.is_empty());
        for (uri, found) in new {
            if !self.files.contains_key(&uri) {
                self.files.insert(uri.clone(), FoundInFile { owner: None, found });
                changed.push(uri);
            }
        }
        changed
    }

    /// Notes the task of a client; returns the oldest beyond the limit.
    fn client(&mut self, of: &str) -> Option<String> {
        if of.is_empty() || self.clients.iter().any(|known| known == of) {
            return None;
        }
        self.clients.push_back(of.to_owned());
        (self.clients.len() > CLIENTS).then(|| self.clients.pop_front()).flatten()
    }
}

impl OwnFinding {
    /// The range from its column to the end of the word there, or of the line.
    fn words(&self, text: &str, index: &LineIndex, encoding: Encoding) -> Value {
        let line = self.line.min(index.line_count().saturating_sub(1));
        let here = index.line_range(text, line);
        let mut start = (here.start + self.column).min(here.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let rest = &text[start..here.end];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').filter(|end| *end > 0).unwrap_or(rest.len());
        json!({
            "range": index.range(text, start..start + word, encoding),
            "severity": self.severity, "source": SOURCE, "message": format!("introduced: {}", self.message),
        })
    }
}

fn word(severity: u8) -> &'static str {
    match severity {
        1 => "error",
        2 => "warning",
        3 => "information",
        _ => "hint",
    }
}

fn severity(kind: &str) -> u8 {
    match kind {
        "E" => 1,
        "W" => 2,
        "I" => 3,
        _ => 4,
    }
}

/// The text of a file in an editor, else on disk.
fn text_of(engine: &EngineHost, uri: &str) -> String {
    if let Some(document) = engine.buffers.mirror.of_uri(uri) {
        return document.text.to_string();
    }
    let root = engine.setup.root.path();
    let relative = path::from_uri(uri).and_then(|file| path::relative(root, &file));
    relative.and_then(|path| open_beneath::text(root, &path, LARGEST)).unwrap_or_default()
}

/// The findings that remain after a change: on their line, or on the line that the same text has moved to.
fn moved(found: &[OwnFinding], before: &str, after: &str) -> Vec<OwnFinding> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let one = |found: &OwnFinding| {
        let line = if found.line < same { found.line } else { (found.line + new.len()).checked_sub(old.len())? };
        let stands = new.get(line).is_some_and(|text| *text == found.text);
        stands.then(|| OwnFinding { line, ..found.clone() })
    };
    found.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: usize, text: &str) -> OwnFinding {
        OwnFinding {
            of: String::new(),
            line,
            column: 4,
            text: text.into(),
            severity: 1,
            message: "x".into(),
            sources: Vec::new(),
        }
    }

    #[test]
    fn a_finding_moves_with_its_line_and_goes_with_it() {
        let before = "a\nb\nx = 1\nc\n";
        let found = [finding(2, "x = 1")];
        let line = |after: &str| moved(&found, before, after).first().map(|found| found.line);
        assert_eq!(line("a\nb\nx = 1\nc\nd\n"), Some(2));
        assert_eq!(line("new\na\nb\nx = 1\nc\n"), Some(3));
        assert_eq!(line("b\nx = 1\nc\n"), Some(1));
        assert_eq!(line("a\nb\nx = 2\nc\n"), None, "the line is another one");
        assert_eq!(line(""), None);
    }

    #[test]
    fn a_finding_is_a_word_of_its_line_in_the_unit_of_the_link() {
        let text = "é = 😀foo + 1\n";
        let words = |column: usize, encoding| {
            let found = OwnFinding { column, ..finding(0, text) };
            found.words(text, &LineIndex::new(text), encoding)["range"].clone()
        };
        let range = words(9, Encoding::Utf16);
        assert_eq!((range["start"]["character"].clone(), range["end"]["character"].clone()), (6.into(), 9.into()));
        assert_eq!(words(900, Encoding::Utf8)["start"]["line"], 0, "past the end of the line");
        assert_eq!(words(6, Encoding::Utf8)["start"]["character"], 5, "never inside of a character");
    }

    #[test]
    fn each_task_replaces_its_own_findings_alone() {
        let mut all = AllFound::default();
        let texts = |uri: &str| if uri == "file:///a" { "x = 1\ny = 2\n" } else { "z = 3\n" }.to_owned();
        let of = |of: &str, line: usize, text: &str| OwnFinding { of: of.into(), ..finding(line, text) };
        let new = |uri: &str, found: OwnFinding| BTreeMap::from([(uri.to_owned(), vec![found])]);
        let found = |all: &AllFound, uri: &str| -> Vec<String> {
            all.files.get(uri).map_or_else(Vec::new, |file| file.found.iter().map(|one| one.of.clone()).collect())
        };
        assert_eq!(all.replace("", new("file:///a", of("", 0, "x = 1")), texts), ["file:///a"]);
        assert_eq!(all.replace("c1", new("file:///a", of("c1", 1, "y = 2")), texts), ["file:///a"]);
        assert_eq!(all.replace("c1", new("file:///a", of("c1", 1, "y = 2")), texts), Vec::<String>::new());
        assert_eq!(found(&all, "file:///a"), ["", "c1"], "the user's own stay");
        assert_eq!(all.replace("", new("file:///b", of("", 0, "z = 3")), texts), ["file:///a", "file:///b"]);
        assert_eq!((found(&all, "file:///a"), found(&all, "file:///b")), (vec!["c1".to_owned()], vec![String::new()]));
        // Its line has another text now, in a file that no editor has open.
        let other = |uri: &str| texts(uri).replace("y = 2", "y = 3");
        all.replace("", BTreeMap::new(), other);
        assert!(all.files.is_empty(), "{all:?}");
        for client in 0..=CLIENTS {
            all.replace(&client.to_string(), new("file:///b", of(&client.to_string(), 0, "z = 3")), texts);
        }
        assert_eq!(found(&all, "file:///b").len(), CLIENTS, "the oldest goes");
    }
}
