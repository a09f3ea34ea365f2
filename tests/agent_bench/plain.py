"""A plain tool-calling loop: what Sextant is compared with. Append-only messages, several calls an answer, nothing else.

It offers eight tools by the names that Sextant has for them (plain_tools.json) and carries them out in the simplest
way; same.py is the same loop over Sextant's own tools. Symbols are Python's: for another language five tools are left,
which read, search, write and run, as such a loop has them.
"""

import ast
import json
import pathlib
import re
import subprocess
import typing

import project
import wire
from project import Task

MOST_CALLS = 60
LINES = 400
HITS = 50
OUTPUT = 8000
TOOLS = json.loads((pathlib.Path(__file__).resolve().parent / "plain_tools.json").read_text(encoding="utf-8"))

# What names symbols.
OF_SYMBOLS = ("read_symbol", "list_symbols", "edit_symbol")

SYSTEM = """You are a programming agent at work in a folder. Use the tools to look, to edit and to run commands.
{symbols}Paths are relative to the folder.
Commands that may be run begin with: {commands}.
Several calls in one answer are carried out in their order. When the task is done, or the question answered, answer in
text without a call: what was done, or the answer."""

Message = typing.Dict[str, typing.Any]
Symbol = typing.Tuple[str, int, int]


class Refused(Exception):
    """A tool cannot do what was asked; the words are for the model."""


class Folder:
    """The tools, on the files of one folder."""

    def __init__(
        self, root: pathlib.Path, env: "dict[str, str]", commands: "typing.Sequence[str]" = project.COMMANDS["python"]
    ) -> None:
        self.root = root
        self.env = env
        self.commands = commands

    def place(self, path: str) -> pathlib.Path:
        place = (self.root / path).resolve()
        if self.root.resolve() not in (place, *place.parents):
            raise Refused(f"{path} is outside of the folder")
        return place

    def text(self, path: str) -> str:
        place = self.place(path)
        if not place.is_file():
            raise Refused(f"{path} is no file")
        return place.read_text(encoding="utf-8", errors="replace")

    def list_files(self) -> str:
        return "\n".join(project.files(self.root))

    def list_symbols(self, query: str) -> str:
        if self.place(query).is_file():
            return "\n".join(f"{query}::{name} {first}-{last}" for name, first, last in symbols(self.text(query)))
        found = []
        for name in project.files(self.root):
            if name.endswith(".py"):
                inside = symbols(self.text(name))
                found += [f"{name}::{path} {a}-{b}" for path, a, b in inside if query.lower() in path.lower()]
        return "\n".join(found[:200]) or "nothing"

    def read_file(self, path: str, offset: int = 1, limit: int = LINES) -> str:
        lines = self.text(path).splitlines()
        first = max(offset, 1)
        shown = lines[first - 1 : first - 1 + limit]
        last = first - 1 + len(shown)
        end = f"\n[lines {first} to {last} of {len(lines)}]" if first > 1 or last < len(lines) else ""
        return "\n".join(shown) + end

    def find(self, symbol: str) -> "tuple[str, str, int, int]":
        path, _, name = symbol.partition("::")
        text = self.text(path)
        for known, first, last in symbols(text):
            if known == name:
                return path, text, first, last
        raise Refused(f"no symbol {name} in {path}")

    def read_symbol(self, symbol: str) -> str:
        _, text, first, last = self.find(symbol)
        return "\n".join(text.splitlines()[first - 1 : last])

    def search(self, pattern: str, path: str = "") -> str:
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise Refused(f"no regular expression: {error}") from None
        hits = []
        for name in project.files(self.root):
            if path and not (name == path or name.startswith(path.rstrip("/") + "/")):
                continue
            for number, line in enumerate(self.text(name).splitlines(), 1):
                if wanted.search(line):
                    hits.append(f"{name}:{number}: {line.strip()[:200]}")
        more = f"\n[{len(hits) - HITS} more]" if len(hits) > HITS else ""
        return ("\n".join(hits[:HITS]) + more) or "nothing"

    def edit_file(
        self, path: str, old_string: str, new_string: str, replace_all: bool = False, symbol: "str | None" = None
    ) -> str:
        text = self.text(path)
        begin, end = 0, len(text)
        if symbol:
            _, _, first, last = self.find(symbol if "::" in symbol else f"{path}::{symbol}")
            lines = text.splitlines(keepends=True)
            begin, end = len("".join(lines[: first - 1])), len("".join(lines[:last]))
        count = text[begin:end].count(old_string)
        if not old_string or count == 0:
            raise Refused("old_string does not occur")
        if count > 1 and not replace_all:
            raise Refused(f"old_string occurs {count} times")
        changed = text[:begin] + text[begin:end].replace(old_string, new_string) + text[end:]
        self.place(path).write_text(changed, encoding="utf-8")
        return f"{path}: replaced {count} times" if count > 1 else f"{path}: replaced"

    def edit_symbol(self, symbol: str, action: str, content: str = "") -> str:
        path, text, first, last = self.find(symbol)
        lines = text.splitlines(keepends=True)
        indent = re.match(r"\s*", lines[first - 1]).group() if first <= len(lines) else ""
        new = fitted(content, indent)
        old = lines[first - 1 : last]
        blank = ["\n"] if indent else ["\n", "\n"]
        parts = {
            "replace": [new],
            "delete": [],
            "insert_before": [new, *blank, *old],
            "insert_after": [*old, *blank, new],
        }
        if action not in parts:
            raise Refused(f"no action {action}")
        changed = "".join([*lines[: first - 1], *parts[action], *lines[last:]])
        self.place(path).write_text(changed, encoding="utf-8")
        return f"{path}: {action} of {symbol}"

    def write_file(self, path: str, content: str) -> str:
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
        return f"{path}: written"

    def run_command(self, command: "list[str]") -> str:
        line = " ".join(command)
        if not any(line == known or line.startswith(known + " ") for known in self.commands):
            raise Refused("only these may be run: " + ", ".join(self.commands))
        done = subprocess.run(
            command, cwd=self.root, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False
        )
        text = done.stdout.decode(errors="replace")
        if len(text) > OUTPUT:
            text = f"{text[: OUTPUT // 2]}\n[…]\n{text[-OUTPUT // 2 :]}"
        return f"{text.rstrip()}\nexit status {done.returncode}"


