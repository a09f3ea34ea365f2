//! Finds the code of a text that its checker may leave out: on a condition, in macros and templates, in examples.
//!
//! Of the query, `@conditional`, `@expanded`, `@instantiated` and `@excluded` are such code, unless it is `@checked` too. A capture that
//! ends in `.behind` marks the code behind it, one that ends in `.around` the code around it. The fenced parts of an
//! `@example` are compiled if they have no other words than those that `compiled` sets. `@examples_of` names a file
//! with such parts. A `@module` in such code names a file with more of it. With `parts` set, a pattern counts in files
//! with one of these parts in their names.

use std::collections::BTreeMap;
use std::ops::Range;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, Query};

use crate::symbols::language::Language;

/// The reason for which code may be unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unchecked {
    /// It is there on a condition.
    Conditional,
    /// It is checked only where something expands it.
    Expanded,
    /// It is checked only where something instantiates it.
    Instantiated,
    /// Its own text excludes it.
    Excluded,
    /// It is an example in a comment.
    Example,
}

/// The code of a text that may be unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UncheckedCode {
    pub parts: BTreeMap<Unchecked, Vec<String>>,
    /// The names of modules in it that are other files.
    pub modules: Vec<String>,
    /// The paths of files whose examples are compiled with this one, from its folder, with the words of their fences.
    pub examples_of: Vec<(String, Fences)>,
    /// The text outside of it.
    pub checked: String,
}

/// The words behind the fence of an example that is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fences(Vec<String>);

const FENCE: &str = "```";

/// Reads the unchecked code of a text in a file of this name. None is known of a text that cannot be parsed.
pub fn of(language: &Language, path: &str, text: &str) -> UncheckedCode {
    let Some(query) = language.unchecked_query() else { return UncheckedCode::default() };
    let Some(tree) = language.tree(text) else { return UncheckedCode::default() };
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut places = UncheckedPlaces::default();
    let mut cursor = tree_sitter::QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        if counts_in(&query, one.pattern_index, name) {
            one.captures().iter().for_each(|capture| {
                places.take(query.capture_names()[capture.index as usize], capture.node, text, || {
                    Fences::of(&query, one.pattern_index)
                });
            });
        }
    }
    places.code(text)
}

/// True if the `parts` of a pattern, where it has any, are in the name of a file.
fn counts_in(query: &Query, pattern: usize, name: &str) -> bool {
    let mut parts = name.split(['_', '.']).skip(1);
    setting(query, pattern, "parts").is_none_or(|known| parts.any(|part| known.split(' ').any(|word| word == part)))
}

fn setting<'q>(query: &'q Query, pattern: usize, key: &str) -> Option<&'q str> {
    let set = query.property_settings(pattern).iter().find(|property| *property.key == *key);
    set.and_then(|property| property.value.as_deref())
}

/// The places that the query finds.
#[derive(Default)]
struct UncheckedPlaces {
    code: Vec<(Unchecked, Range<usize>)>,
    checked: Vec<Range<usize>>,
    modules: Vec<Range<usize>>,
    examples: Vec<(Range<usize>, Fences)>,
    examples_of: Vec<(String, Fences)>,
}

impl UncheckedPlaces {
    fn take(&mut self, capture: &str, node: Node, text: &str, fences: impl FnOnce() -> Fences) {
        let range = node.byte_range();
        let (kind, place) = capture.split_once('.').unwrap_or((capture, ""));
        let kind = match kind {
            "conditional" => Unchecked::Conditional,
            "expanded" => Unchecked::Expanded,
            "instantiated" => Unchecked::Instantiated,
            "excluded" => Unchecked::Excluded,
            "checked" => return self.checked.push(range),
            "module" => return self.modules.push(range),
            "example" => return self.examples.push((range, fences())),
            "examples_of" => return self.examples_of.push((text[range].to_owned(), fences())),
            _ => return,
        };
        let meant = match place {
            "behind" => behind(node),
            "around" => node.parent(),
            _ => Some(node),
        };
        self.code.extend(meant.map(|node| (kind, node.byte_range())));
    }

    fn code(mut self, text: &str) -> UncheckedCode {
        self.code.retain(|(_, range)| !self.checked.contains(range));
        self.code.sort_by_key(|(_, range)| (range.start, std::cmp::Reverse(range.end)));
        let mut found = UncheckedCode { examples_of: self.examples_of, ..UncheckedCode::default() };
        let mut end = 0;
        for (kind, range) in &self.code {
            found.parts.entry(*kind).or_default().push(text[range.clone()].to_owned());
            found.checked.push_str(text.get(end..range.start).unwrap_or_default());
            end = end.max(range.end);
        }
        found.checked.push_str(&text[end..]);
        let is_unchecked = |module: &Range<usize>| {
            self.code.iter().any(|(_, code)| code.start <= module.start && module.end <= code.end)
        };
        found.modules = self.modules.into_iter().filter(is_unchecked).map(|name| text[name].to_owned()).collect();
        let examples = compiled_examples(text, self.examples);
        if !examples.is_empty() {
            found.parts.insert(Unchecked::Example, examples);
        }
        found
    }
}

/// The code that a mark before it is about: further marks and comments may stand between them.
fn behind<'t>(mark: Node<'t>) -> Option<Node<'t>> {
    let between = |node: &Node<'t>| node.kind() == mark.kind() || node.is_extra();
    let mut next = mark.next_named_sibling();
    while let Some(node) = next.filter(between) {
        next = node.next_named_sibling();
    }
    next
}

/// The compiled parts of comments. Those with no word between them are one comment.
fn compiled_examples(text: &str, mut comments: Vec<(Range<usize>, Fences)>) -> Vec<String> {
    comments.sort_by_key(|(range, _)| range.start);
    let (mut found, mut whole, mut end) = (Vec::new(), String::new(), 0);
    let mut last = Fences::default();
    for (range, fences) in comments {
        if text.get(end..range.start).is_none_or(|between| between.contains(char::is_alphanumeric)) {
            found.extend(last.examples(&std::mem::take(&mut whole)));
        }
        whole.push_str(text[range.clone()].trim_end_matches('\n'));
        whole.push('\n');
        (end, last) = (range.end, fences);
    }
    found.extend(last.examples(&whole));
    found
}

impl Fences {
    fn of(query: &Query, pattern: usize) -> Self {
        Self(setting(query, pattern, "compiled").unwrap_or_default().split(' ').map(str::to_owned).collect())
    }

    /// The fenced parts of a text in Markdown that are compiled.
    pub fn examples(&self, text: &str) -> Vec<String> {
        let (mut found, mut open) = (Vec::new(), None::<(bool, String)>);
        for line in text.lines() {
            let line = line.trim_start_matches([' ', '\t', '*']);
            match (&mut open, line.trim().strip_prefix(FENCE)) {
                (None, Some(words)) => open = Some((self.is_compiled(words), String::new())),
                (Some(_), Some(_)) => found.extend(open.take().filter(|(is_compiled, _)| *is_compiled)),
                (Some((_, example)), None) => {
                    example.push_str(line);
                    example.push('\n');
                }
                (None, None) => {}
            }
        }
        // A part without an end goes to the end of its comment.
        found.extend(open.filter(|(is_compiled, _)| *is_compiled));
        found.into_iter().map(|(_, example)| example).collect()
    }

    fn is_compiled(&self, words: &str) -> bool {
        let mut words = words.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
        words.all(|word| self.0.iter().any(|known| word.starts_with(known)))
    }
}

#[cfg(test)]
mod tests;
