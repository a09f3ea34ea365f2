//! Tests that all files change or none, however each is written, and that no text of a faster user is lost.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn all_changes_are_made_and_permissions_kept() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("a"), "old").unwrap();
    fs::set_permissions(at("a"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::write(at("b"), "gone").unwrap();
    let changes = [
        FileOperation::Write { path: "a".into(), seen: b"old".into(), bytes: b"new".into() },
        FileOperation::Delete { path: "b".into(), seen: b"gone".into() },
        FileOperation::Create { path: "x/y/c".into(), bytes: b"c".into() },
    ];
    commit(root.path(), &changes).unwrap();
    assert_eq!(names(root.path()), ["a", "x"]);
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "new");
    assert_eq!(fs::metadata(at("a")).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(names(&at("x/y")), ["c"]);
}

#[test]
fn a_user_who_is_faster_by_a_moment_keeps_what_they_did() {
    type User = fn(&Path);
    let saves: [(&str, User); 5] = [
        ("appends", |file| {
            fs::OpenOptions::new().append(true).open(file).and_then(|mut file| file.write_all(b"mine\n")).unwrap()
        }),
        ("saves by renaming", |file| {
            fs::write(file.with_extension("new"), "mine\n").unwrap();
            fs::rename(file.with_extension("new"), file).unwrap();
        }),
        ("renames", |file| fs::rename(file, file.with_extension("mine")).unwrap()),
        ("removes", |file| fs::remove_file(file).unwrap()),
        ("puts a link there", |file| {
            fs::remove_file(file).unwrap();
            symlink(file.with_extension("else"), file).unwrap();
        }),
    ];
    for (what, user) in saves {
        for delete in [false, true] {
            let root = tempfile::tempdir().unwrap();
            let file = root.path().join("a.txt");
            fs::write(&file, "old\n").unwrap();
            let (path, seen) = ("a.txt".to_owned(), b"old\n".to_vec());
            let change = if delete {
                FileOperation::Delete { path, seen }
            } else {
                FileOperation::Write { path, seen, bytes: b"new\n".to_vec() }
            };
            let mut folders = Folders::new(root.path()).unwrap();
            let staged = stage(&change, &mut folders).unwrap();
            // The user writes after the last look, and before the change.
            user(&file);
            let there = |root: &Path| {
                let mut all: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
                all.retain(|path| !path.file_name().unwrap().to_string_lossy().contains(BESIDE));
                all.sort();
                all.into_iter().map(|path| (fs::read_link(&path).ok(), fs::read(&path).ok(), path)).collect::<Vec<_>>()
            };
            let wanted = there(root.path());
            assert!(step(&staged).is_err(), "{what}, delete {delete}");
            assert_eq!(there(root.path()), wanted, "{what}, delete {delete}");
        }
    }
}

#[test]
fn what_is_written_through_a_file_that_was_open_before_is_not_lost() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a");
    fs::write(&file, "old\n").unwrap();
    let change = FileOperation::Write { path: "a".into(), seen: b"old\n".into(), bytes: b"new\n".into() };
    let mut open = fs::OpenOptions::new().append(true).open(&file).unwrap();
    let mut folders = Folders::new(root.path()).unwrap();
    let staged = stage(&change, &mut folders).unwrap();
    let done = UndoStep { staged: &staged, aside: step(&staged).unwrap() };
    assert!(!done.is_overtaken());
    open.write_all(b"mine\n").unwrap();
    if done.aside.is_some() {
        assert!(done.is_overtaken());
        undo(&done);
        assert_eq!(fs::read(&file).unwrap(), b"old\nmine\n");
    }
}

#[test]
fn a_file_with_several_names_keeps_them() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("a"), "old").unwrap();
    fs::hard_link(at("a"), at("twin")).unwrap();
    let write =
        |seen: &[u8], bytes: &[u8]| FileOperation::Write { path: "a".into(), seen: seen.into(), bytes: bytes.into() };
    commit(root.path(), &[write(b"old", b"longer than before")]).unwrap();
    assert_eq!(fs::read(at("twin")).unwrap(), b"longer than before");
    let other = FileOperation::Delete { path: "none".into(), seen: vec![] };
    assert!(commit(root.path(), &[write(b"longer than before", b"x"), other]).is_err());
    assert_eq!(fs::read(at("twin")).unwrap(), b"longer than before");
    assert!(matches!(commit(root.path(), &[write(b"old", b"x")]), Err(Refused::Moved(0))));
    assert_eq!((fs::read(at("twin")).unwrap(), names(root.path()).len()), (b"longer than before".to_vec(), 2));
}

