#!/usr/bin/env python3
"""Two Neovims, two MCP clients and a shell at work in one workspace at once.

    TRIAL_N=500 python3 tests/clients/trial.py

N edits are made in all, interleaved as it comes, on files that are open in both Neovims, in one of them with changes
that are not saved, and in none. An edit changes a number on a line of its agent's own, and each third one introduces
an undefined name or takes it away again. Every answer has to tell of that and of nothing else (the outcome of a shell's
task is of its whole time, and so of what others did in files that are open there); what is refused has to
be for a reason that the agent can act upon, and is tried again. At the end every acknowledged edit stands in buffer
and file, what the users typed is there, and an undo takes back one client after the other and nothing beside.
TRIAL_SEED chooses the order.
"""

import collections
import http.server
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

from editor import Failed, Neovim, binary, clean, remove, sextant
from lines import Lines

AGENTS = ["first", "second", "shell"]
FILES = ["shared.py", "one.py", "two.py", "disk.py"]
# Reasons for which an agent tries again.
AGAIN = re.compile(
    r"changed since it was read|changed meanwhile|has changed|is busy|already runs|runs already|changed on disk|working in this workspace"
    r"|being changed|another process|is open in|unsaved changes"
)
# How often one edit is tried.
TRIES = 60
PATIENCE = 180


def line(agent, value, broken):
    return f"{agent} = [{value}, {'missing' if broken else 'None'}]"


def start():
    """A file: a line for each agent, with room between, so that no two edits touch."""
    return "\n".join(f"# of {agent}\n{line(agent, 0, False)}\n\n\n" for agent in AGENTS) + "# the end\n"


