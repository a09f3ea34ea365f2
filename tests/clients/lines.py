"""A server of MCP over standard input and output, a line a message."""

import json
import queue
import subprocess
import threading

PATIENCE = 180


class Lines:
    def __init__(self, command, folder, environment):
        self.child = subprocess.Popen([str(part) for part in command], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said = queue.Queue()
        self.next = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data):
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def until(self, number):
        """What is said up to the answer with this id."""
        while True:
            said = self.said.get(timeout=PATIENCE)
            if said is None:
                raise EOFError("the server has ended")
            yield said
            if said.get("id") == number and "method" not in said:
                return

    def request(self, method, params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        *_, answer = self.until(self.next)
        return answer

    def begin(self, name):
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
        answer = self.request("initialize", about)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool, arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def close(self):
        """The status with which it ends."""
        self.child.stdin.close()
        status = self.child.wait(PATIENCE)
        self.child.stdout.close()
        return status
