"""Chooses the edits of a case."""

import moves
import rewrites
from change import Change

# How often each is taken. Moves with edits, splits, renames of containers and other wrapping weigh most: the rest is easy.
WEIGHTS = {
    rewrites.insert_wrong: 2,
    rewrites.insert_right: 1,
    moves.delete_statement: 1,
    moves.delete_item: 1,
    moves.move_item: 2,
    moves.move_member: 2,
    moves.move_and_edit: 4,
    moves.extract_and_edit: 2,
    moves.swap_and_edit: 2,
    moves.swap_items: 1,
    rewrites.rename_item: 1,
    rewrites.rename_container: 3,
    rewrites.rename_local: 2,
    moves.extract: 2,
    moves.split_file: 4,
    moves.duplicate: 1,
    rewrites.wrap_statements: 1,
    rewrites.wrap_in_module: 2,
    rewrites.rewrap: 3,
    rewrites.reindent: 1,
    rewrites.comment_top: 1,
    rewrites.edit_line_of_diagnostic: 2,
    moves.swap_statements: 1,
}


# A copy whose original goes away, or loses its statements, is a rename to everybody who sees the two texts alone.
RETYPED = tuple(
    {"duplicate", other}
    for other in ("delete_item", "extract", "extract_and_edit", "delete_statement", "move_and_edit", "swap_and_edit")
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
