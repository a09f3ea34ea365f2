"""What a request asks, without what differs from run to run: fingerprints to compare, and differences in words."""

import hashlib
import json
import re
import typing

Body = typing.Dict[str, typing.Any]
Print = typing.Dict[str, typing.Any]

# What no two runs have alike, and what stands for it.
PASSING = (
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds?|minutes?)\b"), "N s"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "0xN"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b(?:\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?\b"), "TIME"),
    (re.compile(r"agent-bench-[a-z0-9_-]+"), "FOLDER"),
    # The number of an offered fix tells how many were looked at before it.
    (re.compile(r"^f\d+: ", re.MULTILINE), "fN: "),
    (re.compile(r"\bfix \"f\d+\""), 'fix "fN"'),
    (re.compile(r"\"fix\": ?\"f\d+\""), '"fix": "fN"'),
)
HEAD = 60


def plain(text: str, places: "dict[str, str]") -> str:
    """A text without times, identities and the folders of this run."""
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place])
    for pattern, word in PASSING:
        text = pattern.sub(word, text)
    return text


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def said(message: "dict[str, typing.Any]", ids: "dict[str, str]", places: "dict[str, str]") -> str:
    """A message as one text; identities of calls are their numbers in the order in which they appear."""
    content = message.get("content")
    parts = [content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, sort_keys=True)]
    for call in message.get("tool_calls") or []:
        number = ids.setdefault(call.get("id", ""), f"call {len(ids) + 1}")
        parts.append(f"{number}: {call['function']['name']} {call['function']['arguments']}")
    if message.get("tool_call_id"):
        parts.append(ids.setdefault(message["tool_call_id"], f"call {len(ids) + 1}"))
    return plain("\n".join(parts), places)


def fingerprint(body: Body, places: "dict[str, str]") -> Print:
    """Role, length, hash and beginning of each message, and the hash of each tool."""
    ids: "dict[str, str]" = {}
    messages = []
    for message in body.get("messages", []):
        text = said(message, ids, places)
        messages.append([message.get("role", ""), len(text), short(text), " ".join(text.split())[:HEAD]])
    tools = {}
    for tool in body.get("tools") or []:
        function = tool.get("function", tool)
        tools[function.get("name", "")] = short(json.dumps(function, sort_keys=True))
    if body.get("response_format"):
        tools["response_format"] = short(json.dumps(body["response_format"], sort_keys=True))
    return {"messages": messages, "tools": tools}


OFFER = re.compile(r"^(f\d+): (.+)$", re.MULTILINE)


def offers(body: Body) -> "dict[str, str]":
    """The offered fixes of a request, the last ones last: from number to title, without what it is for."""
    texts = [message.get("content") for message in body.get("messages", [])]
    found = [pair for text in texts if isinstance(text, str) for pair in OFFER.findall(text)]
    return {number: re.sub(r" \(for [^()]*\)$", "", title) for number, title in found}


def differences(was: Print, now: Print) -> "list[str]":
    """What is asked otherwise than before, in a line each."""
    out = []
    names = list(dict.fromkeys([*was["tools"], *now["tools"]]))
    changed = [name for name in names if was["tools"].get(name) != now["tools"].get(name)]
    if changed:
        out.append(f"tools: {', '.join(changed)}")
    for number in range(max(len(was["messages"]), len(now["messages"]))):
        old = was["messages"][number] if number < len(was["messages"]) else None
        new = now["messages"][number] if number < len(now["messages"]) else None
        if old and new and old[:3] == new[:3]:
            continue
        if old is None and new is not None:
            out.append(f"message {number + 1} is new: {new[0]}, {new[1]} characters, {new[3]!r}")
        elif new is None and old is not None:
            out.append(f"message {number + 1} is gone: {old[0]}, {old[1]} characters, {old[3]!r}")
        elif old and new:
            out.append(f"message {number + 1}: {new[0]}, {new[1]} characters instead of {old[1]}, {new[3]!r}")
    return out
