#!/usr/bin/env python3
"""Real tasks on pinned packages through Sextant and through two plain tool-calling loops, judged from outside.

    python3 tests/agent_bench/run.py                    the loops with the recorded answers, and the figures
    … --check                   every task is undone before and done by its reference solution
    … --bridge FOLDER           answers from files: FOLDER/TASK.LOOP, see next.py and answer.py
    … --model NAME --base-url URL       a real model behind OpenAI's API (key in OPENAI_API_KEY)
    … --strict                  stop a task whose prompts are not those of the recording
    … --record FOLDER           take the runs of a bridge that are done as the recording
    … --only TASKS --loop sextant|same|plain --jobs N --json FILE

SEXTANT names the program, STYLE the model's style (conversation).
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
import typing

import answers
import counting
import fetch
import judge
import plain
import project
import same
import sextant
import table
import wire
from project import Task

LOOPS = ("sextant", "same", "plain")
RECORDED = {
    "sextant": fetch.HERE / "recorded",
    "same": fetch.HERE / "recorded_same",
    "plain": fetch.HERE / "recorded_plain",
}


@dataclasses.dataclass
class Row:
    """What came of one task in one loop."""

    task: str
    loop: str
    # Why it is not done; empty when it is.
    undone: "list[str]"
    figures: counting.Figures
    seconds: float = 0.0
    # Seconds in which an answer was waited for.
    waited: float = 0.0
    # What Sextant says itself; None for the plain loop.
    says: "bool | None" = None
    # What is asked otherwise than when the answers were recorded.
    differ: "list[str]" = dataclasses.field(default_factory=list)
    trouble: "list[str]" = dataclasses.field(default_factory=list)
    answer: str = ""
    missing: bool = False

    @property
    def done(self) -> bool:
        return not self.undone

    def told(self) -> "dict[str, typing.Any]":
        return {**dataclasses.asdict(self), "figures": self.figures.told(), "done": self.done}


def places_of(root: pathlib.Path, home: pathlib.Path) -> "dict[str, str]":
    """The folders of a run, and what stands for each in a fingerprint."""
    return {str(root): "{project}", str(home): "{home}", str(fetch.PLACE): "{bench}", str(fetch.ROOT): "{sextant}"}


def source_of(given: argparse.Namespace, task: Task, loop: str, places: "dict[str, str]") -> "answers.Source | None":
    if given.bridge:
        folder = given.bridge / f"{task.name}.{loop}"
        shutil.rmtree(folder, ignore_errors=True)
        return answers.Bridge(folder)
    if given.model:
        if not given.base_url:
            raise SystemExit("agent-bench: MODEL needs BASE_URL, the address of a server with OpenAI's API")
        return answers.Passing(given.base_url, given.model.partition(":")[2] or given.model)
    folder = RECORDED[loop] / task.name
    return answers.Replay(folder, places, given.strict) if folder.is_dir() else None


def carry_out(given: argparse.Namespace, task: Task, loop: str) -> Row:
    with tempfile.TemporaryDirectory(prefix="agent-bench-") as folder:
        place = pathlib.Path(folder).resolve()
        root, home = place / task.package, place / "home"
        home.mkdir()
        project.lay_out(task, root)
        places = places_of(root, home)
        source = source_of(given, task, loop, places)
        if source is None:
            return Row(task.name, loop, ["nothing is recorded"], counting.Figures(), missing=True)
        was = judge.before(task, root)
        server = wire.Server(source)
        start = time.monotonic()
        row = Row(task.name, loop, [], counting.Figures())
        try:
            if loop == "sextant":
                said = sextant.carry_out(task, root, home, judge.TOOLS, server.url)
                row.says, row.answer = said.ok, said.words
                if said.failure:
                    row.trouble.append(f"sextant: {said.failure.get('message')}")
                elif said.status not in (0, 1) or not said.outcome:
                    row.trouble.append(f"sextant: status {said.status}, {said.stderr[-300:]}")
                for name in same.unlike(server.calls[0].body) if server.calls else []:
                    row.trouble.append(f"same_tools.json has it otherwise: {name}")
            elif loop == "same":
                row.answer = same.carry_out(task, root, home, judge.TOOLS, server)
            else:
                row.answer = plain.carry_out(task, root, home, judge.TOOLS, server)
        except answers.Ended as error:
            row.trouble.append(str(error))
        finally:
            server.close()
        row.trouble += server.trouble
        row.seconds = time.monotonic() - start
        row.waited = sum(call.seconds for call in server.calls)
        row.figures = counting.count(server.calls)
        row.undone = judge.judge(task, root, was, row.answer)
        if isinstance(source, answers.Replay):
            row.differ = source.differ
        if isinstance(source, answers.Bridge):
            kept = {**row.told(), "places": places}
            result = source.folder / "result.part"
            result.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
            result.rename(source.folder / "result.json")
        return row


def record(folder: pathlib.Path, only: str) -> int:
    """Takes the runs of a bridge that are done as the recorded answers of their tasks."""
    count = 0
    for path in sorted(folder.glob("*.*/result.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        if only and told["task"] not in only.replace(",", " ").split():
            continue
        to = RECORDED[told["loop"]] / told["task"]
        shutil.rmtree(to, ignore_errors=True)
        for asked in sorted(path.parent.glob("*.req.json")):
            body = json.loads(asked.read_text(encoding="utf-8"))
            file = path.parent / f"{asked.name[:3]}.ans"
            if file.exists():
                answer = answers.read(file.read_text(encoding="utf-8"))
                answers.keep(to, int(asked.name[:3]), body, answer, told["places"])
        count += 1
        print(f"{told['loop']:8} {told['task']:24} {'done' if told['done'] else 'NOT DONE'}")
    return 0 if count else 1


def prove(tasks: "list[Task]", jobs: int) -> int:
    """Holds each task's check against the package before, the reference solution, and a wrong one where there is one."""

    def one(task: Task) -> "list[str]":
        with tempfile.TemporaryDirectory(prefix="agent-bench-") as folder:
            root = pathlib.Path(folder).resolve() / task.package
            project.lay_out(task, root)
            was = judge.before(task, root)
            out = [] if judge.check(task, root, "") else ["the check has nothing to object to before"]
            for patch in sorted(task.folder.glob("wrong*.patch")):
                astray = root.parent / patch.stem
                project.lay_out(task, astray)
                project.apply(task, patch, astray)
                out += [] if judge.judge(task, astray, was, "done") else [f"{patch.name} passes"]
            return out + judge.judge(task, root, was, project.solve(task, root))

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for task, found in zip(tasks, pool.map(one, tasks)):
            wrong += bool(found)
            print(f"{'WRONG' if found else 'good ':6}{task.name:24}{task.kind}", flush=True)
            print("".join(f"      {what}\n" for what in found), end="", flush=True)
    print(f"{len(tasks)} tasks, {wrong} not as they must be")
    return 1 if wrong or not tasks else 0


