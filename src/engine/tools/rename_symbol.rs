//! `rename_symbol`: renames a symbol and all its uses, as the language server knows them, in one edit.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::{change, edit_guard};
use crate::editor::{Document, workspace_edit};
use crate::plan::StepKind;
use crate::state::asked_rename;
use crate::state::call_summary::Subject;
use crate::state::edit_answer::EditAnswer;
use crate::state::edit_request::{EditOutcome, EditRequest, When};
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::state::task_scope;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target::{self, SymbolPlace};
use crate::tools::name_occurrences::NameOccurrences;
use crate::tools::symbol_lookup::{self, AnsweredName};
use crate::tools::tool::{Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::plural::counted;
use sextant_base::positions::{LineIndex, Range};
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_diagnostics::server::name_requests::NameQuestion;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;
use sextant_text::edits::{TextEdit, apply_text, hunks};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::{Outline, Symbol};
use sextant_text::symbols::symbol_path::SymbolPath;
use sextant_text::symbols::whole_word::holds_word;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<RenameSymbol>("rename_symbol", "", Access::Edit)
    .serves(&[StepKind::Edit])
    .outside("Rename a symbol and all of its uses.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameSymbol {
    symbol: String,
    new_name: String,
}

/// The edits that a server's answer asks for.
#[derive(Default)]
struct Renaming {
    wanted: Vec<EditRequest>,
    /// Each file with the number of places in it.
    places: Vec<(String, usize)>,
    /// Places that may not be changed, in words.
    outside: Vec<String>,
}

impl Renaming {
    /// A symbol with the same path, whose name stays: for the server it is another one. A type and a value, or the
    /// signatures of an overload, can be one.
    fn leaves_out(&self, place: &SymbolPlace) -> Option<String> {
        let symbol = &place.outline.symbols[place.symbol];
        let changes = |range: &std::ops::Range<usize>| {
            self.wanted.iter().any(|want| match want {
                EditRequest::Change { document, hunks, .. } if document.path == place.document.path => {
                    hunks.iter().any(|hunk| hunk.range.start <= range.end && range.start <= hunk.range.end)
                }
                _ => false,
            })
        };
        let is_twin = |index: &usize| {
            let other = &place.outline.symbols[*index];
            other.owner == symbol.owner && other.name == symbol.name
        };
        let twins: Vec<usize> = (0..place.outline.symbols.len()).filter(is_twin).collect();
        let left = twins.iter().find(|index| !changes(&place.outline.symbols[**index].name_range))?;
        Some(place.outline.exact_path_of(*left, &twins))
    }
}

#[async_trait]
impl Tool for RenameSymbol {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let new_name = self.new_name.trim();
        let (place, twins) = target::places_in_scope(&edits.workspace, &work.scope, &self.symbol).await?;
        check_name(&place, new_name)?;
        let first =
            SymbolPath::new(&place.document.path, place.outline.exact_path_of(place.symbol, &twins)).to_string();
        let reach = reach(work, &place, new_name);
        let question = NameQuestion::Rename { new_name: new_name.to_owned() };
        let mut again = true;
        let (asked, renaming) = loop {
            let asked = symbol_lookup::ask(&edits.workspace, &first, None, &question).await?;
            match read(&edits.workspace, work, &reach, &asked).await? {
                Some(renaming) => break (asked, renaming),
                None if again => again = false,
                None => return Err(symbol_lookup::outdated()),
            }
        };
        if let Some(other) = renaming.leaves_out(&asked.place).filter(|_| twins.len() > 1) {
            return Err(ambiguous(&asked, &other));
        }
        if !renaming.outside.is_empty() {
            let files: Vec<String> = renaming.places.iter().map(|(path, _)| path.clone()).collect();
            edits.workspace.editor.close(&files).await;
            return Err(wider(&work.scope, &asked, &renaming));
        }
        if renaming.wanted.is_empty() {
            return Err(tool_failure(
                format!("{} would change nothing for that name", asked.provider),
                "search finds its places, and edit_file changes them",
            ));
        }
        let checks = &edits.workspace.config.diagnostics;
        let deadline = Deadline::after_ms(checks.timeout_ms);
        let changed = change::change_within(edits, work, &reach, renaming.wanted, When::Now, deadline).await?;
        let late = std::mem::take(&mut work.reports.late.found);
        let mut notes = vec![summary(&asked.name, new_name, &renaming.places)];
        notes.extend(left_over(&edits.workspace.root, &changed, &asked.name).await);
        notes.extend(asked.notes);
        let symbols = now_named(&changed, [&asked.name, new_name]);
        Ok(EditAnswer { symbols, ..EditAnswer::of(&changed, checks, &late, notes) }.into())
    }
}