#[test]
fn what_a_dead_process_left_is_swept_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let (dead, own) = (gone.id(), std::process::id());
    let (left, ours, other) =
        (format!(".a.sextant-{dead}-0"), format!(".a.sextant-{own}-9"), format!(".b.sextant-{dead}-0"));
    for name in ["a", &left, &ours, &other, ".a.sextant-x"] {
        fs::write(at(name), "").unwrap();
    }
    sweep(root.path(), "a");
    let mut kept = vec!["a".to_owned(), ours, other, ".a.sextant-x".to_owned()];
    kept.sort();
    assert_eq!(names(root.path()), kept);
}

#[test]
fn one_refusal_leaves_every_file_and_folder_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("a"), "a").unwrap();
    fs::write(at("b"), "b").unwrap();
    fs::create_dir(at("full")).unwrap();
    fs::write(at("full/x"), "x").unwrap();
    let good = [
        FileOperation::Write { path: "a".into(), seen: b"a".into(), bytes: b"new".into() },
        FileOperation::Create { path: "deep/er/c".into(), bytes: b"c".into() },
        FileOperation::Delete { path: "b".into(), seen: b"b".into() },
    ];
    let bad = [
        (FileOperation::Write { path: "a".into(), seen: b"other".into(), bytes: vec![] }, true),
        (FileOperation::Create { path: "b".into(), bytes: vec![] }, true),
        (FileOperation::Delete { path: "none".into(), seen: vec![] }, true),
        (FileOperation::Create { path: "a/below/a/file".into(), bytes: vec![] }, false),
    ];
    for (bad, moved) in bad {
        let changes: Vec<FileOperation> = good.iter().cloned().chain([bad]).collect();
        let refused = commit(root.path(), &changes).unwrap_err();
        assert_eq!(matches!(refused, Refused::Moved(3)), moved, "{refused:?}");
        assert_eq!(names(root.path()), ["a", "b", "full"]);
        assert_eq!(fs::read(at("a")).unwrap(), b"a");
    }
    // The same file twice: the second step fails after the first was made.
    let twice = [good[0].clone(), good[2].clone(), good[2].clone()];
    assert!(matches!(commit(root.path(), &twice), Err(Refused::Failed(2, _))));
    assert_eq!((fs::read(at("a")).unwrap(), fs::read(at("b")).unwrap()), (b"a".to_vec(), b"b".to_vec()));
    assert_eq!(names(root.path()), ["a", "b", "full"]);
}

#[test]
fn no_link_is_followed_and_nothing_is_written_where_one_stands() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("root/src")).unwrap();
    fs::create_dir(at("other")).unwrap();
    for file in ["root/a", "other/a"] {
        fs::write(at(file), "a").unwrap();
    }
    symlink(at("other"), at("root/out")).unwrap();
    symlink(at("other/a"), at("root/link")).unwrap();
    for path in ["out/a", "link", "../other/a", "out/deep/a"] {
        for change in [
            FileOperation::Write { path: path.into(), seen: b"a".into(), bytes: b"new".into() },
            FileOperation::Create { path: format!("{path}x"), bytes: b"new".into() },
            FileOperation::Delete { path: path.into(), seen: b"a".into() },
        ] {
            if path == "link" && matches!(change, FileOperation::Create { .. }) {
                continue;
            }
            assert!(commit(&at("root"), std::slice::from_ref(&change)).is_err(), "{change:?}");
            sweep(&at("root"), path);
        }
    }
    assert_eq!((names(&at("other")), fs::read(at("other/a")).unwrap()), (vec!["a".to_owned()], b"a".to_vec()));
    assert_eq!(names(&at("root")), ["a", "link", "out", "src"]);
}
