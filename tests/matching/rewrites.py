"""Edits in place: what is inserted, renamed, wrapped, and laid out in another way.

Each is a function of a `Change`. It returns whether it found something to do.
"""

import typing

import grammars
import places
from change import Change
from texts import join, new


def insert_wrong(change: Change) -> bool:
    place = change.pick_statement()
    if place is None:
        return False
    change.another()
    line = change.numbered(change.random.choice(change.grammar.wrong))
    change.insert_line(place.start, change.text.indent_of(place.head), line)
    return True


def insert_right(change: Change) -> bool:
    place = change.pick_statement()
    if place is None:
        return False
    change.another()
    change.insert_line(place.start, change.text.indent_of(place.head), change.numbered(change.grammar.right))
    return True


def insert_stage(change: Change, stage: int) -> bool:
    """A statement that stops the compiler at that stage, the earliest is 0."""
    place = change.pick_statement()
    if place is None:
        return False
    change.another()
    change.insert_line(place.start, change.text.indent_of(place.head), change.numbered(change.grammar.stages[stage]))
    return True


def rename(change: Change, name: str, start: int, end: int, to: str) -> bool:
    nodes = [
        node
        for node in grammars.walk(change.tree())
        if node.type in change.grammar.names and start <= node.start_byte < end and (node.text or b"").decode() == name
    ]
    for node in sorted(nodes, key=lambda node: -node.start_byte):
        change.text.rename(node.start_byte, node.end_byte, to)
    return bool(nodes)


def rename_item(change: Change) -> bool:
    place = change.pick_item(lambda place: len(place.name) > 2)
    if place is None:
        return False
    change.another()
    return rename(
        change,
        place.name,
        0,
        len(change.text.string),
        f"{place.name}_renamed" if "_" in place.name else f"{place.name}Renamed",
    )


def rename_container(change: Change) -> bool:
    wide = [place for place in change.items() if place.name and place.name[:1].isupper()]
    if not wide:
        return False
    place = change.random.choice(wide)
    return rename(change, place.name, 0, len(change.text.string), f"Other{place.name}")


def rename_local(change: Change) -> bool:
    blocks = places.blocks(change.grammar, change.text, change.tree())
    if not blocks:
        return False
    start, end = change.random.choice(blocks).function
    inside = [node for node in grammars.walk(change.tree()) if start <= node.start_byte < end and node.type == "identifier"]
    names = [(node.text or b"").decode() for node in inside]
    often = sorted({name for name in names if names.count(name) > 1 and name not in ("self", "this")})
    if not often:
        return False
    name = change.random.choice(often)
    return rename(change, name, start, end, f"{name}_local" if "_" in name else f"{name}Local")


def wrap_statements(change: Change) -> bool:
    blocks = places.blocks(change.grammar, change.text, change.tree())
    if not blocks:
        return False
    statements = change.random.choice(blocks).statements
    first = change.random.randrange(len(statements))
    last = min(first + change.random.randrange(3), len(statements) - 1)
    start, end = statements[first].start, statements[last].end
    indent = change.text.indent_of(statements[first].head)
    before, behind = change.grammar.around
    step = "\t" if indent.startswith("\t") else "    "
    body = change.shifted(change.text.cut(start, end), step)
    change.text.put(start, end, join([new(f"{indent}{before}\n"), body, new(f"{indent}{behind}\n")]))
    return True


def wrap_in_module(change: Change) -> bool:
    before, behind = (change.numbered(part) for part in change.grammar.module_around)
    place = change.pick_item(lambda place: "import" not in place.kind)
    if not before or place is None:
        return False
    change.another()
    body = change.shifted(change.text.cut(place.start, place.end), "    ")
    change.text.put(place.start, place.end, join([new(before + "\n"), body, new(behind + "\n")]))
    return True


def rewrap(change: Change) -> bool:
    """Several lists of arguments, each on a line of its own, or those on several lines on one."""
    done = 0
    for _ in range(6):
        lists = [
            node
            for node in grammars.walk(change.tree())
            if node.type in change.grammar.argument_lists
            and node.named_child_count > 1
            and not any("comment" in child.type for child in node.children)
        ]
        if not lists:
            break
        node = change.random.choice(lists)
        text, indent = change.text, change.text.indent_of(node.start_byte)
        children = node.children
        joined = node.start_point.row == node.end_point.row
        gaps = [(one.end_byte, two.start_byte, two.type) for one, two in zip(children, children[1:])]
        for start, end, kind in reversed(gaps):
            if text.string[start:end].strip():
                continue
            if not joined:
                string = "" if kind in (",", ")") or text.string[start - 1] == "(" else " "
            elif kind == ",":
                continue
            else:
                string = f"\n{indent}" if kind == ")" else f"\n{indent}    "
            if text.string[start:end] != string:
                text.write(start, end, string)
        done += 1
    return done > 0


def reindent(change: Change) -> bool:
    text = change.text
    kept = places.in_strings(change.tree())
    lines, at = [], 0
    for row, line in enumerate(text.string.splitlines(keepends=True)):
        piece = text.cut(at, at + len(line))
        indent = len(line) - len(line.lstrip(" \t"))
        if indent and line.strip() and row not in kept:
            width = len(line[:indent].replace("\t", "    "))
            piece.write(
                0, indent, "\t" * (width // 4) if "\t" not in line[:indent] and width % 4 == 0 else " " * (2 * width)
            )
        lines.append(piece)
        at += len(line)
    change.texts[change.path] = join(lines)
    return True


def comment_top(change: Change) -> bool:
    change.another()
    mark = change.grammar.comment
    first = change.text.string.split("\n", 1)[0]
    at = change.text.line_end(0) if first.startswith("#!") else 0
    if change.text.string[at:].lstrip().startswith(("//!", "#![")):
        return False
    lines = "".join(f"{mark} Line {row} of a note that was added.\n" for row in range(change.random.randrange(1, 6)))
    change.text.write(at, at, f"{lines}\n")
    return True


def near_diagnostic(change: Change) -> "typing.Optional[int]":
    """The place of a diagnostic of before that still stands in the edited text."""
    at = {origin: place for place, origin in enumerate(change.text.origins) if origin >= 0}
    there = [at[origin] for origin in change.diagnostics if origin in at]
    return change.random.choice(there) if there else None


def is_declared(node: "grammars.tree_sitter.Node") -> bool:
    """Another name of what is declared is a rename, not another thing."""
    parent = node.parent
    fields = ("name", "pattern", "declarator", "left", "parameter")
    return parent is not None and any(parent.child_by_field_name(field) == node for field in fields)


def edit_line_of_diagnostic(change: Change) -> bool:
    """Another word on the line of a diagnostic is replaced."""
    at = near_diagnostic(change)
    if at is None:
        return False
    return edit_word(change, change.text.line_start(at), change.text.line_end(at))


def edit_word(change: Change, start: int, end: int) -> bool:
    """Another word or number in place of one that no diagnostic is about."""
    about = {change.text.origins[at] for at in range(start, end)} & set(change.diagnostics)
    nodes = [
        node
        for node in grammars.walk(change.tree())
        if start <= node.start_byte < end
        and change.text.origins[node.start_byte] not in about
        and node.child_count == 0
        and ("integer" in node.type or node.type in ("number", "identifier", "number_literal", "int_literal"))
        and not is_declared(node)
    ]
    if not nodes:
        return False
    node = change.random.choice(nodes)
    change.another()
    name = change.numbered("N") if node.type != "identifier" else change.numbered((node.text or b"x").decode() + "_N")
    change.text.write(node.start_byte, node.end_byte, name)
    return True
