"""An editor that speaks LSP alone, with buffers that nobody has saved, before the engine of a workspace."""

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import threading

PATIENCE = 60


class Buffers:
    """Edits of the engine are made as Helix makes them: at the buffer's version, `didChange` before the answer."""

    def __init__(self, sextant, folder, texts):
        self.sextant, self.folder = sextant, folder
        self.buffers = {(folder.root / name).as_uri(): [0, text] for name, text in texts.items()}
        self.lock, self.answers, self.writing = threading.RLock(), queue.Queue(), threading.Lock()
        self.child = subprocess.Popen(
            [str(sextant), "lsp"], cwd=folder.root, env=folder.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        threading.Thread(target=self.read, daemon=True).start()
        uri = folder.root.as_uri()
        able = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
        about = {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": [{"name": "p", "uri": uri}], "capabilities": able, "clientInfo": {"name": "helix", "version": "25.07.1"}}
        self.send({"id": 1, "method": "initialize", "params": about})
        self.answers.get(timeout=PATIENCE)
        self.send({"method": "initialized", "params": {}})
        for uri, (version, text) in self.buffers.items():
            item = {"uri": uri, "languageId": "python", "version": version, "text": text}
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        # An answer says that the engine is there and has seen the buffers.
        first = next(iter(self.buffers))
        where = {"textDocument": {"uri": first}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "context": {"diagnostics": []}}
        self.send({"id": 2, "method": "textDocument/codeAction", "params": where})
        self.answers.get(timeout=PATIENCE)

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self.writing, contextlib.suppress(OSError, ValueError):
            self.child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.child.stdin.flush()

    def read(self):
        stream = self.child.stdout
        with contextlib.suppress(OSError, ValueError):
            while True:
                length = 0
                while (line := stream.readline()).strip():
                    if line.lower().startswith(b"content-length"):
                        length = int(line.split(b":")[1])
                if not length:
                    return
                message = json.loads(stream.read(length))
                if "method" not in message:
                    self.answers.put(message)
                elif "id" in message:
                    self.send({"id": message["id"], "result": self.asked(message["method"], message["params"])})

    def asked(self, method, params):
        if method == "workspace/applyEdit":
            return {"applied": self.apply(params["edit"])}
        if method == "workspace/configuration":
            return [None for _ in params["items"]]
        return None

    def apply(self, edit):
        changes = [(change["textDocument"]["uri"], change["textDocument"].get("version"), change["edits"]) for change in edit.get("documentChanges", [])]
        changes += [(uri, None, edits) for uri, edits in edit.get("changes", {}).items()]
        with self.lock:
            if any(uri not in self.buffers or version not in (None, self.buffers[uri][0]) for uri, version, _ in changes):
                return False
            for uri, _, edits in changes:
                buffer = self.buffers[uri]
                lines = buffer[1].split("\n")
                for one in sorted(edits, key=lambda one: (one["range"]["start"]["line"], one["range"]["start"]["character"]), reverse=True):
                    # The texts are ASCII: every encoding counts alike.
                    start, end = one["range"]["start"], one["range"]["end"]
                    head, tail = lines[start["line"]][: start["character"]], lines[end["line"]][end["character"] :]
                    lines[start["line"] : end["line"] + 1] = (head + one["newText"] + tail).split("\n")
                buffer[0] += 1
                buffer[1] = "\n".join(lines)
                document = {"uri": uri, "version": buffer[0]}
                self.send({"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": [{"text": buffer[1]}]}})
        return True

    def texts(self):
        with self.lock:
            return {pathlib.Path(uri).name: text for uri, (_, text) in self.buffers.items()}

    def engines(self):
        """The engine of this home, and whatever else runs in it beside the proxy."""
        found = []
        for process in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, IndexError):
                if process.name.isdigit() and (process / "exe").readlink() == pathlib.Path(self.sextant).resolve():
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    if words[1] == b"engine" and f"HOME={self.folder.environment['HOME']}".encode() in (process / "environ").read_bytes().split(b"\0"):
                        found.append(int(process.name))
        return found

    def engine(self):
        return self.engines()[0]

    def close(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        for process in self.engines():
            with contextlib.suppress(OSError):
                os.kill(process, 9)
