//! Shows the agent's changes that wait for the user, and carries out the user's decisions on them.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::durable::{open_store, stored_review};
use crate::edit::apply_edits::{Place, apply};
use crate::edit::{recover, review_texts};
use crate::editor::event::QuickfixEntry;
use crate::editor::{Document, FileEdit};
use crate::memory::{self, mode_of};
use crate::plan::work_mode::Mode;
use crate::run::finish;
use crate::state::edit_service::EditService;
use crate::state::request::Request;
use crate::state::review::review_hunk::{ReviewHunk, ReviewedFile, shown};
use crate::state::review::workspace_review::{Decided, ReviewNote, WantedHunks, WorkspaceReview};
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::clock::now_ms;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_store::memory::entry::{Kind, NewEntry};

/// The words of the request that hands the user's review to the agent.
const HANDED_OVER: &str = "take my review of your changes into account";

/// A look at the review, or a decision of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewRequest {
    pub action: ReviewAction,
    pub scope: ReviewScope,
    /// The reason of a rejection, or the text of a note.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewAction {
    #[default]
    Show,
    Accept,
    Reject,
    /// Takes the last decision back: what was accepted waits again, and a rejected text is in its place again.
    BringBack,
    /// Keeps a remark for the agent.
    Note,
}

/// The hunks that a decision is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewScope {
    #[default]
    All,
    File(String),
    Symbol {
        path: String,
        symbol: String,
    },
    /// One hunk, and the chosen lines of it, counted from its first one.
    Hunk {
        path: String,
        id: String,
        #[serde(default)]
        lines: Option<Range<usize>>,
    },
}

impl ReviewScope {
    /// The files that it is about.
    pub(crate) fn files(&self, now: &ReviewState) -> Vec<String> {
        match self {
            Self::All => now.files.iter().map(|file| file.path.clone()).collect(),
            Self::File(path) | Self::Symbol { path, .. } | Self::Hunk { path, .. } => vec![path.clone()],
        }
    }
}

/// The review as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewState {
    pub files: Vec<ReviewedFile>,
    /// Hunks that the user decided in this review, and those with the ones that wait.
    pub reviewed: usize,
    pub total: usize,
    /// Rejections that can be had back, and undone edits of the agent that can be redone.
    pub rejected: usize,
    pub undone: usize,
    /// The remarks that the agent has not heard.
    pub notes: Vec<ReviewNote>,
    /// What a decision did; empty after a look.
    pub summary: String,
}

/// Shows the review, or carries out a decision. Nothing changes where the editor refuses the edit.
///
/// # Errors
/// The hunk is not there any more, its lines were changed since, or the editor refuses the edit.
pub(crate) async fn review(service: &EditService, mode: Mode, wish: &ReviewRequest) -> Result<ReviewState, Failure> {
    stored_review::load(&service.store).await;
    let _turn = service.store.review.turn.lock().await;
    let texts = review_texts::texts(service).await?;
    let before = state(service, &texts).await;
    let summary = match wish.action {
        ReviewAction::Show => String::new(),
        ReviewAction::Accept => accept(service, &texts, &before, &wish.scope)?,
        ReviewAction::Reject => reject(service, mode, &texts, &before, wish).await?,
        ReviewAction::BringBack => bring_back(service).await?,
        ReviewAction::Note => note(service, &before, wish)?,
    };
    stored_review::save(&service.store.review).await;
    let texts = review_texts::texts(service).await?;
    Ok(ReviewState { summary, ..state(service, &texts).await })
}

/// The request that hands the review to the agent, about the places of its remarks.
///
/// # Errors
/// No remark waits, or the model reads none.
pub(crate) async fn hand_over(service: &EditService) -> Result<Request, Failure> {
    review_texts::take_in(service).await;
    let notes = service.store.review.now().notes;
    let Some(first) = notes.first() else {
        return Err(Failure::user(
            "the agent has heard all of the review",
            "reject a change with a reason, or add a note",
        ));
    };
    if service.hub.needs_providers {
        let (count, wait) = (notes.len(), if notes.len() == 1 { "waits" } else { "wait" });
        let message = format!("the offline model reads no remarks: {count} {wait} for a language model");
        return Err(Failure::user(message, HintCode::Models));
    }
    let mut symbols = Vec::new();
    for note in &notes {
        symbols.push(standing(&service.workspace, &note.place).await);
    }
    symbols.sort();
    symbols.dedup();
    let path =
        first.place.split("::").next().map(|path| service.workspace.root.path().join(path).display().to_string());
    Ok(Request { text: HANDED_OVER.to_owned(), path, symbols, ..Request::default() })
}

