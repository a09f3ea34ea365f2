"""Where the answers come from: files that somebody writes, a recording, or a real model's server."""

import dataclasses
import json
import os
import pathlib
import time
import typing
import urllib.error
import urllib.request

import fingerprint
from fingerprint import Body

Answer = typing.Dict[str, typing.Any]


class Ended(Exception):
    """There is no answer: the words are for whoever runs the benchmark."""


def read(text: str) -> Answer:
    """An answer file: text, or an object with `"bridge": true`."""
    try:
        told = json.loads(text)
    except ValueError:
        return {"content": text}
    return {k: v for k, v in told.items() if k != "bridge"} if isinstance(told, dict) and told.get("bridge") else {"content": text}


class Source(typing.Protocol):
    def answer(self, number: int, body: Body) -> Answer: ...


class Bridge:
    """A request becomes a file, and waits for the file with its answer."""

    def __init__(self, folder: pathlib.Path, patience: float = 6 * 3600) -> None:
        self.folder = folder
        self.patience = patience
        folder.mkdir(parents=True, exist_ok=True)

    def answer(self, number: int, body: Body) -> Answer:
        asked = self.folder / f"{number:03d}.req.json"
        beside = asked.with_suffix(".part")
        beside.write_text(json.dumps(body, indent=1, ensure_ascii=False), encoding="utf-8")
        beside.rename(asked)
        told = self.folder / f"{number:03d}.ans"
        end = time.monotonic() + self.patience
        while not told.exists():
            if time.monotonic() > end:
                raise Ended(f"no answer to request {number} after {self.patience:.0f} s")
            time.sleep(0.05)
        return read(told.read_text(encoding="utf-8"))


@dataclasses.dataclass
class Replay:
    """The answers of a recording, in their order; what is asked otherwise than then is kept."""

    folder: pathlib.Path
    places: "dict[str, str]"
    strict: bool = False
    differ: "list[str]" = dataclasses.field(default_factory=list)

    def answer(self, number: int, body: Body) -> Answer:
        file = self.folder / f"{number:03d}.json"
        if not file.exists():
            end = self.refused_end(number, body)
            if end is None:
                raise Ended(f"the recording has no answer to call {number}")
            return {"content": end}
        kept = json.loads(file.read_text(encoding="utf-8"))
        found = fingerprint.differences(kept["asked"], fingerprint.fingerprint(body, self.places))
        self.differ += [f"call {number}, {what}" for what in found]
        if found and self.strict:
            raise Ended(f"call {number} is asked otherwise than when it was recorded: {found[0]}")
        return with_fixes(kept["answer"], {title: number for number, title in fingerprint.offers(body).items()})

    def refused_end(self, number: int, body: Body) -> "str | None":
        """The answer of a `done` that was taken when it was recorded and is not now, since a language server was late:
        the same words end the run without a call."""
        before = self.folder / f"{number - 1:03d}.json"
        last = body["messages"][-1] if body.get("messages") else {}
        if not before.exists() or "not over: " not in str(last.get("content")):
            return None
        kept = json.loads(before.read_text(encoding="utf-8"))["answer"]
        ends = [call["arguments"].get("answer") for call in kept.get("tool_calls") or [] if call["name"] == "done"]
        return ends[-1] if ends else None


def with_fixes(answer: Answer, names: "dict[str, str]") -> Answer:
    """The same answer, with the fixes that it applies named otherwise: by title in a recording, by number in a run."""
    calls = []
    for call in answer.get("tool_calls") or []:
        given = call.get("arguments")
        if call["name"] == "apply_fix" and isinstance(given, dict) and given.get("fix") in names:
            call = {**call, "arguments": {**given, "fix": names[given["fix"]]}}
        calls.append(call)
    return {**answer, "tool_calls": calls} if calls else answer


def keep(folder: pathlib.Path, number: int, body: Body, answer: Answer, places: "dict[str, str]") -> None:
    """One call of a recording: the answer, and what it was an answer to."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"asked": fingerprint.fingerprint(body, places)}
    answer = with_fixes(answer, fingerprint.offers(body))
    # One line a message, so that a recording can be read in a diff.
    lines = [json.dumps(message, ensure_ascii=False) for message in kept["asked"].pop("messages")]
    head = json.dumps(kept["asked"]["tools"], ensure_ascii=False)
    messages = ",\n    ".join(lines)
    text = f'{{"asked": {{"tools": {head},\n  "messages": [\n    {messages}]}},\n"answer": '
    (folder / f"{number:03d}.json").write_text(
        text + json.dumps(answer, ensure_ascii=False, indent=1) + "}\n", encoding="utf-8"
    )


class Passing:
    """A real model behind OpenAI's API; asked without streaming, which changes nothing of what is counted."""

    def __init__(self, base_url: str, model: str, patience: float = 3600) -> None:
        self.url = base_url.rstrip("/") + "/chat/completions"
        self.model = model
        self.patience = patience

    def answer(self, number: int, body: Body) -> Answer:
        sent = {k: v for k, v in body.items() if k not in ("stream", "stream_options")}
        sent["model"] = self.model
        headers = {"Content-Type": "application/json"}
        if os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {os.environ['OPENAI_API_KEY']}"
        request = urllib.request.Request(self.url, json.dumps(sent).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.patience) as reply:
                told = json.load(reply)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            return {"content": text[:2000], "status": error.code}
        except OSError as error:
            raise Ended(f"{self.url}: {error}") from None
        choice = told["choices"][0]
        calls = []
        for call in choice["message"].get("tool_calls") or []:
            function = call["function"]
            try:
                arguments = json.loads(function["arguments"] or "{}")
            except ValueError:
                arguments = function["arguments"]
            calls.append({"name": function["name"], "arguments": arguments})
        out: Answer = {"content": choice["message"].get("content") or ""}
        if calls:
            out["tool_calls"] = calls
        if choice.get("finish_reason") == "length":
            out["finish"] = "length"
        return out
