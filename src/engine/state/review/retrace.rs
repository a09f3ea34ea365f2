//! The editor's undo and redo of a rejection: `u` takes it back, and a redo rejects again.

use sextant_text::edits::apply_text::apply;

use crate::state::review::file_review::{FileReview, carried};
use crate::state::review::workspace_review::{RejectedText, WorkspaceReview};

/// The direction of a key of the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Undo,
    Redo,
}

impl Direction {
    /// The text before the key, and the text after it.
    fn ends(self, one: &RejectedText) -> [&str; 2] {
        match self {
            Self::Undo => [&one.without, &one.with],
            Self::Redo => [&one.with, &one.without],
        }
    }
}

/// The rejections that a text has undone or redone, and the text before each of these steps, the last text first.
struct Retraced {
    places: Vec<usize>,
    texts: Vec<String>,
}

impl WorkspaceReview {
    /// The files whose text may change by an undo of a rejection, or by the redo of an edit.
    pub(crate) fn retraceable(&self) -> impl Iterator<Item = &String> {
        let rejections = self.rejected.iter().chain(&self.undone).filter(|one| !one.settled).map(|one| &one.path);
        rejections.chain(self.redoable.iter().map(|undone| &undone.edit.path))
    }

    /// True if a text is exactly that of a rejection undone, or of one redone.
    pub(crate) fn is_rejection_retraced(&self, path: &str, now: &str) -> bool {
        let is_of = |one: &RejectedText, text: &str| one.path == path && !one.settled && text == now;
        self.rejected.iter().any(|one| is_of(one, &one.with)) || self.undone.iter().any(|one| is_of(one, &one.without))
    }

    /// Takes in the rejections that the text of a buffer has undone or redone. They are decisions, and not typing.
    pub(crate) fn retrace(&mut self, path: &str, now: &str) {
        if self.files.get(path).is_none_or(|file| *file.agent != *now) {
            self.retrace_to(path, now, Direction::Undo);
            self.retrace_to(path, now, Direction::Redo);
        }
    }

    fn retrace_to(&mut self, path: &str, now: &str, direction: Direction) {
        let list = if direction == Direction::Undo { &self.rejected } else { &self.undone };
        let found = retraced(list, path, now, direction);
        let (Some(&place), Some(start)) = (found.places.last(), found.texts.last()) else { return };
        let file = self.files.get(path).cloned().unwrap_or_else(|| FileReview {
            made: list[place].made && start.is_empty(),
            ..FileReview::new(path, Some(&start.as_str().into()))
        });
        let steps: Vec<[&str; 2]> = found.places.iter().map(|place| direction.ends(&list[*place])).collect();
        // The text may come about without a key: the user has typed, and the step stands already.
        let stands = |[from, to]: &[&str; 2]| {
            carried(from, to, &file.agent).is_none() && carried(to, from, &file.agent).is_some()
        };
        if direction == Direction::Redo && steps.iter().any(stands) {
            return;
        }
        let redone = if direction == Direction::Redo { before_typing(&file, &steps) } else { None };
        let Some(file) = redone.or_else(|| after_typing(&file, &steps, &found.texts)) else { return };
        self.files.insert(path.to_owned(), file);
        for place in found.places.iter().rev() {
            match direction {
                Direction::Undo => self.take_back(*place),
                Direction::Redo => self.reject_again(*place),
            }
        }
        self.limit_rejected();
    }

    /// Takes a rejection out of the list, with those of its remarks that the agent has not heard.
    pub(crate) fn take_back(&mut self, place: usize) {
        let mut one = self.rejected.remove(place);
        self.decided = self.decided.saturating_sub(one.hunks);
        one.notes.retain(|note| {
            let known = self.notes.iter().rposition(|known| known == note);
            known.map(|at| self.notes.remove(at)).is_some()
        });
        self.undone.push(one);
    }

    fn reject_again(&mut self, place: usize) {
        let mut one = self.undone.remove(place);
        self.decide_last(&mut one);
        self.decided += one.hunks;
        one.notes.iter().for_each(|note| self.note(note.clone()));
        self.rejected.push(one);
    }

    /// A decision or an edit of the agent begins a new branch of the undo history: nothing is redone from here.
    pub(crate) fn drop_redo(&mut self, path: &str) {
        self.undone.retain(|one| one.path != path);
    }

    /// The agent has written in the place of a rejection: its text may come back without an undo from here, unless the edit
    /// is taken back.
    pub(crate) fn settle_rejected(&mut self, path: &str, now: &str, is_undo: bool) {
        for one in self.rejected.iter_mut().filter(|one| one.path == path) {
            one.settled = (one.settled && !is_undo) || carried(&one.without, &one.with, now).is_none();
        }
    }
}

/// The review after steps, the last one first. Typing that came with them is taken in later, so it cannot fall into the
/// place of a hunk that a redo rejects.
fn before_typing(file: &FileReview, steps: &[[&str; 2]]) -> Option<FileReview> {
    let mut file = file.clone();
    for [from, to] in steps.iter().rev() {
        file.agent = file.carried_beside(from, to)?.into();
    }
    Some(file)
}

/// The review after the typing that came with steps, and after these steps.
fn after_typing(file: &FileReview, steps: &[[&str; 2]], texts: &[String]) -> Option<FileReview> {
    let mut file = file.clone();
    file.typed(texts.last()?);
    for (at, ends) in steps.iter().enumerate().rev() {
        file.agent = file.carried_on(*ends, [&*texts[at + 1], &*texts[at]])?.into();
    }
    Some(file)
}

/// The steps that led to a text. A key goes over the list from its end, so the last step is the oldest entry, and no entry
/// between it and the end is left out.
fn retraced(list: &[RejectedText], path: &str, now: &str, direction: Direction) -> Retraced {
    let is_known = |(_, one): &(usize, &RejectedText)| one.path == path && !one.settled;
    let known: Vec<(usize, &RejectedText)> = list.iter().enumerate().filter(is_known).collect();
    let found = (0..known.len()).find_map(|first| all_retraced(&known[first..], now, direction));
    found.unwrap_or_else(|| Retraced { places: Vec::new(), texts: vec![now.to_owned()] })
}

/// All of these steps, if a text has each of them.
fn all_retraced(steps: &[(usize, &RejectedText)], now: &str, direction: Direction) -> Option<Retraced> {
    let mut found = Retraced { places: Vec::new(), texts: vec![now.to_owned()] };
    for (place, one) in steps {
        let [from, to] = direction.ends(one);
        let before = before_step(from, to, found.texts.last()?)?;
        found.places.push(*place);
        found.texts.push(before);
    }
    Some(found)
}

/// The text before a step between two texts; `None` where the text does not have the step.
fn before_step(from: &str, to: &str, text: &str) -> Option<String> {
    if text == to {
        return Some(from.to_owned());
    }
    let edits = carried(to, from, text)?;
    // Beside other typing, a mere removal of lines may be typing too.
    let adds = edits.iter().any(|edit| !edit.range.is_empty());
    if adds { apply(text, &edits).ok() } else { None }
}
