"""lru_cache and lfu_cache take a lock by keyword and use it; the others are as they were."""

import inspect

from cachetools import func


class Lock:
    count = 0

    def __enter__(self):
        self.count += 1

    def __exit__(self, *_):
        pass


for decorator in (func.lru_cache, func.lfu_cache):
    lock = Lock()
    for maxsize in (None, 2):
        before = lock.count
        cached = decorator(maxsize, lock=lock)(lambda n: n + 1)
        assert cached(1) == 2 and cached(1) == 2, "the results"
        assert lock.count > before, f"{decorator.__name__} does not use the lock with maxsize {maxsize}"
    plain = decorator(lambda n: n)
    assert plain(3) == 3 and plain.cache_parameters() == {"maxsize": 128, "typed": False}, "without arguments"
    assert inspect.signature(decorator).parameters["lock"].default is None, "lock is None by default"
assert list(inspect.signature(func.fifo_cache).parameters) == ["maxsize", "typed"], "fifo_cache has changed"
assert list(inspect.signature(func.lru_cache).parameters)[:2] == ["maxsize", "typed"], "the old order has changed"