def symbols(text: str) -> "list[Symbol]":
    """Classes and functions with their lines, decorators included."""
    out: "list[Symbol]" = []

    def walk(nodes: "list[ast.stmt]", before: str) -> None:
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                out.append((before + node.name, first, node.end_lineno or node.lineno))
                walk(node.body, before + node.name + "::")

    try:
        walk(ast.parse(text).body, "")
    except SyntaxError as error:
        raise Refused(f"it does not parse: {error}") from None
    return out


def fitted(content: str, indent: str) -> str:
    """A definition with the indentation of its place."""
    lines = content.strip("\n").splitlines()
    own = re.match(r"\s*", lines[0]).group() if lines else ""
    if own != indent:
        cut = [line[len(own) :] if line.startswith(own) else line for line in lines]
        lines = [indent + line if line.strip() else line for line in cut]
    return "\n".join(lines) + "\n"


def use(folder: Folder, name: str, arguments: typing.Any) -> str:
    known = {tool["function"]["name"] for tool in TOOLS}
    if name not in known or not hasattr(folder, name):
        return f"error: there is no tool {name}"
    if not isinstance(arguments, dict):
        return "error: the arguments are no JSON object"
    given = {key: value for key, value in arguments.items() if value is not None}
    try:
        return getattr(folder, name)(**given)
    except Refused as error:
        return f"error: {error}"
    except (TypeError, OSError, ValueError, subprocess.SubprocessError) as error:
        return f"error: {type(error).__name__}: {error}"


def carry_out(task: Task, root: pathlib.Path, home: pathlib.Path, tools: pathlib.Path, server: wire.Server) -> str:
    """The whole loop; the last answer."""
    folder = Folder(root, project.environment(root, home, tools, task.language), task.commands)
    return talk(task, folder, server, offered(task.language), lambda name, given: use(folder, name, given))


def offered(language: str) -> "list[typing.Any]":
    """The tools; without what names a symbol for a language that they have none of."""
    if language == "python":
        return TOOLS
    kept = [tool for tool in json.loads(json.dumps(TOOLS)) if tool["function"]["name"] not in OF_SYMBOLS]
    for tool in kept:
        tool["function"]["parameters"]["properties"].pop("symbol", None)
    return kept


def talk(
    task: Task,
    folder: Folder,
    server: wire.Server,
    tools: "list[typing.Any]",
    carry_out: "typing.Callable[[str, typing.Any], str]",
) -> str:
    """The conversation over any tools."""
    where = " ".join(task.where[index] for index in range(1, len(task.where), 2))
    # Sextant's own tools name symbols in every language.
    names_symbols = any(tool["function"]["name"] == "read_symbol" for tool in tools)
    symbols_named = "A symbol is named as path::Class::method. " if names_symbols else ""
    files = f"\n\nIt is about {where}." if where else ""
    files += f"\n\nFiles:\n{folder.list_files()}" if len(folder.list_files()) < 3000 else ""
    messages: "list[Message]" = [
        {"role": "system", "content": SYSTEM.format(commands=", ".join(folder.commands), symbols=symbols_named)},
        {"role": "user", "content": task.request + files},
    ]
    for _ in range(MOST_CALLS):
        body = {"model": "bench", "messages": list(messages), "tools": tools}
        number, answer = server.ask(body)
        calls = wire.calls_of(number, answer)
        said: Message = {"role": "assistant", "content": answer.get("content") or None}
        if not calls:
            return answer.get("content") or ""
        said["tool_calls"] = [{key: value for key, value in call.items() if key != "index"} for call in calls]
        messages.append(said)
        for call, told in zip(calls, answer["tool_calls"]):
            result = carry_out(call["function"]["name"], told.get("arguments", {}))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return f"no end after {MOST_CALLS} calls"


