"""Runs `sextant ask` and `sextant plan` on a folder, and reads what it says of itself."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("SEXTANT_BINARY") or ROOT / "target" / "debug" / "sextant")
TOOLS = pathlib.Path(os.environ.get("SEXTANT_TOOLS") or ROOT / ".tools" / "venv" / "bin")
# Generous: the machine may be busy, and what is late is not wrong.
EDIT_MS = 30_000
START_MS = 120_000

MODES = ("simple", "planner", "supervised")
# Tokens of memory that a prompt of each mode may carry.
MEMORY_LIMIT = {"simple": 100, "planner": 200, "supervised": 300}

# What sets off a new plan or a question, by the words in which it is said.
TRIGGERS = (
    ("deviation", re.compile(r"too far from what the plan expects")),
    ("errors", re.compile(r"\d+ errors in this plan")),
    ("invalid step", re.compile(r"later step is not possible|invalid step")),
    ("missing resource", re.compile(r"is not there|missing resource|is gone")),
)


def trigger(text: str) -> str:
    return next((name for name, pattern in TRIGGERS if pattern.search(text)), "other")


@dataclasses.dataclass
class Said:
    """What one run of the program said."""

    events: "list[dict[str, typing.Any]]"
    outcome: "dict[str, typing.Any]"
    # Of a run that failed: kind, message, hint.
    failure: "dict[str, typing.Any]"
    seconds: float
    status: int
    stderr: str

    def of_type(self, kind: str) -> "list[dict[str, typing.Any]]":
        return [event for event in self.events if event.get("type") == kind]

    @property
    def ok(self) -> bool:
        return self.status == 0 and self.outcome.get("ok") is True

    @property
    def steps(self) -> int:
        """Tool calls, those that failed included."""
        return len(self.of_type("acted"))

    @property
    def replans(self) -> "list[str]":
        """The triggers of the new plans, in order."""
        return [trigger(event["text"]) for event in self.of_type("progress") if "planning again" in event["text"]]

    @property
    def questions(self) -> "list[dict[str, typing.Any]]":
        return self.of_type("question")

    @property
    def delta(self) -> str:
        """`new/fixed/unchanged` diagnostics, as the outcome counts them."""
        if "fixed" not in self.outcome:
            return "-"
        new = len(self.outcome.get("new_diagnostics", []))
        return f"{new}/{self.outcome['fixed']}/{self.outcome['unchanged']}"

    @property
    def words(self) -> str:
        """Everything that it ends with, in words."""
        plan = self.outcome.get("plan") or {}
        parts = [self.outcome.get("answer"), self.outcome.get("summary"), plan.get("reason"), self.failure.get("message")]
        return " ".join(part for part in parts if part)


def configuration(mode: str, model: "dict[str, typing.Any]", commands: "typing.Sequence[str]" = ()) -> str:
    """The user's configuration for a run, as TOML."""
    lines = [] if mode == "simple" else [f"mode = {json.dumps(mode)}"]
    lines += [f"commands = {json.dumps(list(commands))}"] if commands else []
    lines += ["[diagnostics]", f"timeout_ms = {EDIT_MS}", f"start_timeout_ms = {START_MS}", "[model]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in model.items()]
    return "\n".join(lines) + "\n"


def environment(home: pathlib.Path) -> "dict[str, str]":
    """No configuration, no keys and no packages of the user's own."""
    env = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        env[name] = str(home)
    env["XDG_STATE_HOME"] = str(home / "state")
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CARGO_TARGET_DIR"):
        env.pop(name, None)
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    # The compiler of Rust is found by way of the home folder.
    for name, usual in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        env.setdefault(name, str(pathlib.Path.home() / usual))
    return env


def run(
    project: pathlib.Path,
    home: pathlib.Path,
    mode: str,
    request: "list[str]",
    model: "dict[str, typing.Any]",
    answers: "typing.Sequence[int]" = (),
    patience: float = 600,
    servers: "typing.Sequence[pathlib.Path]" = (TOOLS,),
    commands: "typing.Sequence[str]" = (),
) -> Said:
    """One task in one mode: `request` is its text and where it is about.

    `servers` are folders with language servers, `commands` checkers of the configuration.
    """
    config = home / "sextant" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(configuration(mode, model, commands), encoding="utf-8")
    command = [str(BINARY), "ask" if mode == "simple" else "plan", *request]
    command += ["--root", str(project), "--config", str(config), "--json"]
    command += [part for folder in servers for part in ("--servers", str(folder))]
    if mode != "simple":
        command.append("--approve")
        command += [part for answer in answers for part in ("--answer", str(answer))]
    return launch(command, project, environment(home), patience)


def launch(command: "list[str]", cwd: pathlib.Path, env: "dict[str, str]", patience: float) -> Said:
    """Runs the program to its end, or for so many seconds, and reads what it has said with `--json`."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=patience, check=False
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        status, out, err = -1, late.stdout or b"", f"no end after {patience} s".encode()
    seconds = time.monotonic() - start
    said = Said([], {}, {}, seconds, status, err.decode(errors="replace").strip())
    for line in out.decode(errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            said.stderr += f"\nnot JSON: {line[:200]}"
            continue
        if event.get("type") == "outcome":
            said.outcome = event["outcome"]
        elif event.get("type") == "failed":
            said.failure = event["failure"]
        else:
            said.events.append(event)
    return said
