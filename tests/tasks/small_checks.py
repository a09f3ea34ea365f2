"""How a task of small.py is judged from outside, by the language of its file; and what a project of it holds."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

import agent
from small_task import Small

sys.path.insert(0, str(agent.ROOT / "tests"))
import tools  # noqa: E402

NVIM = os.environ.get("SEXTANT_NVIM") or str(tools.NVIM)
SECONDS = 60
CARGO = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'
# `erasableSyntaxOnly`: what Node.js runs is the text without its types.
TSCONFIG = {
    "compilerOptions": {
        "strict": True, "noEmit": True, "target": "es2022", "lib": ["es2023"], "module": "nodenext", "types": [],
        "erasableSyntaxOnly": True,
    },
    "include": ["*.ts"],
}  # fmt: skip


@dataclasses.dataclass
class Language:
    """What a project in a language is made of, and how it is checked."""

    # In the fence of a prompt.
    name: str
    # Files of the project beside the task's own; `{module}` is the file's name without its ending.
    files: "dict[str, str]"
    # Where a task's check is put, what stands around it (`{check}`), and what runs it.
    check: str
    around: str
    run: "list[str]"
    # Gives the rules of all errors that the language's checker reports; None where there is no checker.
    reported: "typing.Callable[[pathlib.Path, str], list[str]] | None"
    # Folders with language servers that Sextant is given, and checkers by name. All of them are what users have.
    servers: "list[pathlib.Path]" = dataclasses.field(default_factory=list)
    commands: "list[str]" = dataclasses.field(default_factory=list)
    # Whether a file has to be without errors in every task, and not only where they are the task.
    strict: bool = False


def outside(arguments: "list[str]", folder: pathlib.Path) -> "subprocess.CompletedProcess[str]":
    env = agent.environment(folder.parent)
    try:
        return subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, -1, "", f"no end after {SECONDS} s")


def by_basedpyright(folder: pathlib.Path, file: str) -> "list[str]":
    ran = outside([str(agent.TOOLS / "basedpyright"), "--outputjson", file], folder)
    found = json.loads(ran.stdout)["generalDiagnostics"]
    return [item.get("rule", "syntax") for item in found if item["severity"] == "error"]


def by_cargo(folder: pathlib.Path, _: str) -> "list[str]":
    ran = outside(["cargo", "check", "--quiet", "--offline", "--lib", "--message-format=json"], folder)
    said = [json.loads(line).get("message") for line in ran.stdout.splitlines() if line.startswith("{")]
    errors = [message for message in said if message and message["level"] == "error"]
    return [(message.get("code") or {}).get("code", "syntax") for message in errors if message["spans"]]


def by_tsc(folder: pathlib.Path, _: str) -> "list[str]":
    compiler = tools.LANGUAGES / "node_modules" / "typescript" / "bin" / "tsc"
    ran = outside([str(tools.node()), str(compiler), "--noEmit", "--pretty", "false", "-p", "."], folder)
    return re.findall(r"error (TS\d+)", ran.stdout) or ([] if ran.returncode == 0 else [f"tsc: {ran.stderr[:200]}"])


LANGUAGES = {
    ".py": Language(
        "python",
        {"pyproject.toml": '[tool.basedpyright]\ntypeCheckingMode = "standard"\n'},
        "check_it.py", "{check}", [sys.executable, "-B", "check_it.py"],
        by_basedpyright, [agent.TOOLS],
    ),
    # Its language server is found only where a user has named it.
    ".rs": Language(
        "rust",
        {"Cargo.toml": CARGO, ".gitignore": "/target\n", "src/lib.rs": "pub mod {module};\n"},
        "examples/check_it.rs", "fn main() {\n{check}}\n", ["cargo", "run", "--quiet", "--offline", "--example", "check_it"],
        by_cargo, commands=["cargo"],
    ),
    ".ts": Language(
        "typescript",
        {"package.json": '{"name": "small", "version": "0.1.0", "type": "module"}\n', "tsconfig.json": json.dumps(TSCONFIG)},
        "check_it.mjs", "{check}", [str(tools.node()), "check_it.mjs"],
        by_tsc, [tools.LANGUAGES / "bin"], strict=True,
    ),
    # No server of Lua's is among the pinned tools: its syntax alone is checked.
    ".lua": Language("lua", {}, "check_it.lua", 'package.path = "./?.lua"\n{check}', [NVIM, "-l", "check_it.lua"], None),
}  # fmt: skip


def language(task: Small) -> Language:
    return LANGUAGES[pathlib.Path(task.file).suffix]


def lay_out(task: Small, folder: pathlib.Path, text: str) -> None:
    """The project of a task, with this text as its file."""
    module = pathlib.Path(task.file).stem
    files = {name: own.replace("{module}", module) for name, own in language(task).files.items()}
    for name, own in {**files, task.file: text}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(own, encoding="utf-8")


def reported(task: Small, text: str) -> "list[str]":
    """The rules of all errors that the language's checker reports in the project; none where there is no checker."""
    checker = language(task).reported
    if checker is None:
        return []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place).resolve() / "project"
        lay_out(task, folder, text)
        return checker(folder, task.file)


def wrong(task: Small, text: str) -> "list[str]":
    """Why a file of this text is not what was asked for; empty when it is."""
    own = language(task)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place).resolve() / "project"
        lay_out(task, folder, text)
        (folder / own.check).parent.mkdir(exist_ok=True)
        (folder / own.check).write_text(own.around.replace("{check}", task.check), encoding="utf-8")
        ran = outside(own.run, folder)
    if ran.returncode != 0:
        return [f"check: {reason(ran.stderr)}"]
    rules = reported(task, text) if task.gone or own.strict else []
    return [f"still reported: {', '.join(rules)}"] if rules else []


def reason(said: str) -> str:
    """What a failed check says first of all, in one line."""
    lines = [line.strip() for line in said.strip().splitlines() if line.strip()]
    if lines and re.match(r"\w*(Error|Exception)\b|no end", lines[-1]):
        return lines[-1]
    first = next((at for at, line in enumerate(lines) if re.match(r"error|E\d+:|.*panicked at|\w*Error\b", line)), None)
    return (lines or ["?"])[-1] if first is None else " / ".join(lines[first : first + 4])
