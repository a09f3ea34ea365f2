"""Calls and tokens of a loop, from what it sent and what it was answered; the same rules for every loop."""

import dataclasses
import json
import os
import typing

from fingerprint import Body
from wire import Call, calls_of, tokens

# What a cached token costs of a new one.
CACHED = 0.1


@dataclasses.dataclass
class Figures:
    calls: int = 0
    prompt: int = 0
    # Of the prompts, what was the beginning of the call before.
    cached: int = 0
    answer: int = 0
    # Of the prompts, the tools or the schema of the reply.
    schema: int = 0
    # Of the messages of each call that another one follows, how much the next one begins with; and their length.
    kept: int = 0
    before: int = 0

    @property
    def shared(self) -> "float | None":
        """Percent of the messages that the next call begins with, under the same tools; None for a single call."""
        return 100 * self.kept / self.before if self.before else None

    @property
    def billed(self) -> float:
        return self.prompt - self.cached + CACHED * self.cached

    def add(self, other: "Figures") -> None:
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def told(self) -> "dict[str, typing.Any]":
        return {**dataclasses.asdict(self), "billed": round(self.billed), "shared": self.shared}


def parts(body: Body) -> "tuple[str, str]":
    """The tools or the schema, and the messages, as they are sent."""
    tools = json.dumps(body.get("tools") or body.get("response_format") or "", ensure_ascii=False)
    return tools, "\n".join(json.dumps(message, ensure_ascii=False) for message in body.get("messages", []))


def count(calls: "list[Call]") -> Figures:
    out = Figures()
    last: "tuple[str, str] | None" = None
    for number, call in enumerate(calls, 1):
        tools, messages = parts(call.body)
        made = calls_of(number, call.answer)
        out.calls += 1
        out.prompt += tokens(tools) + tokens(messages)
        out.schema += tokens(tools)
        out.answer += tokens((call.answer.get("content") or "") + (json.dumps(made, ensure_ascii=False) if made else ""))
        if last is not None:
            # Providers put the tools first: where they change, nothing behind them is cached.
            same = os.path.commonprefix([last[1], messages]) if last[0] == tools else ""
            out.kept += tokens(same)
            out.before += tokens(last[1])
            out.cached += tokens(same) + tokens(os.path.commonprefix([last[0], tools]))
        last = (tools, messages)
    return out
