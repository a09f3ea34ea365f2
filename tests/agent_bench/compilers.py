"""What the compilers of the languages beside Python say of a project, and whether its tests pass."""

import json
import re
import subprocess
import typing

# Runs a command in the project.
Run = typing.Callable[..., "subprocess.CompletedProcess[str]"]
Reports = typing.Dict[str, int]

CARGO = ("cargo", "check", "--all-targets", "--quiet", "--message-format", "json")
TSC = ("tsc", "--noEmit", "--pretty", "false")
TSC_LINE = re.compile(r"^(\S.*?)\(\d+,\d+\): error (TS\d+): ", re.MULTILINE)
# `make lint` is planted: it knows the flags, and every file that is compiled by itself.
CPP = ("make", "--silent", "--keep-going", "lint")
CPP_LINE = re.compile(r"^([^\s:]+):\d+:\d+: (?:fatal )?(error|warning): .*?(?:\[(-W[^\]]+)\])?$", re.MULTILINE)
TESTS = {"rust": ["cargo", "test", "--quiet"], "typescript": ["tsc"], "cpp": ["make", "--silent"]}


def reports(language: str, run: Run, names: "list[str]") -> Reports:
    """How often the compiler reports what, by its code and the file: `TS2345 in src/parse.ts`."""
    found: Reports = {}
    for what in {"rust": cargo, "typescript": tsc, "cpp": cpp}[language](run):
        # A header of the compiler's own is nobody's here.
        if what.partition(" in ")[2] in names or what.startswith("no end of "):
            found[what] = found.get(what, 0) + 1
    return found


def cargo(run: Run) -> "list[str]":
    done = run(*CARGO)
    found = set()
    for line in done.stdout.splitlines():
        told = json.loads(line) if line.startswith("{") else {}
        message = told.get("message") or {}
        # The library is compiled twice, once for its tests: each place counts once.
        for span in [span for span in message.get("spans", []) if span["is_primary"]]:
            code = (message.get("code") or {}).get("code") or message["level"]
            found.add((code, span["file_name"], span["line_start"], span["column_start"]))
    return [f"{code} in {name}" for code, name, _, _ in sorted(found)] or ended(done)


def tsc(run: Run) -> "list[str]":
    done = run(*TSC)
    return [f"{code} in {name}" for name, code in TSC_LINE.findall(done.stdout)] or ended(done)


def cpp(run: Run) -> "list[str]":
    done = run(*CPP)
    places = {match.group(0): match for match in CPP_LINE.finditer(done.stdout + done.stderr)}
    return [f"{match[3] or match[2]} in {match[1]}" for match in places.values()] or ended(done)


def ended(done: "subprocess.CompletedProcess[str]") -> "list[str]":
    """A compiler that fails and reports nothing is a report."""
    if done.returncode == 0:
        return []
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit status {done.returncode}"]
    return [f"no end of {done.args[0]}: {lines[-1]}"]


def tests(language: str, run: Run, arguments: "list[str]") -> "list[str]":
    done = run(*TESTS[language], *arguments)
    if done.returncode == 0:
        return []
    lines = [line for line in (done.stdout + done.stderr).strip().splitlines() if line.strip()]
    return [f"tests: {lines[-1] if lines else done.returncode}"]
