//! Lays the plan out as a page: the text around its document, the lines of each step, and the actions there.

use serde_json::{Value, json};

use crate::link::{ACTION_KIND, OwnAction, OwnHover};
use sextant_base::plural::counted;
use sextant_base::positions::{Position, Range};
use sextant_engine::api::{Event, Step, StepState, plan_document};

/// The known parts of the current plan.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanText {
    pub(super) request: String,
    pub(super) markdown: String,
    pub(super) phase: String,
    pub(super) done: usize,
    pub(super) of: usize,
    pub(super) failed: usize,
    pub(super) question: Option<PlanQuestion>,
    /// The end of the plan, or the reason why it could not be made.
    pub(super) note: String,
}

/// The question that a plan waits with.
#[derive(Clone, Debug)]
pub(super) struct PlanQuestion {
    pub(super) text: String,
    pub(super) options: Vec<String>,
    /// Counts the questions of the session.
    pub(super) number: u64,
}

impl PlanText {
    pub(super) fn take(&mut self, event: Event) {
        if let Event::Plan { markdown, phase, steps, done, failed, .. } = event {
            (self.markdown, self.phase, self.done, self.of, self.failed) = (markdown, phase, done, steps, failed);
        }
    }

    fn waits(&self) -> bool {
        !self.markdown.is_empty() && self.phase != "executing"
    }

    /// The text of the page. Text outside of the document stands in comments.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let mut comment = |text: &str| out.push_str(&format!("<!-- {} -->\n", text.replace("-->", "→")));
        comment(&self.headline());
        if !self.note.is_empty() {
            self.note.lines().filter(|line| !line.trim().is_empty()).for_each(&mut comment);
        }
        if let Some(PlanQuestion { text, options, .. }) = &self.question {
            comment(&format!("? {}", one_line(text)));
            for (number, option) in (1..).zip(options) {
                comment(&format!("  {number}. {}", one_line(option)));
            }
        }
        if self.markdown.is_empty() {
            out.push_str(&format!("# {}\n", one_line(&self.request)));
        } else {
            out.push_str(&self.markdown);
        }
        out
    }

    fn headline(&self) -> String {
        let progress = format!("{} of {} done", self.done, self.of);
        let keys = "space a: actions; :w saves";
        match self.phase.as_str() {
            "" if self.note.is_empty() => "planning…".to_owned(),
            "" => "no plan was made; agent.plan makes one".to_owned(),
            "executing" => format!("running, {progress}; agent.stop stops it"),
            _ if self.question.is_some() => "paused with a question; space a: the answers".to_owned(),
            "completed" => self.end(),
            phase => format!("{phase}, {progress}; {keys}"),
        }
    }

    /// The end of a plan, in the words of the window's title in Neovim, and the way back from what was done.
    fn end(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let back = match (self.done, self.failed) {
            (0, _) => "agent.plan makes another",
            (_, 0) => "agent.undo takes it back",
            _ => "space a: take steps back",
        };
        format!("done, {} of {}{failed}; {back}", self.done, counted(self.of, "step"))
    }

    /// The actions on offer in a page with these steps.
    pub(super) fn actions(&self, steps: &[(Step, Range)]) -> Vec<OwnAction> {
        if let Some(PlanQuestion { options, number, .. }) = &self.question {
            return answers(options, *number);
        }
        let everywhere = |title: &str, command: &str| action(None, title, command, Vec::new());
        if self.markdown.is_empty() && self.request.is_empty() {
            // The page belongs to an engine that is gone.
            return vec![everywhere("Sextant: go on with what was interrupted", "agent.resume")];
        }
        if self.phase.is_empty() && !self.note.is_empty() {
            return Vec::new();
        }
        if self.phase == "executing" || self.phase.is_empty() {
            return vec![everywhere("Sextant: stop", "agent.stop")];
        }
        let mut actions = Vec::new();
        let open = steps.iter().position(|(step, _)| step.state == StepState::Open);
        if self.waits() && open.is_some() {
            actions.push(everywhere("Sextant: approve the plan and run it", "agent.approve"));
        }
        for (index, (step, range)) in steps.iter().enumerate() {
            actions.extend(of_step(index, step, *range, open == Some(index)));
        }
        if self.done > 0 {
            actions.push(everywhere("Sextant: roll the whole plan back", "agent.undo"));
        }
        actions
    }
}

