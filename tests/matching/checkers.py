"""The checkers that say what is wrong with a text: each takes a project's files and returns LSP's diagnostics."""

import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import time
import typing

import tools

Diagnostic = typing.Dict[str, typing.Any]
HERE = pathlib.Path(__file__).resolve().parent


def diagnostic(
    file: str, span: "tuple[int, int, int, int]", severity: int, code: str, source: str, message: str
) -> Diagnostic:
    start, end = {"line": span[0], "character": span[1]}, {"line": span[2], "character": span[3]}
    return {
        "file": file,
        "range": {"start": start, "end": end},
        "severity": severity,
        "code": code,
        "source": source,
        "message": message,
    }


class Checker:
    def check(self, files: "dict[str, str]") -> "list[Diagnostic]":
        raise NotImplementedError

    def end(self) -> None:
        pass


class Rust(Checker):
    """clippy's driver on a crate of one file, or of a file and its module `part`."""

    LINTS = [
        "clippy::pedantic",
        "clippy::nursery",
        "unused",
        "missing_docs",
        "clippy::implicit_return",
        "clippy::arithmetic_side_effects",
        "clippy::min_ident_chars",
        "clippy::missing_docs_in_private_items",
        "clippy::as_conversions",
        "clippy::indexing_slicing",
        "clippy::default_numeric_fallback",
        "clippy::single_call_fn",
        "clippy::missing_inline_in_public_items",
        "clippy::shadow_reuse",
    ]

    def check(self, files: "dict[str, str]") -> "list[Diagnostic]":
        with tempfile.TemporaryDirectory() as folder:
            for path, string in files.items():
                pathlib.Path(folder, path).write_text(string, encoding="utf-8")
            first = next(iter(files))
            command = [
                *tools.clippy(),
                "--edition=2021",
                "--crate-type=lib",
                "--crate-name=case",
                "--emit=metadata",
                "--error-format=json",
                "--cap-lints=warn",
                "--out-dir",
                folder,
            ]
            for lint in self.LINTS:
                command += ["-W", lint]
            done = subprocess.run([*command, first], cwd=folder, capture_output=True, text=True, timeout=120)
        found = [self.of(json.loads(line)) for line in done.stderr.splitlines() if line.startswith("{")]
        return [one for one in found if one and one["file"] in files]

    @staticmethod
    def of(message: "dict[str, typing.Any]") -> "typing.Optional[Diagnostic]":
        spans = [span for span in message.get("spans", []) if span["is_primary"]]
        if not spans or message["level"] not in ("error", "warning"):
            return None
        span = spans[0]
        place = (span["line_start"] - 1, span["column_start"] - 1, span["line_end"] - 1, span["column_end"] - 1)
        code = (message.get("code") or {}).get("code") or ""
        return diagnostic(
            span["file_name"], place, 1 if message["level"] == "error" else 2, code, "tool:cargo", message["message"]
        )


class TypeScript(Checker):
    """The compiler's own language service over a whole package, with the files of a case put in place."""

    def __init__(self, package: pathlib.Path, folder: str) -> None:
        command = [
            str(tools.node()),
            str(HERE / "typescript.cjs"),
            str(tools.node_package("typescript") / "lib/typescript.js"),
            str(package),
            folder,
        ]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def check(self, files: "dict[str, str]") -> "list[Diagnostic]":
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(files) + "\n")
        self.process.stdin.flush()
        return typing.cast("list[Diagnostic]", json.loads(self.process.stdout.readline()))

    def end(self) -> None:
        self.process.kill()


