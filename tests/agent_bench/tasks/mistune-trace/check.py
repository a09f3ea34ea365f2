"""The answer has the way through three files, in order."""

import os

answer = os.environ["ANSWER"]
names = ["parse_fenced_code", "_process_directive", "parse_method", "Admonition.parse", "render_admonition"]
short = {"Admonition.parse": ["Admonition.parse", "Admonition().parse", "parse of Admonition", "`parse` of `Admonition`"]}
at = 0
for name in names:
    found = [answer.find(way, at) for way in short.get(name, [name]) if way in answer[at:]]
    assert found, f"it does not name {name}, or not in its place"
    at = min(found)
for file in ("_fenced.py", "_base.py", "admonition.py"):
    assert file in answer, f"it does not name {file}"
assert "block_error" in answer, "it does not say what becomes of an unknown type"
