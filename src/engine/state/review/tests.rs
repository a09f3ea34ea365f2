//! The review under random edits, typing and decisions: nothing is lost, and every line is where its owner put it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::editor::Marks;
use crate::state::journal::FileChange;
use crate::state::review::file_review::HunkPick;
use crate::state::review::review_hunk::{names, shown};
use crate::state::review::workspace_review::{ChangedBy, ReviewNote, WantedHunks, WorkspaceReview};

const PATH: &str = "a.txt";

fn whole(hunk: usize) -> HunkPick {
    HunkPick { hunk, lines: None }
}

fn all(review: &WorkspaceReview, now: &str) -> Vec<String> {
    let file = &review.files[PATH];
    names(file, &file.pending(now))
}

fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
    let text = |text: Option<&str>| text.map(Into::into);
    let (before, after) = (text(before), text(after));
    FileChange { path: PATH.into(), before, after, marks_before: Marks::Null, marks_after: Marks::Null }
}

#[test]
fn the_count_goes_on_until_all_is_decided_and_a_rejection_can_be_had_back() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    let name = |review: &WorkspaceReview, now: &str, hunk: usize| {
        let file = &review.files[PATH];
        names(file, &file.pending(now))[hunk].clone()
    };
    let second = name(&review, after, 1);
    let text = review.reject(PATH, &WantedHunks::Hunk(&second, None), after).text.unwrap();
    assert_eq!((text.as_str(), review.decided), ("A\nb\nc\nd\nE\n", 1));
    let first = name(&review, &text, 0);
    review.accept(PATH, &WantedHunks::Hunk(&first, None), &text);
    assert_eq!((review.decided, review.files[PATH].pending(&text).len()), (2, 1));
    let stored = serde_json::to_string(&review).unwrap();
    let mut review: WorkspaceReview = serde_json::from_str(&stored).unwrap();
    let typed = format!("{text}mine\n");
    review.typed(PATH, &typed);
    let (_, back) = review.bring_back(&typed).unwrap();
    assert_eq!((back.as_str(), review.decided), ("A\nb\nC\nd\nE\nmine\n", 1));
    assert_eq!(review.files[PATH].pending(&back).len(), 2);
    review.accept(PATH, &WantedHunks::Hunks(&all(&review, &back)), &back);
    assert!(review.files.is_empty());
    assert_eq!(review.decided, 3);
}

#[test]
fn decisions_are_taken_back_in_their_order() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    let names = all(&review, after);
    review.accept(PATH, &WantedHunks::Hunk(&names[0], None), after);
    review.accept(PATH, &WantedHunks::Hunks(&all(&review, after)), after);
    assert!(review.files.is_empty() && review.decided == 3);
    let typed = format!("{after}mine\n");
    let texts = std::collections::BTreeMap::from([(PATH.to_owned(), typed.clone())]);
    assert_eq!((review.reopen(&texts), review.decided, review.files[PATH].pending(&typed).len()), (2, 1, 2));
    assert_eq!((review.reopen(&texts), review.decided, review.files[PATH].pending(&typed).len()), (1, 0, 3));
    assert_eq!(review.reopen(&texts), 0, "there is no other one");
    let first = all(&review, &typed)[0].clone();
    review.accept(PATH, &WantedHunks::Hunk(&first, None), &typed);
    let next = all(&review, &typed)[0].clone();
    let left = review.reject(PATH, &WantedHunks::Hunk(&next, None), &typed).text.unwrap();
    assert!(!review.accepted_last(), "the rejection is the last decision");
    let more = format!("{left}more\n");
    review.typed(PATH, &more);
    let (_, back) = review.bring_back(&more).unwrap();
    assert_eq!((back.as_str(), review.accepted_last()), (format!("{typed}more\n").as_str(), true));
    let texts = std::collections::BTreeMap::from([(PATH.to_owned(), back.clone())]);
    assert_eq!((review.reopen(&texts), review.decided, review.files[PATH].pending(&back).len()), (1, 0, 3));
}

