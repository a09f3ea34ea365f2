"""The truth about a case: which diagnostics are the same before and after, by the origins of their characters."""

import collections
import re
import typing

from texts import NEW, Lines, Text

Diagnostic = typing.Dict[str, typing.Any]
# What an unrelated edit changes in a message: numbers, and what is quoted.
VARIABLE = re.compile(r"\d+|`[^`]*`|'[^']*'|\"[^\"]*\"")
LINE_LENGTH = {"W631"}


def template(message: str) -> str:
    return VARIABLE.sub("_", message)


def ends(one: Diagnostic, text: Text) -> "tuple[int, int]":
    """The origins of its first and last character, but for blanks."""
    lines = Lines(text.string)
    start = lines.offset(one["range"]["start"]["line"], one["range"]["start"]["character"])
    end = lines.offset(one["range"]["end"]["line"], one["range"]["end"]["character"])
    inside = text.string[start:end]
    if inside.strip():
        start, end = start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())
    last = max(end - 1, start)
    at = text.origins + [NEW]
    return at[min(start, len(at) - 1)], at[min(last, len(at) - 1)]


def is_whole_file(one: Diagnostic, text: Text) -> bool:
    """It is about a file: it stands where the file begins, or spans nearly all of it."""
    lines = Lines(text.string)
    start = lines.offset(one["range"]["start"]["line"], one["range"]["start"]["character"])
    end = lines.offset(one["range"]["end"]["line"], one["range"]["end"]["character"])
    return start == 0 or end >= len(text.string.rstrip()) and text.string.count("\n", start, end) > 20


def truth(
    before: "list[Diagnostic]", after: "list[Diagnostic]", old: "dict[str, Text]", new: "dict[str, Text]"
) -> "dict[str, typing.Any]":
    at_before = [ends(one, old[one["file"]]) for one in before]
    at_after = [ends(one, new[one["file"]]) for one in after]
    free_before, free_after = set(range(len(before))), set(range(len(after)))
    pairs: "list[tuple[int, int]]" = []
    unsure_before: "set[int]" = set()
    unsure_after: "set[int]" = set()

    def kind(one: Diagnostic) -> "tuple[str, str]":
        return one["source"], one["code"]

    def take(
        key_before: "typing.Callable[[int], typing.Hashable]", key_after: "typing.Callable[[int], typing.Hashable]"
    ) -> None:
        by: "dict[typing.Hashable, list[int]]" = collections.defaultdict(list)
        for index in sorted(free_before):
            key = key_before(index)
            if key is not None:
                by[key].append(index)
        for index in sorted(free_after):
            key = key_after(index)
            if key is not None and by.get(key):
                found = by[key].pop(0)
                pairs.append((found, index))
                free_before.discard(found)
                free_after.discard(index)

    def whole(
        places: "list[tuple[int, int]]", list_: "list[Diagnostic]", words: "typing.Callable[[str], str]"
    ) -> "typing.Callable[[int], typing.Hashable]":
        return lambda index: (
            None if NEW in places[index] else (kind(list_[index]), places[index], words(list_[index]["message"]))
        )

    def half(
        end: int, places: "list[tuple[int, int]]", list_: "list[Diagnostic]"
    ) -> "typing.Callable[[int], typing.Hashable]":
        return lambda index: (
            None
            if places[index][end] == NEW
            else (kind(list_[index]), places[index][end], template(list_[index]["message"]))
        )

    def of_file(list_: "list[Diagnostic]", texts: "dict[str, Text]") -> "typing.Callable[[int], typing.Hashable]":
        return lambda index: (
            (kind(list_[index]), list_[index]["file"], template(list_[index]["message"]))
            if is_whole_file(list_[index], texts[list_[index]["file"]])
            else None
        )

    for words in (str, template, lambda message: ""):
        take(whole(at_before, before, words), whole(at_after, after, words))
    take(of_file(before, old), of_file(after, new))
    for end in (0, 1):
        take(half(end, at_before, before), half(end, at_after, after))
    # A long line: what is over the limit says nothing of what the line was.
    unsure_before.update(index for index in free_before if before[index]["code"] in LINE_LENGTH)
    unsure_after.update(index for index in free_after if after[index]["code"] in LINE_LENGTH)
    # One end stands, with other words: an edit of the same thing, or another thing.
    for index in free_after:
        for other in free_before:
            near = any(one == two != NEW for one, two in zip(at_before[other], at_after[index]))
            if near and kind(before[other]) == kind(after[index]):
                unsure_before.add(other)
                unsure_after.add(index)
    return {
        "new": sorted(free_after - unsure_after),
        "fixed": sorted(free_before - unsure_before),
        "preexisting": sorted(pairs),
        "unsure_before": sorted(unsure_before),
        "unsure_after": sorted(unsure_after),
    }
