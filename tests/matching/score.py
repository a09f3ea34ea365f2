"""Compares the matcher's answers with the truth, and adds up."""

import collections
import json
import typing

Case = typing.Dict[str, typing.Any]


class Score:
    def __init__(self) -> None:
        self.cases = self.exact = 0
        self.counts: "collections.Counter[str]" = collections.Counter()

    def add(self, wrong: "dict[str, list[int]]", right: int) -> None:
        self.cases += 1
        self.exact += not any(wrong[key] for key in ("extra_new", "missed_new", "extra_fixed", "missed_fixed"))
        for key, indices in wrong.items():
            self.counts[key] += len(indices)
        self.counts["right_new"] += right

    def f1(self) -> float:
        right = self.counts["right_new"]
        other = self.counts["extra_new"] + self.counts["missed_new"]
        return 100 * 2 * right / (2 * right + other) if right + other else 100.0

    def __str__(self) -> str:
        wrong = sum(self.counts[f"{way}_{name}"] for way in ("missed", "extra") for name in ("masked", "revealed"))
        masked = self.counts["right_masked"] + wrong
        text = f"{self.cases:5d} cases, exact {100 * self.exact / max(self.cases, 1):5.1f}, newF1 {self.f1():5.1f}"
        text += f", false new {self.counts['extra_new']}, missed new {self.counts['missed_new']}"
        if masked:
            text += f", masked {100 * self.counts['right_masked'] / masked:5.1f} of {masked}"
        return text


def same(list_: "list[Case]") -> "list[int]":
    """Equal diagnostics at one place are one: the index of the first."""
    first: "dict[str, int]" = {}
    return [first.setdefault(json.dumps(one, sort_keys=True), index) for index, one in enumerate(list_)]


def compare(case: Case, answer: Case) -> "tuple[dict[str, list[int]], int]":
    truth = case["truth"]

    def differ(
        wanted: "list[int]", found: "list[int]", unsure: "set[int]", classes: "list[int]"
    ) -> "tuple[list[int], list[int], int]":
        one = collections.Counter(classes[index] for index in wanted if index not in unsure)
        two = collections.Counter(classes[index] for index in found if index not in unsure)
        return list((two - one).elements()), list((one - two).elements()), sum((one & two).values())

    classes_before, classes_after = same(case["before"]), same(case["after"])
    extra_new, missed_new, right = differ(truth["new"], answer["new"], set(truth["unsure_after"]), classes_after)
    extra_fixed, missed_fixed, _ = differ(truth["fixed"], answer["fixed"], set(truth["unsure_before"]), classes_before)
    return {
        "extra_new": extra_new,
        "missed_new": missed_new,
        "extra_fixed": extra_fixed,
        "missed_fixed": missed_fixed,
    }, right


def staged(case: Case, answer: Case) -> "dict[str, list[int]]":
    """What an error of an early stage hides, or its end uncovers: rightly called so, missed, and wrongly called so."""
    out: "dict[str, list[int]]" = {"right_masked": []}
    for name, unsure, all_ in (("masked", "unsure_before", "fixed"), ("revealed", "unsure_after", "new")):
        wanted = set(case["truth"].get(name, []))
        found = {index for index in answer[name] if index in case["truth"][all_] and index not in case["truth"][unsure]}
        out["right_masked"] += sorted(wanted & found)
        out[f"missed_{name}"], out[f"extra_{name}"] = sorted(wanted - found), sorted(found - wanted)
    return out
