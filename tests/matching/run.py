"""The matcher on cases of Rust, TypeScript, Go, C++ and Lua that are made here: real files, scripted edits, real checkers.

    tests/matching/run.py rust typescript -n 150 --seed 1       figures by language
    … --staged          an error of an early stage is added or removed: what it hides and uncovers
    … --show 20         the first cases that are not exact, with the diagnostics that differ
    … --kinds           figures by edit
    … --only EDITS      with these edits alone, `move_item,extract`
    … --save FILE       the cases as JSON lines, for `sextant diff --batch` and for
    … --load FILE       the same cases again

Every character of a text after the edits knows where it stood before, and so do both ends of each diagnostic: the truth needs
no comparison of texts. SEXTANT names the program.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import typing

import checkers
import edits
import grammars
import labels
import sources
import tools
from checkers import Checker
from grammars import Grammar
from texts import Lines, Text

Case = typing.Dict[str, typing.Any]
# An answer about more is not to be read by hand, and a checker of everything says as much about every file.
MOST_DIAGNOSTICS = 150
ERROR = 1
# What the matcher is to reach: cases whose new and fixed diagnostics are all right, and F1 of the new ones in percent.
LEAST_EXACT = 0.99
LEAST_F1 = 99.8


def make(grammar: Grammar, checker: Checker, name: str, path: str, string: str, seed: int, stage: "typing.Optional[int]", only: "list[str]") -> "typing.Optional[Case]":
    old = {path: Text.original(string, 0)}
    before = checker.check({path: string})
    if len(before) > MOST_DIAGNOSTICS or not before:
        return None
    lines = Lines(string)
    origins = [lines.offset(one["range"]["start"]["line"], one["range"]["start"]["character"]) for one in before]
    change = edits.Change(grammar, {path: old[path].copy()}, origins, seed)
    done = edits.choose(change, only) if stage is None or change.random.random() < 0.5 else []
    if stage is None and (not done or change.text.string == string):
        return None
    if grammars.parse(grammar, change.text.string).has_error and not grammars.parse(grammar, string).has_error:
        return None
    new = change.texts
    after = checker.check({path: text.string for path, text in new.items()})
    case = {"id": name, "kind": "+".join(done), "truth": labels.truth(before, after, old, new)}
    if stage is not None:
        # What is hidden is what the checker says without the error of the early stage, where nothing else hides it.
        if any(one["severity"] == ERROR for one in [*before, *after]):
            return None
        seen, new = case["truth"]["preexisting"], {path: text.copy() for path, text in new.items()}
        change.texts = new
        if not edits.insert_stage(change, stage):
            return None
        after = checker.check({path: text.string for path, text in new.items()})
        case["kind"] = "+".join([f"stage_{stage}", *done])
        if seed % 2:
            before, after, old, new = after, before, new, old
            seen = [(second, first) for first, second in seen]
        case["truth"] = labels.truth(before, after, old, new)
        side = 1 if seed % 2 else 0
        hidden = {pair[0] for pair in seen} if side == 0 else {pair[1] for pair in seen}
        case["truth"]["masked" if side == 0 else "revealed"] = sorted(hidden & set(case["truth"]["new" if side else "fixed"]))
    texts = {path: {"before": old[path].string if path in old else None, "after": new[path].string if path in new else None} for path in {**old, **new}}
    return {**case, "files": texts, "before": before, "after": after}


def answers(cases: "list[Case]") -> "dict[str, Case]":
    program = os.environ.get("SEXTANT", str(tools.ROOT / "target/debug/sextant"))
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([program, "diff", "--batch"], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


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

    def differ(wanted: "list[int]", found: "list[int]", unsure: "set[int]", classes: "list[int]") -> "tuple[list[int], list[int], int]":
        one = collections.Counter(classes[index] for index in wanted if index not in unsure)
        two = collections.Counter(classes[index] for index in found if index not in unsure)
        return list((two - one).elements()), list((one - two).elements()), sum((one & two).values())

    classes_before, classes_after = same(case["before"]), same(case["after"])
    extra_new, missed_new, right = differ(truth["new"], answer["new"], set(truth["unsure_after"]), classes_after)
    extra_fixed, missed_fixed, _ = differ(truth["fixed"], answer["fixed"], set(truth["unsure_before"]), classes_before)
    return {"extra_new": extra_new, "missed_new": missed_new, "extra_fixed": extra_fixed, "missed_fixed": missed_fixed}, right


def staged(case: Case, answer: Case) -> "dict[str, list[int]]":
    """What an error of an early stage hides, or its end uncovers: rightly called so, missed, and wrongly called so."""
    out: "dict[str, list[int]]" = {"right_masked": []}
    for name, unsure, all_ in (("masked", "unsure_before", "fixed"), ("revealed", "unsure_after", "new")):
        wanted = set(case["truth"].get(name, []))
        found = {index for index in answer[name] if index in case["truth"][all_] and index not in case["truth"][unsure]}
        out["right_masked"] += sorted(wanted & found)
        out[f"missed_{name}"], out[f"extra_{name}"] = sorted(wanted - found), sorted(found - wanted)
    return out


def show(case: Case, wrong: "dict[str, list[int]]") -> None:
    print(f"\n{case['id']} {case['kind']}")
    for key, indices in wrong.items():
        for index in indices[:4]:
            side = "after" if key.endswith(("new", "revealed")) else "before"
            one = case[side][index]
            row = one["range"]["start"]["line"]
            line = (case["files"][one["file"]][side] or "").split("\n")[row].strip()
            print(f"  {key} {one['file']}:{row + 1} {one['code']} {one['message'][:70]!r} | {line[:80]}")


def cases_of(name: str, options: argparse.Namespace) -> "list[Case]":
    grammar = grammars.GRAMMARS[name]
    numbers = random.Random(options.seed)
    only = options.only.split(",") if options.only else []
    cases: "list[Case]" = []
    for checker, files in sources.of(name, options.seed):
        wanted = options.n * len(files.texts) // files.of_all
        made = tries = 0
        while made < wanted and tries < 20 * wanted + 20:
            tries += 1
            path, string = numbers.choice(files.texts)
            seed = numbers.randrange(1 << 30)
            stage = made % len(grammar.stages) if options.staged else None
            case = make(grammar, checker, f"{name}-{len(cases)}", f"case.{grammar.extension}", string, seed, stage, only)
            if case:
                cases.append({**case, "language": name, "source": path})
                made += 1
        checker.end()
    return cases


def report(name: str, cases: "list[Case]", options: argparse.Namespace) -> bool:
    """Prints the figures of a language; whether they reach the goals."""
    found = answers(cases)
    whole, by_kind = Score(), collections.defaultdict(Score)
    shown = 0
    for case in cases:
        wrong, right = compare(case, found[case["id"]])
        if options.staged:
            wrong.update(staged(case, found[case["id"]]))
        whole.add(wrong, right)
        for kind in case["kind"].split("+"):
            by_kind[kind].add(wrong, right)
        if any(wrong[key] for key in wrong if key != "right_masked") and shown < options.show:
            shown += 1
            show(case, {key: indices for key, indices in wrong.items() if key != "right_masked"})
    total = sum(len(case["before"]) for case in cases), sum(len(case["after"]) for case in cases)
    print(f"{name:11s} {whole} ({total[0]} diagnostics before, {total[1]} after, {len({case['source'] for case in cases})} files)", flush=True)
    if options.kinds:
        for kind, score in sorted(by_kind.items()):
            print(f"    {kind:26s} {score}")
    return whole.exact >= LEAST_EXACT * whole.cases and whole.f1() >= LEAST_F1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=list(grammars.GRAMMARS))
    parser.add_argument("-n", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--staged", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--only", default="", help="edits, with commas")
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--load", type=pathlib.Path)
    options = parser.parse_args()
    kept: "list[Case]" = []
    if options.load:
        kept = [json.loads(line) for line in options.load.read_text(encoding="utf-8").splitlines()]
    reached = True
    try:
        for name in options.languages:
            cases = [case for case in kept if case["language"] == name] if options.load else cases_of(name, options)
            reached = report(name, cases, options) and reached
            if options.save:
                with options.save.open("a", encoding="utf-8") as out:
                    out.writelines(json.dumps(case) + "\n" for case in cases)
    except tools.Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
