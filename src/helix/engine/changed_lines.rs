//! Offers to keep or undo each change of the last task, and all in a symbol, until the user types there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::engine::EngineHost;
use crate::engine::commands;
use crate::engine::open_documents::MirroredChange;
use crate::link::{ACTION_KIND, OwnAction};
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::positions::{Position, Range};
use sextant_engine::api::{ChangedLines, StandingChange};
use sextant_text::symbols::symbol_path::SymbolPath;

/// The last column of a range that ends with its line.
const END: u32 = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
struct OfferedReject {
    name: ChangedLines,
    /// [`StandingChange::symbol`].
    symbol: String,
    first: usize,
    last: usize,
}

/// The offered changes of one file, and the text that their lines belong to.
#[derive(Clone, Debug)]
struct OfferedInFile {
    text: Arc<str>,
    offered: Vec<OfferedReject>,
}

#[derive(Debug, Default)]
struct HeldChanges {
    /// By the URI of their file.
    files: BTreeMap<String, OfferedInFile>,
    /// The changes that the user has agreed to.
    kept: BTreeSet<ChangedLines>,
    /// The file in which the rest of an undo is offered that was refused last.
    refused_in: Option<String>,
}

/// The offered changes of all files.
#[derive(Debug, Default)]
pub(super) struct OfferedChanges(Mutex<HeldChanges>);

impl OfferedChanges {
    /// Looks again at the changes of the last task that still stand.
    pub(super) async fn look(&self, engine: &EngineHost) {
        let Ok(session) = engine.session() else { return };
        let found = match session.agent.standing_changes().await {
            Ok(found) => found,
            Err(failure) => return tracing::warn!("{}", failure.one_line()),
        };
        let mut held = lock(&self.0);
        let mut files: BTreeMap<String, OfferedInFile> = BTreeMap::new();
        for StandingChange { name, path, symbol, text, first, last } in found {
            let uri = path::to_uri(&engine.setup.root.path().join(&path));
            let Some(uri) = uri.filter(|_| !held.kept.contains(&name)) else { continue };
            let file = files.entry(uri).or_insert_with(|| OfferedInFile { text, offered: Vec::new() });
            file.offered.push(OfferedReject { name, symbol, first, last });
        }
        let before = std::mem::replace(&mut held.files, files);
        let mut uris: BTreeSet<String> = before.into_keys().collect();
        uris.extend(held.files.keys().cloned());
        drop(held);
        for uri in uris {
            self.catch_up(engine, &uri);
            engine.offer(&uri);
        }
    }

    /// Brings a file up to its text in the editor: lines move with the text, and overwritten lines are offered no more.
    fn catch_up(&self, engine: &EngineHost, uri: &str) -> bool {
        let Some(now) = engine.buffers.mirror.of_uri(uri).map(|document| document.text) else { return false };
        let mut held = lock(&self.0);
        let Some(file) = held.files.get_mut(uri).filter(|file| file.text != now) else { return false };
        let offered = moved(&file.offered, &file.text, &now);
        let differs = offered != file.offered;
        (file.text, file.offered) = (now, offered);
        if file.offered.is_empty() {
            held.files.remove(uri);
        }
        differs
    }

    pub(super) fn changed(&self, engine: &EngineHost, change: &MirroredChange) {
        if self.catch_up(engine, &change.uri) {
            engine.offer(&change.uri);
        }
    }

    /// Takes up a file that is open again, here or behind another proxy.
    pub(super) fn opened(&self, engine: &EngineHost, uri: &str) {
        if lock(&self.0).files.contains_key(uri) {
            self.catch_up(engine, uri);
            engine.offer(uri);
        }
    }

    /// Stops offering one change, or all those in a symbol or file.
    pub(super) fn keep(&self, engine: &EngineHost, wanted: &str, document: Option<&str>) -> Result<(), Failure> {
        let mut held = lock(&self.0);
        let is_wanted = |uri: &str, one: &OfferedReject| match wanted {
            "" => document == Some(uri),
            wanted => one.symbol == wanted || one.name.to_string() == wanted,
        };
        let (mut names, mut uris) = (BTreeSet::new(), BTreeSet::new());
        for (uri, file) in &held.files {
            for one in file.offered.iter().filter(|one| is_wanted(uri, one)) {
                names.insert(one.name.clone());
                uris.insert(uri.clone());
            }
        }
        if names.is_empty() {
            let hint = "space a on its lines offers it";
            return Err(Failure::user("no change of the last task is left to keep here", hint));
        }
        held.files.values_mut().for_each(|file| file.offered.retain(|one| !names.contains(&one.name)));
        held.files.retain(|_, file| !file.offered.is_empty());
        held.kept.extend(names);
        drop(held);
        uris.iter().for_each(|uri| engine.offer(uri));
        Ok(())
    }

