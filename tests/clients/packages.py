"""Fetches the pinned clients, each into a folder of its own in .tools/clients."""

import fcntl
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tools  # noqa: E402

# Several work trees may share one .tools by a link.
PLACE = pathlib.Path(os.environ.get("SEXTANT_CLIENTS") or tools.TOOLS / "clients").resolve()
# Packages of Node's index. None of their install scripts is run.
NODE = {
    "inspector": ["@modelcontextprotocol/inspector@2.12.0"],
    "conformance": ["@modelcontextprotocol/conformance@0.1.16"],
    "codex": ["@openai/codex@0.169.0"],
    "codex-acp": ["@zed-industries/codex-acp@0.16.0"],
    "opencode": ["opencode-ai@1.18.33"],
    "qwen": ["@qwen-code/qwen-code@0.24.4"],
}
# Packages of Python's index, with all that they need.
PYTHON = {"fastmcp": HERE / "fastmcp.txt"}
HINT = "check the network and npm's and pip's configuration, then try again"


def node():
    return tools.node()


def fetch(name):
    """The folder of a client, fetched where it is missing."""
    folder = PLACE / name
    wanted = str(NODE[name]) if name in NODE else PYTHON[name].read_text(encoding="utf-8")
    stamp = folder / "stamp"
    folder.mkdir(parents=True, exist_ok=True)
    with open(PLACE / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return folder
        print(f"clients: fetching {name}", flush=True)
        stamp.unlink(missing_ok=True)
        if name in NODE:
            npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            options = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"]
            tools.run(name, [node(), npm, "install", *options, "--prefix", folder, *NODE[name]], HINT)
        else:
            tools.run(name, [sys.executable, "-m", "venv", "--clear", folder], "install Python's venv module (Debian: python3-venv)")
            pip = [folder / "bin" / "python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
            tools.run(name, [*pip, "--no-deps", "-r", PYTHON[name]], HINT)
        stamp.write_text(wanted, encoding="utf-8")
    return folder


def program(folder, pattern):
    """The one program of a client that this machine can run, by a pattern of its path; made executable."""
    found = sorted(folder.glob(f"node_modules/{pattern}"), key=lambda path: len(str(path)))
    if not found:
        raise tools.Missing(folder.name, f"{pattern} is not in its packages", "this machine may be of a kind that it is not made for")
    os.chmod(found[0], 0o755)
    return found[0]
