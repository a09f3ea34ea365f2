"""The command line does what it did."""

import subprocess
import sys


def run(*words: str) -> "tuple[int, str]":
    done = subprocess.run([sys.executable, "-m", "semver", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


assert run("bump", "major", "1.2.3") == (0, "2.0.0"), "bump"
assert run("compare", "1.2.3", "2.0.0") == (0, "-1"), "compare"
assert run("nextver", "1.2.3-rc.1", "patch") == (0, "1.2.3"), "nextver"
assert run("check", "2.1")[0] == 2, "check"
text = open("src/semver/cli.py", encoding="utf-8").read()
assert "noqa" not in text and "type: ignore" not in text and "pyright:" not in text, "reports are silenced"
for gone in ("import os", "Tuple", "result == None", "-> int:\n    \"\"\"\n    Subcommand: Compare"):
    assert gone not in text, f"{gone!r} is still there"
