#!/usr/bin/env python3
"""Holds real clients of MCP against a running Neovim that has a file open with changes that are not saved.

    python3 tests/clients/run.py                all of them
    python3 tests/clients/run.py --light        those that need no model, which make test runs
    python3 tests/clients/run.py codex qwen     these

Each is started with the snippet that `sextant mcp --print-config` prints for it; agents ask a scripted model on this
machine. Each lists the tools, reads the buffer, edits a line that only the buffer has, and is given exactly the
diagnostics that the edit introduced; the buffer has them and stays unsaved, and an undo takes back that client's edit.
Needs `cargo build`, and the network for the clients that are missing. Ends with 1 unless all of that holds.
"""

import argparse
import json
import re
import subprocess
import sys
import time

import packages
from clients import CLIENTS, LIGHT, TOOLS
from editor import INTRODUCED, NEW, OLD, Editor, Failed


def introduced(answer):
    """The diagnostics in the data or in the text of an edit's answer, and how many were there before."""
    data = next((line for line in answer.splitlines() if line.startswith("{")), None)
    if data:
        read = json.loads(data)
        if read["diagnostics_status"] != "complete":
            raise Failed(f"not all is known: {answer}")
        return [{name: line.get(name) for name in INTRODUCED} for line in read["new_diagnostics"]], read["unchanged"]
    counts = re.search(r"^diagnostics: (\d+) new, 0 fixed, (\d+) unchanged$", answer, re.MULTILINE)
    lines = re.findall(r"^  (\w+) (\w+):(\d+) (\S+) ", answer, re.MULTILINE)
    if not counts or int(counts[1]) != len(lines):
        raise Failed(f"the text of the edit: {answer}")
    names = ("severity", "symbol", "line", "code")
    return [{**dict(zip(names, line)), "line": int(line[2]), "source": INTRODUCED["source"]} for line in lines], int(counts[2])


def hold(seen):
    if seen.tools != TOOLS:
        raise Failed(f"the tools: {seen.tools}")
    if OLD not in seen.read or NEW in seen.read or "reportReturnType" in seen.read:
        raise Failed(f"the read: {seen.read}")
    for answer in seen.edited:
        new, before = introduced(answer)
        if new != [INTRODUCED] or before != 1:
            raise Failed(f"the edit told of {new}, and {before} unchanged: {answer}")


def check(name):
    editor = Editor()
    try:
        seen = CLIENTS[name](editor.ready())
        hold(seen)
        editor.edited()
        editor.undo(seen.name)
    finally:
        editor.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--light", action="store_true", help="those that need no model: " + ", ".join(LIGHT))
    given = parser.parse_args()
    unknown = sorted(set(given.clients) - set(CLIENTS))
    if unknown:
        parser.error(f"no client {', '.join(unknown)}; there are {', '.join(CLIENTS)}")
    failed = 0
    chosen = given.clients or (LIGHT if given.light else list(CLIENTS))
    for name in chosen:
        began = time.monotonic()
        try:
            check(name)
            print(f"clients: {name} ok, {time.monotonic() - began:.0f} s", flush=True)
        except (Failed, packages.tools.Missing, OSError, subprocess.TimeoutExpired, ValueError, KeyError) as problem:
            failed += 1
            print(f"clients: {name} FAILED: {type(problem).__name__}: {problem}", flush=True)
    print(f"clients: {len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
