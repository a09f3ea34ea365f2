//! Asks for a plan: in a prompt of its own, or as turns of a conversation in which the model looks first.

use crate::input::{PlanAsk, PlanInput, ReportFacts};
use crate::prompt::prompt_budget::PromptBudget;
use crate::prompt::{Facts, MESSAGE_CHARS, clean, one_line};
use crate::prompt_texts;

/// Asks for a plan, in a conversation that was opened with the facts; `holds` reports whether it has a text already.
pub fn planning(input: &PlanInput, fence: &str, budget: PromptBudget, holds: impl Fn(&str) -> bool) -> String {
    let mut facts = Facts::inside(fence, input).within(budget);
    facts.groups(&input.context.reports);
    facts.plan_ask(&input.ask);
    let rules = prompt_texts::text("planning").trim_end();
    facts.line(if holds(rules) { ONCE_MORE } else { rules });
    facts.into_message()
}

/// Asks once more, with the problems.
pub fn again(problems: &[String], fence: &str, budget: PromptBudget) -> String {
    let mut facts = Facts::inside(fence, &problems).within(budget);
    facts.problems(problems);
    facts.line("Answer with the whole plan once more, as one JSON object, without these faults.");
    facts.into_message()
}

/// Sent if the conversation has the rules of a plan already.
const ONCE_MORE: &str = "Now make a plan for the request once more, by the same rules and in the same form, and change \
                         nothing yet.";

impl Facts {
    pub(super) fn groups(&mut self, reports: &ReportFacts) {
        if !reports.groups.is_empty() {
            let groups: Vec<String> = reports.groups.iter().map(|group| clean(group, MESSAGE_CHARS)).collect();
            self.block("All diagnostics, summed up by symbol and by kind", &groups.join("\n"));
        }
    }

    /// The present plan, its wanted change, its problems.
    pub(super) fn plan_ask(&mut self, ask: &PlanAsk) {
        if !ask.standing.is_empty() {
            let title = if ask.change.is_empty() {
                "Steps that are kept (their numbers stay; yours go on behind them)"
            } else {
                "The plan that is to be changed (done steps are kept; give the others anew, numbered behind them)"
            };
            self.numbered(title, &ask.standing, 0);
        }
        if !ask.change.is_empty() {
            self.line(&format!("The user wants this changed in it: {}", one_line(&ask.change)));
        }
        self.problems(&ask.problems);
    }

    fn problems(&mut self, problems: &[String]) {
        if !problems.is_empty() {
            let problems: Vec<String> = problems.iter().map(|problem| format!("- {}", one_line(problem))).collect();
            self.block("What was wrong with your last plan", &problems.join("\n"));
        }
    }
}
