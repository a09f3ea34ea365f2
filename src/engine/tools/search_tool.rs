//! `search`: finds lines of the workspace that match a regular expression.

use std::collections::BTreeMap;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::tools::text_page;
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::{Failure, tool_failure};
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::{text_search, workspace_files};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

const MOST_FILES: usize = 20_000;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<Search>("search", "regex", Access::Read)
    .serves(&[StepKind::Search])
    .outside("Lines that match a regular expression, with their symbols. path: a file or folder.");

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pattern: String,
    /// A file or folder to search in.
    path: Option<String>,
    /// Each line with its whole place, `path::Names:12: text`, for a user and for what reads it again.
    #[serde(default)]
    #[schemars(transform = tool::hidden)]
    plain: bool,
}

#[async_trait]
impl Tool for Search {
    fn subject(&self) -> Subject {
        Subject { within: self.path.clone(), ..Subject::words(&self.pattern) }
    }

    async fn run(&self, edits: &EditService, model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let (root, given, most) =
            (edits.workspace.root.clone(), self.clone(), text_page::limits(model, work.step).await.lines / 8);
        // Many files are read: a stop must not have to wait for that.
        let found = tokio::task::spawn_blocking(move || find(&root, &given, most)).await;
        found.unwrap_or_else(|error| {
            Err(tool_failure(format!("the search broke off: {error}"), "search for something else"))
        })
    }
}

fn find(root: &Root, given: &Search, most: usize) -> Result<ToolAnswer, Failure> {
    let folder = given.path.as_deref().unwrap_or("").trim_matches('/');
    let list = if root.join(folder).is_file() {
        vec![root.resolve(folder)?]
    } else {
        workspace_files::list(root, &workspace_files::folder(root, folder)?, MOST_FILES).files
    };
    let hits = text_search::search(root, &list, &given.pattern, most)
        .map_err(|error| tool_failure(error, "give a regular expression in Rust's syntax"))?;
    let mut outlines: BTreeMap<&str, Outline> = BTreeMap::new();
    let mut lines: Vec<String> = Vec::new();
    let mut file = "";
    for hit in &hits.hits {
        let outline = outlines.entry(&hit.path).or_insert_with(|| {
            let text = workspace_files::text(root, &hit.path).unwrap_or_default();
            language::of_path(&hit.path).map(|language| Outline::parse(language, &text)).unwrap_or_default()
        });
        let names = outline.at(hit.offset).map(|symbol| outline.path_of(symbol)).unwrap_or_default();
        if given.plain {
            lines.push(format!("{}:{}: {}", SymbolPath::new(&hit.path, names), hit.line, hit.text));
            continue;
        }
        // A file is named once.
        if file != hit.path {
            file = &hit.path;
            lines.push(format!("{file}:"));
        }
        let names = if names.is_empty() { names } else { format!(" {names}") };
        lines.push(format!("{}{names}: {}", hit.line, hit.text));
    }
    if hits.more {
        lines.push(format!("[more than {most}; be more precise]"));
    }
    if lines.is_empty() {
        lines.push(format!("nothing matches {:?}", given.pattern));
    }
    Ok(ToolAnswer::text(lines.join("\n")))
}