def options() -> argparse.Namespace:
    env = os.environ.get
    parser = argparse.ArgumentParser(description="Real tasks on pinned packages, judged from outside.")
    parser.add_argument("--check", action="store_true", default=bool(env("CHECK")))
    parser.add_argument("--bridge", type=pathlib.Path, default=env("BRIDGE") or None)
    parser.add_argument("--record", type=pathlib.Path, default=env("RECORD") or None)
    parser.add_argument("--model", default=env("MODEL") or "")
    parser.add_argument("--base-url", default=env("BASE_URL") or "")
    parser.add_argument("--strict", action="store_true", default=bool(env("STRICT")))
    parser.add_argument("--only", default=env("ONLY") or "")
    parser.add_argument("--loop", choices=LOOPS, action="append", default=[env("LOOP")] if env("LOOP") else None)
    parser.add_argument("--jobs", type=int, default=int(env("JOBS") or 2))
    parser.add_argument("--json", type=pathlib.Path, default=env("JSON") or None)
    return parser.parse_args()


def main() -> int:
    given = options()
    if given.record:
        return record(given.record, given.only)
    fetch.fetch()
    tasks = project.load_all(given.only)
    if given.check:
        return prove(tasks, given.jobs)
    loops = given.loop or list(LOOPS)
    if loops != ["plain"] and not sextant.BINARY.exists():
        print(f"agent-bench: {sextant.BINARY} is missing; start it with make agent-bench", file=sys.stderr)
        return 1
    rows: "list[Row]" = []
    work = [(task, loop) for task in tasks for loop in loops]
    start = time.monotonic()
    # Whoever answers from files does so at once for every task.
    jobs = len(work) if given.bridge else given.jobs
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        running = {pool.submit(carry_out, given, task, loop): (task, loop) for task, loop in work}
        for ended in concurrent.futures.as_completed(running):
            task, loop = running[ended]
            try:
                row = ended.result()
            except Exception:
                row = Row(task.name, loop, [traceback.format_exc(limit=3)], counting.Figures())
            rows.append(row)
            print("\n".join(table.line(row)), flush=True)
    rows.sort(key=lambda row: (row.task, row.loop))
    print("\n" + "\n".join(table.text(rows, loops)))
    print(f"{time.monotonic() - start:.0f} s")
    if given.json:
        told = {"rows": [row.told() for row in rows], "all": table.totals(rows, loops)}
        given.json.write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return 1 if not rows or any(not row.done for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
