//! The offline model: needs no network and no key, and applies the offers of the language servers.
//!
//! It reads the structure of the question alone. It does not pretend to understand the rest.

mod offline_wording;

use async_trait::async_trait;
use serde_json::json;

use crate::input::{ModelContext, ModelInput, PlanInput, RequestFacts, StepInput};
use crate::offline::offline_wording::{RepairAnswer, alike, belief, named, reporter, sentence};
use crate::request_kind::filter_reports::Narrowed;
use crate::request_kind::kinds::{Kind, Reported};
use crate::request_kind::{self, Ask};
use crate::step::{
    Action, DiagnosticLine, FixOffer, Model, ModelError, OnText, PlanReply, PlanReplyStep, Spoken, StepReply, Usage,
};
use sextant_base::one_line::quoted;
use sextant_base::plural::counted;
use sextant_base::suppressions;

/// The way to a language model, shown wherever one would have been needed.
pub const HOW_TO_CONFIGURE: &str = "To use a language model, set `provider` and `model` under `[model]` in the \
    configuration, with the key in OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or with the `base_url` of a \
    local server, which needs no key.";

/// Diagnostics of one step that are shown in full; of the rest only the names.
const CLAIMS: usize = 10;

#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineModel;

#[async_trait]
impl Model for OfflineModel {
    fn name(&self) -> &str {
        "offline"
    }

    fn needs_providers(&self) -> bool {
        true
    }

    async fn step(&self, input: &StepInput, words: OnText<'_>) -> (Result<StepReply, ModelError>, Usage) {
        let reply = step(input);
        words(Spoken::answer(&reply.reasoning));
        if !reply.answer.is_empty() {
            words(Spoken::answer(&format!("\n\n{}", reply.answer)));
        }
        (Ok(reply), Usage::default())
    }

    async fn plan(&self, input: &PlanInput, words: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage) {
        if !input.ask.change.is_empty() {
            let problem =
                format!("changing a plan in words needs a language model, and none is configured. {HOW_TO_CONFIGURE}");
            let error = ModelError::Unusable { problems: vec![problem], text: String::new() };
            return (Err(error), Usage::default());
        }
        let reply = plan(input);
        words(Spoken::answer(&reply.reason));
        (Ok(reply), Usage::default())
    }
}

/// The wanted repairs of a request, with the names in it looked up.
pub fn narrowed(request: &RequestFacts) -> Narrowed {
    let wanted = request_kind::repair_filter(&request.query, &request.user);
    let mut narrowed = wanted.resolved(&request.places, &request.scope);
    if !request.user.is_empty() {
        // A step of a plan has its symbols as its scope: names elsewhere in the request are for other steps.
        narrowed.missing.clear();
        narrowed.undone.clear();
    }
    narrowed
}

/// Decides one step.
pub fn step(input: &StepInput) -> StepReply {
    let ModelInput { context: ModelContext { request, reports, .. }, ask } = input;
    let planned = ask.contract.plan().is_some();
    match if planned { request_kind::classify_step(&request.query) } else { request_kind::classify(&request.query) } {
        Ask::Repair => {}
        other => return offline_wording::cannot(other, &request.query, &reports.diagnostics),
    }
    let narrowed = narrowed(request);
    let offers = usable(&reports.fixes).filter(|(_, fix)| is_wanted(fix, &narrowed, &reports.diagnostics));
    let Some((_, fix)) = offers.min_by_key(|(i, fix)| rank(*i, fix, &reports.diagnostics)) else {
        return RepairAnswer::new(request, reports, &narrowed).after(ask.applied);
    };
    let reasoning = match reported(fix, &reports.diagnostics) {
        Some(line) => format!(
            "{}{} in {}{}: {} The server offers {}.",
            reporter(line),
            named(line),
            line.symbol,
            belief(line),
            sentence(&line.message),
            quoted(&fix.title)
        ),
        None => format!("A language server offers {} for {}.", quoted(&fix.title), fix.symbol),
    };
    StepReply {
        action: Some(Action { tool: "apply_fix".to_owned(), parameters: json!({"fix": fix.id}) }),
        reasoning,
        proceed: true,
        confidence: confidence(fix),
        ..StepReply::default()
    }
}

