#!/usr/bin/env python3
"""Holds `sextant mcp` against the MCP project's own conformance suite, over HTTP and over standard input and output.

    python3 tests/clients/conformance.py

The suite speaks HTTP without a token: before the HTTP server stands a proxy that adds it, before the other one a
bridge that hands each message on as a line. Three of the tools that the suite expects of a server for its own sake
have one of ours in their place (a text, an error, progress); all else passes as it is. What does not apply is what
Sextant does not offer, and it has to be answered with the protocol's error for that.
"""

import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import packages
from editor import Failed, binary
from lines import Lines

# What applies: the protocol itself, the list of tools, and calls of them.
APPLY = [
    "server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress",
    "server-sse-multiple-streams", "dns-rebinding-protection",
]
# The rest asks for resources, prompts, completion, logging, pictures, questions to the client, or a tool with a schema
# or a broken stream of the suite's own.
NOT_OFFERED = re.compile("MCP error -3260[12]: |'json_schema_2020_12_tool' not found|server-sse-|^elicitation-sep")
# Which call stands for a tool of the suite.
STANDS_FOR = {
    "test_simple_text": ("read_file", {"path": "a.txt"}),
    "test_error_handling": ("read_file", {"path": "none.txt"}),
    "test_tool_with_progress": ("edit_file", {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}),
}
# A language server that never says anything of a text, so that an edit waits for its limit.
SILENT = """
import json, sys
while head := sys.stdin.buffer.readline():
    length = int(head.split(b":")[1])
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(length))
    if "id" in message:
        result = {"capabilities": {"textDocumentSync": 1}} if message["method"] == "initialize" else None
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        sys.stdout.write(f"Content-Length: {len(text)}\\r\\n\\r\\n{text}")
        sys.stdout.flush()
    if message["method"] == "exit":
        break
"""
OPTIONS = ["mcp", "--timeout-ms", "1500"]
PATIENCE = 120


class Forwarding(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handle):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                handle(self)

            do_GET = do_DELETE = do_POST

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def port(self):
        return self.server_address[1]


def body(request):
    """The bytes of a request, with one of our tools where one of the suite's is called."""
    given = request.rfile.read(int(request.headers.get("Content-Length") or 0))
    try:
        message = json.loads(given)
        name, arguments = STANDS_FOR[message["params"]["name"]]
    except (ValueError, KeyError, TypeError):
        return given
    message["params"].update(name=name, arguments=arguments)
    return json.dumps(message).encode()


class OverHttp:
    """The HTTP server, with a proxy that adds the token and names the server's own port where its own was named."""

    def __init__(self, folder, environment):
        self.child = subprocess.Popen([binary(), *OPTIONS, "--http", "0"], cwd=folder, env=environment, stdout=subprocess.PIPE)
        told = json.loads(self.child.stdout.readline())
        self.token, self.port = told["token"], int(told["url"].rstrip("/").rsplit(":", 1)[1])
        self.proxy = Forwarding(self.forward)
        self.url = f"http://127.0.0.1:{self.proxy.port()}/"

    def forward(self, request):
        own = re.compile(rf"(localhost|127\.0\.0\.1):{self.proxy.port()}\b")
        headers = {name.title(): own.sub(rf"\1:{self.port}", text) for name, text in request.headers.items()}
        given = body(request)
        headers.update({"Authorization": f"Bearer {self.token}", "Content-Length": str(len(given))})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(request.command, request.path, skip_host=True, skip_accept_encoding=True)
        for name, text in headers.items():
            connection.putheader(name, text)
        connection.endheaders(given)
        answer = connection.getresponse()
        request.send_response(answer.status)
        for name, text in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date"):
                request.send_header(name, text)
        request.send_header("Connection", "close")
        request.end_headers()
        try:
            while part := answer.read1(65536):
                request.wfile.write(part)
                request.wfile.flush()
        except (OSError, http.client.HTTPException):
            # One of the two has gone, as at the end of a scenario.
            pass
        connection.close()
        request.close_connection = True

    def close(self):
        self.proxy.shutdown()
        self.proxy.server_close()
        self.child.terminate()
        if self.child.wait(PATIENCE) not in (0, -15):
            raise Failed(f"the server ended with {self.child.returncode}")


