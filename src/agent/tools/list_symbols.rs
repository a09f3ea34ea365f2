//! `list_symbols`: the outline of a file, or every symbol of the workspace whose path holds a word.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::plan::StepKind;
use crate::agent::state::called::Subject;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::agent::tools::tool::{Tool, ToolDefinition};
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::{Failure, tool_failure};
use crate::llm::tools::Access;
use crate::symbols::language;
use crate::symbols::outline::{Outline, SymbolKind};
use crate::workspace::files;
use crate::workspace::root::Root;

const MOST: usize = 200;
const MOST_FILES: usize = 2000;

pub(crate) const TOOL: ToolDefinition =
    ToolDefinition::of::<ListSymbols>("list_symbols", "path or name", Access::Read).serves(&[StepKind::Examine]);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSymbols {
    /// A path, or a word that the symbol's path holds.
    query: String,
}

#[async_trait]
impl Tool for ListSymbols {
    fn subject(&self) -> Subject {
        Subject::words(&self.query)
    }

    async fn run(&self, session: &Session, _: &mut Task) -> Result<ToolAnswer, Failure> {
        let query = self.query.trim();
        if query.is_empty() {
            return Err(tool_failure(
                "list_symbols needs a path or a word",
                "give a file, or a part of a symbol's name",
            ));
        }
        let is_file = session.root.resolve(query).is_ok_and(|path| session.root.join(&path).is_file());
        if is_file {
            let document = target::document(session, query).await?;
            let language = language::of_path(&document.path).ok_or_else(|| target::no_grammar(&document.path))?;
            let outline = Outline::parse(language, &document.text);
            return Ok(ToolAnswer::text(lines(&document.path, &outline, |_| true).join("\n")));
        }
        let (root, wanted) = (session.root.clone(), query.to_owned());
        // Many files are read: a stop must not have to wait for that.
        let found = tokio::task::spawn_blocking(move || holding(&root, &wanted)).await;
        found.map_err(|error| tool_failure(format!("the search broke off: {error}"), "name a file"))
    }
}

/// Every symbol of the workspace whose path holds a word.
fn holding(root: &Root, query: &str) -> ToolAnswer {
    let wanted = query.to_lowercase();
    let mut found = Vec::new();
    for path in files::list(root, "", MOST_FILES).files {
        let Some(language) = language::of_path(&path) else { continue };
        let Some(text) = files::text(root, &path) else { continue };
        let outline = Outline::parse(language, &text);
        found.extend(lines(&path, &outline, |names| names.to_lowercase().contains(&wanted)));
        if found.len() > MOST {
            break;
        }
    }
    if found.is_empty() {
        return ToolAnswer::text(format!("no symbol's path holds {query:?}"));
    }
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push("[more than that; be more precise]".to_owned());
    }
    ToolAnswer::text(found.join("\n"))
}

fn lines(path: &str, outline: &Outline, keep: impl Fn(&str) -> bool) -> Vec<String> {
    (0..outline.symbols.len())
        .map(|index| (outline.path_of(index), outline.symbols[index].kind))
        .filter(|(names, _)| keep(names))
        .map(|(names, kind)| {
            let word = match kind {
                SymbolKind::Class => "class",
                SymbolKind::Function => "function",
                SymbolKind::Method => "method",
            };
            format!("{word} {path}::{names}")
        })
        .collect()
}
