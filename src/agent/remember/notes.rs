//! What one task leaves to memory while it runs: short sentences, approaches, counts. Never a file's content.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::agent::plan::{Plan, Step};
use crate::agent::remember::{learn, now_ms};
use crate::agent::task::Task;
use crate::agent::tools::answer::headline;
use crate::agent::tools::apply_fix::TAKEN_BACK;
use crate::base::secrets::{self, mask};
use crate::llm::step::Action;
use crate::memory::entry::{EntryId, Kind, Role};
use crate::symbols::path::SymbolPath;

/// Characters of one entry.
const SENTENCE: usize = 220;
/// Characters of an error inside of its solution.
const CLAUSE: usize = 90;
/// Tools that change files: the success of one may repair any error before it.
const EDITING: &[&str] = &["apply_fix", "edit_file", "edit_symbol", "write_file"];

/// Keys, tokens and passwords as they are commonly written.
static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(sk-[\w-]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}[\w.-]*)|-----BEGIN[^-]*-----|\b(password|passwd|contraseña|secret|token|api[_-]?key)\s*(=|:|\bis\b|\bes\b)\s*\S+",
    )
    .ok()
});

/// Whether a text holds what looks like a key or a password.
pub(crate) fn has_secret(text: &str) -> bool {
    secrets::holds(text) || SECRET.as_ref().is_some_and(|secret| secret.is_match(text))
}

/// One line of at most so many characters, without what looks like a secret.
pub(crate) fn short(text: &str, most: usize) -> String {
    let flat = mask(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = SECRET.as_ref().map_or(flat.clone(), |secret| secret.replace_all(&flat, "(hidden)").into_owned());
    match flat.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &flat[..cut]),
        None => flat,
    }
}

/// An entry before it is written; session and mode are the task's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub(crate) kind: Kind,
    pub(crate) role: Option<Role>,
    pub(crate) content: String,
    pub(crate) tools: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) relevance: f64,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
}

/// What was done about a kind of task, and whether it worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approach {
    pub(crate) kind: String,
    pub(crate) approach: String,
    pub(crate) success: bool,
    pub(crate) note: String,
    /// The checkpoint of what was done; empty where it is of the task as a whole.
    pub(crate) checkpoint: String,
}

/// What the lookups of one task came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tally {
    pub(crate) lookups: u32,
    pub(crate) hits: u32,
    /// Microseconds of all of them together.
    pub(crate) retrieval_us: u32,
    /// Tokens of what was found, and of what prompts have got of it.
    pub(crate) found: u64,
    pub(crate) given: u64,
}

#[derive(Debug, Default)]
pub struct Notes {
    /// Milliseconds since 1970; 0 before it began.
    pub(crate) started: i64,
    since: Option<Instant>,
    worked: Duration,
    /// Tool calls of the whole task.
    pub(crate) steps: u32,
    pub(crate) errors: u32,
    pub(crate) escalations: u32,
    pub(crate) calls_saved: u32,
    pub(crate) tally: Tally,
    /// Of all of it; `tally` since it was last concluded.
    pub(crate) total: Tally,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) approaches: Vec<Approach>,
    pub(crate) said_unsaid: bool,
    /// Entries that its prompts have carried.
    pub(crate) recalled: BTreeSet<EntryId>,
    /// Codes of the diagnostics of the last question, the worst first.
    pub(crate) codes: Vec<String>,
    /// Whether a diagnostic was in view when it began.
    pub(crate) had_work: bool,
    /// Tool and words of what nothing has repaired yet.
    open_error: Option<(String, String)>,
    /// Writes under way, in their order.
    pub(crate) writing: Option<JoinHandle<()>>,
}

/// What another process needs of the notes to count on. Grows by fields with defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counted {
    started: i64,
    worked_ms: u64,
    steps: u32,
    errors: u32,
    escalations: u32,
    calls_saved: u32,
    tally: Tally,
    total: Tally,
    approaches: Vec<Approach>,
    had_work: bool,
    open_error: Option<(String, String)>,
}