/// The edited symbols, under the names that they have after the rename: the next call names them so.
fn now_named(changed: &EditOutcome, [old, new]: [&str; 2]) -> Vec<String> {
    let outline = |file: &str| {
        let done = changed.applied.iter().find(|done| done.path == file)?;
        Some(Outline::parse(language::of_path(file)?, &done.document.as_ref()?.text))
    };
    let mut outlines: HashMap<String, Option<Outline>> = HashMap::new();
    let mut now = |given: &String| {
        let SymbolPath { file, names } = SymbolPath::parse(given);
        let outline = outlines.entry(file.clone()).or_insert_with(|| outline(&file)).as_ref()?;
        let renamed: Vec<&str> = names.split("::").map(|name| if name == old { new } else { name }).collect();
        let renamed = renamed.join("::");
        let is_gone = outline.find_all(&names).is_err() && outline.find_all(&renamed).is_ok();
        is_gone.then(|| SymbolPath::new(file, renamed).to_string())
    };
    changed.symbols.iter().map(|symbol| now(symbol).unwrap_or_else(|| symbol.clone())).collect()
}

/// How far a rename may reach: as far as the task, or to every use where the request says so.
fn reach(work: &TaskWork, place: &SymbolPlace, new_name: &str) -> Scope {
    let symbol = SymbolPath::new(&place.document.path, place.outline.path_of(place.symbol));
    if work.scope == Scope::Workspace || !asked_rename::is_wide(work, &symbol, Some(new_name)) {
        return work.scope.clone();
    }
    let why = format!("the request asks to rename every use of {symbol}");
    work.events.trace(work.step, Trace::new(Effect::Understood, "the scope", "everywhere", why));
    Scope::Workspace
}

/// Refuses an invalid name, and a name that already stands beside the symbol: servers carry both out.
fn check_name(place: &SymbolPlace, new_name: &str) -> Result<(), Failure> {
    let symbol = &place.outline.symbols[place.symbol];
    if symbol.name == new_name {
        return Err(tool_failure(format!("{} is called that already", place.path()), "nothing has to be changed"));
    }
    let tree = place.language.tree(new_name);
    let node = tree.as_ref().and_then(|tree| tree.root_node().descendant_for_byte_range(0, new_name.len()));
    let is_name = node.is_some_and(|mut node| {
        while node.named_child_count() == 1
            && node.child_count() == 1
            && let Some(child) = node.named_child(0)
        {
            node = child;
        }
        !node.has_error() && node.kind().contains("identifier") && node.byte_range() == (0..new_name.len())
    });
    if new_name.is_empty() || !is_name && !names_it(place, new_name) {
        return Err(tool_failure(
            format!("{new_name:?} is not a name in {}; nothing was changed", place.language.name),
            "give one word that is not a keyword",
        ));
    }
    let twin = (0..place.outline.symbols.len()).find(|index| {
        let other = &place.outline.symbols[*index];
        other.parent == symbol.parent && other.name == new_name
    });
    match twin {
        Some(twin) => Err(tool_failure(
            format!("{}::{} exists already; nothing was changed", place.document.path, place.outline.path_of(twin)),
            "take another name, or rename that one first",
        )),
        None => Ok(()),
    }
}

/// True if the symbol has the new name once that stands in the place of its own: a function of a shell script, whose name
/// alone is a command.
fn names_it(place: &SymbolPlace, new_name: &str) -> bool {
    let symbol = &place.outline.symbols[place.symbol];
    if new_name.contains(char::is_whitespace)
        || place.document.text.get(symbol.name_range.clone()) != Some(&symbol.name)
    {
        return false;
    }
    let edit = TextEdit { range: symbol.name_range.clone(), text: new_name.to_owned() };
    let Ok(after) = apply_text::apply(&place.document.text, &[edit]) else { return false };
    let outline = Outline::parse(place.language, &after);
    let named = |other: &Symbol| other.name_range.start == symbol.name_range.start && other.name == new_name;
    outline.has_errors == place.outline.has_errors && outline.symbols.get(place.symbol).is_some_and(named)
}

