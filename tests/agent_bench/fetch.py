"""Fetches the packages of the tasks, pinned by hash, into .tools/agent_bench, with what runs their tests."""

import fcntl
import hashlib
import os
import pathlib
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
LISTS = ("tools.txt", "packages.txt")
# What a build has left in a source distribution is not the package.
DROPPED = ("*.egg-info", "PKG-INFO", ".git*", ".circleci", "__pycache__")


def wanted() -> str:
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in LISTS) + str(PLACE)
    return hashlib.sha256(text.encode()).hexdigest()


def run(*command: object) -> None:
    line = [str(part) for part in command]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    if done.returncode != 0:
        last = "\n".join(done.stdout.strip().splitlines()[-8:])
        hint = "check the network and pip's configuration, then try again"
        raise SystemExit(f"agent-bench: exit status {done.returncode} of {' '.join(line)}\n{last}\nagent-bench: {hint}")


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
        for pattern in DROPPED:
            for path in sorted(PACKAGES.rglob(pattern), reverse=True):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        STAMP.write_text(wanted(), encoding="utf-8")


if __name__ == "__main__":
    fetch()
