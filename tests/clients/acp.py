"""The editor's side of the Agent Client Protocol, as far as one prompt needs it: newline JSON with a child."""

import json
import subprocess
import threading

from editor import Failed


class Agent:
    def __init__(self, program, folder, environment, patience):
        self.child = subprocess.Popen(
            [program], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.timer = threading.Timer(patience, self.child.kill)
        self.timer.start()
        self.next = 0

    def send(self, message):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.child.stdin.flush()

    def request(self, method, params):
        """Its result; what the agent asks meanwhile is answered."""
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        for line in self.child.stdout:
            message = json.loads(line)
            if "method" not in message and message.get("id") == self.next:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message and "id" in message:
                self.answer(message)
        raise Failed(f"{method}: the agent has ended")

    def answer(self, asked):
        if asked["method"] != "session/request_permission":
            error = {"code": -32601, "message": "this editor does not do that"}
            return self.send({"id": asked["id"], "error": error})
        # The order of the choices says nothing.
        once = [choice["optionId"] for choice in asked["params"]["options"] if choice["kind"] == "allow_once"]
        return self.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": once[0]}}})

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.timer.cancel()
        self.child.stdout.close()


def prompt(program, folder, environment, servers, text, patience):
    """One session with these MCP servers and one prompt, to the end of its turn."""
    agent = Agent(program, folder, environment, patience)
    try:
        about = {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}}
        agent.request("initialize", about)
        session = agent.request("session/new", {"cwd": str(folder), "mcpServers": servers})
        given = {"sessionId": session["sessionId"], "prompt": [{"type": "text", "text": text}]}
        ended = agent.request("session/prompt", given)
        if ended.get("stopReason") != "end_turn":
            raise Failed(f"the turn ended so: {ended}")
    finally:
        agent.close()
