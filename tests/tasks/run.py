#!/usr/bin/env python3
"""Runs small real tasks through `sextant ask` and `sextant plan`, and judges each from outside.

    python3 tests/tasks/run.py                  everything; the status is 0 when all went as it must
    python3 tests/tasks/run.py --part five      the same five tasks in all modes with both models, and their prompts
    python3 tests/tasks/run.py --part triggers  what makes a plan to be made anew or to pause
    python3 tests/tasks/run.py --part quick     three tasks, one a mode
    … --only WORDS                              those whose name or mode holds the words
    python3 tests/tasks/run.py --spell-out      the five tasks and their scripts as JSON, for the tests in an editor

Each task works on a fresh copy of a project in tests/tasks/projects, with real basedpyright and ruff. The offline
model applies the servers' quick fixes; the scripted one is a server in this program that follows a script per task.
A scripted model makes the mistakes that its script has: the figures are of Sextant's loop, and of no real model.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import agent
import figures
import judge
from figures import Row
from scripted import ScriptedModel
from task import Task, offline, scripted, spelt_out
from triggers import TRIGGERS
from works import FIVE, QUICK_FIX

FIVES = [
    task for work in FIVE for mode in agent.MODES for task in (scripted(work, mode), offline(work, mode, cannot=True))
]
QUICK = [offline(QUICK_FIX, "simple"), TRIGGERS[0], next(task for task in TRIGGERS if task.mode == "supervised")]
PARTS = {"five": FIVES, "triggers": TRIGGERS, "quick": QUICK}
# What the offline model must say where it can do nothing.
CANNOT = ("needs a language model", "No fix that may be applied here is offered")


def carry_out(task: Task, model: ScriptedModel) -> Row:
    with tempfile.TemporaryDirectory(prefix="sextant-task-") as folder:
        place = pathlib.Path(folder).resolve()
        project, home = place / task.work.project, place / "home"
        home.mkdir()
        judge.copy(task.work.project, project, task.work.plants, task.work.files)
        before = judge.look(project, home)
        wrong = []
        if not judge.unfinished(before, task.work.aim):
            wrong.append("the check has nothing to object to before the work: it shows nothing")
        options = {"provider": "offline"}
        if task.script is not None:
            model.play(task.script, project)
            options = {"provider": "openai_compatible", "model": "scripted", "base_url": model.url, "max_attempts": 1}
        said = agent.run(project, home, task.mode, [task.work.text, *task.work.where], options, task.answers)
        now = judge.look(project, home)
        row = Row(task, said, undone(task, said, before, now), wrong, model.asked if task.script else [])
        if task.script is not None:
            wrong += model.trouble + (["the script is not at its end"] if model.left() else [])
        wrong += expectations(row)
        return row


def undone(task: Task, said: agent.Said, before: judge.Look, now: judge.Look) -> "list[str]":
    if not (task.cannot or task.unchanged):
        return judge.judge(before, now, task.work.aim)
    out = [f"{name} was changed" for name in sorted(judge.changes(before.files, now.files))]
    if task.cannot and not any(words in said.words for words in CANNOT):
        out.append("it does not say that it cannot do this")
    return out


def expectations(row: Row) -> "list[str]":
    """What must be true of the run itself, beside the work."""
    task, said = row.task, row.said
    out = []
    if row.done and not task.unchanged and said.ok is False:
        out.append(f"it is done, and Sextant says that it is not (status {said.status})")
    if said.ok and row.done and not task.cannot and said.outcome.get("new_diagnostics"):
        out.append("it is done, and Sextant reports new diagnostics")
    if task.replans is None and said.replans and task.script is not None:
        out.append(f"planned anew without need: {', '.join(said.replans)}")
    if task.replans is not None and said.replans != task.replans:
        out.append(f"planned anew for {said.replans} instead of {task.replans}")
    if task.questions is not None and len(said.questions) != task.questions:
        out.append(f"{len(said.questions)} questions instead of {task.questions}")
    over = figures.memory_tokens(row)
    if over > agent.MEMORY_LIMIT[task.mode]:
        out.append(f"{over} tokens of memory in a prompt of {task.mode} mode, {agent.MEMORY_LIMIT[task.mode]} at most")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="Small real tasks, judged from outside.")
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--only", default="")
    parser.add_argument("--spell-out", action="store_true")
    options = parser.parse_args()
    if options.spell_out:
        print(json.dumps([spelt_out(work) for work in FIVE]))
        return 0
    for tool in (agent.BINARY, agent.TOOLS / "basedpyright", agent.TOOLS / "ruff"):
        if not tool.exists():
            print(f"tasks: {tool} is missing; start it with make tasks", file=sys.stderr)
            return 1
    model = ScriptedModel()
    failed: "list[str]" = []
    count = 0
    start = time.monotonic()
    for name in options.part or ["five", "triggers"]:
        rows = []
        tasks = [task for task in PARTS[name] if options.only in f"{task.mode} {task.model} {task.name}"]
        print(f"\n== {name}: {len(tasks)} tasks", flush=True)
        for task in tasks:
            row = carry_out(task, model)
            rows.append(row)
            print(figures.line(row), flush=True)
            notes = figures.reasons(row) + (figures.left_the_plan(row) if name in ("triggers", "quick") else [])
            if notes:
                print("\n".join(notes), flush=True)
            if row.undone or row.wrong:
                failed.append(f"{name}: {task.mode}, {task.model}: {task.name}")
        count += len(rows)
        if name == "five" and rows:
            print("\n" + "\n".join(figures.five(rows)), flush=True)
    model.close()
    print(f"\n{count} tasks in {time.monotonic() - start:.0f} s, {len(failed)} not as they must be")
    print("".join(f"  {name}\n" for name in failed), end="", flush=True)
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
