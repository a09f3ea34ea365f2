"""Whether a task was done, by a look from outside: its check, the package's tests, the checkers, every file's bytes."""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

import compilers
import fetch
import project
from project import Files, Task

TOOLS = pathlib.Path(os.environ.get("SEXTANT_TOOLS") or fetch.ROOT / ".tools" / "venv" / "bin")
# Generous: the machine may be busy.
PATIENCE = 300
# What is wrong in any project: names that are not there or not used, and what does not parse.
PLAIN = ("--isolated", "--select", "E9,F")


@dataclasses.dataclass
class Before:
    """What there was before the work."""

    files: Files
    reports: "dict[str, int]"


def before(task: Task, folder: pathlib.Path) -> Before:
    files = project.files(folder)
    if task.language != "python":
        return Before(files, compilers.reports(task.language, run_in(task, folder), sorted(files)))
    return Before(files, ruff(folder, [name for name in files if name.endswith(".py") and task.may_change(name)], *PLAIN))


def judge(task: Task, folder: pathlib.Path, was: Before, answer: str) -> "list[str]":
    """Why the task is not done; empty when it is."""
    wrong = check(task, folder, answer)
    now = project.files(folder)
    changed = sorted(name for name in was.files.keys() | now.keys() if was.files.get(name) != now.get(name))
    wrong += [f"{name} was changed" for name in changed if not task.may_change(name)]
    if task.language != "python":
        after = compilers.reports(task.language, run_in(task, folder), sorted(now))
        wrong += [f"new: {what}" for what in sorted(after) if after[what] > was.reports.get(what, 0)]
        wrong += [f"left: {what}" for what in sorted(after) if any(what.endswith(f" in {name}") for name in task.checked)]
        return wrong + (compilers.tests(task.language, run_in(task, folder), task.tests) if task.tests else [])
    if task.tests:
        wrong += pytest(folder, task.tests)
    after = ruff(folder, [name for name in changed if name.endswith(".py") and name in now], *PLAIN)
    wrong += [f"ruff: new {code}" for code in sorted(after) if after[code] > was.reports.get(code, 0)]
    if task.checked:
        wrong += [f"ruff: {code}" for code in sorted(ruff(folder, task.checked))]
        wrong += basedpyright(folder, task.checked)
    return wrong


def run_in(task: Task, folder: pathlib.Path) -> compilers.Run:
    return lambda *command: run(folder, *command, language=task.language)


def run(
    folder: pathlib.Path, *command: object, language: str = "python", **more: str
) -> "subprocess.CompletedProcess[str]":
    with tempfile.TemporaryDirectory(prefix="agent-bench-home-") as home:
        env = {**project.environment(folder, pathlib.Path(home), TOOLS, language), **more}
        line = [str(part) for part in command]
        try:
            return subprocess.run(
                line, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(line, 124, "", f"no end after {PATIENCE} s")
        except FileNotFoundError:
            return subprocess.CompletedProcess(line, 127, "", f"{line[0]} is missing: this task needs it")


def check(task: Task, folder: pathlib.Path, answer: str) -> "list[str]":
    """The task's own check: a program that runs in the project, and says on standard error what is wrong."""
    # The checks of other languages share what compiles a program beside the package.
    more = {} if task.language == "python" else {"PYTHONPATH": str(fetch.HERE)}
    done = run(folder, fetch.PYTHON, task.folder / "check.py", language=task.language, ANSWER=answer, **more)
    if done.returncode == 0:
        return []
    lines = done.stderr.strip().splitlines()
    return [f"check: {lines[-1] if lines else done.returncode}"]


def pytest(folder: pathlib.Path, tests: "list[str]") -> "list[str]":
    done = run(folder, fetch.PYTHON, "-m", "pytest", "-q", "--no-header", *tests)
    if done.returncode == 0:
        return []
    lines = done.stdout.strip().splitlines() or [f"exit status {done.returncode}"]
    return [f"tests: {lines[-1]}"]


def ruff(folder: pathlib.Path, names: "list[str]", *rules: str) -> "dict[str, int]":
    """How often ruff reports what, by file and code; by the project's own rules where none are given."""
    found: "dict[str, int]" = {}
    there = [name for name in names if (folder / name).is_file()]
    if not there:
        return found
    done = run(folder, TOOLS / "ruff", "check", "--no-fix", "--no-cache", "--output-format", "json", *rules, *there)
    for item in json.loads(done.stdout or "[]"):
        name = pathlib.Path(item["filename"]).resolve().relative_to(folder.resolve()).as_posix()
        key = f"{item['code'] or 'syntax'} in {name}"
        found[key] = found.get(key, 0) + 1
    return found


def basedpyright(folder: pathlib.Path, names: "list[str]") -> "list[str]":
    done = run(folder, TOOLS / "basedpyright", "--outputjson", *names)
    found = json.loads(done.stdout)["generalDiagnostics"]
    reported = [item for item in found if item["severity"] in ("error", "warning")]
    return [f"basedpyright: {item.get('rule', 'syntax')}, line {item['range']['start']['line'] + 1}" for item in reported]
