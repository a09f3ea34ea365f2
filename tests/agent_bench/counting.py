"""Calls and tokens of a loop, from what it sent and what it was answered; the same rules for every loop."""

import dataclasses
import json
import os
import typing

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
    # Of each prompt that another one follows, how much the next one begins with; and their length.
    kept: int = 0
    before: int = 0

    @property
    def shared(self) -> "float | None":
        """Percent of a prompt that the next one begins with; None where no call follows another."""
        return 100 * self.kept / self.before if self.before else None

    @property
    def billed(self) -> float:
        return self.prompt - self.cached + CACHED * self.cached

    def add(self, other: "Figures") -> None:
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def told(self) -> "dict[str, typing.Any]":
        return {**dataclasses.asdict(self), "billed": round(self.billed), "shared": self.shared}


def count(calls: "list[Call]") -> Figures:
    out = Figures()
    last = ""
    for number, call in enumerate(calls, 1):
        # Providers put the tools first: where they change, nothing behind them is cached.
        tools = json.dumps(call.body.get("tools") or call.body.get("response_format") or "", ensure_ascii=False)
        said = [json.dumps(message, ensure_ascii=False) for message in call.body.get("messages", [])]
        sent = "\n".join([tools, *said])
        same = os.path.commonprefix([last, sent])
        made = calls_of(number, call.answer)
        out.calls += 1
        out.prompt += tokens(sent)
        out.cached += tokens(same) if last else 0
        out.schema += tokens(tools)
        out.answer += tokens((call.answer.get("content") or "") + (json.dumps(made, ensure_ascii=False) if made else ""))
        if last:
            out.kept += tokens(same)
            out.before += tokens(last)
        last = sent
    return out
