"""The function has its new name everywhere and only that, and drafts of objects, maps and sets work as before."""

import pathlib
import re

import checks

for path in pathlib.Path("src").rglob("*.ts"):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\blatest\b(?=\(|,)", text), f"{path} has the old name"
assert "export function latestState(" in pathlib.Path("src/utils/common.ts").read_text(encoding="utf-8"), "no new name"
counts = {name: pathlib.Path(name).read_text(encoding="utf-8").count("latestState(") for name in ("src/core/proxy.ts", "src/plugins/mapset.ts")}
assert counts == {"src/core/proxy.ts": 7, "src/plugins/mapset.ts": 11}, f"uses: {counts}"
checks.typescript(
    """
import {produce, enableMapSet} from "./immer"

enableMapSet()
const map: Map<string, number> = produce(new Map([["a", 1]]), (draft: Map<string, number>) => {
	draft.set("b", 2)
	if (draft.size !== 2 || !draft.has("b")) throw new Error("map")
})
const set: Set<number> = produce(new Set([1]), (draft: Set<number>) => void draft.add(2))
const list = produce({items: [1], name: "x"}, draft => {
	draft.items.push(2)
	if (!("name" in draft) || Object.keys(draft).length !== 2) throw new Error("object")
})
if (map.size !== 2 || set.size !== 2 || list.items.length !== 2) throw new Error("results")
"""
)
