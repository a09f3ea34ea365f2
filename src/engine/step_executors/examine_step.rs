//! Examines code: reads the outline of its files, the source of each symbol, the reports there.

use crate::plan::output::StepOutput;
use crate::step_executors::module::{ModuleContext, ModuleResult, ReadAction, ReadOnlyTools};
use crate::step_executors::{carry_out, joined, nothing_seen, validate};
use sextant_text::symbols::symbol_path::SymbolPath;

/// Outline first, so that each source is read with its place known; the diagnostics last.
pub(crate) fn plan(symbols: &[SymbolPath]) -> Vec<ReadAction> {
    let mut looks = Vec::new();
    let mut push = |look: ReadAction| {
        if !looks.contains(&look) {
            looks.push(look);
        }
    };
    symbols.iter().for_each(|symbol| push(ReadAction::Outline(symbol.file.clone())));
    symbols.iter().for_each(|symbol| push(ReadAction::Read(symbol.clone())));
    symbols.iter().for_each(|symbol| push(ReadAction::Reported(symbol.clone())));
    looks
}

pub(crate) async fn run(context: &ModuleContext, eyes: &dyn ReadOnlyTools) -> ModuleResult {
    let looks = plan(&context.symbols);
    if let Err(error) = validate(&looks) {
        return ModuleResult::failed(Vec::new(), error);
    }
    let (parts, texts) = carry_out(&looks, context, eyes).await;
    // A symbol that cannot be read was not examined, even where other parts were seen.
    let unread = looks.iter().zip(&texts).find_map(|(look, text)| match (look, text) {
        (ReadAction::Read(_), Err(failure)) => Some(failure.message.clone()),
        _ => None,
    });
    if let Some(error) = nothing_seen(&texts).or(unread) {
        return ModuleResult::failed(parts, error);
    }
    // An outline leads to the sources; long sources must not cut off the reports behind them.
    let (sources, reports): (Vec<usize>, Vec<usize>) =
        (0..looks.len()).partition(|index| !matches!(looks[*index], ReadAction::Reported(_)));
    let part = |indices: &[usize]| {
        let looks: Vec<ReadAction> = indices.iter().map(|index| looks[*index].clone()).collect();
        let texts: Vec<_> = indices.iter().map(|index| texts[*index].clone()).collect();
        joined(&looks, &texts)
    };
    let text = format!("{}\n{}", part(&reports), part(&sources));
    ModuleResult { output: StepOutput::new(&text, context.symbols.clone()), parts, error: None }
}
