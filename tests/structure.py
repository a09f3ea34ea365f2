#!/usr/bin/env python3
"""Counts the structure of src/: circles of files, long functions, wide structs, type names defined twice.

    python3 tests/structure.py                  the figures
    python3 tests/structure.py --room engine    circles of that crate alone, with their files
    python3 tests/structure.py --list           every place that a figure counts
    python3 tests/structure.py --check          fails where a figure is over its bound

An arrow goes from a file to the file that it names (`crate::file::Name`, `sextant_text::file::Name`, `super::Name`) and to the file that
defines a method it calls, where only one file defines a method of that name. Test code counts for
nothing. A circle is a strongly connected component of two files and more.
"""

import argparse
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
LONG_FUNCTION = 60
WIDE_STRUCT = 12

# What `--check` holds, by the beginning of a figure's name.
BOUNDS = {
    "largest circle": 3,
    "methods of Session": 0,
    "`&Session`": 20,
    "`&mut Task`": 40,
    "tuple parameters": 0,
    "structs over": 5,
    "fields of the widest": 19,
    "functions over": 0,
    "type names": 0,
    "public type names": 0,
    "median file": 150,
    "longest file": 400,
    "circles of Lua modules": 0,
}

# Methods of the standard library and of traits that everybody implements: a call of one names no file of ours.
COMMON = set(
    "new default fmt from into clone eq cmp hash drop next name text path len is_empty get insert push run open close"
    " read write start end take join find find_map send call apply add remove contains iter map filter"
    " keys values id kind show entry status label into_iter as_str lines parse".split()
)


def blank(text: str) -> str:
    """The same text with comments and string contents replaced by spaces, line ends kept."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|\'(?:\\(?:u\{[^}]*\}|.[^\']*)|[^\'\\])\'', re.DOTALL
    )
    return token.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(text: str, start: int) -> int:
    """The index of the brace that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    return len(text) - 1