/// Reads the edit of the server; `None` where it belongs to an older text. Nothing is changed yet.
async fn read(
    workspace: &Workspace,
    work: &TaskWork,
    reach: &Scope,
    asked: &AnsweredName,
) -> Result<Option<Renaming>, Failure> {
    let edit = workspace_edit::read(&asked.said.value, workspace.root.path());
    if let Some(operation) = edit.operations.first() {
        return Err(unfit(asked, operation));
    }
    let mut renaming = Renaming::default();
    let mut listed: Vec<_> = edit.files.into_iter().filter(|(_, edits)| !edits.is_empty()).collect();
    listed.sort_by_key(|(path, _)| (*path != asked.place.document.path, path.clone()));
    for (path, edits) in listed {
        let document = match workspace.root.resolve(&path) {
            Ok(resolved) if resolved == path => target::document(workspace, &path).await?,
            Ok(resolved) => {
                renaming.outside.push(format!("{path} (a link to {resolved})"));
                continue;
            }
            Err(error) => {
                renaming.outside.push(format!("{path} ({error})"));
                continue;
            }
        };
        if asked.said.versions.get(&path).is_some_and(|version| *version != document.version) {
            return Ok(None);
        }
        if let Some(misfit) = workspace_edit::misfit(&path, &document.text, &edits, asked.said.encoding) {
            return Err(unfit(asked, &misfit));
        }
        let Some(texts) = texts(&document, edits, asked) else { return Ok(None) };
        renaming.places.push((path.clone(), texts.len()));
        let after = apply_text::apply(&document.text, &texts).map_err(|error| {
            tool_failure(
                format!("the edits of {} for {path} do not fit together: {error}; nothing was changed", asked.provider),
                "search finds the places, and edit_file changes them",
            )
        })?;
        if workspace_files::is_ignored(&workspace.root, &path) && !edit_guard::is_named(work, &path) {
            renaming.outside.push(format!("{path} (left out of version control)"));
            continue;
        }
        for one in &texts {
            let want = EditRequest::change(document.clone(), vec![one.clone()], false);
            if reach.check(&want).is_err() {
                let names = task_scope::touched(&want);
                renaming.outside.extend(names);
            }
        }
        let hunks = hunks::hunks(&document.text, &after);
        if !hunks.is_empty() {
            renaming.wanted.push(EditRequest::change(document, hunks, false));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    renaming.outside.retain(|name| seen.insert(name.clone()));
    Ok(Some(renaming))
}

/// The refusal where several symbols share the path, and the server renames only a part of them.
fn ambiguous(asked: &AnsweredName, other: &str) -> Failure {
    let path = &asked.place.document.path;
    tool_failure(
        format!("{} has several symbols {}, and {} leaves {other} as it is", path, asked.name, asked.provider),
        format!("nothing was changed; name one of them, such as {path}::{other}"),
    )
}

fn unfit(asked: &AnsweredName, operation: &str) -> Failure {
    tool_failure(
        format!("{} wants more than edits in the workspace: {operation}; nothing was changed", asked.provider),
        "search finds the places, and edit_file changes them",
    )
}

/// The edits in bytes, sorted. `None` where a replaced text is not the old name: the server has another text than the
/// present one.
fn texts(document: &Document, edits: Vec<(Range, String)>, asked: &AnsweredName) -> Option<Vec<TextEdit>> {
    let index = LineIndex::new(&document.text);
    let mut texts: Vec<TextEdit> = edits
        .into_iter()
        .map(|(range, text)| TextEdit {
            range: index.byte_range(&document.text, range, asked.said.encoding),
            text: text.replace("\r\n", "\n"),
        })
        .collect();
    texts.sort_by_key(|edit| (edit.range.start, edit.range.end));
    texts.dedup();
    let fits = |edit: &TextEdit| {
        edit.range.is_empty() || document.text.get(edit.range.clone()).is_some_and(|old| holds_word(old, &asked.name))
    };
    texts.iter().all(fits).then_some(texts)
}

/// The refusal of a renaming that reaches further than the task may.
fn wider(scope: &Scope, asked: &AnsweredName, renaming: &Renaming) -> Failure {
    let names = scope.names();
    tool_failure(
        format!(
            "renaming {} changes {} outside of the scope of this task ({}): {}; nothing was changed",
            asked.place.path(),
            counted(renaming.outside.len(), "place"),
            if names.is_empty() { "the workspace".to_owned() } else { names.join(", ") },
            renaming.outside.join(", ")
        ),
        "ask the user for a wider scope that names them, or leave the name",
    )
}

/// One line about the renaming.
fn summary(old: &str, new: &str, places: &[(String, usize)]) -> String {
    let total: usize = places.iter().map(|(_, count)| count).sum();
    let files: Vec<String> = places.iter().map(|(path, count)| format!("{path} ({count})")).collect();
    format!(
        "renamed {old} to {new}: {} in {}: {}",
        counted(total, "place"),
        counted(places.len(), "file"),
        files.join(", ")
    )
}

/// The lines of the workspace that still have the old name, and the parts that were not searched for it. The language
/// server does not see or does not mean them.
async fn left_over(root: &Root, changed: &EditOutcome, old: &str) -> Option<String> {
    let edited: HashMap<String, Arc<str>> = changed
        .applied
        .iter()
        .filter_map(|done| done.document.as_ref().map(|document| (done.path.clone(), Arc::clone(&document.text))))
        .collect();
    let (root, name) = (root.clone(), old.to_owned());
    // Many files are read: a stop must not have to wait for that.
    let look = move || NameOccurrences::of(&root, &edited, &name, |_| true);
    let found = tokio::task::spawn_blocking(look).await.ok()??;
    let not_searched = found.not_searched().map(|parts| format!("; not searched: {parts}")).unwrap_or_default();
    if found.lines.is_empty() {
        let what = if not_searched.is_empty() { "no text of the workspace" } else { "no text that was searched" };
        return Some(format!("{what} holds {old} any more{not_searched}"));
    }
    let (count, first) = found.counted();
    Some(format!(
        "{old} still stands on {count} (strings, comments, docs, or something else of that name): {first}{not_searched}"
    ))
}
