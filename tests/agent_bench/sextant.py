"""Runs `sextant ask` or `sextant plan` over a task, headless, with the model at a given address."""

import json
import os
import pathlib
import re
import typing

import fetch
import project
from project import Task

# Found through `project`, which knows where the small tasks are.
import agent
from agent import Said

BINARY = pathlib.Path(
    os.environ.get("SEXTANT") or os.environ.get("SEXTANT_BINARY") or fetch.ROOT / "target" / "debug" / "sextant"
)
# Whoever answers may take hours; the machine may be busy, and what is late is not wrong.
PATIENCE = 8 * 3600
EDIT_MS = 30_000
START_MS = 120_000


def configuration(task: Task, url: str, model: str, options: "dict[str, typing.Any]") -> str:
    """The user's configuration, as TOML."""
    lines = [] if task.mode == "simple" else [f"mode = {json.dumps(task.mode)}"]
    lines += [f"commands_allowed = {json.dumps(task.commands)}"]
    # The one server for Rust runs the project's own code and is in no index: its compiler is asked instead.
    lines += ['commands = ["cargo"]'] if task.language == "rust" else []
    lines += [f"commands_env = {json.dumps(project.COMMANDS_ENV[task.language])}"]
    lines += ["[diagnostics]", f"timeout_ms = {EDIT_MS}", f"start_timeout_ms = {START_MS}"]
    lines += ["[limits]", "steps = 60", "command_seconds = 120"]
    lines += ["[model]", 'provider = "openai_compatible"', f"model = {json.dumps(model)}"]
    lines += [f"base_url = {json.dumps(url)}", f"stall_seconds = {PATIENCE}", f"total_seconds = {PATIENCE}"]
    # Standing for a strong model: its window is not what is measured here.
    lines += ["max_attempts = 1", "max_tokens = 16384"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    return "\n".join(lines) + "\n"


def servers(task: Task, tools: pathlib.Path) -> pathlib.Path:
    """The folder of the language servers: clangd and vtsls are in one of their own."""
    return tools if task.language == "python" else fetch.ROOT / ".tools" / "languages" / "bin"


def command(task: Task, root: pathlib.Path, config: pathlib.Path, tools: pathlib.Path) -> "list[str]":
    line = [str(BINARY), "ask" if task.mode == "simple" else "plan", task.request, *task.where]
    line += ["--root", str(root), "--config", str(config), "--servers", str(servers(task, tools)), "--json"]
    if task.mode != "simple":
        line.append("--approve")
    return line + [part for answer in task.answers for part in ("--answer", str(answer))]


def carry_out(
    task: Task, root: pathlib.Path, home: pathlib.Path, tools: pathlib.Path, url: str, model: str = "bench"
) -> Said:
    style = os.environ.get("STYLE") or "conversation"
    options: "dict[str, typing.Any]" = {} if style == "none" else {"style": style, "context": 128_000}
    config = home / "sextant" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    while True:
        config.write_text(configuration(task, url, model, options), encoding="utf-8")
        said = agent.launch(
            command(task, root, config, tools), root, project.environment(root, home, tools, task.language), PATIENCE
        )
        # An older build is measured as far as it goes.
        unknown = re.search(r"unknown field `(\w+)`", said.failure.get("message") or "")
        if not unknown or options.pop(unknown[1], None) is None:
            return said
