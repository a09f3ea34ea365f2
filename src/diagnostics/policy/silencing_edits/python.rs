//! Collects the things in a Python text that the rules count.

use std::cell::OnceCell;
use std::collections::HashMap;

use tree_sitter::Node;

use crate::policy::silencing_edits::conditions::{self, ConstantValue};
use crate::policy::silencing_edits::python_names::Names;
use crate::policy::silencing_edits::{EMPTIED, FUNCTIONS, Things, WORKING, marks, note};

/// Names that are called, and hardly ever handed on.
const CALLED: &[&str] = &["eval", "exec", "globals", "locals", "__import__"];

pub(super) fn things(root: Node, text: &str) -> Things {
    let mut reader = PythonReader { text, names: Names::of(root, text), words: OnceCell::new(), things: Things::new() };
    let mut cursor = root.walk();
    // `Node::parent` walks down from the root, past every sibling.
    let mut above = Vec::new();
    loop {
        let node = cursor.node();
        reader.read(node, &above);
        if cursor.goto_first_child() {
            above.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return reader.things;
            }
            above.pop();
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

struct PythonReader<'t> {
    text: &'t str,
    names: Names<'t>,
    /// The number of each word in the text, counted on first use.
    words: OnceCell<HashMap<&'t str, usize>>,
    things: Things,
}

impl<'t> PythonReader<'t> {
    fn of(&self, node: Node) -> &'t str {
        &self.text[node.byte_range()]
    }

    fn note(&mut self, rule: &'static str, node: Node) {
        let whole = self.of(node);
        note(&mut self.things, rule, whole);
    }

    fn read(&mut self, node: Node, above: &[Node]) {
        match node.kind() {
            "comment" => {
                let comment = self.of(node);
                marks::suppressions(&mut self.things, comment);
            }
            "call" => self.call(node, above),
            "attribute" => self.attribute(node),
            "decorator" => self.decorator(node),
            "if_statement" | "elif_clause" | "while_statement" | "conditional_expression" => self.condition(node),
            "type" if self.has_any(node) => self.annotation(node, above),
            "aliased_import" => self.aliased(node),
            "assignment" | "augmented_assignment" => self.assignment(node),
            "identifier" => self.identifier(node, above),
            "subscript" => self.subscript(node),
            "class_definition" => self.class(node),
            "expression_statement" | "delete_statement" => self.statement(node),
            "assert_statement" if !self.is_trivial(node) => {
                self.statement(node);
                self.check(node, above);
            }
            "raise_statement" => self.check(node, above),
            "except_clause" if self.is_empty_block(node) => note(&mut self.things, "error_swallowed", ""),
            "wildcard_import" => {
                let import = above.last().copied().unwrap_or(node);
                self.note("wildcard_import", import);
            }
            "function_definition" => self.function(node),
            "block" | "module" => self.block(node),
            _ => {}
        }
    }

    /// A type with Any, with its subject: a parameter, a field and an attribute of one name are the same.
    fn annotation(&mut self, node: Node, above: &[Node]) {
        let around = above.last().copied().unwrap_or(node);
        let named = match around.kind() {
            "typed_parameter" => around.named_child(0),
            "function_definition" => around.child_by_field_name("name"),
            _ => around.child_by_field_name("name").or_else(|| around.child_by_field_name("left")),
        };
        let name = named.map_or("", |named| self.of(named));
        let name = name.strip_prefix("self.").unwrap_or(name);
        let thing = format!("{name}: {}", self.of(node));
        note(&mut self.things, "any_annotation", thing);
    }

    /// A check, with the function that it is in.
    fn check(&mut self, node: Node, above: &[Node]) {
        let around = above.iter().rfind(|node| node.kind() == "function_definition");
        let name = self.last(around.and_then(|function| function.child_by_field_name("name")));
        let thing = format!("{name}: {}", self.of(node));
        note(&mut self.things, "check_removed", thing);
    }

    /// The last part of a dotted name, or the name that it is an alias of.
    fn last(&self, node: Option<Node>) -> &'t str {
        self.names.meant(node.map_or("", |node| self.of(node)))
    }

    fn has_any(&self, node: Node) -> bool {
        let words = self.of(node).split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.into_iter().any(|word| self.names.meant(word) == "Any")
    }

    /// `import os as os` is the form of an export.
    fn aliased(&mut self, node: Node) {
        let field = |name: &str| node.child_by_field_name(name).map_or("", |node| self.of(node));
        let (name, alias) = (field("name"), field("alias"));
        if self.names.meant(name) == "Any" {
            self.note("any_annotation", node);
        } else if name == alias {
            self.note("import_kept", node);
        }
    }

    fn assignment(&mut self, node: Node) {
        let Some((left, right)) = node.child_by_field_name("left").zip(node.child_by_field_name("right")) else {
            return;
        };
        if self.last(Some(right)) == "Any" {
            self.note("any_annotation", node);
        }
        if self.of(left) == "__all__" {
            self.exported(right);
        } else if self.names.only_names_imports(right, self.text) && self.is_said_once(left) {
            self.note("import_kept", node);
        }
    }

    /// True if the given names have no other use.
    fn is_said_once(&self, given: Node) -> bool {
        let counts = self.words.get_or_init(|| {
            let mut counts = HashMap::new();
            words(self.text).for_each(|word| *counts.entry(word).or_default() += 1);
            counts
        });
        words(self.of(given)).all(|name| name == "_" || counts.get(name) == Some(&1))
    }

    /// The imported names in a list of exports. A module may list its own names.
    fn exported(&mut self, list: Node) {
        let mut cursor = list.walk();
        let names: Vec<&str> = list.named_children(&mut cursor).map(|name| self.of(name)).collect();
        for name in names {
            let bare = name.trim_matches(['"', '\'']);
            if self.names.is_imported(bare) {
                note(&mut self.things, "import_kept", format!("__all__: {bare}"));
            }
        }
    }

    /// A statement that only names imported things.
    fn statement(&mut self, node: Node) {
        let Some(expr) = node.named_child(0) else { return };
        if self.names.only_names_imports(expr, self.text) {
            self.note("import_kept", node);
        }
        let function = expr.child_by_field_name("function").map_or("", |function| self.of(function));
        if ["__all__.append", "__all__.extend"].contains(&function)
            && let Some(list) = expr.child_by_field_name("arguments")
        {
            let mut cursor = list.walk();
            let inner = list.named_children(&mut cursor).find(|child| ["list", "tuple"].contains(&child.kind()));
            self.exported(inner.unwrap_or(list));
        }
    }

    /// A name that a rule knows, neither called nor imported.
    fn identifier(&mut self, node: Node, above: &[Node]) {
        let (Some(parent), name) = (above.last().copied(), self.of(node)) else { return };
        let called = parent.child_by_field_name("function") == Some(node);
        if CALLED.contains(&name)
            && !called
            && !["attribute", "dotted_name", "keyword_argument"].contains(&parent.kind())
        {
            self.note("handed_on", parent);
        }
        if name == "__builtins__" {
            self.note("names_by_string", parent);
        }
    }

    /// `sys.modules[__name__]` is the module as an object.
    fn subscript(&mut self, node: Node) {
        let value = node.child_by_field_name("value");
        let whole = value.map_or("", |value| self.of(value));
        if self.last(value) == "modules" && (whole.starts_with("sys.") || !whole.contains('.') && whole != "modules") {
            self.note("names_by_string", node);
        }
    }

    /// A class whose parent is Any has every attribute.
    fn class(&mut self, node: Node) {
        let Some(parents) = node.child_by_field_name("superclasses") else { return };
        let mut cursor = parents.walk();
        if parents.named_children(&mut cursor).any(|parent| self.last(Some(parent)) == "Any") {
            let thing = format!("class of {}", self.of(parents));
            note(&mut self.things, "any_annotation", thing);
        }
    }

    fn call(&mut self, node: Node, above: &[Node]) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let (whole, name) = (self.of(function), self.last(Some(function)));
        let mut cursor = node.walk();
        let arguments = node.child_by_field_name("arguments");
        let arguments: Vec<Node> = arguments
            .map(|list| list.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect())
            .unwrap_or_default();
        let is_string = |at: usize| arguments.get(at).is_some_and(|node| self.names.is_text(*node, self.text));
        let builtin = whole.rsplit_once('.').is_none_or(|(module, _)| self.names.meant(module) == "builtins");
        match name {
            "cast" if arguments.first().is_some_and(|kind| self.has_any(*kind)) => self.note("any_cast", node),
            "cast" if arguments.len() == 2 => self.note("type_asserted", node),
            "NewType" | "TypeVar" | "TypedDict" | "NamedTuple" if arguments.iter().any(|node| self.has_any(*node)) => {
                self.note("any_annotation", node);
            }
            "globals" | "locals" | "vars" if builtin => self.note("names_by_string", node),
            "getattr" if is_string(1) && arguments.len() > 2 => self.note("getattr_default", node),
            "getattr" | "setattr" | "delattr" if is_string(1) => self.note("constant_getattr", node),
            "__getattribute__" | "attrgetter" | "methodcaller" if is_string(0) || is_string(1) => {
                self.note("constant_getattr", node)
            }
            "eval" | "exec" | "__import__" | "import_module" if is_string(0) => self.note("code_in_string", node),
            "skip" | "xfail" | "importorskip" if whole.starts_with("pytest.") => self.note("test_skipped", node),
            "skipTest" | "SkipTest" => self.note("test_skipped", node),
            "suppress" => self.note("error_swallowed", node),
            "raises" | "warns" => self.check(node, above),
            _ if name.starts_with("assert") => self.check(node, above),
            _ => {}
        }
    }

    fn attribute(&mut self, node: Node) {
        let whole = self.of(node);
        if self.last(Some(node)) == "__dict__" {
            self.note("names_by_string", node);
        }
        // The mark may be a decorator, or stand in a list for the module.
        if ["mark.skip", "mark.skipif", "mark.xfail"].iter().any(|mark| whole.ends_with(mark)) {
            self.note("test_skipped", node);
        }
    }

    fn decorator(&mut self, node: Node) {
        let whole = self.of(node).trim_start_matches('@').trim();
        let called = whole.split('(').next().unwrap_or_default();
        let name = self.names.meant(called);
        if name == "no_type_check" || name == "no_type_check_decorator" {
            self.note("no_type_check", node);
        }
        if ["skip", "skipIf", "skipUnless", "expectedFailure"].contains(&name) && !called.contains("mark.") {
            self.note("test_skipped", node);
        }
    }

    /// A condition without blanks, each alias replaced by its meaning.
    fn plain(&self, condition: Node) -> String {
        let mut plain = String::new();
        for part in self.of(condition).split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_')) {
            let word = part.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
            plain.push_str(self.names.meant(word));
            plain.extend(part[word.len()..].chars().filter(|c| !c.is_whitespace()));
        }
        plain
    }

    fn condition(&mut self, node: Node) {
        let field = node.child_by_field_name("condition");
        // A conditional expression has its condition between its two values.
        let Some(condition) = field.or_else(|| node.named_child(1)) else { return };
        let plain = self.plain(condition);
        let test = plain.trim_matches(['(', ')']).to_owned();
        let mut cursor = node.walk();
        let other = node.children(&mut cursor).find(|child| ["else_clause", "elif_clause"].contains(&child.kind()));
        let body = node.child_by_field_name("consequence").into_iter().collect::<Vec<_>>();
        let imports_alone = body.iter().all(|block| self.imports_alone(*block));
        let idle = body.iter().all(|block| self.statements(*block).is_empty());
        if idle && self.names.only_names_imports(condition, self.text) {
            note(&mut self.things, "import_kept", format!("if {plain}"));
        }
        match conditions::known(&plain) {
            Some(ConstantValue::Never) => note(&mut self.things, "dead_code", format!("if {test}")),
            Some(ConstantValue::Always) if other.is_some() => {
                note(&mut self.things, "dead_code", format!("else of {test}"));
            }
            Some(ConstantValue::OneSide) if !imports_alone && other.is_none_or(|other| self.is_empty_block(other)) => {
                note(&mut self.things, "one_platform", format!("if {test}"));
            }
            _ => {}
        }
        if !test.contains("TYPE_CHECKING") {
            return;
        }
        if other.is_some() || !imports_alone || !test.ends_with("TYPE_CHECKING") || test.starts_with("not") {
            note(&mut self.things, "type_checking_guard", test);
        }
    }

    fn imports_alone(&self, block: Node) -> bool {
        let mut cursor = block.walk();
        block.named_children(&mut cursor).all(|statement| {
            ["import_statement", "import_from_statement", "future_import_statement", "comment", "pass_statement"]
                .contains(&statement.kind())
        })
    }

    /// An assertion that is always true.
    fn is_trivial(&self, node: Node) -> bool {
        let Some(expr) = node.named_child(0) else { return true };
        ["true", "integer", "float", "string", "tuple", "ellipsis"].contains(&expr.kind())
    }

    /// True if the block at the end of a clause does nothing.
    fn is_empty_block(&self, clause: Node) -> bool {
        let mut cursor = clause.walk();
        let block = clause.named_children(&mut cursor).find(|child| child.kind() == "block");
        block.is_some_and(|block| self.statements(block).is_empty())
    }

    /// The statements of a block that do something.
    fn statements<'n>(&self, block: Node<'n>) -> Vec<Node<'n>> {
        let mut cursor = block.walk();
        let idle = |statement: &Node| match statement.kind() {
            "pass_statement" | "comment" | "continue_statement" => true,
            "expression_statement" => {
                statement.named_child(0).is_some_and(|expr| ["ellipsis", "string"].contains(&expr.kind()))
            }
            "return_statement" => statement.named_child(0).is_none_or(|expr| expr.kind() == "none"),
            "raise_statement" => self.of(*statement).contains("NotImplementedError"),
            _ => false,
        };
        block.named_children(&mut cursor).filter(|statement| !idle(statement)).collect()
    }

    fn function(&mut self, node: Node) {
        let name = self.last(node.child_by_field_name("name"));
        if name.starts_with("test") {
            note(&mut self.things, "test_removed", name);
        }
        if name == "__getattr__" || name == "__getattribute__" {
            note(&mut self.things, "getattr_hook", name);
        }
        let works = node.child_by_field_name("body").is_some_and(|body| !self.statements(body).is_empty());
        note(&mut self.things, if works { WORKING } else { EMPTIED }, name);
        note(&mut self.things, FUNCTIONS, name);
        let mut cursor = node.walk();
        let parameters = node.child_by_field_name("parameters");
        let typed = parameters.map_or(0, |list| {
            list.named_children(&mut cursor).filter(|one| one.child_by_field_name("type").is_some()).count()
        });
        for _ in 0..typed + usize::from(node.child_by_field_name("return_type").is_some()) {
            note(&mut self.things, "annotation_removed", name);
        }
    }

    /// Code behind the end of a block is unreachable, and few checkers look at it.
    fn block(&mut self, block: Node) {
        let mut cursor = block.walk();
        let mut statements = block.named_children(&mut cursor).filter(|statement| statement.kind() != "comment");
        let ends = |statement: &Node| {
            let leaves = ["return_statement", "raise_statement", "continue_statement", "break_statement"];
            let exits = ["sys.exit(", "os._exit(", "exit(", "quit("];
            leaves.contains(&statement.kind())
                || statement.kind() == "expression_statement"
                    && exits.iter().any(|exit| self.of(*statement).starts_with(exit))
                || statement.kind() == "assert_statement"
                    && self.of(*statement).trim_start_matches("assert").trim() == "False"
        };
        let after = statements.by_ref().find(ends).and_then(|_| statements.next());
        if let Some(dead) = after {
            let first = self.of(dead).lines().next().unwrap_or_default();
            note(&mut self.things, "dead_code", first);
        }
    }
}