#[test]
fn a_change_that_was_edited_since_stands_where_its_lines_are() {
    let (before, after) = ("a\nb\nc\nd\n", "a\nb\nC\nd\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    let now = "one\ntwo\na\nb\nC # mine\nd\n";
    review.typed(PATH, now);
    let hunk = &shown(&review.files[PATH], now, &[]).hunks[0];
    assert_eq!((hunk.line, hunk.conflict), (4, true));
}

/// A review of two hunks whose first one was rejected with a reason, and the buffer after that.
fn rejected_first(before: &str, after: &str) -> (WorkspaceReview, String) {
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    let first = all(&review, after)[0].clone();
    let text = review.reject(PATH, &WantedHunks::Hunk(&first, None), after).text.unwrap();
    let reason = ReviewNote { place: PATH.into(), rejected: true, reason: "why".into(), ..ReviewNote::default() };
    review.note_rejected(PATH, reason);
    (review, text)
}

#[test]
fn an_undo_in_the_editor_takes_a_rejection_back_and_a_redo_rejects_again() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\ne\n");
    let (mut review, text) = rejected_first(before, after);
    for _ in 0..2 {
        assert_eq!((review.decided, review.notes.len(), review.rejected.len()), (1, 1, 1));
        review.typed(PATH, after);
        assert_eq!((review.decided, review.notes.len(), review.rejected.len()), (0, 0, 0));
        assert_eq!(review.files[PATH].pending(after).len(), 2);
        review.typed(PATH, &text);
        assert_eq!(review.files[PATH].pending(&text).len(), 1);
    }
    // Typing that comes with the undo is the user's.
    let typed = format!("{after}mine\n");
    review.typed(PATH, &typed);
    assert_eq!((review.decided, review.notes.len()), (0, 0));
    assert_eq!(&*review.files[PATH].baseline, format!("{before}mine\n"));
}

#[test]
fn an_undo_goes_back_over_several_rejections_at_once() {
    let (before, after) = ("a\nb\nc\n", "A\nb\nC\n");
    let (mut review, text) = rejected_first(before, after);
    let second = all(&review, &text)[0].clone();
    review.reject(PATH, &WantedHunks::Hunk(&second, None), &text);
    assert!(review.files.is_empty() && review.decided == 2);
    review.typed(PATH, after);
    assert_eq!((review.decided, review.rejected.len(), review.files[PATH].pending(after).len()), (0, 0, 2));
    review.typed(PATH, before);
    assert_eq!((review.decided, review.rejected.len(), review.files.len(), review.notes.len()), (2, 2, 0, 1));
}

#[test]
fn a_rejected_text_that_the_agent_wrote_again_is_not_taken_for_an_undo() {
    let (before, after) = ("a\nb\nc\n", "A\nb\nc\n");
    let (mut review, text) = rejected_first(before, after);
    review.edited(&change(Some(&text), Some(after)), ChangedBy::Task);
    review.accept(PATH, &WantedHunks::Hunks(&all(&review, after)), after);
    review.typed(PATH, "A\nb\nmine\nc\n");
    review.typed(PATH, after);
    assert!(review.files.is_empty() && review.notes.len() == 1, "{review:?}");
}

#[test]
fn a_heard_reason_stays_heard_when_the_rejection_is_taken_back() {
    let (before, after) = ("a\nb\nc\n", "A\nb\nc\n");
    let (mut review, text) = rejected_first(before, after);
    review.notes.clear();
    review.typed(PATH, after);
    review.typed(PATH, &text);
    assert_eq!((review.decided, review.notes.len(), review.rejected.len()), (1, 0, 1));
}

#[test]
fn a_made_file_goes_when_all_of_it_is_rejected() {
    let mut review = WorkspaceReview::default();
    review.edited(&change(None, Some("a\nb\n")), ChangedBy::Task);
    let decided = review.reject(PATH, &WantedHunks::Hunks(&all(&review, "a\nb\n")), "a\nb\n");
    assert!(decided.gone && review.files.is_empty());
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some("x\n"), Some("")), ChangedBy::Task);
    assert!(!review.reject(PATH, &WantedHunks::Hunks(&all(&review, "")), "").gone);
}

