"""How each client is started with the snippet that is printed for it, and what came back to it or to its model."""

import json
import os
import subprocess

import acp
import packages
from editor import NEW, OLD, Failed
from model import Model

TOOLS = [
    "definition", "edit_file", "edit_symbol", "find_references", "hover", "list_symbols", "read_file", "read_symbol",
    "rename_symbol", "search", "write_file",
]
EDIT = {"path": "cart.py", "old_string": OLD, "new_string": NEW}
READ = {"path": "cart.py"}
REQUEST = "make the tax a text"
# Seconds of one client.
PATIENCE = 300


class Seen:
    """What a client was given: the tools by name, the text of a read, the answer of the edit, and its own name."""

    def __init__(self, tools, read, edited, name):
        self.tools, self.read, self.edited, self.name = sorted(tools), read, edited, name


def run(editor, command, environment, **more):
    """The output of a client that ends well."""
    path = os.pathsep.join([str(packages.node().parent), environment.get("PATH", "")])
    # Some ask this variable where they are.
    environment = {**environment, "PATH": path, "PWD": str(editor.root)}
    done = subprocess.run(
        [str(part) for part in command], cwd=editor.root, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False, **more,
    )
    out = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise Failed(f"exit status {done.returncode} of {command[0]}: {out[-1500:]}{done.stderr.decode(errors='replace')[-1500:]}")
    return out


def inspector(editor):
    """The inspector of the MCP project, without its pages."""
    main = packages.program(packages.fetch("inspector"), ".bin/mcp-inspector")
    config = editor.home / "mcp.json"
    config.write_text(editor.sextant("mcp", "--print-config", "claude"))

    def ask(method, *more):
        command = [packages.node(), main, "--cli", "--config", config, "--server", "sextant", "--method", method, *more]
        return json.loads(run(editor, command, {**editor.environment, "MCP_INSPECTOR_SECRET_STORE": "memory"}))

    def call(tool, given):
        arguments = [part for name, value in given.items() for part in ("--tool-arg", f"{name}={value}")]
        return ask("tools/call", "--tool-name", tool, *arguments)

    listed = ask("tools/list")["tools"]
    return direct(listed, call("read_file", READ), call("edit_file", EDIT), "inspector-cli")


def fastmcp(editor):
    """The command line of FastMCP."""
    program = packages.fetch("fastmcp") / "bin" / "fastmcp"
    config = editor.home / "mcp.json"
    config.write_text(editor.sextant("mcp", "--print-config", "claude"))

    def ask(*arguments):
        return json.loads(run(editor, [program, *arguments, "--json"], {**editor.environment, "NO_COLOR": "1"}))

    def call(tool, given):
        return ask("call", config, tool, "--input-json", json.dumps(given))

    listed = ask("list", config)
    return direct(listed.get("tools", listed) if isinstance(listed, dict) else listed, call("read_file", READ), call("edit_file", EDIT), "mcp")


def direct(listed, read, edited, name):
    text = "\n".join(part["text"] for part in read["content"])
    data = edited.get("structuredContent", edited.get("structured_content"))
    return Seen([tool["name"] for tool in listed], text, [json.dumps(data), edited["content"][0]["text"]], name)


STEPS = [("read_file$", READ), ("edit_file$", EDIT)]


def with_model(steps, name, prefix, started):
    """Runs an agent on the scripted model, and takes what that was offered and given."""
    model = Model(steps)
    try:
        started(model.url)
    finally:
        model.close()
    if model.problems or len(model.results) != len(steps):
        raise Failed(f"the model was given {model.results}; {model.problems}")
    known = [tool for tool in TOOLS if f"{prefix}{tool}" in model.offered]
    return Seen(known, model.results[-2], [model.results[-1]], name)


CODEX = """model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"""


def codex_home(editor, url, more):
    home = editor.home / ".codex"
    home.mkdir()
    (home / "config.toml").write_text(CODEX.format(url=url) + more)
    return {**editor.environment, "SCRIPTED_KEY": "none"}


def codex(editor):
    """`codex exec`."""
    main = packages.program(packages.fetch("codex"), ".bin/codex")

    def started(url):
        environment = codex_home(editor, url, editor.sextant("mcp", "--print-config", "codex"))
        run(editor, [packages.node(), main, "exec", "--json", "--skip-git-repo-check", REQUEST], environment)

    return with_model(STEPS, "codex-mcp-client", "mcp__sextant__", started)


def codex_acp(editor):
    """Codex as an agent of an editor that speaks ACP; the editor names the server, as Zed does."""
    program = packages.program(packages.fetch("codex-acp"), "@zed-industries/codex-acp-*/bin/codex-acp")
    snippet = json.loads(editor.sextant("mcp", "--print-config", "zed"))["context_servers"]["sextant"]
    server = {"name": "sextant", "command": snippet["command"], "args": snippet["args"], "env": []}

    def started(url):
        environment = codex_home(editor, url, "")
        acp.prompt(program, editor.root, environment, [server], REQUEST, PATIENCE)

    return with_model(STEPS, "codex-mcp-client", "mcp__sextant__", started)


def opencode(editor):
    """`opencode run`."""
    program = packages.program(packages.fetch("opencode"), "opencode-*-*/bin/opencode")

    def started(url):
        config = json.loads(editor.sextant("mcp", "--print-config", "opencode"))
        options = {"baseURL": url, "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": {"scripted": {"name": "scripted"}}}
        config.update(model="scripted/scripted", small_model="scripted/scripted", provider={"scripted": provider})
        (editor.root / "opencode.json").write_text(json.dumps(config))
        environment = {**editor.environment, "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
        run(editor, [program, "run", "--format", "json", REQUEST], environment)

    return with_model(STEPS, "opencode", "sextant_", started)


def qwen(editor):
    """`qwen`, whose model looks a tool up before it may call it."""
    main = packages.program(packages.fetch("qwen"), ".bin/qwen")
    name = "mcp__sextant__{}".format
    search = ("tool_search$", {"query": "select:" + ",".join(name(tool) for tool in TOOLS), "max_results": 20})
    calls = [("tool_call$", {"name": name(tool), "arguments": given}) for tool, given in (("read_file", READ), ("edit_file", EDIT))]

    def started(url):
        settings = editor.home / ".qwen"
        settings.mkdir()
        (settings / "settings.json").write_text(editor.sextant("mcp", "--print-config", "qwen"))
        environment = {**editor.environment, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url, "OPENAI_MODEL": "scripted"}
        run(editor, [packages.node(), main, "--auth-type", "openai", "--yolo", "-p", REQUEST], environment)

    return with_model([search, *calls], "qwen-cli-mcp-client-sextant", "mcp__sextant__", started)


CLIENTS = {"inspector": inspector, "fastmcp": fastmcp, "codex": codex, "codex-acp": codex_acp, "opencode": opencode, "qwen": qwen}
LIGHT = ("inspector", "fastmcp")
