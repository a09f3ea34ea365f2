//! Answers requests that read: `read Cart::total`, `lee cart.py`, `outline of cart.py`.

use serde_json::json;

use crate::commands::intents::intent::Direct;
use crate::commands::intents::intent_answer::DirectAnswer;
use crate::commands::intents::meant_symbol::{self, Here};
use crate::commands::intents::phrase::{Phrase, fold, name};
use crate::edit::questions::{self, UserQuestion};
use crate::editor::event::QuestionKind;
use crate::plan::work_mode::Mode;
use crate::run::request_names;
use crate::state::approvals::{Approvals, UserAnswer};
use crate::state::edit_service::EditService;
use crate::state::request::Request;
use crate::state::task::Task;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::validate_call;
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_model::step::Model;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;

const READ: &[&str] =
    &["read", "show", "show me", "display", "lee", "leer", "leeme", "muestra", "muestrame", "mostrar", "ensename"];

const OUTLINE: &[&str] = &[
    "list",
    "outline",
    "outline of",
    "the outline of",
    "show the outline of",
    "show me the outline of",
    "symbols of",
    "symbols in",
    "list symbols of",
    "list symbols in",
    "list the symbols of",
    "list the symbols in",
    "show the symbols of",
    "show the symbols in",
    "lista",
    "esquema de",
    "el esquema de",
    "muestra el esquema de",
    "simbolos de",
    "lista los simbolos de",
    "muestra los simbolos de",
    "que simbolos hay en",
];

/// Most candidates of a question to the user.
const MOST: usize = 6;

pub(crate) fn recognise(phrase: &Phrase) -> Option<Direct> {
    if let Some(file) = phrase.after(OUTLINE).and_then(name).filter(|name| is_file(name)) {
        return Some(Direct::Outline(file));
    }
    phrase.after(READ).and_then(name).map(Direct::Read)
}

fn is_file(name: &str) -> bool {
    !name.contains("::") && name.contains(['.', '/'])
}

/// True if an unknown name deserves an answer, and is not just a word of a sentence.
pub(crate) fn is_sure(name: &str) -> bool {
    name.contains("::") || name.contains('_') || name.contains('/') || name.contains('.')
}

/// The symbols and files that a name may stand for.
pub(crate) async fn candidates(workspace: &Workspace, request: &Request, given: &str) -> Vec<SymbolPath> {
    let here = match &request.path {
        Some(path) => target::document(workspace, path).await.ok().map(|document| (document.path, document.text)),
        None => None,
    };
    let here = here.map(|file| Here { file, line: request.lines.map(|(first, _)| first) });
    let (root, wanted) = (workspace.root.clone(), given.to_owned());
    let look = move || {
        let own = here.as_ref().map(|here| &here.file);
        let mut found: Vec<SymbolPath> =
            request_names::files_named(&root, &wanted).into_iter().map(|file| SymbolPath::new(file, "")).collect();
        if found.is_empty() {
            // `cart.py::total` with only the end of the file's path.
            let path = SymbolPath::parse(&wanted);
            let files = if path.file.is_empty() { Vec::new() } else { request_names::files_named(&root, &path.file) };
            match files.as_slice() {
                [] => found = request_names::symbols_named(&root, own, &wanted),
                files => {
                    for file in files {
                        let full = SymbolPath::new(file, &path.names).to_string();
                        found.extend(request_names::symbols_named(&root, own, &full));
                    }
                }
            }
        }
        meant_symbol::narrowed(&root, here.as_ref(), found)
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The symbol or file that a name stands for; asks the user about several. `None` for an unknown name.
pub(crate) async fn named(
    workspace: &Workspace,
    approvals: &Approvals,
    request: &Request,
    given: &str,
) -> Result<Option<SymbolPath>, Failure> {
    let found = candidates(workspace, request, given).await;
    match found.as_slice() {
        [] if is_sure(given) => Err(no_such_name(given)),
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        many => which(approvals, given, many).await.map(Some),
    }
}

/// The failure for a name of nothing.
pub(crate) fn no_such_name(given: &str) -> Failure {
    let given = clean(given);
    let message = format!("there is no symbol and no file named {given}");
    Failure::user(message, "`list FILE` shows the symbols of a file")
}

async fn which(approvals: &Approvals, given: &str, many: &[SymbolPath]) -> Result<SymbolPath, Failure> {
    let options: Vec<String> = many.iter().take(MOST).map(ToString::to_string).collect();
    if !approvals.can_ask() {
        let message = format!("{given} is in several places");
        return Err(Failure::user(message, format!("name one: {}", options.join(", "))));
    }
    let question = format!("Which {given}?");
    let answer = questions::ask_user(approvals, UserQuestion::of(QuestionKind::Ask, &question, &options)).await?;
    let chosen = match &answer {
        UserAnswer::Option(choice) => many.get(choice.saturating_sub(1)),
        UserAnswer::Words(words) => many.iter().find(|path| path.to_string().contains(words.trim())),
    };
    chosen
        .cloned()
        .ok_or_else(|| Failure::user("the answer names no option", format!("name one: {}", options.join(", "))))
}

/// Runs a reading tool for the user.
pub(crate) async fn read_for_user(
    edits: &EditService,
    model: &dyn Model,
    tool: &str,
    given: serde_json::Value,
) -> Result<String, Failure> {
    let mut nobody = Task::new("", Mode::Simple, None, Scope::Workspace);
    Ok(validate_call::call(tool, &given)?.run(edits, model, &mut nobody.work).await?.text)
}

pub(crate) async fn direct_read(
    edits: &EditService,
    model: &dyn Model,
    request: &Request,
    given: &str,
) -> Result<Option<DirectAnswer>, Failure> {
    let Some(found) = named(&edits.workspace, &edits.approvals, request, given).await? else { return Ok(None) };
    let text = if found.names.is_empty() {
        read_for_user(edits, model, "read_file", json!({"path": found.file})).await?
    } else {
        read_for_user(edits, model, "read_symbol", json!({"symbol": found.to_string(), "plain": true})).await?
    };
    let lines = text.lines().count() - usize::from(!found.names.is_empty()).min(text.lines().count());
    Ok(Some(DirectAnswer::new(text, format!("{found}: {}", counted(lines, "line")))))
}

pub(crate) async fn direct_outline(
    edits: &EditService,
    model: &dyn Model,
    given: &str,
) -> Result<Option<DirectAnswer>, Failure> {
    let Some(found) = named(&edits.workspace, &edits.approvals, &Request::default(), given).await? else {
        return Ok(None);
    };
    let text = read_for_user(edits, model, "list_symbols", json!({"query": found.file, "plain": true})).await?;
    let count = text.lines().count();
    let summary = format!("{}: {}", found.file, counted(count, "symbol"));
    Ok(Some(DirectAnswer::new(text, summary)))
}

/// A name's last part, for a search by word.
pub(crate) fn last_part(name: &str) -> &str {
    path_spelling::last_name(name)
}

/// The words before the last one, where the last one is among these endings.
pub(crate) fn ends_with<'w>(words: &'w [String], endings: &[&str]) -> Option<&'w [String]> {
    let (last, before) = words.split_last()?;
    endings.contains(&fold(last).as_str()).then_some(before)
}
