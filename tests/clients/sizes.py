#!/usr/bin/env python3
"""Texts of 0 to 20 MB at every door that takes one: what it answers, in what time, with how much memory.

    python3 tests/clients/sizes.py                     every door
    python3 tests/clients/sizes.py mcp rpc             those whose names begin so
    SIZES=0,9,20 python3 tests/clients/sizes.py

Each text is lines of `x = 1`, the densest there are. Each row is a process of its own; its memory is the most that all
processes of Sextant had at that door. Fails where there is no answer within a minute, where a process ends without
being asked to, where one takes more than 300 MB, and where what is refused does not say the limit.
"""

import contextlib
import json
import os
import pathlib
import queue
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from editor import Failed, Neovim, binary, clean, needed, remove
from lines import Lines

SIZES = [float(size) for size in os.environ.get("SIZES", "0,0.3,0.9,2,9,11,20").split(",")]
PATIENCE = 60
# MB of all processes of Sextant at once.
MOST = 300
LINE = "x = 1\n"


class Place:
    """A project in a home of its own, by which its processes are found."""

    def __init__(self):
        self.beside = pathlib.Path(tempfile.mkdtemp(prefix="sextant-sizes-")).resolve()
        self.root, self.home = self.beside / "project", self.beside / "home"
        for folder in (self.root, self.home / "run"):
            folder.mkdir(parents=True)
        (self.root / "pyproject.toml").write_text("")
        (self.root / "a.py").write_text("y = 1\n")
        self.environment = {**clean(self.home), "XDG_RUNTIME_DIR": str(self.home / "run")}

    def processes(self):
        """The processes of Sextant in this home."""
        mark, found = f"HOME={self.home}".encode(), []
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and (folder / "exe").readlink() == binary().resolve():
                    if mark in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
        return found

    def peak(self):
        """MB that they had at most."""
        most = 0.0
        for process in self.processes():
            with contextlib.suppress(OSError, IndexError):
                status = pathlib.Path(f"/proc/{process}/status").read_text()
                most += int(status.split("VmHWM:")[1].split()[0]) / 1024
        return most

    def close(self):
        for process in self.processes():
            with contextlib.suppress(OSError):
                os.kill(process, 15)
        remove(self.beside)


class Watch:
    """Notes the memory of a place as long as it is entered: a process may end before it is looked at."""

    def __init__(self, place):
        self.place, self.most, self.over = place, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.over.wait(0.02):
            self.most = max(self.most, self.place.peak())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.most = max(self.most, self.place.peak())


def said(answer):
    """What a tool's answer over MCP says, and whether it was refused."""
    if "error" in answer:
        return answer["error"]["message"], True
    result = answer["result"]
    return result["content"][0]["text"], bool(result.get("isError"))


def mcp(place):
    lines = Lines([binary(), "mcp"], place.root, place.environment)
    lines.begin("sizes")
    return lines


def mcp_write(place, text):
    return said(mcp(place).request("tools/call", {"name": "write_file", "arguments": {"path": "new.py", "content": text}}))


def mcp_over(place, text):
    (place.root / "a.py").write_text("y = 1\n" + text[:-12])
    lines = mcp(place)
    lines.call("read_file", {"path": "a.py", "limit": 2})
    return said(lines.request("tools/call", {"name": "write_file", "arguments": {"path": "a.py", "content": text}}))


def mcp_edit(place, text):
    lines = mcp(place)
    lines.call("read_file", {"path": "a.py"})
    edit = {"path": "a.py", "old_string": "y = 1\n", "new_string": text}
    return said(lines.request("tools/call", {"name": "edit_file", "arguments": edit}))


def mcp_quote(place, text):
    """The quoted text is large, and is in the file."""
    (place.root / "a.py").write_text(text + "y = 1\n")
    lines = mcp(place)
    edit = {"path": "a.py", "old_string": text, "new_string": ""}
    return said(lines.request("tools/call", {"name": "edit_file", "arguments": edit}))


def mcp_path(place, text):
    return said(mcp(place).request("tools/call", {"name": "read_file", "arguments": {"path": text}}))


def mcp_search(place, text):
    return said(mcp(place).request("tools/call", {"name": "search", "arguments": {"pattern": text}}))


