//! Finds the code of a text that its checker may leave out: what is compiled on a condition, and examples in comments.

use tree_sitter::Node;

use crate::symbols::language::Language;

/// How a language marks such code.
#[derive(Clone, Copy, Debug)]
pub struct UncheckedMarks {
    /// The kinds of nodes that make the next one conditional, with the starts of their texts.
    pub before: &'static [(&'static str, &'static str)],
    /// The same for nodes that make the one around them conditional.
    pub inside: &'static [(&'static str, &'static str)],
    /// The same for nodes that hold conditional code themselves.
    pub whole: &'static [(&'static str, &'static str)],
    /// The starts of conditions, in brackets and without blanks, that hold in a usual check.
    pub checked: &'static [&'static str],
    /// The starts of the lines of a comment whose fenced parts are compiled, unless the fence says otherwise.
    pub examples: &'static [&'static str],
    /// The words behind a fence of an example that is compiled.
    pub compiled: &'static [&'static str],
}

/// The parts of a text that may be unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UncheckedCode {
    pub conditional: Vec<String>,
    pub examples: Vec<String>,
}

const FENCE: &str = "```";

/// Reads the parts of a text. Texts that cannot be parsed have no conditional ones.
pub fn of(language: &Language, text: &str) -> UncheckedCode {
    let Some(marks) = language.unchecked else { return UncheckedCode::default() };
    UncheckedCode { conditional: conditional(language, &marks, text), examples: examples(&marks, text) }
}

fn conditional(language: &Language, marks: &UncheckedMarks, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let all = || marks.before.iter().chain(marks.inside).chain(marks.whole);
    if all().all(|(_, start)| !text.contains(start)) {
        return found;
    }
    let Some(tree) = language.tree(text) else { return found };
    let mut next = vec![tree.root_node()];
    while let Some(node) = next.pop() {
        let part = &text[node.byte_range()];
        let is = |list: &[(&str, &str)]| {
            let start = list.iter().find(|(kind, start)| *kind == node.kind() && part.starts_with(start));
            start.is_some_and(|(_, start)| !marks.holds(&part[start.len()..]))
        };
        let meant = if is(marks.before) {
            behind(node)
        } else if is(marks.inside) {
            node.parent()
        } else {
            is(marks.whole).then_some(node)
        };
        found.extend(meant.map(|node| text[node.byte_range()].to_owned()));
        let mut cursor = node.walk();
        next.extend(node.children(&mut cursor));
    }
    found
}

/// The node that a mark before it is about: further marks and comments may stand between them.
fn behind<'t>(mark: Node<'t>) -> Option<Node<'t>> {
    let between = |node: &Node<'t>| node.kind() == mark.kind() || node.is_extra();
    let mut next = mark.next_named_sibling();
    while let Some(node) = next.filter(between) {
        next = node.next_named_sibling();
    }
    next
}

impl UncheckedMarks {
    fn holds(&self, condition: &str) -> bool {
        let condition: String = condition.chars().filter(|c| !c.is_whitespace()).take(80).collect();
        self.checked.iter().any(|checked| condition.starts_with(checked))
    }

    /// The text of a line in a comment.
    fn comment<'t>(&self, line: &'t str) -> Option<&'t str> {
        self.examples.iter().find_map(|start| line.trim_start().strip_prefix(start))
    }

    fn is_compiled(&self, fence: &str) -> bool {
        let mut words = fence.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
        words.all(|word| self.compiled.iter().any(|known| word.starts_with(known)))
    }
}

fn examples(marks: &UncheckedMarks, text: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), None::<(bool, String)>);
    for line in text.lines() {
        let Some(line) = marks.comment(line) else {
            open = None;
            continue;
        };
        match (&mut open, line.trim().strip_prefix(FENCE)) {
            (None, Some(fence)) => open = Some((marks.is_compiled(fence), String::new())),
            (Some((is_compiled, example)), Some(_)) => {
                if *is_compiled {
                    found.push(std::mem::take(example));
                }
                open = None;
            }
            (Some((_, example)), None) => {
                example.push_str(line);
                example.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language::of_path;

    #[test]
    fn conditional_items_and_compiled_examples_are_found() {
        let rust = of_path("a.rs").unwrap();
        let text = "\
#[cfg(feature = \"extra\")]
#[inline]
// Of old.
fn one() {}
#[cfg(test)]
mod tests {}
#[cfg(any(test, windows))]
fn two() {}
/// Words.
/// ```
/// three();
/// ```
/// ```text
/// four();
/// ```
fn five() {
    #[cfg(not(unix))]
    six();
}
mod inner {
    #![cfg(windows)]
    fn seven() {}
}
cfg_if! { if #[cfg(windows)] { fn eight() {} } }
";
        let found = of(rust, text);
        let has = |word: &str| found.conditional.iter().any(|part| part.contains(word));
        for word in ["one", "six", "seven", "eight"] {
            assert!(has(word), "{word}: {found:?}");
        }
        assert!(!has("tests") && !has("two") && !has("five"), "{found:?}");
        assert_eq!(found.examples, [" three();\n"]);
        assert_eq!(of(of_path("a.py").unwrap(), text), UncheckedCode::default());
    }
}
