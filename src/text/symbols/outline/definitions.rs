//! The definitions of a text as its symbols query finds them.
//!
//! A pattern captures a definition by the name of its kind, with one or more `@name`s, or with a C `@declarator` that
//! holds the name. `@owner` is the code that names its owner, `@members` (of an `@impl`) the owner of what is inside. A
//! pattern of its own captures `@wrapper` and the only `@wrapped` node inside that it belongs to. `@prefix` is a
//! sibling above that belongs to a definition, `@decorator` one inside of it, and `@comment` a comment that may. `@suffix`
//! is a sibling that begins on the last line of a definition and belongs to it.
//!
//! `#set!` decides the rest: `name` (a fixed one), `prefix`, `suffix` and `join` of names, `path` (the name is a path of
//! its own, with that between its parts), `types` (names are types, without parameters and path), `functions` (a
//! declarator counts only if it declares one), `member` (only in a value that is a symbol), `tail`, `separator`,
//! `declares`. Of two patterns that find the same node, the first in the file decides.

use std::collections::HashMap;
use std::ops::Range;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, Query};

use super::ListSeparator;
use super::declarator;
use super::leading::Leading;
use crate::symbols::path_spelling::{owner, spelled, tidy, without_parameters};
use crate::symbols::symbol_kind::SymbolKind;

/// A definition, without its surroundings.
pub(super) struct FoundDefinition {
    pub(super) kind: SymbolKind,
    /// Bytes of the node, and of what wraps it.
    pub(super) node: Range<usize>,
    pub(super) name: String,
    pub(super) name_range: Range<usize>,
    /// The path of its owner, below the one that encloses it.
    pub(super) owner: String,
    /// The path of the owner of what is inside, below the one that encloses it.
    pub(super) members: Option<String>,
    pub(super) tail: Option<char>,
    pub(super) separator: Option<ListSeparator>,
    pub(super) is_declaration: bool,
    /// True if it counts only in a value that is a symbol.
    pub(super) is_member: bool,
    pattern: usize,
}

#[derive(Default)]
pub(super) struct Definitions {
    /// In source order, an outer one before what it holds.
    pub(super) all: Vec<FoundDefinition>,
    pub(super) leading: Leading,
}

/// The captures of one match.
#[derive(Default)]
struct MatchCaptures<'t> {
    kind: Option<(SymbolKind, Node<'t>)>,
    names: Vec<Node<'t>>,
    owners: Vec<Node<'t>>,
    members: Option<Node<'t>>,
    declarator: Option<Node<'t>>,
    wrapper: Option<Node<'t>>,
    wrapped: Option<Node<'t>>,
}

impl Definitions {
    pub(super) fn read(query: &Query, text: &str, tree: &tree_sitter::Tree) -> Self {
        let mut out = Self::default();
        let mut wrappers: HashMap<(usize, usize), Node> = HashMap::new();
        let mut held: HashMap<(usize, usize), usize> = HashMap::new();
        let mut suffixes: Vec<Range<usize>> = Vec::new();
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            let mut captured = MatchCaptures::default();
            for capture in one.captures() {
                let name = query.capture_names()[capture.index as usize];
                if name == "suffix" {
                    suffixes.push(capture.node.byte_range());
                } else if !captured.take(name, capture.node) {
                    out.leading.take(name, text, capture.node.byte_range());
                }
            }
            if let Some((wrapper, wrapped)) = captured.wrapper.zip(captured.wrapped)
                && wrappers.insert(span(wrapped), wrapper).is_none()
            {
                *held.entry(span(wrapper)).or_default() += 1;
            }
            let settings = PatternSettings::of(query, one.pattern_index);
            out.all.extend(captured.definition(text, &settings));
        }
        out.leading.sort();
        for definition in &mut out.all {
            while let Some(wrapper) = wrappers.get(&(definition.node.start, definition.node.end)) {
                if held.get(&span(*wrapper)).is_some_and(|count| *count > 1) {
                    if is_among_others(text, &definition.node) {
                        definition.separator = Some(ListSeparator { mark: ',', is_strict: true });
                    }
                    break;
                }
                if wrapper.byte_range() == definition.node {
                    break;
                }
                definition.node = wrapper.byte_range();
            }
            // Some grammars count the line end as a part of a node, or the blank lines before it.
            let code = text[definition.node.clone()].trim_end();
            definition.node.end = definition.node.start + code.len();
            definition.node.start = definition.node.end - code.trim_start().len();
            for suffix in &suffixes {
                let gap = text.get(definition.node.end..suffix.start);
                if gap.is_some_and(|gap| !gap.contains('\n')) {
                    definition.node.end = suffix.end;
                }
            }
        }
        // Nested definitions may end together; the outer one starts first.
        out.all.sort_by_key(|one| (one.node.start, std::cmp::Reverse(one.node.end), one.pattern, one.name_range.start));
        out.all.dedup_by(|b, a| a.node == b.node);
        out
    }
}

/// True if a declared name has others beside it: `int a, b;`.
fn is_among_others(text: &str, node: &Range<usize>) -> bool {
    text[..node.start].trim_end().ends_with(',') || text[node.end..].trim_start().starts_with(',')
}

fn span(node: Node) -> (usize, usize) {
    (node.start_byte(), node.end_byte())
}

