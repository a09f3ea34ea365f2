"""The compiler is content without being silenced, and every selector of the fixtures is read and written as before."""

import pathlib
import re

import checks
import compilers
import fetch

SILENT = r"@ts-|eslint-disable|\bas (?!const\b)[A-Za-z]|<any>|: any\b|[\w\])]!(?=[.\[;,)\s])(?!=)"
for name in ("src/parse.ts", "src/stringify.ts"):
    was = (fetch.PACKAGES / "css-what-7.0.0" / name).read_text(encoding="utf-8")
    now = pathlib.Path(name).read_text(encoding="utf-8")
    assert len(re.findall(SILENT, now)) <= len(re.findall(SILENT, was)), f"{name} is silenced"
checks.run(pathlib.Path("."), *compilers.TSC)
checks.typescript(
    """
import {parse} from "./parse";
import {stringify} from "./stringify";
import {tests} from "./__fixtures__/tests";

for (const [selector, expected, message] of tests) {
    const found = parse(selector);
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
        // The order of the keys is not looked at.
        const sorted = (value: unknown): unknown =>
            Array.isArray(value)
                ? value.map(sorted)
                : value && typeof value === "object"
                  ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)])
                  : value;
        if (JSON.stringify(sorted(found)) !== JSON.stringify(sorted(expected))) throw new Error(`parse: ${message}`);
    }
    if (JSON.stringify(parse(stringify(found))) !== JSON.stringify(found)) throw new Error(`stringify: ${message}`);
}
for (const broken of ["[", "(", ",", ",a", "a,", "#", "> >", "a > + b", "/*", ":has(p", "a ,"]) {
    let failed = false;
    try {
        parse(broken);
    } catch {
        failed = true;
    }
    if (!failed) throw new Error(`it is no selector: ${broken}`);
}
for (const [from, to] of [["*", "*"], ["*.a", "*.a"], ["*|*#b", "#b"], ["* > a", "* > a"], ["a  >  b", "a > b"], [" a ", "a"]]) {
    if (stringify(parse(from)) !== to) throw new Error(`${from} becomes ${stringify(parse(from))}`);
}
"""
)
