"""A scripted model behind OpenAI's `/v1/chat/completions`: it follows a task's script, one request after the other.

A script is a generator: it is given the first question, yields a reply, and gets the next question for it. It may
look for what Sextant reports (`asked.expect`) and act on it, so that a script only comes to its end where Sextant
has said what a model needs to know. What a script does not expect is answered with an HTTP error and kept as
trouble, and the task has failed.
"""

import dataclasses
import http.server
import json
import math
import pathlib
import re
import threading
import typing

# Bytes of prose and code a token, as Sextant itself estimates.
BYTES_PER_TOKEN = 3.5


def tokens(text: str) -> int:
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)


class Unexpected(Exception):
    """The question is not the one that the script is for."""


@dataclasses.dataclass
class Asked:
    """One question as it came."""

    body: "dict[str, typing.Any]"
    # Where the work is done: a script may play somebody else who changes a file meanwhile.
    project: pathlib.Path = pathlib.Path()

    def _said(self, role: str) -> str:
        return "\n".join(m["content"] for m in self.body.get("messages", []) if m["role"] == role)

    @property
    def system(self) -> str:
        return self._said("system")

    @property
    def user(self) -> str:
        return self._said("user")

    @property
    def schema(self) -> "dict[str, typing.Any]":
        return self.body.get("response_format", {}).get("json_schema", {}).get("schema", {})

    @property
    def wants_plan(self) -> bool:
        return "steps" in self.schema.get("properties", {})

    @property
    def is_held(self) -> bool:
        """Whether the model is told that what it has done does not hold. A script is about what a model does; it
        stays by its word."""
        held = ("Result of end (failed)", "Result of check (failed)")
        return not self.wants_plan and any(words in self.user for words in held)

    @property
    def tokens(self) -> int:
        return tokens(self.system) + tokens(self.user)

    @property
    def memory(self) -> str:
        """The part of the prompt that is remembered."""
        found = re.search(r"^Memory[^\n]*:\n<(data\d*)>\n(.*?)\n</\1>", self.user, re.MULTILINE | re.DOTALL)
        return found[2] if found else ""

    def expect(self, *parts: str) -> None:
        for part in parts:
            if part not in self.user:
                raise Unexpected(f"the model was not told {part!r}; it was told: …{self.user[-700:]}")


@dataclasses.dataclass
class Reply:
    """What the model says: an object, or a text as it is."""

    said: "dict[str, typing.Any] | str"
    plan: bool = False

    def text(self, schema: "dict[str, typing.Any]") -> str:
        if isinstance(self.said, str):
            return self.said
        said = dict(self.said)
        asked_for = schema.get("properties", {})
        # A script says by name when it leaves the plan; otherwise it keeps to it.
        if "adherence" in asked_for:
            said.setdefault("adherence", 1.0)
        if "decision" in asked_for:
            said.setdefault("decision", "continue" if said.get("action") else "complete")
        return json.dumps(complete(said, schema))


def call(tool: str, last: bool = False, reasoning: str = "the request asks for it", **parameters: typing.Any) -> Reply:
    """A tool call; with `last` the model says that it is done after it."""
    action = {"tool": tool, "parameters": parameters}
    answer = "done" if last else ""
    return Reply(dict(reasoning=reasoning, action=action, **{"continue": not last}, confidence=0.9, answer=answer))


def done(answer: str = "It is done.") -> Reply:
    return Reply({"reasoning": "nothing is left", "action": None, "continue": False, "confidence": 0.9, "answer": answer})


def step(title: str, *symbols: str, because: str = "the request asks for it", expect: str = "nothing new is reported") -> "dict[str, typing.Any]":
    return {"title": title, "symbols": list(symbols), "because": because, "expect": expect}


def plan(*steps: "dict[str, typing.Any]", title: str = "A plan") -> Reply:
    reply = {"title": title, "reason": "as few steps as will do", "steps": list(steps), "confidence": 0.9}
    return Reply(reply, plan=True)