impl Counted {
    /// A run that ends or pauses has its approaches learned by its own process.
    pub(crate) fn concluded(&mut self) {
        self.approaches.clear();
    }
}

impl Notes {
    /// As they stand. Drafts are written in their own time and are no part of it.
    pub(crate) fn counted(&self) -> Counted {
        let worked = self.worked + self.since.map_or(Duration::ZERO, |since| since.elapsed());
        Counted {
            started: self.started,
            worked_ms: u64::try_from(worked.as_millis()).unwrap_or(u64::MAX),
            steps: self.steps,
            errors: self.errors,
            escalations: self.escalations,
            calls_saved: self.calls_saved,
            tally: self.tally,
            total: self.total,
            approaches: self.approaches.clone(),
            had_work: self.had_work,
            open_error: self.open_error.clone(),
        }
    }

    /// Counts on from what another process has counted; the clock stands.
    pub(crate) fn count_on(counted: Counted) -> Self {
        Self {
            started: counted.started,
            worked: Duration::from_millis(counted.worked_ms),
            steps: counted.steps,
            errors: counted.errors,
            escalations: counted.escalations,
            calls_saved: counted.calls_saved,
            tally: counted.tally,
            total: counted.total,
            approaches: counted.approaches,
            had_work: counted.had_work,
            open_error: counted.open_error,
            ..Self::default()
        }
    }

    /// The clock runs while the agent works, not while a plan waits for its user.
    pub(crate) fn start_clock(&mut self) {
        if self.started == 0 {
            self.started = now_ms();
        }
        self.since.get_or_insert_with(Instant::now);
    }

    pub(crate) fn stop_clock(&mut self) -> Duration {
        self.worked += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.worked
    }

    pub(crate) fn add(&mut self, kind: Kind, text: &str) -> &mut Draft {
        self.drafts.push(Draft {
            kind,
            role: None,
            content: short(text, SENTENCE),
            tools: Vec::new(),
            files: Vec::new(),
            relevance: 1.0,
            at: now_ms(),
        });
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    pub(crate) fn said(&mut self, role: Role, text: &str) {
        self.add(Kind::Chat, text).role = Some(role);
    }
}

impl Task {
    /// Keeps what a tool call came to: a failure, or the success that repaired one.
    pub(crate) fn note_acted(&mut self, action: &Action, ok: bool, text: &str) {
        let tool = action.tool.clone();
        let given = ["symbol", "path", "fix"]
            .iter()
            .find_map(|key| action.parameters.get(*key).and_then(|value| value.as_str()))
            .unwrap_or_default();
        let offer = self.offered.iter().find(|offer| offer.id == given).cloned();
        let title = offer.as_ref().map(|offer| offer.title().to_owned());
        // What was looked for may be a piece of a file; what was done it to is a name.
        let symbol = offer.as_ref().map_or(given, |offer| offer.symbol()).to_owned();
        let what = title.as_ref().map_or_else(|| format!("{tool} {symbol}"), |title| format!("“{title}” in {symbol}"));
        let notes = &mut self.notes;
        notes.steps += 1;
        let reason = plain(text);
        let editing = EDITING.contains(&tool.as_str());
        let (kind, content) = if ok {
            let repaired = notes.open_error.take_if(|(failed, _)| editing || *failed == tool);
            let Some((_, error)) = repaired else {
                self.note_approach(offer.as_ref().map(|offer| offer.code.clone()), title, &tool, ok, "");
                return;
            };
            (Kind::Solution, format!("After “{error}” this worked: {}.", what.trim_end()))
        } else {
            notes.errors += 1;
            notes.open_error = Some((tool.clone(), short(&format!("{}: {reason}", what.trim_end()), CLAUSE)));
            (Kind::Error, format!("{} failed: {reason}", what.trim_end()))
        };
        let draft = notes.add(kind, &content);
        draft.tools.push(tool.clone());
        let file = SymbolPath::parse(&symbol).file;
        if !file.is_empty() {
            draft.files.push(file);
        }
        let blamed = ok || text.starts_with(TAKEN_BACK);
        if blamed {
            self.note_approach(offer.map(|offer| offer.code), title, &tool, ok, if ok { "" } else { &reason });
        }
    }

