//! Tests entries of sessions: live, left by the dead, forged, and several at once.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

use super::advertise::Advertised;
use super::find_sessions::{around, choose, everywhere, of_root, related};
use super::gate::StartGate;
use super::*;
use sextant_base::deadline::Deadline;

struct Place {
    _dir: tempfile::TempDir,
    folders: Vec<PathBuf>,
    root: PathBuf,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    let folders = vec![dir.path().join("runtime").join("sextant")];
    Place { folders, root, _dir: dir }
}

impl Place {
    fn advertise(&self, door: &'static str, editor_pid: Option<u32>) -> Advertised {
        let what = Advertisement { root: self.root.clone(), door, editor_pid };
        Advertised::new(&self.folders, &what, None).unwrap().0
    }

    fn folder(&self) -> PathBuf {
        self.folders[0].join(key(&self.root))
    }
}

#[test]
fn a_session_is_found_as_long_as_it_is_there() {
    let place = place();
    assert!(of_root(&place.folders, &place.root).entries.is_empty());
    let one = place.advertise("nvim", Some(77));
    let two = place.advertise("headless", None);
    one.used();
    let found = of_root(&place.folders, &place.root);
    assert_eq!(found.entries, [one.entry().clone(), two.entry().clone()], "the one used last comes first");
    assert_eq!(everywhere(&place.folders), found);
    assert!(of_root(&place.folders, &place.root.join("other")).entries.is_empty());
    for (path, mode) in
        [(place.folders[0].clone(), 0o700), (place.folder(), 0o700), (one.entry().socket.clone(), 0o600)]
    {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    drop((one, two));
    assert!(of_root(&place.folders, &place.root).entries.is_empty());
    assert!(!place.folder().exists(), "nothing is left");
}

#[test]
fn what_a_dead_process_left_is_cleaned_away_and_its_name_used_again() {
    let place = place();
    let one = place.advertise("nvim", Some(77));
    let entry = one.entry().clone();
    let text = fs::read(place.folder().join("nvim-77.json")).unwrap();
    drop(one);
    fs::create_dir_all(place.folder()).unwrap();
    fs::set_permissions(place.folder(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(place.folder().join("nvim-77.json"), &text).unwrap();
    fs::write(&entry.socket, "").unwrap();
    // The process id of the entry is that of a live process: this one.
    assert!(of_root(&place.folders, &place.root).entries.is_empty());
    assert!(!entry.socket.exists() && !place.folder().join("nvim-77.json").exists());
    assert!(!place.folder().exists(), "nor is the folder left");
    fs::create_dir(place.folder()).unwrap();
    fs::set_permissions(place.folder(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(place.folder().join("nvim-77.json"), &text).unwrap();
    let again = place.advertise("nvim", Some(77));
    assert_eq!(again.entry().name, "nvim-77");
}

#[test]
fn what_is_forged_is_reported_and_not_joined() {
    let place = place();
    let real = place.advertise("nvim", Some(77));
    let folder = place.folder();
    let text = fs::read_to_string(folder.join("nvim-77.json")).unwrap();
    // The files are held, so that each entry looks alive.
    let mut held = Vec::new();
    for (name, text) in [
        ("nvim-1", text.clone()),
        ("nvim-2", text.replace("nvim-77", "nvim-2").replace("project", "elsewhere")),
        ("nvim-3", "no JSON".to_owned()),
        ("nvim-4", text.replace("nvim-77", "nvim-4").replace("\"version\":1", "\"version\":9")),
        ("nvim-5", text.replace(&format!("{}/nvim-77.sock", folder.display()), "/nowhere/else.sock")),
        ("nvim-6", "x".repeat(1 << 20)),
    ] {
        let path = folder.join(format!("{name}.json"));
        fs::write(&path, text).unwrap();
        let file = fs::File::open(&path).unwrap();
        file.try_lock().unwrap();
        held.push(file);
    }
    symlink(folder.join("nvim-77.json"), folder.join("nvim-7.json")).unwrap();
    fs::write(folder.join("nvim-8 $(x).json"), &text).unwrap();
    let found = of_root(&place.folders, &place.root);
    assert_eq!(found.entries, [real.entry().clone()]);
    assert_eq!(found.problems.len(), 7, "{:#?}", found.problems);
    // A folder that other users can write to can hold anything.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let found = of_root(&place.folders, &place.root);
    assert!(found.entries.is_empty() && found.problems.len() == 1, "{found:?}");
}

#[test]
fn a_folder_of_ours_that_is_a_link_is_not_used() {
    let place = place();
    let target = place.root.with_file_name("target");
    fs::create_dir_all(&target).unwrap();
    fs::create_dir_all(place.folders[0].parent().unwrap()).unwrap();
    symlink(&target, &place.folders[0]).unwrap();
    let what = Advertisement { root: place.root.clone(), door: "nvim", editor_pid: None };
    assert!(Advertised::new(&place.folders, &what, None).is_err());
    assert!(fs::read_dir(&target).unwrap().next().is_none());
}

#[test]
fn a_folder_is_asked_to_serve_where_a_session_could_be_made_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("file"), "").unwrap();
    fs::create_dir(at("there")).unwrap();
    symlink(at("there"), at("link")).unwrap();
    let long = "x".repeat(80);
    for (folder, serves) in [
        ("there", true),
        ("new", true),
        ("new/new", true),
        ("file", false),
        ("file/x", false),
        ("link", false),
        (&long, false),
    ] {
        let result = could_hold(&at(folder));
        assert_eq!(result.is_ok(), serves, "{folder}: {result:?}");
        let what = Advertisement { root: at("project"), door: "nvim", editor_pid: None };
        if folder == "new" {
            assert!(!at(folder).exists(), "it only looks");
        }
        let made = Advertised::new(&[at(folder)], &what, None);
        assert_eq!(made.is_ok(), serves, "and so it is: {folder}");
    }
}

#[test]
fn a_folder_that_another_user_has_put_in_our_place_is_not_used_and_reported() {
    let place = place();
    let base = &place.folders[0];
    fs::create_dir_all(base).unwrap();
    fs::set_permissions(base, fs::Permissions::from_mode(0o700)).unwrap();
    // Only root can give a file away.
    if std::os::unix::fs::chown(base, Some(65534), None).is_err() {
        return;
    }
    let what = Advertisement { root: place.root.clone(), door: "nvim", editor_pid: None };
    assert!(could_hold(base).is_err() && Advertised::new(&place.folders, &what, None).is_err());
    fs::create_dir(place.folder()).unwrap();
    let found = of_root(&place.folders, &place.root);
    assert!(found.entries.is_empty() && found.problems.len() == 1, "{found:?}");
    assert!(found.problems[0].contains("belongs to another user"), "{found:?}");
}

#[test]
fn a_path_that_no_socket_can_have_is_passed_over() {
    let mut place = place();
    place.folders.insert(0, place.root.join("x".repeat(80)));
    let one = place.advertise("nvim", None);
    assert!(one.entry().socket.starts_with(&place.folders[1]));
    assert!(one.entry().socket.as_os_str().len() < SOCKET_BYTES);
}

#[test]
fn of_several_one_is_chosen_by_name_or_process() {
    let place = place();
    let (one, two) = (place.advertise("nvim", Some(77)), place.advertise("nvim", Some(78)));
    one.used();
    let found = of_root(&place.folders, &place.root);
    let name = |named| choose(&found, named).map(|entry| entry.map(|entry| entry.name));
    assert_eq!(name(None), Ok(Some("nvim-77".to_owned())));
    assert_eq!(name(Some("nvim-78")), Ok(Some("nvim-78".to_owned())));
    assert_eq!(name(Some("78")), Ok(Some("nvim-78".to_owned())));
    let failure = name(Some("79")).unwrap_err();
    assert_eq!(failure.one_line(), "there is no session \"79\" in this workspace (there are: nvim-77, nvim-78)");
    drop(two);
}

#[test]
fn the_session_of_a_folder_around_is_found_and_that_of_a_home_is_not() {
    let mut place = place();
    let outer = place.root.clone();
    let here = outer.join("packages/one");
    let home = outer.parent().unwrap().to_owned();
    let names = |found: &find_sessions::FoundSessions| -> Vec<String> {
        found.entries.iter().map(|entry| entry.name.clone()).collect()
    };
    let around = |place: &Place| names(&around(&place.folders, &here, Some(&home)));
    place.root = home.clone();
    let _everything = place.advertise("nvim", Some(1));
    assert!(around(&place).is_empty(), "what is asked for in a project is not meant for a whole home");
    place.root = outer.clone();
    let _outer = place.advertise("nvim", Some(2));
    assert_eq!(around(&place), ["nvim-2"]);
    place.root = here.clone();
    let _own = place.advertise("nvim", Some(3));
    place.root = here.join("inner");
    let _inner = place.advertise("nvim", Some(4));
    place.root = outer.join("packages/other");
    let _beside = place.advertise("nvim", Some(5));
    assert_eq!(around(&place), ["nvim-3", "nvim-2"], "the nearest one first");
    let mut may_have_files_of_it = names(&related(&place.folders, &here));
    may_have_files_of_it.sort();
    assert_eq!(may_have_files_of_it, ["nvim-1", "nvim-2", "nvim-3", "nvim-4"]);
}

#[test]
fn one_process_at_a_time_looks_for_a_session_or_becomes_one() {
    let place = place();
    let enter = |ms| StartGate::enter(&place.folders, &place.root, Deadline::after(Duration::from_millis(ms)));
    let held = enter(1000).unwrap();
    assert_eq!(enter(30).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    StartGate::enter(&place.folders, &place.root.join("other"), Deadline::after(Duration::ZERO)).unwrap();
    let _session = place.advertise("nvim", Some(77));
    assert_eq!(everywhere(&place.folders).problems, Vec::<String>::new(), "it is no entry");
    drop(held);
    // Many at once: never two inside, and a waiter on a removed file takes the next one.
    let inside = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let gate = enter(60_000).unwrap();
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    drop(gate);
                }
            });
        }
    });
    let left: Vec<_> = fs::read_dir(&place.folders[0]).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 1, "the session's folder alone: {left:?}");
}
