"""Fetches the packages of the tasks, pinned by hash, into .tools/agent_bench, with what runs their tests.

Python's packages come through pip, crates through `cargo vendor`, and Node's through the npm that tests/tools.py
fetches. A package of Node's index may carry a C++ library: no index has those alone.
"""

import fcntl
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Several work trees may share one .tools by a link: they must not fetch it away from each other.
PLACE = pathlib.Path(os.environ.get("AGENT_BENCH_PLACE") or ROOT / ".tools" / "agent_bench").resolve()
VENV = PLACE / "venv"
PYTHON = VENV / "bin" / "python3"
PACKAGES = PLACE / "packages"
STAMP = PLACE / "ready"
# The programs for the languages beside Python: node, and the TypeScript compiler among the packages.
PROGRAMS = PLACE / "bin"
TYPESCRIPT = "typescript"
LISTS = ("tools.txt", "packages.txt", "crates.txt", "npm.txt")
# What a build or a package manager has left in a package is not the package.
DROPPED = ("*.egg-info", "PKG-INFO", ".git*", ".circleci", "__pycache__", ".cargo*", "Cargo.toml.orig")

# Who fetches Node.js and npm for the other tests.
sys.path.append(str(ROOT / "tests"))
import tools  # noqa: E402


def wanted() -> str:
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in LISTS) + f"{PLACE}\n{tools.node()}"
    return hashlib.sha256(text.encode()).hexdigest()


def pinned(name: str) -> "list[tuple[str, str, str, str]]":
    """The packages of a list: name, version, kind of hash, hash."""
    text = (HERE / name).read_text(encoding="utf-8")
    return re.findall(r"^([^#\s=]+)==(\S+) --hash=(\w+):([0-9a-f]+)$", text, re.MULTILINE)


def run(*command: object, folder: "pathlib.Path | None" = None) -> None:
    line = [str(part) for part in command]
    try:
        done = subprocess.run(
            line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False
        )
    except FileNotFoundError:
        raise SystemExit(f"agent-bench: {line[0]} is missing: install it, then try again") from None
    if done.returncode != 0:
        last = "\n".join(done.stdout.strip().splitlines()[-8:])
        hint = "check the network and the configuration of pip, cargo and npm, then try again"
        raise SystemExit(f"agent-bench: exit status {done.returncode} of {' '.join(line)}\n{last}\nagent-bench: {hint}")


def refuse(package: str, wanted_hash: str, found: str) -> None:
    if found != wanted_hash:
        raise SystemExit(f"agent-bench: {package} has the hash {found}, and {wanted_hash} is pinned")


def fetch_crates() -> None:
    """The crates into the folder of packages. What cargo has vendored has the hash that it was checked against."""
    folder = PLACE / "crates"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").touch()
    crates = pinned("crates.txt")
    lines = ["[package]", 'name = "crates"', 'version = "0.0.0"', 'edition = "2021"', "[workspace]", "[dependencies]"]
    lines += [f'{name} = {{ version = "={version}", default-features = false }}' for name, version, _, _ in crates]
    (folder / "Cargo.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("cargo", "vendor", "--quiet", folder=folder)
    for name, version, _, digest in crates:
        place = folder / "vendor" / name
        told = json.loads((place / ".cargo-checksum.json").read_text(encoding="utf-8"))
        refuse(name, digest, told["package"])
        shutil.move(str(place), str(PACKAGES / f"{name}-{version}"))


def fetch_node_packages() -> None:
    node = tools.node()
    npm = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    sources = PLACE / "npm"
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir()
    for name, version, kind, digest in pinned("npm.txt"):
        run(node, npm, "pack", "--silent", f"{name}@{version}", folder=sources)
        archive = sources / f"{name}-{version}.tgz"
        refuse(name, digest, hashlib.new(kind, archive.read_bytes()).hexdigest())
        with tarfile.open(archive) as packed:
            packed.extractall(sources, filter="data")
        shutil.move(str(sources / "package"), str(PACKAGES / f"{name}-{version}"))
    PROGRAMS.mkdir(exist_ok=True)
    versions = {name: version for name, version, _, _ in pinned("npm.txt")}
    compiler = PACKAGES / f"{TYPESCRIPT}-{versions[TYPESCRIPT]}" / "lib" / "tsc.js"
    for name, line in (("node", f"'{node}'"), ("tsc", f"'{node}' '{compiler}'")):
        (PROGRAMS / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
        (PROGRAMS / name).chmod(0o755)


@functools.lru_cache(maxsize=None)
def rust() -> "pathlib.Path | None":
    """The folder of the compiler itself: what stands for it on PATH may need its user's home, which a run has not."""
    try:
        done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        return None
    return pathlib.Path(done.stdout.strip()) / "bin" if done.returncode == 0 else None


def fetch() -> None:
    """Everything that is missing; nothing where it is all there."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with open(PLACE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted():
            return
        print("agent-bench: fetching the packages of the tasks", flush=True)
        STAMP.unlink(missing_ok=True)
        run(sys.executable, "-m", "venv", "--clear", VENV)
        pip = (PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check")
        run(*pip, "install", "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", HERE / LISTS[0])
        sources = PLACE / "sources"
        shutil.rmtree(sources, ignore_errors=True)
        # Reading a source distribution runs its build program: the pinned ones, and nothing that is fetched for it.
        alone = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation")
        run(*pip, "download", "--require-hashes", *alone, "--dest", sources, "-r", HERE / LISTS[1])
        shutil.rmtree(PACKAGES, ignore_errors=True)
        for archive in sorted(sources.glob("*.tar.gz")):
            with tarfile.open(archive) as packed:
                packed.extractall(PACKAGES, filter="data")
        fetch_crates()
        fetch_node_packages()
        for pattern in DROPPED:
            for path in sorted(PACKAGES.rglob(pattern), reverse=True):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        STAMP.write_text(wanted(), encoding="utf-8")


if __name__ == "__main__":
    fetch()
