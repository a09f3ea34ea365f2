//! Carries out a plan's steps by modules. Each sees its own step alone, and may make a small plan of its own.

pub(crate) mod edit_step;
pub(crate) mod examine_step;
pub(crate) mod search_step;

use futures::future::join_all;
use serde_json::json;

use crate::plan::output::StepOutput;
use crate::plan::{StepKind, StepPart, StepState};
use crate::step_executors::module::{ModuleContext, ModuleResult, ReadAction, ReadOnlyTools};
use sextant_base::failure::{Failure, FailureKind};

/// Most parts of one module's plan.
const PARTS: usize = 24;

/// Runs steps that only look, at the same time; the results come in the order of the steps.
pub(crate) async fn run_at_once(contexts: &[ModuleContext], eyes: &dyn ReadOnlyTools) -> Vec<ModuleResult> {
    join_all(contexts.iter().map(|context| run(context, eyes))).await
}

async fn run(context: &ModuleContext, eyes: &dyn ReadOnlyTools) -> ModuleResult {
    let result = match context.kind {
        StepKind::Examine => examine_step::run(context, eyes).await,
        StepKind::Search => search_step::run(context, eyes).await,
        StepKind::Edit => ModuleResult::failed(Vec::new(), "an edit is no look"),
    };
    if result.error.is_some() || context.memory.is_empty() {
        return result;
    }
    // The memory stands in front, since long sources are cut off at their end.
    let text = format!("remembered of it:\n{}\n{}", context.memory.join("\n"), result.output.text);
    ModuleResult { output: StepOutput::new(&text, result.output.symbols), ..result }
}

/// A module's plan must have something to do, not too much, and nothing twice.
fn validate(looks: &[ReadAction]) -> Result<(), String> {
    if looks.is_empty() {
        return Err("there is nothing to look at".to_owned());
    }
    if looks.len() > PARTS {
        return Err(format!("{} looks are too many for one step (at most {PARTS}); split it", looks.len()));
    }
    match looks.iter().enumerate().find(|(index, look)| looks[..*index].contains(look)) {
        Some((_, twice)) => Err(format!("{} is there twice", twice.title())),
        None => Ok(()),
    }
}

/// Carries out a module's plan, one part after the other. A part that fails does not stop the others.
async fn carry_out(
    looks: &[ReadAction],
    context: &ModuleContext,
    eyes: &dyn ReadOnlyTools,
) -> (Vec<StepPart>, Vec<Result<String, Failure>>) {
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for look in looks {
        // Steps that run at once take turns, also where a tool never has to wait.
        tokio::task::yield_now().await;
        let text = match look {
            ReadAction::Outline(file) => eyes.look(context, "list_symbols", json!({"query": file})).await,
            ReadAction::Read(symbol) if symbol.names.is_empty() => {
                eyes.look(context, "read_file", json!({"path": symbol.file})).await
            }
            ReadAction::Read(symbol) => eyes.look(context, "read_symbol", json!({"symbol": symbol.to_string()})).await,
            ReadAction::Search(pattern) => {
                eyes.look(context, "search", json!({"pattern": pattern, "plain": true})).await
            }
            ReadAction::Reported(symbol) => {
                let lines = eyes.reported(context, symbol).await;
                Ok(if lines.is_empty() { "nothing that is known".to_owned() } else { lines.join("\n") })
            }
        };
        let state = if text.is_ok() { StepState::Done } else { StepState::Failed };
        parts.push(StepPart { title: look.title(), state });
        texts.push(text);
    }
    (parts, texts)
}

/// One text of all parts, each under its title.
fn joined(looks: &[ReadAction], texts: &[Result<String, Failure>]) -> String {
    let one = |(look, text): (&ReadAction, &Result<String, Failure>)| {
        let content = match text {
            Ok(text) => text.trim_end().to_owned(),
            Err(failure) => format!("failed: {}", failure.message),
        };
        format!("{}:\n{content}", look.title())
    };
    looks.iter().zip(texts).map(one).collect::<Vec<_>>().join("\n")
}

/// The first failure, where no part was seen at all.
fn nothing_seen(texts: &[Result<String, Failure>]) -> Option<String> {
    let all_failed = !texts.is_empty() && texts.iter().all(Result::is_err);
    let cancelled =
        texts.iter().filter_map(|text| text.as_ref().err()).find(|error| error.kind == FailureKind::Cancelled);
    let first = texts.iter().find_map(|text| text.as_ref().err());
    cancelled.or(first.filter(|_| all_failed)).map(|failure| failure.message.clone())
}

pub(crate) mod module;
#[cfg(test)]
pub(crate) mod tests;
