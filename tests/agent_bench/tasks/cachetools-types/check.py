"""Every function of keys.py has types, and none of them says what it is not."""

import inspect
import typing

from cachetools import keys

for name in keys.__all__:
    function = getattr(keys, name)
    assert "return" in function.__annotations__, f"{name} has no return type"
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.annotation is not parameter.empty, f"{name}: {parameter.name} has no type"
    hints = typing.get_type_hints(function)
    assert hints["return"] is not typing.Any, f"{name} returns Any"
assert keys.typedkey(1) == (1, int), "typedkey"
assert keys.typedkey(1, a=2.0) == (1, *keys._kwmark, "a", 2.0, int, float), "typedkey with a keyword"
assert keys.methodkey(None, 1) == keys.hashkey(1) == (1,), "methodkey"
assert "type: ignore" not in inspect.getsource(keys) and "pyright:" not in inspect.getsource(keys), "reports are silenced"
