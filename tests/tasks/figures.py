"""The tables: one line a task, and the prompts of each."""

import dataclasses

import agent
from scripted import Asked, tokens
from task import Task


@dataclasses.dataclass
class Row:
    """One run, and what was found about it."""

    task: Task
    said: agent.Said
    # Why it is not done, by the check from outside; empty when it is.
    undone: "list[str]"
    # What else is not as it must be: the script, the memory in the prompts, what Sextant says of itself.
    wrong: "list[str]"
    asked: "list[Asked]"

    @property
    def done(self) -> bool:
        return not self.undone

    @property
    def word(self) -> str:
        if self.done:
            return "cannot" if self.task.cannot else "taken back" if self.task.unchanged else "done"
        return "NOT DONE"


def line(row: Row) -> str:
    said = row.said
    claim = "ok" if said.ok else "not ok"
    parts = [f"{row.task.mode:10} {row.task.model:8} {row.task.name[:44]:44} {row.word:10} says {claim:6}"]
    parts.append(f"{said.seconds:5.1f} s {said.steps:2} steps {len(said.replans)} re-plans {len(said.questions)} questions")
    return "  ".join(parts)


def reasons(row: Row) -> "list[str]":
    out = [f"    undone: {why}" for why in row.undone] + [f"    wrong: {why}" for why in row.wrong]
    if out:
        said = row.said
        last = [f"{event['tool']}: {event['text']}" for event in said.of_type("acted")][-2:]
        out += [f"    it says: {said.words or said.stderr}"] + [f"    it did: {text}" for text in last]
    return [text.replace("\n", "\n      ")[:1200] for text in out]


def memory_tokens(row: Row) -> int:
    return max((tokens(asked.memory) for asked in row.asked), default=0)


def prompts(row: Row) -> str:
    """Tokens of each question as the server received it, and of the memory in it."""
    if not row.asked:
        return "-"
    plans = [str(asked.tokens) for asked in row.asked if asked.wants_plan]
    steps = [str(asked.tokens) for asked in row.asked if not asked.wants_plan]
    parts = [f"plan {' '.join(plans)}"] if plans else []
    parts += [f"steps {' '.join(steps)}"] if steps else []
    return "; ".join(parts) + f"; memory {memory_tokens(row)}"


def five(rows: "list[Row]") -> "list[str]":
    out = [f"{'task':22} {'mode':10} {'model':9} {'outcome':9} {'steps':>5} {'re-plans':>8} {'questions':>9} {'new/fixed/same':>14}  prompt tokens"]
    for row in rows:
        said, task = row.said, row.task
        figures = f"{said.steps:5} {len(said.replans):8} {len(said.questions):9} {said.delta:>14}"
        out.append(f"{task.name:22} {task.mode:10} {task.model:9} {row.word:9} {figures}  {prompts(row)}")
    out.append("Tokens are bytes / 3.5 of what the server received (system and user text). The new ones are those at the end.")
    return out


def left_the_plan(row: Row) -> "list[str]":
    """What set off a new plan or a question, in the words that a user reads."""
    said = row.said
    out = [f"    replanned: {event['text']}" for event in said.of_type("progress") if "planning again" in event["text"]]
    for question in said.questions:
        options = "; ".join(f"{n}. {option}" for n, option in enumerate(question["options"], 1))
        out += [f"    asked: {question['text']}", f"    options: {options}", f"    answered: {row.task.answers}"]
    return out
