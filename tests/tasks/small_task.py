"""The tasks of small.py as they are written down, and the functions of their files."""

import ast
import dataclasses
import pathlib
import re
import textwrap
import typing

# The first line of a function: its indentation and its name. The files are laid out by a formatter, so what it ends
# with is the first line after it that is no deeper and begins with this word.
HEADERS = {
    ".rs": (re.compile(r"( *)(?:pub )?fn (\w+)"), "}"),
    ".ts": (re.compile(r"( *)(?:export )?(?:function |const (?=\w+ = \()|(?!(?:if|for|while|switch)\b))(\w+)(?: = )?\(.*\{$"), "}"),
    ".lua": (re.compile(r"( *)(?:local )?function ([\w.:]+)"), "end"),
}


class Function(typing.NamedTuple):
    name: str
    # Its lines in the file, from 0.
    start: int
    end: int


@dataclasses.dataclass
class Small:
    """One task."""

    name: str
    kind: str
    request: str
    at: str
    gone: str
    file: str
    text: str
    check: str
    solution: str

    @property
    def line(self) -> int:
        found = [number for number, line in enumerate(self.text.splitlines(), 1) if self.at in line]
        assert len(found) == 1, f"{self.name}: {self.at!r} is in {len(found)} lines"
        return found[0]

    @property
    def function(self) -> str:
        """The name of the function that is to be changed."""
        return functions(self.file, textwrap.dedent(self.solution))[0].name

    def solved(self) -> str:
        """The file with the solution in place of the function or method of that name."""
        found = next(one for one in functions(self.file, self.text) if one.name == self.function)
        lines = self.text.splitlines(keepends=True)
        return "".join(lines[: found.start]) + self.solution.rstrip() + "\n" + "".join(lines[found.end :])

    def spared(self, text: str) -> bool:
        """Whether every other function stands in a text as it does in the file, comments in it included."""
        lines = self.text.splitlines()
        others = [one for one in functions(self.file, self.text) if one.name != self.function]
        return all("\n".join(lines[one.start : one.end]) in text for one in others)


def functions(file: str, text: str) -> "list[Function]":
    """All functions and methods of a file that is laid out by a formatter, and parses."""
    suffix = pathlib.Path(file).suffix
    if suffix == ".py":
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        return [Function(node.name, node.lineno - 1, node.end_lineno or node.lineno) for node in nodes]
    header, closing = HEADERS[suffix]
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        match = header.match(line)
        if match:
            ends = (end for end in range(number + 1, len(lines)) if lines[end].startswith(match[1] + closing))
            found.append(Function(match[2], number, next(ends) + 1))
    return found


def read(path: pathlib.Path) -> "list[Small]":
    tasks = []
    # A comment of Lua's begins like a part, too.
    part = re.compile(r"^--- (check|solution|\S+\.\w+)\n", re.MULTILINE)
    for block in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, *parts = part.split(block)
        name, *fields = head.strip().splitlines()
        known = dict(field.split(": ", 1) for field in fields)
        file, text, _, check, _, solution = parts
        text = text.rstrip() + "\n"
        tasks.append(Small(name, known["kind"], known["request"], known["at"], known.get("gone", ""), file, text, check, solution))
    return tasks
