//! Edits of the languages whose bodies stand in braces.

use sextant::symbols::language;
use sextant::symbols::outline::{Outline, SymbolKind};

use crate::reach::edits::{Kind, Numbers, ProjectEdit, Target};

pub const KINDS: &[Kind] =
    &[Kind::Remove, Kind::Parameter, Kind::Body, Kind::Rename, Kind::Result, Kind::Hide, Kind::Stub];

/// How a language spells what the edits need.
pub struct Spelling {
    /// A parameter, without a mark behind it.
    parameter: &'static str,
    /// The text before a result and behind it, and what is put around it.
    result: (&'static str, &'static str),
    around: (&'static str, &'static str),
    /// A statement, with `N` for a number.
    statement: &'static str,
    /// The same for the only statement of a body.
    stub: &'static str,
    /// What lets others use a symbol.
    shown: &'static str,
}

pub const RUST: Spelling = Spelling {
    parameter: "_required: u8",
    result: ("-> ", " {\n"),
    around: ("Option<", ">"),
    statement: "let _called = N;",
    stub: "panic!()",
    shown: "pub ",
};

pub const TYPESCRIPT: Spelling = Spelling {
    parameter: "_required: number",
    result: ("): ", " {\n"),
    around: ("", " | undefined"),
    statement: "console.log('called', N);",
    stub: "throw new Error();",
    shown: "export ",
};

/// An edit that leaves a text of good syntax. Another one hides what it means from every checker.
pub fn of(kind: Kind, target: &Target, numbers: &mut Numbers, spelling: &Spelling) -> Option<ProjectEdit> {
    let (path, name) = (target.path, &target.symbol.name);
    let is_function = matches!(target.symbol.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor);
    let (after, request) = match kind {
        // Without the marks, "delete impl Error" would be read as the wish that reported errors are fixed.
        Kind::Remove => (target.without(), format!("delete `{name}` from {path}")),
        Kind::Rename => {
            let other = if name.starts_with(char::is_uppercase) { "Other" } else { "_other" };
            let after = target.replaced(target.symbol.name_range.clone(), &format!("{name}{other}"));
            (after, format!("rename {name} in {path}"))
        }
        Kind::Parameter if is_function => {
            (with_parameter(target, spelling)?, format!("give {name} in {path} a required parameter"))
        }
        Kind::Result if is_function => {
            (with_result(target, spelling)?, format!("let {name} in {path} return something else"))
        }
        Kind::Body if is_function => {
            let number = numbers.below(100).to_string();
            (with_statement(target, &spelling.statement.replace('N', &number))?, format!("call in {name} of {path}"))
        }
        Kind::Stub if is_function => {
            (with_stub(target, spelling.stub)?, format!("let the body of {name} in {path} be a stub"))
        }
        Kind::Hide => {
            let header = target.symbol.header;
            let shown =
                target.text[header..].starts_with(spelling.shown).then_some(header..header + spelling.shown.len());
            (target.replaced(shown?, ""), format!("hide {name} of {path}"))
        }
        _ => return None,
    };
    let language = language::of_path(path)?;
    let has_errors = |text: &str| Outline::parse(language, text).has_errors;
    (has_errors(target.text) || !has_errors(&after)).then_some(())?;
    target.changed(kind, after, request)
}

/// A parameter before all others, and behind the receiver.
fn with_parameter(target: &Target, spelling: &Spelling) -> Option<String> {
    let open = target.rest().find('(')? + 1;
    let is_name = |c: char| c.is_alphanumeric() || "_<>', :".contains(c);
    target.rest()[..open - 1].chars().all(is_name).then_some(())?;
    let inside = &target.rest()[open..];
    let first = &inside[..inside.find([',', ')'])?];
    let is_receiver = first.split([' ', ':', '&']).any(|word| word == "self" || word == "this");
    let at = target.symbol.name_range.end + open + if is_receiver { first.len() } else { 0 };
    let parameter = spelling.parameter;
    let new = match (is_receiver, inside.trim_start().starts_with(')')) {
        (true, _) => format!(", {parameter}"),
        (false, true) => parameter.to_owned(),
        (false, false) => format!("{parameter}, "),
    };
    Some(target.replaced(at..at, &new))
}

fn with_result(target: &Target, spelling: &Spelling) -> Option<String> {
    let rest = target.rest();
    let header = &rest[..rest.find(spelling.result.1)?];
    let start = header.rfind(spelling.result.0)? + spelling.result.0.len();
    let result = &header[start..];
    result.chars().all(|c| c != '\n' && c != '{').then_some(())?;
    let at = target.symbol.name_range.end + start;
    let new = format!("{}{result}{}", spelling.around.0, spelling.around.1);
    Some(target.replaced(at..at + result.len(), &new))
}

fn with_statement(target: &Target, statement: &str) -> Option<String> {
    let body = target.symbol.name_range.end + target.rest().find("{\n")? + 2;
    let line = target.text[body..].lines().next()?;
    let indent = &line[..line.len() - line.trim_start().len()];
    Some(target.replaced(body..body, &format!("{indent}{statement}\n")))
}

fn with_stub(target: &Target, stub: &str) -> Option<String> {
    let open = target.rest().find(" {\n")? + 2;
    let close = target.rest().rfind('}').filter(|close| *close > open)?;
    let at = |offset| target.symbol.name_range.end + offset;
    Some(target.replaced(at(open)..at(close), &format!(" {stub} ")))
}
