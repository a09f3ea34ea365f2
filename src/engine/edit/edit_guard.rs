//! Holds an edit back without the user's word: files that run, the configuration of checkers, hidden complaints.
//!
//! It decides as well which repairs an edit is not credited with. It is called before anything is written, whichever
//! tool the edit comes from.

use tokio::time::Instant;

use crate::edit::preview::ProposedEdit;
use crate::edit::questions::{self, UserQuestion};
use crate::edit::shown_change::written;
use crate::editor::event::QuestionKind;
use crate::events::fact::TaskFact;
use crate::events::task_events::TaskEvents;
use crate::plan::work_mode::Mode;
use crate::state::approvals::{Approvals, UserAnswer};
use crate::state::authority::{self, Basis, Consent};
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_request::EditRequest;
use crate::state::journal::Journal;
use crate::state::task::{TaskIntent, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::uncredited_fix::{Doubt, Uncounted};
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::{capital, clean};
use sextant_base::secrets::MASK;
use sextant_base::suppressions;
use sextant_diagnostics::policy::silencing_edits::{self, RepairObjection, Weight, WholeEdit};
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::{mentions, request_kind};
use sextant_store::workspace::auto_executed;

const FILE_OPTIONS: [&str; 3] = ["change it once", "allow this file for the session", "no"];
const CHECK_OPTIONS: [&str; 2] = ["do it", "no"];

/// Lets an edit through as far as the user's word reaches, and returns the doubts that lower its credit.
///
/// # Errors
/// With the rule and the way out. Nothing was written then.
pub(crate) async fn guard(
    hub: &DiagnosticsHub,
    approvals: &Approvals,
    work: &TaskWork,
    wanted: &[EditRequest],
) -> Result<Vec<Doubt>, Failure> {
    let mut doubts = Vec::new();
    let guarded = GuardedEdit { hub, approvals, work, edit: ProposedEdit::new(wanted) };
    let whole = whole_edit(wanted);
    for want in wanted {
        let path = want.path().to_owned();
        let (before, Some(after)) = (want.before(), want.after()) else { continue };
        if after.matches(MASK).count() > before.matches(MASK).count() {
            return Err(tool_failure(
                format!("{MASK:?} stands where a secret was taken out of the text; it cannot be written back"),
                "edit the places beside it with edit_file, and leave the line with the secret alone",
            ));
        }
        guarded.may_touch(&path, before, after).await?;
        for objection in objections(hub.needs_providers, work, &path, before, after, &whole) {
            let shows = if objection.weight == Weight::Asked { written(before, after) } else { String::new() };
            guarded.weigh(&path, &shows, &objection).await?;
            if objection.weight != Weight::Asked {
                doubts.push(Doubt { path: path.clone(), rule: objection.rule.to_owned(), reason: objection.reason });
            }
        }
    }
    Ok(doubts)
}

fn whole_edit(wanted: &[EditRequest]) -> WholeEdit {
    let texts = wanted.iter().filter_map(|want| Some((want.path(), want.before(), &**want.after()?)));
    WholeEdit::of(texts)
}

/// The words that count as the user's: the request, and for an approved plan those of the step.
fn words(work: &TaskWork) -> String {
    words_of(&work.journal, work.mode, &work.request, !work.intent.consent.replanned)
}

/// Like [`words`]; `heard` where the steps of the plan are the user's word too.
fn words_of(journal: &Journal, mode: Mode, request: &str, heard: bool) -> String {
    let approved = mode != Mode::Simple && heard;
    let step = if approved { request } else { "" };
    format!("{}. {step}", journal.request)
}

/// True if the user has named a file: in the request, by asking inside it, or by an approved plan.
pub(crate) fn is_named(work: &TaskWork, path: &str) -> bool {
    is_named_by(work, path, !work.intent.consent.replanned)
}

fn is_named_by(work: &TaskWork, path: &str, heard: bool) -> bool {
    let words = words_of(&work.journal, work.mode, &work.request, heard);
    let heard = work.mode == Mode::Simple || heard;
    let in_scope =
        heard && !matches!(work.scope, Scope::Workspace) && work.scope.files().iter().any(|file| file == path);
    in_scope || work.intent.current_file.as_deref() == Some(path) || names_file(&words, path)
}

/// True if the words ask for work in a file. Its name in a question, or to be left alone, is no such wish.
fn names_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // `build` is a file, and a word; the file is meant where it is written as one.
    let is_word = name.chars().all(|c| c.is_ascii_lowercase());
    let known = |word: &str| {
        let word = word.trim_start_matches("./");
        let word = word.split("::").next().unwrap_or(word);
        let word = word.split_once(':').map_or(word, |(file, _)| file);
        word == path || word == name && !is_word || path.ends_with(&format!("/{word}")) && word.contains('/')
    };
    let wishes: Vec<&str> = mentions::sentences(text).filter(|sentence| !mentions::only_asks(sentence)).collect();
    wishes.iter().any(|wish| mentions::says(wish, known) && !mentions::leaves_alone(wish, known))
}

