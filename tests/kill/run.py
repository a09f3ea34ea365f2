"""Kills a planner run at random moments, and holds what is left against what must be.

Three kinds of runs, each on a small Python project with the real ruff and the offline model:

- headless: `sextant plan --approve`, killed with all that it started;
- sextant: the same plan in a real Neovim; the sextant process is killed, and Neovim lives on;
- both: Neovim and sextant are killed.

After each: every file, and every buffer of a Neovim that lives on, is a text that an uninterrupted run had before
or after a whole tool call (a file that a killed Neovim was writing may be cut off if its backup is one, and counts
as torn: what follows must repair it); the memory file is whole; a resume brings the final texts of the uninterrupted run; an
undo brings the start, byte for byte. Prints a table and exits with 1 unless all of that holds each time.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

def function(name, indent=""):
    return f'{indent}def {name}(self=0):\n{indent}    return f"{name}"\n'


NAMES = ["first", "second", "third", "fourth", "fifth"]
FILES = {
    "pyproject.toml": "[project]\nname = \"shop\"\nversion = \"1\"\n",
    "a.py": "\n\n".join(function(name) for name in NAMES),
    # Other line ends and a mark, and no line end at the end: what comes back must have them too.
    "b.py": "\ufeff" + "\n\n".join(function(name) for name in NAMES).replace("\n", "\r\n"),
    "c.py": ("class Cart:\n" + "\n".join(function(name, "    ") for name in NAMES)).rstrip("\n"),
}
SYMBOLS = [f"{file}::{name}" for file in ("a.py", "b.py") for name in NAMES] + [f"c.py::Cart::{name}" for name in NAMES]
REQUEST = "fix this"


class Failed(Exception):
    """What should have held and did not."""


class Tools:
    def __init__(self, given):
        folder = os.environ.get("SEXTANT_TOOLS", str(REPOSITORY / ".tools/venv/bin"))
        self.ruff = pathlib.Path(folder) / "ruff"
        self.nvim = pathlib.Path(os.environ.get("SEXTANT_NVIM", str(REPOSITORY / ".tools/bin/nvim")))
        self.sextant = pathlib.Path(given or REPOSITORY / "target/debug/sextant").resolve()
        for tool in (self.ruff, self.nvim, self.sextant):
            if not tool.exists():
                sys.exit(f"{tool.name} is needed: {tool} is not there")


class Run:
    """One project in a folder of its own."""

    def __init__(self, tools):
        self.tools = tools
        self.beside = pathlib.Path(tempfile.mkdtemp(prefix="sextant-kill-"))
        self.root = self.beside / "project"
        self.root.mkdir()
        for name, text in FILES.items():
            (self.root / name).write_bytes(text.encode())
        os.chmod(self.root / "c.py", 0o755)
        config = self.beside / "config.toml"
        command = json.dumps([str(tools.ruff), "server"])
        config.write_text(f"[[servers]]\nname = \"ruff\"\ncommand = {command}\n")
        self.config = config
        self.environment = {
            **os.environ,
            "HOME": str(self.beside),
            **{name: str(self.beside / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")},
        }

    def remove(self):
        shutil.rmtree(self.beside, ignore_errors=True)

    def files(self):
        return {name: (self.root / name).read_bytes() if (self.root / name).exists() else None for name in FILES}

    def leftovers(self):
        return [path.name for path in self.root.iterdir() if ".sextant-" in path.name]

    def start(self, *arguments):
        patience = [] if arguments[0] in ("undo", "redo") else ["--timeout-ms", "20000"]
        command = [str(self.tools.sextant), *arguments, "--config", str(self.config), *patience]
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )

    def plan(self):
        symbols = [part for symbol in SYMBOLS for part in ("--symbol", symbol)]
        return self.start("plan", REQUEST, *symbols, "--approve")

    def finish(self, *arguments):
        process = self.start(*arguments)
        out, _ = process.communicate(timeout=180)
        return process.returncode, out.decode(errors="replace")

    def database(self):
        found = list((self.beside / "XDG_STATE_HOME" / "sextant" / "workspaces").glob("*/memory.db"))
        return found[0] if found else self.beside / "no-memory.db"

    def check_database(self):
        if not self.database().exists():
            return
        connection = sqlite3.connect(self.database())
        try:
            (word,) = connection.execute("PRAGMA integrity_check").fetchone()
        finally:
            connection.close()
        if word != "ok":
            raise Failed(f"the memory file: {word}")
        if list(self.database().parent.glob("*.damaged*")):
            raise Failed("the memory file was set aside")

    def undo_whole(self, start, edited):
        """Undoes all that was done; after it every file is as it was."""
        if edited:
            code, out = self.finish("undo")
            if code != 0:
                raise Failed(f"undo: {out}")
        now = self.files()
        if now != start:
            raise Failed(f"after the undo: {differences(now, start)}")
        if (self.root / "c.py").stat().st_mode & 0o777 != 0o755:
            raise Failed("the mode of c.py changed")
        if self.leftovers():
            raise Failed(f"left behind: {self.leftovers()}")


def differences(now, wanted):
    return "; ".join(f"{name}: {now[name]!r} instead of {wanted[name]!r}" for name in wanted if now[name] != wanted[name])


class Reference:
    """An uninterrupted run: its texts after each tool call, its end and how long it took."""

    def __init__(self, tools, repeat=3):
        self.durations = []
        for _ in range(repeat):
            run = Run(tools)
            start = run.files()
            began = time.monotonic()
            process = run.plan()
            out, _ = process.communicate(timeout=300)
            self.durations.append(time.monotonic() - began)
            if process.returncode != 0:
                sys.exit(f"the uninterrupted run failed:\n{out.decode()}")
            self.start, self.end = start, run.files()
            run.check_database()
            self.legal = {name: {data} for name, data in start.items()}
            connection = sqlite3.connect(run.database())
            rows = connection.execute("SELECT id FROM checkpoints WHERE reason = 'edit'").fetchall()
            connection.close()
            self.edits = len(rows)
            self.legal_from(run)
            run.undo_whole(start, True)
            run.remove()
        for name, data in self.end.items():
            self.legal[name].add(data)
        self.duration = min(self.durations)
        print(f"legal texts: {', '.join(f'{name} {len(texts)}' for name, texts in self.legal.items())}")
        changed = [name for name in FILES if self.end[name] != self.start[name]]
        if len(changed) < 3 or self.edits < 4:
            sys.exit(f"the plan is too small to tell anything: {changed}, {self.edits} edits")

    def legal_from(self, run):
        """The texts before and after each tool call, with the file's own line ends and mark."""
        import zlib

        connection = sqlite3.connect(run.database())
        sql = (
            "SELECT path, packed, bytes FROM checkpoint_files JOIN checkpoints ON checkpoints.id = checkpoint "
            "JOIN blobs ON blobs.id IN (before_blob, after_blob) WHERE reason = 'edit'"
        )
        for path, packed, data in connection.execute(sql):
            text = zlib.decompress(data, -15) if packed else data
            if FILES[path].startswith("\ufeff"):
                text = b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")
            self.legal[path].add(text)
        connection.close()

    def check(self, files, what):
        for name, data in files.items():
            if data not in self.legal[name]:
                raise Failed(f"{what}: {name} is {data!r}, which no whole tool call left")

    def torn(self, run):
        """A file that Neovim itself was writing, with its backup beside it: the next command has to repair it."""
        files, found = run.files(), 0
        for name, data in files.items():
            backup = run.root / f"{name}~"
            cut = data is None or any(text.startswith(data) for text in self.legal[name])
            if data not in self.legal[name] and cut and backup.exists() and backup.read_bytes() in self.legal[name]:
                files[name] = backup.read_bytes()
                found += 1
        self.check(files, "after the kill")
        return found


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def resume_and_undo(run, reference):
    """From whatever a kill left to the end and back to the start, with the shell's commands."""
    code, out = run.finish("resume", "--approve")
    if "there is nothing to resume" in out:
        # Killed before the plan was made, or after its end.
        if run.files() not in (reference.start, reference.end):
            raise Failed(f"nothing to resume, and neither start nor end: {out}")
        if run.files() == reference.start:
            process = run.plan()
            out, _ = process.communicate(timeout=300)
            code, out = process.returncode, out.decode(errors="replace")
        else:
            code = 0
    if code != 0 or run.files() != reference.end:
        raise Failed(f"resume ({code}): {differences(run.files(), reference.end)}\n{out}")
    run.check_database()
    run.undo_whole(reference.start, True)


