"""The declarations are written with any prefix, and parse is as it was."""

import hashlib
import inspect

import xmltodict


def body(dictionary, **more):
    return xmltodict.unparse(dictionary, full_document=False, **more)


assert body({"a": {"!xmlns": {"": "u:1", "x": "u:2"}, "b": "1"}}, attr_prefix="!") == '<a xmlns="u:1" xmlns:x="u:2"><b>1</b></a>', "another prefix"
assert body({"a": {"@xmlns": {"": "u:1"}, "b": "1"}}) == '<a xmlns="u:1"><b>1</b></a>', "the usual prefix"
assert body({"a": {"!k": "v"}}, attr_prefix="!") == '<a k="v"></a>', "a usual attribute"
for part in (xmltodict.parse, xmltodict._DictSAXHandler):
    told = hashlib.sha256(inspect.getsource(part).encode()).hexdigest()[:12]
    assert told in ("e10d9d8f9b48", "ee76c8c0ca31"), f"{part.__name__} was changed"
assert list(inspect.signature(xmltodict.unparse).parameters)[:2] == ["input_dict", "output"], "signature"
