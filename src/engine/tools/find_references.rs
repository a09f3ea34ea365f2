//! `find_references`: lists every use of a symbol that a language server knows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diagnostics::reached;
use crate::editor::editor_lookup::{MOST_PLACES, places};
use crate::editor::event::QuickfixEntry;
use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::look_reach::family;
use crate::state::task::TaskWork;
use crate::state::workspace::Workspace;
use crate::tools::name_occurrences::NameOccurrences;
use crate::tools::symbol_lookup::{self, AnsweredName, PlaceAnswer};
use crate::tools::tool::{Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_base::path;
use sextant_base::plural::counted;
use sextant_base::positions::{Encoding, LineIndex, Range};
use sextant_diagnostics::server::name_requests::NameQuestion;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// Most lines that are shown.
const MOST: usize = 60;
/// Most characters of a line that are shown.
const LONGEST: usize = 160;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<FindReferences>("find_references", "", Access::Read)
    .serves(&[StepKind::Search])
    .outside("Where a symbol is used.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindReferences {
    symbol: String,
}

#[async_trait]
impl Tool for FindReferences {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    fn spans_files(&self) -> bool {
        true
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, _work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let asked = symbol_lookup::ask(&edits.workspace, &self.symbol, None, &NameQuestion::References).await?;
        let found = places(&asked.said.value);
        let unnamed = unnamed(edits, &asked).await;
        let known = found.len();
        let mut by_file: BTreeMap<PathBuf, Vec<Range>> = BTreeMap::new();
        for place in found {
            by_file.entry(place.file).or_default().push(place.range);
        }
        let (own, uses) = without_declaration(&edits.workspace.root, &asked, by_file);
        let total: usize = uses.values().map(Vec::len).sum();
        let least = if known == MOST_PLACES { "at least " } else { "" };
        let mut out = vec![format!(
            "{least}{} to {}{own} in {}",
            counted(total, "reference"),
            asked.place.path(),
            counted(uses.len(), "file")
        )];
        let mut left = MOST;
        let loaded: BTreeSet<String> = edits.workspace.editor.loaded().await.into_iter().collect();
        let mut beyond = Vec::new();
        for (file, ranges) in &uses {
            let Some(path) = path::relative(edits.workspace.root.path(), file) else {
                out.push(format!("outside of the workspace: {}", counted(ranges.len(), "place")));
                continue;
            };
            if left == 0 {
                beyond.push(format!("{path} ({})", ranges.len()));
                continue;
            }
            let known = Places { ranges, encoding: asked.said.encoding };
            let lines = lines(&edits.workspace, &path, loaded.contains(&path), &known).await;
            let more = lines.len().saturating_sub(left);
            out.push(path.clone());
            let shown = lines.into_iter().take(left);
            left = left.saturating_sub(shown.len());
            out.extend(grouped(shown));
            if more > 0 {
                beyond.push(format!("{path} ({more})"));
            }
        }
        if !beyond.is_empty() {
            out.push(format!("[not shown: {}]", beyond.join(", ")));
        }
        out.extend(asked.notes.into_iter().chain(unnamed));
        Ok(ToolAnswer::text(out.join("\n")))
    }
}

/// The uses of a name as entries of a list.
pub(crate) struct ListedUses {
    pub(crate) entries: Vec<QuickfixEntry>,
    /// The uses that the list may lack, in words.
    pub(crate) notes: Vec<String>,
}

/// The uses of a symbol as its server knows them, without the declaration, as entries of a list.
///
/// # Errors
/// No server answers, or there is no such symbol.
pub(crate) async fn uses(edits: &EditService, symbol: &str) -> Result<ListedUses, Failure> {
    let asked = symbol_lookup::ask(&edits.workspace, symbol, None, &NameQuestion::References).await?;
    let mut by_file: BTreeMap<PathBuf, Vec<Range>> = BTreeMap::new();
    for place in places(&asked.said.value) {
        by_file.entry(place.file).or_default().push(place.range);
    }
    let unnamed = unnamed(edits, &asked).await;
    let (_, uses) = without_declaration(&edits.workspace.root, &asked, by_file);
    let entries = entries(&edits.workspace, &uses, asked.said.encoding).await;
    Ok(ListedUses { entries, notes: asked.notes.into_iter().chain(unnamed).collect() })
}

/// The lines with the name that the server has not named, in a language with templates: a use in one has no meaning
/// before it is instantiated, and servers leave it out.
async fn unnamed(edits: &EditService, asked: &AnsweredName) -> Option<String> {
    let document = &asked.place.document;
    if !asked.place.language.unchecked.contains("@instantiated") {
        return None;
    }
    let (root, name, kind) = (edits.workspace.root.clone(), asked.name.clone(), family(&document.path).to_owned());
    let loaded = edits.workspace.editor.loaded().await;
    let open = reached::documents(edits.workspace.editor.as_ref(), &loaded).await;
    let texts: HashMap<String, Arc<str>> = open.into_iter().map(|known| (known.path, known.text)).collect();
    let look = move || NameOccurrences::of(&root, &texts, &name, |path| family(path) == kind);
    let mut found = tokio::task::spawn_blocking(look).await.ok()??;
    let declared = LineIndex::new(&document.text).line_of(asked.offset) + 1;
    let named = places(&asked.said.value).into_iter().filter_map(|place| {
        let path = path::relative(edits.workspace.root.path(), &place.file)?;
        Some((path, place.range.start.line as usize + 1))
    });
    let named: BTreeSet<(String, usize)> = named.chain([(document.path.clone(), declared)]).collect();
    found.lines.retain(|line| !named.contains(line));
    let (count, first) = found.counted();
    let may = "uses in templates or through overrides, comments, or something else of that name";
    let (provider, name) = (&asked.provider, &asked.name);
    (!found.lines.is_empty()).then(|| {
        format!("uses may be missing: {name} stands on {count} more that {provider} did not name ({may}): {first}")
    })
}

/// Places that a server has named, as entries of a list. Those outside of the workspace are left out.
pub(crate) async fn listed(workspace: &Workspace, answer: PlaceAnswer) -> ListedUses {
    let mut by_file: BTreeMap<PathBuf, Vec<Range>> = BTreeMap::new();
    for place in places(&answer.said.value) {
        by_file.entry(place.file).or_default().push(place.range);
    }
    let entries = entries(workspace, &by_file, answer.said.encoding).await;
    ListedUses { entries, notes: answer.notes }
}

async fn entries(
    workspace: &Workspace,
    uses: &BTreeMap<PathBuf, Vec<Range>>,
    encoding: Encoding,
) -> Vec<QuickfixEntry> {
    let loaded: BTreeSet<String> = workspace.editor.loaded().await.into_iter().collect();
    let mut entries = Vec::new();
    for (file, ranges) in uses {
        let Some(path) = path::relative(workspace.root.path(), file) else { continue };
        for found in lines(workspace, &path, loaded.contains(&path), &Places { ranges, encoding }).await {
            let within = if found.names.is_empty() { String::new() } else { format!("{}: ", found.names) };
            let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            entries.push(QuickfixEntry {
                path: path.clone(),
                line: number(found.number),
                column: number(found.column),
                kind: String::new(),
                text: format!("{within}{}", found.text),
                sources: Vec::new(),
            });
        }
    }
    entries
}

/// Removes the declaration from the places, and returns whether it was among them.
fn without_declaration(
    root: &Root,
    asked: &AnsweredName,
    mut by_file: BTreeMap<PathBuf, Vec<Range>>,
) -> (String, BTreeMap<PathBuf, Vec<Range>>) {
    let document = &asked.place.document;
    let index = LineIndex::new(&document.text);
    let file = root.join(&document.path);
    let line = index.line_of(asked.offset) + 1;
    if let Some(ranges) = by_file.get_mut(&file) {
        ranges.retain(|range| index.offset(&document.text, range.start, asked.said.encoding) != asked.offset);
        if ranges.is_empty() {
            by_file.remove(&file);
        }
    }
    (format!(" (declared on line {line})"), by_file)
}

/// Places of one file, as a server gives them.
struct Places<'p> {
    ranges: &'p [Range],
    encoding: Encoding,
}

