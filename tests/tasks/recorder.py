"""Stands between Sextant and a model's server, passes every byte on, and writes down what was asked and answered."""

import dataclasses
import http.client
import http.server
import json
import threading
import time
import typing
import urllib.parse


@dataclasses.dataclass
class Call:
    body: "dict[str, typing.Any]"
    text: str = ""
    usage: "dict[str, int]" = dataclasses.field(default_factory=dict)
    stop: str = ""
    # Seconds until the first word, and in all.
    first: float = 0.0
    seconds: float = 0.0
    status: int = 0
    trouble: str = ""

    def prompt(self, role: str) -> str:
        said = [message["content"] for message in self.body.get("messages", []) if message["role"] == role]
        return said[-1] if said else ""

    def take(self, line: bytes) -> None:
        """One line of the answer, as the protocol of server-sent events has it."""
        data = line.strip().removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or data == b"[DONE]":
            return
        event = json.loads(data)
        for choice in event.get("choices") or []:
            self.text += (choice.get("delta") or {}).get("content") or ""
            self.stop = choice.get("finish_reason") or self.stop
        self.usage = event.get("usage") or self.usage


class Recorder:
    """A server on a free port; `url` is what a client is given."""

    def __init__(self, behind: str, patience: float, ended: "typing.Callable[[Call], None]") -> None:
        self.calls: "list[Call]" = []
        # Told of each call when it has ended, so that a slow model can be watched.
        self.ended = ended
        self.behind = urllib.parse.urlsplit(behind)
        self.patience = patience
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                recorder.pass_on(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def pass_on(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length", "0")))
        call = Call(json.loads(raw))
        self.calls.append(call)
        start = time.monotonic()
        try:
            behind = http.client.HTTPConnection(self.behind.hostname or "", self.behind.port, timeout=self.patience)
            behind.request("POST", handler.path, raw, {"Content-Type": "application/json"})
            answer = behind.getresponse()
            call.status = answer.status
            handler.send_response(answer.status)
            handler.send_header("Content-Type", answer.headers.get("Content-Type", "text/event-stream"))
            handler.send_header("Connection", "close")
            handler.end_headers()
            for line in iter(answer.readline, b""):
                handler.wfile.write(line)
                handler.wfile.flush()
                if answer.status == 200:
                    call.take(line)
                else:
                    call.trouble += line.decode(errors="replace")
                if call.text and not call.first:
                    call.first = time.monotonic() - start
        except (OSError, ValueError, http.client.HTTPException) as error:
            call.trouble += f"{type(error).__name__}: {error}"
        finally:
            call.seconds = time.monotonic() - start
            self.ended(call)
            handler.close_connection = True

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
