//! Reads the top-level names of a Python module, and finds reads of a name that only an import can have bound.

use std::ops::Range;

use tree_sitter::Node;

/// The place where the module binds a name in every run: a definition, an assignment or an import that stands in no
/// other statement. `None` if there is none, or if another statement deletes the name again.
pub(super) fn binds(root: Node, text: &str, name: &str) -> Option<Range<usize>> {
    let is = |node: Node| &text[node.byte_range()] == name;
    let mut cursor = root.walk();
    let bound = root.children(&mut cursor).find(|statement| match statement.kind() {
        "function_definition" | "class_definition" => statement.child_by_field_name("name").is_some_and(is),
        "decorated_definition" => {
            let inner = statement.child_by_field_name("definition");
            inner.and_then(|inner| inner.child_by_field_name("name")).is_some_and(is)
        }
        "import_statement" | "import_from_statement" => {
            imported(*statement, text).is_some_and(|names| names.contains(&name))
        }
        "expression_statement" => {
            let assignment = statement.child(0).filter(|child| child.kind() == "assignment");
            let target = assignment.filter(|assignment| assignment.child_by_field_name("right").is_some());
            target.and_then(|assignment| assignment.child_by_field_name("left")).is_some_and(is)
        }
        _ => false,
    })?;
    let deleted = identifiers(root, text, name).any(|node| {
        std::iter::successors(node.parent(), Node::parent).any(|around| around.kind() == "delete_statement")
    });
    (!deleted).then(|| bound.byte_range())
}

/// The names that an import binds; `None` if it may bind any name.
pub(super) fn imported<'t>(import: Node, text: &'t str) -> Option<Vec<&'t str>> {
    let mut cursor = import.walk();
    if import.children(&mut cursor).any(|child| child.kind() == "wildcard_import") {
        return None;
    }
    let names = import.children_by_field_name("name", &mut cursor);
    let bound = names.map(|name| {
        let alias = name.child_by_field_name("alias").unwrap_or(name);
        let whole = &text[alias.byte_range()];
        // `import a.b` binds `a`.
        whole.split('.').next().unwrap_or(whole)
    });
    Some(bound.collect())
}

/// The first line, from one, that reads the name, if only this import can bind it there. A name that stands anywhere
/// that is not plainly a read decides nothing.
pub(super) fn is_used_only(root: Node, text: &str, name: &str, import: Node) -> Option<usize> {
    let mut first = None;
    if has_wildcard(root) {
        return None;
    }
    for node in identifiers(root, text, name) {
        let inside = import.byte_range();
        if inside.start <= node.start_byte() && node.end_byte() <= inside.end {
            continue;
        }
        match role(node) {
            BindingRole::Read => first = first.or(Some(node.start_position().row + 1)),
            BindingRole::Label => {}
            BindingRole::Other => return None,
        }
    }
    first
}

fn has_wildcard(root: Node) -> bool {
    walk(root).any(|node| node.kind() == "wildcard_import")
}

enum BindingRole {
    Read,
    /// Another thing of the same name: an attribute, or the name of an argument.
    Label,
    /// It may bind the name, or may not.
    Other,
}

fn role(node: Node) -> BindingRole {
    let Some(parent) = node.parent() else { return BindingRole::Other };
    let is = |field: &str| parent.child_by_field_name(field).is_some_and(|child| child.id() == node.id());
    match parent.kind() {
        "attribute" if is("attribute") => BindingRole::Label,
        "keyword_argument" if is("name") => BindingRole::Label,
        "attribute" if is("object") => BindingRole::Read,
        "call" if is("function") => BindingRole::Read,
        "subscript" if is("value") => BindingRole::Read,
        "argument_list"
        | "binary_operator"
        | "comparison_operator"
        | "boolean_operator"
        | "return_statement"
        | "decorator"
        | "type" => BindingRole::Read,
        _ => BindingRole::Other,
    }
}

fn identifiers<'t>(root: Node<'t>, text: &'t str, name: &'t str) -> impl Iterator<Item = Node<'t>> {
    walk(root).filter(move |node| node.kind() == "identifier" && &text[node.byte_range()] == name)
}

/// Every node, in source order.
fn walk(root: Node) -> impl Iterator<Item = Node> {
    let mut cursor = root.walk();
    let mut next = Some(root);
    std::iter::from_fn(move || {
        let node = next?;
        next = if cursor.goto_first_child() || cursor.goto_next_sibling() {
            Some(cursor.node())
        } else {
            loop {
                if !cursor.goto_parent() {
                    break None;
                }
                if cursor.goto_next_sibling() {
                    break Some(cursor.node());
                }
            }
        };
        Some(node)
    })
}
