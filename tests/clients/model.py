"""A model's endpoint on this machine that says what a script says: chat completions and responses, streamed or not."""

import http.server
import itertools
import json
import re
import threading

END = "done"


class Model:
    """Answers with the script's calls, one after another; keeps what it was offered and given.

    A step is the end of a tool's name, which each client builds in its own way, and the arguments. A request without
    tools (a title for the conversation) is answered with a word and takes no step.
    """

    def __init__(self, steps):
        self.steps = steps
        self.offered = set()
        self.results = []
        self.problems = []
        self.ids = itertools.count(1)
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.give(json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}), "application/json")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                try:
                    says = model.answer(body)
                except Exception as error:
                    model.problems.append(f"{type(error).__name__}: {error}")
                    says = {"text": END}
                shape = responses if self.path.split("?")[0].endswith("/responses") else chat
                text, kind = shape(says, bool(body.get("stream")), next(model.ids))
                self.give(text, kind)

            def give(self, text, kind):
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, body):
        tools = list(names(body.get("tools") or []))
        if not tools:
            return {"text": "A title"}
        self.offered |= {name if space is None else f"{space}__{name}" for name, space in tools}
        given = list(given_results(body))
        self.results = given
        # One that looks its tools up is told of them in an answer.
        self.offered |= {name for text in given for name in re.findall(r'"name":"(\w+)"', text)}
        if len(given) >= len(self.steps):
            return {"text": END}
        wanted, arguments = self.steps[len(given)]
        for name, space in tools:
            if re.search(wanted, name if space is None else f"{space}__{name}"):
                return {"tool": name, "space": space, "arguments": json.dumps(arguments)}
        raise LookupError(f"no tool {wanted} among {[name for name, _ in tools]}")


def names(tools):
    """The tools that are offered, each with its name space where it has one."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from ((inner["name"], tool["name"]) for inner in tool.get("tools", []))
        elif "name" in tool.get("function", tool):
            yield tool.get("function", tool)["name"], None
        else:
            # One of the endpoint's own, which has a type and no name.
            yield tool.get("type", "?"), None


def given_results(body):
    """What the tools have answered so far, as the model is given it."""
    for message in body.get("messages", []):
        if message.get("role") == "tool":
            yield joined(message.get("content"))
    for item in body.get("input", []) if isinstance(body.get("input"), list) else []:
        if str(item.get("type", "")).endswith("_output"):
            yield joined(item["output"]) if "output" in item else json.dumps(item)


def joined(content):
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content if isinstance(content, str) else json.dumps(content)


def chat(says, stream, number):
    call = {"id": f"call_{number}", "type": "function", "function": {"name": says.get("tool"), "arguments": says.get("arguments")}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]} if "tool" in says else {"role": "assistant", "content": says["text"]}
    reason = "tool_calls" if "tool" in says else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    about = {"id": f"chat_{number}", "created": 1, "model": "scripted"}
    if not stream:
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return json.dumps({**about, "object": "chat.completion", "choices": [choice], "usage": usage}), "application/json"
    if "tool" in says:
        message = {**message, "tool_calls": [{"index": 0, **call}]}
    chunk = {**about, "object": "chat.completion.chunk"}
    parts = [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n", "text/event-stream"


def responses(says, stream, number):
    if "tool" in says:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": says["tool"], "arguments": says["arguments"]}
        if says["space"] is not None:
            item["namespace"] = says["space"]
    else:
        content = [{"type": "output_text", "text": says["text"], "annotations": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}
    details = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage = {**details, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "scripted", "status": "completed", "output": [item], "usage": usage}
    if not stream:
        return json.dumps(whole), "application/json"
    parts = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return "".join(f"event: {part['type']}\ndata: {json.dumps(part)}\n\n" for part in parts), "text/event-stream"