/// An edit before the guard, with all that its questions need.
struct GuardedEdit<'a> {
    hub: &'a DiagnosticsHub,
    approvals: &'a Approvals,
    work: &'a TaskWork,
    edit: ProposedEdit<'a>,
}

impl GuardedEdit<'_> {
    /// Asks before an edit of a file that runs by being there, or that sets how strict the checkers are.
    async fn may_touch(&self, path: &str, before: &str, after: &str) -> Result<(), Failure> {
        let Self { hub, approvals, work, .. } = self;
        let checks = silencing_edits::configures_checker(path, before, after);
        let runs = auto_executed::runs(&hub.workspace.root, path, [before, after]);
        let runs = runs.filter(|_| checks.is_none() || !path.ends_with(".toml")).map(str::to_owned);
        let Some(reason) = runs.or(checks) else { return Ok(()) };
        let heard = approvals.is_read() && !work.intent.consent.replanned;
        let named = !work.intent.consent.restored && is_named_by(work, path, heard);
        if named || approvals.allowed_file(path) {
            return Ok(());
        }
        let (name, why) = (clean(path), capital(&reason));
        let text = format!("Change {name}? {why}.");
        let options = FILE_OPTIONS.map(str::to_owned).to_vec();
        work.events
            .trace(work.step.max(1), Trace::new(Effect::Asked, format!("change of {path}"), "running_file", &*reason));
        let shows = written(before, after);
        let question = UserQuestion { shows: Some(&shows), ..UserQuestion::of(QuestionKind::File, &text, &options) };
        let answer = self.answer(question).await?;
        match answer.choice() {
            1 => Ok(()),
            2 => {
                approvals.allow_file(path);
                Ok(())
            }
            _ => Err(tool_failure(answer.refusal(&format!("a change of {path}")), "go on without it")),
        }
    }

    /// Acts on an objection by its weight. `shows` is the edit for the question.
    async fn weigh(&self, path: &str, shows: &str, objection: &RepairObjection) -> Result<(), Failure> {
        let Self { hub, work, .. } = self;
        let (rule, reason, step) = (objection.rule, objection.reason.as_str(), work.step.max(1));
        match objection.weight {
            Weight::Refused if is_strict(hub.needs_providers, work) => {
                work.events.trace(step, Trace::new(Effect::Refused, format!("edit of {path}"), rule, reason));
                Err(tool_failure(
                    format!(
                        "{reason}, and it was asked to fix what is reported, not to hide it ({rule}); nothing was written"
                    ),
                    "repair the cause; where that cannot be done, say so in your answer: the user can ask for it by name",
                ))
            }
            Weight::Asked => {
                work.events.trace(step, Trace::new(Effect::Asked, format!("edit of {path}"), rule, reason));
                let name = clean(path);
                let text = format!("The edit of {name} goes further than a repair: {reason}. Do it?");
                let options = CHECK_OPTIONS.map(str::to_owned);
                let text = clean(&text);
                let question =
                    UserQuestion { shows: Some(shows), ..UserQuestion::of(QuestionKind::Edit, &text, &options) };
                let answer = self.answer(question).await?;
                match &answer {
                    UserAnswer::Option(1) => Ok(()),
                    UserAnswer::Option(_) => Err(tool_failure(
                        format!("the user said no: {reason} ({rule})"),
                        "fix it and leave that in place",
                    )),
                    UserAnswer::Words(_) => Err(tool_failure(answer.refusal(reason), "fix it and leave that in place")),
                }
            }
            _ => {
                work.events.trace(step, Trace::new(Effect::Kept, format!("edit of {path}"), rule, reason));
                Ok(())
            }
        }
    }

    async fn answer(&self, question: UserQuestion<'_>) -> Result<UserAnswer, Failure> {
        answer(self.hub, self.approvals, &self.work.intent, &self.work.events, &self.edit, question).await
    }
}

