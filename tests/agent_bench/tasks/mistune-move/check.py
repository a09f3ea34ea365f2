"""render_toc_ul lives in the new module, and the old import gives the same function."""

import ast
import pathlib

import mistune.renderers.toc
import mistune.toc
from mistune.directives import toc as directive

new = mistune.renderers.toc.render_toc_ul
assert new.__module__ == "mistune.renderers.toc", "it is defined elsewhere"
assert mistune.toc.render_toc_ul is new, "the old import gives something else"
assert directive.render_toc_ul is new, "the directive has another one"
assert new([(1, "a", "A"), (2, "b", "B")]).count("<li>") == 2, "it does something else"
tree = ast.parse(pathlib.Path("src/mistune/directives/toc.py").read_text(encoding="utf-8"))
froms = {node.module: [name.name for name in node.names] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
assert "render_toc_ul" in froms.get("renderers.toc", []), "the directive does not import it from its new place"