/// Lays out every wanted fix, one symbol a step.
pub fn plan(input: &PlanInput) -> PlanReply {
    let ModelInput { context: ModelContext { request, reports, .. }, .. } = input;
    let asked = request_kind::classify(&request.query);
    if asked != Ask::Repair {
        let reply = offline_wording::cannot(asked, &request.query, &reports.diagnostics);
        return PlanReply {
            title: match asked {
                Ask::Question | Ask::Work => "No plan without a language model".to_owned(),
                _ => "Nothing is to be changed".to_owned(),
            },
            reason: reply.answer,
            steps: Vec::new(),
            confidence: reply.confidence,
            declined: true,
        };
    }
    let narrowed = narrowed(request);
    let groups = groups(&reports.fixes, &narrowed, &reports.diagnostics);
    let answer = RepairAnswer::new(request, reports, &narrowed);
    if groups.is_empty() {
        return PlanReply {
            title: "Nothing to apply".to_owned(),
            reason: answer.without_steps(),
            steps: Vec::new(),
            confidence: 0.9,
            declined: !(narrowed.missing.is_empty() && narrowed.undone.is_empty()),
        };
    }
    let count: usize = groups.iter().map(|group| group.fixes.len()).sum();
    let symbols: usize = groups.iter().map(|group| group.symbols.len()).sum();
    let lowest = groups.iter().flat_map(|group| &group.fixes).map(|fix| confidence(fix)).fold(1.0, f64::min);
    PlanReply {
        title: format!("Apply the offered fixes in {}", counted(symbols, "place")),
        reason: answer.with_steps(count, groups.len()),
        steps: groups.iter().map(|group| plan_step(group, &reports.diagnostics)).collect(),
        confidence: lowest,
        declined: false,
    }
}

/// The wanted fixes, the best one of each diagnostic, in groups of one step each.
fn groups<'a>(fixes: &'a [FixOffer], narrowed: &Narrowed, diagnostics: &[DiagnosticLine]) -> Vec<Group<'a>> {
    let wanted = usable(fixes).filter(|(_, fix)| is_wanted(fix, narrowed, diagnostics));
    let mut offers: Vec<(usize, &FixOffer)> = wanted.collect();
    offers.sort_by_key(|(i, fix)| rank(*i, fix, diagnostics));
    let mut groups: Vec<Group> = Vec::new();
    let mut solved: Vec<usize> = Vec::new();
    for (_, fix) in offers {
        // One fix is enough for one diagnostic, and the best of them came first.
        if fix.diagnostic.is_some_and(|index| solved.contains(&index)) {
            continue;
        }
        solved.extend(fix.diagnostic);
        join(&mut groups, fix);
    }
    groups
}

/// True if a request wants the repair of a fix. An action for a whole file is wanted if it is about imports and the
/// request wants these. It is also wanted if the request leaves nothing aside.
fn is_wanted(fix: &FixOffer, narrowed: &Narrowed, diagnostics: &[DiagnosticLine]) -> bool {
    match reported(fix, diagnostics) {
        Some(line) => narrowed.wants(&Reported::from(line)),
        None => narrowed.is_all() || narrowed.names(Kind::Import) && fix.title.to_lowercase().contains("import"),
    }
}

/// The fixes of one step, and the symbols that they change.
struct Group<'a> {
    symbols: Vec<&'a str>,
    fixes: Vec<&'a FixOffer>,
}

