#!/usr/bin/env python3
"""Kills other pieces of work at random moments: `python3 tests/kill/kinds.py undo redo clients rename -n 200`.

- undo, redo: `sextant undo` of a plan with its edits, and `sextant redo` of that. Killed, the same command is given
  again: all of it is taken back or given again then, byte for byte.
- clients: an MCP client edits two files in turns. Killed, each file holds every edit that was answered and at most the
  one that was not, which the record has as well; an undo takes back all of them.
- rename: an MCP client renames a function that 13 files use, by a scripted language server. Killed, the next command
  leaves all files with the old name or all with the new one; with the new one where it was answered.
- engine: Helix's side of a proxy with two buffers that nobody has saved, in which a client's edits are made. Killed is
  the engine: the buffers hold every edit that was answered, the disk is as it was, and the next engine answers.

After each the record is whole, nothing of ours is left beside the files, and what is not done is said.
"""

import argparse
import contextlib
import json
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from run import Failed, Reference, Run, Tools, differences, kill_group

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))

PATIENCE = 120


class Rewound:
    """A run at one point of its life, put back to it before each kill: the record knows a workspace by its path."""

    def __init__(self, run):
        self.run = run
        self.kept = pathlib.Path(tempfile.mkdtemp(prefix="sextant-kill-kept-"))
        shutil.copytree(run.beside, self.kept / "all", symlinks=True)
        self.files = run.files()

    def again(self):
        shutil.rmtree(self.run.beside)
        shutil.copytree(self.kept / "all", self.run.beside, symlinks=True)
        return self.run

    def remove(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        self.run.remove()


class Taken:
    """`undo` or `redo` of a plan: from the texts that stand to those that it leads to."""

    def __init__(self, tools, command):
        self.command, self.reference = command, Reference(tools, repeat=1)
        run = Run(tools)
        out, _ = run.plan().communicate(timeout=300)
        if run.files() != self.reference.end:
            sys.exit(f"the plan of the {command} did not run: {out.decode(errors='replace')}")
        if command == "redo":
            run.finish("undo")
        self.start = Rewound(run)
        self.goal = self.reference.start if command == "undo" else self.reference.end
        began = time.monotonic()
        code, out = run.finish(command)
        self.duration = time.monotonic() - began
        if code != 0 or run.files() != self.goal:
            sys.exit(f"the uninterrupted {command} failed ({code}): {out}")

    def trial(self, moment):
        run = self.start.again()
        process = run.start(self.command)
        time.sleep(moment)
        over = process.poll() is not None
        kill_group(process)
        said = process.communicate()[0].decode(errors="replace")
        run.check_database()
        now = run.files()
        self.reference.check(now, f"after the kill of {self.command}")
        if over and process.returncode == 0 and now != self.goal:
            raise Failed(f"it was reported as done, and is not: {differences(now, self.goal)}\n{said}")
        stage = "over" if over else "end" if now == self.goal else "start" if now == self.start.files else "middle"
        code, out = run.finish(self.command)
        if run.files() != self.goal:
            raise Failed(f"{self.command} again ({code}), {stage}: {differences(run.files(), self.goal)}\n{out}")
        if code != 0 and "nothing to" not in out:
            raise Failed(f"{self.command} again ({code}), {stage}: {out}")
        run.check_database()
        if run.leftovers():
            raise Failed(f"left behind: {run.leftovers()}")
        back = "redo" if self.command == "undo" else "undo"
        run.finish(back)
        if run.files() != (self.reference.end if self.command == "undo" else self.reference.start):
            raise Failed(f"the {back} behind it: {run.files()}")
        return stage

    def close(self):
        self.start.remove()


class Mcp:
    """`sextant mcp` in a folder, killed with all that it has started."""

    def __init__(self, tools, folder, environment, *arguments):
        self.process = subprocess.Popen(
            [str(tools.sextant), "mcp", *arguments], cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "kill", "version": "1"}}
        self.ask("initialize", about)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()

    def answer(self):
        """The next answer; none where the server was killed."""
        while line := self.process.stdout.readline():
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if "method" not in message:
                    return message
        return None

    def ask(self, method, params):
        self.send({"id": 1, "method": method, "params": params})
        return self.answer()

    def call(self, tool, given):
        answer = self.ask("tools/call", {"name": tool, "arguments": given})
        if answer is not None and answer.get("result", {"isError": True}).get("isError"):
            raise Failed(f"{tool} was refused: {answer}")
        return answer

    def kill_at(self, moment):
        """Kills it after so many seconds, from another process: what is read here waits for nobody."""
        return subprocess.Popen(["sh", "-c", f"sleep {moment}; kill -9 -{self.process.pid}"], stderr=subprocess.DEVNULL)

    def end(self):
        kill_group(self.process)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()


