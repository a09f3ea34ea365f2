"""A task as its folder tells it, and a fresh copy of its package to work on."""

import dataclasses
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import typing

import fetch

# What the small tasks of this repository have as well; behind this folder's own files.
sys.path.append(str(fetch.ROOT / "tests" / "tasks"))
import folder as folders  # noqa: E402
from folder import Files  # noqa: E402

TASKS = fetch.HERE / "tasks"
MODES = ("simple", "planner", "supervised")
# What checkers, tests and Sextant itself leave behind is not the project.
LEFT_BEHIND = {".ruff_cache", "__pycache__", ".pytest_cache", ".sextant", "target", "build", ".cache"}
IGNORED = {
    "python": "__pycache__/\n.pytest_cache/\n.ruff_cache/\n",
    "rust": "target/\n",
    "typescript": "build/\n",
    "cpp": "build/\n",
}
# The programs that a model may run without a question.
COMMANDS = {
    "python": ["python3 -m pytest", "python -m pytest", "pytest", "ruff check", "basedpyright"],
    "rust": ["cargo check", "cargo test"],
    "typescript": ["tsc"],
    "cpp": ["make"],
}
# What of the environment these programs see beside the usual.
COMMANDS_ENV = {
    "python": ["PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS"],
    "rust": ["CARGO_NET_OFFLINE", "RUST_TEST_THREADS"],
    "typescript": [],
    "cpp": [],
}


class Unfit(Exception):
    """A task's folder is not what it must be."""


@dataclasses.dataclass
class Task:
    name: str
    kind: str
    package: str
    request: str
    # Names with wildcards of the files that may be different afterwards; nothing may for a question.
    changes: "list[str]"
    mode: str = "simple"
    # Arguments of the door: where the request is about.
    where: "list[str]" = dataclasses.field(default_factory=list)
    # `[file, old, new]`, and whole files: what is planted.
    plants: "list[list[str]]" = dataclasses.field(default_factory=list)
    files: "dict[str, str]" = dataclasses.field(default_factory=dict)
    # What the package's own tests are, as arguments of pytest, and tests that fail before.
    tests: "list[str]" = dataclasses.field(default_factory=list)
    # A file that the checkers are to be content with.
    checked: "list[str]" = dataclasses.field(default_factory=list)
    # Numbers of the answers to questions of a run.
    answers: "list[int]" = dataclasses.field(default_factory=list)
    # The language, which says the compiler: one of COMMANDS.
    language: str = "python"
    # Names with wildcards of what of the package is not laid out: what was built of it, and other languages.
    without: "list[str]" = dataclasses.field(default_factory=list)

    @property
    def folder(self) -> pathlib.Path:
        return TASKS / self.name

    @property
    def question(self) -> bool:
        return not self.changes

    @property
    def commands(self) -> "list[str]":
        return COMMANDS[self.language]

    def may_change(self, name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.changes)


def load(folder: pathlib.Path) -> Task:
    try:
        told = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        task = Task(name=folder.name, **told)
    except (OSError, ValueError, TypeError) as error:
        raise Unfit(f"{folder.name}: {error}") from None
    if task.mode not in MODES:
        raise Unfit(f"{task.name}: no mode {task.mode!r}")
    if task.language not in COMMANDS:
        raise Unfit(f"{task.name}: no language {task.language!r}")
    solution = "solution.txt" if task.question else "solution.patch"
    for name in ("check.py", solution):
        if not (folder / name).is_file():
            raise Unfit(f"{task.name}: no {name}")
    return task


def load_all(only: str = "") -> "list[Task]":
    folders = sorted(path for path in TASKS.iterdir() if path.is_dir())
    return [load(path) for path in folders if not only or path.name in only.replace(",", " ").split()]


def lay_out(task: Task, to: pathlib.Path) -> None:
    """A fresh copy with what is planted in it. A text to be replaced must be there exactly once."""
    source = fetch.PACKAGES / task.package
    if not source.is_dir():
        raise Unfit(f"{task.name}: no package {task.package}")
    shutil.copytree(source, to)
    for pattern in task.without:
        left_out = sorted(to.glob(pattern))
        if not left_out:
            raise Unfit(f"{task.name}: nothing is {pattern}")
        for path in left_out:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (to / ".gitignore").write_text(IGNORED[task.language], encoding="utf-8")
    try:
        folders.plant(to, task.plants, task.files)
    except ValueError as error:
        raise Unfit(f"{task.name}: {error}") from None


def files(root: pathlib.Path) -> Files:
    return folders.files(root, LEFT_BEHIND)


def environment(
    project: pathlib.Path, home: pathlib.Path, tools: pathlib.Path, language: str = "python"
) -> "dict[str, str]":
    """The package can be imported, tests, compilers and checkers are there, and nothing is the user's own."""
    env = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        env[name] = str(home)
    env["XDG_STATE_HOME"] = str(home / "state")
    for name in ("PYTHONHOME", "VIRTUAL_ENV"):
        env.pop(name, None)
    if language != "python":
        env["PATH"] = os.pathsep.join([str(fetch.PROGRAMS), *([str(fetch.rust())] if fetch.rust() else []), env.get("PATH", "")])
        # The crates need no other crate: whatever asks for one has gone astray.
        env["CARGO_NET_OFFLINE"] = "true"
        # Tests are told in one order, so that a recording is asked the same.
        env["RUST_TEST_THREADS"] = "1"
        return env
    env["PATH"] = os.pathsep.join([str(fetch.VENV / "bin"), str(tools), env.get("PATH", "")])
    env["PYTHONPATH"] = os.pathsep.join(str(folder) for folder in (project / "src", project))
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["PYTEST_ADDOPTS"] = "-p no:cacheprovider"
    return env


def solve(task: Task, project: pathlib.Path) -> str:
    """Does what the task's reference solution says; the answer to a question."""
    if task.question:
        return (task.folder / "solution.txt").read_text(encoding="utf-8")
    apply(task, task.folder / "solution.patch", project)
    return "done"


def apply(task: Task, patch: pathlib.Path, project: pathlib.Path) -> None:
    command = ["patch", "-p1", "--quiet", "--no-backup-if-mismatch", "-i", str(patch)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unfit(f"{task.name}: {patch.name} does not fit: {done.stdout.strip()} {done.stderr.strip()}")