class OverLines:
    """A server over standard input and output for each session, with a bridge that hands on lines."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.children = folder, environment, {}
        self.bridge = Forwarding(self.forward)
        self.url = f"http://127.0.0.1:{self.bridge.port()}/"

    def forward(self, request):
        text = body(request)
        if request.command != "POST":
            request.send_error(405)
            return
        message = json.loads(text)
        name = request.headers.get("Mcp-Session-Id")
        if name is None:
            name = f"session-{len(self.children) + 1}"
            self.children[name] = Lines([binary(), *OPTIONS], self.folder, self.environment)
        child = self.children[name]
        child.send(message)
        said = list(child.until(message["id"])) if "id" in message and "method" in message else []
        events = "".join(f"event: message\ndata: {json.dumps(each)}\n\n" for each in said).encode()
        request.send_response(200 if said else 202)
        if said:
            request.send_header("Content-Type", "text/event-stream")
        request.send_header("Mcp-Session-Id", name)
        request.send_header("Content-Length", str(len(events)))
        request.end_headers()
        request.wfile.write(events)

    def close(self):
        self.bridge.shutdown()
        self.bridge.server_close()
        ended = [child.close() for child in self.children.values()]
        if any(ended):
            raise Failed(f"servers ended with {ended}")


def scenario(main, url, name, out):
    """Whether every check of a scenario holds; else what does not."""
    command = [packages.node(), main, "server", "--url", url, "--scenario", name, "--output-dir", out / name]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    checks = [check for file in (out / name).rglob("checks.json") for check in json.loads(file.read_text())]
    wrong = [f"{check['id']} {check['status']}: {check.get('errorMessage', '')}" for check in checks if check["status"] not in ("SUCCESS", "INFO", "SKIPPED")]
    if done.returncode == 0 and checks and not wrong:
        return None
    return "; ".join(wrong) or done.stdout.decode(errors="replace")[-600:]


def scenarios(main):
    listed = subprocess.run([packages.node(), main, "list", "--server"], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    return re.findall(r"^  - (\S+)", listed.stdout.decode(), re.MULTILINE)


def judged(name, wrong):
    """Whether a scenario came out as it has to, and what is said of it."""
    if name in APPLY:
        return (False, f"FAILED: {wrong}") if wrong else (True, "ok")
    if wrong is None:
        return False, "FAILED: it applies by now, and belongs into the list"
    return (True, "not offered") if NOT_OFFERED.search(wrong) else (False, f"FAILED: {wrong}")


def main():
    program = packages.program(packages.fetch("conformance"), ".bin/conformance")
    counts = {"ok": 0, "not offered": 0, "failed": 0}
    with tempfile.TemporaryDirectory(prefix="sextant-conformance-") as beside:
        folder, config = pathlib.Path(beside) / "project", pathlib.Path(beside) / ".config" / "sextant"
        folder.mkdir()
        config.mkdir(parents=True)
        (folder / "a.txt").write_text("one\n")
        command = json.dumps([sys.executable, "-c", SILENT])
        server = f'[[servers]]\nname = "silent"\ncommand = {command}\nlanguages = ["python"]\n'
        (config / "config.toml").write_text(server)
        kept = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
        environment = {**kept, "HOME": beside}
        for way in (OverHttp, OverLines):
            (folder / "a.py").write_text("x = 1\n")
            server = way(folder, environment)
            try:
                for name in scenarios(program):
                    if way is OverLines and name.startswith(("server-sse", "dns")):
                        continue
                    held, said = judged(name, scenario(program, server.url, name, pathlib.Path(beside) / way.__name__))
                    counts[said if held else "failed"] += 1
                    print(f"conformance: {way.__name__} {name}: {said}", flush=True)
            finally:
                server.close()
    print(f"conformance: {counts['not offered']} scenarios are of what is not offered")
    print(f"conformance: {counts['ok']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
