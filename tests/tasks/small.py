#!/usr/bin/env python3
"""Small tasks of one function, done by one model in three ways side by side, each judged from outside.

    MODEL=qwen            as in model_files.py, which fetches and serves it; MODEL_FILE=FILE serves another model file
    BASE_URL=URL          a server that speaks OpenAI's API and runs already; MODEL is then the name that it knows
    SET=first,second      the tasks: tests/tasks/small/first.txt (20), second.txt (10, kept out of sight of the prompts),
                          third.txt (12 in Rust, TypeScript and Lua); all of them without it
    WAYS=compact,bare,step  the text of the symbol; the bare prompt (the whole file, no Sextant); one JSON object a step
    ONLY=WORDS            only the tasks whose name holds these words
    OUT=FILE              where results go, one JSON line each; a run that is begun again leaves out what is there
    SHOW=1                shows what was asked and answered
    VERIFY=1              only checks the tasks: each fails before, and passes with its solution

A file of tasks: `=== name`, then `kind:`, `request:`, `at:` (the cursor is on the line that holds this text) and of
type errors `gone:` (the rule that must not be reported any more), then the file, its check and a solution. The language
is that of the file's ending; small_checks.py says how it is judged, and what its project holds.
"""

import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time
import typing
import urllib.request

import agent
import model_files
import recorder
import small_checks
from small_task import Small, read

HERE = pathlib.Path(__file__).resolve().parent / "small"
WAYS = ("compact", "bare", "step")
SETS = ("first", "second", "third")
MAX_TOKENS = 1500
BARE = "Here is the file {name}:\n```{language}\n{text}```\n\n{request}\n\nReply with the whole new file in one code fence."
FENCE = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)


def bare(url: str, model: str, task: Small, patience: float) -> str:
    """The whole file, as the model gives it for a prompt without anything else."""
    prompt = BARE.format(name=task.file, language=small_checks.language(task).name, text=task.text, request=task.request)
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], "temperature": 0.0, "max_tokens": MAX_TOKENS}
    body.update(stream=True, stream_options={"include_usage": True})
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    said = recorder.Call(body)
    with urllib.request.urlopen(request, timeout=patience) as answer:
        for line in answer:
            said.take(line)
    found = FENCE.search(said.text)
    return found.group(1) if found else said.text


def sextant(url: str, model: str, way: str, task: Small, place: pathlib.Path, patience: float) -> "tuple[str, str]":
    """The file after one `sextant ask` with the cursor in the function, and what it says of itself."""
    project = place / "project"
    small_checks.lay_out(task, project, task.text)
    language = small_checks.language(task)
    options: "dict[str, typing.Any]" = {"provider": "openai_compatible", "model": model, "base_url": url, "style": way}
    options.update(context=6144, stall_seconds=int(patience), max_attempts=1, temperature=0.0, max_tokens=MAX_TOKENS)
    request = [task.request, "--file", f"{task.file}:{task.line}"]
    servers, commands = language.servers, language.commands
    said = agent.run(project, place / "home", "simple", request, options, (), 8 * patience, servers, commands)
    word = "ok" if said.ok else "not ok"
    return (project / task.file).read_text(encoding="utf-8"), f"{word}: {said.words or said.stderr}"


def one(task: Small, way: str, address: str, model: str, patience: float) -> "dict[str, typing.Any]":
    """Does one task in one way and judges it."""
    show = os.environ.get("SHOW")

    def ended(call: recorder.Call) -> None:
        if show:
            print(f"--- system\n{call.prompt('system')}\n--- user\n{call.prompt('user')}\n--- reply\n{call.text}\n--- {call.usage} {call.trouble}", flush=True)

    between = recorder.Recorder(address, patience, ended)
    start = time.monotonic()
    word = ""
    try:
        if way == "bare":
            text = bare(between.url, model, task, patience)
        else:
            with tempfile.TemporaryDirectory() as place:
                text, word = sextant(between.url, model, way, task, pathlib.Path(place).resolve(), patience)
        seconds = time.monotonic() - start
    finally:
        between.close()
    why = small_checks.wrong(task, text)
    tokens = {kind: sum(call.usage.get(f"{kind}_tokens", 0) for call in between.calls) for kind in ("prompt", "completion")}
    if show:
        print(f"--- after\n{text}\n--- {word}", flush=True)
    return {
        "task": task.name, "kind": task.kind, "way": way, "done": not why, "spared": task.spared(text), "why": "; ".join(why),
        "seconds": round(seconds, 1), "model_seconds": round(sum(call.seconds for call in between.calls), 1),
        "calls": len(between.calls), **tokens, "word": word,
    }  # fmt: skip


