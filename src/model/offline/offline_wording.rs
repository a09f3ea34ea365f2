//! The answers of the offline model: the applied fixes, the diagnostics left, and the requests that it cannot do.

use crate::input::{ReportFacts, RequestFacts};
use crate::offline::HOW_TO_CONFIGURE;
use crate::request_kind::filter_reports::Narrowed;
use crate::request_kind::kinds::Reported;
use crate::request_kind::{self, Ask};
use crate::step::{DiagnosticLine, StepReply};
use sextant_base::one_line::quoted;
use sextant_base::plural::counted;

/// At most this many kinds of diagnostics are named in an answer; the rest are counted.
const NAMED: usize = 5;

/// The wording of a request for a repair; shown when a request asks for none.
const HOW_TO_ASK: &str = "To have the reports fixed, say so: `fix the errors`, `fix F401`, `fix this`.";

/// An answer about the reports, as far as the request wants them repaired.
pub(super) struct RepairAnswer<'a> {
    reports: &'a ReportFacts,
    narrowed: &'a Narrowed,
    /// The searched place: the scope, in words.
    place: String,
    wanted: Vec<&'a DiagnosticLine>,
}

impl<'a> RepairAnswer<'a> {
    pub(super) fn new(request: &RequestFacts, reports: &'a ReportFacts, narrowed: &'a Narrowed) -> Self {
        let wanted = reports.diagnostics.iter().filter(|line| narrowed.wants(&Reported::from(*line))).collect();
        let place = match request.scope.as_slice() {
            [] => "the workspace".to_owned(),
            scope => scope.join(", "),
        };
        Self { reports, narrowed, place, wanted }
    }

    /// The end of the work, after so many fixes.
    pub(super) fn after(&self, applied: usize) -> StepReply {
        let mut parts = Vec::new();
        if applied > 0 {
            parts.push(format!("Applied {}.", counted(applied, "offered fix")));
        }
        parts.extend(self.left(applied > 0));
        if self.reports.left_out > 0 {
            let left = counted(self.reports.left_out, "diagnostic");
            parts.push(format!("The servers could not be asked about {left} more in time: ask again to go on."));
        }
        parts.extend(self.undone());
        StepReply {
            reasoning: "No offered fix is left that may be applied here.".to_owned(),
            confidence: 0.9,
            answer: with_way_out(parts),
            ..StepReply::default()
        }
    }

    /// The reason why there is no plan.
    pub(super) fn without_steps(&self) -> String {
        with_way_out([self.left(false), self.undone()].concat())
    }

    /// The reason for the steps of a plan.
    pub(super) fn with_steps(&self, fixes: usize, steps: usize) -> String {
        let mut parts =
            vec![format!("The language servers offer {}, in {}.", counted(fixes, "fix"), counted(steps, "step"))];
        parts.extend(self.absent());
        let offered: Vec<usize> = super::usable(&self.reports.fixes).filter_map(|(_, fix)| fix.diagnostic).collect();
        let all = self.reports.diagnostics.iter().enumerate();
        let without = all.filter(|(i, line)| !offered.contains(i) && self.narrowed.wants(&Reported::from(*line)));
        let without: Vec<&DiagnosticLine> = without.map(|(_, line)| line).collect();
        parts.extend(unfixed(&without));
        parts.extend(self.others());
        if self.reports.left_out > 0 {
            let count = self.reports.left_out;
            let (left, are) = (counted(count, "diagnostic"), if count == 1 { "is" } else { "are" });
            parts.push(format!("It leaves out {left} that {are} reported as well: plan again when it is done."));
        }
        parts.extend(self.undone());
        with_way_out(parts)
    }

    /// The wanted diagnostics that are still reported, or that there are none.
    fn left(&self, applied: bool) -> Vec<String> {
        let silent = match self.reports.unsettled.as_slice() {
            [] => Vec::new(),
            names => vec![format!("Not heard yet about the text as it is: {}. Ask again later.", names.join(", "))],
        };
        if let [_, ..] = self.narrowed.missing.as_slice() {
            let names: Vec<String> = self.narrowed.missing.iter().map(|name| format!("`{name}`")).collect();
            let (names, is) = (names.join(", "), if names.len() == 1 { "is" } else { "are" });
            return vec![format!(
                "Nothing was changed: {names} {is} not found, so the meaning is unclear. Name a code, a symbol or a file."
            )];
        }
        let mut parts = self.absent();
        if self.wanted.is_empty() {
            if parts.is_empty() {
                parts.push(match (self.narrowed.is_all(), silent.is_empty(), applied) {
                    (true, true, true) => "Nothing else is reported here.".to_owned(),
                    (true, true, false) => "Nothing is reported here, so there is nothing to fix.".to_owned(),
                    (true, false, _) => "Nothing is known to be wrong here.".to_owned(),
                    (false, true, true) => "Nothing is left of the request.".to_owned(),
                    (false, true, false) => "Nothing that was asked for is reported here.".to_owned(),
                    (false, false, _) => "Nothing that was asked for is known to be wrong here.".to_owned(),
                });
            }
        } else {
            parts.extend(unfixed(&self.wanted));
        }
        parts.extend(silent);
        parts.extend(self.others());
        parts
    }