def mcp_http(place, text):
    child = subprocess.Popen([binary(), "mcp", "--http", "0"], cwd=place.root, env=place.environment, stdout=subprocess.PIPE)
    told = json.loads(child.stdout.readline())
    port = int(told["url"].rstrip("/").rsplit(":", 1)[1])
    session = ""

    def post(message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        head = (
            f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nAuthorization: Bearer {told['token']}\r\n{session}"
            f"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return exchange(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE), head.encode(), body)

    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "sizes", "version": "1"}}
    head, _ = post({"id": 1, "method": "initialize", "params": about})
    session = "Mcp-Session-Id: " + re.search(r"(?i)mcp-session-id: *(\S+)", head)[1] + "\r\n"
    post({"method": "notifications/initialized"})
    head, body = post({"id": 2, "method": "tools/call", "params": {"name": "write_file", "arguments": {"path": "new.py", "content": text}}})
    found = [json.loads(line[5:]) for line in body.splitlines() if line.startswith("data:") and '"id":2' in line]
    return said(found[0]) if found else (head.splitlines()[0] + " " + body.strip()[:200], True)


def exchange(stream, head, body):
    """The head and the body of the answer; a server that has heard enough may close before all is sent."""
    data = bytearray()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.sendall(head + body)
    with contextlib.suppress(ConnectionResetError):
        while part := stream.recv(65536):
            data += part
    stream.close()
    head, _, body = data.decode(errors="replace").partition("\r\n\r\n")
    return head or "no answer", body


def rpc(place, method, params):
    """A call of the session of a `sextant mcp`, by its socket."""
    lines = mcp(place)
    lines.call("read_file", {"path": "a.py"})
    listed = subprocess.run([binary(), "sessions", "--json"], env=place.environment, capture_output=True, check=True, timeout=PATIENCE)
    path = json.loads(listed.stdout)["sessions"][0]["socket"]
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(PATIENCE)
    stream.connect(path)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    head, body = exchange(stream, head.encode(), body)
    try:
        answer = json.loads(body)
    except ValueError:
        return head.splitlines()[0] + " " + body[:200], True
    if "error" in answer:
        return f"{answer['error']['message']} {answer['error'].get('data', '')}", True
    return json.dumps(answer["result"])[:200], False


def rpc_edit(place, text):
    client = {"id": "1", "name": "sizes"}
    return rpc(place, "edit/call", {"tool": "write_file", "arguments": {"path": "new.py", "content": text}, "client": client})


def rpc_ask(place, text):
    return rpc(place, "agent/ask", {"request": {"text": text, "path": "a.py"}})


def rpc_plan(place, text):
    return rpc(place, "agent/plan", {"request": {"text": text, "path": "a.py"}})


def rpc_document(place, text):
    return rpc(place, "plan/set", {"markdown": "# Plan\n\n" + text})


def rpc_forget(place, text):
    return rpc(place, "memory/forget", {"text": text})


def shell(place, *arguments, text=None):
    done = subprocess.run(
        [binary(), *arguments], cwd=place.root, env=place.environment, capture_output=True, timeout=PATIENCE, check=False,
        input=text.encode() if text is not None else b"",
    )
    out = (done.stdout + done.stderr).decode(errors="replace").strip()
    if done.returncode < 0:
        raise Failed(f"it ended by signal {-done.returncode}: {out[-200:]}")
    return out, done.returncode != 0


def shell_ask(place, text):
    (place.root / "large.py").write_text(text)
    return shell(place, "ask", "fix this", "--file", "large.py")


def git(place, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=place.root, env=place.environment, check=True, capture_output=True)


