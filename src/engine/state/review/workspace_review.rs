//! What waits for the user's review in a workspace, what was rejected, and what the agent has yet to hear of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::state::journal::FileChange;
use crate::state::review::file_review::{FileReview, HunkPick};
use crate::state::review::redone_edits::{MadeEdit, UndoneTexts};
use crate::state::review::review_hunk::names;
use sextant_base::given_secrets::hide_given;

/// Most rejections that can be had back, and the most bytes of their texts.
const REJECTIONS: usize = 20;
const REJECTED_BYTES: usize = 4 << 20;
/// Most acceptances that can be taken back, and the most bytes of their texts. The last one always can.
const ACCEPTED: usize = 20;
const ACCEPTED_BYTES: usize = 4 << 20;
/// Most notes that wait for the agent.
const NOTES: usize = 50;

/// The review of a workspace. It is stored, so that it survives a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WorkspaceReview {
    pub(crate) files: BTreeMap<String, FileReview>,
    /// Hunks that the user accepted or rejected since the review was last empty. Those that a rollback, an undo or the
    /// user's typing took away do not count.
    pub(crate) decided: usize,
    /// The oldest first.
    pub(crate) rejected: Vec<RejectedText>,
    /// Rejections that were taken back and can be redone in the editor, the oldest first.
    pub(crate) undone: Vec<RejectedText>,
    /// The oldest first.
    pub(crate) notes: Vec<ReviewNote>,
    /// The edits of this process that the editor can undo, the oldest first.
    #[serde(skip)]
    pub(crate) edits: Vec<MadeEdit>,
    /// The undos of this process that can be redone, the oldest first.
    #[serde(skip)]
    pub(crate) redoable: Vec<UndoneTexts>,
    /// The acceptances, each with the files that it is about, the oldest first.
    pub(crate) accepted: Vec<Vec<AcceptedFile>>,
    /// The number of the last decision: their order across acceptances and rejections.
    decisions: u64,
}

/// The maker of a change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangedBy {
    /// A task, with an edit or by taking one of its own back.
    Task,
    /// The user, who takes an edit back.
    Undo,
    /// The user, who takes an undo back.
    Redo,
}

/// A file as it waited before hunks of it were accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AcceptedFile {
    pub(crate) path: String,
    before: FileReview,
    /// Hunks that the acceptance decided.
    hunks: usize,
    /// The number of the decision.
    at: u64,
}

impl AcceptedFile {
    /// The review of the file as it waited.
    pub(crate) fn before(&self) -> &FileReview {
        &self.before
    }

    fn bytes(&self) -> usize {
        self.before.baseline.len() + self.before.agent.len()
    }
}

/// A rejection, with the file before and after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RejectedText {
    pub(crate) path: String,
    pub(crate) with: String,
    pub(crate) without: String,
    /// Hunks that it decided.
    pub(crate) hunks: usize,
    pub(crate) made: bool,
    /// The remarks about it; of one that was taken back, those that the agent has not heard.
    pub(crate) notes: Vec<ReviewNote>,
    /// The agent has written in its place since: its text in the buffer is not an undo.
    pub(crate) settled: bool,
    /// The number of the decision.
    at: u64,
}

/// A remark of the user for the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewNote {
    /// The file, and the symbol where there is one: `cart.py::Cart::total`.
    pub place: String,
    /// True if the change there was rejected; else this is a note on a line.
    pub rejected: bool,
    /// True if chosen lines of the change were rejected, and the rest stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// The code that it is about.
    pub code: String,
    pub reason: String,
    /// The reports of a rejected change, each as one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<String>,
}

impl ReviewNote {
    pub(crate) fn file(&self) -> &str {
        self.place.split("::").next().unwrap_or(&self.place)
    }

    /// One line for the agent.
    pub(crate) fn line(&self) -> String {
        let what = match (self.rejected, self.part) {
            (true, true) => "the user rejected this part of your change",
            (true, false) => "the user rejected your change",
            (false, _) => "a note of the user",
        };
        let why = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        let code = self.code.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let code = if code.is_empty() { String::new() } else { format!(" (`{code}`)") };
        let reported = self.reported.join("; ");
        let reported = if reported.is_empty() { reported } else { format!("; it had brought: {reported}") };
        format!("{}{code}: {what}{why}{reported}", self.place)
    }
}

/// The outcome of a decision for one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The text that the buffer gets; `None` where it stays.
    pub(crate) text: Option<String>,
    /// True if the file goes: all of a made file was rejected.
    pub(crate) gone: bool,
    /// Hunks that were changed since and stay.
    pub(crate) conflicts: usize,
}

impl WorkspaceReview {
    /// The form that is stored: without passwords in the user's remarks. The texts stay byte for byte.
    pub(crate) fn kept(mut self) -> Self {
        let decided = self.rejected.iter_mut().chain(&mut self.undone).flat_map(|one| &mut one.notes);
        decided.chain(&mut self.notes).for_each(|note| note.reason = hide_given(&note.reason));
        self
    }