    /// Keeps what the user answered to a question.
    pub(crate) fn note_answer(&mut self, question: &str, answer: &str) {
        let content = format!("Asked “{}”, the user chose: {}.", short(question, 140), short(answer, 60));
        self.notes.add(Kind::UserFeedback, &content);
    }

    /// Keeps what the user changed in a plan that was shown, and in which words: steps that went, which are a lesson
    /// for plans of this kind, and steps in other words.
    pub fn note_plan_change(&mut self, before: &Plan, after: &Plan, words: &str) {
        let words = short(words, 100);
        self.notes.add(Kind::UserFeedback, &format!("The user wanted the plan otherwise: {words}"));
        let has = |plan: &Plan, title: &str| plan.steps.iter().any(|step| step.title == title);
        let gone: Vec<&Step> = before.steps.iter().filter(|step| !has(after, &step.title)).collect();
        let mut new: Vec<&Step> = after.steps.iter().filter(|step| !has(before, &step.title)).collect();
        for step in gone {
            let title = short(&step.title, 80);
            // A step with the same symbols is the same work in other words.
            let reworded = new.iter().position(|other| other.symbols == step.symbols).map(|at| new.remove(at));
            let content = match reworded {
                Some(other) => format!("The user reworded the step “{title}”: {}", short(&other.title, 100)),
                None => {
                    let (kind, note) = (learn::plan_kind(&self.request), format!("taken out by the user: {words}"));
                    let (approach, checkpoint) = (format!("step {title}"), String::new());
                    self.notes.approaches.push(Approach { kind, approach, success: false, note, checkpoint });
                    format!("The user took the step “{title}” out of the plan.")
                }
            };
            self.notes.add(Kind::UserFeedback, &content);
        }
        for step in new {
            self.notes.add(Kind::UserFeedback, &format!("The user added the step “{}”.", short(&step.title, 100)));
        }
    }

