"""None is left out of lists alone."""

from xmltodict import unparse


def body(dictionary, **more):
    return unparse(dictionary, full_document=False, **more)


assert body({"a": {"b": ["1", None, "2"]}}) == "<a><b>1</b><b>2</b></a>", "None in a list"
assert body({"a": {"b": None}}) == "<a><b></b></a>", "None as a value"
assert body({"a": None}) == "<a></a>", "None as the root"
assert body({"a": {"b": (x for x in (None, "1"))}}) == "<a><b>1</b></a>", "None in a generator"
