"""partition_all takes every item once, of lists and of iterators."""

from toolz import partition_all

assert list(partition_all(2, [1, 2, 3, 4])) == [(1, 2), (3, 4)], "two by two of four"
assert list(partition_all(3, iter(range(7)))) == [(0, 1, 2), (3, 4, 5), (6,)], "an iterator"
assert list(partition_all(3, "abcde")) == [("a", "b", "c"), ("d", "e")], "the rest is shorter"
assert list(partition_all(4, [])) == [], "nothing"
