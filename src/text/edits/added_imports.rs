//! Puts the imports that a piece of code brings along to those of its file, and not to the symbol that it is for.

use crate::symbols::import_place::{self, ImportPlace};
use crate::symbols::imports;
use crate::symbols::language::Language;

/// The beginning of an import that has to stand before all others.
const FIRST: &str = "from __future__ ";

/// The imports of a piece of code that a text does not have.
pub fn added(language: &Language, text: &str, part: &str) -> Vec<String> {
    let known = imports::imports(language, text);
    imports::imports(language, part).into_iter().filter(|import| !known.contains(import)).collect()
}

/// A piece of code without the imports outside of its symbols.
pub(super) fn without_imports(language: &Language, part: &str) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for place in imports::places(language, part) {
        out.push_str(part.get(at..place.start).unwrap_or_default());
        at = place.end.max(at);
        // The end of its line goes along, where nothing else is on the line.
        if out.is_empty() || out.ends_with('\n') {
            let rest = &part[at..];
            at += rest.len() - rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n').unwrap_or(rest).len();
        }
    }
    out.push_str(&part[at..]);
    out.trim_start_matches('\n').to_owned()
}

/// A text with more imports, below the others at its head, or else below what opens the file.
pub fn with_imports(text: &str, language: &Language, more: &[String]) -> String {
    let (first, more): (Vec<&str>, Vec<&str>) = more.iter().map(String::as_str).partition(|one| one.starts_with(FIRST));
    let mut text = text.to_owned();
    if !more.is_empty() {
        text = put(&text, import_place::of_text(language, &text), &more);
    }
    if !first.is_empty() {
        let place = import_place::of_text(language, &text);
        let above = imports::places(language, &text).first().map_or(place.at, |place| place.start);
        let at = if place.has_imports { above } else { place.at };
        text = put(&text, ImportPlace { at, ..place }, &first);
    }
    text
}

fn put(text: &str, place: ImportPlace, more: &[&str]) -> String {
    let ImportPlace { at, has_imports } = place;
    let (head, tail) = text.split_at(at);
    let gap = if has_imports || head.is_empty() { "" } else { "\n" };
    let blank = if !has_imports && !tail.is_empty() && !tail.starts_with('\n') { "\n" } else { "" };
    let end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{end}{gap}{}\n{blank}{tail}", more.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;

    #[test]
    fn an_import_of_the_future_stands_before_all_others() {
        let python = language::of_path("a.py").unwrap();
        let of = |text: &str, more: &[&str]| {
            with_imports(text, python, &more.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>())
        };
        let future = "from __future__ import annotations";
        let wanted = "\"\"\"Doc.\"\"\"\n\nfrom __future__ import annotations\nimport os\nimport re\n\nx = 1\n";
        assert_eq!(of("\"\"\"Doc.\"\"\"\n\nimport os\n\nx = 1\n", &["import re", future]), wanted);
        assert_eq!(of("x = 1\n", &[future]), "from __future__ import annotations\n\nx = 1\n");
    }

    #[test]
    fn a_piece_of_code_loses_its_imports_and_nothing_else() {
        for (path, part, rest) in [
            (
                "a.py",
                "import re\nfrom a import (\n    b,\n)\n\n\ndef f():\n    import os\n",
                "def f():\n    import os\n",
            ),
            ("a.py", "# About f.\nimport re\n\nX = 1\n\ndef f(): ...\n", "# About f.\n\nX = 1\n\ndef f(): ...\n"),
            ("a.rs", "use std::fmt;\n\nfn f() {}\n", "fn f() {}\n"),
            ("a.ts", "import { a } from './a';\n\nfunction f() {}\n", "function f() {}\n"),
            ("a.c", "#include <stdio.h>\n\nint f(void) { return 1; }\n", "int f(void) { return 1; }\n"),
        ] {
            assert_eq!(without_imports(language::of_path(path).unwrap(), part), rest, "{path}: {part}");
        }
    }
}