def bracket(text: str, start: int) -> int:
    """The index of the bracket that closes the one at `start`, of whatever kind."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth == 0:
                return index
    return len(text) - 1


def without_tests(text: str) -> str:
    while found := re.search(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*(\{|;)", text):
        end = closing(text, found.end() - 1) if found.group(1) == "{" else found.end() - 1
        text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end + 1]) + text[end + 1 :]
    return text


def leaves(group: str, before: tuple[str, ...] = ()):
    """The paths that the inside of a braced import names."""
    name: list[str] = []
    at = 0
    while at < len(group):
        if group[at] == "{":
            end = closing(group, at)
            yield from leaves(group[at + 1 : end], before + tuple(name))
            name, at = [], end
        elif group[at] == ",":
            if name:
                yield before + tuple(name)
            name = []
        elif word := re.compile(r"\w+").match(group, at):
            if word.group() != "as":
                name.append(word.group())
            at = word.end() - 1
        at += 1
    if name:
        yield before + tuple(name)


class File:
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path.relative_to(ROOT).as_posix()
        raw = path.read_text(encoding="utf-8")
        self.lines = raw.count("\n")
        self.text = without_tests(blank(raw))
        parts = list(path.relative_to(SRC).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        self.module = tuple(parts)
        # The command line is of the root's crate; every other folder of src/ is a crate.
        self.crate = () if parts[:1] in ([], ["cli"]) else (parts[0],)

    def functions(self):
        """(name, first line, lines) of each function with a body."""
        for found in re.finditer(r"\bfn\s+(\w+)", self.text):
            body = re.compile(r"[{;]").search(self.text, found.end())
            if body and body.group() == "{":
                first = self.text.count("\n", 0, found.start()) + 1
                yield found.group(1), first, self.text.count("\n", found.start(), closing(self.text, body.start())) + 1

    def parameters(self):
        """(function, first line, text of its parameters) of each function."""
        for found in re.finditer(r"\bfn\s+(\w+)", self.text):
            at = found.end()
            if self.text[at : at + 1] == "<":
                depth = 0
                while True:
                    depth += {"<": 1, ">": -1}.get(self.text[at], 0) if self.text[at - 1 : at + 1] != "->" else 0
                    at += 1
                    if depth == 0:
                        break
            if self.text[at : at + 1] == "(":
                line = self.text.count("\n", 0, found.start()) + 1
                yield found.group(1), line, self.text[at + 1 : bracket(self.text, at)]

    def structs(self):
        """(name, fields) of each struct with named fields."""
        for found in re.finditer(r"\bstruct\s+(\w+)[^;{(]*\{", self.text):
            inside = self.text[found.end() : closing(self.text, found.end() - 1)]
            depth, fields = 0, 0
            for part in re.finditer(r"[<({\[]|[>)}\]]|\b\w+\s*:(?!:)", inside):
                if part.group() in "<({[":
                    depth += 1
                elif part.group() in ">)}]":
                    depth -= 1
                elif depth == 0:
                    fields += 1
            yield found.group(1), fields

    def types(self):
        """(name, whether it is public) of each type."""
        for found in re.finditer(r"(pub(?:\([^)]*\))?\s+)?\b(?:struct|enum|trait|type|union)\s+(\w+)", self.text):
            line = self.text.rfind("\n", 0, found.start()) + 1
            # An associated type is indented and belongs to its trait.
            if self.text[line : found.start()].strip() == "" and found.start() == line:
                yield found.group(2), found.group(1) is not None

    def impls(self):
        """(type, methods) of each inherent or trait implementation."""
        for found in re.finditer(r"^impl\b(?:<[^{]*?>)?\s*([^{]*?)\s*\{", self.text, re.MULTILINE):
            head = re.split(r"\bwhere\b", found.group(1))[0]
            of_trait = " for " in f" {head} "
            name = re.match(r"(?:\w+::)*(\w+)", head.split(" for ")[-1].strip())
            inside = self.text[found.end() : closing(self.text, found.end() - 1)]
            methods = [
                one.group(1)
                for one in re.finditer(r"^    (?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:const\s+)?fn\s+(\w+)", inside, re.M)
            ]
            if name:
                yield name.group(1), methods, of_trait

    def trait_methods(self):
        """What a call may mean without knowing who implements it."""
        for found in re.finditer(r"^(?:pub(?:\([^)]*\))?\s+)?trait\s+\w+[^{;]*\{", self.text, re.MULTILINE):
            inside = self.text[found.end() : closing(self.text, found.end() - 1)]
            yield from re.findall(r"\bfn\s+(\w+)", inside)


class House:
    def __init__(self) -> None:
        paths = [path for path in sorted(SRC.rglob("*.rs")) if path.name not in ("tests.rs", "benchmark.rs", "sample_step.rs", "sample_tools.rs")]
        self.files = [File(path) for path in paths]
        self.by_module = {file.module: file for file in self.files}
        self.definers: dict[str, set[str]] = {}
        for file in self.files:
            for _, methods, _ in file.impls():
                for method in methods:
                    self.definers.setdefault(method, set()).add(file.path)
            for method in file.trait_methods():
                self.definers.setdefault(method, set()).add(file.path)

    def target(self, parts: tuple[str, ...]) -> "File | None":
        """The file of the longest module that begins this path."""
        for size in range(len(parts), 0, -1):
            if parts[:size] in self.by_module:
                return self.by_module[parts[:size]]
        return None

    def arrows(self, calls: bool) -> dict[str, set[str]]:
        arrows: dict[str, set[str]] = {file.path: set() for file in self.files}
        for file in self.files:
            out = arrows[file.path]
            for found in re.finditer(r"\b(crate|super|self|sextant_\w+)((?:::\w+)*)(::\{)?", file.text):
                names = tuple(found.group(2).split("::")[1:])
                own = {"crate": file.crate, "super": file.module[:-1], "self": file.module}
                base = own.get(found.group(1), (found.group(1).removeprefix("sextant_"),)) + names
                if found.group(3):
                    inside = file.text[found.end() : closing(file.text, found.end() - 1)]
                    goals = [self.target(base + part) for part in leaves(inside)]
                else:
                    goals = [self.target(base)] if names else []
                out |= {goal.path for goal in goals if goal and goal.path != file.path}
            # A child module is named without a path in the file that declares it.
            for found in re.finditer(r"^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+);", file.text, re.MULTILINE):
                child = self.by_module.get(file.module + (found.group(1),))
                if child and re.search(rf"(?<![\w:]){found.group(1)}::", file.text):
                    out.add(child.path)
            if calls:
                for found in re.finditer(r"(?:\.|\bSelf::)(\w+)\s*(?:::<[^>]*>)?\(", file.text):
                    homes = self.definers.get(found.group(1), set())
                    if found.group(1) not in COMMON and len(homes) == 1:
                        out |= homes - {file.path}
        return arrows


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of two files and more, largest first (Tarjan, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    for start in arrows:
        if start in order:
            continue
        work = [(start, iter(sorted(arrows[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for goal in rest:
                if goal not in arrows:
                    continue
                if goal not in order:
                    order[goal] = low[goal] = len(order)
                    stack.append(goal)
                    on_stack.add(goal)
                    work.append((goal, iter(sorted(arrows[goal]))))
                    break
                if goal in on_stack:
                    low[node] = min(low[node], order[goal])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    group, stack[at:] = stack[at:], []
                    on_stack.difference_update(group)
                    if len(group) > 1:
                        found.append(sorted(group))
    return sorted(found, key=len, reverse=True)


def of_room(arrows: dict[str, set[str]], room: str) -> dict[str, set[str]]:
    inside = {path for path in arrows if path.startswith(f"src/{room}/")}
    return {path: goals & inside for path, goals in arrows.items() if path in inside}


def main() -> int:
    parser = argparse.ArgumentParser(description="Counts the structure of src/.")
    parser.add_argument("--room", default="engine", help="the crate whose circles are counted [engine]")
    parser.add_argument("--list", action="store_true", help="name every place")
    parser.add_argument("--check", action="store_true", help="fail where a figure is over its bound")
    given = parser.parse_args()
    house = House()
    rows: list[tuple[str, object, list[str]]] = []
    for calls, what in ((False, "imports"), (True, "imports and calls")):
        found = circles(of_room(house.arrows(calls), given.room))
        sizes = [len(group) for group in found]
        rows.append((f"largest circle in {given.room}, {what}", max(sizes, default=0), [", ".join(g) for g in found]))
    session = [
        f"{file.path}: {len(methods)}"
        for file in house.files
        if not file.path.endswith("/session.rs")
        for name, methods, of_trait in file.impls()
        if name == "Session" and not of_trait and methods
    ]
    rows.append(("methods of Session outside its file", sum(int(s.rsplit(": ")[1]) for s in session), session))
    for whole in ("&Session", "&mut Task"):
        takers = [
            f"{file.path}:{line}: {name}"
            for file in house.files
            for name, line, parameters in file.parameters()
            if re.search(rf"{whole}\b", parameters)
        ]
        rows.append((f"`{whole}` as parameters", len(takers), takers))
    # A tuple pattern hides how many parameters a function has.
    tuples = [
        f"{file.path}:{line}: {name}"
        for file in house.files
        for name, line, parameters in file.parameters()
        if re.search(r"(?:^|,)\s*\([^()]*\)\s*:", parameters)
    ]
    rows.append(("tuple parameters", len(tuples), tuples))
    wide = [(fields, f"{file.path}: {name}, {fields}") for file in house.files for name, fields in file.structs()]
    wide = sorted((pair for pair in wide if pair[0] > WIDE_STRUCT), reverse=True)
    rows.append((f"structs over {WIDE_STRUCT} fields", len(wide), [text for _, text in wide]))
    rows.append(("fields of the widest struct", max((fields for fields, _ in wide), default=0), []))
    long = [
        f"{file.path}:{line}: {name}, {size}"
        for file in house.files
        for name, line, size in file.functions()
        if size > LONG_FUNCTION
    ]
    rows.append((f"functions over {LONG_FUNCTION} lines", len(long), long))
    for public in (False, True):
        homes: dict[str, list[str]] = {}
        for file in house.files:
            for name, is_public in file.types():
                if is_public or not public:
                    homes.setdefault(name, []).append(file.path)
        twice = sorted(f"{name}: {', '.join(paths)}" for name, paths in homes.items() if len(paths) > 1)
        rows.append((f"{'public ' if public else ''}type names defined twice", len(twice), twice))
    sizes = [file.lines for file in house.files]
    rows.append(("files", len(sizes), []))
    rows.append(("median file, lines", int(statistics.median(sizes)), []))
    longest = max(house.files, key=lambda file: file.lines)
    rows.append(("longest file, lines", longest.lines, [longest.path]))
    top = ROOT / "lua" / "sextant"
    dotted = lambda path: ".".join(path.relative_to(top).with_suffix("").parts)
    lua = {dotted(path): path.read_text(encoding="utf-8") for path in sorted(top.rglob("*.lua"))}
    found = circles({name: set(re.findall(r"'sextant\.([\w.]+)'", text)) - {name} for name, text in lua.items()})
    rows.append(("circles of Lua modules", len(found), [", ".join(group) for group in found]))
    for name, figure, places in rows:
        print(f"{figure:>6}  {name}")
        if given.list:
            for place in places:
                print(f"        {place}")
    if not given.check:
        return 0
    over = [
        f"{name}: {figure}, {bound} at most{''.join(f'{chr(10)}        {place}' for place in places)}"
        for name, figure, places in rows
        for begins, bound in BOUNDS.items()
        if name.startswith(begins) and int(figure) > bound
    ]
    for text in over:
        print(f"structure: {text}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