/// Adds a fix to those that share a symbol with it. In steps of their own, the first would find the others' diagnostics
/// in its scope and fix them as well. Nothing would be left for the rest.
fn join<'a>(groups: &mut Vec<Group<'a>>, fix: &'a FixOffer) {
    let symbols: Vec<&str> = std::iter::once(&fix.symbol).chain(&fix.changes).map(String::as_str).collect();
    let meets = |group: &Group| group.symbols.iter().any(|a| symbols.iter().any(|b| overlap(a, b)));
    let Some(first) = groups.iter().position(meets) else {
        return groups.push(Group { symbols, fixes: vec![fix] });
    };
    let (met, apart): (Vec<Group>, Vec<Group>) = groups.drain(first + 1..).partition(|group| meets(group));
    groups.extend(apart);
    let group = &mut groups[first];
    group.fixes.extend(met.iter().flat_map(|other| &other.fixes));
    group.fixes.push(fix);
    for symbol in met.iter().flat_map(|other| &other.symbols).copied().chain(symbols) {
        if !group.symbols.contains(&symbol) {
            group.symbols.push(symbol);
        }
    }
}

/// The same symbol, or one inside of the other. A file stands for its module level, without its symbols.
fn overlap(a: &str, b: &str) -> bool {
    let inside = |inner: &str, outer: &str| {
        outer.contains("::") && inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with("::"))
    };
    a == b || inside(a, b) || inside(b, a)
}

fn plan_step(group: &Group, diagnostics: &[DiagnosticLine]) -> PlanReplyStep {
    let symbol = group.symbols.join(", ");
    let titles = alike(group.fixes.iter().map(|fix| format!("“{}”", fix.title)));
    let lines: Vec<&DiagnosticLine> = group.fixes.iter().filter_map(|fix| reported(fix, diagnostics)).collect();
    let (because, expect) = if lines.is_empty() {
        ("a language server offers it for this file".to_owned(), "no new diagnostics".to_owned())
    } else {
        let claim =
            |line: &&DiagnosticLine| format!("{}{}{}: {}", reporter(line), named(line), belief(line), line.message);
        let mut because: Vec<String> = lines.iter().take(CLAIMS).map(claim).collect();
        let gone = alike(lines.iter().map(|line| named(line)));
        if let Some(more) = lines.get(CLAIMS..).filter(|more| !more.is_empty()) {
            because.push(format!("{} more: {}", more.len(), alike(more.iter().map(|line| named(line))).join(", ")));
        }
        let verb = if lines.len() == 1 { "is" } else { "are" };
        (because.join("; "), format!("{} {verb} no longer reported in {symbol}, nothing new is", gone.join(", ")))
    };
    PlanReplyStep {
        title: format!("Apply {} to {symbol}", titles.join(", ")),
        symbols: group.symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
        because,
        expect,
        ..PlanReplyStep::default()
    }
}

fn usable(fixes: &[FixOffer]) -> impl Iterator<Item = (usize, &FixOffer)> {
    fixes.iter().enumerate().filter(|(_, fix)| !suppressions::is_title(&fix.title))
}

fn reported<'a>(fix: &FixOffer, diagnostics: &'a [DiagnosticLine]) -> Option<&'a DiagnosticLine> {
    diagnostics.get(fix.diagnostic?)
}

/// Severest first, then the server's preference, then the order of the question.
fn rank(index: usize, fix: &FixOffer, diagnostics: &[DiagnosticLine]) -> (u8, bool, usize) {
    let severity = match reported(fix, diagnostics).map(|line| line.severity.as_str()) {
        Some("error") => 0,
        Some("warning") => 1,
        Some("info") => 2,
        Some(_) => 3,
        None => 4,
    };
    (severity, !fix.preferred, index)
}

/// A fix that the server prefers is rarely wrong; one of several is a choice; a source action answers no message.
fn confidence(fix: &FixOffer) -> f64 {
    match (fix.diagnostic, fix.preferred) {
        (Some(_), true) => 0.8,
        (Some(_), false) => 0.6,
        (None, _) => 0.5,
    }
}

#[cfg(test)]
mod requests;
#[cfg(test)]
mod tests;
