//! Knows the files whose types are checked only where they or their settings ask for that: an error there shows at run
//! time alone.

use std::path::Path;
use std::sync::Arc;

use sextant_base::path;
use sextant_text::symbols::language::{self, AskedTypes};

/// The most files of settings that extend each other.
const MOST_EXTENDED: usize = 8;

/// True if nothing asks for a check of the types in this file. `read` reads a file of the workspace.
pub(super) fn is_untyped(read: &dyn Fn(&str) -> Option<Arc<str>>, path: &str, text: &str) -> bool {
    let Some(asked) = language::of_path(path).and_then(|language| language.asked_types) else { return false };
    let AskedTypes { mark, settings, option } = asked;
    if text.contains(mark) {
        return false;
    }
    let mut folders = path.rmatch_indices('/').map(|(at, _)| &path[..=at]).chain([""]);
    !folders.any(|folder| settings.iter().any(|name| is_set(read, format!("{folder}{name}"), option)))
}

/// True if a file of settings, or one that it extends, sets an option to true. The first that names it decides.
fn is_set(read: &dyn Fn(&str) -> Option<Arc<str>>, file: String, option: &str) -> bool {
    let mut next = Some(file);
    for _ in 0..MOST_EXTENDED {
        let Some(file) = next.take() else { return false };
        let Some(text) = read(&file).map(|text| without_comments(&text)) else { return false };
        if let Some(value) = value_of(&text, option) {
            return value.starts_with("true");
        }
        let base = value_of(&text, "extends").and_then(|value| value.strip_prefix('"')?.split('"').next());
        next = base.and_then(|base| beside(&file, base));
    }
    false
}

/// The path of the settings that another file of them extends; `None` for a package's.
fn beside(file: &str, base: &str) -> Option<String> {
    let root = Path::new("/");
    let named = if base.ends_with(".json") { base.to_owned() } else { format!("{base}.json") };
    let is_relative = base.starts_with('.');
    path::relative(root, &root.join(file).parent()?.join(named)).filter(|_| is_relative)
}

/// The text behind the colon of the first member of this name.
fn value_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let quoted = format!("\"{name}\"");
    text.split(&quoted).skip(1).find_map(|behind| behind.trim_start().strip_prefix(':').map(str::trim_start))
}

/// A text in JSON without the comments that settings may have.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest, mut quoted) = (String::new(), text, false);
    while let Some(sign) = rest.chars().next() {
        let end = match sign {
            '\\' if quoted => rest.chars().take(2).map(char::len_utf8).sum(),
            '/' if !quoted && rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if !quoted && rest.starts_with("/*") => {
                rest = rest[2..].split_once("*/").map_or("", |(_, behind)| behind);
                continue;
            }
            _ => sign.len_utf8(),
        };
        quoted ^= sign == '"';
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out
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
        let comment = "{ // \"checkJs\": true\n /* \"checkJs\": true */ \"include\": [\"//\"] }";
        assert!(untyped("a.js", "sum(1)", &[("tsconfig.json", comment)]));
        for base in ["./base/strict", "./base/strict.json"] {
            let own = format!("{{ \"extends\": \"{base}\" }}");
            let files = [("src/tsconfig.json", own.as_str()), ("src/base/strict.json", checks)];
            assert!(!untyped("src/a.js", "sum(1)", &files), "{base}");
        }
        let circle = [("tsconfig.json", "{ \"extends\": \"./tsconfig.json\" }")];
        assert!(untyped("a.js", "sum(1)", &circle));
        assert!(untyped("lib/a.js", "sum(1)", &[("src/jsconfig.json", checks)]));
    }
}
