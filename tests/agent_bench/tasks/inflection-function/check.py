"""acronym does what was asked for, and has tests of its own."""

import pathlib
import re

import inflection

for word, wanted in (
    ("central_processing_unit", "CPU"),
    ("HyperText markup-language", "HTML"),
    ("portable document format", "PDF"),
    ("", ""),
):
    said = inflection.acronym(word)
    assert said == wanted, f"acronym({word!r}) is {said!r}"
assert inflection.acronym.__annotations__.get("return") is str, "no types"
assert inflection.acronym.__doc__, "no docstring"
tests = pathlib.Path("test_inflection.py").read_text(encoding="utf-8")
assert re.search(r"def test_\w*acronym", tests), "no test of it"
assert "inflection.acronym(" in tests, "its test does not call it"
