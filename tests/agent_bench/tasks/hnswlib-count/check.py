"""Both numbers can be asked through the interface, of a constant index too, and an index without them is abstract."""

import pathlib
import re

import checks

checks.cpp(
    """
#include <type_traits>
#include "hnswlib/hnswlib.h"

struct Less : hnswlib::AlgorithmInterface<float> {
    void addPoint(const void *, hnswlib::labeltype, bool) override {}
    std::priority_queue<std::pair<float, hnswlib::labeltype>>
    searchKnn(const void *, size_t, hnswlib::BaseFilterFunctor *) const override { return {}; }
    void saveIndex(const std::string &) override {}
};

static_assert(std::is_abstract<Less>::value, "they are pure");

static int wrong(const hnswlib::AlgorithmInterface<float> &index, size_t most, size_t count) {
    return index.getMaxElements() != most || index.getCurrentElementCount() != count;
}

int main() {
    hnswlib::L2Space space(2);
    hnswlib::BruteforceSearch<float> brute(&space, 4);
    hnswlib::HierarchicalNSW<float> graph(&space, 8);
    const float point[2] = {1, 2};
    brute.addPoint(point, 1);
    brute.addPoint(point, 2);
    brute.removePoint(1);
    graph.addPoint(point, 1);
    return wrong(brute, 4, 1) + wrong(graph, 8, 1);
}
""",
    [],
    ["-std=c++17", "-Isrc"],
)
for name in ("bruteforce.h", "hnswalg.h"):
    text = pathlib.Path("src/hnswlib", name).read_text(encoding="utf-8")
    for function in ("getMaxElements", "getCurrentElementCount"):
        assert re.search(function + r"\(\) const override", text), f"{name}: {function} is not marked"
tests = pathlib.Path("tests/index_test.cc").read_text(encoding="utf-8")
assert tests.count("getMaxElements()") > 2 and tests.count("getCurrentElementCount()") > 2, "nothing more is tested"
