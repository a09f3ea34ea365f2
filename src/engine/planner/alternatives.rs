//! Lists the available names in place of a missing one, for the planner that makes a new plan without it.

use crate::plan::Step;
use crate::plan::next_decision::Trigger;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_store::workspace::workspace_files::{self, MOST_RANKED};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most names that are listed.
const SHOWN: usize = 20;

/// The first missing symbol of a step.
pub(crate) async fn missing(workspace: &Workspace, step: &Step) -> Option<SymbolPath> {
    let present = target::present(workspace, &step.symbols).await;
    step.symbols.iter().find(|symbol| !present.contains(symbol)).cloned()
}

/// The replacements, a line each, where the work left its plan because of a missing symbol or file.
pub(crate) async fn available(workspace: &Workspace, trigger: &Trigger) -> Vec<String> {
    let (Trigger::MissingResource(what) | Trigger::InvalidStep(what)) = trigger else { return Vec::new() };
    let path = SymbolPath::parse(what);
    // A sentence of a tool or an editor holds no name to look for.
    if path.file.is_empty() || what.contains(char::is_whitespace) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let last = path.names.rsplit("::").next().unwrap_or_default();
    if !last.is_empty()
        && let Ok(found) = target::full_path(workspace, last).await
    {
        lines.push(format!("available: {last} is at {found}"));
    }
    match target::document(workspace, &path.file).await {
        Ok(document) => {
            let names = language::of_path(&document.path).map(|language| {
                let outline = Outline::parse(language, &document.text);
                (0..outline.symbols.len()).map(|symbol| outline.path_of(symbol)).collect::<Vec<_>>()
            });
            lines.push(format!("available in {}: {}", path.file, listed(&names.unwrap_or_default())));
        }
        Err(_) => {
            let (root, name) = (workspace.root.clone(), path.file.rsplit('/').next().unwrap_or_default().to_owned());
            let like = move || {
                let all = workspace_files::list(&root, "", MOST_RANKED).files;
                all.into_iter().filter(|file| file.rsplit('/').next() == Some(&name)).collect::<Vec<_>>()
            };
            let like = tokio::task::spawn_blocking(like).await.unwrap_or_default();
            if !like.is_empty() {
                lines.push(format!("available files of that name: {}", listed(&like)));
            }
        }
    }
    lines
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "no symbol".to_owned(),
        names if names.len() > SHOWN => format!("{}, and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
        names => names.join(", "),
    }
}
