"""ttl_cache keeps for 300 seconds by default, the reference says so, and what has its own time stays."""

import inspect
import pathlib

from cachetools import func

assert inspect.signature(func.ttl_cache).parameters["ttl"].default == 300, "the default"
now = [0]
cached = func.ttl_cache(timer=lambda: now[0])(lambda n: object())
first = cached(1)
now[0] = 299
assert cached(1) is first, "gone too early"
now[0] = 301
assert cached(1) is not first, "still there after 301 seconds"
docs = pathlib.Path("docs/index.rst").read_text(encoding="utf-8")
assert "ttl_cache(maxsize=128, ttl=300, timer=time.monotonic, typed=False)" in docs, "the reference"
assert "ttl=600" not in docs, "the reference has the old default"
changes = pathlib.Path("CHANGELOG.rst").read_text(encoding="utf-8")
assert "300" in changes.split("v5.5.0")[0], "the changelog has no entry above v5.5.0"
assert "ttl=600" in pathlib.Path("README.rst").read_text(encoding="utf-8"), "the example in the README was no default"
