//! Tries one piece of code: asks, checks, asks again with the problems, and keeps the best text or none.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::diagnostics::collect_diagnostics;
use crate::durable;
use crate::edit::rollback;
use crate::editor::event::Event;
use crate::plan::plan_progress::PlanProgress;
use crate::run::compact_loop::choose::CompactTarget;
use crate::run::compact_loop::code_excerpt::{self, ShownPiece};
use crate::run::compact_loop::compact_judgement::{self, TryVerdict};
use crate::run::compact_loop::take::{self, AskedPiece, TakenText};
use crate::run::compact_loop::{ask_model, given_up};
use crate::run::run_loop::RESULTS;
use crate::run::run_tool_call;
use crate::state::edit_service::EditService;
use crate::state::snapshots::Snapshots;
use crate::state::task::{Task, TaskWork};
use crate::state::{stop, unusable_reply};
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_diagnostics::syntax;
use sextant_model::chat::ChatReply;
use sextant_model::compact_reply::CompactFault;
use sextant_model::step::{Action, Model};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// How many times the model is asked again.
const AGAIN: u32 = 2;
/// How many times it is asked again where it only returns the text that it was given.
const AGAIN_UNCHANGED: u32 = 1;

/// Outcome of one piece.
pub(super) enum TargetEnd {
    Changed,
    /// Its tries are used up, with the reason in words.
    Unsolved(String),
    OutOfSteps,
}

/// A text that was tried, and its effect.
struct TriedText {
    taken: TakenText,
    verdict: TryVerdict,
}

/// The state of the tries of one piece.
struct Course {
    mark: usize,
    before: Snapshots,
    best: Option<TriedText>,
    fault: Option<CompactFault>,
    unchanged: u32,
    tries: u32,
    /// True if the model gave the same text twice: it would do so again.
    repeats: bool,
}

pub(super) async fn tried(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    target: &CompactTarget,
    cancel: &CancellationToken,
) -> Result<TargetEnd, Failure> {
    let mark = task.work.journal.checkpoints.len();
    let before = collect_diagnostics::known(&edits.hub).await;
    let mut course = Course { mark, before, best: None, fault: None, unchanged: 0, tries: 0, repeats: false };
    while course.tries <= AGAIN && course.unchanged <= AGAIN_UNCHANGED && !course.repeats {
        let piece =
            stop::unless_stopped(&edits.making, cancel, shown(edits, &mut task.work, &task.progress.course, target))
                .await??;
        let prompt = match &course.fault {
            None => piece.facts.first(),
            Some(fault) => piece.facts.again(fault),
        };
        edits.hub.events.show(Event::Progress { text: progress(target, course.tries) });
        let Some(reply) = ask_model(&edits.store, model, &mut task.work, &prompt, &|_| {}, cancel).await? else {
            return Ok(TargetEnd::OutOfSteps);
        };
        course.tries += 1;
        match attempt(edits, model, task, &piece, &reply, &mut course, cancel).await? {
            Ok(()) => return Ok(TargetEnd::Changed),
            Err(fault) => {
                let about = format!("try {} of {target}", course.tries);
                let why = headline(&fault.problems.join("; "));
                task.work.events.trace(task.work.step, Trace::new(Effect::Refused, about, "compact", why));
                let before = course.fault.take();
                course.repeats =
                    before.as_ref().is_some_and(|before| before.text.is_some() && before.text == fault.text);
                course.fault = Some(onward(before, fault));
            }
        }
    }
    settle(edits, model, task, target, course, cancel).await
}

fn progress(target: &CompactTarget, tries: u32) -> String {
    if tries == 0 { format!("asking for {target}") } else { format!("asking for {target} again") }
}

/// The fault for the next question: an earlier text, where later replies held no usable text.
fn onward(before: Option<CompactFault>, fault: CompactFault) -> CompactFault {
    match before.filter(|before| before.text.is_some()) {
        Some(before) if fault.text.is_none() && !fault.unchanged => CompactFault { unread: fault.problems, ..before },
        _ => fault,
    }
}