/// A line with a place.
struct ReferenceLine {
    /// The symbol around it.
    names: String,
    /// One-based.
    number: usize,
    /// That of its first place: one-based, in bytes.
    column: usize,
    text: String,
}

/// The lines of these places. A loaded file is read as the editor has it, the rest from the disk: the list opens no
/// file.
async fn lines(workspace: &Workspace, path: &str, loaded: bool, places: &Places<'_>) -> Vec<ReferenceLine> {
    let text = match loaded {
        true => workspace.editor.read(path).await.map(|document| document.text).ok(),
        false => {
            let (root, file) = (workspace.root.clone(), path.to_owned());
            let read = move || {
                let resolved = root.resolve(&file).ok().filter(|file| !workspace_files::is_ignored(&root, file))?;
                workspace_files::text(&root, &resolved).map(Arc::from)
            };
            tokio::task::spawn_blocking(read).await.ok().flatten()
        }
    };
    let text = text.unwrap_or_default();
    let outline = language::of_path(path).map(|language| Outline::parse(language, &text)).unwrap_or_default();
    let index = LineIndex::new(&text);
    let mut first: Vec<&Range> = places.ranges.iter().collect();
    first.dedup_by_key(|range| range.start.line);
    let line = |place: &Range| {
        let number = place.start.line as usize;
        let range = index.line_range(&text, number);
        let whole = &text[range.clone()];
        let (bare, start) = (whole.trim(), range.end - whole.trim_start().len());
        let names = outline.at(start).map(|symbol| outline.path_of(symbol)).unwrap_or_default();
        let column = index.offset(&text, place.start, places.encoding).saturating_sub(range.start) + 1;
        let cut = if bare.chars().count() > LONGEST { "…" } else { "" };
        let text = format!("{}{cut}", bare.chars().take(LONGEST).collect::<String>());
        ReferenceLine { names, number: number + 1, column, text }
    };
    first.into_iter().map(line).collect()
}

/// The lines below the symbols that they are in.
fn grouped(lines: impl Iterator<Item = ReferenceLine>) -> Vec<String> {
    let mut out = Vec::new();
    let mut within = None;
    for ReferenceLine { names, number, text, .. } in lines {
        if within.as_ref() != Some(&names) {
            out.push(format!("  {}", if names.is_empty() { "(module level)" } else { &names }));
            within = Some(names);
        }
        out.push(format!("    {number}: {text}"));
    }
    out
}
