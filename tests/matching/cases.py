"""Makes cases: a real file before and after edits, the diagnostics of both, and the truth about them."""

import random
import typing

import edits
import grammars
import labels
import rewrites
import sources
from change import Change
from checkers import Checker, Diagnostic
from grammars import Grammar
from texts import Lines, Text

Case = typing.Dict[str, typing.Any]
Texts = typing.Dict[str, Text]
# A checker of everything says as much about every file.
MOST_DIAGNOSTICS = 150
ERROR = 1


class Side:
    """The texts before or after, and what the checker says about them."""

    def __init__(self, checker: Checker, texts: Texts) -> None:
        self.texts = {path: text.copy() for path, text in texts.items()}
        self.found: "list[Diagnostic]" = checker.check({path: text.string for path, text in texts.items()})

    def string(self, path: str) -> "typing.Optional[str]":
        return self.texts[path].string if path in self.texts else None

    def has_error(self) -> bool:
        return any(one["severity"] == ERROR for one in self.found)


def truth(before: Side, after: Side) -> "dict[str, typing.Any]":
    return labels.truth(before.found, after.found, before.texts, after.texts)


def written(kind: "list[str]", before: Side, after: Side, truth_: "dict[str, typing.Any]") -> Case:
    paths = {**before.texts, **after.texts}
    texts = {path: {"before": before.string(path), "after": after.string(path)} for path in paths}
    return {"kind": "+".join(kind), "files": texts, "before": before.found, "after": after.found, "truth": truth_}


def edited(grammar: Grammar, before: Side, seed: int) -> Change:
    path, text = next(iter(before.texts.items()))
    lines = Lines(text.string)
    starts = [one["range"]["start"] for one in before.found]
    origins = [lines.offset(start["line"], start["character"]) for start in starts]
    return Change(grammar, {path: text.copy()}, origins, seed)


def breaks(grammar: Grammar, before: Side, change: Change) -> bool:
    """Whether the edits leave a text that does not parse: an edit that went wrong."""
    old = next(iter(before.texts.values())).string
    return grammars.parse(grammar, change.text.string).has_error and not grammars.parse(grammar, old).has_error


def plain(grammar: Grammar, checker: Checker, before: Side, seed: int, only: "list[str]") -> "typing.Optional[Case]":
    change = edited(grammar, before, seed)
    done = edits.choose(change, only)
    if not done or change.text.string == before.string(change.path) or breaks(grammar, before, change):
        return None
    after = Side(checker, change.texts)
    return written(done, before, after, truth(before, after))


def staged(grammar: Grammar, checker: Checker, before: Side, seed: int, stage: int) -> "typing.Optional[Case]":
    """An error of an early stage comes, or goes where the seed is odd.

    What it hides is what the checker says of the same texts without it, where nothing else hides that.
    """
    change = edited(grammar, before, seed)
    done = edits.choose(change, []) if change.random.random() < 0.5 else []
    if breaks(grammar, before, change):
        return None
    sound = Side(checker, change.texts)
    if before.has_error() or sound.has_error() or not rewrites.insert_stage(change, stage):
        return None
    seen = truth(before, sound)["preexisting"]
    broken = Side(checker, change.texts)
    kind = [f"stage_{stage}", *done]
    if seed % 2:
        told = truth(broken, before)
        told["revealed"] = sorted({first for first, _ in seen} & set(told["new"]))
        return written(kind, broken, before, told)
    told = truth(before, broken)
    told["masked"] = sorted({first for first, _ in seen} & set(told["fixed"]))
    return written(kind, before, broken, told)


def of_language(name: str, count: int, seed: int, is_staged: bool, only: "list[str]") -> "list[Case]":
    grammar = grammars.GRAMMARS[name]
    numbers = random.Random(seed)
    cases: "list[Case]" = []
    for checker, files in sources.of(name, seed):
        wanted = count * len(files.texts) // files.of_all
        made = tries = 0
        while made < wanted and tries < 20 * wanted + 20:
            tries += 1
            path, string = numbers.choice(files.texts)
            own = numbers.randrange(1 << 30)
            before = Side(checker, {f"case.{grammar.extension}": Text.original(string, 0)})
            if not 0 < len(before.found) <= MOST_DIAGNOSTICS:
                continue
            if is_staged:
                case = staged(grammar, checker, before, own, made % len(grammar.stages))
            else:
                case = plain(grammar, checker, before, own, only)
            if case:
                cases.append({"id": f"{name}-{len(cases)}", "language": name, "source": path, **case})
                made += 1
        checker.end()
    return cases