def complete(value: typing.Any, schema: "dict[str, typing.Any]") -> typing.Any:
    """Adds what the schema requires and the script leaves out, as a model that is held to the schema must."""
    if "anyOf" in schema:
        return complete(value, next((branch for branch in schema["anyOf"] if fits(value, branch)), {}))
    if isinstance(value, list):
        return [complete(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict):
        out = dict(value)
        for name, inner in schema.get("properties", {}).items():
            if name in out:
                out[name] = complete(out[name], inner)
            elif name in schema.get("required", []):
                out[name] = nothing(inner)
        return out
    return value


def fits(value: typing.Any, branch: "dict[str, typing.Any]") -> bool:
    if value is None or branch.get("type") == "null":
        return value is None and branch.get("type") == "null"
    named = branch.get("properties", {}).get("tool", {}).get("enum")
    return named is None or isinstance(value, dict) and value.get("tool") in named


def nothing(schema: "dict[str, typing.Any]") -> typing.Any:
    """The value that says least."""
    if "anyOf" in schema:
        return None if any(branch.get("type") == "null" for branch in schema["anyOf"]) else nothing(schema["anyOf"][0])
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if "null" in kinds:
        return None
    if "enum" in schema:
        return schema["enum"][0]
    if "object" in kinds:
        return complete({}, schema)
    return {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}.get(kinds[0])


Script = typing.Callable[[Asked], "typing.Generator[Reply, Asked, None]"]


class ScriptedModel:
    """A server on a free port with one script at a time."""

    def __init__(self) -> None:
        self.asked: "list[Asked]" = []
        self.trouble: "list[str]" = []
        self.project = pathlib.Path()
        self._script: "Script | None" = None
        self._running: "typing.Generator[Reply, Asked, None] | None" = None
        self._lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                status, kind, body = model.answer(Asked(json.loads(raw), model.project))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, script: Script, project: pathlib.Path) -> None:
        self.asked, self.trouble, self._script, self._running = [], [], script, None
        self.project = project

    def answer(self, asked: Asked) -> "tuple[int, str, bytes]":
        with self._lock:
            self.asked.append(asked)
            try:
                reply = done("It stays.") if asked.is_held else self._next(asked)
                if reply.plan != asked.wants_plan and not isinstance(reply.said, str):
                    wanted = "a plan" if asked.wants_plan else "a step"
                    raise Unexpected(f"{wanted} was asked for, and the script has something else: …{asked.user[-500:]}")
            except StopIteration:
                self.trouble.append(f"asked once more than the script goes: …{asked.user[-700:]}")
            except Unexpected as unexpected:
                self.trouble.append(str(unexpected))
            else:
                return 200, "text/event-stream", stream(reply.text(asked.schema), asked)
            return 400, "application/json", json.dumps({"error": {"message": self.trouble[-1][:200]}}).encode()

    def _next(self, asked: Asked) -> Reply:
        if self._script is None:
            raise StopIteration
        if self._running is None:
            self._running = self._script(asked)
            return next(self._running)
        return self._running.send(asked)

    def left(self) -> bool:
        """Whether the script has more to say than it was asked."""
        if self._running is None:
            return self._script is not None
        try:
            # A script ends with its last reply; nothing is asked after that.
            self._running.send(Asked({}))
        except (StopIteration, Unexpected):
            return False
        return True

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def stream(text: str, asked: Asked) -> bytes:
    """The answer as server-sent events; the usage is the estimate that the tables use."""

    def event(value: "dict[str, typing.Any]") -> str:
        return f"data: {json.dumps(value)}\n\n"

    pieces = [text[at : at + 40] for at in range(0, len(text), 40)]
    out = "".join(event({"choices": [{"index": 0, "delta": {"content": piece}}]}) for piece in pieces)
    out += event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    cost = tokens(text)
    usage = {"prompt_tokens": asked.tokens, "completion_tokens": cost, "total_tokens": asked.tokens + cost}
    return (out + event({"choices": [], "usage": usage}) + "data: [DONE]\n\n").encode()
