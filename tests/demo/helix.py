#!/usr/bin/env python3
"""Drives a real Helix in tmux through ask, plan, an edited plan, approve and undo, and prints what its screen shows.

`make demo-helix` builds the binary and names the tools. Helix is `hx` on PATH, or what SEXTANT_TEST_HX names; with the
folder of its runtime in HELIX_RUNTIME where it needs one. Ends with a status other than 0 when the job was not done.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOP = ROOT / "tests" / "fixtures" / "shop"
BINARY = pathlib.Path(os.environ.get("SEXTANT_BINARY") or ROOT / "target" / "debug" / "sextant")
FILE = "src/shop/report.py"
# Seconds that one thing may take on a busy machine.
PATIENCE = 90


def fail(text: str) -> typing.NoReturn:
    print(f"demo-helix: {text}", flush=True)
    sys.exit(1)


def found(variable: str, name: str) -> pathlib.Path:
    path = os.environ.get(variable) or shutil.which(name)
    if not path or not os.access(path, os.X_OK):
        fail(
            f"{name} is missing: install it (https://docs.helix-editor.com/install.html has packages, or build it with "
            f"`cargo install --path helix-term --locked` in a clone of helix-editor/helix), or name it in {variable}"
        )
    return pathlib.Path(path)


class Screen:
    """A Helix in a tmux of its own."""

    def __init__(self, place: pathlib.Path, env: "dict[str, str]") -> None:
        self.socket, self.env, self.place = place / "tmux", env, place
        self.shots = 0

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words], env=self.env, capture_output=True, text=True
        )
        return done.stdout

    def start(self, folder: pathlib.Path, command: str, columns: int = 118, rows: int = 34) -> None:
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), command)

    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def escape(self) -> None:
        self.keys("Escape")
        # A key right behind it would be read as one with Alt.
        time.sleep(0.4)

    def command(self, text: str) -> None:
        self.escape()
        self.type(f":{text}")
        self.keys("Enter")

    def wait(self, what: str, *parts: str) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.text()
            if all(part in text for part in parts):
                return text
            time.sleep(0.1)
        self.show(f"not: {what}")
        fail(f"{what} did not come")

    def show(self, title: str) -> None:
        self.shots += 1
        text = "\n".join(line.rstrip() for line in self.text().rstrip().splitlines())
        print(f"\n──── {self.shots}. {title}\n{text}", flush=True)
        folder = os.environ.get("SEXTANT_CAPTURES")
        if folder:
            name = "".join(c if c.isalnum() else "-" for c in title)[:50]
            (pathlib.Path(folder) / f"{self.shots:02}-{name}.txt").write_text(text + "\n")

    def end(self) -> None:
        self.tmux("kill-server")


def environment(place: pathlib.Path) -> "dict[str, str]":
    env = dict(os.environ)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        folder = place / name.lower().removeprefix("xdg_")
        folder.mkdir(mode=0o700)
        env[name] = str(folder)
    env["TERM"] = "xterm-256color"
    env["PATH"] = f"{BINARY.parent}:{os.environ.get('SEXTANT_TOOLS', '')}:{env['PATH']}"
    env.pop("TMUX", None)
    return env


def drive(screen: Screen, shop: pathlib.Path) -> None:
    before = (shop / FILE).read_bytes()
    # Of the slower one, which brings the commands.
    screen.wait("the diagnostics of the servers", "is not a known")
    screen.show("the file, with the diagnostics of its own servers through the proxy")
    screen.command('lsp-workspace-command agent.plan "make this file type-clean"')
    screen.wait("the plan", "waiting for approval", "- [ ] ")
    screen.show("agent.plan: the plan, a buffer")
    screen.escape()
    screen.type("ge?\\[ \\]")
    screen.keys("Enter")
    screen.type("c[-]")
    screen.command("w")
    screen.wait("the edited plan", "skipped by you")
    screen.show("its last step left out by hand, and saved")
    screen.type("gg")
    screen.keys("Space")
    screen.type("a")
    screen.wait("the code actions", "approve the plan")
    screen.show("space a")
    screen.escape()
    screen.command("lsp-workspace-command agent.approve")
    screen.wait("the end of the plan", "done, ")
    screen.show("agent.approve: the steps ran")
    screen.command(f"open {FILE}")
    screen.wait("the file", f"NOR   {FILE}")
    screen.show("the file: changed in its buffer, unsaved")
    if (shop / FILE).read_bytes() != before:
        fail("an open file was written")
    screen.command("lsp-workspace-command agent.undo")
    screen.wait("the undo", "undone")
    screen.show("agent.undo")
    screen.command('lsp-workspace-command agent.ask "fix the errors"')
    screen.wait("the answer", ":wa writes")
    screen.show("agent.ask: one line at its end")
    screen.command("wa")
    percent(screen)
    screen.command("lsp-workspace-command agent.show")
    screen.wait("the conversation", "# Sextant", "## raise the total by 100% at most")
    screen.show("agent.show: the conversation")
    if (shop / FILE).read_bytes() == before:
        fail("nothing was written")


def percent(screen: Screen) -> None:
    """A request with a `%`, as doc/helix.md has it: refused by Helix, brought back by Up, and sent with `%%`."""
    screen.escape()
    screen.keys("Space")
    screen.type("AF")
    screen.wait("the prompt", 'agent.ask-workspace ""')
    screen.type("raise the total by 100% at most")
    screen.keys("Enter")
    screen.wait("Helix's own refusal", "Please use '%%'")
    screen.show("a request with a single %")
    screen.escape()
    screen.type(":")
    screen.keys("Up")
    screen.wait("the words again", 'agent.ask-workspace "raise the total by 100% at most"')
    screen.keys(*["Left"] * len(' at most"'))
    screen.type("%")
    screen.keys("Enter")
    screen.wait("the end of the request", "nothing was changed")
    screen.show("sent with %%")


def main() -> None:
    hx = found("SEXTANT_TEST_HX", "hx")
    found("SEXTANT_TEST_TMUX", "tmux")
    with tempfile.TemporaryDirectory(prefix="sx-hx-") as folder:
        place = pathlib.Path(folder)
        shop = place / "shop"
        shutil.copytree(SHOP, shop)
        env = environment(place)
        setup = subprocess.run([str(BINARY), "setup", "helix", "--yes"], env=env, capture_output=True, text=True)
        print(f"$ sextant setup helix --yes\n{setup.stdout}{setup.stderr}", flush=True)
        if setup.returncode:
            fail("setup did not work")
        screen = Screen(place, env)
        try:
            screen.start(shop, f"'{hx}' {FILE}")
            drive(screen, shop)
        finally:
            screen.end()
        again = subprocess.run(
            [str(BINARY), "setup", "helix", "--undo", "--yes"], env=env, capture_output=True, text=True
        )
        left = list((place / "config_home" / "helix").glob("*.toml*"))
        if again.returncode or left:
            fail(f"the setup was not taken back: {again.stderr}{left}")
        # The engine ends two seconds after its last proxy, and leaves nothing.
        end = time.monotonic() + PATIENCE
        while any((place / "runtime_dir").rglob("engine.sock")):
            if time.monotonic() > end:
                fail("the engine stays")
            time.sleep(0.1)
    print("\ndemo-helix: done", flush=True)


if __name__ == "__main__":
    main()