/// The innermost place around a remark that is there: a deleted method has only its class left.
async fn standing(workspace: &Workspace, place: &str) -> String {
    let mut place = place;
    while target::full_path(workspace, place).await.is_err() {
        let Some((outer, _)) = place.rsplit_once("::") else { break };
        place = outer;
    }
    place.to_owned()
}

fn text_of<'a>(texts: &'a [Document], path: &str) -> &'a str {
    texts.iter().find(|document| document.path == path).map_or("", |document| &*document.text)
}

async fn state(service: &EditService, texts: &[Document]) -> ReviewState {
    let introduced = finish::introduced_by_now(service).await;
    let review = service.store.review.now();
    let file = |path: &String| -> Vec<QuickfixEntry> {
        introduced.iter().filter(|entry| entry.path == *path).cloned().collect()
    };
    let files: Vec<ReviewedFile> = review
        .files
        .iter()
        .map(|(path, known)| shown(known, text_of(texts, path), &file(path)))
        .filter(|file| !file.hunks.is_empty())
        .collect();
    let waiting: usize = files.iter().map(|file| file.hunks.len()).sum();
    let (reviewed, rejected, undone) = (review.decided, review.rejected.len(), review.redoable.len());
    let (total, notes) = (reviewed + waiting, review.notes);
    ReviewState { files, reviewed, total, rejected, undone, notes, summary: String::new() }
}

/// The hunks of a scope, by file.
fn meant<'a>(now: &'a ReviewState, scope: &ReviewScope) -> Result<Vec<(&'a str, Vec<&'a ReviewHunk>)>, Failure> {
    let holds = |path: &str, hunk: &ReviewHunk| match scope {
        ReviewScope::All => true,
        ReviewScope::File(wanted) => path == wanted,
        ReviewScope::Symbol { path: wanted, symbol } => path == wanted && hunk.symbol == *symbol,
        ReviewScope::Hunk { path: wanted, id, .. } => path == wanted && hunk.id == *id,
    };
    let files = now
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.hunks.iter().filter(|hunk| holds(&file.path, hunk)).collect::<Vec<_>>()));
    let found: Vec<(&str, Vec<&ReviewHunk>)> = files.filter(|(_, hunks)| !hunks.is_empty()).collect();
    if found.is_empty() {
        let message = if now.files.is_empty() {
            "no change waits for review"
        } else {
            "this change does not wait for review any more"
        };
        return Err(Failure::user(message, ""));
    }
    Ok(found)
}

fn lines_of(scope: &ReviewScope) -> Option<Range<usize>> {
    if let ReviewScope::Hunk { lines, .. } = scope { lines.clone() } else { None }
}

fn accept(
    service: &EditService,
    texts: &[Document],
    now: &ReviewState,
    scope: &ReviewScope,
) -> Result<String, Failure> {
    let meant = meant(now, scope)?;
    let names: Vec<(String, Vec<String>)> = named(&meant);
    let accept_all = |review: &mut WorkspaceReview| -> usize {
        let before = review.accepted.len();
        let accepted =
            names.iter().map(|(path, ids)| review.accept(path, &wanted(ids, lines_of(scope)), text_of(texts, path)));
        let conflicts: usize = accepted.map(|decided| decided.conflicts).sum();
        review.join_accepted(before);
        conflicts
    };
    if service.store.review.change(accept_all) > 0 {
        let message = format!("nothing was accepted: {} was edited since", what(&meant, scope));
        return Err(Failure::user(message, "accept the whole change"));
    }
    Ok(format!("accepted {}", what(&meant, scope)))
}

