//! Answers requests that find something: `where is total`, `who uses Cart`, `dónde está total`, `quién usa Cart`.

use serde_json::json;

use crate::commands::intents::imported_name::{self, ImportedName};
use crate::commands::intents::intent::Direct;
use crate::commands::intents::intent_answer::DirectAnswer;
use crate::commands::intents::phrase::{Phrase, name};
use crate::commands::intents::read_intent::{self, ends_with, is_sure, last_part};
use crate::commands::locate_name::{self, LocatedName};
use crate::editor::event::{Event, QuickfixEntry};
use crate::state::approvals::Approvals;
use crate::state::edit_service::EditService;
use crate::state::request::Request;
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::find_references::{self, ListedUses};
use crate::tools::search_tool;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_base::positions::LineIndex;
use sextant_model::step::Model;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

const WHERE: &[&str] = &[
    "where is",
    "where's",
    "where is the definition of",
    "find the definition of",
    "definition of",
    "locate",
    "donde esta",
    "donde se define",
    "donde esta la definicion de",
    "donde esta definida",
    "donde esta definido",
    "en que archivo esta",
];

const USES: &[&str] = &[
    "who uses",
    "who calls",
    "who imports",
    "what uses",
    "what calls",
    "find uses of",
    "find usages of",
    "find the uses of",
    "find callers of",
    "find the callers of",
    "uses of",
    "usages of",
    "callers of",
    "list callers of",
    "list the callers of",
    "list uses of",
    "show callers of",
    "quien usa",
    "quien llama a",
    "quien llama",
    "quien importa",
    "usos de",
    "muestra los usos de",
    "donde se usa",
    "donde se llama a",
];

pub(crate) fn recognise(phrase: &Phrase) -> Option<Direct> {
    if let Some(used) = phrase.after(USES).and_then(name) {
        return Some(Direct::Uses(used));
    }
    let words = phrase.after(WHERE)?;
    if let Some(used) = ends_with(words, &["used", "called", "imported"]) {
        return name(used).map(Direct::Uses);
    }
    let words = ends_with(words, &["defined", "declared", "definido", "definida"]).unwrap_or(words);
    name(words).map(Direct::Where)
}

pub(crate) async fn direct_where(
    workspace: &Workspace,
    approvals: &Approvals,
    request: &Request,
    given: &str,
) -> Result<Option<DirectAnswer>, Failure> {
    if let Some(imported) = only_imported(workspace, request, given).await {
        return Ok(Some(imported.defined(workspace).await));
    }
    let Some(found) = read_intent::named(workspace, approvals, request, given).await? else { return Ok(None) };
    let LocatedName { path, line, column } = locate_name::locate(workspace, &found.to_string()).await?;
    let place = Event::Place { path, line, column, pointed: false };
    let summary =
        if found.names.is_empty() { format!("{} is a file", found.file) } else { format!("{found}, line {line}") };
    Ok(Some(DirectAnswer::new("", summary).showing(place)))
}

/// The import of a name that no file of the workspace defines.
async fn only_imported(workspace: &Workspace, request: &Request, given: &str) -> Option<ImportedName> {
    let imported = imported_name::find(workspace, request, given).await?;
    read_intent::candidates(workspace, request, given).await.is_empty().then_some(imported)
}

/// One-based line of a symbol's name.
async fn line_of(workspace: &Workspace, file: &str, names: &str) -> Result<Option<usize>, Failure> {
    let document = target::document(workspace, file).await?;
    let Some(language) = language::of_path(&document.path) else { return Ok(None) };
    let outline = Outline::parse(language, &document.text);
    let found = outline.find(names).ok().map(|index| outline.symbols[index].name_range.start);
    Ok(found.map(|start| LineIndex::new(&document.text).line_of(start) + 1))
}

/// The uses as a language server knows them, as a list; an empty answer of a server is `None`.
///
/// # Errors
/// No server answers with uses; the message has the reason of each.
async fn known_uses(edits: &EditService, found: &SymbolPath) -> Result<Option<DirectAnswer>, Failure> {
    Ok(as_list(find_references::uses(edits, &found.to_string()).await?, &found.to_string()))
}

