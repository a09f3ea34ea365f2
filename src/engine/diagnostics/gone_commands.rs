//! Finds the scripts that use a removed function or variable of another one.
//!
//! No checker of scripts looks up a command by its name, nor a variable in capitals.

use std::collections::BTreeSet;

use regex::Regex;

use crate::diagnostics::workspace_texts::WorkspaceTexts;
use crate::state::look_reach::family;
use sextant_text::symbols::language::{self, Language};
use sextant_text::symbols::outline::Outline;

/// The scripts among these files, and the edited one, that may use a gone name; none in another language.
pub(super) fn users(
    workspace: &WorkspaceTexts,
    path: &str,
    before: &str,
    after: &str,
    files: &[String],
) -> BTreeSet<String> {
    let Some(language) = language::of_path(path).filter(|language| language.is_shell) else { return BTreeSet::new() };
    let mut gone = defined(language, before);
    let kept = defined(language, after);
    gone.retain(|name| !kept.contains(name));
    if gone.is_empty() {
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    for file in files.iter().filter(|file| *file != path) {
        let is_kin = family(file) == family(path) || !file.rsplit('/').next().unwrap_or(file).contains('.');
        let text = if is_kin { workspace.text(file) } else { None };
        let Some(text) = text.filter(|text| is_script(file, text)) else { continue };
        let own = defined(language, &text);
        if words(&text).any(|word| gone.contains(word) && !own.contains(word)) {
            found.insert(file.clone());
        }
    }
    if words(after).any(|word| gone.contains(word)) {
        found.insert(path.to_owned());
    }
    found
}

/// The functions of a script, and its variables in capitals.
fn defined(language: &Language, text: &str) -> BTreeSet<String> {
    let functions = Outline::parse(language, text).symbols.into_iter().map(|symbol| symbol.name);
    let assigned = Regex::new(r"(?m)(?:^|[\s;&|(])([A-Z_][A-Z0-9_]*)\+?=").ok();
    let variables = assigned.iter().flat_map(|assigned| assigned.captures_iter(text));
    functions.chain(variables.map(|found| found[1].to_owned())).collect()
}

/// The words of a script as names of commands and of variables, comments left out.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | ':')))
}

/// True for a file with the ending of a script, and for one without an ending that a shell runs.
fn is_script(file: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    language::of_path(file).is_some_and(|language| language.is_shell)
        || first.starts_with("#!") && first.ends_with("sh")
}