class Model:
    """Says the edit whose number a request names, once, and is done then."""

    def __init__(self):
        self.edits, self.asked = {}, collections.Counter()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                body = json.loads(text)
                says = json.dumps(model.says(text))
                about = {"id": "1", "created": 1, "model": "scripted"}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                if body.get("stream"):
                    delta = {"index": 0, "delta": {"role": "assistant", "content": says}, "finish_reason": "stop"}
                    part = {**about, "object": "chat.completion.chunk", "choices": [delta], "usage": usage}
                    data, kind = f"data: {json.dumps(part)}\n\ndata: [DONE]\n\n", "text/event-stream"
                else:
                    choice = {"index": 0, "message": {"role": "assistant", "content": says}, "finish_reason": "stop"}
                    data, kind = json.dumps({**about, "object": "chat.completion", "choices": [choice], "usage": usage}), "application/json"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data.encode())))
                self.end_headers()
                self.wfile.write(data.encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def says(self, text):
        numbers = [int(number) for number in re.findall(r"edit number (\d+)", text)]
        step = {"action": None, "reasoning": "It is done.", "continue": False, "confidence": 1, "answer": "done"}
        # The one that is asked for now is the last; memory may speak of earlier ones.
        if numbers and not self.asked[max(numbers)]:
            self.asked[max(numbers)] += 1
            step["action"] = {"tool": "edit_file", "parameters": self.edits[max(numbers)]}
        return step

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Agent(threading.Thread):
    """Makes its share of the edits, one after the other, in the files that it may."""

    def __init__(self, trial, name, files, count, seed):
        super().__init__(name=name)
        self.trial, self.files, self.left = trial, files, count
        self.chance = random.Random(f"{seed} {name}")
        self.values = {file: (0, False) for file in files}
        self.done, self.problem = [], None
        self.refused, self.known = collections.Counter(), collections.Counter()

    def run(self):
        try:
            while self.left and not self.trial.ended.is_set():
                self.left -= 1
                self.edit(self.chance.choice(self.files))
        except Exception as problem:
            self.problem = f"{self.name}: {type(problem).__name__}: {problem}"
            self.trial.ended.set()

    def edit(self, file):
        value, broken = self.values[file]
        new = (value + 1, not broken if self.chance.randrange(3) == 0 else broken)
        given = {"path": file, "old_string": line(self.name, value, broken), "new_string": line(self.name, *new)}
        for _ in range(TRIES):
            refusal, answer = self.call(given)
            if refusal is None:
                self.hold(file, new, broken, answer)
                self.values[file] = new
                return self.done.append((file, (value, broken), len(self.trial.model.edits)))
            if not AGAIN.search(refusal):
                raise Failed(f"{file} was refused: {refusal}")
            self.refused[re.split(r"[(\n{]", refusal.lstrip("{"))[0][:90]] += 1
        raise Failed(f"{file} was refused {TRIES} times, last so: {refusal}")

    def hold(self, file, new, before, answer):
        """Exactly what the edit did to the diagnostics; nothing but that where it says that not all is known."""
        told = [(found.get("path", file), found["code"], found["line"]) for found in answer["new_diagnostics"]]
        wanted = [(file, "F821", 5 * AGENTS.index(self.name) + 2)] * int(new[1] and not before)
        fixed = int(before and not new[1])
        answered = (told, answer["fixed"])
        if self.name == "shell":
            # The outcome of a task is of its whole time: what others did in a file that it has edited, or another
            # editor in one that is open here, is in it.
            theirs = {(other, "F821", 5 * place + 2) for other in FILES for place in (0, 1)}
            beside = [one for one in told if one not in wanted and one in theirs and one[0] in (file, "shared.py", "disk.py")]
            told = [one for one in told if one not in beside]
            fixed = max(fixed, answer["fixed"])
        if [one for one in told if one not in wanted]:
            raise Failed(f"{file} from {before} to {new}, which is of somebody else: {answer}")
        # The other Neovim may have changed a file since this one last heard what is reported in it, or just now.
        if answer["diagnostics_status"] == "partial" and (told, answer["fixed"]) != (wanted, fixed):
            self.known["in part"] += 1
        elif answer["diagnostics_status"] not in ("complete", "partial") or (told, answer["fixed"]) != (wanted, fixed):
            raise Failed(f"{file} from {before} to {new}: {answered} in {answer}")
        else:
            self.known["whole"] += 1
        # What a user has not saved stays unsaved, and everything else is on the disk.
        if "saved" in answer and answer["saved"] is not (file not in ("one.py", "two.py")):
            raise Failed(f"{file}: saved is wrong: {answer}")


class Client(Agent):
    """A client of MCP."""

    def __init__(self, *given):
        super().__init__(*given)
        self.lines = Lines([binary(), "mcp"], self.trial.root, clean(self.trial.home))
        self.lines.begin(self.name)
        # The session that was used last is joined with the first call, for good.
        for file in self.files:
            self.lines.call("read_file", {"path": file})

    def call(self, given):
        result = self.lines.call("edit_file", given)
        if result.get("isError"):
            return result["content"][0]["text"], None
        return None, result["structuredContent"]


class Shell(Agent):
    """Somebody in a terminal: a process for each edit, in the session that they name."""

    def call(self, given):
        number = len(self.trial.model.edits) + 1
        self.trial.model.edits[number] = given
        file = given["path"]
        session = self.trial.sessions[{"one.py": 0, "two.py": 1}.get(file, number % 2)]
        command = [binary(), "ask", f"make edit number {number}", "--file", file, "--session", session, "--json"]
        done = subprocess.run(command, cwd=self.trial.root, env=clean(self.trial.home), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        lines = done.stdout.decode().splitlines()
        try:
            ended = json.loads(lines[-1])
        except (IndexError, ValueError):
            return done.stderr.decode() or done.stdout.decode(), None
        outcome = ended.get("outcome")
        if not outcome:
            return json.dumps(ended), None
        if file not in outcome["files"]:
            return json.dumps(outcome) + done.stdout.decode()[-2000:], None
        return None, {name: outcome[name] for name in ("new_diagnostics", "fixed", "diagnostics_status")}


class Trial:
    def __init__(self, count, seed):
        self.beside = pathlib.Path(tempfile.mkdtemp(prefix="sextant-trial-")).resolve()
        self.root, self.home = self.beside / "project", self.beside / "home"
        for folder in (self.root, self.home):
            folder.mkdir()
        (self.root / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
        for file in FILES:
            (self.root / file).write_text(start())
        self.count, self.seed = count, seed
        self.ended = threading.Event()
        self.model, self.neovims, self.sessions, self.agents, self.typed = Model(), [], [], [], [1, 1]

    def begin(self):
        share = [self.count // 3, self.count // 3, self.count - 2 * (self.count // 3)]
        for number, (own, kind) in enumerate((("one.py", "first"), ("two.py", "second"))):
            variables = {"SEXTANT_TRIAL_OWN": own, "SEXTANT_TRIAL_MODEL": self.model.url}
            neovim = Neovim(self.root, self.home, self.beside / f"nvim{number}", "trial.lua", variables)
            self.neovims.append(neovim)
            neovim.ready()
            listed = json.loads(sextant(self.root, self.home, "sessions", "--json"))["sessions"]
            new = [entry["name"] for entry in listed if entry["root"] == str(self.root) and entry["name"] not in self.sessions]
            self.sessions += new
            self.agents.append(Client(self, kind, ["shared.py", own, "disk.py"], share[number], self.seed))
        self.agents.append(Shell(self, "shell", FILES, share[2], self.seed))

    def work(self):
        for agent in self.agents:
            agent.start()
        began = time.monotonic()
        while any(agent.is_alive() for agent in self.agents):
            for number, neovim in enumerate(self.neovims):
                neovim.lua(f"_G.type_a_line('# typed {self.typed[number]}')")
                self.typed[number] += 1
            if self.ended.wait(0.5):
                break
        for agent in self.agents:
            agent.join(PATIENCE)
        problems = [agent.problem for agent in self.agents if agent.problem]
        if not problems and any(2 * agent.known["whole"] < len(agent.done) for agent in self.agents):
            problems = [f"what is reported was seldom known: {[dict(agent.known) for agent in self.agents]}"]
        if problems:
            raise Failed("\n".join(problems))
        return time.monotonic() - began

    def wanted(self, file):
        text = start()
        for agent in self.agents:
            if file in agent.values:
                text = text.replace(line(agent.name, 0, False), line(agent.name, *agent.values[file]))
        if file in ("one.py", "two.py"):
            text += "".join(f"# typed {number}\n" for number in range(self.typed[FILES.index(file) - 1]))
        return text

    def hold(self, when):
        """Buffers and files have every acknowledged edit, and all that was typed."""
        for neovim in self.neovims:
            if neovim.lua("_G.look_at_the_disk('shared.py')"):
                raise Failed(f"{when}: shared.py has unsaved changes")
        texts = {
            "shared.py in the first": (self.neovims[0].text("shared.py"), "shared.py"),
            "shared.py in the second": (self.neovims[1].text("shared.py"), "shared.py"),
            "one.py": (self.neovims[0].text("one.py"), "one.py"),
            "two.py": (self.neovims[1].text("two.py"), "two.py"),
            "shared.py on the disk": ((self.root / "shared.py").read_text(), "shared.py"),
            "disk.py": ((self.root / "disk.py").read_text(), "disk.py"),
        }
        for name, (text, file) in texts.items():
            if text != self.wanted(file):
                raise Failed(f"{when}: {name} is\n{text}\nand should be\n{self.wanted(file)}")
        for file in ("one.py", "two.py"):
            if (self.root / file).read_text() != start():
                raise Failed(f"{when}: {file} was saved, which is the user's to do")

    def undo(self):
        """Takes back everything, a task at a time, each in the session that it was done in."""
        undone = collections.Counter()
        while any(agent.done for agent in self.agents):
            said, problems = None, []
            for session in self.sessions:
                try:
                    said = sextant(self.root, self.home, "undo", "--session", session)
                    break
                except Failed as refusal:
                    problems.append(str(refusal))
            if said is None:
                raise Failed("\n".join([f"after {dict(undone)}:", *problems]))
            name = next((name for name in ("first", "second") if f"edits of {name}" in said), "shell")
            agent = self.agents[AGENTS.index(name)]
            if name == "shell":
                number = int(re.search(r"make edit number (\d+)", said)[1])
                file, before = next((file, before) for file, before, made in agent.done if made == number)
                newer = [made for other, _, made in agent.done if other == file and made > number]
                if newer:
                    raise Failed(f"number {number} of {file} was undone before {newer}: {said}")
                agent.done = [one for one in agent.done if one[2] != number]
                agent.values[file] = before
            else:
                agent.done.clear()
                agent.values = {file: (0, False) for file in agent.files}
            undone[name] += 1
            if name != "shell" or not agent.done:
                self.hold(f"after the undo of {name}")
        return undone

    def close(self):
        self.ended.set()
        for agent in self.agents:
            if agent.is_alive():
                agent.join(PATIENCE)
            if isinstance(agent, Client):
                agent.lines.close()
        for neovim in self.neovims:
            neovim.close()
        self.model.close()
        remove(self.beside)


def main():
    count, seed = int(os.environ.get("TRIAL_N", "30")), os.environ.get("TRIAL_SEED", "1")
    trial = Trial(count, seed)
    try:
        trial.begin()
        took = trial.work()
        trial.hold("after the edits")
        made = {agent.name: len(agent.done) for agent in trial.agents}
        refused = sum((agent.refused for agent in trial.agents), collections.Counter())
        undone = trial.undo()
    except Failed as problem:
        print(f"trial: seed {seed}: {problem}\ntrial: 0 passed, 1 failed")
        return 1
    finally:
        trial.close()
    known = {agent.name: dict(agent.known) for agent in trial.agents}
    print(f"trial: {count} edits in {took:.0f} s: {made}; diagnostics known: {known}; undone: {dict(undone)}")
    for why, times in refused.most_common():
        print(f"trial: refused and tried again {times} times: {why}")
    print("trial: 1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
