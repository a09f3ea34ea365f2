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
use sextant_base::one_line::clean;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::text_search::{self, Hits, SearchLimits};
use sextant_store::workspace::workspace_files::{self, Listing, MOST_FILES};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Files that are too large and are named.
const NAMED: usize = 5;

/// The beginnings of the lines about the search itself.
const MORE: &str = "[more than ";
const NOT_SEARCHED: &str = "[not searched";

/// True if a line of an answer is about the search, and not a line that was found.
pub(crate) fn is_note(line: &str) -> bool {
    line.starts_with(MORE) || line.starts_with(NOT_SEARCHED)
}

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
    let is_file = root.join(folder).is_file();
    let list = if is_file {
        Listing { files: vec![root.resolve(folder)?], more: false }
    } else {
        workspace_files::list(root, &workspace_files::folder(root, folder)?, MOST_FILES)
    };
    let largest = if is_file { workspace_files::LARGEST_TARGET } else { text_search::LARGEST };
    let hits = text_search::search(root, &list.files, &given.pattern, SearchLimits { lines: most, largest })
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
        lines.push(format!("{MORE}{most}; be more precise]"));
    }
    if lines.is_empty() {
        lines.push(format!("nothing matches {:?}", given.pattern));
    }
    lines.extend(not_searched(&list, &hits, largest));
    Ok(ToolAnswer::text(lines.join("\n")))
}

/// Names the files that the search has skipped though they may hold what is searched for.
fn not_searched(list: &Listing, hits: &Hits, largest: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let size = largest >> 20;
    if !hits.too_large.is_empty() {
        let mut names: Vec<String> = hits.too_large.iter().take(NAMED).map(|path| clean(path)).collect();
        let rest = hits.too_large.len().saturating_sub(NAMED);
        names.extend((rest > 0).then(|| format!("{rest} more")));
        let hint = if largest < workspace_files::LARGEST_TARGET { "; give one as path" } else { "" };
        lines.push(format!("{NOT_SEARCHED}, over {size} MB: {}{hint}]", names.join(", ")));
    }
    if list.more {
        lines.push(format!("{NOT_SEARCHED}: files behind the first {MOST_FILES}; give a folder as path]"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(root: &Root, path: Option<&str>) -> String {
        let given = Search { pattern: "needle".to_owned(), path: path.map(str::to_owned), plain: false };
        find(root, &given, 50).unwrap().text
    }

    fn large(megabytes: usize) -> String {
        format!("{}needle\n", "y\n".repeat(megabytes << 19))
    }

    #[test]
    fn a_large_file_is_named_and_searched_where_the_path_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        for (name, text) in [("five.txt", large(5)), ("eleven.txt", large(11)), ("small.txt", "x\n".to_owned())] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let all = searched(&root, None);
        let note = "[not searched, over 2 MB: eleven.txt, five.txt; give one as path]";
        assert_eq!(all, format!("nothing matches \"needle\"\n{note}"));
        assert!(is_note(note));
        assert_eq!(searched(&root, Some("five.txt")), "five.txt:\n2621441: needle");
        let eleven = searched(&root, Some("eleven.txt"));
        assert!(eleven.ends_with("\n[not searched, over 10 MB: eleven.txt]"), "{eleven}");
        for number in 0..NAMED {
            std::fs::write(dir.path().join(format!("b{number}.txt")), large(3)).unwrap();
        }
        assert!(searched(&root, None).contains("b4.txt, 2 more; give one as path]"), "{}", searched(&root, None));
    }

    #[test]
    fn files_behind_the_first_twenty_thousand_are_reported_as_not_searched() {
        let list = Listing { files: Vec::new(), more: true };
        let lines = not_searched(&list, &Hits::default(), text_search::LARGEST);
        assert_eq!(lines, ["[not searched: files behind the first 20000; give a folder as path]"]);
        assert!(is_note(&lines[0]));
        assert_eq!(not_searched(&Listing::default(), &Hits::default(), text_search::LARGEST), Vec::<String>::new());
    }
}
