"""What the check of a task in Rust, TypeScript or C++ runs: a program of its own, compiled against the package.

It works on a copy, so that the project stays as it was judged.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def fail(text: str, last: int = 12) -> None:
    # The last line is what is read: the reason, and not the trace or the marks below it.
    lines = [line for line in text.partition("\n    at ")[0].splitlines() if line.strip()]
    reasons = [line for line in lines if re.search(r"\berror\b|panicked|Error: ", line)]
    print("\n".join([*lines[-last:], *reasons[:1]]), file=sys.stderr)
    raise SystemExit(1)


def run(folder: pathlib.Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        fail(done.stdout)
    return done.stdout


def copied(files: "dict[str, str]") -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="agent-bench-check-", dir=tempfile.gettempdir())) / "package"
    shutil.copytree(".", folder, ignore=shutil.ignore_patterns("target", "build", ".sextant"))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def rust(text: str) -> None:
    """A test program beside the package's own."""
    folder = copied({"tests/outside.rs": text})
    try:
        # A crate may list its tests, and look for none.
        manifest = folder / "Cargo.toml"
        if "autotests = false" in manifest.read_text(encoding="utf-8"):
            with open(manifest, "a", encoding="utf-8") as file:
                file.write('\n[[test]]\nname = "outside"\npath = "tests/outside.rs"\n')
        run(folder, "cargo", "test", "--quiet", "--test", "outside")
    finally:
        shutil.rmtree(folder.parent)


def typescript(text: str) -> None:
    """A module that throws where something is wrong, compiled with the sources and run."""
    folder = copied({"src/outside.ts": text, "out/package.json": '{"type": "commonjs"}\n'})
    try:
        plain = ["--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10", "--ignoreDeprecations", "5.0"]
        declared = [path.relative_to(folder).as_posix() for path in sorted((folder / "src").rglob("*.d.ts"))]
        run(folder, "tsc", "src/outside.ts", *declared, "--outDir", "out", "--skipLibCheck", "--strict", *plain)
        run(folder, "node", "out/outside.js")
    finally:
        shutil.rmtree(folder.parent)


def cpp(text: str, sources: "list[str]", flags: "list[str]") -> None:
    """A program that returns 0 where all is right."""
    folder = copied({"outside.cc": text})
    try:
        run(folder, "c++", *flags, "-o", "outside", "outside.cc", *sources)
        run(folder, "./outside")
    finally:
        shutil.rmtree(folder.parent)
