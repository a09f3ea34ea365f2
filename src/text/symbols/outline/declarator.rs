//! The name inside of a declarator, as C and C++ nest them: `*(*names[3])(void)`.

use tree_sitter::Node;

pub(super) struct DeclaratorName<'t> {
    pub(super) name: Node<'t>,
    pub(super) is_function: bool,
}

/// Follows a declarator down to its name. It declares a function if the innermost declarator around the name is one.
pub(super) fn name(declarator: Node<'_>) -> DeclaratorName<'_> {
    let (mut node, mut is_function) = (declarator, false);
    loop {
        let inner = node.child_by_field_name("declarator").or_else(|| {
            let is_nested = matches!(
                node.kind(),
                "reference_declarator" | "parenthesized_declarator" | "attributed_declarator" | "variadic_declarator"
            );
            let children = is_nested.then(|| node.named_child(0)).flatten();
            children.filter(|child| !child.is_extra())
        });
        let Some(inner) = inner else { break };
        match node.kind() {
            "function_declarator" | "operator_cast" => is_function = true,
            "parenthesized_declarator" | "attributed_declarator" => {}
            _ => is_function = false,
        }
        // The target of a conversion operator is a type and no name.
        if node.kind() == "operator_cast" {
            break;
        }
        node = inner;
    }
    DeclaratorName { name: node, is_function }
}
