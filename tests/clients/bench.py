#!/usr/bin/env python3
"""What a call from outside costs, over every way in, measured from the outside; the client's own time is in it.

    SEXTANT_CLIENTS_BINARY=target/release/sextant python3 tests/clients/bench.py

Prints times, sizes and what the documentation promises of them, and fails for sizes alone: the machine may be busy.
"""

import base64
import http.client
import json
import math
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

from editor import REPOSITORY, Failed, binary, clean, remove
from fuzz import Place, RpcHttp, frame, memory
from lines import Lines

STARTS = 30
CALLS = int(os.environ.get("BENCH_CALLS", "1000"))
CONNECTIONS, MANY = 100, 10_000
EDITS = 10_000
# How much a server may grow over that many calls, in MB.
FLAT = 16
NUMBERS = "".join(f"value_{number} = {number}\n" for number in range(200))
SHOP = (
    "def price(name: str) -> int:\n    return len(name)\n\n\ndef total(names: list[str]) -> int:\n"
    "    return sum(price(name) for name in names)\n"
)
WORSE = "return sum(price(name) for name in names) + undefined_one + [].nothing + price(3)"


def tokens(text):
    """As Sextant estimates them: 3.5 bytes each."""
    return math.ceil(len(text.encode()) / 3.5)


def row(name, times, unit="ms", goal=""):
    ordered = sorted(times)
    late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    print(f"  {name:<46} median {statistics.median(times):>8.2f} {unit}, p99 {late:>8.2f} {unit} ({len(times)} times){goal}", flush=True)


def timed(work, count):
    times = []
    for number in range(count):
        began = time.perf_counter()
        work(number)
        times.append((time.perf_counter() - began) * 1000)
    return times


def starts(place):
    def one(_):
        lines = Lines([binary(), "mcp"], place.root, clean(place.home))
        lines.begin("bench")
        listed.append(lines.request("tools/list", {})["result"]["tools"])
        taken.append((time.perf_counter() - begun[-1]) * 1000)
        lines.close()

    listed, taken, begun = [], [], []
    for _ in range(STARTS):
        begun.append(time.perf_counter())
        one(0)
    row("start of sextant mcp to its list of tools", taken, goal=", goal 100 ms")
    return listed[0]


