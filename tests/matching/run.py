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
import subprocess
import sys

import cases
import grammars
import score
import tools
from cases import Case
from score import Score

# What the matcher is to reach: cases whose new and fixed diagnostics are all right, and F1 of the new ones in percent.
LEAST_EXACT = 0.99
LEAST_F1 = 99.8


def answers(made: "list[Case]") -> "dict[str, Case]":
    program = os.environ.get("SEXTANT", str(tools.ROOT / "target/debug/sextant"))
    lines = "".join(json.dumps(case) + "\n" for case in made)
    done = subprocess.run([program, "diff", "--batch"], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def show(case: Case, wrong: "dict[str, list[int]]") -> None:
    print(f"\n{case['id']} {case['kind']}")
    for key, indices in wrong.items():
        for index in indices[:4]:
            side = "after" if key.endswith(("new", "revealed")) else "before"
            one = case[side][index]
            row = one["range"]["start"]["line"]
            line = (case["files"][one["file"]][side] or "").split("\n")[row].strip()
            print(f"  {key} {one['file']}:{row + 1} {one['code']} {one['message'][:70]!r} | {line[:80]}")


def report(name: str, made: "list[Case]", options: argparse.Namespace) -> bool:
    """Prints the figures of a language; whether they reach the goals."""
    found = answers(made)
    whole, by_kind = Score(), collections.defaultdict(Score)
    shown = 0
    for case in made:
        wrong, right = score.compare(case, found[case["id"]])
        if options.staged:
            wrong.update(score.staged(case, found[case["id"]]))
        whole.add(wrong, right)
        for kind in case["kind"].split("+"):
            by_kind[kind].add(wrong, right)
        if any(wrong[key] for key in wrong if key != "right_masked") and shown < options.show:
            shown += 1
            show(case, {key: indices for key, indices in wrong.items() if key != "right_masked"})
    total = sum(len(case["before"]) for case in made), sum(len(case["after"]) for case in made)
    print(
        f"{name:11s} {whole} ({total[0]} diagnostics before, {total[1]} after, {len({case['source'] for case in made})} files)",
        flush=True,
    )
    if options.kinds:
        for kind, part in sorted(by_kind.items()):
            print(f"    {kind:26s} {part}")
    return whole.exact >= LEAST_EXACT * whole.cases and whole.f1() >= LEAST_F1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", help="all by default; with --staged those with stages")
    parser.add_argument("-n", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--staged", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--only", default="", help="edits, with commas")
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--load", type=pathlib.Path)
    options = parser.parse_args()
    known = [name for name, grammar in grammars.GRAMMARS.items() if grammar.stages or not options.staged]
    if wrong := [name for name in options.languages if name not in known]:
        parser.error(f"no cases of {', '.join(wrong)}; take some of {', '.join(known)}")
    kept: "list[Case]" = []
    if options.load:
        kept = [json.loads(line) for line in options.load.read_text(encoding="utf-8").splitlines()]
    reached = True
    try:
        for name in options.languages or known:
            if options.load:
                made = [case for case in kept if case["language"] == name]
            else:
                only = options.only.split(",") if options.only else []
                made = cases.of_language(name, options.n, options.seed, options.staged, only)
            reached = report(name, made, options) and reached
            if options.save:
                with options.save.open("a", encoding="utf-8") as out:
                    out.writelines(json.dumps(case) + "\n" for case in made)
    except tools.Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
