//! Finds the evidence against a diagnostic in the project's texts. Evidence must hold under every reading of the text.
//! Python so far; elsewhere a macro may define names that no text holds.

mod bindings;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::{Node, Tree};

use crate::code_aliases::{quoted, theme};
use crate::model::Diagnostic;
use crate::policy::contradiction::bindings::{binds, imported, is_used_only};
use sextant_base::positions::{Encoding, LineIndex};
use sextant_text::symbols::language;

/// The evidence against a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The rule that found it, as the trace names it.
    pub rule: &'static str,
    pub reason: String,
}

/// The texts of other files by path; `None` for a missing one.
pub type Others = BTreeMap<String, Option<Arc<str>>>;

/// The trees of the files that were read so far, by path: many complaints are about one text. `None` for a text with
/// syntax errors.
pub type Trees = BTreeMap<String, Option<Tree>>;

/// The complaints that a rule covers; no other text is parsed.
const THEMES: [&str; 5] =
    ["undefined name", "unused import", "unused variable", "import not found", "unknown attribute"];

type ClaimRule = fn(&Claim, &Others) -> Option<String>;

/// In the order of their use; the first rule with evidence is reported.
const RULES: &[(&str, ClaimRule)] = &[
    ("misplaced_lowers", misplaced),
    ("defined_name_lowers", defined_name),
    ("used_import_lowers", used_import),
    ("present_module_lowers", present_module),
    ("present_name_lowers", present_name),
];

/// A diagnostic and the text that it was reported for.
struct Claim<'a> {
    diagnostic: &'a Diagnostic,
    path: &'a str,
    text: &'a str,
    /// Bytes of its place, and of the lines that this touches.
    place: Range<usize>,
    lines: Range<usize>,
    theme: &'static str,
    /// `None` if the text has syntax errors.
    tree: Option<Tree>,
}

impl<'a> Claim<'a> {
    fn new(diagnostic: &'a Diagnostic, text: &'a str, trees: &mut Trees) -> Option<Self> {
        let path = diagnostic.location.file()?;
        let (range, theme) = (diagnostic.location.range()?, theme(diagnostic).filter(|theme| THEMES.contains(theme))?);
        let language = language::of_path(path).filter(|language| language.name == "python")?;
        let index = LineIndex::new(text);
        let place = index.byte_range(text, range, Encoding::Utf16);
        let first = index.line_start(index.line_of(place.start));
        let lines = first..index.line_range(text, index.line_of(place.end)).end.max(place.end);
        let whole = || language.tree(text).filter(|tree| !tree.root_node().has_error());
        let tree = trees.entry(path.to_owned()).or_insert_with(whole).clone();
        Some(Self { diagnostic, path, text, place, lines, theme, tree })
    }

    /// The quoted parts, if all of them are names.
    fn names(&self) -> Option<Vec<&'a str>> {
        let names: Vec<&str> = quoted(&self.diagnostic.message).into_iter().collect();
        (!names.is_empty() && names.iter().all(|name| is_name(name))).then_some(names)
    }

    /// The name at its place, if the message quotes it.
    fn name(&self) -> Option<&'a str> {
        let name = self.text.get(self.place.clone())?;
        quoted(&self.diagnostic.message).contains(name).then_some(name).filter(|name| is_name(name))
    }

    /// The nodes around its place, the innermost first.
    fn around(&self) -> impl Iterator<Item = Node<'_>> {
        let root = self.tree.as_ref().map(Tree::root_node);
        let inner = root.and_then(|root| root.descendant_for_byte_range(self.place.start, self.place.end));
        std::iter::successors(inner, Node::parent)
    }

    /// The files that a `from .a import b` around its place may mean, the likeliest first.
    fn imports_from(&self) -> Vec<String> {
        let Some(import) = self.around().find(|node| node.kind() == "import_from_statement") else { return Vec::new() };
        let module = import.child_by_field_name("module_name").filter(|module| module.kind() == "relative_import");
        let whole = module.map_or("", |module| &self.text[module.byte_range()]);
        let name = whole.trim_start_matches('.');
        let up = whole.len() - name.len();
        let mut folders: Vec<&str> = self.path.split('/').collect();
        if name.is_empty() || up == 0 || up > folders.len() || !name.split('.').all(is_name) {
            return Vec::new();
        }
        folders.truncate(folders.len() - up);
        folders.extend(name.split('.'));
        let path = folders.join("/");
        ["/__init__.py", "/__init__.pyi", ".py", ".pyi"].map(|end| format!("{path}{end}")).to_vec()
    }
}