def edits(place, lines):
    """Round trips of edits where nothing is checked: what is left is Sextant's own work."""

    def one(number):
        place_of = number % 200
        old, new = lines_of[place_of], f"value_{place_of} = {number} or {place_of}\n"
        lines_of[place_of] = new
        done = lines.call("edit_file", {"path": "a.txt", "old_string": old, "new_string": new})
        if done.get("isError"):
            raise Failed(f"edit {number}: {done}")

    lines_of = [f"value_{number} = {number}\n" for number in range(200)]
    first = timed(one, 400)
    row("edit_file over mcp, without diagnostics", first[200:], goal=", goal 5 ms")
    at_first = memory(lines.child.pid)
    rest = [timed(lambda number: one(number + 400 + part * 800), 800) for part in range(int(os.environ.get("BENCH_EDITS", EDITS)) // 800)]
    grown = memory(lines.child.pid) - at_first
    if rest:
        row("the last of many edits", rest[-1])
        print(f"  {'memory over ' + str(800 * len(rest)) + ' edits':<46} {at_first:.0f} MB and {grown:+.1f} MB", flush=True)
    return grown


class Socket:
    """A WebSocket to a session."""

    def __init__(self, server):
        self.stream = server.connect()
        key = base64.b64encode(b"0123456789abcdef").decode()
        head = f"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        self.stream.sendall(head.encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self.stream.recv(1)

    def call(self, method, params):
        self.stream.sendall(frame(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode(), 0x81))
        while True:
            kind, length = self.take(2)
            if length == 126:
                (length,) = struct.unpack("!H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.take(8))
            text = self.take(length)
            if kind == 0x81:
                answer = json.loads(text)
                if "result" not in answer:
                    raise Failed(f"{method}: {answer}")
                return answer["result"]

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.stream.recv(count - len(data))
            if not part:
                raise Failed("the connection has ended")
            data += part
        return data


READ = {"path": "a.txt", "limit": 5}


def rpc(server):
    call = {"tool": "read_file", "arguments": READ, "client": {"id": "bench", "name": "bench"}}
    one = Socket(server)
    row("read_file over the session's socket, WebSocket", timed(lambda _: one.call("edit/call", call), CALLS))
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "edit/call", "params": call}).encode()
    row("read_file over the session's socket, HTTP", timed(lambda _: server.post(body), CALLS))
    # The rate limit is a matter of one connection: many share the calls.
    row("session/info over the session's socket", timed(lambda _: one.call("session/info", {}), min(CALLS, 500)))
    at_first, times, problems = memory(server.process), [], []

    def work():
        try:
            mine = Socket(server)
            times.extend(timed(lambda _: mine.call("session/info", {}), MANY // CONNECTIONS))
        except (Failed, OSError) as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, grown = time.perf_counter() - began, memory(server.process) - at_first
    if problems or len(times) != MANY:
        raise Failed(f"{len(times)} of {MANY} calls were answered: {problems[:3]}")
    row(f"{CONNECTIONS} connections at once, session/info", times)
    print(f"  {f'{MANY} calls over {CONNECTIONS} connections':<46} {took:.1f} s; memory {at_first:.0f} MB and {grown:+.1f} MB", flush=True)
    return grown


def over_http(place):
    child = subprocess.Popen([binary(), "mcp", "--http", "0"], cwd=place.root, env=clean(place.home), stdout=subprocess.PIPE)
    try:
        told = json.loads(child.stdout.readline())
        port = int(told["url"].rstrip("/").rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Authorization": f"Bearer {told['token']}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

        def post(message):
            connection.request("POST", "/", json.dumps({"jsonrpc": "2.0", **message}), headers)
            answer = connection.getresponse()
            return answer, answer.read()

        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        answer, _ = post({"id": 1, "method": "initialize", "params": about})
        headers["Mcp-Session-Id"] = answer.getheader("Mcp-Session-Id")
        post({"method": "notifications/initialized"})
        call = {"id": 2, "method": "tools/call", "params": {"name": "read_file", "arguments": READ}}
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        post(call)
        row("read_file over mcp, HTTP", timed(lambda _: post(call), CALLS))
    finally:
        child.terminate()
        child.wait()
        child.stdout.close()


def answers(place, listed):
    size = tokens(json.dumps(listed, separators=(",", ":"), ensure_ascii=False))
    servers = pathlib.Path(os.environ.get("SEXTANT_TOOLS", str(REPOSITORY / ".tools/venv/bin")))
    lines = Lines([binary(), "mcp", "--servers", servers, "--timeout-ms", "120000"], place.root, clean(place.home))
    lines.begin("bench")
    lines.call("read_file", {"path": "shop.py"})
    edited = lines.call("edit_file", {"path": "shop.py", "old_string": "return sum(price(name) for name in names)", "new_string": WORSE})
    lines.close()
    found, text = len(edited["structuredContent"]["new_diagnostics"]), edited["content"][0]["text"]
    data = tokens(json.dumps(edited["structuredContent"], separators=(",", ":"), ensure_ascii=False))
    print(f"  {'the list of tools':<46} {size} tokens, goal 1,200")
    print(f"  {f'an edit with {found} new diagnostics':<46} {tokens(text)} tokens as text, goal 150; {data} as data")
    return size <= 1200 and found >= 3 and tokens(text) <= 150


def main():
    print(f"calls from outside, {binary()}")
    place = Place()
    held = []
    try:
        (place.root / "a.txt").write_text(NUMBERS)
        (place.root / "shop.py").write_text(SHOP)
        listed = starts(place)
        held.append(answers(place, listed))
        config = place.home / ".config" / "sextant"
        config.mkdir(parents=True)
        (config / "config.toml").write_text("[diagnostics]\non_edit = false\n")
        lines = Lines([binary(), "mcp"], place.root, clean(place.home))
        lines.begin("bench")
        lines.call("read_file", READ)
        row("read_file over mcp, lines", timed(lambda _: lines.call("read_file", READ), CALLS))
        over_http(place)
        held.append(edits(place, lines) <= FLAT)
        lines.close()
        server = RpcHttp(place)
        try:
            held.append(rpc(server) <= FLAT)
        finally:
            server.close()
    finally:
        remove(place.beside)
    if not all(held):
        print("bench: a size is over its goal")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
