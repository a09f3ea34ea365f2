//! Decides the diagnostics that a model sees and their order: merges duplicates, applies all rules, and traces it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostics::collect_diagnostics;
use crate::editor::Editor;
use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::events::task_events::TaskEvents;
use crate::state::authority::{self, Basis};
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::snapshots::Snapshots;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_diagnostics::grouping;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge::{self, Merged, Placed};
use sextant_diagnostics::model::Confidence;
use sextant_diagnostics::policy::contradiction::{self, Others, Trees};
use sextant_diagnostics::policy::decide::{self, ChangeSize, PolicyDecision};
use sextant_diagnostics::policy::{Effect, Evidence, Judged, Judgement, PolicyLimits, Trace, confidence_words, judge};
use sextant_model::request_kind;
use sextant_model::step::FixOffer;
use sextant_store::workspace::workspace_files;

/// Groups in the summary of the diagnostics that are left out.
const GROUPS: usize = 5;

/// A diagnostic as it is shown, with all providers that report it.
#[derive(Clone, Debug)]
pub(crate) struct RankedDiagnostic {
    pub(crate) found: LocatedDiagnostic,
    pub(crate) sources: Vec<String>,
    /// The codes under which they report it.
    pub(crate) codes: Vec<String>,
    pub(crate) confidence: Confidence,
    /// It survived the fixes that were meant for it.
    pub(crate) doubtful: bool,
}

impl RankedDiagnostic {
    /// `lsp:basedpyright`, or `lsp:basedpyright and ruff`.
    pub(crate) fn source(&self) -> String {
        let kind = self.found.diagnostic.source.split_once(':').map_or("", |(kind, _)| kind);
        format!("{kind}:{}", confidence_words::names(&self.sources))
    }

    fn placed(&self) -> Placed<'_> {
        Placed::from(&self.found)
    }
}

/// The fix that is offered for one of these: the preferred, or the only one. Several fixes without a preferred one give
/// `None`.
pub(crate) fn the_one<'f>(fixes: &'f [FixOffer], members: &[usize]) -> Option<&'f FixOffer> {
    let of_them: Vec<&FixOffer> =
        fixes.iter().filter(|fix| fix.diagnostic.is_some_and(|index| members.contains(&index))).collect();
    let preferred = of_them.iter().find(|fix| fix.preferred).copied();
    preferred.or(if let [only] = of_them.as_slice() { Some(*only) } else { None })
}

/// The identity of the diagnostic that a fix is meant for, valid over the steps of a task: symbol and message.
pub(crate) fn key(found: &LocatedDiagnostic) -> String {
    format!("{}|{}", found.symbol, found.diagnostic.message)
}

/// The input for weighing diagnostics.
struct Matter {
    found: Vec<LocatedDiagnostic>,
    texts: BTreeMap<String, Arc<str>>,
    known: Snapshots,
    others: Others,
    /// The number of fixes that each has survived, by [`key`].
    survived: BTreeMap<String, u32>,
}

/// The diagnostics without duplicates, the evidence on each, and the judgement of the rules.
fn judged(matter: &Matter) -> (Vec<Merged>, Vec<Evidence>, Judgement) {
    let Matter { found, texts, known, others, survived } = matter;
    let items: Vec<Placed> = found.iter().map(Placed::from).collect();
    let merged = merge::merge(&items);
    let mut trees = Trees::new();
    let mut evidence = |group: &Merged| {
        let shown = &found[group.shown];
        let file = &shown.symbol.file;
        let text = texts.get(file).map(|text| &**text);
        let reported = known.get(&(file.clone(), shown.diagnostic.source.clone()));
        let reported = reported.and_then(|snap| snap.text.as_deref());
        let current = text.filter(|text| reported == Some(*text));
        Evidence {
            sources: group.sources.clone(),
            file_exists: file.is_empty() || text.is_some(),
            text_current: reported == text,
            contradiction: current.and_then(|text| contradiction::against(&shown.diagnostic, text, others, &mut trees)),
            survived: group.members.iter().filter_map(|i| survived.get(&key(&found[*i]))).copied().max().unwrap_or(0),
            ..Evidence::fresh(&shown.diagnostic.source)
        }
    };
    let evidence: Vec<Evidence> = merged.iter().map(&mut evidence).collect();
    let shown: Vec<Placed> = merged.iter().map(|group| items[group.shown]).collect();
    let judgement = judge(&shown, &evidence, &PolicyLimits::default());
    (merged, evidence, judgement)
}

