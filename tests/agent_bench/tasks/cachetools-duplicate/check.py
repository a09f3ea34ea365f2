"""The choice by maxsize is written once for the five decorators, and they do what they did."""

import inspect

from cachetools import func

NAMES = ("fifo_cache", "lfu_cache", "lru_cache", "mru_cache", "rr_cache")
for name in NAMES:
    source = inspect.getsource(getattr(func, name))
    assert "callable(" not in source and "elif" not in source, f"{name} still chooses by itself"
whole = inspect.getsource(func)
assert 1 <= whole.count("callable(") <= 2, "the choice is not written once"
assert "elif callable(maxsize)" in inspect.getsource(func.ttl_cache), "ttl_cache was to stay"
assert str(inspect.signature(func.lru_cache)) == "(maxsize=128, typed=False)", "signature of lru_cache"
assert list(inspect.signature(func.rr_cache).parameters) == ["maxsize", "choice", "typed"], "signature of rr_cache"
picked = []


def choice(keys):
    picked.append(True)
    return keys[0]


cached = func.rr_cache(1, choice)(lambda n: n)
assert [cached(1), cached(2)] == [1, 2] and picked, "rr_cache does not use its choice"
assert func.lru_cache(None)(lambda n: n).cache_parameters()["maxsize"] is None, "no limit"
