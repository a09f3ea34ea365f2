#!/usr/bin/env python3
"""What loading costs beside other plugins: the time of the plugin's files and of `setup()`, each in a Neovim of its own.

    python3 benches/peers.py FOLDER      clones of codecompanion.nvim, avante.nvim, sidekick.nvim, plenary.nvim, nui.nvim
    RUNS=31 SEXTANT_NVIM=nvim python3 benches/peers.py FOLDER

Clones that are not there are left out. Prints the median of each in milliseconds, and its ratio to Sextant's.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
RUNS = int(os.environ.get("RUNS", "15"))
NVIM = os.environ.get("SEXTANT_NVIM", "nvim")

# The module that `setup` is of, and the plugins that it needs.
PEERS = {
    "codecompanion.nvim": ("codecompanion", ["plenary.nvim"]),
    "avante.nvim": ("avante", ["plenary.nvim", "nui.nvim"]),
    "sidekick.nvim": ("sidekick", []),
}

SCRIPT = """
local module, plugin = _G.arg[1], _G.arg[2]
for index = 2, #_G.arg do vim.opt.runtimepath:append(_G.arg[index]) end
local start = vim.uv.hrtime()
for _, file in ipairs(vim.fn.globpath(plugin, 'plugin/**/*.{lua,vim}', true, true)) do vim.cmd.source(file) end
local sourced = vim.uv.hrtime()
require(module).setup({})
print(('%.4f %.4f'):format((sourced - start) / 1e6, (vim.uv.hrtime() - sourced) / 1e6))
"""


def medians(home, script, module, plugin, needs):
    """The medians of the times of one plugin; the reason where it cannot be loaded."""
    command = [NVIM, "--clean", "--headless", "-l", script, module, plugin, *needs]
    times = []
    for _ in range(RUNS):
        ran = subprocess.run(command, env={**os.environ, "HOME": home}, capture_output=True, text=True, timeout=60)
        if ran.returncode:
            return ran.stderr.strip().splitlines()[0] if ran.stderr.strip() else f"status {ran.returncode}"
        times.append([float(time) for time in ran.stderr.split()[-2:]])
    return [statistics.median(column) for column in zip(*times)]


def main(folder):
    rows = {"sextant": ("sextant", REPOSITORY, [])}
    for name, (module, needs) in PEERS.items():
        if (folder / name).is_dir():
            rows[name] = (module, folder / name, [folder / need for need in needs])
    with tempfile.TemporaryDirectory() as home:
        script = pathlib.Path(home) / "peers.lua"
        script.write_text(SCRIPT)
        own = None
        print(f"{NVIM}, medians of {RUNS} runs in ms: the plugin's files (goal 0.5), setup() (goal 2)")
        for name, (module, plugin, needs) in rows.items():
            found = medians(home, script, module, plugin, needs)
            if isinstance(found, str):
                print(f"  {name:<20}{found}")
                continue
            own = own or found
            ratios = [time / ours for time, ours in zip(found, own)]
            print(f"  {name:<20}{found[0]:>8.2f} ({ratios[0]:.1f} of ours){found[1]:>8.2f} ({ratios[1]:.1f} of ours)")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