    /// Takes in an edit of the agent, or an undo of one.
    pub(crate) fn edited(&mut self, change: &FileChange, by: ChangedBy) {
        self.typed(&change.path, change.before.as_deref().unwrap_or_default());
        self.made(change, by);
    }

    /// Takes in an edit of the agent, or an undo of one, in a text that is known.
    pub(crate) fn made(&mut self, change: &FileChange, by: ChangedBy) {
        let waited = self.waiting(change);
        // Beside typing that is kept apart, the accepted text is not known.
        let is_apart = waited.is_apart;
        let then = self.accepted_text(change, change.before.as_deref()).filter(|_| !is_apart);
        match by {
            // It counts as typed, as its undo did.
            ChangedBy::Redo if is_apart => self.typed(&change.path, change.after.as_deref().unwrap_or_default()),
            ChangedBy::Redo if self.redone(change) => {}
            ChangedBy::Undo => {
                self.take_in(change, true);
                let now = self.accepted_text(change, change.after.as_deref());
                return self.keep_undone(change, then, now);
            }
            ChangedBy::Task | ChangedBy::Redo => {
                self.take_in(change, false);
                self.redoable.retain(|undone| undone.edit.path != change.path);
            }
        }
        self.keep_edit(change, waited);
    }

    fn take_in(&mut self, change: &FileChange, is_undo: bool) {
        let before = change.before.as_deref().unwrap_or_default();
        self.drop_redo(&change.path);
        self.accepted.retain(|files| files.iter().all(|file| file.path != change.path));
        if self.files.is_empty() && !is_undo {
            self.begin();
        }
        let Some(after) = &change.after else {
            self.files.remove(&change.path);
            return;
        };
        self.settle_rejected(&change.path, after, is_undo);
        if let Some(file) = self.waited_before(change).filter(|_| is_undo) {
            self.files.insert(change.path.clone(), file);
            return self.drop_done();
        }
        if is_undo && !self.files.contains_key(&change.path) {
            return;
        }
        let file = self
            .files
            .entry(change.path.clone())
            .or_insert_with(|| FileReview::new(&change.path, change.before.as_ref()));
        if is_undo {
            // An undo is the user's own word: what it leaves does not wait.
            file.typed(after);
        } else {
            file.edited(before, after);
        }
        self.drop_done();
    }

    /// Takes in the text of a buffer: what was typed, and the rejections that were undone or redone.
    pub(crate) fn typed(&mut self, path: &str, now: &str) {
        if !self.is_rejection_retraced(path, now) && self.retrace_edit(path, now) {
            return;
        }
        self.retrace(path, now);
        if let Some(file) = self.files.get_mut(path) {
            file.typed(now);
        }
        self.drop_done();
    }

    /// Begins a new count. Rejections of the review before it do not belong to it.
    fn begin(&mut self) {
        self.decided = 0;
        self.accepted.clear();
        self.rejected.iter_mut().chain(&mut self.undone).for_each(|one| one.hunks = 0);
    }

    /// Accepts hunks of a file.
    pub(crate) fn accept(&mut self, path: &str, wanted: &WantedHunks<'_>, now: &str) -> Decided {
        self.drop_redo(path);
        let Some(file) = self.files.get_mut(path) else { return Decided::default() };
        let picks = wanted.picks(file, now);
        let (before, waiting) = (file.clone(), file.pending(now).len());
        let conflicts = file.accept(&picks, now).len();
        let hunks = decided_by(waiting, file.pending(now).len(), &picks);
        if *file != before {
            let accepted = [Arc::clone(&before.baseline), Arc::clone(&file.baseline)];
            self.accept_earlier(path, &accepted);
            self.decisions += 1;
            self.accepted.push(vec![AcceptedFile { path: path.to_owned(), before, hunks, at: self.decisions }]);
        }
        self.decided += hunks;
        self.drop_done();
        Decided { conflicts, ..Decided::default() }
    }

    /// Makes one decision of the acceptances after the first `count` ones.
    pub(crate) fn join_accepted(&mut self, count: usize) {
        let files: Vec<AcceptedFile> = self.accepted.drain(count..).flatten().collect();
        if !files.is_empty() {
            self.accepted.push(files);
        }
        let size = |files: &Vec<AcceptedFile>| files.iter().map(AcceptedFile::bytes).sum::<usize>();
        let list = &mut self.accepted;
        while list.len() > ACCEPTED || list.len() > 1 && list.iter().map(size).sum::<usize>() > ACCEPTED_BYTES {
            list.remove(0);
        }
    }

    /// True if the last decision is an acceptance.
    pub(crate) fn accepted_last(&self) -> bool {
        let accepted = self.accepted.last().and_then(|files| files.last()).map(|file| file.at);
        accepted > self.rejected.last().map(|one| one.at)
    }

