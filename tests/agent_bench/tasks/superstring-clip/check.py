"""The three functions clip unless they are told not to, and pass on what they are told."""

import pathlib

import checks

SOURCES = ["src/core/point.cc", "src/core/range.cc", "src/core/text.cc", "src/core/text-slice.cc"]
checks.cpp(
    """
#include "text-slice.h"

int main() {
  Text text{u"x\\r\\nab\\r\\ncd"};
  const TextSlice slice = TextSlice{text}.suffix(Point(1, 0));
  int wrong = slice.position_for_offset(3) != Point(0, 2);
  wrong += slice.position_for_offset(3, 0, true) != Point(0, 2);
  wrong += slice.position_for_offset(3, 0, false) != Point(0, 3);
  wrong += slice.prefix(3u).size() != 2 || slice.prefix(3u, false).size() != 3;
  wrong += slice.split(3u).second.size() != 4 || slice.split(3u, false).second.size() != 3;
  wrong += slice.prefix(Point(0, 1)).size() != 1 || slice.split(Point(1, 0)).first.size() != 4;
  return wrong;
}
""",
    SOURCES,
    ["-std=c++17", "-Isrc/core"],
)
assert "clip_crlf = true" not in pathlib.Path("src/core/text-slice.cc").read_text(encoding="utf-8"), "the default is said twice"
assert "false" in pathlib.Path("tests/slice_test.cc").read_text(encoding="utf-8"), "no test that does not clip"