/// Asks in the name of the client that edits, with the diagnostics that the edit would introduce. The wait is the user's.
///
/// # Errors
/// The user cannot be asked, or did not answer.
pub(super) async fn answer(
    hub: &DiagnosticsHub,
    approvals: &Approvals,
    intent: &TaskIntent,
    task_events: &TaskEvents,
    edit: &ProposedEdit<'_>,
    question: UserQuestion<'_>,
) -> Result<UserAnswer, Failure> {
    let text = question.text;
    let text = match &intent.client {
        Some(client) if approvals.can_ask() => format!("{client}: {text}"),
        Some(_) => {
            return Err(tool_failure(
                format!("the user has to answer this, and cannot be asked here: {text} Nothing was written"),
                "go on without it, or let the user make this change; in Neovim the user is asked",
            ));
        }
        None => text.to_owned(),
    };
    let text = edit.asked(hub, approvals, &text).await;
    let since = Instant::now();
    let choice = questions::ask_user(approvals, UserQuestion { text: &text, ..question }).await;
    task_events.did(TaskFact::UserWaited { time: since.elapsed() });
    choice
}

/// The objections of the rules to the parts of an edit that the user has not asked for. The edit is compared with the
/// text before it, and its additions with the text that the task began with.
fn objections(
    needs_providers: bool,
    work: &TaskWork,
    path: &str,
    before: &str,
    after: &str,
    edit: &WholeEdit,
) -> Vec<RepairObjection> {
    let mut found = silencing_edits::objections(path, before, after, edit);
    if found.is_empty() {
        return found;
    }
    let start = work.journal.net().into_iter().find(|change| change.path == path);
    if let Some(start) = start {
        let whole = silencing_edits::objections(path, start.before.as_deref().unwrap_or_default(), after, edit);
        found.retain(|one| one.weight == Weight::Asked || whole.iter().any(|other| other.rule == one.rule));
    }
    let words = words(work);
    // A deletion on the user's answer covers everything inside.
    let is_in_file =
        |symbol: &String| symbol.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    let answered = work.intent.consent.allowed.iter().any(is_in_file);
    found.retain(|one| !(is_asked_for(one.rule, &words) || answered && one.weight == Weight::Asked));
    let strict = is_strict(needs_providers, work);
    found.retain(|one| strict || one.weight != Weight::Asked);
    found
}

/// True if the task may fix reports and do no more.
fn is_strict(needs_providers: bool, work: &TaskWork) -> bool {
    let basis = authority::basis_of(&work.intent, work.mode, &work.journal.request, needs_providers);
    basis == Basis::Reported || basis == Basis::Approved && request_kind::asks_repair(&work.journal.request)
}

/// Removes from a verdict on an edit the diagnostics that it is not known to repair, and keeps them for the task's end.
pub(crate) fn discount(consent: &mut Consent, verdict: &mut Verdict) {
    let doubts = std::mem::take(&mut consent.doubts);
    let Some(reason) = doubts.first().map(|doubt| doubt.reason.clone()) else { return };
    for gone in verdict.fixed.drain(..) {
        let file = gone.location.file().unwrap_or_default().to_owned();
        let one = Uncounted { doubts: doubts.clone(), file, code: gone.code, message: gone.message };
        consent.uncounted.push(one);
        verdict.not_counted.push(reason.clone());
    }
}

