//! Collects the facts of a prompt about a piece of code: its source, its surroundings, its reports.

use std::ops::Range;

use crate::diagnostics::reported;
use crate::editor::Document;
use crate::editor::editor_error::EditorError;
use crate::plan::plan_progress::PlanProgress;
use crate::run::compact_loop::around::around;
use crate::run::compact_loop::choose::{self, CompactTarget};
use crate::run::sources::SOURCE;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::read_views::SeenTexts;
use crate::state::task::TaskWork;
use crate::state::task_scope::{Scope, source};
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
use sextant_base::secrets::mask;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::model::Severity;
use sextant_model::compact_reply::{self, CompactFacts};
use sextant_model::request_kind;
use sextant_model::step::Model;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::SymbolKind;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most bytes of the rest of the file: about 230 tokens.
const AROUND: usize = 800;
/// Most reports of one piece.
const REPORTS: usize = 6;

/// A piece of code with its place and the facts about it.
pub(super) struct ShownPiece {
    /// `None` for a file that does not exist yet.
    pub(super) document: Option<Document>,
    pub(super) path: String,
    /// The symbol's path inside the file; empty for all of it.
    pub(super) names: String,
    /// Its lines in the document, from 0.
    lines: Range<usize>,
    pub(super) facts: CompactFacts,
}

/// Reads a piece as it is now. The model counts as having seen it.
pub(super) async fn shown(
    hub: &DiagnosticsHub,
    request: &str,
    seen: &mut SeenTexts,
    course: &PlanProgress,
    target: &CompactTarget,
    earlier: &[String],
) -> Result<ShownPiece, Failure> {
    let mut piece = match target {
        CompactTarget::Symbol(symbol) => of_symbol(hub, request, course, symbol).await?,
        CompactTarget::File(file) => of_file(hub, request, course, file).await?,
    };
    if let Some(document) = &piece.document {
        seen.lines(&document.path, &document.text, piece.lines.clone());
    }
    piece.facts.earlier = earlier.to_vec();
    Ok(piece)
}

async fn of_symbol(
    hub: &DiagnosticsHub,
    request_text: &str,
    course: &PlanProgress,
    symbol: &SymbolPath,
) -> Result<ShownPiece, Failure> {
    let place = target::known_place(&hub.workspace, symbol).await?;
    let (path, text, outline) = (&place.document.path, &place.document.text, &place.outline);
    let own = &outline.symbols[place.symbol];
    let kind = own.kind.name();
    let what = match own.parent.map(|parent| &outline.symbols[parent]).filter(|_| own.kind == SymbolKind::Method) {
        Some(holder) => format!("the {kind} `{}` of the {} `{}` in {path}", own.name, holder.kind.name(), holder.name),
        None => format!("the {kind} `{}` of {path}", own.name),
    };
    let names = outline.path_of(place.symbol);
    let scope = Scope::Symbols(vec![SymbolPath::new(path, names.clone())]);
    let facts = CompactFacts {
        piece: what,
        name: own.name.clone(),
        language: place.language.name.to_owned(),
        source: mask(source(text, outline, place.symbol)).into_owned(),
        around: mask(&around(place.language, text, outline, place.symbol, AROUND)).into_owned(),
        request: request(request_text, course),
        reports: reports(hub, request_text, &scope, text).await,
        earlier: Vec::new(),
    };
    let (index, own) = (LineIndex::new(text), own.extent.clone());
    let lines = index.line_of(own.start)..index.line_of(own.end) + 1;
    Ok(ShownPiece { path: path.clone(), names, lines, facts, document: Some(place.document) })
}

