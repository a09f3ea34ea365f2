"""What the shed holds."""

import json
from dataclasses import dataclass


@dataclass
class Tool:
    name: str
    price: float
    count: int = 1
    shelf: str | None = None


class Stock:
    """All tools, by their name."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> None:
        if tool.name in self.tools:
            self.tools[tool.name].count += tool.count
        else:
            self.tools[tool.name] = tool

    def find(self, name: str) -> Tool | None:
        return self.tools.get(name)

    def price_of(self, name: str) -> float:
        """The price of one; 0 for a tool that the shed does not have."""
        tool = self.find(name)
        return tool.price if tool else 0.0

    def where(self, name: str) -> str:
        """The shelf of a tool."""
        tool = self.find(name)
        if tool is None or tool.shelf is None:
            return "nowhere"
        return tool.shelf

    def take(self, name: str) -> bool:
        """Takes one out; answers whether there was one."""
        if name not in self.tools or self.tools[name].count < 1:
            return False
        self.tools[name].count -= 1
        return True

    def to_json(self) -> str:
        return json.dumps({tool.name: tool.count for tool in self.tools.values()})
