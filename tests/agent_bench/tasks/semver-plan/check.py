"""The property, the subcommand and their tests are there."""

import pathlib
import subprocess
import sys

from semver import Version
from semver.cli import main

for text, stable in (("1.2.3", True), ("1.2.3+b", True), ("0.9.0", False), ("1.0.0-rc.1", False)):
    version = Version.parse(text)
    assert version.is_stable is stable, f"is_stable of {text}"
assert isinstance(Version.__dict__["is_stable"], property), "no property"
for text, status in (("1.2.3", 0), ("1.0.0-rc.1", 2), ("nonsense", 2)):
    done = subprocess.run([sys.executable, "-m", "semver", "stable", text], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"pysemver stable {text} ends with {done.returncode}"
    assert status == 0 or done.stderr.startswith("ERROR"), "no error is printed"
assert main(["check", "1.2.3"]) == 0, "check"
tests = "".join(path.read_text(encoding="utf-8") for path in pathlib.Path("tests").glob("*.py"))
assert "is_stable" in tests and "stable" in tests.replace("is_stable", ""), "no tests of both"
