//! `list_symbols`: lists the outline of a file, or every symbol of the workspace whose path holds a word.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::target;
use crate::tools::text_page;
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::positions::LineIndex;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_PARSED};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<ListSymbols>("list_symbols", "", Access::Read)
    .serves(&[StepKind::Examine])
    .outside("The symbols of a file, or all whose path holds a word.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSymbols {
    /// A path, or a word that the symbol's path holds.
    query: String,
    /// One-based first symbol of the list; the answer that leaves some out says how to go on.
    #[schemars(transform = tool::hidden)]
    offset: Option<usize>,
    #[schemars(transform = tool::hidden)]
    limit: Option<usize>,
    /// Without the lines that they are on.
    #[serde(default)]
    #[schemars(transform = tool::hidden)]
    plain: bool,
}

#[async_trait]
impl Tool for ListSymbols {
    fn subject(&self) -> Subject {
        Subject::words(&self.query)
    }

    async fn run(&self, edits: &EditService, model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let query = self.query.trim();
        if query.is_empty() {
            return Err(tool_failure(
                "list_symbols needs a path or a word",
                "give a file, or a part of a symbol's name",
            ));
        }
        let is_file = edits.workspace.root.resolve(query).is_ok_and(|path| edits.workspace.root.join(&path).is_file());
        if is_file {
            let document = target::document(&edits.workspace, query).await?;
            let language = language::of_path(&document.path).ok_or_else(|| target::no_grammar(&document.path))?;
            let outline = Outline::parse(language, &document.text);
            let found = lines(&document.path, &document.text, &outline, self.plain, |_| true);
            return Ok(self.part(&found, text_page::limits(model, work.step).await.lines / 2));
        }
        let (root, wanted, plain) = (edits.workspace.root.clone(), query.to_owned(), self.plain);
        let most = text_page::limits(model, work.step).await.lines / 2;
        let enough = self.offset.unwrap_or(1).saturating_add(most);
        // Many files are read: a stop must not have to wait for that.
        let found = tokio::task::spawn_blocking(move || holding(&root, &wanted, plain, enough)).await;
        let found = found.map_err(|error| tool_failure(format!("the search broke off: {error}"), "name a file"))?;
        if found.is_empty() {
            return Ok(ToolAnswer::text(format!("no symbol's path holds {query:?}")));
        }
        Ok(self.part(&found, most))
    }
}

impl ListSymbols {
    /// The wanted part of a list, with a note about the omitted rest.
    fn part(&self, found: &[String], most: usize) -> ToolAnswer {
        let first = self.offset.unwrap_or(1).max(1);
        let limit = self.limit.map_or(most, |limit| limit.clamp(1, most));
        let mut shown: Vec<String> = found.iter().skip(first - 1).take(limit).cloned().collect();
        let last = first - 1 + shown.len();
        if first > 1 || last < found.len() {
            let more = if last < found.len() { format!("; offset {} goes on", last + 1) } else { String::new() };
            shown.push(format!("[symbols {first} to {last} of the list{more}]"));
        }
        ToolAnswer::text(shown.join("\n"))
    }
}

/// Every symbol of the workspace whose path holds a word, at most one more than enough.
fn holding(root: &Root, query: &str, plain: bool, enough: usize) -> Vec<String> {
    let wanted = query.to_lowercase();
    let mut found = Vec::new();
    for path in workspace_files::list(root, "", MOST_PARSED).files {
        let Some(language) = language::of_path(&path) else { continue };
        let Some(text) = workspace_files::text(root, &path) else { continue };
        let outline = Outline::parse(language, &text);
        found.extend(lines(&path, &text, &outline, plain, |names| names.to_lowercase().contains(&wanted)));
        if found.len() > enough {
            break;
        }
    }
    found
}

fn lines(path: &str, text: &str, outline: &Outline, plain: bool, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let index = LineIndex::new(text);
    let kept = outline.symbols.iter().enumerate().map(|(at, symbol)| (outline.path_of(at), symbol));
    kept.filter(|(names, _)| keep(names))
        .map(|(names, symbol)| {
            let word = symbol.kind.name();
            let line = |offset: usize| index.line_of(offset) + 1;
            let (first, last) = (line(symbol.extent.start), line(symbol.extent.end));
            let place = if plain { String::new() } else { format!(" {first}-{last}") };
            format!("{word} {path}::{names}{place}")
        })
        .collect()
}
