//! The offline model: needs no network and no key, and applies what the language servers themselves offer.
//!
//! It reads the structure of the question alone. What needs understanding it does not pretend to understand.

use async_trait::async_trait;
use serde_json::json;

use crate::base::plural::counted;
use crate::llm::ask::{self, Ask};
use crate::llm::input::{ModelContext, ModelInput, PlanInput, StepInput};
use crate::llm::step::{
    Action, DiagnosticLine, FixOffer, Model, ModelError, OnText, PlanReply, PlanReplyStep, StepReply, Usage,
};

/// How a user gets a language model; said wherever one would have been needed.
pub const HOW_TO_CONFIGURE: &str = "To use a language model, set `provider` and `model` under `[model]` in the \
    configuration, with the key in OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or with the `base_url` of a \
    local server, which needs no key.";

/// At most this many kinds of diagnostics are named in an answer; the rest are counted.
const NAMED: usize = 5;
/// Diagnostics of one step that are told in full; of the rest their names.
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
        words(&reply.reasoning);
        if !reply.answer.is_empty() {
            words(&format!("\n{}", reply.answer));
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
        words(&reply.reason);
        (Ok(reply), Usage::default())
    }
}

/// A "fix" that only silences the message is none: it hides what it should mend.
pub fn is_suppression(title: &str) -> bool {
    let title = title.to_lowercase();
    ["ignore", "noqa", "suppress", "nolint", "for this line", "for this file", "for entire file", "for the entire file"]
        .iter()
        .any(|mark| title.contains(mark))
}

/// Decides one step.
pub fn step(input: &StepInput) -> StepReply {
    let ModelInput { context: ModelContext { request, reports, .. }, ask } = input;
    let planned = ask.contract.plan().is_some();
    match if planned { ask::classify_step(&request.query) } else { ask::classify(&request.query) } {
        Ask::Repair => {}
        other => return cannot(other, &request.query, &reports.diagnostics),
    }
    let Some(offer) = usable(&reports.fixes).min_by_key(|(i, fix)| rank(*i, fix, &reports.diagnostics)) else {
        return done(input);
    };
    let fix = offer.1;
    let reasoning = match reported(fix, &reports.diagnostics) {
        Some(line) => format!(
            "{}{} in {}{}: {} The server offers “{}”.",
            reporter(line),
            named(line),
            line.symbol,
            belief(line),
            sentence(&line.message),
            fix.title
        ),
        None => format!("A language server offers “{}” for {}.", fix.title, fix.symbol),
    };
    StepReply {
        action: Some(Action { tool: "apply_fix".to_owned(), parameters: json!({"fix": fix.id}) }),
        reasoning,
        proceed: true,
        confidence: confidence(fix),
        ..StepReply::default()
    }
}

/// Lays out every offered fix, one symbol a step.
pub fn plan(input: &PlanInput) -> PlanReply {
    let ModelInput { context: ModelContext { request, reports, .. }, .. } = input;
    let asked = ask::classify(&request.query);
    if asked != Ask::Repair {
        let reply = cannot(asked, &request.query, &reports.diagnostics);
        return PlanReply {
            title: match asked {
                Ask::Question | Ask::Work => "No plan without a language model".to_owned(),
                _ => "Nothing is to be changed".to_owned(),
            },
            reason: reply.answer,
            steps: Vec::new(),
            confidence: reply.confidence,
        };
    }
    let mut offers: Vec<(usize, &FixOffer)> = usable(&reports.fixes).collect();
    offers.sort_by_key(|(i, fix)| rank(*i, fix, &reports.diagnostics));
    let mut groups: Vec<Group> = Vec::new();
    let mut mended: Vec<usize> = Vec::new();
    for (_, fix) in offers {
        // One fix is enough for one diagnostic, and the best of them came first.
        if fix.diagnostic.is_some_and(|index| mended.contains(&index)) {
            continue;
        }
        mended.extend(fix.diagnostic);
        join(&mut groups, fix);
    }
    let left = left_over(&reports.diagnostics, &reports.fixes);
    if groups.is_empty() {
        return PlanReply {
            title: "Nothing to apply".to_owned(),
            reason: nothing(&reports.diagnostics, &reports.unsettled, &left),
            steps: Vec::new(),
            confidence: 0.9,
        };
    }
    let count: usize = groups.iter().map(|group| group.fixes.len()).sum();
    let symbols: usize = groups.iter().map(|group| group.symbols.len()).sum();
    let mut reason = format!("The language servers offer {}.", counted(count, "fix"));
    if !left.is_empty() {
        reason.push_str(&format!(" No fix that may be applied here is offered for {}.", listed(&left)));
    }
    if reports.left_out > 0 {
        let (left, are) = (counted(reports.left_out, "diagnostic"), if reports.left_out == 1 { "is" } else { "are" });
        reason.push_str(&format!(" It leaves out {left} that {are} reported as well: plan again when it is done."));
    }
    let lowest = groups.iter().flat_map(|group| &group.fixes).map(|fix| confidence(fix)).fold(1.0, f64::min);
    PlanReply {
        title: format!("Apply the offered fixes in {}", counted(symbols, "place")),
        reason,
        steps: groups.iter().map(|group| plan_step(group, &reports.diagnostics)).collect(),
        confidence: lowest,
    }
}

/// The fixes of one step, and the symbols that they change.
struct Group<'a> {
    symbols: Vec<&'a str>,
    fixes: Vec<&'a FixOffer>,
}

/// Puts a fix to those that share a symbol with it. In steps of their own the first of them would find the
/// others' diagnostics in its scope, mend them as well, and leave nothing for the rest.
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

/// The same symbol, or one inside of the other. A file is its module level and holds none of its symbols.
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