def table(results: "list[dict[str, typing.Any]]") -> None:
    ways = [way for way in WAYS if any(result["way"] == way for result in results)]
    by = {(result["task"], result["way"]): result for result in results}
    names = list(dict.fromkeys(result["task"] for result in results))
    print(f"\n{'':38}" + "".join(f"{way:>24}" for way in ways))
    for name in names:
        cells = []
        for way in ways:
            result = by.get((name, way))
            if not result:
                cells.append(f"{'-':>24}")
                continue
            tokens = result["prompt"] + result["completion"]
            cells.append(f"{'done' if result['done'] else 'NOT':>6}{result['seconds']:>8.1f} s{tokens:>6} t")
        print(f"{name:38}" + "".join(cells))
    for way in ways:
        own = [result for result in results if result["way"] == way]
        tokens = [result["prompt"] + result["completion"] for result in own]
        print(
            f"{way:8} {sum(result['done'] for result in own)} of {len(own)} done,"
            f" the rest of the file as it was in {sum(result['spared'] for result in own)},"
            f" median {statistics.median(result['seconds'] for result in own):.1f} s"
            f" ({statistics.median(result['model_seconds'] for result in own):.1f} s of the model),"
            f" {statistics.median(tokens):.0f} tokens, {statistics.median(result['calls'] for result in own):g} calls"
        )


def verify(tasks: "list[Small]") -> int:
    bad = 0
    for task in tasks:
        before, after = small_checks.wrong(task, task.text), small_checks.wrong(task, task.solved())
        gone = not task.gone or task.gone in small_checks.reported(task, task.text)
        if not before or after or not gone:
            bad += 1
            print(f"{task.name}: before: {before}, solved: {after}" + ("" if gone else f", {task.gone} is not reported"))
    print(f"{len(tasks)} tasks, {bad} of them bad")
    return 1 if bad else 0


def work(tasks: "list[Small]", address: str, model: str) -> int:
    out = pathlib.Path(os.environ["OUT"]) if os.environ.get("OUT") else None
    ways = (os.environ.get("WAYS") or ",".join(WAYS)).split(",")
    patience = int(os.environ.get("PATIENCE") or "600")
    results = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out and out.exists() else []
    seen = {(result["task"], result["way"]) for result in results}
    for task in tasks:
        for way in ways:
            if (task.name, way) in seen:
                continue
            result = one(task, way, address, model, patience)
            results.append(result)
            print(f"{way:8} {task.name}: {'done' if result['done'] else result['why']} ({result['seconds']} s) {result['word'][:300]}", flush=True)
            if out:
                with open(out, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
    table(results)
    return 0


def main() -> int:
    sets = (os.environ.get("SET") or ",".join(SETS)).split(",")
    tasks = [task for name in sets for task in read(HERE / f"{name}.txt")]
    tasks = [task for task in tasks if (os.environ.get("ONLY") or "") in task.name]
    if os.environ.get("VERIFY"):
        return verify(tasks)
    name = os.environ.get("MODEL") or "qwen"
    if os.environ.get("BASE_URL"):
        return work(tasks, os.environ["BASE_URL"].removesuffix("/v1"), name)
    file = os.environ.get("MODEL_FILE")
    if file:
        model_files.fetch_runtime()
    path = pathlib.Path(file) if file else model_files.fetch(model_files.MODELS[name])
    with tempfile.TemporaryFile() as log:
        server, address = model_files.serve(path, log)
        try:
            return work(tasks, address, path.stem)
        finally:
            if server.stdin:
                server.stdin.close()
            server.wait(20)


if __name__ == "__main__":
    sys.exit(main())
