//! What a task has introduced, as diagnostics of our own in the editor's list: each for as long as its line stands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::base::lock::lock;
use crate::base::path;
use crate::base::text::{Encoding, LineIndex};
use crate::editor::event::QuickfixEntry;
use crate::editors::lsp::engine::Engine;
use crate::editors::lsp::engine::links::EngineLink;
use crate::editors::lsp::engine::mirror::MirroredChange;
use crate::editors::lsp::link::{EngineSays, OwnDiagnostics};
use crate::workspace::beneath;

/// The largest file whose lines are looked up on disk, in bytes.
const LARGEST: u64 = 8 << 20;

/// Our source of diagnostics, as an editor names it.
const SOURCE: &str = "sextant";

#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnFinding {
    /// Zero-based.
    line: usize,
    /// In bytes of the line.
    column: usize,
    /// The line as it was.
    text: String,
    severity: u8,
    message: String,
}

/// Those of one file, and the link that shows them.
#[derive(Debug, Default)]
struct FoundInFile {
    owner: Option<u64>,
    found: Vec<OwnFinding>,
}

/// By the URI of their file.
#[derive(Debug, Default)]
pub(super) struct OwnFindings {
    files: Mutex<BTreeMap<String, FoundInFile>>,
    /// Held while the links are told of a file, so that no two of them are told last that they show it.
    telling: Mutex<()>,
}

impl OwnFindings {
    /// These and no others are there now; where the list is only amended, these as well.
    pub(super) fn show(&self, engine: &Engine, entries: &[QuickfixEntry]) {
        let mut found: BTreeMap<String, FoundInFile> = BTreeMap::new();
        for entry in entries {
            let Some(uri) = path::to_uri(&engine.setup.root.path().join(&entry.path)) else { continue };
            let text = text(engine, &entry.path);
            let line = (entry.line as usize).saturating_sub(1);
            found.entry(uri).or_default().found.push(OwnFinding {
                line,
                column: (entry.column as usize).saturating_sub(1),
                text: text.lines().nth(line).unwrap_or_default().to_owned(),
                severity: severity(&entry.kind),
                message: format!("introduced: {}", entry.text),
            });
        }
        let before = std::mem::replace(&mut *lock(&self.files), found);
        let now = lock(&self.files).keys().cloned().collect::<Vec<_>>();
        before.keys().filter(|uri| !now.contains(uri)).chain(&now).for_each(|uri| self.publish(engine, uri));
    }

    /// The user has changed a file: what stood on a line that is another one now goes, the rest moves with its line.
    pub(super) fn changed(&self, engine: &Engine, change: &MirroredChange) {
        let mut held = lock(&self.files);
        let Some(file) = held.get_mut(&change.uri) else { return };
        // Each server of an editor has a link that tells the same change.
        let owner = *file.owner.get_or_insert(change.link);
        if owner != change.link && engine.buffers.links.get(owner).is_some() {
            return;
        }
        let now = moved(&file.found, &change.before, &change.after);
        let differs = now != file.found;
        (file.owner, file.found) = (Some(change.link), now);
        if file.found.is_empty() {
            held.remove(&change.uri);
        }
        drop(held);
        if differs {
            self.publish(engine, &change.uri);
        }
    }

    /// What nobody shows any more, to a proxy that has just come.
    pub(super) fn tell(&self, engine: &Engine, link: &EngineLink) {
        let _telling = lock(&self.telling);
        let links = &engine.buffers.links;
        let mut nobodys = Vec::new();
        for (uri, file) in lock(&self.files).iter_mut() {
            if file.owner.is_none_or(|owner| owner == link.id || links.get(owner).is_none()) {
                file.owner = Some(link.id);
                nobodys.push(uri.clone());
            }
        }
        for uri in nobodys {
            link.out.notify(&self.words(engine, &uri, link.hello.encoding));
        }
    }

    /// To the one link that has the file; the others are told that they have nothing to show.
    fn publish(&self, engine: &Engine, uri: &str) {
        let _telling = lock(&self.telling);
        let links = engine.buffers.links.all();
        let owner = engine.buffers.mirror.of_uri(uri).map(|document| document.link);
        let owner = owner.or_else(|| links.last().map(|link| link.id));
        if let Some(file) = lock(&self.files).get_mut(uri) {
            file.owner = owner;
        }
        for link in links {
            let none = || EngineSays::Diagnostics(OwnDiagnostics { uri: uri.to_owned(), diagnostics: Vec::new() });
            let own = Some(link.id) == owner;
            link.out.notify(&if own { self.words(engine, uri, link.hello.encoding) } else { none() });
        }
    }

    fn words(&self, engine: &Engine, uri: &str, encoding: Encoding) -> EngineSays {
        let found = lock(&self.files).get(uri).map(|file| file.found.clone()).unwrap_or_default();
        let text = engine.buffers.mirror.of_uri(uri).map(|document| document.text.to_string());
        let relative = path::from_uri(uri).and_then(|file| path::relative(engine.setup.root.path(), &file));
        let text = text.unwrap_or_else(|| relative.map(|path| disk(engine, &path)).unwrap_or_default());
        let index = LineIndex::new(&text);
        let diagnostics = found.iter().map(|found| found.words(&text, &index, encoding)).collect();
        EngineSays::Diagnostics(OwnDiagnostics { uri: uri.to_owned(), diagnostics })
    }
}

impl OwnFinding {
    /// From its column to the end of the word there, or of the line.
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
            "severity": self.severity, "source": SOURCE, "message": self.message,
        })
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

fn text(engine: &Engine, path: &str) -> String {
    let open = engine.buffers.mirror.of_file(&engine.setup.root.path().join(path));
    open.map_or_else(|| disk(engine, path), |document| document.text.to_string())
}

fn disk(engine: &Engine, path: &str) -> String {
    beneath::text(engine.setup.root.path(), path, LARGEST).unwrap_or_default()
}

/// What stands after a change: on its line, or on the line that the same text has moved to.
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

impl Engine {
    /// Says something to every proxy.
    pub(super) fn tell_all(&self, what: &EngineSays) {
        let links: Vec<Arc<EngineLink>> = self.buffers.links.all();
        links.iter().for_each(|link| {
            link.out.notify(what);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: usize, text: &str) -> OwnFinding {
        OwnFinding { line, column: 4, text: text.into(), severity: 1, message: "introduced: x".into() }
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
}
