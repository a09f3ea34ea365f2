"""Edits of a project's texts that keep the origin of every character.

Each edit is a function of a `Change`. It returns whether it found something to do.
"""

import random
import typing

import grammars
import places
from grammars import Grammar
from places import Place
from texts import Text, join, new


class Change:
    """The texts of a case while they are edited."""

    def __init__(self, grammar: Grammar, texts: "dict[str, Text]", diagnostics: "list[int]", seed: int) -> None:
        self.grammar = grammar
        self.texts = texts
        self.path = next(iter(texts))
        # The origins of the first characters of the diagnostics before.
        self.diagnostics = diagnostics
        self.random = random.Random(seed)
        self.number = 0

    @property
    def text(self) -> Text:
        return self.texts[self.path]

    def tree(self) -> "grammars.tree_sitter.Node":
        return grammars.parse(self.grammar, self.text.string)

    def numbered(self, template: str) -> str:
        return template.replace("N", str(self.number + 100))

    def another(self) -> None:
        self.number += 1

    def items(self) -> "list[Place]":
        return places.items(self.grammar, self.text, self.tree())

    def pick_item(self, wanted: "typing.Callable[[Place], bool]" = lambda place: True) -> "typing.Optional[Place]":
        fit = [place for place in self.items() if wanted(place)]
        return self.random.choice(fit) if fit else None

    def pick_statement(self) -> "typing.Optional[Place]":
        blocks = places.blocks(self.grammar, self.text, self.tree())
        return self.random.choice(self.random.choice(blocks).statements) if blocks else None

    def insert_line(self, at: int, indent: str, line: str) -> None:
        self.text.write(at, at, f"{indent}{line}\n")

    def shifted(self, block: Text, indent: str) -> Text:
        """The lines of a block, each with `indent` before it, but those that begin in a string."""
        tree = grammars.parse(self.grammar, block.string)
        kept = places.in_strings(tree)
        lines, at = [], 0
        for row, line in enumerate(block.string.splitlines(keepends=True)):
            piece = block.cut(at, at + len(line))
            if line.strip() and row not in kept:
                piece.write(0, 0, indent)
            lines.append(piece)
            at += len(line)
        return join(lines)


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


def delete_statement(change: Change) -> bool:
    place = change.pick_statement()
    if place is None:
        return False
    change.text.write(place.start, place.end, "")
    return True


def delete_item(change: Change) -> bool:
    place = change.pick_item()
    if place is None or len(change.items()) < 3:
        return False
    change.text.write(place.start, place.end, "")
    return True


def move(change: Change, places_: "list[Place]") -> bool:
    if len(places_) < 2:
        return False
    place = change.random.choice(places_)
    others = [other for other in places_ if not place.start <= other.start <= place.end and other.end != place.start]
    if not others:
        return False
    target = change.random.choice(others).start
    block = change.text.cut(place.start, place.end)
    for start, end, piece in sorted([(place.start, place.end, new("")), (target, target, block)], key=lambda one: -one[0]):
        change.text.put(start, end, piece)
    return True


def move_item(change: Change) -> bool:
    return move(change, change.items())


def move_member(change: Change) -> bool:
    groups = places.member_groups(change.grammar, change.text, change.tree())
    return bool(groups) and move(change, change.random.choice(groups))


def after_edit(change: Change, edit: "typing.Callable[[Change], bool]") -> bool:
    """A move, and in what was moved a statement is deleted, changed by a word, or gets a new neighbour."""
    texts = change.text.copy()
    if not edit(change):
        return False
    moved = [at for at, (one, other) in enumerate(zip(change.text.origins, texts.origins)) if one != other]
    blocks = places.blocks(change.grammar, change.text, change.tree())
    inside = [block for block in blocks if moved and moved[0] <= block.statements[0].start <= moved[-1]]
    if not inside:
        return False
    place = change.random.choice(change.random.choice(inside).statements)
    change.another()
    way = change.random.random()
    if way < 0.25:
        change.text.write(place.start, place.end, "")
    elif way < 0.6:
        return edit_word(change, place.start, place.end)
    else:
        template = change.random.choice([*change.grammar.wrong, change.grammar.right])
        change.insert_line(place.start, change.text.indent_of(place.head), change.numbered(template))
    return True


def move_and_edit(change: Change) -> bool:
    return after_edit(change, move_item)


def extract_and_edit(change: Change) -> bool:
    return after_edit(change, extract)


def swap_and_edit(change: Change) -> bool:
    return after_edit(change, swap_statements)


def swap_items(change: Change) -> bool:
    found = change.items()
    pairs = [(one, two) for one, two in zip(found, found[1:]) if one.end <= two.start]
    if not pairs:
        return False
    one, two = change.random.choice(pairs)
    text = change.text
    between = text.cut(one.end, two.start)
    text.put(one.start, two.end, join([text.cut(two.start, two.end), between, text.cut(one.start, one.end)]))
    return True


