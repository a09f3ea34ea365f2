//! The opening of a conversation and its later additions: the task, a step of its plan, a message at its end.
//!
//! Nothing is repeated in other words: every call shares all but its last messages with the one before, and a provider
//! can cache that.

use crate::input::{ModelContext, RequestFacts};
use crate::plan_contract::{Contract, PlanFacts};
use crate::prompt::plan_prompt::PLAN;
use crate::prompt::prompt_budget::PromptBudget;
use crate::prompt::{Facts, one_line};
use crate::prompt_texts;
use sextant_base::token_estimate;

/// The beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatOpening {
    /// The rules; the same for every task, unless a text of this one could close the fence.
    pub system: String,
    pub first: String,
    /// The name between the brackets that data stands in.
    pub fence: String,
}

/// The rules and the first message of a task.
pub fn opening(
    context: &ModelContext,
    contract: &Contract,
    inputs: &[(String, String)],
    budget: PromptBudget,
) -> ChatOpening {
    let mut facts = Facts::new(&(context, contract, inputs)).within(budget);
    facts.opening(context, &context.framing.conventions);
    facts.contract(contract);
    facts.inputs(inputs);
    facts.sources(&context.sources.texts);
    facts.reports(context);
    let allowed: Vec<String> = context.framing.allowed.iter().map(|command| one_line(command)).collect();
    if !allowed.is_empty() {
        facts.line(&format!("Commands that need no permission begin with: {}", allowed.join(", ")));
    }
    if let Some(detail) = context.framing.detail() {
        facts.line(&detail);
    }
    ChatOpening { system: system(&facts.fence), fence: facts.fence.clone(), first: facts.into_message() }
}

/// The rules, with the name of the fence that the conversation was opened with.
pub fn system(fence: &str) -> String {
    prompt_texts::text("conversation").replace("{data}", fence).trim_end().to_owned()
}

/// Opens a further step of a plan, in a conversation under way; `sent` holds the earlier messages to the model.
pub fn next_step(
    context: &ModelContext,
    contract: &Contract,
    inputs: &[(String, String)],
    fence: &str,
    budget: PromptBudget,
    sent: &[&str],
) -> String {
    let mut facts = Facts::inside(fence, &(context, contract, inputs)).within(budget);
    let request = &context.request;
    if !request.user.is_empty() && sent.iter().any(|text| text.contains(request.user.trim())) {
        facts.step(request);
    } else {
        facts.request(request);
    }
    match contract.plan() {
        Some(plan) if is_sent(plan, sent) => facts.rest_of_contract(contract, plan),
        _ => facts.contract(contract),
    }
    facts.inputs(inputs);
    let unsent = |line: &&String| !sent.iter().any(|text| text.contains(line.as_str()));
    let remarks: Vec<String> = context.memory.remarks.iter().filter(unsent).cloned().collect();
    if !remarks.is_empty() {
        facts.block("Memory", &remarks.join("\n"));
    }
    facts.sources(&context.sources.texts);
    facts.reports(context);
    facts.into_message()
}

/// True if the last sent plan has this step and all behind it unchanged: no step is gone, and no step has moved.
fn is_sent(plan: &PlanFacts, sent: &[&str]) -> bool {
    let shown = sent.iter().rev().find_map(|text| text.split_once(&format!("\n{PLAN}")));
    let Some((_, shown)) = shown else { return plan.plan.len() == 1 };
    let shown = shown.split_once("\n</").map_or(shown, |(lines, _)| lines);
    // A finished step only has another mark; the plan is the same.
    let step = |line: &str| {
        let (number, rest) = line.split_once(". [")?;
        let (_, title) = rest.split_once("] ")?;
        number.parse().ok().filter(|number: &usize| *number >= plan.step).map(|number| (number, one_line(title)))
    };
    let left = |lines: &mut dyn Iterator<Item = &str>| lines.filter_map(step).collect::<Vec<_>>();
    left(&mut plan.plan.iter().map(String::as_str)) == left(&mut shown.lines())
}

/// A message to a model between two of its answers: `what` in our words, `data` as somebody else wrote it, each as long
/// as a result may be.
pub fn with_data(fence: &str, budget: PromptBudget, what: &str, title: &str, data: &[String]) -> String {
    let mut facts = Facts::inside(fence, &data);
    facts.line(what);
    if !data.is_empty() {
        let texts: Vec<String> = data.iter().map(|text| token_estimate::head_and_tail(text, budget.result)).collect();
        facts.block(title, &texts.join("\n"));
    }
    facts.into_message()
}

fn step_line(request: &RequestFacts) -> String {
    format!("Your step of the plan for it: {}", request.query.trim())
}

impl Facts {
    /// The request of a task, or the step of a plan with the user's own words.
    pub(super) fn request(&mut self, request: &RequestFacts) {
        if request.user.is_empty() {
            let entry = match request.entry.as_str() {
                "" => String::new(),
                entry => format!(" (asked on the list entry: {entry})"),
            };
            self.line(&format!("Request: {}{entry}", request.query.trim()));
        } else {
            self.line(&format!("The user's request: {}", request.user.trim()));
            self.line(&step_line(request));
        }
        self.about(request);
    }

    /// The step of a plan alone, if the user's own words stand in the conversation.
    fn step(&mut self, request: &RequestFacts) {
        self.line(&step_line(request));
        self.about(request);
    }

    fn about(&mut self, request: &RequestFacts) {
        self.place(request.current_file.as_deref(), &request.scope);
        if !request.cursor.is_empty() {
            self.line(&format!("Cursor: {}", one_line(&request.cursor)));
        }
        request.named.iter().for_each(|named| self.line(&one_line(named)));
    }

    fn place(&mut self, file: Option<&str>, scope: &[String]) {
        if let Some(file) = file {
            self.line(&format!("Active file: {}", one_line(file)));
            self.file = Some(file.to_owned());
        }
        let scope = if scope.is_empty() { "the whole workspace".to_owned() } else { one_line(&scope.join(", ")) };
        self.line(&format!("May edit: {scope}"));
    }

    /// The reports and offers; nothing at all without any report.
    fn reports(&mut self, context: &ModelContext) {
        if context.reports.diagnostics.is_empty() && context.reports.unsettled.is_empty() {
            return;
        }
        self.diagnostics(&context.reports);
        self.fixes(&context.reports);
    }
}
