"""The tables: one line a task, the measures that each mode is held to, the prompts, and what `sextant stats` says."""

import dataclasses
import statistics
import typing

import agent
from scripted import Asked, tokens
from task import OFFLINE, SCRIPTED, Task

# Seed 003: share of successes above, seconds on average below, shares of new plans and of questions below.
GOALS = {
    "simple": [("success", 0.90, True), ("seconds", 10.0, False)],
    "planner": [("success", 0.85, True), ("re-planned", 0.25, False)],
    "supervised": [("success", 0.95, True), ("escalated", 0.10, False)],
}


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
    stats: "dict[str, typing.Any] | None" = None

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


def share(rows: "list[Row]", what: "typing.Callable[[Row], bool]") -> float:
    return sum(1 for row in rows if what(row)) / len(rows)


def measure(rows: "list[Row]", name: str) -> float:
    if name == "success":
        return share(rows, lambda row: row.done)
    if name == "re-planned":
        return share(rows, lambda row: bool(row.said.replans))
    if name == "escalated":
        return share(rows, lambda row: bool(row.said.questions))
    return statistics.fmean(row.said.seconds for row in rows)


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def kpis(rows: "list[Row]") -> "list[str]":
    """By mode, and of each mode by model; the goals are those of the mode."""
    out = [f"{'mode':10} {'model':9} {'runs':>4} {'success':>8} {'mean s':>7} {'re-planned':>11} {'escalated':>10}  goals"]
    for mode in agent.MODES:
        own = [row for row in rows if row.task.mode == mode]
        for model in ("all", OFFLINE, SCRIPTED):
            some = [row for row in own if model in ("all", row.task.model)]
            if not some:
                continue
            goals = []
            for name, bound, above in GOALS[mode] if model == "all" else []:
                value = measure(some, name)
                met = value > bound if above else value < bound
                wanted = f"{bound:.0f}" if name == "seconds" else percent(bound)
                goals.append(f"{name} {'>' if above else '<'} {wanted}: {'met' if met else 'MISSED'}")
            figures = f"{percent(measure(some, 'success')):>8} {measure(some, 'seconds'):7.1f}"
            figures += f" {percent(measure(some, 're-planned')):>11} {percent(measure(some, 'escalated')):>10}"
            out.append(f"{mode:10} {model:9} {len(some):4} {figures}  {'; '.join(goals)}")
    return out


def compared(rows: "list[Row]") -> "tuple[list[str], list[str]]":
    """The same figures as `sextant stats` has kept them, and where they differ."""
    kept: "dict[str, dict[str, float]]" = {}
    for row in rows:
        for figures in ((row.stats or {}).get("modes") or (row.stats or {}).get("stats", {}).get("modes") or []):
            mine = kept.setdefault(figures["mode"], dict.fromkeys(("runs", "successes", "replanned", "escalated", "ms"), 0.0))
            mine["runs"] += figures["runs"]
            mine["successes"] += figures["successes"]
            ended = figures["successes"] + figures["failures"]
            mine["replanned"] += (figures["replanned"] or 0) * ended
            mine["escalated"] += (figures["escalated"] or 0) * ended
            mine["ms"] += (figures["mean_ms"] or 0) * ended
    lines, differ = [], []
    for mode in agent.MODES:
        own = [row for row in rows if row.task.mode == mode]
        if not own:
            continue
        mine = kept.get(mode) or dict.fromkeys(("runs", "successes", "replanned", "escalated", "ms"), 0.0)
        counted = {
            "runs": len(own),
            "successes": sum(row.done for row in own),
            "replanned": sum(bool(row.said.replans) for row in own),
            "escalated": sum(bool(row.said.questions) for row in own),
        }
        mean = mine["ms"] / mine["runs"] / 1000 if mine["runs"] else 0.0
        words = ", ".join(f"{name} {mine[name]:.0f}" for name in counted)
        lines.append(f"{mode:10} sextant stats: {words}, mean {mean:.1f} s")
        for name, number in counted.items():
            if round(mine[name]) != number:
                differ.append(f"{mode}: {name} is {mine[name]:.0f} by sextant stats and {number} by this harness")
        # The program knows nothing of its own start, so its time is the shorter one.
        if mean > measure(own, "seconds"):
            differ.append(f"{mode}: the mean time of sextant stats is longer than the whole run of the program")
    return lines, differ


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
