"""The plugin is there, by name and by function, and its text is parsed within."""

import mistune
from mistune.plugins.kbd import kbd

for plugin in ("kbd", kbd):
    render = mistune.create_markdown(plugins=[plugin])
    assert render("Press ++Ctrl++ and ++C++.").strip() == "<p>Press <kbd>Ctrl</kbd> and <kbd>C</kbd>.</p>", "two keys"
    assert render("a ++ b ++ c").strip() == "<p>a ++ b ++ c</p>", "blanks inside are no key"
    assert render("++**x**++").strip() == "<p><kbd><strong>x</strong></kbd></p>", "markup inside"
    assert render("`++x++`").strip() == "<p><code>++x++</code></p>", "inside of code"
assert mistune.create_markdown()("++x++").strip() == "<p>++x++</p>", "without the plugin"
assert kbd.__doc__, "no docstring"