def headless(tools, reference, moment):
    run = Run(tools)
    try:
        process = run.plan()
        time.sleep(moment)
        over = process.poll() is not None
        kill_group(process)
        process.communicate()
        reference.check(run.files(), "after the kill")
        run.check_database()
        stage = "end" if run.files() == reference.end else "start" if run.files() == reference.start else "middle"
        resume_and_undo(run, reference)
        return "over" if over else stage
    finally:
        run.remove()


NVIM_INIT = r"""
vim.opt.runtimepath:prepend(vim.env.KILL_REPOSITORY)
vim.o.swapfile = false
-- A message would be an error of whatever question is being answered.
vim.notify = function() end
vim.lsp.config('ruff', { cmd = { vim.env.KILL_RUFF, 'server' }, filetypes = { 'python' }, root_markers = { 'pyproject.toml' } })
vim.lsp.enable('ruff')
require('sextant').setup({
  binary = vim.env.KILL_SEXTANT,
  diagnostics = { timeout_ms = 20000, start_timeout_ms = 60000 },
})
for _, name in ipairs({ 'Finished', 'Failed', 'Plan', 'Interrupted' }) do
  vim.api.nvim_create_autocmd('User', { pattern = 'Sextant' .. name, callback = function(args)
    local file = assert(io.open(vim.env.KILL_EVENTS, 'a'))
    file:write(vim.json.encode({ name, args.data or vim.empty_dict() }) .. '\n')
    file:close()
  end })
end
"""