    /// Numbers a rejection as the last decision.
    pub(crate) fn decide_last(&mut self, one: &mut RejectedText) {
        self.decisions += 1;
        one.at = self.decisions;
    }

    /// Takes the last acceptance back: its hunks wait again. `texts` has its files as they are. Returns the number of
    /// hunks.
    pub(crate) fn reopen(&mut self, texts: &BTreeMap<String, String>) -> usize {
        let files = self.accepted.pop().unwrap_or_default();
        let hunks: usize = files.iter().map(|file| file.hunks).sum();
        for AcceptedFile { path, mut before, .. } in files {
            before.typed(texts.get(&path).map_or("", String::as_str));
            self.files.insert(path, before);
        }
        self.decided = self.decided.saturating_sub(hunks);
        self.drop_done();
        hunks
    }

    /// Rejects hunks. The caller gives the buffer the text of the outcome, or keeps the review as it was.
    pub(crate) fn reject(&mut self, path: &str, wanted: &WantedHunks<'_>, now: &str) -> Decided {
        self.drop_redo(path);
        let Some(file) = self.files.get_mut(path) else { return Decided::default() };
        let (picks, made, before) = (wanted.picks(file, now), file.made, file.pending(now).len());
        let (text, conflicts) = file.reject(&picks, now);
        let decided = Decided { gone: made && text.is_empty(), conflicts: conflicts.len(), text: None };
        if text == now {
            return decided;
        }
        let hunks = decided_by(before, file.pending(&text).len(), &picks);
        self.decided += hunks;
        self.redoable.retain(|undone| undone.edit.path != path);
        let (with, without) = (now.to_owned(), text.clone());
        let mut one = RejectedText { path: path.to_owned(), with, without, hunks, made, ..RejectedText::default() };
        self.decide_last(&mut one);
        self.rejected.push(one);
        self.limit_rejected();
        self.drop_done();
        Decided { text: Some(text), ..decided }
    }

    /// Brings the last rejection back: its file, and the text that the buffer gets. `now` is the file as it is.
    pub(crate) fn bring_back(&mut self, now: &str) -> Option<(String, String)> {
        let last = self.rejected.last()?.clone();
        let file = self.files.entry(last.path.clone()).or_insert_with(|| FileReview {
            made: last.made && now.is_empty(),
            ..FileReview::new(&last.path, Some(&now.into()))
        });
        file.typed(now);
        let text = file.bring_back(&last.with, &last.without, now)?;
        self.take_back(self.rejected.len() - 1);
        self.limit_rejected();
        Some((last.path, text))
    }

    pub(crate) fn note(&mut self, note: ReviewNote) {
        self.notes.push(note);
        let over = self.notes.len().saturating_sub(NOTES);
        self.notes.drain(..over);
    }

    /// Keeps the reason of a rejection for the agent, until the rejection is taken back.
    pub(crate) fn note_rejected(&mut self, path: &str, note: ReviewNote) {
        if let Some(last) = self.rejected.iter_mut().rfind(|one| one.path == path) {
            last.notes.push(note.clone());
        }
        self.note(note);
    }

    pub(crate) fn limit_rejected(&mut self) {
        let size = |one: &RejectedText| one.with.len() + one.without.len();
        for list in [&mut self.rejected, &mut self.undone] {
            while list.len() > REJECTIONS || list.len() > 1 && list.iter().map(size).sum::<usize>() > REJECTED_BYTES {
                list.remove(0);
            }
        }
    }

    fn drop_done(&mut self) {
        self.files.retain(|_, file| !file.is_done());
    }
}

/// Whole hunks count as decided where they are gone; a part of one does not.
fn decided_by(before: usize, after: usize, picks: &[HunkPick]) -> usize {
    let whole = picks.iter().filter(|pick| pick.lines.is_none()).count();
    if whole == 0 { before.saturating_sub(after) } else { whole.min(before.saturating_sub(after).max(1)) }
}

/// The hunks of a file that a decision is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WantedHunks<'a> {
    /// A hunk by its name, and the chosen lines of it.
    Hunk(&'a str, Option<std::ops::Range<usize>>),
    /// Several hunks by their names.
    Hunks(&'a [String]),
}

impl WantedHunks<'_> {
    fn picks(&self, file: &FileReview, now: &str) -> Vec<HunkPick> {
        let names = names(file, &file.pending(now));
        let whole = |hunk: usize| HunkPick { hunk, lines: None };
        match self {
            Self::Hunk(name, lines) => {
                let found = names.iter().position(|known| known == name);
                found.map(|hunk| HunkPick { hunk, lines: lines.clone() }).into_iter().collect()
            }
            Self::Hunks(wanted) => (0..names.len()).filter(|hunk| wanted.contains(&names[*hunk])).map(whole).collect(),
        }
    }
}
