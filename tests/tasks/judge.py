"""Whether a task was done, by a look from outside: its tests, the checkers on the command line, every file's bytes."""

import collections
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import typing

import agent
import folder
from folder import Files

PROJECTS = pathlib.Path(__file__).resolve().parent / "projects"
# What checkers and Sextant itself leave behind is not the project.
LEFT_BEHIND = {".ruff_cache", "__pycache__"}

Found = typing.Counter[typing.Tuple[str, str]]


@dataclasses.dataclass
class Aim:
    """What must be true of the project afterwards."""

    # Files that may be different afterwards; one of them must be.
    changes: "set[str]"
    # `(file, code)` of diagnostics that must be there before and gone afterwards.
    gone: "list[tuple[str, str]]" = dataclasses.field(default_factory=list)
    # Texts that a file must hold, and texts that it must not.
    has: "list[tuple[str, str]]" = dataclasses.field(default_factory=list)
    lacks: "list[tuple[str, str]]" = dataclasses.field(default_factory=list)


def copy(project: str, to: pathlib.Path, plants: "list[tuple[str, str, str]]", files: "dict[str, str]") -> None:
    """A fresh copy with something wrong planted in it. A text to be replaced must be there exactly once."""
    shutil.copytree(PROJECTS / project, to, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    folder.plant(to, plants, files)


def tests(project: pathlib.Path, home: pathlib.Path) -> str:
    """Empty when the project's own tests pass; else their last words."""
    command = [sys.executable, "-B", "-m", "unittest", "discover", "-q", "-s", "tests", "-t", "."]
    env = agent.environment(home)
    ran = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120, check=False)
    if ran.returncode == 0:
        return ""
    lines = [line for line in ran.stderr.splitlines() if "Error" in line] or ran.stderr.splitlines()
    return f"tests: {lines[-1] if lines else ran.returncode}"


def diagnostics(project: pathlib.Path, home: pathlib.Path) -> Found:
    """What the checkers report when they are run by themselves, by file and code."""
    found: Found = collections.Counter()
    env = agent.environment(home)
    checked = subprocess.run(
        [agent.TOOLS / "basedpyright", "--outputjson"], cwd=project, env=env, capture_output=True, check=False
    )
    for item in json.loads(checked.stdout)["generalDiagnostics"]:
        if item["severity"] in ("error", "warning"):
            name = pathlib.Path(item["file"]).resolve().relative_to(project).as_posix()
            found[name, item.get("rule", "syntax")] += 1
    command = [agent.TOOLS / "ruff", "check", "--no-cache", "--output-format", "json"]
    checked = subprocess.run(command, cwd=project, env=env, capture_output=True, check=False)
    for item in json.loads(checked.stdout):
        name = pathlib.Path(item["filename"]).resolve().relative_to(project).as_posix()
        found[name, item["code"] or "syntax"] += 1
    return found


@dataclasses.dataclass
class Look:
    """A project as it is at one moment."""

    files: Files
    tests: str
    diagnostics: Found


def look(project: pathlib.Path, home: pathlib.Path) -> Look:
    return Look(folder.files(project, LEFT_BEHIND), tests(project, home), diagnostics(project, home))


def unfinished(now: Look, aim: Aim) -> "list[str]":
    """What of the aim does not hold yet."""
    wrong = [now.tests] if now.tests else []
    wrong += [f"{code} is reported in {name}" for name, code in aim.gone if now.diagnostics[name, code]]
    text = {name: content.decode() for name, content in now.files.items()}
    wrong += [f"{name} has no {part!r}" for name, part in aim.has if part not in text.get(name, "")]
    wrong += [f"{name} still has {part!r}" for name, part in aim.lacks if part in text.get(name, "")]
    return wrong


def judge(before: Look, now: Look, aim: Aim) -> "list[str]":
    """Why the task is not done; empty when it is."""
    wrong = unfinished(now, aim)
    worse = now.diagnostics - before.diagnostics
    wrong += [f"{code} is new in {name}" for name, code in worse]
    changed = changes(before.files, now.files)
    wrong += [f"{name} was changed" for name in sorted(changed - aim.changes)]
    if not changed:
        wrong.append("nothing was changed")
    return wrong


def changes(before: Files, now: Files) -> "set[str]":
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
