"""pyproject.toml and README.md say the new things, and everything else that they said."""

import pathlib
import tomllib

text = pathlib.Path("pyproject.toml").read_text(encoding="utf-8")
told = tomllib.loads(text)
assert told["project"]["requires-python"] == ">=3.9", "requires-python"
assert told["project"]["optional-dependencies"]["test"] == ["pytest>=8", "pytest-asyncio"], "optional dependencies"
assert told["tool"]["mypy"]["python_version"] == "3.9", "mypy"
assert told["tool"]["pyright"]["pythonVersion"] == "3.9", "pyright"
assert "Framework :: AsyncIO" in told["project"]["classifiers"], "classifier"
assert len(told["project"]["classifiers"]) == 5, "other classifiers"
assert told["project"]["urls"]["Chat"].endswith("pallets") and told["tool"]["ruff"]["fix"] is True, "the rest"
assert "# flake8-bugbear" in text, "the comments"
readme = pathlib.Path("README.md").read_text(encoding="utf-8")
heading = readme.index("## Development\n")
assert heading > readme.index("## Example\n"), "Development is not behind Example"
assert "pip install -e .[test]" in readme[heading:] or "pip install -e '.[test]'" in readme[heading:] or 'pip install -e ".[test]"' in readme[heading:], "the command"
assert "This is round two." in readme, "the rest of the README"
