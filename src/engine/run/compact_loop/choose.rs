//! Chooses the pieces of code that a small model is asked about, one after the other.

use std::fmt;

use crate::diagnostics::reported;
use crate::editor::event::Event;
use crate::plan::work_mode::Mode;
use crate::run::sources::SOURCE;
use crate::state::analysis::Analysis;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::task::TaskWork;
use crate::state::task_scope::{Scope, source};
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::Failure;
use sextant_model::request_kind::{self, Ask};
use sextant_model::step::Model;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most pieces of one task. A small model cannot handle more.
const MOST: usize = 8;
/// About how many bytes of code a token holds, and the part of the model's context that one symbol may take. The symbol
/// goes out, comes back, and goes out once more where it was wrong.
const BYTES: usize = 3;
const PART: usize = 4;

/// A piece of code that is given and taken as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CompactTarget {
    Symbol(SymbolPath),
    File(String),
}

impl fmt::Display for CompactTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(symbol) => symbol.fmt(f),
            Self::File(file) => f.write_str(file),
        }
    }
}

/// The targets of a request in this scope: the symbols in it, or a small file as a whole. In a larger file these are
/// the symbols that the request names or the ones with reports.
pub(super) async fn targets(
    hub: &DiagnosticsHub,
    model: &dyn Model,
    work: &TaskWork,
) -> Result<Vec<CompactTarget>, Failure> {
    let mut chosen: Vec<CompactTarget> = Vec::new();
    let symbols = own_symbols(&work.scope, work.mode, &work.intent.analysis);
    // A file that the request names beside a symbol may be changed with it. It is not a piece of its own.
    let files = if symbols.is_empty() { work.scope.whole_files() } else { &[] };
    let mut too_large = work.scope == Scope::Workspace;
    for symbol in &symbols {
        match of_symbol(&hub.workspace, model, symbol).await {
            Some(target) => add(&mut chosen, target),
            None => too_large |= !symbol.names.is_empty(),
        }
    }
    for file in files {
        if is_small(&hub.workspace, model, file).await {
            add(&mut chosen, CompactTarget::File(file.clone()))
        } else {
            too_large = true
        }
    }
    if too_large {
        for target in narrower(hub, model, &work.scope, &work.request, &work.intent.analysis).await {
            add(&mut chosen, target);
        }
    }
    if chosen.is_empty() {
        return Err(nothing());
    }
    if chosen.len() > MOST {
        let left: Vec<String> = chosen.split_off(MOST).iter().map(ToString::to_string).collect();
        hub.events.show(Event::Progress { text: format!("left for another request: {}", left.join(", ")) });
    }
    Ok(chosen)
}

/// The symbols that the user pointed at, without those that are in the scope because the request names them.
fn own_symbols(scope: &Scope, mode: Mode, analysis: &Analysis) -> Vec<SymbolPath> {
    let widened = |symbol: &SymbolPath| mode == Mode::Simple && analysis.symbols.contains(symbol);
    let symbols = scope.symbols().iter().enumerate();
    symbols.filter(|(at, symbol)| *at == 0 || !widened(symbol)).map(|(_, symbol)| symbol.clone()).collect()
}

fn nothing() -> Failure {
    Failure::user(
        "this is more than a small model is asked about at once",
        "put the cursor into a function, or name one in the request",
    )
}

fn add(chosen: &mut Vec<CompactTarget>, target: CompactTarget) {
    let holds = |known: &CompactTarget| match (known, &target) {
        (CompactTarget::File(file), CompactTarget::Symbol(symbol)) => *file == symbol.file,
        (CompactTarget::Symbol(outer), CompactTarget::Symbol(symbol)) => {
            Scope::Symbols(vec![outer.clone()]).holds(symbol)
        }
        (known, target) => known == target,
    };
    if !chosen.iter().any(holds) {
        chosen.push(target);
    }
}

/// A symbol as the model is asked about it: itself where it exists and is not too long. A symbol that is not yet
/// written stands for its file.
async fn of_symbol(workspace: &Workspace, model: &dyn Model, symbol: &SymbolPath) -> Option<CompactTarget> {
    if !symbol.names.is_empty()
        && let Ok(place) = target::known_place(workspace, symbol).await
    {
        let bytes = source(&place.document.text, &place.outline, place.symbol).len();
        return (bytes <= room(model).await).then(|| CompactTarget::Symbol(symbol.clone()));
    }
    is_small(workspace, model, &symbol.file).await.then(|| CompactTarget::File(symbol.file.clone()))
}

/// Most bytes of one symbol.
async fn room(model: &dyn Model) -> usize {
    model.abilities().await.context.saturating_mul(BYTES) / PART
}

/// True if a file is given as a whole; a file that does not exist yet is.
async fn is_small(workspace: &Workspace, model: &dyn Model, file: &str) -> bool {
    match target::document(workspace, file).await {
        Ok(document) => document.text.len() <= SOURCE.min(room(model).await),
        Err(_) => workspace.root.resolve(file).is_ok_and(|path| !workspace.root.join(&path).exists()),
    }
}

/// The symbols that the request names in a scope that is too large. Without such names, those with the reports to fix.
async fn narrower(
    hub: &DiagnosticsHub,
    model: &dyn Model,
    scope: &Scope,
    request: &str,
    analysis: &Analysis,
) -> Vec<CompactTarget> {
    let mut found = Vec::new();
    for symbol in analysis.symbols.iter().filter(|symbol| scope.holds(symbol)) {
        found.extend(of_symbol(&hub.workspace, model, symbol).await);
    }
    for file in &analysis.files {
        let inside = *scope == Scope::Workspace || scope.files().contains(file);
        if inside && is_small(&hub.workspace, model, file).await {
            found.push(CompactTarget::File(file.clone()));
        }
    }
    let repair = request_kind::asks_repair(request) || request_kind::classify(request) == Ask::Repair;
    if !found.is_empty() || !repair {
        return found;
    }
    for report in reported::in_scope(hub, scope).await {
        let target = of_symbol(&hub.workspace, model, &report.symbol).await;
        found.extend(target.filter(|target| !found.contains(target)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::task::Task;

    #[test]
    fn what_only_the_words_of_a_request_name_is_no_piece_of_its_own() {
        let path = |names: &str| SymbolPath::new("a.py", names);
        let scope = Scope::Symbols(vec![path("f"), path("g"), path("h")]);
        let mut task = Task::new("f is like g", Mode::Simple, None, scope);
        task.work.intent.analysis.symbols = vec![path("f"), path("g")];
        assert_eq!(own_symbols(&task.work.scope, task.work.mode, &task.work.intent.analysis), [path("f"), path("h")]);
        task.work.mode = Mode::Planner;
        assert_eq!(
            own_symbols(&task.work.scope, task.work.mode, &task.work.intent.analysis).len(),
            3,
            "the steps of a plan say themselves what they change"
        );
    }
}