#[test]
fn an_undo_of_the_task_leaves_nothing_to_review() {
    let (before, after) = ("a\nb\n", "a\nB\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    review.edited(&change(Some(after), Some(before)), ChangedBy::Undo);
    assert!(review.files.is_empty(), "{review:?}");
}

#[test]
fn an_undo_beside_a_change_that_waits_leaves_that_change_as_it_was() {
    let (before, first, second) = ("path\n\nend\n", "json\npath\n\nend\n", "json\n\nend\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(first)), ChangedBy::Task);
    review.edited(&change(Some(first), Some(second)), ChangedBy::Task);
    review.edited(&change(Some(second), Some(first)), ChangedBy::Undo);
    let hunk = &shown(&review.files[PATH], first, &[]).hunks[0];
    assert_eq!((&hunk.removed, &hunk.added, hunk.conflict), (&vec![], &vec!["json".to_owned()], false));
    let again = review.clone();
    let text = review.reject(PATH, &WantedHunks::Hunks(&all(&review, first)), first).text.unwrap();
    assert_eq!(text, before);
    // The redo has both changes wait.
    let mut review = again;
    review.edited(&change(Some(first), Some(second)), ChangedBy::Redo);
    let hunk = &shown(&review.files[PATH], second, &[]).hunks[0];
    assert_eq!((&hunk.removed, &hunk.added), (&vec!["path".to_owned()], &vec!["json".to_owned()]));
}

#[test]
fn an_edit_that_was_undone_and_redone_in_the_editor_waits_again() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n");
    let mut review = WorkspaceReview::default();
    let one_undone = "A\nb\nc\nd\ne\n";
    review.edited(&change(Some(before), Some(one_undone)), ChangedBy::Task);
    review.edited(&change(Some(one_undone), Some(after)), ChangedBy::Task);
    review.typed(PATH, one_undone);
    assert_eq!(all(&review, one_undone).len(), 1);
    review.typed(PATH, after);
    assert_eq!(all(&review, after).len(), 2);
    // All of it.
    review.typed(PATH, before);
    assert!(review.files.is_empty() && review.retraceable().count() == 1, "{review:?}");
    review.typed(PATH, after);
    assert_eq!((all(&review, after).len(), review.redoable.len()), (2, 0));
}

#[test]
fn what_was_accepted_before_an_undo_comes_back_from_it_as_accepted() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    let first = all(&review, after)[0].clone();
    review.accept(PATH, &WantedHunks::Hunk(&first, None), after);
    review.edited(&change(Some(after), Some(before)), ChangedBy::Undo);
    assert!(review.files.is_empty(), "{review:?}");
    // Typed elsewhere in between.
    let (typed, again) = ("a\nb\nc\nd\ne\nf\n", "A\nb\nC\nd\nE\nf\n");
    review.edited(&change(Some(typed), Some(again)), ChangedBy::Redo);
    let waits: Vec<String> =
        shown(&review.files[PATH], again, &[]).hunks.iter().map(|hunk| hunk.added.concat()).collect();
    assert_eq!((waits, review.decided), (vec!["C".to_owned(), "E".to_owned()], 1));
    // All of it.
    review.accept(PATH, &WantedHunks::Hunks(&all(&review, again)), again);
    review.edited(&change(Some(again), Some(typed)), ChangedBy::Undo);
    review.edited(&change(Some(typed), Some(again)), ChangedBy::Redo);
    assert!(review.files.is_empty(), "{review:?}");
    // Nothing was accepted of the next edit.
    review.edited(&change(Some(again), Some(after)), ChangedBy::Task);
    review.edited(&change(Some(after), Some(again)), ChangedBy::Undo);
    review.edited(&change(Some(again), Some(after)), ChangedBy::Redo);
    assert_eq!(all(&review, after).len(), 1);
}

#[test]
fn only_decisions_of_this_review_are_counted() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    let mut review = WorkspaceReview::default();
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    // A step that is rolled back.
    let rolled_back = "A\nb\nC\nd\ne\n";
    review.edited(&change(Some(after), Some(rolled_back)), ChangedBy::Undo);
    assert_eq!((review.decided, all(&review, rolled_back).len()), (0, 2));
    let first = all(&review, rolled_back)[0].clone();
    let text = review.reject(PATH, &WantedHunks::Hunk(&first, None), rolled_back).text.unwrap();
    assert_eq!((text.as_str(), review.decided), ("a\nb\nC\nd\ne\n", 1));
    // `git checkout`, seen together with the edit of the next task.
    review.edited(&change(Some(before), Some(after)), ChangedBy::Task);
    assert_eq!((review.decided, all(&review, after).len()), (0, 3));
    review.accept(PATH, &WantedHunks::Hunks(&all(&review, after)[..1]), after);
    // A rejection of the review before is had back.
    assert!(review.bring_back(after).is_none());
    assert_eq!((review.decided, all(&review, after).len()), (1, 2));
}