/// The uses as a list; `None` without any.
fn as_list(ListedUses { entries, notes }: ListedUses, found: &str) -> Option<DirectAnswer> {
    if entries.is_empty() {
        return None;
    }
    let line = |entry: &QuickfixEntry| format!("{}:{}: {}", entry.path, entry.line, entry.text);
    let text = entries.iter().map(line).collect::<Vec<_>>().join("\n");
    let lacking = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    let summary = format!("{} to {found}{lacking}", counted(entries.len(), "reference"));
    let request = format!("uses of {found}");
    Some(DirectAnswer::new(text, summary).showing(Event::Places { request, entries }))
}

/// The uses by a server's references, or else the lines that hold the name as a word, with the symbol around each. The
/// definition itself is left out.
pub(crate) async fn direct_uses(
    edits: &EditService,
    model: &dyn Model,
    request: &Request,
    given: &str,
) -> Result<Option<DirectAnswer>, Failure> {
    if let Some(imported) = only_imported(&edits.workspace, request, given).await {
        let reason = match imported.uses(&edits.workspace).await {
            Ok(uses) if !uses.entries.is_empty() => return Ok(as_list(uses, given)),
            Ok(_) => None,
            Err(failure) => Some(failure.message),
        };
        return by_word(edits, model, SearchedWord { word: given, shown: given }, "", reason).await.map(Some);
    }
    let Some(found) = read_intent::named(&edits.workspace, &edits.approvals, request, given).await? else {
        return Ok(None);
    };
    // A file is used by its name: no server is asked.
    let mut reason = None;
    if !found.names.is_empty() {
        match known_uses(edits, &found).await {
            Ok(Some(known)) => return Ok(Some(known)),
            Ok(None) => {}
            Err(failure) => reason = Some(failure.message),
        }
    }
    let word = if found.names.is_empty() {
        // A file is used by the name that it is imported under.
        let stem = found.file.rsplit('/').next().unwrap_or(&found.file);
        stem.split('.').next().unwrap_or(stem).to_owned()
    } else {
        last_part(&found.names).to_owned()
    };
    let own = match line_of(&edits.workspace, &found.file, &found.names).await? {
        Some(line) if !found.names.is_empty() => format!("{found}:{line}: "),
        _ => String::new(),
    };
    let shown = if is_sure(given) || !found.names.is_empty() { &*word } else { given };
    by_word(edits, model, SearchedWord { word: &word, shown }, &own, reason).await.map(Some)
}

/// A word to search for, and the name of it in the answer.
struct SearchedWord<'w> {
    word: &'w str,
    shown: &'w str,
}

/// The lines that hold a word, without the one that begins as `own` does.
async fn by_word(
    edits: &EditService,
    model: &dyn Model,
    searched: SearchedWord<'_>,
    own: &str,
    reason: Option<String>,
) -> Result<DirectAnswer, Failure> {
    let SearchedWord { word, shown } = searched;
    let pattern = format!(r"\b{}\b", regex::escape(word));
    let hits = read_intent::read_for_user(edits, model, "search", json!({"pattern": pattern, "plain": true})).await?;
    let others = hits.lines().filter(|line| own.is_empty() || !line.starts_with(own));
    let (notes, lines): (Vec<&str>, Vec<&str>) = others.partition(|line| search_tool::is_note(line));
    let none = lines.is_empty() || (lines.len() == 1 && lines[0].starts_with("nothing matches"));
    if none {
        let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        return Ok(DirectAnswer::new(notes.join("\n"), format!("nothing else names {word}{reason}")));
    }
    let count = lines.len();
    let lines = [lines, notes].concat();
    let reason = reason.map(|reason| format!("{reason}; ")).unwrap_or_default();
    let summary = format!(
        "{} of text with {shown} ({reason}found by word: another symbol of that name counts too)",
        counted(count, "line")
    );
    Ok(DirectAnswer::new(lines.join("\n"), summary))
}