/// Takes a reply as the new text and checks it. A text that is not good enough is taken back at once. The user does not
/// see it while the model thinks.
async fn attempt(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    piece: &ShownPiece,
    reply: &ChatReply,
    course: &mut Course,
    cancel: &CancellationToken,
) -> Result<Result<(), CompactFault>, Failure> {
    let asked = asked(&task.work.request, piece);
    let taken = match take::take(asked, &reply.text, reply.cut) {
        Ok(taken) => taken,
        Err(fault) => {
            let problem = headline(&fault.problems.join("; "));
            unusable_reply::keep(&task.work.events, task.work.step, model.name(), &problem, &reply.text);
            course.unchanged += u32::from(fault.unchanged);
            return Ok(Err(fault));
        }
    };
    if let Some(fault) = breaks_syntax(asked, piece, &taken) {
        return Ok(Err(fault));
    }
    if let Err(problem) = put(edits, model, task, piece, &taken).await {
        let fault = CompactFault { text: Some(taken.content.clone()), ..take::unread(&problem) };
        return if cancel.is_cancelled() { Err(Failure::cancelled()) } else { Ok(Err(fault)) };
    }
    let verdict = compact_judgement::judge(edits, model, task, &course.before, piece, cancel).await?;
    if verdict.problems.is_empty() {
        remark(&mut task.work, target_name(piece), &taken);
        return Ok(Ok(()));
    }
    // The model goes on from the text that the reports are about.
    let text = if verdict.has_offered_fix {
        code_excerpt::source_now(&edits.workspace, &piece.path, &piece.names).await
    } else {
        None
    };
    let text = Some(text.unwrap_or_else(|| taken.content.clone()));
    let problems = verdict.problems.clone();
    take_back(edits, &mut task.work, course).await?;
    durable::keep_call(&edits.store, task).await;
    let better = course.best.as_ref().is_none_or(|best| verdict.score() < best.verdict.score());
    if better {
        course.best = Some(TriedText { taken, verdict });
    }
    Ok(Err(CompactFault { text, problems, ..CompactFault::default() }))
}

/// Notes for the summary what a reply had lost and the text has again.
fn remark(work: &mut TaskWork, piece: &str, taken: &TakenText) {
    if !taken.kept.is_empty() {
        let words = taken.kept.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        work.summary_notes.push(format!("{words} of {piece} stays, which the reply left out"));
    }
}

fn target_name(piece: &ShownPiece) -> &str {
    if piece.names.is_empty() { &piece.path } else { &piece.names }
}

fn asked<'t>(request: &'t str, piece: &'t ShownPiece) -> AskedPiece<'t> {
    AskedPiece {
        text: piece.document.as_ref().map_or("", |document| &*document.text),
        language: language::of_path(&piece.path),
        names: &piece.names,
        request,
    }
}

/// Ends the used-up tries: puts the best text back where it is better than none.
async fn settle(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    target: &CompactTarget,
    course: Course,
    cancel: &CancellationToken,
) -> Result<TargetEnd, Failure> {
    let last = course.fault.map(|fault| headline(&fault.problems.join("; "))).unwrap_or_default();
    let Some(best) = course.best.filter(|best| !best.verdict.is_worse_than_before()) else {
        return Ok(TargetEnd::Unsolved(given_up(course.tries, &last, false)));
    };
    let piece =
        stop::unless_stopped(&edits.making, cancel, shown(edits, &mut task.work, &task.progress.course, target))
            .await??;
    if let Err(problem) = put(edits, model, task, &piece, &best.taken).await {
        return if cancel.is_cancelled() { Err(Failure::cancelled()) } else { Ok(TargetEnd::Unsolved(problem)) };
    }
    remark(&mut task.work, target_name(&piece), &best.taken);
    if best.verdict.has_offered_fix {
        compact_judgement::with_offered_fix(edits, model, task, &course.before, &piece, cancel).await?;
    }
    if best.verdict.is_fit() {
        return Ok(TargetEnd::Changed);
    }
    let why = headline(&best.verdict.problems.join("; "));
    Ok(TargetEnd::Unsolved(given_up(course.tries, &why, true)))
}

