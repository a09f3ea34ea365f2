"""A text that knows, for each of its characters, where it stood before the edits."""

import bisect
import dataclasses
import typing

# The origin of a character that no text had before.
NEW = -1


@dataclasses.dataclass
class Text:
    """`origins[i]` is the place of character `i` among the characters of all texts before, or NEW."""

    string: str
    origins: "list[int]"

    @classmethod
    def original(cls, string: str, first: int) -> "Text":
        return cls(string, list(range(first, first + len(string))))

    def copy(self) -> "Text":
        return Text(self.string, list(self.origins))

    def cut(self, start: int, end: int) -> "Text":
        return Text(self.string[start:end], self.origins[start:end])

    def put(self, start: int, end: int, other: "Text") -> None:
        self.string = self.string[:start] + other.string + self.string[end:]
        self.origins[start:end] = other.origins

    def write(self, start: int, end: int, string: str) -> None:
        self.put(start, end, new(string))

    def rename(self, start: int, end: int, name: str) -> None:
        """Another name of the same thing: its first and last character are those of the old name."""
        old = self.origins[start:end]
        origins = [old[min(at, len(old) - 1)] for at in range(len(name))]
        origins[-1] = old[-1]
        self.put(start, end, Text(name, origins))

    def line_start(self, at: int) -> int:
        return self.string.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """The place behind the line feed."""
        found = self.string.find("\n", at)
        return len(self.string) if found < 0 else found + 1

    def indent_of(self, at: int) -> str:
        start = self.line_start(at)
        line = self.string[start : self.line_end(at)]
        return line[: len(line) - len(line.lstrip(" \t"))]


def new(string: str) -> Text:
    return Text(string, [NEW] * len(string))


def join(texts: "typing.Iterable[Text]") -> Text:
    out = new("")
    for text in texts:
        out.put(len(out.string), len(out.string), text)
    return out


class Lines:
    """Turns the positions of LSP into offsets and back. The texts are ASCII."""

    def __init__(self, string: str) -> None:
        self.starts = [0]
        self.starts.extend(at + 1 for at, char in enumerate(string) if char == "\n")
        self.length = len(string)

    def offset(self, line: int, character: int) -> int:
        if line >= len(self.starts):
            return self.length
        return min(self.starts[line] + character, self.length)

    def position(self, offset: int) -> "dict[str, int]":
        line = bisect.bisect_right(self.starts, offset) - 1
        return {"line": line, "character": offset - self.starts[line]}