class Server(Checker):
    """A language server that is told each text as a new version, and waited for until it answers about that version."""

    def __init__(
        self, name: str, command: "list[str]", folder: pathlib.Path, language: str, settings: "dict[str, typing.Any]"
    ) -> None:
        self.name, self.folder, self.language = name, folder, language
        self.settings = settings
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
        )
        self.messages: "queue.Queue[typing.Optional[dict[str, typing.Any]]]" = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.number = 0
        self.published: "dict[tuple[str, int], list[Diagnostic]]" = {}
        self.version = 0
        root = folder.as_uri()
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "case"}],
                "capabilities": {
                    "textDocument": {"publishDiagnostics": {"versionSupport": True}},
                    "workspace": {"configuration": True},
                },
                "initializationOptions": settings,
            },
        )
        self.send({"method": "initialized", "params": {}})

    def send(self, message: "dict[str, typing.Any]") -> None:
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def listen(self) -> None:
        assert self.process.stdout
        while True:
            length = 0
            while True:
                line = self.process.stdout.readline()
                if not line.strip():
                    break
                name, _, value = line.decode().partition(":")
                if name.lower() == "content-length":
                    length = int(value)
            if not line:
                self.messages.put(None)
                return
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def read(self, seconds: float = 120.0) -> "dict[str, typing.Any]":
        """The next message; empty if none comes in that time."""
        try:
            message = self.messages.get(timeout=seconds)
        except queue.Empty:
            return {}
        if message is None:
            raise tools.Missing(self.name, "it has ended", "try again with another --seed")
        if "id" in message and "method" in message:
            result = (
                [self.settings for _ in message["params"]["items"]]
                if message["method"] == "workspace/configuration"
                else None
            )
            self.send({"id": message["id"], "result": result})
        elif message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[(params["uri"], params.get("version") or 0)] = params["diagnostics"]
        return message

    def request(self, method: str, params: typing.Any) -> typing.Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")

    def check(self, files: "dict[str, str]") -> "list[Diagnostic]":
        self.version += 1
        self.published.clear()
        # Names that it never had: gopls is silent about a file whose diagnostics are those that it published last.
        places = {path: self.folder / f"v{self.version}_{path}" for path in files}
        for path, string in files.items():
            places[path].write_text(string, encoding="utf-8")
        for path, string in files.items():
            uri = places[path].as_uri()
            document = {"uri": uri, "languageId": self.language, "version": self.version, "text": string}
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self.wait({place.as_uri() for place in places.values()})
        found = []
        for path, place in places.items():
            found += [self.of(path, one) for one in self.published.get((place.as_uri(), self.version), [])]
            self.send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": place.as_uri()}}})
            place.unlink()
        return found

    def wait(self, uris: "set[str]") -> None:
        while not all((uri, self.version) in self.published for uri in uris):
            self.read()

    def of(self, path: str, one: Diagnostic) -> Diagnostic:
        # Its source is the server, as it is for Sextant, and not the part of the server that found it.
        source = f"lsp:{self.name}"
        start, end = one["range"]["start"], one["range"]["end"]
        place = (start["line"], start["character"], end["line"], end["character"])
        code = one.get("code", "")
        return diagnostic(path, place, one.get("severity", 1), str(code), source, one["message"])

    def end(self) -> None:
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


CLANG_CHECKS = (
    "readability-*,modernize-*,bugprone-*,cppcoreguidelines-*,google-*,misc-*,performance-*,hicpp-*,"
    "-misc-include-cleaner,-misc-confusable-identifiers,-*-unused-includes"
)


def clangd(headers: "list[pathlib.Path]") -> Server:
    folder = pathlib.Path(tempfile.mkdtemp())
    flags = ["-std=c++17", "-Wall", "-Wextra", *(f"-I{path}" for path in headers)]
    (folder / "compile_flags.txt").write_text("\n".join(flags), encoding="utf-8")
    (folder / ".clang-tidy").write_text(f"Checks: '{CLANG_CHECKS}'\n", encoding="utf-8")
    (folder / ".clangd").write_text(
        "Diagnostics:\n  UnusedIncludes: None\n  ClangTidy:\n    FastCheckFilter: None\n", encoding="utf-8"
    )
    return Server(
        "clangd",
        [str(tools.clangd()), "--clang-tidy", "--log=error", "-j=1", "--limit-results=0", "--background-index=false"],
        folder,
        "cpp",
        {},
    )


class Gopls(Server):
    """It publishes types first and analyzers later, and is silent about a text without a diagnostic."""

    SILENCE_S = 1.0

    def wait(self, uris: "set[str]") -> None:
        until = time.monotonic() + 2 * self.SILENCE_S
        while (left := until - time.monotonic()) > 0:
            if self.read(left).get("method") == "textDocument/publishDiagnostics":
                until = time.monotonic() + self.SILENCE_S


def gopls() -> Server:
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "go.mod").write_text("module case\n\ngo 1.18\n", encoding="utf-8")
    settings = {
        "staticcheck": True,
        # Its analyzers answer with its types, and not a while later.
        "diagnosticsDelay": "0s",
        "analyses": {"fieldalignment": True, "nilness": True, "shadow": True, "unusedparams": True, "unusedwrite": True},
    }
    os.environ.update(
        PATH=f"{tools.go()}{os.pathsep}{os.environ['PATH']}",
        GOFLAGS="-mod=mod",
        GOPROXY="off",
        GOTOOLCHAIN="local",
        GO111MODULE="on",
    )
    return Gopls("gopls", [str(tools.gopls())], folder, "go", settings)


class Lua(Checker):
    """luacheck, run by Neovim's LuaJIT."""

    LINE = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<first>\d+)-(?P<last>\d+): \((?P<code>[EW]\d+)\) (?P<message>.*)$")

    def check(self, files: "dict[str, str]") -> "list[Diagnostic]":
        with tempfile.TemporaryDirectory() as folder:
            for path, string in files.items():
                pathlib.Path(folder, path).write_text(string, encoding="utf-8")
            command = [
                *tools.luacheck(),
                "--formatter",
                "plain",
                "--ranges",
                "--codes",
                "--no-cache",
                "--no-config",
                "--std",
                "luajit",
                "--max-line-length",
                "80",
                *files,
            ]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        found = [self.LINE.match(line) for line in (done.stdout + done.stderr).splitlines()]
        return [self.of(match) for match in found if match]

    @staticmethod
    def of(match: "re.Match[str]") -> Diagnostic:
        line = int(match["line"]) - 1
        place = (line, int(match["first"]) - 1, line, int(match["last"]))
        return diagnostic(
            match["file"], place, 1 if match["code"][0] == "E" else 2, match["code"], "tool:luacheck", match["message"]
        )
