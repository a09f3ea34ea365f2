//! The parts of a project that Cargo compiles one by one: an error in one leaves those out that depend on it.

use std::path::Path;

/// The folders that Cargo names targets by.
const TARGETS: &[&str] = &["src", "tests", "examples", "benches"];

/// The folder of the crate that a file belongs to: the one above the folder of targets, or else the file's own.
pub(crate) fn crate_folder(path: &str) -> &str {
    split(path).map_or_else(|| path.rsplit_once('/').map_or("", |(folder, _)| folder), |(folder, _)| folder)
}

/// The crate folder, and the path from there.
fn split(path: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for part in path.split('/') {
        if TARGETS.contains(&part) {
            return Some((path[..at].trim_end_matches('/'), &path[at..]));
        }
        at += part.len() + 1;
    }
    None
}

/// The crate folder and the part of the crate that is compiled as one. Beside a library, a program is a part of its own.
fn unit<'a>(root: &Path, path: &'a str) -> (&'a str, &'a str) {
    let Some((folder, inside)) = split(path) else { return (crate_folder(path), "") };
    let has_library = || root.join(folder).join("src/lib.rs").is_file();
    let is_program = inside == "src/main.rs" || inside.starts_with("src/bin/");
    let part = match inside.split_once('/') {
        Some(("src", _)) if is_program && has_library() => inside,
        Some(("src", _)) => "src",
        // Each file or folder there is a target.
        Some((targets, rest)) => &inside[..targets.len() + 1 + rest.find('/').unwrap_or(rest.len())],
        None => inside,
    };
    (folder, part)
}

/// A file is read if it is in the same part of the project as one of these files. Paths are relative to the root.
pub(crate) fn has_read<'a>(root: &Path, read: impl IntoIterator<Item = &'a str>, path: &str) -> bool {
    let wanted = unit(root, path);
    read.into_iter().any(|one| unit(root, one) == wanted)
}

/// The name of the target that the file is compiled for, in the form of a crate's name: that of the package, or of the
/// test, example, benchmark or program itself. `None` if the manifest cannot be read.
pub(crate) fn target(root: &Path, path: &str) -> Option<String> {
    let (folder, part) = unit(root, path);
    let name = if part == "src" || part == "src/main.rs" {
        let manifest = std::fs::read_to_string(root.join(folder).join("Cargo.toml")).ok()?;
        let manifest: toml::Table = manifest.parse().ok()?;
        manifest.get("package")?.get("name")?.as_str()?.to_owned()
    } else {
        Path::new(part).file_stem()?.to_str()?.to_owned()
    };
    Some(crate_name(&name))
}

/// A name as a crate has it.
pub(crate) fn crate_name(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_beside_a_library_and_each_test_is_a_part_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("a/src")).unwrap();
        std::fs::write(root.path().join("a/src/lib.rs"), "").unwrap();
        for (read, path, wanted) in [
            ("a/src/lib.rs", "a/src/cart.rs", true),
            ("a/src/lib.rs", "b/src/cart.rs", false),
            ("a/src/lib.rs", "a/src/main.rs", false),
            ("a/src/main.rs", "a/src/main.rs", true),
            ("b/src/main.rs", "b/src/cart.rs", true),
            ("a/src/lib.rs", "a/tests/one.rs", false),
            ("a/tests/one.rs", "a/tests/two.rs", false),
            ("a/tests/one/main.rs", "a/tests/one/case.rs", true),
            ("build.rs", "src/lib.rs", false),
        ] {
            assert_eq!(has_read(root.path(), [read], path), wanted, "{read} {path}");
        }
        assert!(!has_read(root.path(), [], "a/src/lib.rs"));
        std::fs::write(root.path().join("a/Cargo.toml"), "[package]\nname = \"my-shop\"\n").unwrap();
        let target = |path| target(root.path(), path);
        assert_eq!((target("a/src/cart.rs"), target("b/src/cart.rs")), (Some("my_shop".into()), None));
        assert_eq!(target("a/tests/by-hand.rs").as_deref(), Some("by_hand"));
    }
}