    /// Takes in the end of a command: the rest of an undo that was refused is offered until the next one.
    pub(super) fn ended(&self, engine: &EngineHost, failure: Option<&Failure>) {
        let is_refused = failure.is_some_and(|failure| failure.hint.codes().contains(&HintCode::UndoRest));
        let now = commands::asked_about(engine).filter(|_| is_refused);
        let before = std::mem::replace(&mut lock(&self.0).refused_in, now.clone());
        if before != now {
            before.iter().chain(&now).for_each(|uri| engine.offer(uri));
        }
    }

    /// The actions on offer in a file.
    pub(super) fn actions(&self, uri: &str) -> Vec<OwnAction> {
        let held = lock(&self.0);
        let rest = held.refused_in.as_deref() == Some(uri);
        let offered = held.files.get(uri).map(|file| file.offered.as_slice()).unwrap_or_default();
        let beside = |one: &OfferedReject| offered.iter().filter(|other| other.symbol == one.symbol).count();
        let changes = offered.iter().flat_map(|one| one.actions(beside(one)));
        rest.then(rest_of_undo).into_iter().chain(changes).collect()
    }
}

/// The action that leads out of a refused undo; on every line.
fn rest_of_undo() -> OwnAction {
    OwnAction {
        range: None,
        title: "Sextant: undo the rest".to_owned(),
        kind: ACTION_KIND.to_owned(),
        is_preferred: false,
        command: "agent.undo-rest".to_owned(),
        arguments: Vec::new(),
    }
}

impl OfferedReject {
    /// Its actions, and those for all changes of its symbol where `beside` of them are offered.
    fn actions(&self, beside: usize) -> Vec<OwnAction> {
        let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let range = Range {
            start: Position { line: line(self.first), character: 0 },
            end: Position { line: line(self.last), character: END },
        };
        let action = |title: String, command: &str, argument: &str| OwnAction {
            range: Some(range),
            title,
            kind: ACTION_KIND.to_owned(),
            is_preferred: false,
            command: command.to_owned(),
            arguments: vec![json!(argument)],
        };
        let pair = |what: &str, argument: &str| {
            let keep = action(format!("Sextant: keep {what}"), "agent.keep", argument);
            [keep, action(format!("Sextant: take {what} back"), "agent.undo", argument)]
        };
        let mut actions = pair("this change", &self.name.to_string()).to_vec();
        if !self.symbol.is_empty() && beside > 1 {
            let symbol = SymbolPath::parse(&self.symbol).names;
            actions.extend(pair(&format!("all {beside} changes in {symbol}"), &self.symbol));
        }
        actions
    }
}

/// The lines after a change of the text; the lines that it touches are gone.
fn moved(offered: &[OfferedReject], before: &str, after: &str) -> Vec<OfferedReject> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if old == new {
        return offered.to_vec();
    }
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = (old.len().min(new.len())) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let end = old.len() - tail;
    let one = |one: &OfferedReject| {
        if one.last < same {
            return Some(one.clone());
        }
        let down = |line: usize| (line + new.len()).checked_sub(old.len());
        if one.first < end {
            return None;
        }
        Some(OfferedReject { first: down(one.first)?, last: down(one.last)?, ..one.clone() })
    };
    offered.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(first: usize, last: usize) -> OfferedReject {
        let name = ChangedLines { task: "t".into(), edit: "c1".into(), file: 0, first: 0, last: 0 };
        OfferedReject { name, symbol: String::new(), first, last }
    }

    #[test]
    fn lines_move_with_the_text_and_are_gone_where_somebody_types() {
        let before = "a\nb\nc\nd\n";
        let lines = |after: &str| moved(&[offered(1, 2)], before, after).first().map(|one| (one.first, one.last));
        assert_eq!(lines(before), Some((1, 2)));
        assert_eq!(lines("new\na\nb\nc\nd\n"), Some((2, 3)));
        assert_eq!(lines("b\nc\nd\n"), Some((0, 1)));
        assert_eq!(lines("a\nb\nc\nd\ne\n"), Some((1, 2)));
        assert_eq!(lines("a\nb\nc\nx\n"), Some((1, 2)));
        assert_eq!(lines("x\nb\nc\nd\n"), Some((1, 2)));
        assert_eq!(lines("a\nB\nc\nd\n"), None);
        assert_eq!(lines("a\nb\nnew\nc\nd\n"), None, "between them");
        assert_eq!(lines(""), None);
    }
}
