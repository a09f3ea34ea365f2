"""A project's folder: what is planted in it, and what is in it, by its bytes."""

import pathlib
import typing

Files = typing.Dict[str, bytes]


def plant(folder: pathlib.Path, plants: "typing.Iterable[typing.Sequence[str]]", whole: "dict[str, str]") -> None:
    """Replaces texts (`[file, old, new]`), each of which must be there exactly once, and writes whole files.

    Raises ValueError that names the file otherwise."""
    for name, old, new in plants:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{name} has {old!r} {text.count(old)} times")
        path.write_text(text.replace(old, new), encoding="utf-8")
    for name, text in whole.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def files(folder: pathlib.Path, left_behind: "set[str]") -> Files:
    """Every file but those below a folder of these names."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not left_behind.intersection(path.relative_to(folder).parts):
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
