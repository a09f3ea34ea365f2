"""A small project, and a running Neovim that has a file of it open with changes that are not saved."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# One error stands in it before, and nobody may be told of it again.
SAVED = 'def old() -> int:\n    return "x"\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n'
# Lines that only the buffer has.
UNSAVED = "\n\ndef tax(price: int) -> int:\n    return price // 5"
# The edit of every client: of a line that is not on the disk.
OLD, NEW = "return price // 5", "return str(price // 5)"
BUFFER = f"{SAVED}{UNSAVED}\n"
EDITED = BUFFER.replace(OLD, NEW)
# All that it introduces.
INTRODUCED = {"severity": "error", "symbol": "tax", "line": 10, "code": "reportReturnType", "source": "lsp:basedpyright"}
# Seconds for anything at all of the editor.
PATIENCE = 180


class Failed(Exception):
    """What should have held and did not."""


def needed(variable, default, name):
    path = pathlib.Path(os.environ.get(variable, str(REPOSITORY / default))) / name
    if not path.exists():
        raise Failed(f"{path} is missing: make tools fetches it")
    return path


def binary():
    path = pathlib.Path(os.environ.get("SEXTANT_CLIENTS_BINARY", str(REPOSITORY / "target/debug/sextant")))
    if not path.exists():
        raise Failed(f"{path} is missing: cargo build makes it")
    return path


def clean(home):
    """The user's variables without those that would lead to the user's own files."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("XDG_", "NVIM", "VIM", "SEXTANT_"))}
    return {**kept, "HOME": str(home)}


def remove(folder):
    """Removes a folder; what ends just now may still write into it."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return shutil.rmtree(folder)
        except OSError:
            if time.monotonic() > deadline:
                raise


def sextant(root, home, *arguments):
    """What the program prints in a project; the lines that it says beside that where it fails."""
    done = subprocess.run(
        [binary(), *arguments], cwd=root, env=clean(home), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
    )
    if done.returncode != 0:
        raise Failed(f"sextant {' '.join(arguments)}: {done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout.decode()


class Neovim:
    """A Neovim with the plugin that runs a script, in a project and with a home folder."""

    def __init__(self, root, home, socket, script, variables):
        self.home, self.socket = home, socket
        self.nvim = needed("SEXTANT_NVIM", ".tools/bin/nvim", "")
        tools = needed("SEXTANT_TOOLS", ".tools/venv/bin", "ruff").parent
        about = {"SEXTANT_TOOLS": str(tools), "SEXTANT_CLIENTS_BINARY": str(binary()), **variables}
        command = [self.nvim, "--clean", "--headless", "-n", "--listen", socket]
        command += ["--cmd", f"set runtimepath^={REPOSITORY}", "-c", f"luafile {REPOSITORY}/tests/clients/{script}"]
        self.process = subprocess.Popen(
            command, cwd=root, env={**clean(home), **about}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )

    def ready(self):
        """Waits for its word that it is as its script has it."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        word = self.process.stdout.readline().decode().strip()
        timer.cancel()
        if word != "ready":
            raise Failed(f"Neovim has not come up: {word!r}")

    def lua(self, code):
        """What a Lua expression gives inside of Neovim."""
        quoted = f"vim.json.encode({code})".replace("'", "''")
        done = subprocess.run(
            [self.nvim, "--server", self.socket, "--remote-expr", f"luaeval('{quoted}')"],
            env=clean(self.home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
        )
        if done.returncode != 0:
            raise Failed(f"{code}: {done.stderr.decode()}")
        return json.loads(done.stdout.decode())

    def text(self, file):
        return "\n".join(self.lua(f"vim.api.nvim_buf_get_lines(vim.fn.bufnr('{file}'), 0, -1, true)")) + "\n"

    def close(self):
        if self.process.poll() is None:
            try:
                self.lua("vim.cmd('qall!')")
            except (Failed, subprocess.TimeoutExpired):
                pass
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()


class Editor:
    """A Neovim in a folder of its own. What it and the clients share is the home folder alone, as with a user."""

    def __init__(self):
        self.beside = pathlib.Path(tempfile.mkdtemp(prefix="sextant-clients-"))
        self.root, self.home = self.beside / "project", self.beside / "home"
        for folder in (self.root, self.home):
            folder.mkdir()
        (self.root / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
        (self.root / "cart.py").write_text(SAVED)
        self.environment = clean(self.home)
        self.neovim = Neovim(self.root, self.home, self.beside / "nvim", "editor.lua", {"SEXTANT_CLIENTS_UNSAVED": UNSAVED})

    def ready(self):
        self.neovim.ready()
        if self.text() != BUFFER:
            raise Failed(f"the buffer is not as it should be: {self.text()!r}")
        listed = json.loads(self.sextant("sessions", "--json"))["sessions"]
        if not any(entry["root"] == str(self.root.resolve()) for entry in listed):
            raise Failed(f"the session of Neovim is not among {listed}")
        return self

    def sextant(self, *arguments):
        return sextant(self.root, self.home, *arguments)

    def text(self):
        return self.neovim.text("cart.py")

    def edited(self):
        """Holds the buffer, the disk and one step of Neovim's own undo against what the edit should have done."""
        if self.text() != EDITED:
            raise Failed(f"the buffer: {self.text()!r}")
        if (self.root / "cart.py").read_text() != SAVED:
            raise Failed("the file was saved, which is the user's to do")
        if not self.neovim.lua("vim.bo[vim.fn.bufnr('cart.py')].modified"):
            raise Failed("the buffer is taken for saved")
        # The list is shown behind the answer.
        wait = "vim.wait(30000, function() return #vim.fn.getqflist() > 0 end)"
        listed = self.neovim.lua(f"{wait} and vim.tbl_map(function(item) return item.text end, vim.fn.getqflist())")
        if not listed or len(listed) != 1 or INTRODUCED["code"] not in listed[0]:
            raise Failed(f"the quickfix list: {listed}")

    def undo(self, client):
        """`sextant undo` takes back what this client did, and that alone."""
        said = self.sextant("undo")
        if f"edits of {client}" not in said:
            raise Failed(f"the undo does not name {client}: {said}")
        if self.text() != BUFFER:
            raise Failed(f"after the undo: {self.text()!r}")

    def close(self):
        self.neovim.close()
        remove(self.beside)
