#!/usr/bin/env python3
"""next.py FOLDER [SECONDS]: waits for the next request without an answer and prints what is new in it; tools once."""

import json
import pathlib
import sys
import time


def waiting(folder: pathlib.Path) -> "pathlib.Path | None":
    for asked in sorted(folder.glob("*.req.json")):
        if not (folder / f"{asked.name[:3]}.ans").exists():
            return asked
    return None


def show(folder: pathlib.Path, asked: pathlib.Path) -> None:
    number = int(asked.name[:3])
    body = json.loads(asked.read_text(encoding="utf-8"))
    before = folder / f"{number - 1:03d}.req.json"
    old = json.loads(before.read_text(encoding="utf-8")) if before.exists() else {"messages": []}
    messages = body["messages"]
    same = 0
    while same < min(len(old["messages"]), len(messages)) and old["messages"][same] == messages[same]:
        same += 1
    print(f"=== request {number}: {len(messages)} messages, the first {same} as before")
    for key in ("tools", "response_format"):
        if body.get(key) and body[key] != old.get(key):
            print(f"--- {key}{' (changed)' if old.get(key) else ''}")
            for one in body[key] if isinstance(body[key], list) else [body[key]]:
                function = one.get("function", one)
                if "parameters" not in function:
                    print(json.dumps(function, ensure_ascii=False))
                    continue
                told = function["parameters"]
                needed = told.get("required", [])
                parts = [name if name in needed else f"{name}?" for name in told.get("properties", {})]
                print(f"{function['name']}({', '.join(parts)}) - {function.get('description', '')}")
                print(f"    {json.dumps(told.get('properties', {}), ensure_ascii=False)}")
    for message in messages[same:]:
        content = message.get("content")
        print(f"--- {message['role']} {message.get('tool_call_id', '')}".rstrip())
        if content is not None:
            print(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1))
        for call in message.get("tool_calls") or []:
            print(f"   -> {call['function']['name']} {call['function']['arguments']}")


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    end = time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else 120)
    while time.monotonic() < end:
        asked = waiting(folder)
        if asked:
            show(folder, asked)
            return 0
        if (folder / "result.json").exists():
            print("=== the run is over")
            print((folder / "result.json").read_text(encoding="utf-8"))
            return 0
        time.sleep(0.1)
    print("nothing yet")
    return 1


if __name__ == "__main__":
    sys.exit(main())
