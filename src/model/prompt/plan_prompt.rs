//! The parts of a step's prompt beyond simple mode: the plan, its progress, the deviation, the step's inputs.

use crate::plan_contract::{Contract, PlanFacts};
use crate::prompt::{Facts, head, one_line};
use sextant_base::plural::counted;

/// Lines of the plan, escalations of the past.
const LINES: usize = 30;
/// The beginning of the plan's title.
pub(super) const PLAN: &str = "Plan (done ";
const ESCALATIONS: usize = 5;
/// Tokens of one input.
const INPUT_TOKENS: usize = 400;

/// The part of the prefix that the contract adds, and its properties in the description of the answer.
pub(super) fn rules(contract: &Contract) -> (&'static str, &'static str) {
    match contract {
        Contract::Simple => ("", ""),
        Contract::Planner(_) => (include_str!("planner.txt"), r#""replan": text or null, "#),
        Contract::Supervised(_) => (
            include_str!("supervised.txt"),
            r#""decision": "continue"|"escalate"|"pause"|"complete", "adherence": 0 to 1, "escalation": {"reason": text, "question": text, "options": [text]} or null, "#,
        ),
    }
}

impl Facts {
    pub(super) fn contract(&mut self, contract: &Contract) {
        let Some(plan) = contract.plan() else { return };
        let title = format!("{PLAN}{:.2}, you are at step {})", plan.progress, plan.step);
        self.numbered(&title, &plan.plan, plan.step);
        self.rest_of_contract(contract, plan);
    }

    /// The same without the plan itself.
    pub(super) fn rest_of_contract(&mut self, contract: &Contract, plan: &PlanFacts) {
        self.deviation(plan);
        if let Contract::Supervised(facts) = contract {
            self.line(&format!("Kept to the plan so far: {:.2}", facts.adherence));
            if !facts.escalations.is_empty() {
                let skipped = facts.escalations.len().saturating_sub(ESCALATIONS);
                let lines: Vec<String> = facts.escalations[skipped..].iter().map(|line| one_line(line)).collect();
                self.block("Asked before", &lines.join("\n"));
            }
        }
    }

    fn deviation(&mut self, plan: &PlanFacts) {
        if let Some(deviation) = &plan.deviation {
            let impacted: Vec<String> = deviation.impacted.iter().map(ToString::to_string).collect();
            let leaning =
                if impacted.is_empty() { String::new() } else { format!("\nsteps impacted: {}", impacted.join(", ")) };
            let expected = if deviation.expected.is_empty() {
                String::new()
            } else {
                format!("expected: {}\n", one_line(&deviation.expected))
            };
            let content = format!("{expected}actual: {}{leaning}", one_line(&deviation.actual));
            self.block("Left the plan", &content);
        }
    }

    /// The lines around the current one, if there are too many.
    pub(super) fn numbered(&mut self, title: &str, lines: &[String], at: usize) {
        let first = at.saturating_sub(LINES / 2).min(lines.len().saturating_sub(LINES));
        let shown: Vec<String> = lines.iter().skip(first).take(LINES).map(|line| one_line(line)).collect();
        self.block(title, &shown.join("\n"));
    }

    pub(super) fn inputs(&mut self, inputs: &[(String, String)]) {
        for (name, text) in inputs {
            let (shown, hidden) = head(text, INPUT_TOKENS);
            let more = if hidden == 0 { String::new() } else { format!("\n… {}", counted(hidden, "more line")) };
            self.block(&format!("Input {}", one_line(name)), &format!("{shown}{more}"));
        }
    }
}
