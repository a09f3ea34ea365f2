#!/usr/bin/env python3
"""A hostile language server: hostile_server.py SEED COUNT OUTSIDE LOG

Sends COUNT malformed or hostile messages between true ones, chosen by SEED. Each is written to LOG by name.
"""

import json
import os
import random
import sys
import time

seed, count, outside, log = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
chance = random.Random(seed)
sent = 0
state = {"uri": "file:///nowhere.py", "version": 1, "text": ""}
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202etxt\x08"
CANARY = "file://" + outside + "/canary.py"
NEW = "file://" + outside + "/new.py"
NUMBERS = [2_000_000_000, 4_294_967_295, 2**31, 2**53, 2**63, 2**64 - 1, 2**70, -1, -(2**63), 1.5, 1e308, "7", None, True, [], {}]


def write(data):
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)


def body(data):
    write(b"Content-Length: %d\r\n\r\n" % len(data) + data)


def send(message):
    body(json.dumps({"jsonrpc": "2.0", **message}).encode("utf-8", "surrogatepass"))


def number():
    return chance.choice(NUMBERS)


def place(wild=True):
    if not wild:
        return {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 9}}
    return {"start": {"line": number(), "character": number()}, "end": {"line": number(), "character": number()}}


def diagnostic(wild=True, message="hostile"):
    return {"range": place(wild), "severity": number() if wild else 1, "code": "F401", "source": "hostile", "message": message}


def publish(items, uri=None, version=True):
    params = {"uri": uri or state["uri"], "diagnostics": items}
    if version is not None:
        params["version"] = state["version"] if version is True else version
    send({"method": "textDocument/publishDiagnostics", "params": params})


def hostile_edit():
    edits = [{"range": place(False), "newText": "import os; os.system('trap')\n"}]
    return chance.choice(
        [
            {"changes": {CANARY: edits}},
            {"changes": {NEW: edits, state["uri"]: edits}},
            {"changes": {state["uri"]: [{"range": place(), "newText": ESCAPES}]}},
            {"changes": {state["uri"]: edits * 2000}},
            {"changes": {state["uri"]: [{"range": place(False), "newText": "x" * 5_000_000}]}},
            {"changes": {"file://" + outside + "/../project/.git/config": edits}},
            {"documentChanges": [{"textDocument": {"uri": CANARY, "version": None}, "edits": edits}]},
            {"documentChanges": [{"kind": "create", "uri": NEW, "options": {"overwrite": True}}]},
            {"documentChanges": [{"kind": "delete", "uri": CANARY}]},
            {"documentChanges": [{"kind": "delete", "uri": "file://" + outside, "options": {"recursive": True}}]},
            {"documentChanges": [{"kind": "rename", "oldUri": CANARY, "newUri": state["uri"], "options": {"overwrite": True}}]},
            {"documentChanges": [{"kind": "rename", "oldUri": state["uri"], "newUri": NEW}]},
            {"documentChanges": [{"kind": chance.choice(["x", 7, None])}]},
            {"changes": number()},
            number(),
        ]
    )


def action():
    return chance.choice(
        [
            {"title": ESCAPES, "kind": "quickfix", "isPreferred": True, "diagnostics": [diagnostic(False)], "edit": hostile_edit()},
            {"title": "Remove import", "kind": "quickfix", "diagnostics": [diagnostic(False)], "command": {"title": ESCAPES, "command": "trap", "arguments": [CANARY]}},
            {"title": "Fix " + "x" * 100_000, "kind": "quickfix", "diagnostics": [diagnostic(False)], "edit": hostile_edit(), "data": number()},
            {"title": number(), "command": "trap"},
            {"title": "Both", "kind": "quickfix", "diagnostics": [diagnostic()], "edit": hostile_edit(), "command": number()},
            number(),
        ]
    )


def request(method, params):
    send({"id": chance.choice([1, "x", sent, 2**40, -1]), "method": method, "params": params})


