//! Accepted and refused paths.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// `ws/` with a file and a folder, and `outside/` beside it.
fn folders() -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("ws/src/.git")).unwrap();
    fs::create_dir_all(dir.path().join("outside")).unwrap();
    fs::write(dir.path().join("ws/src/a.py"), "").unwrap();
    fs::write(dir.path().join("outside/o.py"), "").unwrap();
    let root = Root::new(&dir.path().join("ws")).unwrap();
    (dir, root)
}

#[test]
fn paths_inside_come_out_relative() {
    let (_dir, root) = folders();
    assert_eq!(root.resolve("src/a.py").unwrap(), "src/a.py");
    assert_eq!(root.resolve("./src/../src/a.py").unwrap(), "src/a.py");
    assert_eq!(root.resolve(root.join("src/a.py").to_str().unwrap()).unwrap(), "src/a.py");
    assert_eq!(root.resolve("new/deep/b.py").unwrap(), "new/deep/b.py", "a file that is yet to be made");
    assert_eq!(root.resolve("gone/../src/a.py").unwrap(), "src/a.py");
}

#[test]
fn paths_outside_are_refused_however_they_are_written() {
    let (dir, root) = folders();
    let outside = dir.path().join("outside/o.py");
    for path in ["../outside/o.py", "src/../../outside/o.py", "gone/../../outside/o.py", "/etc/passwd", "../ws2/a.py"] {
        assert!(matches!(root.resolve(path), Err(PathError::Outside(_))), "{path}: {:?}", root.resolve(path));
    }
    assert!(matches!(root.resolve(outside.to_str().unwrap()), Err(PathError::Outside(_))));
}

#[test]
fn links_are_followed_before_they_are_judged() {
    let (dir, root) = folders();
    symlink(dir.path().join("outside"), root.join("away")).unwrap();
    symlink(dir.path().join("outside/o.py"), root.join("o.py")).unwrap();
    symlink(root.join("src"), root.join("within")).unwrap();
    symlink(dir.path().join("outside/none.py"), root.join("dangling.py")).unwrap();
    for path in ["away/o.py", "away/new.py", "o.py", "gone/../o.py", "away/../outside/o.py", "gone/../away/o.py"] {
        assert!(matches!(root.resolve(path), Err(PathError::LeadsOut { .. })), "{path}: {:?}", root.resolve(path));
    }
    assert_eq!(root.resolve("within/a.py").unwrap(), "src/a.py", "the file itself, not the link");
    assert!(matches!(root.resolve("dangling.py"), Err(PathError::Io { .. })));
}

#[test]
fn secrets_are_refused_by_name_and_behind_a_link() {
    let (_dir, root) = folders();
    let secret = [
        ".env",
        ".env.local",
        "a/.ENV",
        "server.pem",
        "tls.key",
        "id_rsa",
        "keys/id_ed25519",
        "credentials",
        "credentials.json",
        "credentials-prod.yml",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".git/config",
        "src/.git/HEAD",
        ".ssh/known_hosts",
        ".aws/credentials",
    ];
    for path in secret {
        assert!(matches!(root.resolve(path), Err(PathError::Secret(_))), "{path}: {:?}", root.resolve(path));
    }
    for path in [".env.example", "environment.py", "credentials.py", "keys.py", ".gitignore", "pem.md", ".envrc2"] {
        assert!(root.resolve(path).is_ok(), "{path}");
    }
    fs::write(root.join(".env"), "").unwrap();
    symlink(root.join(".env"), root.join("plain.txt")).unwrap();
    assert!(matches!(root.resolve("plain.txt"), Err(PathError::Secret(_))));
    symlink(root.join("src/a.py"), root.join("id_rsa")).unwrap();
    assert!(matches!(root.resolve("id_rsa"), Err(PathError::Secret(_))));
}

#[test]
fn what_is_no_file_is_refused() {
    let (_dir, root) = folders();
    assert!(matches!(root.resolve("src"), Err(PathError::Directory(_))));
    assert!(matches!(root.resolve("."), Err(PathError::Directory(_))));
    assert!(matches!(root.resolve(" "), Err(PathError::Empty)));
    assert!(matches!(root.resolve("a\nb"), Err(PathError::BadName(_))));
    assert!(matches!(root.resolve("a\0b"), Err(PathError::BadName(_))));
    assert!(matches!(root.resolve("src/a.py/b.py"), Err(PathError::Special(_))));
    let _socket = std::os::unix::net::UnixListener::bind(root.join("s")).unwrap();
    assert!(matches!(root.resolve("s"), Err(PathError::Special(_))));
}

#[test]
fn the_root_is_the_nearest_project() {
    let (_dir, root) = folders();
    fs::write(root.join("pyproject.toml"), "").unwrap();
    fs::create_dir_all(root.join("lib/deep")).unwrap();
    assert_eq!(Root::find(&root.join("lib/deep")).unwrap(), root);
    fs::create_dir(root.join("lib/.git")).unwrap();
    assert_eq!(Root::find(&root.join("lib/deep")).unwrap().path(), root.join("lib"));
    assert_eq!(Root::find(&root.join("pyproject.toml")).unwrap(), root, "a file stands for its folder");
    assert!(matches!(Root::find(&root.join("nowhere")), Err(PathError::Io { .. })));
}

#[test]
fn a_path_that_was_kept_counts_only_while_it_is_the_file_itself() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::new(dir.path()).unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/a.py"), "").unwrap();
    for path in ["src/a.py", "src/new.py", "gone/new.py"] {
        assert_eq!(root.confirm(path), Ok(()), "{path}");
    }
    for path in ["../a.py", "/etc/passwd", ".git/config", "src", "./src/a.py", "src/../src/a.py", "", ".sextant/x"] {
        assert!(root.confirm(path).is_err(), "{path}");
    }
    fs::rename(dir.path().join("src"), dir.path().join("other")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("other"), dir.path().join("src")).unwrap();
    let moved = PathError::Moved { path: "src/a.py".into(), target: "other/a.py".into() };
    assert_eq!(root.confirm("src/a.py"), Err(moved));
}

#[test]
fn its_own_record_is_no_file_of_the_workspace() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::new(dir.path()).unwrap();
    for path in [".sextant/memory.db", ".sextant/x/y", "a/../.sextant/memory.db"] {
        assert!(matches!(root.resolve(path), Err(PathError::Own(_))), "{path}: {:?}", root.resolve(path));
    }
    assert_eq!(root.resolve("a/.sextant.py"), Ok("a/.sextant.py".into()));
}

#[test]
fn a_workspace_that_contains_the_state_folder_does_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state/sextant");
    let root = Root::new(dir.path()).unwrap().without(&state);
    for path in ["state/sextant", "state/sextant/workspaces/x/memory.db", "a/../state/sextant/new.py"] {
        assert!(matches!(root.resolve(path), Err(PathError::Own(_))), "{path}: {:?}", root.resolve(path));
    }
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("x.py"), "").unwrap();
    fs::write(dir.path().join("state/x.py"), "").unwrap();
    std::os::unix::fs::symlink(&state, dir.path().join("link")).unwrap();
    assert!(matches!(root.resolve("link/x.py"), Err(PathError::Own(_))));
    assert_eq!(root.resolve("state/x.py"), Ok("state/x.py".into()));
    assert_eq!(crate::workspace::workspace_files::list(&root, "", 9).files, ["state/x.py"]);
}
