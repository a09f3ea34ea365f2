//! Asks a language server about a name: finds the place of a name in a symbol, then an answer.

use crate::editor::Document;
use crate::editor::editor_error::EditorError;
use crate::editor::editor_lookup::{LookupAnswer, NameLookup, SaidOfName, Worth, worth};
use crate::editor::workspace_edit::LONE_RETURN;
use crate::state::workspace::Workspace;
use crate::target::{self, SymbolPlace};
use crate::tools::stub_twin;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind, tool_failure};
use sextant_base::one_line::clean;
use sextant_base::positions::{Encoding, LineIndex};
use sextant_diagnostics::server::name_requests::{LookupError, NameQuestion};
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Symbol;
use sextant_text::symbols::whole_word::holds_word;

/// The least time, in milliseconds, that a server may take: one that is cold reads the project first.
const PATIENCE_MS: u64 = 10_000;
const MOST_BESIDE: usize = 100;
/// Most names in a symbol that a refusal shows.
const SHOWN: usize = 12;

/// An answer, with its subject.
#[derive(Debug)]
pub(crate) struct AnsweredName {
    pub(crate) place: SymbolPlace,
    pub(crate) name: String,
    /// The place of the name.
    pub(crate) offset: usize,
    /// The server that answered.
    pub(crate) provider: String,
    pub(crate) said: SaidOfName,
    /// Servers that gave no answer in time, and what the answer may lack.
    pub(crate) notes: Vec<String>,
}

/// Asks about a name in a symbol, or about the symbol's own. When the text has changed meanwhile, the question is
/// repeated once.
pub(crate) async fn ask(
    workspace: &Workspace,
    symbol: &str,
    name: Option<&str>,
    question: &NameQuestion,
) -> Result<AnsweredName, Failure> {
    let checks = &workspace.config.diagnostics;
    let deadline = Deadline::after_ms(checks.timeout_ms.max(checks.start_timeout_ms).max(PATIENCE_MS));
    for _ in 0..2 {
        if let Some(asked) = once(workspace, symbol, name, question, deadline).await? {
            return Ok(asked);
        }
    }
    Err(outdated())
}

/// The failure where an answer came too late twice.
pub(crate) fn outdated() -> Failure {
    tool_failure(
        "the text that the language server answered for is not the current one, twice in a row; nothing was changed",
        "wait until nobody else edits these files, and ask again",
    )
}

/// Asks about a name at a place of a text, which is in no symbol: an import.
///
/// # Errors
/// No server answers with anything; the message has the reason of each.
pub(crate) async fn ask_at(
    workspace: &Workspace,
    document: &Document,
    offset: usize,
    name: &str,
    question: &NameQuestion,
) -> Result<PlaceAnswer, Failure> {
    let checks = &workspace.config.diagnostics;
    let deadline = Deadline::after_ms(checks.timeout_ms.max(checks.start_timeout_ms).max(PATIENCE_MS));
    let asked = at_place(workspace, document, NameAt { offset, name }, question, deadline).await?;
    asked.ok_or_else(outdated)
}

/// `None` where the answer belongs to an older text.
async fn once(
    workspace: &Workspace,
    symbol: &str,
    name: Option<&str>,
    question: &NameQuestion,
    deadline: Deadline,
) -> Result<Option<AnsweredName>, Failure> {
    let place = target::place(workspace, symbol).await?;
    let twin = if name.is_none() { stub_twin::of(workspace, &place, question).await? } else { None };
    let (offset, name) = named(&place, name)?;
    let at = NameAt { offset, name: &name };
    let Some(mut answer) = at_place(workspace, &place.document, at, question, deadline).await? else {
        return Ok(None);
    };
    if let Some(twin) = twin {
        let at = NameAt { offset: own_name(&twin, &twin.outline.symbols[twin.symbol]), name: &name };
        match at_place(workspace, &twin.document, at, question, deadline).await.transpose() {
            Some(other) => stub_twin::add(&mut answer, &twin.path(), other),
            None => return Ok(None),
        }
    }
    let PlaceAnswer { provider, said, notes } = answer;
    Ok(Some(AnsweredName { place, name, offset, provider, said, notes }))
}

