//! Finds folders that git takes for a repository, whatever their names.

use std::path::Path;

/// True if a file lies in a folder that git takes for a repository, or would make one of its folders such a folder.
///
/// Git runs programs that the configuration of such a folder names, and its hooks. Objects and references are enough
/// here: git also needs a file `HEAD`, which may come later. They may also lie in another folder, which `commondir`
/// names.
pub(crate) fn holds(root: &Path, path: &str) -> bool {
    let mut folder = path;
    while let Some((outer, _)) = folder.rsplit_once('/').or_else(|| (!folder.is_empty()).then_some(("", folder))) {
        folder = outer;
        let own = path.get(outer.len()..).unwrap_or_default().trim_start_matches('/').to_lowercase();
        let has = |part: &str| is_part(&own, part) || root.join(folder).join(part).symlink_metadata().is_ok();
        if has("objects") && has("refs") || has("HEAD") && has("commondir") {
            return true;
        }
        // A work tree of its own may lie in a repository: its files are not git's.
        let git = root.join(folder).join(".git");
        if git.is_file() || git.join("HEAD").is_file() {
            return false;
        }
    }
    false
}

/// True if a path is this part of its folder, or lies in it. The path is in small letters: some disks mind no case.
fn is_part(path: &str, part: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    first == part.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for path in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x\n").unwrap();
        }
        dir
    }

    #[test]
    fn a_folder_with_the_parts_of_a_repository_is_one_under_any_name() {
        let dir = tree(&["emb/HEAD", "emb/objects/x", "emb/refs/x", "plain/HEAD", "plain/objects/x"]);
        for inside in ["emb/config", "emb/hooks/pre-push", "emb/info/attributes", "emb/HEAD", "emb/deep/er/x"] {
            assert!(holds(dir.path(), inside), "{inside}");
        }
        for outside in ["a.py", "plain/config", "plain/HEAD", "emb", "embed/config", "objects.py"] {
            assert!(!holds(dir.path(), outside), "{outside}");
        }
        let bare = tree(&["HEAD", "objects/x", "refs/x"]);
        assert!(holds(bare.path(), "config") && holds(bare.path(), "hooks/pre-push"));
    }

    #[test]
    fn the_write_that_completes_a_repository_counts() {
        for (files, last) in [
            (["docs/HEAD", "docs/config", "docs/refs/x"].as_slice(), "docs/objects/x"),
            (&["docs/HEAD", "docs/config", "docs/objects/x"], "docs/refs/x"),
            (&["docs/objects/x"], "docs/REFS/heads/x"),
            (&["docs/HEAD"], "docs/commondir"),
            (&["docs/commondir"], "docs/HEAD"),
        ] {
            assert!(holds(tree(files).path(), last), "{files:?}, then {last}");
        }
        assert!(!holds(tree(&["docs/HEAD"]).path(), "docs/objects/x"));
    }

    #[test]
    fn a_work_tree_inside_of_a_repository_is_not_a_part_of_it() {
        let dir = tree(&["HEAD", "objects/x", "refs/x", "main/.git", "main/a.py"]);
        assert!(!holds(dir.path(), "main/a.py") && !holds(dir.path(), "main/sub/b.py"));
        assert!(holds(dir.path(), "other/a.py"));
    }
}