fn done(input: &StepInput) -> StepReply {
    let ModelInput { context: ModelContext { reports, .. }, ask } = input;
    let applied = ask.results.iter().filter(|result| result.tool == "apply_fix" && result.ok).count();
    let left: Vec<&DiagnosticLine> = reports.diagnostics.iter().collect();
    let mut answer = String::new();
    if applied > 0 {
        answer = format!("Applied {}. ", counted(applied, "offered fix"));
    }
    answer.push_str(&nothing(&reports.diagnostics, &reports.unsettled, &left));
    if reports.left_out > 0 {
        let left = counted(reports.left_out, "diagnostic");
        answer.push_str(&format!(" The servers could not be asked about {left} more in time: ask again to go on."));
    }
    StepReply {
        reasoning: "No offered fix is left that may be applied here.".to_owned(),
        confidence: 0.9,
        answer,
        ..StepReply::default()
    }
}

fn nothing(diagnostics: &[DiagnosticLine], unsettled: &[String], left: &[&DiagnosticLine]) -> String {
    let silent = match unsettled {
        [] => String::new(),
        names => format!(" Not heard yet about the text as it is: {}. Ask again later.", names.join(", ")),
    };
    match (diagnostics, unsettled) {
        ([], []) => "Nothing is reported here, so there is nothing to fix.".to_owned(),
        ([], _) => format!("Nothing is known to be wrong here.{silent}"),
        _ => format!("No fix that may be applied here is offered for {}.{silent} {HOW_TO_CONFIGURE}", listed(left)),
    }
}

/// What a repair is asked for with; said where a request asks for none.
const HOW_TO_ASK: &str = "To have what is reported mended, say so: `fix the errors`.";

/// Declines whatever is no repair, and says what to do instead.
fn cannot(asked: Ask, query: &str, diagnostics: &[DiagnosticLine]) -> StepReply {
    const ONLY: &str = "The offline model only applies the fixes that language servers offer.";
    let needs =
        |what: &str| format!("{what} needs a language model, and none is configured. {ONLY} {HOW_TO_CONFIGURE}");
    let (reasoning, mut answer) = match asked {
        Ask::Question => ("This is a question.", needs("Answering it")),
        Ask::Forbidden if ask::forbids(query) => {
            let answer =
                format!("Nothing was changed, as you say. To be told more needs a language model. {HOW_TO_CONFIGURE}");
            ("The request forbids changes.", answer)
        }
        Ask::Forbidden => (
            "The request says what is not to be mended, too.",
            format!(
                "Nothing was changed: to mend one thing and leave another needs a language model. The offline model \
                 mends all that is reported in a place: point at a file or a symbol, and say `fix the errors`. \
                 {HOW_TO_CONFIGURE}"
            ),
        ),
        Ask::Unclear => {
            ("This asks for no repair.", format!("Nothing was changed. {ONLY} {HOW_TO_ASK} {HOW_TO_CONFIGURE}"))
        }
        Ask::Work | Ask::Repair => ("This asks for more than an offered fix.", needs("Doing it")),
    };
    if !diagnostics.is_empty() {
        let all: Vec<&DiagnosticLine> = diagnostics.iter().collect();
        answer.push_str(&format!(" Reported here: {}.", listed(&all)));
    }
    StepReply { reasoning: reasoning.to_owned(), confidence: 0.9, answer, ..StepReply::default() }
}

fn usable(fixes: &[FixOffer]) -> impl Iterator<Item = (usize, &FixOffer)> {
    fixes.iter().enumerate().filter(|(_, fix)| !is_suppression(&fix.title))
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

fn left_over<'a>(diagnostics: &'a [DiagnosticLine], fixes: &[FixOffer]) -> Vec<&'a DiagnosticLine> {
    let offered: Vec<usize> = usable(fixes).filter_map(|(_, fix)| fix.diagnostic).collect();
    diagnostics.iter().enumerate().filter(|(i, _)| !offered.contains(i)).map(|(_, line)| line).collect()
}

/// `3 diagnostics: error reportX in a.py::f (2 times), warning F401 in a.py`.
fn listed(lines: &[&DiagnosticLine]) -> String {
    let alike = counts(lines.iter().map(|line| format!("{} in {}", named(line), line.symbol)));
    let more: usize = alike.iter().skip(NAMED).map(|(_, count)| count).sum();
    let mut names: Vec<String> = alike.into_iter().take(NAMED).map(times).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    format!("{}: {}", counted(lines.len(), "diagnostic"), names.join(", "))
}

/// Each name once with how often it comes, in the order of their first places.
fn counts(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts
}

fn times((name, count): (String, usize)) -> String {
    if count == 1 { name } else { format!("{name} ({})", counted(count, "time")) }
}

fn alike(names: impl Iterator<Item = String>) -> Vec<String> {
    counts(names).into_iter().map(times).collect()
}

fn named(line: &DiagnosticLine) -> String {
    format!("{} {}", line.severity, line.code).trim_end().to_owned()
}

/// `basedpyright reports `, and `basedpyright and ruff report ` of two.
fn reporter(line: &DiagnosticLine) -> String {
    let names = line.source.split_once(':').map_or(line.source.as_str(), |(_, names)| names);
    format!("{names} {} ", if names.contains(" and ") { "report" } else { "reports" })
}

/// `, confidence medium`: that something is reported does not make it so.
fn belief(line: &DiagnosticLine) -> String {
    if line.confidence.is_empty() { String::new() } else { format!(", confidence {}", line.confidence) }
}

fn sentence(message: &str) -> String {
    let message = message.trim();
    if message.ends_with(['.', '!', '?']) { message.to_owned() } else { format!("{message}.") }
}

#[cfg(test)]
mod tests;