fn of_step(index: usize, step: &Step, range: Range, next: bool) -> Vec<OwnAction> {
    let number = index + 1;
    let here = |title: &str, command: &str, argument: Option<Value>| {
        action(Some(range), title, command, argument.into_iter().collect())
    };
    match step.state {
        StepState::Open => {
            let skip = here(&format!("Sextant: skip step {number}"), "agent.skip", Some(json!(number)));
            let run = next.then(|| here("Sextant: run this step alone", "agent.step", None));
            run.into_iter().chain([skip]).collect()
        }
        StepState::Done => {
            let step = json!(format!("step {number}"));
            vec![here(&format!("Sextant: roll step {number} back"), "agent.undo", Some(step))]
        }
        StepState::Failed | StepState::Skipped => {
            vec![here(&format!("Sextant: open step {number} again"), "agent.retry", Some(json!(number)))]
        }
        StepState::Running => Vec::new(),
    }
}

fn action(range: Option<Range>, title: &str, command: &str, arguments: Vec<Value>) -> OwnAction {
    let (title, command) = (title.to_owned(), command.to_owned());
    OwnAction { range, title, kind: ACTION_KIND.to_owned(), is_preferred: false, command, arguments }
}

/// The option that withholds a consent; it is the last one.
const NO: &str = "no";

/// The answers to a question, in the order of their numbers. A question for consent has its no first: the editor takes
/// the first entry for a stray Enter.
pub(super) fn answers(options: &[String], question: u64) -> Vec<OwnAction> {
    let one = |(index, option): (usize, &String)| {
        let arguments = vec![json!(index + 1), json!({"question": question})];
        action(None, &format!("Sextant: answer “{}”", one_line(option)), "agent.answer", arguments)
    };
    let mut items: Vec<OwnAction> = options.iter().enumerate().map(one).collect();
    if options.last().is_some_and(|option| option == NO) {
        items.reverse();
    }
    items
}

/// The details of each step of a page with this text, at its lines.
pub(super) fn hovers(text: &str, steps: &[(Step, Range)]) -> Vec<OwnHover> {
    let lines: Vec<&str> = text.lines().collect();
    let one = |(number, (step, range)): (usize, &(Step, Range))| {
        let state = match step.state {
            StepState::Open => "not run yet",
            StepState::Running => "running",
            StepState::Done if step.has_late_errors() => "done, with new errors",
            StepState::Done => "done",
            StepState::Failed => "failed",
            StepState::Skipped => "skipped",
        };
        let from = range.start.line as usize + 1;
        let to = (range.end.line as usize + 1).min(lines.len());
        let details = lines.get(from..to).unwrap_or_default();
        let details: Vec<&str> = details.iter().map(|line| line.trim_start()).collect();
        let markdown = format!("**Step {number}**, {state}: {}\n\n{}", step.title, details.join("\n"));
        OwnHover { range: *range, markdown }
    };
    (1..).zip(steps).map(one).collect()
}

/// The steps in a page's text, with the lines of each and of its details.
pub(super) fn steps(text: &str) -> Vec<(Step, Range)> {
    let document = without_comments(text);
    let (plan, _) = plan_document::read(&document);
    let starts = plan_document::step_lines(&document);
    let last = text.lines().count();
    let ends = starts.iter().skip(1).copied().chain([last + 1]);
    let place = |line: usize, character: u32| Position { line: u32::try_from(line).unwrap_or(u32::MAX), character };
    let ranges = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| Range { start: place(start - 1, 0), end: place(end.saturating_sub(2), 10_000) });
    plan.steps.into_iter().zip(ranges).collect()
}