#[derive(Clone, Debug)]
enum Act {
    Agent {
        at: usize,
        gone: usize,
        new: usize,
    },
    Type {
        at: usize,
        gone: usize,
        new: usize,
    },
    Accept {
        hunk: usize,
        part: Option<(usize, usize)>,
    },
    Reject {
        hunk: usize,
        part: Option<(usize, usize)>,
    },
    BringBack,
    UndoTyping,
    /// The editor's undo of the last rejection, with typing that is seen at the same time.
    UndoReject {
        typing: Option<(usize, usize, usize)>,
    },
    RedoReject,
    /// The editor's undo of the agent's last edit, and its redo.
    UndoAgent,
    RedoAgent,
    /// The user's undo of the agent's last edit by a command, and its redo.
    TakeBack,
    MakeAgain,
    Restart,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let edit = || (0..16_usize, 0..3_usize, 0..3_usize);
    let part = || proptest::option::of((0..3_usize, 1..3_usize));
    let act = prop_oneof![
        3 => edit().prop_map(|(at, gone, new)| Act::Agent { at, gone, new }),
        3 => edit().prop_map(|(at, gone, new)| Act::Type { at, gone, new }),
        2 => (0..6_usize, part()).prop_map(|(hunk, part)| Act::Accept { hunk, part }),
        2 => (0..6_usize, part()).prop_map(|(hunk, part)| Act::Reject { hunk, part }),
        1 => Just(Act::BringBack),
        1 => Just(Act::UndoTyping),
        2 => proptest::option::weighted(0.2, edit()).prop_map(|typing| Act::UndoReject { typing }),
        1 => Just(Act::RedoReject),
        1 => Just(Act::UndoAgent),
        1 => Just(Act::RedoAgent),
        1 => Just(Act::TakeBack),
        1 => Just(Act::MakeAgain),
        1 => Just(Act::Restart),
    ];
    proptest::collection::vec(act, 1..16)
}

/// What is known of a line apart from the review: whether the accepted text has it, and whether the buffer has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    accepted: bool,
    there: bool,
    typed: bool,
}

/// A user, an agent and their lines. Each line is written once and never again.
#[derive(Default)]
struct World {
    review: WorkspaceReview,
    buffer: Vec<String>,
    before_typing: Option<Vec<String>>,
    /// The rejections that the editor can undo, and those that it can redo.
    undoable: Vec<Rejection>,
    redoable: Vec<Rejection>,
    /// The agent's edits that can be undone, and those that can be redone.
    edits: Vec<AgentEdit>,
    undone_edits: Vec<AgentEdit>,
    /// Hunks that were accepted.
    accepted: usize,
    lines: BTreeMap<String, Known>,
    next: usize,
    /// True if the agent has edited beside typing that is kept apart: its lines may count as typed then.
    unsure: bool,
    /// True if a rejection was redone behind typing that was undone: lines that came back beside a removed one may stand
    /// before it or after it.
    loose: bool,
}

/// A rejection: the buffer before and after it, and the lines of the hunk.
#[derive(Clone)]
struct Rejection {
    with: Vec<String>,
    without: Vec<String>,
    olds: Vec<String>,
    news: Vec<String>,
}

