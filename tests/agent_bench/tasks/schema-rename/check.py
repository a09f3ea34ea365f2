"""The method has its new name in the code, the tests and the README, and the old one nowhere."""

import pathlib

import schema

assert schema.Schema([int]).accepts([1, 2]) is True, "accepts"
assert schema.Schema([int]).accepts(["a"]) is False, "does not accept"
assert not hasattr(schema.Schema, "is_valid"), "the old name is still there"
for name, count in (("schema.py", 1), ("README.rst", 3), ("test_schema.py", 1)):
    text = pathlib.Path(name).read_text(encoding="utf-8")
    assert "is_valid" not in text, f"{name} still has the old name"
    assert text.count("accepts(") >= count, f"{name} has the new name too seldom"