/// The other files that a judgement of a diagnostic needs.
pub fn depends_on(diagnostic: &Diagnostic, text: &str, trees: &mut Trees) -> Vec<String> {
    let case = Claim::new(diagnostic, text, trees)
        .filter(|case| ["import not found", "unknown attribute"].contains(&case.theme));
    case.map(|case| case.imports_from()).unwrap_or_default()
}

/// The evidence against a diagnostic of this very text.
pub fn against(diagnostic: &Diagnostic, text: &str, others: &Others, trees: &mut Trees) -> Option<Contradiction> {
    let case = Claim::new(diagnostic, text, trees)?;
    RULES.iter().find_map(|(rule, found)| Some(Contradiction { rule, reason: found(&case, others)? }))
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|next| next.is_alphanumeric() || next == '_')
}

/// The lines at its place hold none of its names: it was reported for another text.
fn misplaced(case: &Claim, _: &Others) -> Option<String> {
    if !["undefined name", "unused import", "unused variable"].contains(&case.theme) {
        return None;
    }
    let names = case.names()?;
    let lines = case.text.get(case.lines.clone()).unwrap_or_default();
    let mut words = lines.split(|c: char| !c.is_alphanumeric() && c != '_');
    let none = !words.any(|word| names.contains(&word));
    none.then(|| format!("the text at its place does not hold `{}`", names[0]))
}

/// The module itself defines the name, before its use or for a later caller.
fn defined_name(case: &Claim, _: &Others) -> Option<String> {
    if case.theme != "undefined name" {
        return None;
    }
    let (name, root) = (case.name()?, case.tree.as_ref()?.root_node());
    let place = binds(root, case.text, name)?;
    let later = case.around().any(|node| {
        let function = node.parent().filter(|parent| parent.kind() == "function_definition");
        node.kind() == "block" && function.is_some()
    });
    let line = case.text[..place.start].matches('\n').count() + 1;
    (later || place.end <= case.place.start).then(|| format!("the module defines `{name}` in line {line}"))
}

/// The only binding of the name is the import, and something reads it.
fn used_import(case: &Claim, _: &Others) -> Option<String> {
    if case.theme != "unused import" {
        return None;
    }
    let names = case.names()?;
    let import = case.around().find(|node| node.kind().starts_with("import_"))?;
    if import.parent()?.kind() != "module" {
        return None;
    }
    let bound = imported(import, case.text)?;
    let name = names.into_iter().find(|name| bound.contains(name) && case.text[case.place.clone()].contains(name))?;
    let line = is_used_only(case.tree.as_ref()?.root_node(), case.text, name, import)?;
    Some(format!("line {line} uses `{name}`, which nothing else binds"))
}

/// The module that a relative import names is a file of the project.
fn present_module(case: &Claim, others: &Others) -> Option<String> {
    if case.theme != "import not found" {
        return None;
    }
    let file = case.imports_from().into_iter().find(|file| matches!(others.get(file), Some(Some(_))))?;
    Some(format!("{file} is there"))
}

/// The module that a relative import names defines the imported name.
fn present_name(case: &Claim, others: &Others) -> Option<String> {
    if case.theme != "unknown attribute" {
        return None;
    }
    let name = case.name()?;
    let named = case.around().take_while(|node| node.kind() != "import_from_statement").collect::<Vec<_>>();
    let is_module = named.iter().any(|node| node.kind() == "relative_import");
    let file = case.imports_from().into_iter().find(|file| matches!(others.get(file), Some(Some(_))))?;
    let text = others.get(&file)?.as_deref()?;
    let tree = language::of_path(&file)?.tree(text).filter(|tree| !tree.root_node().has_error())?;
    (!is_module).then_some(())?;
    binds(tree.root_node(), text, name).map(|_| format!("{file} defines `{name}`"))
}
