"""Edits that take whole lines away or elsewhere, with the origins of their characters.

Each is a function of a `Change`. It returns whether it found something to do.
"""

import typing

import places
from change import Change
from places import Place
from rewrites import edit_word
from texts import join, new


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
    head = {"rust": "use super::*;\n\n", "go": "package " + package(change.text.string) + "\n\n"}.get(
        change.grammar.name, ""
    )
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
