"""A task: a project with something to be done in it, the request, the aim, and the script of the model."""

import dataclasses
import typing

from judge import Aim
from scripted import Asked, Reply, Script, plan

OFFLINE = "offline"
SCRIPTED = "scripted"


@dataclasses.dataclass(frozen=True)
class See:
    """What the model must have been told before it goes on."""

    parts: "tuple[str, ...]"


def see(*parts: str) -> See:
    return See(parts)


# A step of the plan, and what the model does in it.
Steps = typing.List[typing.Tuple[typing.Dict[str, typing.Any], typing.List[typing.Union[Reply, See]]]]


@dataclasses.dataclass
class Work:
    """Something to be done, in whichever mode."""

    name: str
    project: str
    text: str
    aim: Aim
    # Where it is about, as arguments; the whole workspace without.
    where: "list[str]" = dataclasses.field(default_factory=list)
    plants: "list[tuple[str, str, str]]" = dataclasses.field(default_factory=list)
    files: "dict[str, str]" = dataclasses.field(default_factory=dict)
    steps: Steps = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Task:
    """One run: work, a mode, a model."""

    work: Work
    mode: str
    # None is the offline model.
    script: "Script | None" = None
    # To the questions of supervised mode, in order.
    answers: "list[int]" = dataclasses.field(default_factory=list)
    # The offline model cannot do this, must say so, and must leave the project as it is.
    cannot: bool = False
    # The project must be as it was, since the user has taken back what was done.
    unchanged: bool = False
    # What is expected of the run beside the work: triggers of new plans, questions.
    replans: "list[str] | None" = None
    questions: "int | None" = None

    @property
    def name(self) -> str:
        return self.work.name

    @property
    def model(self) -> str:
        return OFFLINE if self.script is None else SCRIPTED


def offline(work: Work, mode: str, cannot: bool = False) -> Task:
    return Task(work, mode, cannot=cannot)


def scripted(work: Work, mode: str, script: "Script | None" = None, **more: typing.Any) -> Task:
    return Task(work, mode, script or follow(work, mode), **more)


def follow(work: Work, mode: str) -> Script:
    """The steps of the work in order: as a plan and its steps, or one after the other where the mode has no plan."""

    def script(asked: Asked) -> "typing.Generator[Reply, Asked, None]":
        if mode != "simple":
            asked = yield plan(*[step for step, _ in work.steps], title=work.text)
        for number, (_, actions) in enumerate(work.steps, 1):
            calls = [action for action in actions if isinstance(action, Reply)]
            for action in actions:
                if isinstance(action, See):
                    asked.expect(*action.parts)
                    continue
                ends = action is calls[-1] and (mode != "simple" or number == len(work.steps))
                asked = yield ending(action) if ends else action

    return script


def ending(reply: Reply) -> Reply:
    """The same reply, as the last one."""
    assert isinstance(reply.said, dict)
    return Reply({**reply.said, "continue": False, "answer": "done"}, reply.plan)


def spelt_out(work: Work) -> "dict[str, typing.Any]":
    """The work as data for another program: its replies in planner mode, and which request must tell what."""
    replies: "list[Reply]" = [plan(*[step for step, _ in work.steps], title=work.text)]
    told = []
    for _, actions in work.steps:
        calls = [action for action in actions if isinstance(action, Reply)]
        for action in actions:
            if isinstance(action, See):
                told.append({"request": len(replies), "parts": action.parts})
            else:
                replies.append(ending(action) if action is calls[-1] else action)
    aim = {"changes": sorted(work.aim.changes), "gone": work.aim.gone, "has": work.aim.has, "lacks": work.aim.lacks}
    out = {"name": work.name, "project": work.project, "text": work.text, "plants": work.plants, "files": work.files}
    return {**out, "aim": aim, "steps": len(work.steps), "replies": [reply.said for reply in replies], "told": told}