/// A name, and the byte of the text that it begins at.
struct NameAt<'n> {
    offset: usize,
    name: &'n str,
}

/// An answer of a server about a place.
pub(crate) struct PlaceAnswer {
    provider: String,
    pub(crate) said: SaidOfName,
    /// Servers that gave no answer in time, and what the answer may lack.
    pub(crate) notes: Vec<String>,
}

/// `None` where the answer belongs to an older text.
async fn at_place(
    workspace: &Workspace,
    document: &Document,
    asked: NameAt<'_>,
    question: &NameQuestion,
    deadline: Deadline,
) -> Result<Option<PlaceAnswer>, Failure> {
    let NameAt { offset, name } = asked;
    let index = LineIndex::new(&document.text);
    if index.has_lone_return() {
        let why = format!("no language server is asked about {}, {LONE_RETURN}", document.path);
        return Err(tool_failure(
            why,
            "search finds the name as text; with one kind of line end the server can be asked",
        ));
    }
    let at = index.position(&document.text, offset, Encoding::Utf8);
    let beside = beside(&workspace.root, document, name, question).await;
    let (path, version) = (document.path.clone(), document.version);
    let reading = deadline.left() / 3 * 2;
    let wanted = NameLookup { path, version, at, question: question.clone(), beside, reading };
    let answers = match workspace.editor.look_up(&wanted, deadline).await {
        Err(EditorError::Stale(_)) => return Ok(None),
        answers => answers?,
    };
    let mut notes = Vec::new();
    for LookupAnswer { provider, said } in &answers {
        match said {
            Ok(said) if worth(question, &said.value) == Worth::Something => {
                if workspace.editor.read(&wanted.path).await?.version != wanted.version {
                    return Ok(None);
                }
                if let Some(unread) = &said.unread {
                    notes.push(of_a_part(question, name, provider, unread)?);
                }
                return Ok(Some(PlaceAnswer { provider: provider.clone(), said: said.clone(), notes }));
            }
            Err(LookupError::TimedOut) => notes.push(format!("{provider} did not answer in time")),
            _ => {}
        }
    }
    if answers.iter().any(|answer| matches!(answer.said, Err(LookupError::Outdated))) {
        return Ok(None);
    }
    Err(unanswered(question, name, &document.path, &answers))
}

/// The note on an answer of a server that has not read the whole project.
///
/// # Errors
/// A rename, which would leave the old name where the server has not read.
fn of_a_part(question: &NameQuestion, name: &str, provider: &str, unread: &str) -> Result<String, Failure> {
    let words = format!("{provider} has not read the whole project yet ({})", clean(unread));
    match question {
        NameQuestion::Rename { .. } => Err(tool_failure(
            format!("{words}: a rename of {name} would miss uses of it; nothing was changed"),
            "ask again when it is done",
        )),
        _ => Ok(format!("{words}: more uses of {name} may follow; ask again when it is done")),
    }
}

