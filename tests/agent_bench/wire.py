"""OpenAI's API on loopback, with answers from wherever they come, and every call kept for the figures."""

import dataclasses
import http.server
import json
import math
import os
import threading
import time
import typing

import answers
from answers import Answer
from fingerprint import Body


@dataclasses.dataclass
class Call:
    body: Body
    answer: Answer
    seconds: float = 0.0


def tokens(text: str) -> int:
    """As the bytes tell them, for every loop alike."""
    return math.ceil(len(text.encode()) / 3.5)


def calls_of(number: int, answer: Answer) -> "list[dict[str, typing.Any]]":
    """The calls of an answer as the wire has them."""
    out = []
    for index, call in enumerate(answer.get("tool_calls") or []):
        given = call.get("arguments", {})
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        function = {"name": call["name"], "arguments": text}
        out.append({"index": index, "id": f"call_{number}_{index}", "type": "function", "function": function})
    return out


class Server:
    """`url` is what a client is given. `calls` has what was asked and answered, in order."""

    def __init__(self, source: answers.Source) -> None:
        self.source = source
        self.calls: "list[Call]" = []
        self.trouble: "list[str]" = []
        self.lock = threading.Lock()
        self.number = 0
        # What the last call sent, to tell what of the next one would be cached.
        self.last = ""
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                known = self.path.rstrip("/").endswith("/models")
                whole(self, 200 if known else 404, {"object": "list", "data": [{"id": "bench", "object": "model"}]})

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                if not self.path.endswith("/chat/completions"):
                    whole(self, 404, {"error": {"message": f"nothing here at {self.path}"}})
                    return
                try:
                    outer.serve(self, json.loads(raw))
                except (BrokenPipeError, ConnectionResetError):
                    outer.trouble.append("the client went away before its answer")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ask(self, body: Body) -> "tuple[int, Answer]":
        """The answer to a request and its number; kept."""
        with self.lock:
            self.number += 1
            number = self.number
        start = time.monotonic()
        answer = self.source.answer(number, body)
        self.calls.append(Call(body, answer, time.monotonic() - start))
        return number, answer

    def serve(self, handler: http.server.BaseHTTPRequestHandler, body: Body) -> None:
        try:
            number, answer = self.ask(body)
        except answers.Ended as error:
            self.trouble.append(str(error))
            # A status that is not tried again.
            whole(handler, 400, {"error": {"message": str(error)}})
            return
        if answer.get("status", 200) != 200:
            whole(handler, answer["status"], {"error": {"message": answer.get("content", "")}}, answer.get("headers", {}))
            return
        reply(handler, number, body, answer, self.cached(body))

    def cached(self, body: Body) -> int:
        sent = json.dumps(body.get("messages"), ensure_ascii=False)
        same = os.path.commonprefix([self.last, sent])
        self.last = sent
        return math.floor(len(same.encode()) / 3.5)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def whole(
    handler: http.server.BaseHTTPRequestHandler,
    status: int,
    said: "dict[str, typing.Any]",
    headers: "dict[str, typing.Any] | None" = None,
) -> None:
    raw = json.dumps(said).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(raw)))
    for name, value in (headers or {}).items():
        handler.send_header(name, str(value))
    handler.end_headers()
    handler.wfile.write(raw)


def reply(
    handler: http.server.BaseHTTPRequestHandler, number: int, body: Body, answer: Answer, cached: int
) -> None:
    """An answer, as a whole or as a stream, as it was asked for."""
    content, calls = answer.get("content") or "", calls_of(number, answer)
    finish = answer.get("finish") or ("tool_calls" if calls else "stop")
    prompt = tokens(json.dumps(body.get("messages"), ensure_ascii=False))
    said = tokens(content + (json.dumps(calls, ensure_ascii=False) if calls else ""))
    usage: "dict[str, typing.Any]" = {"prompt_tokens": prompt, "completion_tokens": said}
    usage.update(total_tokens=prompt + said, prompt_tokens_details={"cached_tokens": min(cached, prompt)})
    head = {"id": f"bench-{number}", "created": int(time.time()), "model": "bench"}
    if not body.get("stream"):
        message: "dict[str, typing.Any]" = {"role": "assistant", "content": content or None}
        if calls:
            message["tool_calls"] = calls
        choices = [{"index": 0, "message": message, "finish_reason": finish}]
        whole(handler, 200, {**head, "object": "chat.completion", "choices": choices, "usage": usage})
        return
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True

    def event(delta: "dict[str, typing.Any]", end: "str | None" = None) -> None:
        choices = [{"index": 0, "delta": delta, "finish_reason": end}]
        send({"choices": choices})

    def send(said: "dict[str, typing.Any]") -> None:
        line = json.dumps({**head, "object": "chat.completion.chunk", **said})
        handler.wfile.write(f"data: {line}\n\n".encode())
        handler.wfile.flush()

    for at in range(0, len(content), 400):
        event({"role": "assistant", "content": content[at : at + 400]})
    for call in calls:
        event({"role": "assistant", "tool_calls": [call]})
    event({}, finish)
    send({"choices": [], "usage": usage})
    handler.wfile.write(b"data: [DONE]\n\n")
