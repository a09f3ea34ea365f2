"""Text behind a hyperlink that ends in BEL has a width again, and links with the other end have theirs."""

import pathlib

import checks

checks.rust(
    r"""
use textwrap::core::display_width;
use textwrap::wrap;

#[test]
fn outside() {
    let bel = "\x1b]8;;file:///a\x07name\x1b]8;;\x07";
    let st = "\x1b]8;;file:///a\x1b\\name\x1b]8;;\x1b\\";
    assert_eq!((display_width(bel), display_width(st)), (4, 4));
    assert_eq!(display_width("\x1b[31mred\x1b[0m"), 3);
    for link in [bel, st] {
        let text = format!("{link} one two three four");
        assert_eq!(wrap(&text, 10), vec![format!("{link} one"), "two three".into(), "four".into()]);
    }
    assert_eq!(display_width("\x1b]8;;no end"), 0);
}
"""
)
before = pathlib.Path("src/core.rs").read_text(encoding="utf-8")
texts = [path.read_text(encoding="utf-8") for folder in ("src", "tests") for path in pathlib.Path(folder).glob("*.rs")]
tested = [text for text in texts if "#[test]" in text and ("x07" in text.rpartition("#[cfg(test)]")[2] or "u{7}" in text.lower())]
assert tested, "no test has a link that ends in BEL"