impl<'t> MatchCaptures<'t> {
    /// True if the capture is one of a definition or its wrapper.
    fn take(&mut self, name: &str, node: Node<'t>) -> bool {
        match name {
            "name" => self.names.push(node),
            "owner" => self.owners.push(node),
            "members" => self.members = Some(node),
            "declarator" => self.declarator = Some(node),
            "wrapper" => self.wrapper = Some(node),
            "wrapped" => self.wrapped = Some(node),
            _ => match SymbolKind::of_name(name) {
                Some(kind) => self.kind = Some((kind, node)),
                None => return false,
            },
        }
        true
    }

    fn definition(&self, text: &str, settings: &PatternSettings) -> Option<FoundDefinition> {
        let (mut kind, node) = self.kind?;
        let mut names: Vec<Node> = self.names.clone();
        let mut is_declaration = settings.is_declaration;
        if let Some(declarator) = self.declarator {
            let found = declarator::name(declarator);
            if settings.only_functions && !found.is_function {
                return None;
            }
            // A variable of a function type declares a function.
            if found.is_function && matches!(kind, SymbolKind::Variable | SymbolKind::Field) {
                (kind, is_declaration) = (SymbolKind::Function, true);
            }
            names = vec![found.name];
        }
        let shown: Vec<&str> = names.iter().map(|node| &text[node.byte_range()]).collect();
        let written = match settings.name {
            Some(name) => name.to_owned(),
            None => shown.iter().map(|name| settings.read(name)).collect::<Vec<_>>().join(settings.join),
        };
        let mut owners: Vec<String> = self.owners.iter().flat_map(|node| dotted(&text[node.byte_range()])).collect();
        let (more, name) = match settings.path {
            Some(between) => split_off(&written, between),
            None => (Vec::new(), written),
        };
        owners.extend(more);
        if name.is_empty() {
            return None;
        }
        Some(FoundDefinition {
            kind,
            node: node.byte_range(),
            name: format!("{}{name}{}", settings.prefix, settings.suffix),
            name_range: names.last().map_or(node.start_byte()..node.start_byte(), |node| node.byte_range()),
            owner: owners.iter().map(|part| spelled(part)).collect::<Vec<_>>().join("::"),
            members: self.members.map(|node| spelled(&last_of_path(&text[node.byte_range()]))),
            tail: settings.tail,
            separator: settings.separator.map(|mark| ListSeparator { mark, is_strict: false }),
            is_declaration,
            is_member: settings.is_member,
            pattern: settings.pattern,
        })
    }
}

/// What a pattern says about its definitions.
#[derive(Default)]
struct PatternSettings<'q> {
    name: Option<&'q str>,
    prefix: &'q str,
    suffix: &'q str,
    join: &'q str,
    path: Option<&'q str>,
    are_types: bool,
    only_functions: bool,
    is_member: bool,
    pattern: usize,
    tail: Option<char>,
    separator: Option<char>,
    is_declaration: bool,
}

impl<'q> PatternSettings<'q> {
    fn of(query: &'q Query, pattern: usize) -> Self {
        let mut out = Self { pattern, ..Self::default() };
        for property in query.property_settings(pattern) {
            let value = property.value.as_deref().unwrap_or_default();
            match &*property.key {
                "name" => out.name = Some(value),
                "prefix" => out.prefix = value,
                "suffix" => out.suffix = value,
                "join" => out.join = value,
                "path" => out.path = Some(value),
                "types" => out.are_types = true,
                "functions" => out.only_functions = true,
                "member" => out.is_member = true,
                "tail" => out.tail = value.chars().next(),
                "separator" => out.separator = value.chars().next(),
                "declares" => out.is_declaration = true,
                _ => {}
            }
        }
        out
    }

    /// A name as it is written in the code.
    fn read(&self, code: &str) -> String {
        let bare = tidy(unquoted(code));
        if self.are_types { last_of_path(&bare) } else { bare }
    }
}

/// A string without its quotes.
fn unquoted(code: &str) -> &str {
    let quotes = ['"', '\'', '`'].into_iter();
    let inside = |quote| code.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    quotes.filter_map(inside).next().unwrap_or(code)
}

/// The parts of `a.b:c`, `a::b<T>`, `*Cart[T]`.
fn dotted(code: &str) -> Vec<String> {
    let bare = without_parameters(code);
    bare.split(['.', ':']).map(owner).filter(|part| !part.is_empty()).collect()
}

/// `Cart<T>::total` as its owners and its name. The marks of an operator stay.
fn split_off(path: &str, between: &str) -> (Vec<String>, String) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let operator = path
        .match_indices("operator")
        .map(|(at, _)| at)
        .find(|at| !path[..*at].ends_with(is_word) && !path[at + "operator".len()..].starts_with(is_word));
    let (before, operator) = path.split_at(operator.unwrap_or(path.len()));
    let bare = without_parameters(before);
    // A conversion has its parameters behind its type.
    let is_conversion = operator.contains(' ') && !operator.contains("()(");
    let operator = if is_conversion { operator.split('(').next().unwrap_or(operator).trim_end() } else { operator };
    let (owners, name) = bare.rsplit_once(between).unwrap_or(("", &bare));
    let name = format!("{}{operator}", name.trim());
    (
        owners.split(between).map(|part| owner(unquoted(part.trim()))).filter(|part| !part.is_empty()).collect(),
        unquoted(&name).to_owned(),
    )
}

/// The last name of the path of a type, without its parameters; the whole of a type that has no name.
fn last_of_path(code: &str) -> String {
    let bare = owner(code);
    let last = bare.rsplit("::").next().unwrap_or(&bare).trim();
    if last.is_empty() { tidy(code) } else { last.to_owned() }
}