class Neovim:
    """A real Neovim without a screen, spoken to through `--remote-expr`."""

    def __init__(self, run):
        self.run = run
        self.socket = run.beside / f"nvim-{random.random()}"
        self.events = run.beside / f"events-{random.random()}"
        self.events.touch()
        init = run.beside / "init.lua"
        init.write_text(NVIM_INIT)
        environment = {
            **run.environment,
            "KILL_REPOSITORY": str(REPOSITORY),
            "KILL_RUFF": str(run.tools.ruff),
            "KILL_SEXTANT": str(run.tools.sextant),
            "KILL_EVENTS": str(self.events),
        }
        command = [str(run.tools.nvim), "--clean", "-u", str(init), "--headless", "--listen", str(self.socket)]
        self.process = subprocess.Popen(
            command, cwd=run.root, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not self.listens():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise Failed(f"Neovim did not start ({self.process.poll()})")
            time.sleep(0.01)

    def listens(self):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(self.socket))
            except OSError:
                return False
        return True

    def lua(self, code):
        expression = "luaeval(" + json.dumps(f"vim.json.encode(((function() {code} end)()))") + ")"
        command = [str(self.run.tools.nvim), "--server", str(self.socket), "--remote-expr", expression]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=self.run.environment)
        if done.returncode != 0:
            raise Failed(f"Neovim ({self.process.poll()}): {done.stderr}")
        return json.loads(done.stdout or "null")

    def command(self, text):
        self.lua(f"vim.cmd([[{text}]]) return true")

    def heard(self):
        lines = self.events.read_text().splitlines()
        return [json.loads(line) for line in lines]

    def wait(self, *names, since=0):
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            for name, data in self.heard()[since:]:
                if name in names:
                    return name, data
            time.sleep(0.02)
        raise Failed(f"no {names} from Neovim; heard {self.heard()[since:]}")

    def open_all(self):
        for name in FILES:
            if name.endswith(".py"):
                self.command(f"edit {name}")
        # A plan about the files needs to hear of them first.
        self.lua("return vim.wait(60000, function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end)")

    def sextant_pid(self):
        code = "for _, c in ipairs(vim.api.nvim_list_chans()) do if c.client and c.client.name == 'sextant' then return vim.fn.jobpid(c.id) end end return 0"
        return self.lua(code)

    def buffers(self):
        """Each file as it would be written, from its buffer."""
        code = (
            "local out = {} for _, b in ipairs(vim.api.nvim_list_bufs()) do "
            "if vim.api.nvim_buf_is_loaded(b) and vim.bo[b].buftype == '' and vim.api.nvim_buf_get_name(b) ~= '' then "
            "out[vim.fs.basename(vim.api.nvim_buf_get_name(b))] = { lines = vim.api.nvim_buf_get_lines(b, 0, -1, false), "
            "dos = vim.bo[b].fileformat == 'dos', bom = vim.bo[b].bomb, eol = vim.bo[b].endofline } end end return out"
        )
        out = {}
        for name, buffer in self.lua(code).items():
            if name in FILES:
                end = "\r\n" if buffer["dos"] else "\n"
                text = end.join(buffer["lines"]) + (end if buffer["eol"] else "")
                out[name] = (("\ufeff" if buffer["bom"] else "") + text).encode()
        return out

    def plan(self):
        """Plans a file; the others are open beside it."""
        self.command("edit b.py")
        self.command("AgentPlan " + REQUEST)

    def kill(self):
        kill_group(self.process)


def nvim_plan(editor):
    editor.open_all()
    editor.plan()
    name, data = editor.wait("Plan", "Failed")
    if name != "Plan":
        raise Failed(f"no plan: {data}")


def nvim_approve(editor):
    editor.lua("require('sextant.rpc.channel').send('approve', { steps = 'all' }) return true")