def answer_never_asked():
    send({"id": chance.choice([number(), 0, 1, 2, 3, "never"]), "result": chance.choice([number(), {"items": [diagnostic()]}])})


def wrong_shape():
    body(
        chance.choice(
            [
                b"",
                b"null",
                b"[]",
                b"7",
                b'"text"',
                b"{",
                b'{"jsonrpc":"2.0"}',
                b'{"jsonrpc":"2.0","method":7,"params":"x"}',
                b'{"jsonrpc":"1.0","id":null,"result":null}',
                b'[{"jsonrpc":"2.0","method":"window/logMessage"}]',
                b'{"jsonrpc":"2.0","id":1,"result":NaN,"error":Infinity}',
                b'{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":null}',
                b'{"jsonrpc":"2.0","method":"\xff\xfe\x80"}',
                b"\xef\xbb\xbf{}",
                b"\x00" * 64,
            ]
        )
    )


def deep():
    opening = chance.choice([b"[", b'{"a":'])
    body(b'{"jsonrpc":"2.0","method":"$/x","params":' + opening * 100_000)


def framing():
    write(
        chance.choice(
            [
                b"Content-Length: 1000000000000\r\n\r\n{}",
                b"Content-Length: 18446744073709551616\r\n\r\n{}",
                b"Content-Length: -1\r\n\r\n{}",
                b"Content-Length: 2.5\r\n\r\n{}",
                b"Content-Length: 2\r\nContent-Length: 4000000000\r\n\r\n{}",
                b"Content-Type: x\r\n\r\n{}",
                b"\r\n\r\n\r\n",
                b"hello, I am no server\n" * 1000,
                b"X" * 10_000_000,
                b"Content-Length: " + b"0" * 100_000 + b"2\r\n\r\n{}",
                b"Content-Length: 2\n\n{}",
            ]
        )
    )


def flood():
    for _ in range(400):
        write(b"X" * (1 << 20))


def many():
    publish([diagnostic(chance.random() < 0.5, "many %d" % n) for n in range(100_000)])


def elsewhere():
    uri = chance.choice(
        [CANARY, "file:///etc/passwd", "http://x/y", "", "file:///%00", "file://host/x", "\x1b[31m", "untitled:1", "file:///" + "a" * 100_000, number()]
    )
    publish([diagnostic(False)], uri, number())


KINDS = [
    ("ranges", lambda: publish([diagnostic() for _ in range(20)])),
    ("one far range", lambda: publish([{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 2_000_000_000, "character": 0}}, "severity": 1, "message": "far"}])),
    ("a far column", lambda: publish([{"range": {"start": {"line": 0, "character": 4_000_000_000}, "end": {"line": 0, "character": 4_294_967_295}}, "severity": 1, "message": "far"}])),
    ("many diagnostics", many),
    ("a long message", lambda: publish([diagnostic(False, "x" * 20_000_000)])),
    ("escapes", lambda: publish([{**diagnostic(False, ESCAPES), "code": ESCAPES, "source": ESCAPES, "codeDescription": {"href": ESCAPES}, "relatedInformation": [{"location": {"uri": CANARY, "range": place()}, "message": ESCAPES}]}])),
    ("another file", elsewhere),
    ("diagnostics of a wrong type", lambda: publish(number())),
    ("a version of another time", lambda: publish([diagnostic(False)], None, number())),
    ("workspace/applyEdit", lambda: request("workspace/applyEdit", {"label": ESCAPES, "edit": hostile_edit()})),
    ("window/showDocument", lambda: request("window/showDocument", {"uri": chance.choice([CANARY, "https://x"]), "external": True, "takeFocus": True, "selection": place()})),
    ("workspace/configuration", lambda: request("workspace/configuration", {"items": chance.choice([number(), [{"section": ESCAPES, "scopeUri": CANARY}] * 1000, [{"section": "." * 100_000}], [number()]])})),
    ("client/registerCapability", lambda: request("client/registerCapability", {"registrations": chance.choice([number(), [{"id": str(n), "method": "workspace/didChangeWatchedFiles", "registerOptions": {"watchers": [{"globPattern": "/**/{a,b}" * 50}]}} for n in range(1000)]])})),
    ("client/unregisterCapability", lambda: request("client/unregisterCapability", {"unregisterations": number()})),
    ("window/showMessageRequest", lambda: request("window/showMessageRequest", {"type": number(), "message": ESCAPES, "actions": [{"title": ESCAPES}] * 100})),
    ("window/showMessage", lambda: send({"method": "window/showMessage", "params": {"type": number(), "message": ESCAPES * 1000}})),
    ("window/logMessage", lambda: send({"method": "window/logMessage", "params": number()})),
    ("progress", lambda: send({"method": "$/progress", "params": {"token": number(), "value": {"kind": "begin", "title": ESCAPES, "percentage": number()}}})),
    ("endless progress", lambda: [send({"method": "$/progress", "params": {"token": n, "value": {"kind": "begin", "title": "x"}}}) for n in range(2000)]),
    ("refresh", lambda: [request("workspace/diagnostic/refresh", None) for _ in range(200)]),
    ("unknown request", lambda: request(chance.choice(["shell/run", "", "$/run", ESCAPES, "workspace/executeCommand"]), {"command": "trap"})),
    ("answer to nothing", answer_never_asked),
    ("wrong shape", wrong_shape),
    ("deep nesting", deep),
]
# After these nobody can follow what comes.
LAST = [("framing", framing), ("flood", flood), ("end", lambda: os._exit(chance.choice([0, 1, 9]))), ("silence", lambda: time.sleep(3600))]