/// An edit of the agent: the buffer before and after it, and what was known of its lines before it was undone.
#[derive(Clone, Default)]
struct AgentEdit {
    before: Vec<String>,
    after: Vec<String>,
    /// Its removed lines as they were known before it was made.
    then: Vec<(String, Known)>,
    known: Vec<(String, Known)>,
    /// The hunks that were accepted before it.
    accepted: usize,
    /// True if a command undid it. A command redoes such edits alone.
    taken_back: bool,
    /// True if the editor's undo leads back over a command first.
    is_behind_command: bool,
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn split(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

impl World {
    fn new() -> Self {
        let buffer: Vec<String> = (0..8).map(|line| format!("b{line}")).collect();
        let known = Known { accepted: true, there: true, typed: false };
        Self { lines: buffer.iter().map(|line| (line.clone(), known)).collect(), buffer, ..Self::default() }
    }

    fn text(&self) -> String {
        joined(&self.buffer)
    }

    fn conflicts(&self) -> bool {
        let now = self.text();
        self.review.files.values().any(|file| file.pending(&now).iter().any(|hunk| hunk.place.is_none()))
    }

    fn change(&mut self, (at, gone, new): (usize, usize, usize), typed: bool) {
        let at = at.min(self.buffer.len());
        let end = (at + gone).min(self.buffer.len());
        let fresh: Vec<String> = (0..new)
            .map(|_| {
                self.next += 1;
                format!("{}{}", if typed { "t" } else { "a" }, self.next)
            })
            .collect();
        for line in &fresh {
            self.lines.insert(line.clone(), Known { accepted: typed, there: true, typed });
        }
        for line in self.buffer.splice(at..end, fresh) {
            let known = self.lines.get_mut(&line).unwrap();
            known.there = false;
            known.accepted &= !typed;
        }
    }

    fn act(&mut self, act: &Act) {
        let before = self.text();
        match act {
            Act::Agent { at, gone, new } => {
                self.review.typed(PATH, &before);
                self.unsure |= self.conflicts();
                let (then, lines) = (self.buffer.clone(), self.lines.clone());
                self.change((*at, *gone, *new), false);
                let after = self.text();
                self.review.edited(&change(Some(&before), Some(&after)), ChangedBy::Task);
                self.undone_edits.clear();
                if then == self.buffer {
                    return self.holds();
                }
                let removed = then.iter().filter(|line| !self.buffer.contains(line));
                self.edits.push(AgentEdit {
                    then: removed.map(|line| (line.clone(), lines[line])).collect(),
                    before: then,
                    after: self.buffer.clone(),
                    accepted: self.accepted,
                    ..AgentEdit::default()
                });
            }
            Act::Type { at, gone, new } => {
                self.before_typing = Some(self.buffer.clone());
                self.change((*at, *gone, *new), true);
                // The review takes typing that makes the text of an undo or a redo for that.
                self.unsure |= self.edits.iter().any(|edit| edit.before == self.buffer)
                    || self.undone_edits.iter().any(|edit| edit.after == self.buffer);
                self.type_in();
            }
            Act::UndoAgent => self.undo_edit(None),
            Act::RedoAgent => self.redo_edit(None),
            Act::TakeBack => self.undo_edit(Some(ChangedBy::Undo)),
            Act::MakeAgain => self.redo_edit(Some(ChangedBy::Redo)),
            Act::UndoReject { typing } => self.undo_reject(*typing),
            Act::RedoReject => self.redo_reject(),
            Act::UndoTyping => {
                let Some(then) = self.before_typing.take() else { return };
                if self.conflicts() || then.iter().any(|line| !line.starts_with('b')) {
                    return;
                }
                for line in &self.buffer {
                    let known = self.lines.get_mut(line).unwrap();
                    (known.there, known.accepted) = (false, false);
                }
                for line in &then {
                    let known = self.lines.get_mut(line).unwrap();
                    (known.there, known.accepted) = (true, true);
                }
                self.buffer = then;
                self.unsure = true;
                let now = self.text();
                self.review.typed(PATH, &now);
            }
            Act::Accept { hunk, part } | Act::Reject { hunk, part } => {
                self.review.typed(PATH, &before);
                self.decide(matches!(act, Act::Accept { .. }), *hunk, *part);
            }
            Act::BringBack => self.bring_back(),
            Act::Restart => {
                let stored = serde_json::to_string(&self.review).unwrap();
                self.review = serde_json::from_str(&stored).unwrap();
                // The editor has no undo from here.
                (self.edits, self.undone_edits) = (vec![], vec![]);
            }
        }
        self.holds();
    }

    fn decide(&mut self, accepts: bool, hunk: usize, part: Option<(usize, usize)>) {
        let now = self.text();
        let Some(file) = self.review.files.get(PATH) else { return };
        let pending = file.pending(&now);
        let Some(meant) = pending.get(hunk % pending.len().max(1)) else { return };
        let name = names(file, &pending)[hunk % pending.len()].clone();
        let (old, new) = (split(&file.baseline[meant.old.clone()]), split(&file.agent[meant.new.clone()]));
        let placed = meant.place.is_some();
        let lines = part.filter(|_| !new.is_empty()).map(|(first, count)| first..first + count);
        let chosen = |index: usize| lines.as_ref().is_none_or(|lines| lines.contains(&index));
        let first = lines.as_ref().is_none_or(|lines| lines.contains(&0));
        let news: Vec<String> =
            new.iter().enumerate().filter(|(at, _)| chosen(*at)).map(|(_, line)| line.clone()).collect();
        let paired = old.len() == new.len();
        let olds: Vec<String> = old
            .iter()
            .enumerate()
            .filter(|(at, _)| if paired { chosen(*at) } else { first })
            .map(|(_, line)| line.clone())
            .collect();
        let is_part = lines.is_some();
        let wanted = WantedHunks::Hunk(&name, lines);
        if accepts {
            let decided = self.review.accept(PATH, &wanted, &now);
            assert_eq!(decided.conflicts, usize::from(!placed && is_part), "a part without a place stays");
            if decided.conflicts > 0 {
                return;
            }
            self.accepted += 1;
            for line in news.iter().chain(&olds) {
                let known = self.lines.get_mut(line).unwrap();
                known.accepted = known.there;
            }
        } else {
            let decided = self.review.reject(PATH, &wanted, &now);
            assert_eq!(decided.conflicts, usize::from(!placed), "a hunk without a place stays");
            let Some(text) = decided.text else { return };
            news.iter().for_each(|line| self.lines.get_mut(line).unwrap().there = false);
            olds.iter().for_each(|line| self.lines.get_mut(line).unwrap().there = true);
            let with = std::mem::replace(&mut self.buffer, split(&text));
            self.undone_edits.clear();
            self.undoable.push(Rejection { with, without: self.buffer.clone(), olds, news });
            self.redoable.clear();
        }
    }

    /// Shows the review what was typed. Who removes the lines again that a rejection gave back takes it back.
    fn type_in(&mut self) {
        let (now, rejected) = (self.text(), self.review.rejected.clone());
        self.review.typed(PATH, &now);
        for back in rejected.iter().filter(|one| !self.review.rejected.contains(one)) {
            for line in split(&back.without).iter().filter(|line| !split(&back.with).contains(line)) {
                self.lines.get_mut(line).unwrap().accepted = true;
            }
        }
    }

    fn undo_reject(&mut self, typing: Option<(usize, usize, usize)>) {
        let Some(last) = self.undoable.pop_if(|last| last.without == self.buffer) else { return };
        let (known, conflicts) = (self.review.rejected.len(), self.conflicts());
        last.news.iter().for_each(|line| self.lines.get_mut(line).unwrap().there = true);
        last.olds.iter().for_each(|line| self.lines.get_mut(line).unwrap().there = false);
        self.buffer.clone_from(&last.with);
        if let Some(edit) = typing {
            self.change(edit, true);
            // It may have touched the hunk.
            self.unsure = true;
        }
        let now = self.text();
        self.review.typed(PATH, &now);
        if typing.is_none() && !conflicts && !self.unsure {
            assert_eq!(self.review.rejected.len() + 1, known, "the rejection is taken back");
            assert!(!self.review.files[PATH].pending(&now).is_empty(), "its hunk waits again");
        }
        self.redoable.push(last);
    }

    fn redo_reject(&mut self) {
        let Some(last) = self.redoable.pop_if(|last| last.with == self.buffer) else { return };
        self.loose |= self.unsure;
        // It may make the text before an edit, as an undo does.
        self.unsure |= self.edits.iter().any(|edit| edit.before == last.without);
        for (lines, there) in [(&last.news, false), (&last.olds, true)] {
            for line in lines {
                let known = self.lines.get_mut(line).unwrap();
                (known.there, known.accepted) = (there, there);
            }
        }
        self.buffer.clone_from(&last.without);
        let (now, known) = (self.text(), self.review.rejected.len());
        self.review.typed(PATH, &now);
        // After another decision in between, the redo is typing.
        if self.review.rejected.len() > known {
            self.undoable.push(last);
        }
    }

    /// Undoes the agent's last edit: in the editor, or by a command.
    fn undo_edit(&mut self, by: Option<ChangedBy>) {
        let fits = |last: &mut AgentEdit| last.after == self.buffer && (!last.is_behind_command || by.is_some());
        let Some(mut last) = self.edits.pop_if(fits) else { return };
        let lines = || {
            last.before.iter().chain(&last.after).filter(|line| last.before.contains(line) != last.after.contains(line))
        };
        let known = lines().map(|line| (line.clone(), self.lines[line])).collect();
        // A decision in between is not undone: its lines are the user's by then.
        self.unsure |= last.accepted < self.accepted;
        // The redo of a rejection may lead to the same text.
        self.unsure |= self.redoable.iter().any(|one| one.without == last.before);
        // A key of the editor is not looked for in a file without a change that waits.
        self.unsure |= by.is_none() && !self.review.files.contains_key(PATH);
        for line in last.after.iter().filter(|line| !last.before.contains(line)) {
            let known = self.lines.get_mut(line).unwrap();
            (known.there, known.accepted) = (false, false);
        }
        for (line, known) in &last.then {
            self.lines.insert(line.clone(), *known);
        }
        (last.known, last.taken_back) = (known, by.is_some());
        if by.is_some() {
            // The editor's undo leads back over the command first.
            self.undoable.clear();
            self.edits.iter_mut().for_each(|edit| edit.is_behind_command = true);
        }
        self.show(&last.before.clone(), by);
        self.undone_edits.push(last);
    }

    fn redo_edit(&mut self, by: Option<ChangedBy>) {
        let fits = |last: &mut AgentEdit| last.before == self.buffer && (last.taken_back || by.is_none());
        let Some(last) = self.undone_edits.pop_if(fits) else { return };
        self.unsure |= last.accepted < self.accepted;
        for (line, known) in &last.known {
            self.lines.insert(line.clone(), *known);
        }
        self.show(&last.after.clone(), by);
        self.edits.push(last);
    }

    /// Gives the buffer a text that an undo or a redo of an agent's edit leads to.
    fn show(&mut self, text: &[String], by: Option<ChangedBy>) {
        let before = self.text();
        self.buffer = text.to_vec();
        let now = self.text();
        match by {
            Some(by) => self.review.edited(&change(Some(&before), Some(&now)), by),
            None => self.review.typed(PATH, &now),
        }
    }

    fn bring_back(&mut self) {
        let now = self.text();
        let Some((_, text)) = self.review.bring_back(&now) else { return };
        // The editor's undo removes the lines again from here, as a redo of the rejection does.
        self.redoable.extend(self.undoable.pop());
        let (then, back) = (self.buffer.clone(), split(&text));
        for line in &then {
            self.lines.get_mut(line).unwrap().there = back.contains(line);
        }
        for line in &back {
            self.lines.get_mut(line).unwrap().there = true;
        }
        self.buffer = back;
    }

    /// The buffer is the accepted lines and those that wait, each where it was put, and all that was typed is there.
    fn holds(&self) {
        for (line, known) in &self.lines {
            let found = self.buffer.iter().filter(|there| *there == line).count();
            assert_eq!(found, usize::from(known.there), "{line} {known:?}");
        }
        let now = self.text();
        let Some(file) = self.review.files.get(PATH) else {
            let gone = self.lines.iter().find(|(_, known)| known.there != known.accepted && !self.unsure);
            assert_eq!(gone, None, "all is decided");
            return;
        };
        let in_order = |text: &str, other: &str| -> Vec<String> {
            let others = split(other);
            split(text).into_iter().filter(|line| others.contains(line)).collect()
        };
        if !self.loose {
            assert_eq!(in_order(&file.baseline, &now), in_order(&now, &file.baseline), "the order of lines");
        }
        if self.conflicts() {
            return;
        }
        let accepted = split(&file.baseline);
        for (line, known) in self.lines.iter().filter(|_| !self.unsure) {
            assert_eq!(accepted.contains(line), known.accepted, "{line} {known:?} {accepted:?}");
        }
        let mut all = file.clone();
        let picks: Vec<HunkPick> = (0..file.pending(&now).len()).map(whole).collect();
        let (text, left) = all.reject(&picks, &now);
        assert_eq!((text.as_str(), left.len()), (&*file.baseline, 0));
        for (line, known) in self.lines.iter().filter(|(_, known)| known.typed && known.there) {
            assert!(split(&text).contains(line), "typed {line} {known:?} is lost");
        }
    }
}

#[test]
fn typing_between_agent_lines_is_the_users_once_the_agent_removes_one_of_them() {
    let mut world = World::new();
    world.act(&Act::Agent { at: 1, gone: 0, new: 2 });
    world.act(&Act::Type { at: 2, gone: 0, new: 1 });
    world.act(&Act::Agent { at: 1, gone: 1, new: 0 });
    assert!(world.review.files[PATH].baseline.contains("t3"), "{:?}", world.review.files[PATH]);
}

#[test]
fn a_rejection_that_an_undo_beside_typing_brought_back_in_part_is_not_brought_back_twice() {
    let mut world = World::new();
    world.act(&Act::Agent { at: 8, gone: 0, new: 2 });
    world.act(&Act::Agent { at: 10, gone: 0, new: 2 });
    world.act(&Act::Reject { hunk: 0, part: None });
    world.act(&Act::UndoReject { typing: Some((7, 2, 0)) });
    world.act(&Act::BringBack);
}

#[test]
fn a_part_of_a_hunk_whose_lines_came_back_is_not_accepted_out_of_order() {
    let mut world = World::new();
    world.act(&Act::Type { at: 8, gone: 0, new: 1 });
    world.act(&Act::Agent { at: 7, gone: 2, new: 0 });
    world.act(&Act::UndoTyping);
    world.act(&Act::Agent { at: 5, gone: 2, new: 2 });
    world.act(&Act::Agent { at: 3, gone: 2, new: 1 });
    world.act(&Act::Accept { hunk: 0, part: Some((1, 1)) });
}

#[test]
fn lines_of_the_agent_that_stand_beside_a_part_that_was_undone_by_hand_still_wait() {
    let mut world = World::new();
    world.act(&Act::Type { at: 0, gone: 2, new: 1 });
    world.act(&Act::Agent { at: 7, gone: 0, new: 1 });
    world.act(&Act::Type { at: 8, gone: 0, new: 1 });
    world.act(&Act::Agent { at: 0, gone: 2, new: 2 });
    world.act(&Act::Agent { at: 8, gone: 1, new: 2 });
    world.act(&Act::Reject { hunk: 1, part: Some((0, 1)) });
    world.act(&Act::UndoReject { typing: None });
    world.act(&Act::Accept { hunk: 0, part: None });
    world.act(&Act::RedoReject);
}

#[test]
fn a_redo_that_comes_with_typing_in_its_place_keeps_the_order_of_lines() {
    let mut world = World::new();
    world.act(&Act::Type { at: 3, gone: 1, new: 0 });
    world.act(&Act::Agent { at: 3, gone: 1, new: 0 });
    world.act(&Act::Reject { hunk: 0, part: None });
    world.act(&Act::UndoReject { typing: None });
    world.act(&Act::UndoTyping);
}

#[test]
fn a_redo_beside_typing_that_is_kept_apart_keeps_the_order_of_lines() {
    let mut world = World::new();
    world.act(&Act::Agent { at: 6, gone: 1, new: 0 });
    world.act(&Act::Agent { at: 4, gone: 1, new: 2 });
    world.act(&Act::Type { at: 5, gone: 2, new: 0 });
    world.act(&Act::Reject { hunk: 1, part: None });
    world.act(&Act::UndoReject { typing: None });
    world.act(&Act::RedoReject);
}

#[test]
fn a_text_that_typing_and_a_later_rejection_made_is_not_an_undo_of_an_earlier_one() {
    let mut world = World::new();
    world.act(&Act::Agent { at: 2, gone: 1, new: 0 });
    world.act(&Act::Reject { hunk: 0, part: None });
    world.act(&Act::Agent { at: 3, gone: 0, new: 1 });
    world.act(&Act::Type { at: 2, gone: 1, new: 0 });
    world.act(&Act::Reject { hunk: 0, part: None });
    world.act(&Act::Reject { hunk: 0, part: None });
}

#[test]
fn an_undo_behind_an_acceptance_of_several_edits_gives_typed_lines_back_to_the_user() {
    let mut world = World::new();
    world.act(&Act::Type { at: 8, gone: 0, new: 1 });
    world.act(&Act::Agent { at: 5, gone: 2, new: 1 });
    world.act(&Act::Agent { at: 8, gone: 0, new: 1 });
    world.act(&Act::Agent { at: 6, gone: 2, new: 0 });
    world.act(&Act::Accept { hunk: 0, part: None });
    world.act(&Act::TakeBack);
}

#[test]
fn a_rejection_that_the_user_made_again_by_typing_is_not_redone() {
    let mut world = World::new();
    world.act(&Act::Agent { at: 5, gone: 0, new: 2 });
    world.act(&Act::Reject { hunk: 0, part: None });
    world.act(&Act::Agent { at: 8, gone: 0, new: 1 });
    world.act(&Act::BringBack);
    world.act(&Act::Type { at: 5, gone: 2, new: 0 });
    world.act(&Act::Type { at: 8, gone: 1, new: 0 });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_buffer_is_always_the_baseline_with_what_was_accepted_and_typed(acts in acts()) {
        let mut world = World::new();
        for act in &acts {
            world.act(act);
        }
    }
}
