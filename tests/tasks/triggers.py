"""What makes a plan to be made anew, and what makes a supervised one pause and ask: one run for each, by name."""

import typing

from judge import Aim
from scripted import Asked, Reply, call, plan, step
from task import Task, Work, scripted
from works import REPORT, TEXT

Talk = typing.Generator[Reply, Asked, None]

# Where the plan goes after what it is made anew for.
TITLE = ("return stripped[:1].upper() + stripped[1:]", "return stripped[:1].upper() + stripped[1:].rstrip()")
TITLE_AIM = Aim({TEXT}, has=[(TEXT, "[1:].rstrip()")])


def mend_title(last: bool = True) -> Reply:
    return call("edit_file", last=last, path=TEXT, old_string=TITLE[0], new_string=TITLE[1])


def deviation(asked: Asked) -> Talk:
    """The step leaves a new error behind."""
    asked = yield plan(step("Trim the end", f"{TEXT}::title"))
    asked = yield call("edit_file", last=True, path=TEXT, old_string=TITLE[0], new_string="return stripped[:1].upper() + missing")
    asked.expect("too far from what the plan expects")
    asked = yield plan(step("Trim the end in another way", f"{TEXT}::title"))
    yield call("edit_file", last=True, path=TEXT, old_string="return stripped[:1].upper() + missing", new_string=TITLE[1])


def errors(asked: Asked) -> Talk:
    """Three steps one after the other do not do what they are for."""
    names = (f"{TEXT}::money", f"{TEXT}::plural", f"{REPORT}::overview")
    asked = yield plan(*[step(f"Look at {name}", name) for name in names], step("Trim the end", f"{TEXT}::title"))
    for _ in names:
        # It says that it is done and has changed nothing; with an answer that alone is no deviation.
        asked = yield Reply({"reasoning": "", "action": None, "continue": False, "confidence": 0.9, "answer": "looked"})
    asked.expect("3 errors in this plan")
    asked = yield plan(step("Trim the end", f"{TEXT}::title"))
    yield mend_title()


def missing(asked: Asked) -> Talk:
    """While the model fails at a step, somebody else deletes the function that it is about."""
    asked = yield plan(step("Say it louder", f"{TEXT}::shout"))
    for attempt in range(3):
        if attempt == 2:
            path = asked.project / TEXT
            path.write_text(path.read_text(encoding="utf-8").replace(SHOUT[2], SHOUT[1]), encoding="utf-8")
        asked = yield call("edit_file", path=TEXT, old_string="text.lower() + '!'", new_string="text.upper() + '!'")
    asked.expect("shout is not there")
    asked = yield plan(step("Trim the end", f"{TEXT}::title"))
    yield mend_title()


def invalid(asked: Asked) -> Talk:
    """The first step deletes what a later one is about."""
    asked = yield plan(step("Delete shout, which nobody calls", f"{TEXT}::shout"), step("Trim the end", f"{TEXT}::shout", f"{TEXT}::title"))
    asked = yield call("edit_symbol", last=True, symbol=f"{TEXT}::shout", action="delete", content="")
    asked.expect("not possible any more", "shout")
    asked = yield plan(step("Trim the end", f"{TEXT}::title"))
    yield mend_title()


def escalation(asked: Asked) -> Talk:
    """The step breaks something; the user answers that it is to be done again, and then it is right."""
    asked = yield plan(step("Trim the end", f"{TEXT}::title"))
    asked = yield call("edit_file", last=True, path=TEXT, old_string=TITLE[0], new_string="return stripped[:1].upper() + missing")
    asked.expect("missing", "reportUndefinedVariable")
    yield call("edit_file", last=True, path=TEXT, old_string="return stripped[:1].upper() + missing", new_string=TITLE[1])


def taken_back(asked: Asked) -> Talk:
    """The step breaks something; the user has it taken back."""
    asked = yield plan(step("Trim the end", f"{TEXT}::title"))
    yield call("edit_file", last=True, path=TEXT, old_string=TITLE[0], new_string="return stripped[:1].upper() + missing")


def work(name: str, **more: typing.Any) -> Work:
    return Work(name, "toolshed", "title must trim the end of what follows", TITLE_AIM, **more)


SHOUT = (TEXT, "def title(", "def shout(text: str) -> str:\n    return text.upper()\n\n\ndef title(")
WITH_SHOUT: "dict[str, typing.Any]" = {"plants": [SHOUT]}

TRIGGERS: "list[Task]" = [
    scripted(work("deviation"), "planner", deviation, replans=["deviation"]),
    scripted(work("three errors"), "planner", errors, replans=["errors"]),
    scripted(work("a missing resource", **WITH_SHOUT), "planner", missing, replans=["missing resource"]),
    scripted(work("an invalid step", **WITH_SHOUT), "planner", invalid, replans=["invalid step"]),
    scripted(work("escalation: do it again"), "supervised", escalation, answers=[2], questions=1),
    scripted(work("escalation: take it back"), "supervised", taken_back, answers=[3], questions=1, unchanged=True),
]
