//! The files of a project that a command has read, where it says so: what it found in others, nobody knows.

use std::collections::BTreeSet;
use std::path::Path;

use sextant_base::path;

/// A part of a project that was compiled: its first file, and the files that came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    pub source: String,
    pub files: Vec<String>,
}

/// The lines of an output that are paths of files, relative to the root. A command that lists its files and lists none
/// has read none: a tsconfig that only refers to others.
pub(super) fn listed(root: &Path, text: &str) -> BTreeSet<String> {
    let inside = |line: &str| Some(Path::new(line).strip_prefix(root).ok()?.to_str()?.to_owned());
    text.lines().filter(|line| line.starts_with('/')).filter_map(inside).collect()
}

/// The sources that rustc names in the list of dependencies beside each artifact, relative to the root. `None` if no
/// artifact of the project has one.
pub(super) async fn of_artifacts(root: &Path, artifacts: &[Artifact]) -> Option<BTreeSet<String>> {
    let mut paths = BTreeSet::new();
    let mut is_listed = false;
    for artifact in artifacts {
        let Ok(source) = Path::new(&artifact.source).strip_prefix(root) else { continue };
        paths.extend(source.to_str().map(str::to_owned));
        for file in artifact.files.iter().filter_map(|file| dependencies_beside(Path::new(file))) {
            if let Ok(text) = tokio::fs::read_to_string(&file).await {
                is_listed = true;
                paths.extend(dependencies(root, &artifact.source, &text));
            }
        }
    }
    is_listed.then_some(paths)
}

/// `deps/libcart-1f.rmeta` has its list in `deps/cart-1f.d`.
fn dependencies_beside(artifact: &Path) -> Option<std::path::PathBuf> {
    let stem = artifact.file_stem()?.to_str()?;
    Some(artifact.with_file_name(format!("{}.d", stem.strip_prefix("lib")?)))
}

/// The files of a list in make's format: each has a rule without dependencies. The paths start where cargo ran the
/// compiler, which is above the part's first file.
fn dependencies<'t>(root: &'t Path, source: &'t str, text: &'t str) -> impl Iterator<Item = String> + 't {
    let paths = || text.lines().filter_map(|line| line.strip_suffix(':')).map(|path| path.replace("\\ ", " "));
    let base = paths().find_map(|path| source.strip_suffix(path.as_str()).filter(|base| base.ends_with('/')));
    let base = Path::new(base.unwrap_or_default());
    // A module may lie beside the folder of the one that names it: `src/../shared.rs`.
    paths().filter_map(move |path| path::relative(root, &base.join(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_paths_of_the_project_were_read() {
        let text = "src/a.ts(1,2): error TS2304: no\n/p/node_modules/typescript/lib/lib.d.ts\n/p/src/a.ts\n/q/b.ts\n";
        let found = listed(Path::new("/p"), text);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["node_modules/typescript/lib/lib.d.ts", "src/a.ts"]);
        assert!(listed(Path::new("/p"), "").is_empty());
    }

    #[test]
    fn the_paths_of_a_list_start_where_the_compiler_ran() {
        let text = "/t/cart-1.d: shop/src/lib.rs shop/src/my\\ part.rs\n\nshop/src/lib.rs:\nshop/src/my\\ part.rs:\n\
                    /gen/x.rs:\nshop/src/../shared.rs:\nshop/src/../../above.rs:\n";
        let found: Vec<String> = dependencies(Path::new("/w/shop"), "/w/shop/src/lib.rs", text).collect();
        assert_eq!(found, ["src/lib.rs", "src/my part.rs", "shared.rs"]);
    }

    #[tokio::test]
    async fn a_build_script_is_read_and_a_part_of_another_project_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let at = |path: &str| root.join(path).display().to_string();
        std::fs::write(root.join("one-1.d"), "src/lib.rs:\nsrc/cart.rs:\n").unwrap();
        let artifact = |source: &str, file: &str| Artifact { source: source.to_owned(), files: vec![file.to_owned()] };
        let all = [
            artifact(&at("src/lib.rs"), &at("libone-1.rmeta")),
            artifact(&at("build.rs"), &at("build-script-build")),
            artifact("/elsewhere/src/lib.rs", &at("libone-1.rmeta")),
        ];
        let found = of_artifacts(root, &all).await.unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["build.rs", "src/cart.rs", "src/lib.rs"]);
        assert_eq!(of_artifacts(root, &all[1..]).await, None);
    }
}