def shell_diff(place, text):
    git(place, "init", "-q")
    (place.root / "large.py").write_text("y = 1\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    (place.root / "large.py").write_text(text + "(\n")
    return shell(place, "diff", "--servers", str(needed("SEXTANT_TOOLS", ".tools/venv/bin", "ruff").parent))


def shell_batch(place, text):
    place_of = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    found = [{"file": "a.py", "range": place_of, "severity": 1, "message": "x"}]
    case = {"id": 1, "files": {"a.py": {"before": text, "after": text + "z = 2\n"}}, "before": found, "after": found}
    return shell(place, "diff", "--batch", text=json.dumps(case) + "\n")


class Lsp:
    """An editor that speaks LSP, before a server of our own or the agent alone."""

    ECHO = (
        "import sys, json\n"
        "read = sys.stdin.buffer\n"
        "while True:\n"
        "    length = 0\n"
        "    while (line := read.readline()).strip():\n"
        "        length = int(line.split(b':')[1]) if line.lower().startswith(b'content-length') else length\n"
        "    if not length: break\n"
        "    message = json.loads(read.read(length))\n"
        "    if 'id' in message and 'method' in message:\n"
        "        result = {'capabilities': {'textDocumentSync': 1}} if message['method'] == 'initialize' else None\n"
        "        body = json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}).encode()\n"
        "        sys.stdout.buffer.write(b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)\n"
        "        sys.stdout.buffer.flush()\n"
    )

    def __init__(self, place, proxied):
        server = ["--", sys.executable, "-c", self.ECHO] if proxied else []
        self.child = subprocess.Popen([binary(), "lsp", *server], cwd=place.root, env=place.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answers, self.next, self.root, self.words = queue.Queue(), 0, place.root, []
        threading.Thread(target=self.read, daemon=True).start()
        uri = place.root.as_uri()
        about = {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": [{"name": "p", "uri": uri}], "capabilities": {"window": {"showDocument": {"support": True}}}, "clientInfo": {"name": "helix", "version": "25.07.1"}}
        self.request("initialize", about)
        self.send({"method": "initialized", "params": {}})

    def read(self):
        stream = self.child.stdout
        with contextlib.suppress(OSError, ValueError):
            while True:
                length = 0
                while (line := stream.readline()).strip():
                    if line.lower().startswith(b"content-length"):
                        length = int(line.split(b":")[1])
                if not length:
                    break
                message = json.loads(stream.read(length))
                if "method" not in message:
                    self.answers.put(message)
                elif "id" in message:
                    # A request without words opens a page to write it in.
                    if message["method"] == "window/showDocument":
                        self.words.append(f"shows {message['params']['uri'].rsplit('/', 1)[1]}")
                    self.send({"id": message["id"], "result": None})
                elif message["method"] == "window/showMessage" and " serves " not in message["params"]["message"]:
                    self.words.append(message["params"]["message"])
        self.answers.put(None)

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.child.stdin.flush()

    def request(self, method, params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        while True:
            answer = self.answers.get(timeout=PATIENCE)
            if answer is None:
                raise Failed(f"the proxy has ended: {self.words}")
            if answer.get("id") == self.next:
                return answer

    def open(self, text):
        uri = (self.root / "a.py").as_uri()
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "python", "version": 0, "text": text}}})
        self.send({"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri, "version": 1}, "contentChanges": [{"text": text + "z = 2\n"}]}})
        return {"textDocument": {"uri": uri}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "context": {"diagnostics": []}}

    def command(self, name, *arguments):
        self.request("workspace/executeCommand", {"command": name, "arguments": list(arguments)})
        deadline = time.monotonic() + PATIENCE
        while not self.words:
            if time.monotonic() > deadline:
                return "no word", False
            time.sleep(0.02)
        return " / ".join(self.words), False


def lsp_open(place, text, proxied=False):
    lsp = Lsp(place, proxied)
    answer = lsp.request("textDocument/codeAction", lsp.open(text))
    return (answer["error"]["message"], True) if "error" in answer else (" / ".join(lsp.words) or "done", False)


def lsp_proxied(place, text):
    return lsp_open(place, text, True)


def lsp_edit(place, text):
    """The agent asked about a buffer of that size, with changes that are not saved."""
    lsp = Lsp(place, False)
    lsp.open(text)
    return lsp.command("agent.ask", "fix a.py")


def lsp_ask(place, text):
    lsp = Lsp(place, False)
    lsp.open("y = 1\n")
    return lsp.command("agent.ask", text)


class Nvim(Neovim):
    def __init__(self, place):
        environment = {"SEXTANT_TRIAL_OWN": "a.py", "SEXTANT_TRIAL_MODEL": "http://127.0.0.1:9/v1", "XDG_RUNTIME_DIR": str(place.home / "run")}
        super().__init__(place.root, place.home, place.beside / "nvim", "trial.lua", environment)
        self.ready()

    def asked(self, code):
        """What the answer window says of what this code has asked."""
        wait = (
            "(function() local over = nil "
            "vim.api.nvim_create_autocmd('User', { pattern = { 'SextantFinished', 'SextantFailed' }, once = true, "
            "callback = function(args) over = args.data end }) " + code + " "
            "local function refused() return vim.fn.execute('messages'):match('[^\\n]*requests of up to[^\\n]*') end "
            f"vim.wait({PATIENCE}000, function() return over ~= nil or refused() ~= nil end, 10) "
            "if not over and refused() then return refused() end "
            "return over and (over.summary or over.failure.message) or 'no end' end)()"
        )
        word = self.lua(wait)
        if word == "no end":
            raise Failed("no end within a minute")
        return word, False


def nvim_ask(place, text):
    (place.beside / "request").write_text(text)
    nvim = Nvim(place)
    try:
        return nvim.asked(f"vim.cmd.AgentAsk({{ args = {{ (table.concat(vim.fn.readfile('{place.beside}/request'), ' ')) }} }})")
    finally:
        nvim.close()


def nvim_buffer(place, text):
    (place.root / "large.py").write_text(text)
    nvim = Nvim(place)
    try:
        return nvim.asked("vim.cmd.edit('large.py') vim.cmd.AgentAsk('fix this')")
    finally:
        nvim.close()


DOORS = {
    "mcp write_file, new": mcp_write,
    "mcp write_file, over another": mcp_over,
    "mcp edit_file, new_string": mcp_edit,
    "mcp edit_file, old_string": mcp_quote,
    "mcp read_file, path": mcp_path,
    "mcp search, pattern": mcp_search,
    "mcp --http write_file": mcp_http,
    "rpc edit/call write_file": rpc_edit,
    "rpc agent/ask": rpc_ask,
    "rpc agent/plan": rpc_plan,
    "rpc plan/set": rpc_document,
    "rpc memory/forget": rpc_forget,
    "shell ask --file": shell_ask,
    "shell diff": shell_diff,
    "shell diff --batch": shell_batch,
    "lsp buffer, agent alone": lsp_open,
    "lsp buffer, before a server": lsp_proxied,
    "lsp agent.ask on a buffer": lsp_edit,
    "lsp agent.ask, request": lsp_ask,
    "nvim :AgentAsk, request": nvim_ask,
    "nvim :AgentAsk in a buffer": nvim_buffer,
}
# What a refusal for size has to have in it.
LIMIT = re.compile(r"\d+\s*(MB|KB|kB|bytes|characters|lines)|too (large|long|big)", re.I)


def measure(name, size):
    text = LINE * int(size * (1 << 20) / len(LINE))
    place, problem = Place(), ""
    began = time.monotonic()
    try:
        with Watch(place) as watch:
            try:
                word, refused = DOORS[name](place, text)
            except (queue.Empty, TimeoutError, subprocess.TimeoutExpired):
                word, refused, problem = "", True, f"no answer within {PATIENCE} s"
            except (Failed, EOFError, OSError, KeyError) as failure:
                word, refused, problem = "", True, f"{type(failure).__name__}: {failure}"
            took = time.monotonic() - began
    finally:
        place.close()
    if not problem and watch.most > MOST:
        problem = f"more than {MOST} MB"
    if not problem and refused and size > 10 and not LIMIT.search(word):
        problem = "it does not say the limit"
    word = " ".join(word.split())
    word = word if len(word) <= 110 else word[:70] + " … " + word[-37:]
    print(f"{name:<30}{size:>6} MB{took:>8.2f} s{watch.most:>7.0f} MB  {'refused: ' if refused else ''}{word}{'  <-- ' + problem if problem else ''}", flush=True)
    return problem


def main():
    chosen = [name for name in DOORS if not sys.argv[1:] or any(name.startswith(given) for given in sys.argv[1:])]
    print(f"texts of lines `x = 1` at {len(chosen)} doors, {binary()}")
    problems = [problem for name in chosen for size in SIZES if (problem := measure(name, size))]
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
