//! What a task leaves to memory while it runs.

use crate::agent::memory::kind;
use crate::agent::plan::{Plan, Step};
use crate::agent::state::called::Called;
use crate::agent::state::notes::{self, Approach, CLAUSE, SENTENCE, TAKEN_BACK};
use crate::agent::state::task::Task;
use crate::memory::entry::Kind;
use crate::symbols::path::SymbolPath;

impl Task {
    /// Keeps what a tool call came to: a failure, or the success that repaired one.
    pub(crate) fn note_acted(&mut self, called: &Called, ok: bool, text: &str) {
        let (tool, given) = (called.tool.clone(), called.subject.named());
        let offer = self.conversation.offered.iter().find(|offer| offer.id == given).cloned();
        let title = offer.as_ref().map(|offer| offer.title().to_owned());
        // What was looked for may be a piece of a file; what was done it to is a name.
        let symbol = offer.as_ref().map_or(given, |offer| offer.symbol()).to_owned();
        let what = title.as_ref().map_or_else(|| format!("{tool} {symbol}"), |title| format!("“{title}” in {symbol}"));
        let notes = &mut self.notes;
        notes.steps += 1;
        let reason = notes::plain(text);
        let (kind, content) = if ok {
            let repaired = notes.open_error.take_if(|(failed, _)| called.edits() || *failed == tool);
            let Some((_, error)) = repaired else {
                self.note_approach(offer.as_ref().map(|offer| offer.code.clone()), title, called, ok, "");
                return;
            };
            (Kind::Solution, format!("After “{error}” this worked: {}.", what.trim_end()))
        } else {
            notes.errors += 1;
            notes.open_error = Some((tool.clone(), notes::short(&format!("{}: {reason}", what.trim_end()), CLAUSE)));
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
            self.note_approach(offer.map(|offer| offer.code), title, called, ok, if ok { "" } else { &reason });
        }
    }

    /// Keeps what the user answered to a question.
    pub(crate) fn note_answer(&mut self, question: &str, answer: &str) {
        let content = format!("Asked “{}”, the user chose: {}.", notes::short(question, 140), notes::short(answer, 60));
        self.notes.add(Kind::UserFeedback, &content);
    }

    /// Keeps what the user changed in a plan that was shown, and in which words: steps that went, which are a lesson
    /// for plans of this kind, and steps in other words.
    pub fn note_plan_change(&mut self, before: &Plan, after: &Plan, words: &str) {
        let words = notes::short(words, 100);
        self.notes.add(Kind::UserFeedback, &format!("The user wanted the plan otherwise: {words}"));
        let has = |plan: &Plan, title: &str| plan.steps.iter().any(|step| step.title == title);
        let gone: Vec<&Step> = before.steps.iter().filter(|step| !has(after, &step.title)).collect();
        let mut new: Vec<&Step> = after.steps.iter().filter(|step| !has(before, &step.title)).collect();
        for step in gone {
            let title = notes::short(&step.title, 80);
            // A step with the same symbols is the same work in other words.
            let reworded = new.iter().position(|other| other.symbols == step.symbols).map(|at| new.remove(at));
            let content = match reworded {
                Some(other) => format!("The user reworded the step “{title}”: {}", notes::short(&other.title, 100)),
                None => {
                    let (kind, note) = (kind::plan_kind(&self.request), format!("taken out by the user: {words}"));
                    let (approach, checkpoint) = (format!("step {title}"), String::new());
                    self.notes.approaches.push(Approach { kind, approach, success: false, note, checkpoint });
                    format!("The user took the step “{title}” out of the plan.")
                }
            };
            self.notes.add(Kind::UserFeedback, &content);
        }
        for step in new {
            self.notes
                .add(Kind::UserFeedback, &format!("The user added the step “{}”.", notes::short(&step.title, 100)));
        }
    }

    pub(crate) fn note_approach(
        &mut self,
        code: Option<String>,
        title: Option<String>,
        called: &Called,
        success: bool,
        note: &str,
    ) {
        if !called.edits() {
            return;
        }
        let code = code.filter(|code| !code.is_empty());
        let kind = code.map_or_else(|| kind::kind(&self.request, &self.notes.codes), |code| format!("fix {code}"));
        let approach = title.unwrap_or_else(|| called.tool.clone());
        let done = self.journal.checkpoints.last().filter(|_| success);
        let checkpoint = done.map(|checkpoint| checkpoint.id.clone()).unwrap_or_default();
        self.notes.approaches.push(Approach {
            kind,
            approach,
            success,
            note: notes::short(note, SENTENCE),
            checkpoint,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::plan::mode::Mode;
    use crate::agent::state::called::Subject;
    use crate::agent::state::notes::{has_secret, plain, short};
    use crate::agent::state::offered::Offered;
    use crate::agent::state::scope::Scope;
    use crate::llm::tools::Access;

    fn task() -> Task {
        let mut task = Task::new("fix total", Mode::Simple, None, Scope::Workspace);
        task.conversation.offered.push(Offered {
            id: "f1".into(),
            key: "Add None check|a.py::f|bad".into(),
            about: "a.py::f|bad".into(),
            code: "reportX".into(),
        });
        task
    }

    fn called(tool: &str, access: Access, subject: Subject) -> Called {
        Called { tool: tool.into(), access: Some(access), subject }
    }

    #[test]
    fn an_error_and_what_repaired_it_are_kept_in_a_sentence() {
        let mut task = task();
        let edit = called("edit_symbol", Access::Edit, Subject::symbol("a.py::f"));
        task.note_acted(&edit, false, "no single symbol f in a.py (there is g)\nmore");
        task.note_acted(&called("read_file", Access::Read, Subject::file("a.py")), true, "def f(): ...");
        task.note_acted(&edit, true, "edited a.py::f");
        task.note_acted(&called("edit_file", Access::Edit, Subject::file("b.py")), true, "edited b.py");
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
        let apply = called("apply_fix", Access::Edit, Subject::fix("f1"));
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