async fn of_file(
    hub: &DiagnosticsHub,
    request_text: &str,
    course: &PlanProgress,
    file: &str,
) -> Result<ShownPiece, Failure> {
    let path = hub.workspace.root.resolve(file)?;
    let document = match hub.workspace.editor.read(&path).await {
        Ok(document) => Some(document),
        Err(EditorError::NotFound(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let text = document.as_ref().map_or("", |document| &*document.text);
    let facts = CompactFacts {
        piece: format!("the file {path}{}", if document.is_some() { "" } else { ", which is yet to be written" }),
        name: String::new(),
        language: language::of_path(&path).map_or("", |language| language.name).to_owned(),
        source: mask(text).into_owned(),
        around: String::new(),
        request: request(request_text, course),
        reports: reports(hub, request_text, &Scope::Files(vec![path.clone()]), text).await,
        earlier: Vec::new(),
    };
    Ok(ShownPiece { document, path, names: String::new(), lines: 0..usize::MAX, facts })
}

/// The source of a piece as it stands in its file.
pub(super) async fn source_now(workspace: &Workspace, path: &str, names: &str) -> Option<String> {
    if names.is_empty() {
        return workspace.editor.read(path).await.ok().map(|document| document.text.to_string());
    }
    let place = target::known_place(workspace, &SymbolPath::new(path, names)).await.ok()?;
    Some(source(&place.document.text, &place.outline, place.symbol).to_owned())
}

/// The request, with the inputs of the plan's step.
fn request(request: &str, course: &PlanProgress) -> String {
    let inputs = course.inputs.iter().map(|(name, value)| format!("\n{name}: {value}"));
    format!("{}{}", request, inputs.collect::<String>())
}

/// The reports in a piece: errors, and the rest where the request is about them.
async fn reports(hub: &DiagnosticsHub, request: &str, scope: &Scope, text: &str) -> Vec<String> {
    let found = reported::in_scope(hub, scope).await;
    let relevant = found.iter().filter(|found| bears(request, found));
    relevant.take(REPORTS).map(|found| line(found, text)).collect()
}

/// True if a report bears on the request.
pub(super) fn bears(request: &str, found: &LocatedDiagnostic) -> bool {
    let error = found.diagnostic.severity == Severity::Error;
    let quoted = found.diagnostic.code.as_ref().is_some_and(|code| request.contains(code.as_str()));
    error || quoted || request_kind::asks_repair(request)
}

/// A report with its line of code.
pub(super) fn line(found: &LocatedDiagnostic, text: &str) -> String {
    let code = text.lines().nth((found.line as usize).saturating_sub(1)).unwrap_or_default();
    let message = found.diagnostic.message.trim().lines().take(2).collect::<Vec<_>>().join(" ");
    let help = found.diagnostic.suggested_action.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
    let message = format!("{message}{help}");
    compact_reply::report(&mask(code), &message)
}

/// The code that a question is about: the pieces in scope as far as they fit.
pub(super) async fn question(
    hub: &DiagnosticsHub,
    model: &dyn Model,
    work: &mut TaskWork,
    course: &PlanProgress,
) -> CompactFacts {
    let (request, earlier) = (request(&work.request, course), work.intent.earlier.clone());
    let mut facts = CompactFacts { request, earlier, ..CompactFacts::default() };
    let named: Vec<CompactTarget> = work.intent.analysis.symbols.iter().cloned().map(CompactTarget::Symbol).collect();
    let chosen = choose::targets(hub, model, work).await.unwrap_or_default();
    let mut pieces = Vec::new();
    for target in named.iter().chain(&chosen) {
        let piece = shown(hub, &work.request, &mut work.seen, course, target, &[]).await;
        let Ok(piece) = piece else { continue };
        if pieces.iter().any(|known: &ShownPiece| known.facts.piece == piece.facts.piece) {
            continue;
        }
        pieces.push(piece);
    }
    let mut room = SOURCE;
    for piece in pieces {
        let own = piece.facts;
        if own.source.len() > room && !facts.source.is_empty() {
            continue;
        }
        room = room.saturating_sub(own.source.len());
        if facts.source.is_empty() {
            (facts.piece, facts.language, facts.around) = (own.piece, own.language, own.around);
            facts.source = own.source;
        } else {
            facts.piece = format!("{} and {}", facts.piece, own.piece);
            facts.source = format!("{}\n\n{}", facts.source.trim_end(), own.source);
            facts.around.clear();
        }
        facts.reports.extend(own.reports);
    }
    facts
}