class Folder:
    """A project in a home of its own, with these files."""

    def __init__(self, files, config="[diagnostics]\non_edit = false\n"):
        self.beside = pathlib.Path(tempfile.mkdtemp(prefix="sextant-kill-")).resolve()
        self.root = self.beside / "project"
        self.given, self.config = files, config
        own = self.beside / "config" / "sextant"
        own.mkdir(parents=True)
        (own / "config.toml").write_text(config)
        names = {"XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "run", "HOME": "."}
        (self.beside / "run").mkdir()
        self.environment = {**os.environ, **{name: str(self.beside / folder) for name, folder in names.items()}}
        self.root.mkdir()
        for name, text in files.items():
            (self.root / name).write_text(text)

    def files(self):
        return {name: (self.root / name).read_text() for name in self.given}

    def undo(self, tools):
        done = subprocess.run([tools.sextant, "undo"], cwd=self.root, env=self.environment, capture_output=True, timeout=PATIENCE, check=False)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    check_database = Run.check_database
    leftovers = Run.leftovers

    def database(self):
        found = list((self.beside / "state" / "sextant" / "workspaces").glob("*/memory.db"))
        return found[0] if found else self.beside / "no-memory.db"

    def remove(self):
        shutil.rmtree(self.beside, ignore_errors=True)


class Clients:
    """Edits of a client, one after the other, in two files."""

    EDITS = 24
    FILES = {name: "".join(f"line_{number} = 0\n" for number in range(40)) for name in ("a.txt", "b.txt")}

    def __init__(self, tools):
        self.tools = tools
        began = time.monotonic()
        if self.trial(None) != "over":
            sys.exit("not every edit of the uninterrupted run was made")
        self.duration = time.monotonic() - began

    def state(self, count):
        """The files after so many edits."""
        files = dict(self.FILES)
        for number in range(count):
            name, old, new = self.edit(number)
            files[name] = files[name].replace(old, new)
        return files

    def edit(self, number):
        return ("a.txt", "b.txt")[number % 2], f"line_{number} = 0\n", f"line_{number} = {number} + 1\n"

    def trial(self, moment):
        folder = Folder(self.FILES)
        try:
            return self.killed(folder, moment)
        finally:
            folder.remove()

    def killed(self, folder, moment):
        client, answered = Mcp(self.tools, folder.root, folder.environment), 0
        killer = client.kill_at(moment) if moment is not None else None
        try:
            for number in range(self.EDITS):
                name, old, new = self.edit(number)
                if client.call("edit_file", {"path": name, "old_string": old, "new_string": new}) is None:
                    break
                answered += 1
        finally:
            client.end()
            if killer:
                killer.wait()
        folder.check_database()
        now = folder.files()
        made = next((count for count in (answered, answered + 1) if now == self.state(min(count, self.EDITS))), None)
        if made is None:
            raise Failed(f"{answered} edits were answered, and the files are {now}")
        code, out = folder.undo(self.tools)
        if folder.files() != self.FILES or (made > 0 and code != 0):
            raise Failed(f"after the undo of {made} edits, {answered} answered ({code}): {out}\n{folder.files()}")
        folder.check_database()
        if folder.leftovers():
            raise Failed(f"left behind: {folder.leftovers()}")
        return "over" if answered == self.EDITS else "start" if made == 0 else "middle" if made == answered else "end"

    def close(self):
        """Nothing is kept."""


SERVER = r'''
import json, os, pathlib, re, sys
read = sys.stdin.buffer
while True:
    length = 0
    while (line := read.readline()).strip():
        length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
    if not length:
        break
    message = json.loads(read.read(length))
    method = message.get("method")
    if "id" not in message or method is None:
        continue
    result = None
    if method == "initialize":
        result = {"capabilities": {"textDocumentSync": 1, "renameProvider": True}}
    elif method == "textDocument/rename":
        changes = {}
        for path in sorted(pathlib.Path.cwd().glob("*.py")):
            edits = []
            for row, text in enumerate(path.read_text().split("\n")):
                for found in re.finditer(r"\bold_name\b", text):
                    at = lambda column: {"line": row, "character": column}
                    edits.append({"range": {"start": at(found.start()), "end": at(found.end())}, "newText": message["params"]["newName"]})
            if edits:
                changes[path.as_uri()] = edits
        result = {"changes": changes}
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
'''


class Rename:
    """A rename that changes 13 files in one edit."""

    FILES = {
        "shop.py": "def old_name(x):\n    return x\n",
        **{f"use_{number}.py": f"from shop import old_name\n\n\ndef use_{number}():\n    return old_name({number})\n" for number in range(12)},
    }

    def __init__(self, tools):
        self.tools = tools
        self.new = {name: re.sub(r"\bold_name\b", "new_name", text) for name, text in self.FILES.items()}
        self.duration = 0.0
        if self.trial(None) != "over":
            sys.exit("the uninterrupted rename changed nothing")

    def trial(self, moment):
        command = json.dumps([sys.executable, "-c", SERVER])
        folder = Folder(self.FILES, f'[diagnostics]\non_edit = false\n[[servers]]\nname = "scripted"\ncommand = {command}\n')
        try:
            return self.killed(folder, moment)
        finally:
            folder.remove()

    def killed(self, folder, moment):
        client = Mcp(self.tools, folder.root, folder.environment)
        client.call("read_file", {"path": "shop.py"})
        killer = client.kill_at(moment) if moment is not None else None
        began = time.monotonic()
        try:
            answer = client.call("rename_symbol", {"symbol": "shop.py::old_name", "new_name": "new_name"})
            self.duration = self.duration if moment is not None else time.monotonic() - began
        finally:
            client.end()
            if killer:
                killer.wait()
        folder.check_database()
        now = folder.files()
        strange = [name for name, text in now.items() if text not in (self.FILES[name], self.new[name])]
        if strange:
            raise Failed(f"cut in half: {strange}")
        stage = "over" if answer else "start" if now == self.FILES else "end" if now == self.new else "middle"
        # The next session repairs before it does anything else.
        again = Mcp(self.tools, folder.root, folder.environment)
        said = again.call("edit_file", {"path": "use_0.py", "old_string": "def use_0():", "new_string": "def use_0(y=1):"})
        again.end()
        after = {**folder.files(), "use_0.py": folder.files()["use_0.py"].replace("(y=1)", "()")}
        if after not in (self.FILES, self.new) or (answer and after != self.new):
            raise Failed(f"{stage}: some files have the new name and some the old one: {after}\n{said}")
        for _ in range(3):
            folder.undo(self.tools)
        if folder.files() != self.FILES:
            raise Failed(f"{stage}, after the undo: {folder.files()}")
        folder.check_database()
        if folder.leftovers():
            raise Failed(f"left behind: {folder.leftovers()}")
        return stage

    def close(self):
        """Nothing is kept."""


class Engine:
    """The engine behind an editor with two buffers that are not saved, whose edits a client asks for."""

    EDITS = 12
    DISK = {"a.py": "disk = 1\n", "b.py": "disk = 2\n"}
    BUFFERS = {name: "".join(f"line_{number} = 0\n" for number in range(30)) for name in DISK}

    def __init__(self, tools):
        self.tools = tools
        self.duration = 0.0
        if self.trial(None) != "over":
            sys.exit("not every edit of the uninterrupted run was made")

    edit = Clients.edit

    def trial(self, moment):
        from buffers import Buffers

        folder = Folder(self.DISK)
        editor = Buffers(self.tools.sextant, folder, self.BUFFERS)
        try:
            return self.killed(folder, editor, moment)
        finally:
            editor.close()
            folder.remove()

    def call(self, client, number):
        name, old, new = self.edit(number)
        answer = client.ask("tools/call", {"name": "edit_file", "arguments": {"path": name.replace("txt", "py"), "old_string": old, "new_string": new}})
        return answer is not None and not answer.get("result", {"isError": True}).get("isError"), answer

    def killed(self, folder, editor, moment):
        client, answered, words = Mcp(self.tools, folder.root, folder.environment), {}, []
        # The engine hears of the buffers behind the proxy's answer.
        deadline = time.monotonic() + PATIENCE
        for name in self.DISK:
            while "line_0" not in json.dumps(client.call("read_file", {"path": name})):
                if time.monotonic() > deadline:
                    raise Failed(f"the engine does not know the buffer of {name}")
        killer = subprocess.Popen(["sh", "-c", f"sleep {moment}; kill -9 {editor.engine()}"]) if moment is not None else None
        began = time.monotonic()
        try:
            for number in range(self.EDITS):
                done, answer = self.call(client, number)
                if done:
                    answered[number] = answer["result"]["content"][0]["text"]
                else:
                    words.append(json.dumps(answer))
            self.duration = self.duration if moment is not None else time.monotonic() - began
        finally:
            client.end()
            if killer:
                killer.wait()
        folder.check_database()
        if folder.files() != self.DISK:
            raise Failed(f"the disk was written under unsaved buffers: {folder.files()}")
        buffers = editor.texts()
        made = {number for number in range(self.EDITS) if self.edit(number)[2] in buffers[self.edit(number)[0].replace("txt", "py")]}
        for name, text in self.BUFFERS.items():
            for number in made:
                file, old, new = self.edit(number)
                text = text.replace(old, new) if file.replace("txt", "py") == name else text
            if buffers[name] != text:
                raise Failed(f"the buffer {name} is no text of whole edits: {buffers[name]!r}")
        if lost := {number: said for number, said in answered.items() if number not in made}:
            raise Failed(f"reported as made, and not in the buffers: {lost}; then {words[:1]}")
        # What was made without an answer is said as not known, with what to do.
        unsaid = [number for number in sorted(made - set(answered)) if not words]
        if unsaid:
            raise Failed(f"made and answered by nothing: {unsaid}")
        if moment is None and words:
            sys.exit(f"not every edit of the uninterrupted run was made: {words}")
        return "over" if len(answered) == self.EDITS and not words else "middle" if made == set(answered) else "end"

    def close(self):
        """Nothing is kept."""


KINDS = {
    "undo": lambda tools: Taken(tools, "undo"),
    "redo": lambda tools: Taken(tools, "redo"),
    "clients": Clients,
    "rename": Rename,
    "engine": Engine,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="+", choices=list(KINDS))
    parser.add_argument("-n", type=int, default=200, help="kills of each kind [200]")
    parser.add_argument("--seed", type=int, default=None, help="of the moments; printed where it is not given")
    parser.add_argument("--binary", help="the sextant binary [target/debug/sextant]")
    given = parser.parse_args()
    tools = Tools(given.binary)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 30)
    moments, failures = random.Random(seed), 0
    print(f"seed {seed}, {tools.sextant}")
    for kind in given.kinds:
        work = KINDS[kind](tools)
        print(f"{kind}: uninterrupted {work.duration:.2f} s", flush=True)
        stages = {}
        for number in range(given.n):
            moment = moments.uniform(0, work.duration)
            try:
                stage = work.trial(moment)
                stages[stage] = stages.get(stage, 0) + 1
            except (Failed, subprocess.TimeoutExpired, OSError, queue.Empty) as failure:
                failures += 1
                print(f"{kind} {number} at {moment:.3f} s: {type(failure).__name__} {failure}", flush=True)
        work.close()
        held = sum(stages.values())
        print(f"{kind}: {held} of {given.n} held; then {', '.join(f'{stage} {count}' for stage, count in sorted(stages.items()))}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(main())
