"""The real files that are edited, each with the checker that knows its project."""

import dataclasses
import pathlib
import random
import typing

import checkers
import tools
from checkers import Checker

LINES = range(40, 700)
# Files that are looked at, of each package.
MOST_FILES = 40


@dataclasses.dataclass
class Files:
    """Texts of one checker, beside how many there are of all of its language."""

    texts: "list[tuple[str, str]]"
    of_all: int


def fit(path: pathlib.Path) -> "typing.Optional[str]":
    try:
        string = path.read_text(encoding="ascii")
    except UnicodeDecodeError:
        return None
    return string if string.count("\n") in LINES and "\t\t\t\t\t\t\t\t\t" not in string and "\r" not in string else None


def texts(paths: "typing.Iterable[pathlib.Path]", numbers: random.Random, most: int = MOST_FILES) -> "list[tuple[str, str]]":
    found = [(str(path), string) for path in sorted(paths) for string in [fit(path)] if string]
    numbers.shuffle(found)
    return found[:most]


def rust(numbers: random.Random) -> "list[tuple[Checker, list[tuple[str, str]]]]":
    """Files that compile by themselves, without a warning that stops the compiler."""
    candidates = texts((path for folder in tools.crates() for path in folder.glob("src/**/*.rs")), numbers, 400)
    checker, found = checkers.Rust(), []
    for path, string in candidates:
        if "crate::" in string or "super::" in string or len(found) == MOST_FILES:
            continue
        diagnostics = checker.check({"case.rs": string})
        if 4 < len(diagnostics) <= 150 and is_sound(diagnostics):
            found.append((path, string))
    return [(checker, found)]


def is_sound(diagnostics: "list[checkers.Diagnostic]") -> bool:
    return all(one["severity"] != 1 for one in diagnostics)


def typescript(numbers: random.Random) -> "list[tuple[Checker, list[tuple[str, str]]]]":
    out: "list[tuple[Checker, list[tuple[str, str]]]]" = []
    for name, sources, folder in (("rxjs", "src/internal", "operators"), ("immer", "src", "core"), ("mobx", "src", "core")):
        place = tools.there(tools.node_package(name) / sources, name)
        out.append((checkers.TypeScript(place, folder), texts((place / folder).glob("*.ts"), numbers)))
    return out


def cpp(numbers: random.Random) -> "list[tuple[Checker, list[tuple[str, str]]]]":
    paths = [path for folder in tools.cpp_sources() for path in folder.glob("**/*")]
    headers = sorted({path.parent for path in paths if path.suffix == ".h"})
    return [(checkers.clangd(headers), texts([path for path in paths if path.suffix == ".cpp"], numbers))]


def go(numbers: random.Random) -> "list[tuple[Checker, list[tuple[str, str]]]]":
    """Files of the standard library that are whole packages, and that this gopls has no error in."""
    library = tools.go().parent / "src"
    alone = []
    for folder in sorted(library.glob("**/")):
        files = [path for path in folder.glob("*.go") if not path.name.endswith("_test.go")]
        if len(files) <= 2 and "testdata" not in str(folder) and "cmd" not in folder.parts:
            alone += files
    checker = checkers.gopls()
    found = [(path, string) for path, string in texts(alone, numbers) if is_sound(checker.check({"case.go": string}))]
    return [(checker, found)]


def lua(numbers: random.Random) -> "list[tuple[Checker, list[tuple[str, str]]]]":
    runtime = tools.nvim().resolve().parent.parent / "share/nvim/runtime/lua"
    return [(checkers.Lua(), texts(tools.there(runtime, "neovim").glob("**/*.lua"), numbers))]


def of(name: str, seed: int) -> "list[tuple[Checker, Files]]":
    numbers = random.Random(seed)
    found = {"rust": rust, "typescript": typescript, "cpp": cpp, "lua": lua, "go": go}[name](numbers)
    of_all = sum(len(files) for _, files in found)
    return [(checker, Files(files, of_all)) for checker, files in found]