    fn note_approach(&mut self, code: Option<String>, title: Option<String>, tool: &str, success: bool, note: &str) {
        if !EDITING.contains(&tool) {
            return;
        }
        let code = code.filter(|code| !code.is_empty());
        let kind = code.map_or_else(|| learn::kind(&self.request, &self.notes.codes), |code| format!("fix {code}"));
        let approach = title.unwrap_or_else(|| tool.to_owned());
        let done = self.journal.checkpoints.last().filter(|_| success);
        let checkpoint = done.map(|checkpoint| checkpoint.id.clone()).unwrap_or_default();
        self.notes.approaches.push(Approach { kind, approach, success, note: short(note, SENTENCE), checkpoint });
    }
}

/// The first line of a tool's answer up to what it quotes: the rest may be a piece of a file.
fn plain(text: &str) -> String {
    let line = headline(text);
    let end = line.find(['`', '"']).filter(|at| *at > 0).unwrap_or(line.len());
    line[..end].trim_end_matches([' ', ':', '(']).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::mode::Mode;
    use crate::agent::offers::Offered;
    use crate::agent::scope::Scope;

    fn task() -> Task {
        let mut task = Task::new("fix total", Mode::Simple, None, Scope::Workspace);
        task.offered.push(Offered {
            id: "f1".into(),
            key: "Add None check|a.py::f|bad".into(),
            about: "a.py::f|bad".into(),
            code: "reportX".into(),
        });
        task
    }

    fn action(tool: &str, parameters: serde_json::Value) -> Action {
        Action { tool: tool.into(), parameters }
    }

    #[test]
    fn an_error_and_what_repaired_it_are_kept_in_a_sentence() {
        let mut task = task();
        let edit = json!({"symbol": "a.py::f", "content": "password = hunter2"});
        task.note_acted(&action("edit_symbol", edit.clone()), false, "no single symbol f in a.py (there is g)\nmore");
        task.note_acted(&action("read_file", json!({"path": "a.py"})), true, "def f(): ...");
        task.note_acted(&action("edit_symbol", edit), true, "edited a.py::f");
        task.note_acted(&action("edit_file", json!({"path": "b.py"})), true, "edited b.py");
        let kept: Vec<(Kind, &str)> =
            task.notes.drafts.iter().map(|draft| (draft.kind, draft.content.as_str())).collect();
        assert_eq!(kept[0], (Kind::Error, "edit_symbol a.py::f failed: no single symbol f in a.py (there is g)"));
        let solution =
            "After “edit_symbol a.py::f: no single symbol f in a.py (there is g)” this worked: edit_symbol a.py::f.";
        assert_eq!(kept[1..], [(Kind::Solution, solution)]);
        assert_eq!(task.notes.drafts[1].files, ["a.py"]);
        assert_eq!((task.notes.steps, task.notes.errors), (4, 1));
    }

    #[test]
    fn a_fix_that_was_taken_back_is_no_approach_and_a_fix_that_is_gone_says_nothing_of_it() {
        let mut task = task();
        let apply = action("apply_fix", json!({"fix": "f1"}));
        task.note_acted(&apply, false, "there is no such fix any more");
        assert_eq!(task.notes.approaches, []);
        task.note_acted(&apply, false, &format!("{TAKEN_BACK}: it introduced an error"));
        task.note_acted(&apply, true, "edited a.py::f");
        let learned: Vec<(&str, &str, bool)> =
            task.notes.approaches.iter().map(|one| (one.kind.as_str(), one.approach.as_str(), one.success)).collect();
        assert_eq!(learned, [("fix reportX", "Add None check", false), ("fix reportX", "Add None check", true)]);
    }

    #[test]
    fn what_the_user_changes_in_a_plan_is_feedback() {
        let step = |title: &str, symbol: &str| Step {
            title: title.into(),
            symbols: vec![SymbolPath::parse(symbol)],
            ..Step::default()
        };
        let plan = |steps: Vec<Step>| Plan { steps, ..Plan::default() };
        let before = plan(vec![step("one", "a.py::f"), step("two", "a.py::g"), step("three", "a.py::h")]);
        let after = plan(vec![step("three", "a.py::h"), step("one, gently", "a.py::f"), step("four", "b.py::k")]);
        let mut task = task();
        task.note_plan_change(&before, &after, "h first, and gently");
        let said: Vec<&str> = task.notes.drafts.iter().map(|draft| draft.content.as_str()).collect();
        assert_eq!(
            said,
            [
                "The user wanted the plan otherwise: h first, and gently",
                "The user reworded the step “one”: one, gently",
                "The user took the step “two” out of the plan.",
                "The user added the step “four”."
            ]
        );
        let lessons = &task.notes.approaches;
        assert_eq!((lessons.len(), lessons[0].approach.as_str(), lessons[0].success), (1, "step two", false));
    }

    #[test]
    fn what_looks_like_a_secret_is_hidden_and_the_rest_is_short() {
        for secret in ["use sk-abcdefghijklmnop1234 now", "la contraseña es hunter2", "API_KEY=abc123", "token: xyz"] {
            assert!(has_secret(secret) && short(secret, 99).contains("(hidden)"), "{secret}");
        }
        assert!(!has_secret("rename the token parser in a.py::tokenize"));
        assert_eq!(short("a  b\nc", 99), "a b c");
        assert_eq!(short("abcdef", 3), "abc…");
        assert_eq!(
            plain("old_string is not in a.py; the closest is `x = secret()`"),
            "old_string is not in a.py; the closest is"
        );
    }
}
