#!/usr/bin/env python3
"""Draws the pictures of the README: Neovim in tmux, on a copy of the demo's project, with its real servers.

`make pictures` builds the binary and names the tools; tmux is needed. Writes doc/pictures/*.svg.
"""

import html
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import typing

import helix
import run

PICTURES = run.ROOT / "doc" / "pictures"
COLUMNS, ROWS = 96, 30
# Pixels of a cell, and of the letters in it.
WIDTH, HEIGHT, LETTERS = 8.4, 18, 14
FOREGROUND, BACKGROUND = "#e0e2ea", "#14161b"
# The colours of xterm by number; a run with 24-bit colours names none of them.
NAMED = "#000000 #cd0000 #00cd00 #cdcd00 #0000ee #cd00cd #00cdcd #e5e5e5".split()
SETTINGS = (
    "set termguicolors background=dark laststatus=2 shortmess+=I noswapfile signcolumn=yes number",
    "lua vim.diagnostic.config({ virtual_text = true, severity_sort = true })",
)


class Style(typing.NamedTuple):
    front: str = FOREGROUND
    back: str = BACKGROUND
    bold: bool = False
    italic: bool = False
    underlined: bool = False
    reversed: bool = False

    def after(self, codes: "list[int]") -> "Style":
        """The style after the numbers of one SGR sequence."""
        style, rest = self, list(codes)
        while rest:
            code = rest.pop(0)
            if code == 0:
                style = Style()
            elif code in (38, 48):
                kind = rest.pop(0)
                numbers = [rest.pop(0) for _ in range(3 if kind == 2 else 1)]
                colour = "#{:02x}{:02x}{:02x}".format(*numbers) if kind == 2 else NAMED[numbers[0] % 8]
                style = style._replace(**{"front" if code == 38 else "back": colour})
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style = style._replace(front=NAMED[code % 10])
            elif 40 <= code <= 47:
                style = style._replace(back=NAMED[code % 10])
            elif code in ONE:
                style = style._replace(**ONE[code])
        return style


ONE: "dict[int, dict[str, typing.Any]]" = {
    1: {"bold": True},
    3: {"italic": True},
    4: {"underlined": True},
    7: {"reversed": True},
    22: {"bold": False},
    23: {"italic": False},
    24: {"underlined": False},
    27: {"reversed": False},
    39: {"front": FOREGROUND},
    49: {"back": BACKGROUND},
}


def runs(line: str) -> "typing.Iterator[tuple[Style, str]]":
    """The parts of a line with one style each."""
    style = Style()
    for part in re.split(r"(\x1b\[[\d;:]*m)", line):
        if part.startswith("\x1b"):
            style = style.after([int(number or 0) for number in re.split("[;:]", part[2:-1])])
        elif part:
            yield style, part


def svg(text: str) -> str:
    """A screen, as tmux captures it with its colours."""
    width, height = COLUMNS * WIDTH + 16, ROWS * HEIGHT + 16
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="{LETTERS}">',
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
    ]
    for row, line in enumerate(text.split("\n")[:ROWS]):
        column = 0
        for style, part in runs(line):
            left, top, wide = 8 + column * WIDTH, 8 + row * HEIGHT, len(part) * WIDTH
            front, back = (style.back, style.front) if style.reversed else (style.front, style.back)
            if back != BACKGROUND:
                out.append(f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{HEIGHT}" fill="{back}"/>')
            if part.strip():
                looks = ' font-weight="bold"' * style.bold + ' font-style="italic"' * style.italic
                looks += ' text-decoration="underline"' * style.underlined
                out.append(
                    f'<text x="{left:.1f}" y="{top + 13.5:.1f}" textLength="{wide:.1f}" fill="{front}"{looks} '
                    f'xml:space="preserve">{html.escape(part, quote=False)}</text>'
                )
            column += len(part)
    return "\n".join([*out, "</svg>", ""])


def draw(screen: helix.Screen, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"{name}.svg").write_text(svg(screen.tmux("capture-pane", "-p", "-e")), encoding="utf-8")
    screen.show(name)


def drive(screen: helix.Screen) -> None:
    screen.wait("the diagnostics of the servers", "f-string without", "imported but unused")
    screen.command("AgentPlan make this file type-clean")
    screen.wait("the plan", "waiting for approval")
    draw(screen, "plan")
    screen.keys("Enter")
    screen.wait("the end of the plan", "3 of 3 steps done")
    screen.keys("q")
    screen.command("AgentReview")
    screen.wait("the review", "reviewed 0 of")
    draw(screen, "review")
    screen.command("AgentReview accept all")
    screen.wait("the end of the review", "reviewed 3 of 3")
    screen.command("AgentAsk rename render_price to price_text")
    screen.wait("the end of the rename", "price_text", "0 new")
    draw(screen, "answer")


def main() -> int:
    run.tool("SEXTANT_NVIM")
    if not shutil.which("tmux"):
        run.fail("tmux is missing")
    demo = run.DEMOS["python"]
    place = pathlib.Path(tempfile.mkdtemp(prefix="sextant-pictures-"))
    copy = run.fresh_copy(run.ROOT / "tests" / "fixtures" / demo.project, place)
    env = run.environment(place, run.BINARY, demo)
    env.pop("TMUX", None)
    env["TERM"] = "xterm-256color"
    screen = helix.Screen(place, env)
    # The file comes last: the servers are for files that are opened after their setup.
    lines = [*SETTINGS, f"edit {demo.file}"]
    command = [*run.neovim("servers"), *(word for line in lines for word in ("-c", line))]
    try:
        screen.start(copy, shlex.join(command), COLUMNS, ROWS)
        screen.tmux("set", "-g", "default-terminal", "tmux-256color")
        screen.tmux("set", "-as", "terminal-features", ",*:RGB")
        drive(screen)
    finally:
        screen.end()
        shutil.rmtree(place, ignore_errors=True)
    print(f"\ndrawn: {', '.join(sorted(os.listdir(PICTURES)))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
