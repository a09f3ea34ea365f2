//! Knows the files whose types are checked only where they or their settings ask for that: an error there shows at run
//! time alone.

use std::sync::Arc;

use sextant_text::symbols::language::{self, AskedTypes};

/// True if nothing asks for a check of the types in this file. `read` reads a file of the workspace.
pub(super) fn is_untyped(read: &dyn Fn(&str) -> Option<Arc<str>>, path: &str, text: &str) -> bool {
    let Some(asked) = language::of_path(path).and_then(|language| language.asked_types) else { return false };
    let AskedTypes { mark, settings, option } = asked;
    if text.contains(mark) {
        return false;
    }
    let mut folders = path.rmatch_indices('/').map(|(at, _)| &path[..=at]).chain([""]);
    !folders.any(|folder| {
        let mut texts = settings.iter().filter_map(|name| read(&format!("{folder}{name}")));
        texts.any(|text| is_set(&text, option))
    })
}

/// True if a text in JSON sets an option to true.
fn is_set(text: &str, option: &str) -> bool {
    let quoted = format!("\"{option}\"");
    text.split(&quoted).skip(1).any(|behind| {
        let value = behind.trim_start().strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| value.starts_with("true"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_or_a_setting_of_a_folder_around_asks_for_types() {
        let untyped = |path: &str, text: &str, settings: &[(&str, &str)]| {
            let read = |path: &str| settings.iter().find(|(name, _)| *name == path).map(|(_, text)| Arc::from(*text));
            is_untyped(&read, path, text)
        };
        assert!(untyped("a.js", "sum(1)", &[]) && untyped("src/a.mjs", "sum(1)", &[("tsconfig.json", "{}")]));
        assert!(!untyped("a.js", "// @ts-check\nsum(1)", &[]));
        assert!(!untyped("a.ts", "sum(1)", &[]) && !untyped("a.py", "sum(1)", &[]));
        let checks = "{ \"compilerOptions\": { \"checkJs\" : true } }";
        for (path, settings) in [("src/lib/a.cjs", "src/jsconfig.json"), ("a.js", "tsconfig.json")] {
            assert!(!untyped(path, "sum(1)", &[(settings, checks)]), "{path}");
            assert!(untyped(path, "sum(1)", &[(settings, &checks.replace("true", "false"))]), "{path}");
        }
        assert!(untyped("lib/a.js", "sum(1)", &[("src/jsconfig.json", checks)]));
    }
}