/// The syntax error that a new text brings into a file that parsed before.
fn breaks_syntax(asked: AskedPiece<'_>, piece: &ShownPiece, taken: &TakenText) -> Option<CompactFault> {
    let after = match after(asked, taken) {
        Ok(after) => after,
        Err(fault) => return Some(fault),
    };
    let count = |text: &str| syntax::check(&piece.path, text).map_or(0, |found| found.len());
    let (old, new) = (count(asked.text), count(&after));
    if new <= old {
        return None;
    }
    let line = |found: &sextant_diagnostics::model::Diagnostic| {
        let at = found.location.range().map_or(0, |range| range.start.line as usize);
        sextant_model::compact_reply::report(after.lines().nth(at).unwrap_or_default(), &found.message)
    };
    let found = syntax::check(&piece.path, &after).unwrap_or_default();
    let problems = found.iter().take(3).map(line).collect();
    Some(CompactFault { text: Some(taken.content.clone()), problems, ..CompactFault::default() })
}

/// The whole file with a new text in it.
fn after(asked: AskedPiece<'_>, taken: &TakenText) -> Result<String, CompactFault> {
    match asked.language.filter(|_| !asked.names.is_empty()) {
        Some(language) => take::placed(asked, language, taken),
        None => Ok(taken.content.clone()),
    }
}

/// Puts a text in its place by the tools, which check the scope and the user's rules.
async fn put(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    piece: &ShownPiece,
    taken: &TakenText,
) -> Result<(), String> {
    let (tool, parameters) = call(&task.work.request, piece, taken)?;
    let action = Action { tool: tool.to_owned(), parameters };
    let (result, ok) = run_tool_call::act(edits, model, task, &action, "the text that was asked for").await;
    let text = result.text.clone();
    task.counts.errors = 0;
    task.conversation.results.push(result);
    let old = task.conversation.results.len().saturating_sub(RESULTS);
    task.conversation.results.drain(..old);
    durable::keep_call(&edits.store, task).await;
    if ok { Ok(()) } else { Err(text) }
}

/// The path of the piece in the words of a caller, who has to number twins.
fn unique(piece: &ShownPiece) -> String {
    let outline = piece.document.as_ref().zip(language::of_path(&piece.path));
    let outline = outline.map(|(document, language)| Outline::parse(language, &document.text));
    let known = outline.and_then(|outline| Some(outline.unique_path_of(outline.known(&piece.names)?)));
    known.unwrap_or_else(|| piece.names.clone())
}

fn call(request: &str, piece: &ShownPiece, taken: &TakenText) -> Result<(&'static str, Value), String> {
    if piece.names.is_empty() {
        return Ok(("write_file", json!({"path": piece.path, "content": taken.content})));
    }
    if taken.imports.is_empty() {
        let symbol = format!("{}::{}", piece.path, unique(piece));
        return Ok(("edit_symbol", json!({"symbol": symbol, "action": "replace", "content": taken.content})));
    }
    let whole = after(asked(request, piece), taken).map_err(|fault| fault.problems.join("; "))?;
    Ok(("write_file", json!({"path": piece.path, "content": whole})))
}

/// Takes everything back to the text before the first try, with its reports.
async fn take_back(edits: &EditService, work: &mut TaskWork, course: &Course) -> Result<(), Failure> {
    rollback::roll_back_to(edits, work, course.mark, false).await?;
    edits.hub.ledger.lock().await.restore(&course.before, &work.reports.start);
    Ok(())
}
/// The piece as the model sees it now.
async fn shown(
    edits: &EditService,
    work: &mut TaskWork,
    course: &PlanProgress,
    target: &CompactTarget,
) -> Result<ShownPiece, Failure> {
    code_excerpt::shown(&edits.hub, &work.request, &mut work.seen, course, target, &work.intent.earlier).await
}