/// Does the same for the verdict on the whole task: removes the diagnostics whose earlier doubts still hold.
pub(crate) fn discount_all(journal: &Journal, consent: &Consent, verdict: &mut Verdict) {
    if consent.uncounted.is_empty() {
        return;
    }
    let net = journal.net();
    let whole = net.iter().map(|change| {
        (
            change.path.as_str(),
            change.before.as_deref().unwrap_or_default(),
            change.after.as_deref().unwrap_or_default(),
        )
    });
    let whole = WholeEdit::of(whole);
    let holds = |doubt: &&Doubt| {
        net.iter().filter(|change| change.path == doubt.path).any(|change| {
            let (before, after) = (change.before.as_deref(), change.after.as_deref());
            let found =
                silencing_edits::objections(&doubt.path, before.unwrap_or_default(), after.unwrap_or_default(), &whole);
            found.iter().any(|found| found.rule == doubt.rule)
        })
    };
    for one in &consent.uncounted {
        let Some(doubt) = one.doubts.iter().find(holds) else { continue };
        if let Some(at) = verdict.fixed.iter().position(|gone| one.is(gone)) {
            verdict.fixed.remove(at);
            verdict.not_counted.push(doubt.reason.clone());
        }
    }
}

/// Verbs that ask for a complaint to be silenced.
const SILENCE: &str = "ignore silence suppress mute disable waive exempt silencia silenciar suprime suprimir ignora \
    ignorar desactiva desactivar unterdrücke unterdrücken ignoriere ignorieren deaktiviere";

/// True if the user's words ask for the change that a rule objects to.
fn is_asked_for(rule: &str, words: &str) -> bool {
    let one_of =
        |known: &[&str]| mentions::says(words, |word| known.iter().any(|part| word.to_lowercase().contains(part)));
    let removes = |known: &[&str]| {
        request_kind::removals(words)
            .iter()
            .flatten()
            .any(|word| known.iter().any(|part| word.to_lowercase().starts_with(part)))
    };
    match rule {
        "suppression_comment" | "no_type_check" => {
            mentions::says(words, suppressions::is_named)
                || mentions::orders(words, SILENCE)
                || one_of(&["no_type_check"])
        }
        "any_cast" | "any_annotation" => {
            mentions::says(words, |word| word == "Any") || one_of(&["cast("]) || mentions::orders(words, "cast")
        }
        "names_by_string" => one_of(&["globals", "locals", "vars", "__dict__"]),
        "constant_getattr" | "getattr_default" | "getattr_hook" => one_of(&["getattr", "setattr"]),
        "code_in_string" => one_of(&["eval", "exec", "import_module", "__import__"]),
        "type_checking_guard" => one_of(&["type_checking"]),
        "dead_code" => one_of(&["unreachable", "inalcanzable"]),
        "test_skipped" => {
            one_of(&["xfail", "skip"]) || mentions::orders(words, "omite omitir salta saltar ignore ignora")
        }
        "check_removed" => removes(&["assert", "raise", "check", "valid", "comprob", "aserci", "prüf", "exception"]),
        "test_removed" => removes(&["test", "prueba"]),
        "body_emptied" => one_of(&["stub", "empty", "vacía", "leer"]),
        "error_swallowed" => one_of(&["swallow", "suppress", "except", "catch", "captura"]),
        "type_asserted" => one_of(&["cast("]) || mentions::orders(words, "cast"),
        "unwrapped" => one_of(&["unwrap", "expect", "panic"]),
        "import_kept" => one_of(&["export", "reexport", "__all__", "exporta", "fachada", "facade"]),
        "one_platform" => one_of(&["version", "platform", "windows", "linux", "macos", "plataforma", "versión"]),
        "handed_on" => one_of(&["eval", "exec", "globals", "locals", "__import__"]),
        "wildcard_import" => one_of(&["wildcard", "*"]),
        "annotation_removed" => removes(&["annotation", "type", "hint", "anotaci", "tipo"]),
        "stub_made" => one_of(&["stub", ".pyi"]),
        _ => false,
    }
}