def note(name):
    with open(log, "a", encoding="utf-8") as file:
        file.write(name + "\n")


def attack():
    global sent
    for _ in range(chance.randrange(1, 5)):
        if sent >= count:
            return
        sent += 1
        name, act = chance.choice(LAST) if sent == count else chance.choice(KINDS)
        note(name)
        act()


def answer(message):
    method = message.get("method")
    result = None
    if method == "initialize":
        capabilities = {
            "textDocumentSync": chance.choice([1, 2, {"openClose": True, "change": 1, "save": True}, number()]),
            "codeActionProvider": chance.choice([True, {"resolveProvider": True}]),
            "executeCommandProvider": {"commands": ["trap"]},
            "positionEncoding": chance.choice(["utf-8", "utf-16", "utf-32", "utf-7", number()]),
        }
        if chance.random() < 0.4:
            capabilities["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": True}
        result = {"capabilities": capabilities, "serverInfo": {"name": ESCAPES, "version": number()}}
    elif method == "textDocument/codeAction":
        result = [action() for _ in range(chance.randrange(1, 4))]
    elif method == "textDocument/diagnostic":
        result = {"kind": "full", "items": [diagnostic(False), diagnostic()], "resultId": number()}
    elif method == "workspace/executeCommand":
        request("workspace/applyEdit", {"edit": hostile_edit()})
    if chance.random() < 0.1 and method != "initialize":
        send({"id": message["id"], "error": {"code": number(), "message": ESCAPES, "data": CANARY}})
    else:
        send({"id": message["id"], "result": result})


while True:
    length = None
    while True:
        header = sys.stdin.buffer.readline()
        if not header:
            sys.exit(0)
        if header == b"\r\n":
            break
        if header.lower().startswith(b"content-length:"):
            length = int(header.split(b":")[1])
    message = json.loads(sys.stdin.buffer.read(length))
    method, params = message.get("method"), message.get("params") or {}
    if method == "exit":
        os._exit(0)
    document = params.get("textDocument") or {}
    if method in ("textDocument/didOpen", "textDocument/didChange"):
        state = {"uri": document["uri"], "version": document["version"], "text": ""}
    if "id" in message and method:
        answer(message)
    if method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didSave"):
        publish([diagnostic(False)])
    if method not in ("initialize", "shutdown"):
        attack()
