//! Edits of Python.

use sextant::symbols::outline::SymbolKind;

use crate::reach::edits::{EditedFile, Kind, Numbers, ProjectEdit, Target};

pub const KINDS: &[Kind] =
    &[Kind::Remove, Kind::Parameter, Kind::Body, Kind::Rename, Kind::Move, Kind::Result, Kind::Base];

pub fn of(kind: Kind, target: &Target, numbers: &mut Numbers) -> Option<ProjectEdit> {
    let (path, text, symbol) = (target.path, target.text, target.symbol);
    let (name, declaration) = (&symbol.name, &text[symbol.declaration.clone()]);
    let is_function = symbol.kind != SymbolKind::Class;
    let changed = |after, request| target.changed(kind, after, request);
    match kind {
        Kind::Remove => changed(without(target)?, format!("remove {name} from {path}")),
        Kind::Rename => changed(
            target.replaced(symbol.name_range.clone(), &format!("{name}_other")),
            format!("rename {name} in {path}"),
        ),
        Kind::Parameter if is_function => {
            let open = text[symbol.name_range.end..].starts_with('(').then_some(symbol.name_range.end + 1)?;
            let is_method = symbol.kind == SymbolKind::Method && text[open..].starts_with("self");
            let at = if is_method { open + "self".len() } else { open };
            let new = if is_method { ", required" } else { "required, " };
            let new = if text[at..].starts_with(')') { new.trim_end_matches(", ") } else { new };
            changed(target.replaced(at..at, new), format!("give {name} in {path} a required parameter"))
        }
        Kind::Result if is_function => {
            let at = symbol.declaration.start + declaration.rfind("return ")? + "return ".len();
            changed(target.replaced(at..at, "'other' or "), format!("let {name} in {path} return something else"))
        }
        Kind::Base if !is_function => {
            let end = symbol.name_range.end;
            let close = end + text[end..].find(':')?;
            changed(target.replaced(end..close, "(str)"), format!("give {name} in {path} another base"))
        }
        Kind::Body if is_function => {
            let body = symbol.name_range.end + text[symbol.name_range.end..].find(":\n")? + 2;
            let line = &text[body..body + text[body..].find('\n')?];
            let indent = &line[..line.len() - line.trim_start().len()];
            let is_declared = text[symbol.name_range.end..body].contains("->");
            let inside = is_declared && !indent.is_empty() && body < symbol.declaration.end;
            inside
                .then(|| target.replaced(body..body, &format!("{indent}print('called', {})\n", numbers.below(100))))
                .and_then(|after| changed(after, format!("print in {name} of {path}")))
        }
        Kind::Move if symbol.parent.is_none() => moved(target, numbers),
        _ => None,
    }
}

/// The text without a symbol, where something of its holder is left.
fn without(target: &Target) -> Option<String> {
    let (text, start) = (target.text, target.symbol.extent.start);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let is_only = text[..line].trim_end().ends_with(':');
    (!is_only).then(|| target.without())
}

/// A function or a class at the module level, put to the end of another file.
fn moved(target: &Target, numbers: &mut Numbers) -> Option<ProjectEdit> {
    let (path, text, symbol) = (target.path, target.text, target.symbol);
    let (other, old) = &target.files[numbers.below(target.files.len())];
    let other = (other != path).then_some(other)?;
    let after = format!("{}\n\n{}\n", old.trim_end(), &text[symbol.extent.clone()]);
    let from = EditedFile { path: path.to_owned(), before: text.to_owned(), after: without(target)? };
    let to = EditedFile { path: other.clone(), before: old.clone(), after };
    let request = format!("move {} from {path} to {other}", symbol.name);
    Some(ProjectEdit { kind: Kind::Move, request, files: vec![from, to] })
}