fn named(meant: &[(&str, Vec<&ReviewHunk>)]) -> Vec<(String, Vec<String>)> {
    let ids = |hunks: &[&ReviewHunk]| hunks.iter().map(|hunk| hunk.id.clone()).collect();
    meant.iter().map(|(path, hunks)| ((*path).to_owned(), ids(hunks))).collect()
}

fn wanted(ids: &[String], lines: Option<Range<usize>>) -> WantedHunks<'_> {
    match (ids, lines) {
        ([id], lines) => WantedHunks::Hunk(id, lines),
        (ids, _) => WantedHunks::Hunks(ids),
    }
}

/// The subject of a decision in words: `2 changes of cart.py`, `3 changes in 2 files`.
fn what(meant: &[(&str, Vec<&ReviewHunk>)], scope: &ReviewScope) -> String {
    let hunks: usize = meant.iter().map(|(_, hunks)| hunks.len()).sum();
    let part = if lines_of(scope).is_some() { "a part of " } else { "" };
    match meant {
        [(path, hunks)] if hunks.len() == 1 && !hunks[0].symbol.is_empty() => {
            // Where a narrow line has no room for the path, the quotes show that the rest is a name.
            format!("{part}the change of `{path}::{}`", hunks[0].symbol)
        }
        [(path, _)] => format!("{part}{} of {path}", counted(hunks, "change")),
        _ => format!("{} in {}", counted(hunks, "change"), counted(meant.len(), "file")),
    }
}

async fn reject(
    service: &EditService,
    mode: Mode,
    texts: &[Document],
    now: &ReviewState,
    wish: &ReviewRequest,
) -> Result<String, Failure> {
    let meant = meant(now, &wish.scope)?;
    // Typing that comes in between is found by the versions of the edits.
    let mut after: WorkspaceReview = service.store.review.now();
    let (mut edits, mut conflicts, mut rejected) = (Vec::new(), 0, Vec::new());
    for (path, ids) in named(&meant) {
        let Some(document) = texts.iter().find(|document| document.path == path) else { continue };
        let decided = after.reject(&path, &wanted(&ids, lines_of(&wish.scope)), &document.text);
        conflicts += decided.conflicts;
        if decided.text.is_some() {
            rejected.push(path.clone());
        }
        edits.extend(edit_for(document, &decided));
    }
    if edits.is_empty() {
        let message = format!("nothing was rejected: {} was edited since", what(&meant, &wish.scope));
        return Err(Failure::user(message, "accept it, or change it by hand"));
    }
    make(service, &edits, after).await?;
    for (path, hunks) in meant.iter().filter(|(path, _)| rejected.iter().any(|known| known == path)) {
        for hunk in hunks.iter().filter(|hunk| !hunk.conflict) {
            let note = note_of_rejection(path, hunk, lines_of(&wish.scope), &wish.reason);
            service.store.review.change(|review| review.note_rejected(path, note));
        }
    }
    let what = what(&meant, &wish.scope);
    feedback(service, mode, &format!("The user rejected {what}"), &wish.reason).await;
    let left =
        if conflicts == 0 { String::new() } else { format!("; {} left, edited since", counted(conflicts, "change")) };
    Ok(format!("rejected {what}{left}"))
}

fn edit_for(document: &Document, decided: &Decided) -> Option<FileEdit> {
    let text = decided.text.as_deref()?;
    recover::edit_to(&document.path, Some(document), (!decided.gone).then_some(text))
}

/// Has the editor make the edits of a decision; the review follows if it did.
pub(crate) async fn make(service: &EditService, edits: &[FileEdit], after: WorkspaceReview) -> Result<(), Failure> {
    let _edits = service.making.turn.lock().await;
    let durable = open_store::durable(&service.store).await;
    let at = Place::of(&service.workspace, &service.making, durable.as_deref());
    let applied = apply(&at, service.workspace.config.save, edits).await?;
    service.store.review.change(|review| {
        *review = after;
        for done in &applied {
            if let Some(document) = &done.document {
                review.typed(&done.path, &document.text);
            }
        }
    });
    Ok(())
}