/// The other files whose texts may contradict the diagnostics found.
fn depended_on(found: &[LocatedDiagnostic], texts: &BTreeMap<String, Arc<str>>) -> BTreeSet<String> {
    let mut trees = Trees::new();
    let of = |found: &LocatedDiagnostic| {
        let text = texts.get(&found.symbol.file)?;
        Some(contradiction::depends_on(&found.diagnostic, text, &mut trees))
    };
    found.iter().filter_map(of).flatten().collect()
}

/// A few lines that sum up, by theme, more diagnostics than can be weighed; computed on a thread of its own.
pub(crate) async fn summed_up(found: Vec<LocatedDiagnostic>, most: usize) -> Vec<String> {
    let work = move || {
        let items: Vec<Placed> = found.iter().map(Placed::from).collect();
        grouping::lines(&grouping::by_theme(&items), most)
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

/// Merges, judges and orders the diagnostics found; the fixes follow their diagnostics to their new places.
pub(crate) async fn weigh(
    hub: &DiagnosticsHub,
    work: &mut TaskWork,
    found: &[LocatedDiagnostic],
    fixes: Vec<FixOffer>,
) -> (Vec<RankedDiagnostic>, Vec<FixOffer>) {
    let texts = present_texts(hub.workspace.editor.as_ref(), found).await;
    let known = collect_diagnostics::known(hub).await;
    let others = other_texts(&hub.workspace, found, &texts).await;
    let tried = &work.reports.offers.survived;
    let survived = found.iter().map(key).filter_map(|key| tried.get(&key).map(|count| (key, *count))).collect();
    let matter = Matter { found: found.to_vec(), texts, known, others, survived };
    // On a thread of its own: it reads the texts, and a stop must not wait for that.
    let Ok((merged, evidence, judgement)) = tokio::task::spawn_blocking(move || judged(&matter)).await else {
        return (Vec::new(), Vec::new());
    };
    let items: Vec<Placed> = found.iter().map(Placed::from).collect();
    let shown: Vec<Placed> = merged.iter().map(|group| items[group.shown]).collect();
    trace_merged(&work.events, work.step, &merged, &items);
    judgement.trace.into_iter().for_each(|entry| work.events.trace(work.step.max(1), entry));
    // Beyond a place that the user pointed at, only a sure fix is made without a question. A plan asks as a whole. The
    // offline model exists for the offers of servers, and nobody could answer its questions: "the errors" are all of
    // them.
    let driven = hub.needs_providers;
    let far = matches!(work.scope, Scope::Workspace) && !driven && !request_kind::wants_all(&work.request);
    let asks = far && authority::basis(work.mode, &work.request, driven) == Basis::Reported;
    let mut unsure: BTreeSet<usize> = BTreeSet::new();
    let mut seen = Vec::with_capacity(judgement.kept.len());
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for judged in &judgement.kept {
        let group = &merged[judged.index];
        places.extend(group.members.iter().map(|member| (*member, seen.len())));
        let fixable = || fixes.iter().any(|fix| fix.diagnostic.is_some_and(|index| group.members.contains(&index)));
        let contradicted = evidence[judged.index].contradiction.is_some();
        let asked = judged.doubtful || contradicted || asks && fixable();
        let objection = if asked {
            objection(&hub.events, &work.events, work.step, &shown[judged.index], &evidence[judged.index], judged)
        } else {
            None
        };
        if objection.is_some() {
            unsure.extend(&group.members);
        }
        let (mut shown, (confidence, doubtful)) = (found[group.shown].clone(), (judged.confidence, judged.doubtful));
        let suggested = || group.members.iter().find_map(|index| found[*index].diagnostic.suggested_action.clone());
        let offered = || the_one(&fixes, &group.members).map(|fix| fix.title.clone());
        shown.diagnostic.suggested_action = objection.or_else(offered).or_else(suggested);
        if let Some(word) = &shown.diagnostic.suggested_action {
            work.reports.suggested.insert(key(&shown), word.clone());
        }
        let (sources, codes) = (group.sources.clone(), codes_of(group, found));
        seen.push(RankedDiagnostic { found: shown, sources, codes, confidence, doubtful });
    }
    let follow = |fix: FixOffer| match fix.diagnostic {
        Some(index) if unsure.contains(&index) => None,
        Some(index) => places.get(&index).map(|place| FixOffer { diagnostic: Some(*place), ..fix }),
        None => Some(fix),
    };
    (seen, fixes.into_iter().filter_map(follow).collect())
}

/// The codes under which it is reported.
fn codes_of(group: &Merged, found: &[LocatedDiagnostic]) -> Vec<String> {
    group.members.iter().filter_map(|index| found[*index].diagnostic.code.clone()).collect()
}

fn trace_merged(task_events: &TaskEvents, step: u32, merged: &[Merged], items: &[Placed]) {
    for group in merged.iter().filter(|group| group.members.len() > 1) {
        let about = confidence_words::about(&items[group.shown], &group.sources);
        let reason = format!("reported {} at the same place, shown once", counted(group.members.len(), "time"));
        task_events.trace(step.max(1), Trace::new(Effect::Merged, about, "duplicates", reason));
    }
}

/// The objection of the rules to acting on a diagnostic; the user is then asked, and the task goes on without it.
fn objection(
    events: &EventStream,
    task_events: &TaskEvents,
    step: u32,
    item: &Placed,
    evidence: &Evidence,
    judged: &Judged,
) -> Option<String> {
    let (decision, entry) = decide::decide(item, evidence, judged, &ChangeSize::default(), &PolicyLimits::default());
    let objection = decision.suggestion(&entry.reason);
    let new = !task_events.has_reported(&entry);
    task_events.trace(step.max(1), entry);
    if let (true, PolicyDecision::Ask(question)) = (new, &decision) {
        events.show(Event::Progress { text: question.clone() });
    }
    objection
}

/// The texts of the other files that may contradict the diagnostics found. A text that no editor has is read from the
/// disk: to weigh a diagnostic is no reason to load a file.
async fn other_texts(workspace: &Workspace, found: &[LocatedDiagnostic], texts: &BTreeMap<String, Arc<str>>) -> Others {
    let (about, known) = (found.to_vec(), texts.clone());
    let wanted = tokio::task::spawn_blocking(move || depended_on(&about, &known)).await.unwrap_or_default();
    let mut others = Others::new();
    if wanted.is_empty() {
        return others;
    }
    let loaded = workspace.editor.loaded().await;
    for file in wanted {
        let text = if loaded.contains(&file) {
            workspace.editor.read(&file).await.ok().map(|document| document.text)
        } else {
            workspace
                .root
                .resolve(&file)
                .ok()
                .and_then(|file| workspace_files::text(&workspace.root, &file))
                .map(Arc::from)
        };
        others.insert(file, text);
    }
    others
}

/// The texts of the files as they are now; missing files are left out.
async fn present_texts(editor: &dyn Editor, found: &[LocatedDiagnostic]) -> BTreeMap<String, Arc<str>> {
    let mut texts = BTreeMap::new();
    for found in found {
        let file = &found.symbol.file;
        if !file.is_empty()
            && !texts.contains_key(file)
            && let Ok(document) = editor.read(file).await
        {
            texts.insert(file.clone(), document.text);
        }
    }
    texts
}

impl TaskWork {
    /// Records the diagnostics that the model is about to see.
    pub(crate) fn note_seen(&self, seen: &[RankedDiagnostic]) {
        for seen in seen {
            let about = confidence_words::about(&seen.placed(), &seen.sources);
            let mut claim = confidence_words::claim(&seen.placed(), &seen.sources, seen.confidence);
            if let Some(word) = &seen.found.diagnostic.suggested_action {
                claim = format!("{claim} Suggested: {}.", headline(word));
            }
            self.events.trace(self.step.max(1), Trace::new(Effect::Kept, about, "in_view", claim));
        }
    }

    /// Records, in groups, the diagnostics that are too many to look at.
    pub(crate) async fn note_left_out(&self, found: Vec<LocatedDiagnostic>) {
        for line in summed_up(found, GROUPS).await {
            let reason = "there are more than can be weighed at once, and worse ones";
            self.events.trace(self.step.max(1), Trace::new(Effect::SetAside, line, "too_many", reason));
        }
    }
}
