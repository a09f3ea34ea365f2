#!/usr/bin/env python3
"""Shows Sextant at work in a real Neovim with real language servers, on a copy of a small project.

In a terminal it opens Neovim and says what to type. Otherwise it prints a transcript, and ends with a
status other than 0 when the job was not done. `make demo` builds the binary and names the tools; `LANG=typescript`
takes another project than the Python one. So does `LANG=rust`, with the file of rust-analyzer in RUST_ANALYZER.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests" / "demo"
PLACE = ROOT / ".demo"
BINARY = ROOT / "target" / "debug" / "sextant"
# What the checkers leave behind is not the project, and neither is what Sextant remembers of it.
LEFT_BEHIND = {".ruff_cache", "__pycache__", "target"}
# Seconds for the whole of it; every single wait inside has its own, shorter end.
PATIENCE = 600


class Demo(typing.NamedTuple):
    """A project, the file that is made clean, the servers beside the tools, and the sources that they report under."""

    project: str
    file: str
    servers: "dict[str, str]"
    sources: str
    # A variable with the file of a server that no package has.
    variable: str = ""


DEMOS = {
    "python": Demo("shop", "src/shop/report.py", {"basedpyright-langserver": "", "ruff": ""}, "basedpyright ruff"),
    "typescript": Demo("storefront", "src/receipt.ts", {"vtsls": "../../languages/bin"}, "ts"),
    "rust": Demo("bakery", "src/order.rs", {}, "rustc", "RUST_ANALYZER"),
}


def fail(text: str) -> typing.NoReturn:
    print(f"demo: {text}", flush=True)
    sys.exit(1)


def tool(variable: str, inside: str = "") -> pathlib.Path:
    folder = os.environ.get(variable)
    if not folder:
        fail(f"{variable} is not set; start it with make demo")
    path = pathlib.Path(folder) / inside
    if not path.exists():
        fail(f"{path} is missing; make tools fetches it")
    return path


def files(folder: pathlib.Path) -> "dict[str, bytes]":
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not LEFT_BEHIND.intersection(path.parts):
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def environment(place: pathlib.Path, binary: pathlib.Path, demo: Demo = DEMOS["python"]) -> "dict[str, str]":
    """The user's own, but with no trace of their Neovim configuration."""
    env = dict(os.environ)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        folder = place / "home" / name
        folder.mkdir(parents=True, exist_ok=True)
        env[name] = str(folder)
    for name in ("VIMINIT", "NVIM", "NVIM_APPNAME", "NVIM_LISTEN_ADDRESS"):
        env.pop(name, None)
    env["SEXTANT_DEMO_ROOT"] = str(ROOT)
    env["SEXTANT_DEMO_BINARY"] = str(binary)
    env["SEXTANT_DEMO_FILE"] = demo.file
    env["SEXTANT_DEMO_SOURCES"] = demo.sources
    return env


def neovim(script: str) -> "list[str]":
    """Neovim with the plugin and the servers, and what it does then."""
    command = [str(tool("SEXTANT_NVIM")), "--clean", "-n"]
    command += ["--cmd", "let &runtimepath = $SEXTANT_DEMO_ROOT . ',' . &runtimepath"]
    for name in ("servers", script):
        command += ["-c", f"luafile $SEXTANT_DEMO_ROOT/tests/demo/{name}.lua"]
    return command


def fresh_copy(project: pathlib.Path, place: pathlib.Path) -> pathlib.Path:
    copy = place / project.name
    for folder in (copy, place / "home"):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    return copy


def transcript(
    project: pathlib.Path, place: pathlib.Path, binary: pathlib.Path, demo: Demo = DEMOS["python"]
) -> None:
    """Works on a copy of the project without a terminal; ends the program where the job was not done."""
    copy = fresh_copy(project, place)
    before = files(copy)
    env = environment(place, binary, demo)
    # Neovim's messages; the transcript says the same in its own order.
    with open(place / "messages", "w+", encoding="utf-8", errors="replace") as messages:
        try:
            status = subprocess.run(
                [*neovim("transcript"), "--headless"],
                cwd=copy,
                env=env,
                check=False,
                stdin=subprocess.DEVNULL,
                stderr=messages,
                timeout=PATIENCE,
            ).returncode
        except subprocess.TimeoutExpired:
            fail(f"no end after {PATIENCE} s")
        if status != 0:
            messages.seek(0)
            print(messages.read(), flush=True)
            fail("the job was not done; the lines above say why")
    after = files(copy)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        fail(f"the workspace is not what it was: {', '.join(changed)}")
    size = sum(len(content) for content in after.values())
    print(f"\nThe workspace is what it was, byte for byte ({len(after)} files, {size} bytes).", flush=True)


def main() -> int:
    # A shell's own LANG is a locale.
    language = sys.argv[1] if len(sys.argv) > 1 else "python"
    if language not in DEMOS:
        fail(f"there is no demo for LANG={language}, only for {' and '.join(DEMOS)}")
    demo = DEMOS[language]
    shop = ROOT / "tests" / "fixtures" / demo.project
    tool("SEXTANT_NVIM")
    if demo.variable and not os.path.isfile(os.environ.get(demo.variable, "")):
        fail(f"{demo.variable} is not set to the file of the server")
    for name, folder in demo.servers.items():
        tool("SEXTANT_TOOLS", f"{folder}/{name}" if folder else name)
    if not BINARY.exists():
        fail(f"{BINARY} is missing; cargo build makes it")
    PLACE.mkdir(exist_ok=True)
    lock = open(PLACE / "lock", "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        fail(f"another demo runs in {PLACE}")
    if sys.stdin.isatty() and sys.stdout.isatty():
        copy, env = fresh_copy(shop, PLACE), environment(PLACE, BINARY, demo)
        return subprocess.run(neovim("interactive"), cwd=copy, env=env, check=False).returncode
    transcript(shop, PLACE, BINARY, demo)
    return 0


if __name__ == "__main__":
    sys.exit(main())
