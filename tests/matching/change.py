"""The texts of a case while they are edited."""

import random
import typing

import grammars
import places
from grammars import Grammar
from places import Place
from texts import Text, join


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
