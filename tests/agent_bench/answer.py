#!/usr/bin/env python3
"""answer.py FOLDER < ANSWER: answers the request that waits, then prints the next one, or how the run ended.

The answer is text, or Python or JSON of calls: [["read_file", {"path": "a.py"}], …], optionally after a text and a line
with nothing but `---`.
"""

import ast
import json
import pathlib
import sys

import next as viewer


def calls(text: str) -> "list[dict[str, object]] | None":
    try:
        told = json.loads(text)
    except ValueError:
        try:
            told = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            return None
    if not (isinstance(told, list) and told and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in told)):
        return None
    return [{"name": name, "arguments": arguments} for name, arguments in told]


def answer(text: str) -> str:
    content, divider, rest = text.rpartition("\n---\n")
    made = calls(rest if divider else text)
    if made is None:
        return text
    return json.dumps({"bridge": True, "content": content, "tool_calls": made}, ensure_ascii=False)


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    asked = viewer.waiting(folder)
    if asked is None:
        print("no request waits", file=sys.stderr)
        return 1
    text = sys.stdin.read()
    looks = text.lstrip().startswith(("[[", "[ [", "[(", "[\n"))
    if looks and calls(text) is None:
        print("this looks like calls, and is neither JSON nor Python: nothing was sent", file=sys.stderr)
        return 1
    told = folder / f"{asked.name[:3]}.ans"
    beside = told.with_suffix(".part")
    beside.write_text(answer(text), encoding="utf-8")
    beside.rename(told)
    sys.argv[2:] = sys.argv[2:] or ["120"]
    return viewer.main()


if __name__ == "__main__":
    sys.exit(main())