/// The document in a page: comments are empty, so that every line keeps its number. Text behind one is part of the document.
pub(super) fn without_comments(text: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let comment = inside || line.trim_start().starts_with("<!--");
        let (rest, ends) = match line.split_once("-->") {
            Some((_, rest)) if comment => (rest.trim_start(), true),
            _ => (if comment { "" } else { line }, false),
        };
        inside = comment && !ends;
        out.push_str(rest);
        out.push('\n');
    }
    out
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        "# Fix it\n\nwhy\n\n- [x] One\n  - outcome: fine\n- [ ] Two\n  - symbols: `a.py::f`\n- [ ] Three\n";

    fn shown(phase: &str) -> PlanText {
        let (markdown, phase) = (DOCUMENT.to_owned(), phase.to_owned());
        PlanText { request: "fix".into(), markdown, phase, done: 1, of: 3, ..PlanText::default() }
    }

    #[test]
    fn the_page_is_the_document_and_comments() {
        let mut shown = shown("paused");
        let options = vec!["go on".into(), "leave it".into()];
        shown.question = Some(PlanQuestion { text: "What now?\n--> x".into(), options, number: 1 });
        let text = shown.text();
        let (plan, problems) = plan_document::read(&without_comments(&text));
        assert_eq!((plan.steps.len(), problems), (3, vec![]), "{text}");
        assert_eq!(plan_document::write(&plan), DOCUMENT);
        let offered: Vec<String> = shown.actions(&steps(&text)).into_iter().map(|action| action.title).collect();
        assert_eq!(offered, ["Sextant: answer “go on”", "Sextant: answer “leave it”"], "in the order of their numbers");
        assert_eq!(without_comments("<!-- a\nb -->\nc"), "\n\nc\n");
        assert_eq!(without_comments("<!-- a --> - [ ] b\n"), "- [ ] b\n", "nothing that was written is dropped");
    }

    #[test]
    fn a_plan_that_has_run_names_its_failed_steps_and_the_way_back() {
        let mut shown = PlanText { failed: 2, ..shown("completed") };
        assert_eq!(shown.headline(), "done, 1 of 3 steps, 2 failed; space a: take steps back");
        shown.done = 0;
        assert_eq!(shown.headline(), "done, 0 of 3 steps, 2 failed; agent.plan makes another");
        (shown.done, shown.failed) = (3, 0);
        assert_eq!(shown.headline(), "done, 3 of 3 steps; agent.undo takes it back");
    }

    #[test]
    fn a_page_without_a_plan_is_waited_for_or_has_the_reason() {
        let mut shown = PlanText { request: "fix".into(), ..PlanText::default() };
        assert_eq!(shown.text(), "<!-- planning… -->\n# fix\n");
        shown.note = "the model did not answer".into();
        let text = "<!-- no plan was made; agent.plan makes one -->\n<!-- the model did not answer -->\n# fix\n";
        assert_eq!(shown.text(), text);
        assert!(shown.actions(&steps(text)).is_empty(), "nothing runs that could be stopped");
    }

    #[test]
    fn each_step_is_offered_what_can_be_done_with_it() {
        let shown = shown("waiting for approval");
        let text = shown.text();
        let actions = shown.actions(&steps(&text));
        let at = |line: u32| -> Vec<&str> {
            let here = |action: &&OwnAction| {
                action.range.is_some_and(|range| range.start.line <= line && line <= range.end.line)
            };
            actions.iter().filter(here).map(|action| action.title.as_str()).collect()
        };
        let line = |wanted: &str| u32::try_from(text.lines().position(|line| line.contains(wanted)).unwrap()).unwrap();
        assert_eq!(at(line("outcome")), ["Sextant: roll step 1 back"]);
        assert_eq!(at(line("Two")), ["Sextant: run this step alone", "Sextant: skip step 2"]);
        assert_eq!(at(line("Three")), ["Sextant: skip step 3"]);
        assert_eq!(actions[0].command, "agent.approve");
        let hovers = hovers(&text, &steps(&text));
        assert!(hovers[1].markdown.starts_with("**Step 2**, not run yet: Two\n\n- symbols:"), "{hovers:?}");
        assert_eq!(hovers[0].range.start.line, line("One"));
    }
}