    /// Names in the request that nobody reports.
    fn absent(&self) -> Vec<String> {
        let reported: Vec<Reported> = self.reports.diagnostics.iter().map(Reported::from).collect();
        let still: Vec<String> = self.narrowed.absent(&reported);
        let never = self.reports.absent.iter().filter(|name| still.contains(name));
        let of = |name: &String| {
            let place = if name.contains(" in ") { String::new() } else { format!(" in {}", self.place) };
            format!("No {name} is reported{place}.")
        };
        never.map(of).collect()
    }

    /// The sentence that the diagnostics outside of the request stay as they are.
    fn others(&self) -> Vec<String> {
        let shown = self.reports.diagnostics.len() - self.wanted.len();
        match shown.max(self.reports.older) {
            0 => Vec::new(),
            _ if !self.narrowed.missing.is_empty() => Vec::new(),
            count => {
                let (are, were) = if count == 1 { ("is", "was") } else { ("are", "were") };
                vec![format!("{} {are} reported here and {were} not asked for.", counted(count, "other diagnostic"))]
            }
        }
    }

    /// The other wishes of the request.
    fn undone(&self) -> Vec<String> {
        let undone = self.narrowed.undone.iter();
        let needs = "It needs a language model, and none is configured.";
        undone.map(|what| format!("Not done: {}. {needs}", quoted(what))).collect()
    }
}

/// These have no fix that may be applied; for some of them that is unknown.
fn unfixed(lines: &[&DiagnosticLine]) -> Vec<String> {
    let (unknown, without): (Vec<&DiagnosticLine>, Vec<&DiagnosticLine>) =
        lines.iter().partition(|line| !line.unanswered.is_empty());
    let mut parts = Vec::new();
    if !without.is_empty() {
        parts.push(format!("No fix that may be applied here is offered for {}.", listed(&without)));
    }
    if !unknown.is_empty() {
        let mut names: Vec<&str> = unknown.iter().flat_map(|line| line.unanswered.iter().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        let have = if names.len() == 1 { "has" } else { "have" };
        parts.push(format!(
            "Not answered: {} {have} not reported in time the fixes for {}. Ask again.",
            names.join(" and "),
            listed(&unknown)
        ));
    }
    parts
}

/// One text, with the way to a language model if one could do more.
fn with_way_out(mut parts: Vec<String>) -> String {
    if parts.iter().any(|part| part.starts_with("No fix that") || part.starts_with("Not done")) {
        parts.push(HOW_TO_CONFIGURE.to_owned());
    }
    parts.join(" ")
}

/// Declines every request that is not a repair, and names the alternative.
pub(super) fn cannot(asked: Ask, query: &str, diagnostics: &[DiagnosticLine]) -> StepReply {
    const ONLY: &str = "The offline model only applies the fixes that language servers offer.";
    let needs =
        |what: &str| format!("{what} needs a language model, and none is configured. {ONLY} {HOW_TO_CONFIGURE}");
    let (reasoning, mut answer) = match asked {
        Ask::Question => ("This is a question.", needs("Answering it")),
        Ask::Forbidden if request_kind::forbids(query) => {
            let answer =
                format!("Nothing was changed, as you say. A fuller answer needs a language model. {HOW_TO_CONFIGURE}");
            ("The request forbids changes.", answer)
        }
        Ask::Forbidden => (
            "The request also names parts that must stay as they are.",
            format!(
                "Nothing was changed: to fix one thing and leave another needs a language model. Name the part to \
                 fix instead: `fix the errors`, `fix F401 in FILE`. {HOW_TO_CONFIGURE}"
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

/// Each name once with its count, in the order of their first places.
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

fn times(named: (String, usize)) -> String {
    let (name, count) = named;
    if count == 1 { name } else { format!("{name} ({})", counted(count, "time")) }
}

pub(super) fn alike(names: impl Iterator<Item = String>) -> Vec<String> {
    counts(names).into_iter().map(times).collect()
}

pub(super) fn named(line: &DiagnosticLine) -> String {
    format!("{} {}", line.severity, line.code).trim_end().to_owned()
}

/// `basedpyright reports `, and `basedpyright and ruff report ` of two.
pub(super) fn reporter(line: &DiagnosticLine) -> String {
    let names = line.source.split_once(':').map_or(line.source.as_str(), |(_, names)| names);
    format!("{names} {} ", if names.contains(" and ") { "report" } else { "reports" })
}

/// `, confidence medium`: a report does not prove the problem.
pub(super) fn belief(line: &DiagnosticLine) -> String {
    if line.confidence.is_empty() { String::new() } else { format!(", confidence {}", line.confidence) }
}

pub(super) fn sentence(message: &str) -> String {
    let message = message.trim();
    if message.ends_with(['.', '!', '?']) { message.to_owned() } else { format!("{message}.") }
}
