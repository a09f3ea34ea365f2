"""The parts of a text that an edit can take: definitions, members and statements, each of whole lines."""

import dataclasses
import typing

import grammars
from grammars import Grammar
from texts import Text

# A shorter text is no block of its own to move.
LONGEST_STATEMENT_LINES = 8


@dataclasses.dataclass(frozen=True)
class Place:
    """Whole lines, with the comments and attributes directly above."""

    start: int
    end: int
    # The node's own start, behind comments and attributes.
    head: int
    kind: str
    name: str
    # Where its name stands; (0, 0) without one.
    name_range: "tuple[int, int]"


@dataclasses.dataclass(frozen=True)
class Block:
    """The statements of a function that stand on lines of their own."""

    function: "tuple[int, int]"
    statements: "tuple[Place, ...]"


def name_of(node: "grammars.tree_sitter.Node") -> "typing.Optional[grammars.tree_sitter.Node]":
    if node.type in ("export_statement", "template_declaration"):
        inner = next(
            (
                child
                for child in node.named_children
                if child.child_by_field_name("name") or child.type == "function_definition"
            ),
            None,
        )
        return name_of(inner) if inner else None
    named = node.child_by_field_name("name")
    if named is None and node.type in ("lexical_declaration", "type_declaration", "const_declaration", "var_declaration"):
        inner = next((child for child in node.named_children if child.child_by_field_name("name")), None)
        named = inner.child_by_field_name("name") if inner else None
    at = node if named is None else None
    while at is not None:
        at = at.child_by_field_name("declarator")
        named = at or named
    if named is None:
        return None
    text = (named.text or b"").decode()
    return named if text.replace("_", "a").replace("$", "a").isalnum() else None


def place(grammar: Grammar, text: Text, node: "grammars.tree_sitter.Node") -> "typing.Optional[Place]":
    string, start = text.string, node.start_byte
    above = node.prev_sibling
    while above is not None and (above.type in grammar.prefixes or above.type.endswith("comment")):
        gap = string[above.end_byte : start]
        line = string[text.line_start(above.start_byte) : above.start_byte]
        if gap.count("\n") + string[above.start_byte : above.end_byte].endswith("\n") > 1 or gap.strip() or line.strip():
            break
        start = above.start_byte
        above = above.prev_sibling
    end = node.end_byte
    if string[end : end + 1] and string[end] in grammar.tails:
        end += 1
    line_start, line_end = text.line_start(start), text.line_end(max(end - 1, node.start_byte))
    if string[line_start:start].strip() or string[end:line_end].strip():
        return None
    named = name_of(node)
    span = (named.start_byte, named.end_byte) if named else (0, 0)
    return Place(line_start, line_end, node.start_byte, node.type, string[span[0] : span[1]], span)


def items(grammar: Grammar, text: Text, tree: "grammars.tree_sitter.Node") -> "list[Place]":
    found = [place(grammar, text, node) for node in tree.children if node.type in grammar.items]
    return [one for one in found if one]


def member_groups(grammar: Grammar, text: Text, tree: "grammars.tree_sitter.Node") -> "list[list[Place]]":
    out = []
    for node in grammars.walk(tree):
        if node.type in grammar.member_lists:
            group = [place(grammar, text, child) for child in node.children if child.type in grammar.members]
            out.append([one for one in group if one])
    return [group for group in out if len(group) > 1]


def blocks(grammar: Grammar, text: Text, tree: "grammars.tree_sitter.Node") -> "list[Block]":
    out = []
    for function in grammars.walk(tree):
        if function.type not in grammar.functions:
            continue
        for node in grammars.walk(function):
            if node.type in grammar.blocks:
                lines = [place(grammar, text, child) for child in node.named_children if child.type in grammar.statements]
                whole = [
                    one for one in lines if one and text.string.count("\n", one.start, one.end) <= LONGEST_STATEMENT_LINES
                ]
                if whole:
                    out.append(Block((function.start_byte, function.end_byte), tuple(whole)))
    return out


def in_strings(tree: "grammars.tree_sitter.Node") -> "set[int]":
    """Rows that begin inside a string or a comment, whose indentation belongs to it."""
    rows = set()
    for node in grammars.walk(tree):
        if "string" in node.type or "comment" in node.type or node.type == "raw_text":
            rows.update(range(node.start_point.row + 1, node.end_point.row + 1))
    return rows