def rename(change: Change, name: str, start: int, end: int, to: str) -> bool:
    nodes = [
        node for node in grammars.walk(change.tree())
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
    return rename(change, place.name, 0, len(change.text.string), f"{place.name}_renamed" if "_" in place.name else f"{place.name}Renamed")


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


def extract(change: Change) -> bool:
    """One to three statements become a function of their own, behind everything or before the first item."""
    blocks = [block for block in places.blocks(change.grammar, change.text, change.tree()) if len(block.statements) > 1]
    if not blocks or not change.items():
        return False
    change.another()
    statements = change.random.choice(blocks).statements
    first = change.random.randrange(len(statements))
    last = min(first + change.random.randrange(3), len(statements) - 1)
    start, end = statements[first].start, statements[last].end
    text = change.text
    indent = text.indent_of(statements[first].head)
    body = text.cut(start, end)
    before, behind = (change.numbered(part) for part in change.grammar.function_around)
    text.write(start, end, f"{indent}{change.numbered(change.grammar.call)}\n")
    function = join([new(f"\n{before}\n"), body, new(f"{behind}\n")])
    text.put(len(text.string), len(text.string), function)
    return True


def split_file(change: Change) -> bool:
    found = change.items()
    if len(found) < 4:
        return False
    count = change.random.randrange(1, min(4, len(found) - 1))
    first = change.random.randrange(len(found) - count)
    taken = found[first : first + count]
    pieces = [change.text.cut(place.start, place.end) for place in taken]
    for place in reversed(taken):
        change.text.write(place.start, place.end, "")
    part = f"part.{change.grammar.extension}"
    if part in change.texts:
        return False
    head = {"rust": "use super::*;\n\n", "go": "package " + package(change.text.string) + "\n\n"}.get(change.grammar.name, "")
    if change.grammar.name == "rust":
        change.text.put(len(change.text.string), len(change.text.string), new("\nmod part;\n"))
    change.texts[part] = join([new(head), *(join([piece, new("\n")]) for piece in pieces)])
    return True


def package(string: str) -> str:
    lines = [line for line in string.splitlines() if line.startswith("package ")]
    return lines[0].split()[1] if lines else "main"


def duplicate(change: Change) -> bool:
    place = change.pick_item(lambda place: len(place.name) > 2 and "function" in place.kind)
    if place is None:
        return False
    change.another()
    copy = new(change.text.string[place.start : place.end])
    at, end = place.name_range[0] - place.start, place.name_range[1] - place.start
    copy.write(at, end, change.numbered(f"{place.name}N"))
    target = place.end if change.random.random() < 0.5 else len(change.text.string)
    change.text.put(target, target, join([new("\n"), copy]))
    return True


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
            node for node in grammars.walk(change.tree())
            if node.type in change.grammar.argument_lists and node.named_child_count > 1
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
            piece.write(0, indent, "\t" * (width // 4) if "\t" not in line[:indent] and width % 4 == 0 else " " * (2 * width))
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
        node for node in grammars.walk(change.tree())
        if start <= node.start_byte < end and change.text.origins[node.start_byte] not in about and node.child_count == 0
        and ("integer" in node.type or node.type in ("number", "identifier", "number_literal", "int_literal")) and not is_declared(node)
    ]
    if not nodes:
        return False
    node = change.random.choice(nodes)
    change.another()
    name = change.numbered("N") if node.type != "identifier" else change.numbered((node.text or b"x").decode() + "_N")
    change.text.write(node.start_byte, node.end_byte, name)
    return True


def swap_statements(change: Change) -> bool:
    blocks = [block for block in places.blocks(change.grammar, change.text, change.tree()) if len(block.statements) > 1]
    if not blocks:
        return False
    statements = change.random.choice(blocks).statements
    at = change.random.randrange(len(statements) - 1)
    one, two = statements[at], statements[at + 1]
    text = change.text
    between = text.cut(one.end, two.start)
    text.put(one.start, two.end, join([text.cut(two.start, two.end), between, text.cut(one.start, one.end)]))
    return True


# How often each is taken. Moves with edits, splits, renames of containers and other wrapping weigh most: the rest is easy.
WEIGHTS = {
    insert_wrong: 2, insert_right: 1, delete_statement: 1, delete_item: 1, move_item: 2, move_member: 2, move_and_edit: 4, extract_and_edit: 2, swap_and_edit: 2,
    swap_items: 1, rename_item: 1, rename_container: 3, rename_local: 2, extract: 2, split_file: 4, duplicate: 1,
    wrap_statements: 1, wrap_in_module: 2, rewrap: 3, reindent: 1, comment_top: 1, edit_line_of_diagnostic: 2,
    swap_statements: 1,
}


# A copy whose original goes away, or loses its statements, is a rename to everybody who sees the two texts alone.
RETYPED = tuple(
    {"duplicate", other} for other in ("delete_item", "extract", "extract_and_edit", "delete_statement", "move_and_edit", "swap_and_edit")
)


def choose(change: Change, only: "list[str]") -> "list[str]":
    """Does one to five edits; their names."""
    done: "list[str]" = []
    wanted = change.random.choice([1, 1, 2, 3, 5])
    for _ in range(60):
        edit = change.random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
        if only and edit.__name__ not in only:
            continue
        together = {edit.__name__, *done}
        if edit.__name__ not in done and not any(pair <= together for pair in RETYPED) and edit(change):
            done.append(edit.__name__)
        if len(done) == wanted:
            break
    return done