/// Takes the last acceptance back; `None` where the last decision is a rejection.
async fn reopen(service: &EditService) -> Result<Option<String>, Failure> {
    let review = service.store.review.now();
    let Some(last) = review.accepted.last().filter(|_| review.accepted_last()) else { return Ok(None) };
    let mut texts = BTreeMap::new();
    for file in last {
        if let Some(document) = recover::look_at(&service.workspace, &file.path).await? {
            texts.insert(file.path.clone(), document.text.to_string());
        }
    }
    let hunks = service.store.review.change(|review| review.reopen(&texts));
    Ok(Some(format!("acceptance taken back: {}", counted(hunks, "change"))))
}

async fn bring_back(service: &EditService) -> Result<String, Failure> {
    if let Some(summary) = reopen(service).await? {
        return Ok(summary);
    }
    let mut after = service.store.review.now();
    let Some(last) = after.rejected.last().cloned() else {
        return Err(Failure::user("there is no decision to take back", ""));
    };
    let document = recover::look_at(&service.workspace, &last.path).await?;
    let now = document.as_ref().map_or("", |document| &*document.text);
    let Some((path, text)) = after.bring_back(now) else {
        let message = format!("nothing was brought back: {} was edited since, in the same place", last.path);
        return Err(Failure::user(message, ""));
    };
    let edits: Vec<FileEdit> = recover::edit_to(&path, document.as_ref(), Some(&text)).into_iter().collect();
    make(service, &edits, after).await?;
    Ok(format!("rejected text is back in {path}"))
}

fn note(service: &EditService, now: &ReviewState, wish: &ReviewRequest) -> Result<String, Failure> {
    if wish.reason.trim().is_empty() {
        return Err(Failure::user("the note is empty", ""));
    }
    let meant = meant(now, &wish.scope)?;
    for (path, hunks) in &meant {
        for hunk in hunks.iter().take(1) {
            let note = note_of(path, hunk, &wish.reason);
            service.store.review.change(|review| review.note(note));
        }
    }
    Ok("noted for the agent".to_owned())
}

/// Most diagnostics of a rejected change that the agent reads.
const REPORTED: usize = 4;

fn note_of(path: &str, hunk: &ReviewHunk, reason: &str) -> ReviewNote {
    let place = if hunk.symbol.is_empty() { path.to_owned() } else { format!("{path}::{}", hunk.symbol) };
    let code = if hunk.added.is_empty() { &hunk.removed } else { &hunk.added };
    ReviewNote { place, code: code.join("\n"), reason: headline(reason), ..ReviewNote::default() }
}

/// The remark about a rejected change, or about chosen lines of it, with the diagnostics that stood there.
fn note_of_rejection(path: &str, hunk: &ReviewHunk, lines: Option<Range<usize>>, reason: &str) -> ReviewNote {
    let chosen = lines.as_ref().and_then(|lines| hunk.added.get(lines.start..lines.end.min(hunk.added.len())));
    let is_there = |line: u32| {
        let at = (line as usize).checked_sub(hunk.line + 1);
        lines.as_ref().is_none_or(|lines| at.is_some_and(|at| lines.contains(&at)))
    };
    let there = hunk.diagnostics.iter().filter(|entry| is_there(entry.line));
    let reported = there.take(REPORTED).map(|entry| headline(&entry.text)).collect();
    let note = note_of(path, hunk, reason);
    let code = chosen.map_or(note.code, |lines| lines.join("\n"));
    ReviewNote { rejected: true, part: lines.is_some(), code, reported, ..note }
}

async fn feedback(service: &EditService, mode: Mode, what: &str, reason: &str) {
    let Some(remember) = memory::remember(&service.store).await else { return };
    let why = if reason.is_empty() { String::new() } else { format!(": {}", headline(reason)) };
    let (name, mode) = (remember.session.clone(), mode_of(mode));
    let entry = NewEntry::new(name, mode, Kind::UserFeedback, format!("{what}{why}."), now_ms());
    if let Err(error) = remember.run(move |memory| memory.append(entry)).await {
        tracing::warn!(%error, "what the user rejected could not be kept");
    }
}