class NvimReference(Reference):
    def __init__(self, tools):
        run = Run(tools)
        self.start = run.files()
        editor = Neovim(run)
        try:
            nvim_plan(editor)
            began = time.monotonic()
            since = len(editor.heard())
            nvim_approve(editor)
            name, data = editor.wait("Finished", "Failed", since=since)
            self.duration = time.monotonic() - began
            if name != "Finished" or not data["ok"]:
                sys.exit(f"the uninterrupted run in Neovim failed: {data}")
            self.end = run.files()
            self.legal = {name: {data, self.end[name]} for name, data in self.start.items()}
            self.legal_from(run)
            if self.end == self.start:
                sys.exit("the plan in Neovim changed nothing")
        finally:
            editor.kill()
            run.remove()


def in_neovim(tools, reference, moment, both):
    run = Run(tools)
    editor = Neovim(run)
    try:
        nvim_plan(editor)
        pid = editor.sextant_pid()
        nvim_approve(editor)
        time.sleep(moment)
        since = len(editor.heard())
        os.kill(pid, signal.SIGKILL)
        if both:
            editor.kill()
        else:
            # What Neovim was told before the kill it still carries out.
            editor.lua("return vim.wait(300)")
            reference.check(editor.buffers(), "the buffers after the kill")
        torn = reference.torn(run) if both else reference.check(run.files(), "after the kill")
        run.check_database()
        over = run.files() == reference.end
        stage = "torn" if torn else "end" if over else "start" if run.files() == reference.start else "middle"
        if both:
            editor = Neovim(run)
            editor.open_all()
            since = 0
        editor.command("AgentResume")
        name, data = editor.wait("Finished", "Failed", since=since)
        if name == "Failed" and "nothing to resume" not in json.dumps(data):
            raise Failed(f"resume in Neovim: {data}")
        if name == "Finished" and run.files() == reference.start:
            # It was shown, and waits for approval.
            since = len(editor.heard())
            nvim_approve(editor)
            editor.wait("Finished", since=since)
        if run.files() != reference.end:
            raise Failed(f"resume in Neovim: {differences(run.files(), reference.end)}; {data}")
        since = len(editor.heard())
        editor.command("AgentUndo")
        name, data = editor.wait("Finished", "Failed", since=since)
        if run.files() != reference.start:
            raise Failed(f"undo in Neovim: {differences(run.files(), reference.start)}; {data}")
        buffers = editor.buffers()
        if any(buffers[name] != reference.start[name] for name in buffers):
            raise Failed("the buffers are not the files")
        run.check_database()
        return stage
    finally:
        editor.kill()
        run.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=200, help="runs in all [200]")
    parser.add_argument("--seed", type=int, default=None, help="of the moments; printed where it is not given")
    parser.add_argument("--binary", help="the sextant binary [target/debug/sextant]")
    parser.add_argument("--nvim", type=float, default=0.2, help="share of the runs that are in Neovim [0.2]")
    given = parser.parse_args()
    tools = Tools(given.binary)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 30)
    moments = random.Random(seed)
    reference = Reference(tools)
    print(f"seed {seed}; uninterrupted: {reference.duration:.1f} s, {reference.edits} edits", flush=True)
    inside = round(given.n * given.nvim)
    counts = {"headless": given.n - inside, "sextant": (inside + 1) // 2, "both": inside // 2}
    nvim_reference = NvimReference(tools) if inside else None
    table, failures = {}, []
    for kind, count in counts.items():
        for number in range(count):
            whole = (reference if kind == "headless" else nvim_reference).duration
            moment = moments.uniform(0, whole)
            row = table.setdefault(kind, {"runs": 0, "held": 0, "start": 0, "middle": 0, "end": 0, "over": 0, "torn": 0})
            row["runs"] += 1
            try:
                if kind == "headless":
                    stage = headless(tools, reference, moment)
                else:
                    stage = in_neovim(tools, nvim_reference, moment, kind == "both")
                row["held"] += 1
                row[stage] += 1
            except (Failed, subprocess.TimeoutExpired, OSError) as failure:
                failures.append(f"{kind} {number} at {moment:.3f} s: {failure}")
                print(failures[-1], flush=True)
    print(f"{'killed':<10}{'runs':>6}{'held':>6}   files then: {'start':>6}{'middle':>8}{'end':>5}{'over':>6}{'torn':>6}")
    for kind, row in table.items():
        print(f"{kind:<10}{row['runs']:>6}{row['held']:>6}               {row['start']:>6}{row['middle']:>8}{row['end']:>5}{row['over']:>6}{row['torn']:>6}")
    held = sum(row["held"] for row in table.values())
    print(f"{held} of {given.n} held")
    return 1 if failures or held != given.n else 0


if __name__ == "__main__":
    sys.exit(main())