/// The other files of the language that hold the name, for a question about all of them.
async fn beside(root: &Root, document: &Document, name: &str, question: &NameQuestion) -> Vec<String> {
    if !question.spans_project() {
        return Vec::new();
    }
    let (root, own, name) = (root.clone(), document.path.clone(), name.to_owned());
    let look = move || {
        let wanted = language::of_path(&own).map(|language| language.name);
        let same = |path: &String| *path != own && language::of_path(path).map(|language| language.name) == wanted;
        let holds = |path: &String| workspace_files::text(&root, path).is_some_and(|text| holds_word(&text, &name));
        workspace_files::list(&root, "", MOST_FILES)
            .files
            .into_iter()
            .filter(same)
            .filter(holds)
            .take(MOST_BESIDE)
            .collect()
    };
    // Many files are read: a stop must not have to wait for that.
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The byte of a symbol's own name: behind the type, where it is defined outside of that (`Circle::area`).
fn own_name(place: &SymbolPlace, symbol: &Symbol) -> usize {
    let spelled = &place.document.text[symbol.name_range.clone()];
    symbol.name_range.start + spelled.rfind(&symbol.name).unwrap_or(0)
}

/// The place of a name in the symbol, and the name itself. The name is the symbol's own, or the first use of one. `a.b`
/// is the `b` behind an `a.`.
fn named(place: &SymbolPlace, name: Option<&str>) -> Result<(usize, String), Failure> {
    let symbol = &place.outline.symbols[place.symbol];
    let Some(given) = name.map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok((own_name(place, symbol), symbol.name.clone()));
    };
    let given = given.trim_end_matches("()");
    let (text, last) = (&place.document.text, given.rsplit('.').next().unwrap_or(given));
    let tree = place.language.tree(text);
    let is_name = |range: &std::ops::Range<usize>| {
        let node = tree.as_ref().and_then(|tree| tree.root_node().descendant_for_byte_range(range.start, range.end));
        node.is_some_and(|node| node.byte_range() == *range && node.kind().contains("identifier"))
    };
    let source = &text[symbol.declaration.clone()];
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let found = source.match_indices(given).map(|(at, _)| symbol.declaration.start + at).find(|at| {
        let end = at + given.len();
        let apart = !text[..*at].ends_with(word) && !text[end..].starts_with(word);
        apart && is_name(&(end - last.len()..end))
    });
    if let Some(at) = found {
        return Ok((at + given.len() - last.len(), last.to_owned()));
    }
    let mut names: Vec<&str> = Vec::new();
    let mut at = 0;
    for part in source.split_inclusive(|c| !word(c)) {
        let one = part.trim_end_matches(|c| !word(c));
        let range = symbol.declaration.start + at..symbol.declaration.start + at + one.len();
        at += part.len();
        if !one.is_empty() && !names.contains(&one) && names.len() < SHOWN && is_name(&range) {
            names.push(one);
        }
    }
    Err(tool_failure(
        format!("{} does not use a name {given}", place.path()),
        format!("name one that it uses: {}", names.join(", ")),
    ))
}

fn unanswered(question: &NameQuestion, name: &str, path: &str, answers: &[LookupAnswer]) -> Failure {
    let (what, hint) = match question {
        NameQuestion::Definition => ("the definition of", "search finds it as text"),
        NameQuestion::References => ("the uses of", "search finds it as text"),
        NameQuestion::Hover => ("the type of", "read_symbol and search show its source"),
        NameQuestion::Rename { .. } => ("the renames of", "search finds its places, and edit_file changes them"),
    };
    if answers.is_empty() {
        return tool_failure(format!("no language server of {path} offers {what} {name}"), hint);
    }
    let reasons: Vec<String> = answers.iter().map(|answer| words(question, answer)).collect();
    let has_failed = answers.iter().any(|answer| answer.said.is_err());
    let kind = if has_failed { FailureKind::Editor } else { FailureKind::Tool };
    Failure::new(kind, format!("no language server found {what} {name}: {}", reasons.join("; ")), hint)
}

fn words(question: &NameQuestion, answer: &LookupAnswer) -> String {
    let provider = &answer.provider;
    match &answer.said {
        Ok(said) if worth(question, &said.value) == Worth::Unreadable => {
            format!("{provider} answered what cannot be read")
        }
        Ok(SaidOfName { unread: Some(unread), .. }) => {
            format!("{provider} found nothing so far ({})", clean(unread))
        }
        Ok(_) => format!("{provider} found nothing"),
        Err(LookupError::TimedOut) => format!("{provider} did not answer in time"),
        Err(LookupError::Gone(reason)) => format!("{provider} is gone ({})", clean(reason)),
        Err(error) => format!("{provider} answered: {}", clean(&error.to_string())),
    }
}
