//! Resolves the names of a Python text: imports, and aliases of the names that a rule knows.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

/// The names that a rule knows, and that an alias would hide.
const KNOWN: &[&str] = &[
    "cast",
    "Any",
    "globals",
    "locals",
    "vars",
    "getattr",
    "setattr",
    "delattr",
    "eval",
    "exec",
    "__import__",
    "import_module",
    "attrgetter",
    "methodcaller",
    "no_type_check",
    "TYPE_CHECKING",
    "suppress",
    "builtins",
    "version_info",
    "platform",
    "modules",
];

/// Builtins that look at their arguments and change nothing.
const LOOKERS: &[&str] =
    &["print", "id", "type", "repr", "str", "bool", "hash", "callable", "len", "dir", "isinstance", "hasattr"];

#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    /// An alias, and the name that it stands for.
    aliases: BTreeMap<&'t str, &'t str>,
    /// The names that imports bind.
    imported: BTreeSet<&'t str>,
    /// Names of constant texts.
    texts: BTreeSet<&'t str>,
}

impl<'t> Names<'t> {
    pub(super) fn of(root: Node, text: &'t str) -> Self {
        let mut names = Self::default();
        // An alias of an alias stands further down.
        let mut cursor = root.walk();
        loop {
            names.read(cursor.node(), text);
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return names;
                }
            }
        }
    }

    fn read(&mut self, node: Node, text: &'t str) {
        let of = |node: Node| &text[node.byte_range()];
        match node.kind() {
            "aliased_import" => {
                let (name, alias) = (node.child_by_field_name("name"), node.child_by_field_name("alias"));
                if let Some((name, alias)) = name.zip(alias) {
                    self.imported.insert(of(alias));
                    self.note(of(alias), of(name));
                }
            }
            kind if kind.starts_with("import") && kind.ends_with("statement") => {
                let mut cursor = node.walk();
                let given = node.children_by_field_name("name", &mut cursor);
                let bare = given.filter(|name| name.kind() == "dotted_name").map(of);
                self.imported.extend(bare.filter_map(|name| name.split('.').next()));
            }
            "assignment" | "default_parameter" | "named_expression" => {
                let field = |names: [&str; 2]| names.into_iter().find_map(|name| node.child_by_field_name(name));
                if let Some((name, value)) = field(["left", "name"]).zip(field(["right", "value"])) {
                    self.bind(name, value, text);
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, name: Node, value: Node, text: &'t str) {
        match (name.kind(), value.kind()) {
            ("identifier", "identifier" | "attribute") => {
                self.note(&text[name.byte_range()], &text[value.byte_range()]);
            }
            ("identifier", "string" | "concatenated_string") => {
                self.texts.insert(&text[name.byte_range()]);
            }
            ("pattern_list" | "tuple_pattern", "expression_list" | "tuple") => {
                let (mut left, mut right) = (name.walk(), value.walk());
                let pairs: Vec<_> = name.named_children(&mut left).zip(value.named_children(&mut right)).collect();
                pairs.into_iter().for_each(|(name, value)| self.bind(name, value, text));
            }
            _ => {}
        }
    }

    fn note(&mut self, alias: &'t str, of: &'t str) {
        let meant = self.meant(of);
        if alias != meant && KNOWN.contains(&meant) {
            self.aliases.insert(alias, meant);
        }
    }

    /// The last part of a dotted name, or the name that it stands for.
    pub(super) fn meant(&self, name: &'t str) -> &'t str {
        let last = name.rsplit('.').next().unwrap_or_default().trim();
        let is_bare = last.len() == name.trim().len();
        self.aliases.get(last).filter(|_| is_bare).copied().unwrap_or(last)
    }

    pub(super) fn is_imported(&self, name: &str) -> bool {
        self.imported.contains(name)
    }

    pub(super) fn is_text(&self, node: Node, text: &str) -> bool {
        node.kind().ends_with("string") || node.kind() == "identifier" && self.texts.contains(&text[node.byte_range()])
    }

    /// True if an expression only names imported things.
    pub(super) fn only_names_imports(&self, node: Node, text: &str) -> bool {
        let name = &text[node.byte_range()];
        match node.kind() {
            "identifier" => self.is_imported(name),
            "attribute" => self.is_imported(name.split('.').next().unwrap_or_default()),
            "tuple"
            | "list"
            | "set"
            | "expression_list"
            | "parenthesized_expression"
            | "boolean_operator"
            | "not_operator"
            | "argument_list" => {
                let mut cursor = node.walk();
                node.named_child_count() > 0
                    && node.named_children(&mut cursor).all(|child| self.only_names_imports(child, text))
            }
            "call" => {
                let function = node.child_by_field_name("function").map_or("", |function| &text[function.byte_range()]);
                let arguments = node.child_by_field_name("arguments");
                LOOKERS.contains(&function) && arguments.is_some_and(|list| self.only_names_imports(list, text))
            }
            _ => false,
        }
    }
}
