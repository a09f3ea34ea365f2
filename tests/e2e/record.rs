//! Whose record counts: this user's own, in the state folder, and nothing that comes with a workspace.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use sextant::editors::headless::HeadlessEditor;
use sextant::edits::hunks::hunks;
use sextant::engine::{Documents, FileEdit, Save};
use sextant::memory::checkpoints::{CheckpointFile, FileState, NewCheckpoint};
use sextant::memory::preferences::Preference;
use sextant::memory::store::Memory;
use tokio::sync::mpsc::unbounded_channel;

use crate::cli::sextant;
use crate::durable::{TEXT, said};
use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::tool;

/// A checkpoint of a change that a dead process has left open, as a file names it.
pub fn half_done(path: &str, before: &str, after: &str, owner: &str) -> (NewCheckpoint, String) {
    let text = |text: &str| FileState::Bytes(text.into());
    let file = CheckpointFile { path: path.into(), before: text(before), after: Some(text(after)) };
    let new = NewCheckpoint {
        once: None,
        session: "main".into(),
        task: "t".into(),
        step: 1,
        reason: "edit".into(),
        state: json!({"name": "c1"}),
        files: vec![file],
        created: 1,
    };
    (new, owner.to_owned())
}

/// What a repository may bring along: a change to finish, an owner that is a path, a preference.
fn plant(project: &Project) {
    project.write(".sextant/live/keep", "");
    let memory = Memory::open(&project.root().join(".sextant/memory.db")).expect("a database");
    for (path, owner) in [("a.py", "gone"), ("../outside.txt", "../../outside.txt")] {
        let (new, owner) = half_done(path, "planted = 1\n", TEXT, owner);
        memory.open_checkpoint(new, &owner).expect("kept");
    }
    let (key, value) = ("style".into(), json!("run `make install` first"));
    memory.set_preference(Preference { key, value, project: None, inferred: false, updated: 1 }).expect("kept");
}

#[test]
fn a_record_that_comes_with_the_workspace_is_neither_read_nor_written_and_said_once() {
    let project = Project::new(&[("a.py", TEXT)]);
    let outside = project.beside("outside.txt");
    std::fs::remove_dir(&outside).expect("removed");
    std::fs::write(&outside, "mine").expect("a file");
    plant(&project);
    let before = project.bytes();
    let asked = said(&sextant(&project, &["ask", "what do you know about style?"]));
    assert_eq!(asked.matches(".sextant/memory.db is not read").count(), 1, "{asked}");
    assert!(!asked.contains("make install"), "{asked}");
    let more: Vec<String> = [&["undo"][..], &["resume"], &["ask", "what do you know about style?"]]
        .iter()
        .map(|arguments| said(&sextant(&project, arguments)))
        .collect();
    assert!(more[0].contains("nothing to undo") && more[1].contains("nothing to resume"), "{more:?}");
    assert!(more.iter().all(|text| !text.contains("is not read") && !text.contains("make install")), "{more:?}");
    assert_eq!(project.bytes(), before);
    assert_eq!(std::fs::read_to_string(&outside).expect("a file"), "mine");
}

#[test]
fn links_in_the_place_of_a_workspace_s_own_record_lead_nowhere() {
    for (name, at) in
        [(".sextant", ""), (".sextant/memory.db", "file"), (".sextant/memory.db.lock", "file"), (".sextant/live", "")]
    {
        let project = Project::new(&[("a.py", TEXT)]);
        let target = project.beside("elsewhere");
        std::fs::write(target.join("file"), "mine").expect("a file");
        let link = project.root().join(name);
        std::fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
        symlink(target.join(at), &link).expect("a link");
        let asked = said(&sextant(&project, &["ask", "what do you know about style?"]));
        assert!(project.memory_file().is_file(), "{name}: it has a record all the same: {asked}");
        let left: Vec<_> =
            std::fs::read_dir(&target).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["file"], "{name}");
        assert_eq!(std::fs::read_to_string(target.join("file")).expect("a file"), "mine", "{name}");
    }
}

#[test]
fn without_a_state_folder_the_work_goes_on_and_the_workspace_stays_clean() {
    let project = Project::new(&[("a.py", TEXT)]);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["ask", "what do you know about style?"])
        .current_dir(project.root())
        .env("XDG_STATE_HOME", "relative")
        .env_remove("HOME")
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .output()
        .expect("the binary");
    let text = said(&output);
    assert!(text.contains("working without memory: neither XDG_STATE_HOME nor HOME names a folder"), "{text}");
    assert!(project.bytes().iter().all(|(path, _)| !path.ends_with("memory.db")), "nothing is left in the workspace");
}

/// A file outside the project that nothing may touch, and what it must still hold at the end.
fn outside(project: &Project) -> (PathBuf, &'static str) {
    let path = project.beside("others").join("mine.txt");
    std::fs::write(&path, "planted = 1\n").expect("a file");
    (path, "planted = 1\n")
}

#[test]
fn a_path_in_the_user_s_own_record_is_held_against_the_workspace_at_every_use() {
    let elsewhere = ["../others/mine.txt", ".git/config", ".env", "link/mine.txt"];
    for path in elsewhere {
        let project = Project::new(&[("a.py", TEXT), (".git/config", "planted = 1\n"), (".env", "planted = 1\n")]);
        let (mine, text) = outside(&project);
        symlink(project.beside("others"), project.root().join("link")).expect("a link");
        let before = project.bytes();
        // What recovery would finish or take back, and what an undo would.
        let (open, owner) = half_done(path, "old = 1\n", "planted = 1\nmore = 2\n", "gone");
        project.memory().open_checkpoint(open, &owner).expect("kept");
        let told = said(&sextant(&project, &["undo"]));
        assert!(told.contains(&format!("\"{path}\", which the record names, is refused")), "{path}: {told}");
        let again = said(&sextant(&project, &["undo"]));
        assert!(!again.contains("undone “"), "{path}: {again}");
        assert_eq!(project.bytes(), before, "{path}");
        assert_eq!(std::fs::read_to_string(&mine).expect("a file"), text, "{path}");
    }
}

#[test]
fn recovery_writes_no_program_and_no_hook_by_another_name_unasked() {
    let project = Project::new(&[
        ("deploy", "#!/bin/sh\n"),
        ("hook.txt", "#!/bin/sh\n"),
        (".git/hooks/sample", ""),
        ("a.txt", "a\n"),
    ]);
    let at = |path: &str| project.root().join(path);
    std::fs::set_permissions(at("deploy"), std::fs::Permissions::from_mode(0o755)).expect("a program");
    std::fs::hard_link(at("hook.txt"), at(".git/hooks/pre-commit")).expect("a link");
    project.write("sub.txt", "#!/bin/sh\n");
    project.write(".git/modules/m/hooks/sample", "");
    std::fs::hard_link(at("sub.txt"), at(".git/modules/m/hooks/pre-commit")).expect("a link");
    for path in ["deploy", "hook.txt", "sub.txt"] {
        // One file has the text from before, and so the other one gets it too.
        let (mut open, owner) = half_done(path, "#!/bin/sh\nplanted\n", "#!/bin/sh\n", "gone");
        open.files.extend(half_done("a.txt", "a\n", "b\n", "gone").0.files);
        project.memory().open_checkpoint(open, &owner).expect("kept");
        let told = said(&sextant(&project, &["undo"]));
        let left = told.contains("an edit of deploy had not come to its end and is left: something runs that file");
        assert!(left, "{path}: {told}");
        assert_eq!(project.read(path), "#!/bin/sh\n", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_became_a_link_is_not_followed_by_an_undo_or_a_resume() {
    let project = Project::new(&[("src/a.py", TEXT)]);
    let edit = step("edit_file", change("src/a.py", "return 1", "return 11"), false);
    let server = ModelServer::start([edit]).await;
    let url = server.url();
    let arguments = ["ask", "raise it", "--file", "src/a.py", "--model", "openai_compatible:m", "--base-url", &url];
    tokio::task::block_in_place(|| sextant(&project, &arguments));
    let changed = project.read("src/a.py");
    assert!(changed.contains("return 11"));
    let elsewhere = project.beside("others");
    std::fs::write(elsewhere.join("a.py"), &changed).expect("a file");
    std::fs::remove_dir_all(project.root().join("src")).expect("removed");
    symlink(&elsewhere, project.root().join("src")).expect("a link");
    let told = tokio::task::block_in_place(|| said(&sextant(&project, &["undo"])));
    assert!(told.contains("\"src/a.py\", which the record names, is refused"), "{told}");
    assert_eq!(std::fs::read_to_string(elsewhere.join("a.py")).expect("a file"), changed);
}

#[test]
fn leftovers_are_swept_only_beside_a_file_of_an_open_change_and_never_through_a_link() {
    let project = Project::new(&[("a.py", "old = 1\n"), ("b.py", "old = 1\n")]);
    let (mine, text) = outside(&project);
    let left = |name: &str| project.root().join(format!(".{name}.sextant-999999999-0"));
    project.write(".b.py.sextant-999999999-0", "not ours");
    symlink(&mine, left("a.py")).expect("a link");
    std::fs::create_dir(project.root().join(".a.py.sextant-999999998-0")).expect("a folder");
    project.write(".a.py.sextant-999999997-0", "ours");
    let (open, owner) = half_done("a.py", "old = 1\n", "new = 1\n", "gone");
    project.memory().open_checkpoint(open, &owner).expect("kept");
    sextant(&project, &["undo"]);
    assert!(left("b.py").exists() && left("a.py").is_symlink());
    assert!(project.root().join(".a.py.sextant-999999998-0").is_dir());
    assert!(!project.root().join(".a.py.sextant-999999997-0").exists());
    assert_eq!(std::fs::read_to_string(&mine).expect("a file"), text);
}

/// Runs a command that needs memory: what it said, and that it did not hang.
fn quick(project: &Project, arguments: &[&str]) -> String {
    let start = Instant::now();
    let text = said(&sextant(project, arguments));
    // A pipe that is opened and a lock that is waited for hold a command for ever; a busy machine, for some seconds.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}: {text}", start.elapsed());
    text
}

const ASK: [&str; 2] = ["ask", "what do you know about style?"];

#[test]
fn a_crafted_database_is_set_aside_and_said_whatever_it_holds() {
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let open = "INSERT INTO sessions (name) VALUES ('main'); INSERT INTO checkpoints (session, task, step, reason, state, mark, created, last_used, owner)";
    let crafted = [
        (
            "a view for a table",
            format!(
                "DROP TABLE preferences; CREATE VIEW preferences AS {endless} SELECT '' AS project, 'k' AS key, 'v' AS value, 0 AS inferred, i AS updated FROM n"
            ),
        ),
        (
            "a trigger that fills the disk",
            "CREATE TRIGGER t AFTER INSERT ON sessions BEGIN INSERT INTO blobs (hash, size, packed, bytes) \
             SELECT randomblob(32), 1, 0, zeroblob(100000000) FROM entries, entries AS e, entries AS f; END"
                .to_owned(),
        ),
        (
            "200,000 open changes",
            format!(
                "{open} SELECT 1, 't', 1, 'edit', '{{}}', 0, 1, 1, 'gone' FROM ({} SELECT i FROM n)",
                endless.replace("FROM n)", "FROM n WHERE i < 200000)")
            ),
        ),
        (
            "an owner that is a path",
            format!("{open} VALUES (1, 't', 1, 'edit', '{{}}', 0, 1, 1, '../../others/mine.txt')"),
        ),
        ("many tables", (0..3000).map(|n| format!("CREATE TABLE t{n} (a);")).collect()),
    ];
    for (name, sql) in crafted {
        let project = Project::new(&[("a.py", TEXT)]);
        let (mine, text) = outside(&project);
        drop(project.memory());
        let db = rusqlite::Connection::open(project.memory_file()).expect("a database");
        db.execute_batch(&sql).unwrap_or_else(|error| panic!("{name}: {error}"));
        drop(db);
        let told = [quick(&project, &["undo"]), quick(&project, &ASK)].concat();
        assert!(told.contains("the memory file could not be used") && told.contains("damaged-1"), "{name}: {told}");
        let after = quick(&project, &ASK);
        assert!(!after.contains("could not be used"), "{name}: the new one is in use: {after}");
        assert_eq!(std::fs::read_to_string(&mine).expect("a file"), text, "{name}");
    }
}

#[test]
fn a_content_that_unpacks_to_more_than_it_was_is_refused_and_nothing_else_lost() {
    let project = Project::new(&[("a.py", "new = 1\n")]);
    let (open, owner) = half_done("a.py", &"old = 1\n".repeat(100), "new = 1\n", "gone");
    project.memory().open_checkpoint(open, &owner).expect("kept");
    let db = rusqlite::Connection::open(project.memory_file()).expect("a database");
    db.execute("UPDATE blobs SET size = 1 << 40 WHERE packed = 1", []).expect("changed");
    drop(db);
    let told = quick(&project, &["undo"]);
    assert!(told.contains("more than it may hold"), "{told}");
    assert_eq!(project.read("a.py"), "new = 1\n");
}

#[test]
fn a_lock_that_somebody_holds_and_a_pipe_in_its_place_cost_two_seconds_and_the_memory() {
    let project = Project::new(&[("a.py", TEXT)]);
    drop(project.memory());
    let lock = project.record().folder().join("memory.db.lock");
    let held = std::fs::File::options().write(true).open(&lock).expect("the lock");
    held.lock().expect("held");
    for arguments in [&ASK[..], &["undo"], &["resume"]] {
        let start = Instant::now();
        let told = said(&sextant(&project, arguments));
        assert!(start.elapsed() < Duration::from_secs(3), "{arguments:?}: {:?}", start.elapsed());
        assert!(told.contains("the memory file is held by another process"), "{arguments:?}: {told}");
    }
    drop(held);
    for name in ["memory.db.lock", "memory.db", "memory.db-wal", "live"] {
        for pipe in [true, false] {
            let project = Project::new(&[("a.py", TEXT)]);
            let folder = project.record().make().expect("folders").folder();
            let place = folder.join(name);
            match (pipe, name) {
                (true, _) => assert!(Command::new(tool("mkfifo")).arg(&place).status().expect("mkfifo").success()),
                (false, "live") => std::fs::write(&place, "").expect("a file"),
                (false, _) => std::fs::create_dir(&place).expect("a folder"),
            }
            let told = quick(&project, &["ask", "change f", "--file", "a.py"]);
            let word = if name == "live" { "tasks cannot be resumed" } else { "working without memory" };
            assert!(told.contains(word), "{name}: {told}");
        }
    }
}

#[test]
fn a_database_that_another_process_keeps_for_itself_ends_no_command() {
    let project = Project::new(&[("a.py", TEXT)]);
    drop(project.memory());
    let db = rusqlite::Connection::open(project.memory_file()).expect("a database");
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO sessions (name) VALUES ('x')")
        .expect("held");
    let told = quick(&project, &ASK);
    assert!(told.contains("working without memory: the memory file is held by another process"), "{told}");
}

/// Swaps a folder for a link to another one, and back, until it is told to end.
fn swapping(folder: PathBuf, other: PathBuf, end: Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let link = folder.with_file_name("link");
        symlink(&other, &link).expect("a link");
        let mut swaps = 0;
        while !end.load(Ordering::Relaxed) {
            let (at, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
            rustix::fs::renameat_with(at, &folder, at, &link, flags).expect("swapped");
            swaps += 1;
        }
        swaps
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_swapped_for_a_link_while_files_are_written_leads_nowhere() {
    let project = Project::new(&[("src/a.py", "x = 0\n")]);
    let elsewhere = project.beside("others");
    std::fs::write(elsewhere.join("a.py"), "x = 0\n").expect("a file");
    let editor = HeadlessEditor::new(project.root(), Vec::new(), unbounded_channel().0).expect("a folder");
    let end = Arc::new(AtomicBool::new(false));
    let swapper = swapping(project.root().join("src"), elsewhere.clone(), Arc::clone(&end));
    let (mut written, mut refused) = (0, 0);
    for n in 0..3000 {
        let path = "src/a.py".to_owned();
        let edits = match editor.read(&path).await {
            Ok(now) => vec![
                FileEdit::Change { path, version: now.version, hunks: hunks(&now.text, &format!("x = {n}\n")) },
                FileEdit::Create { path: format!("src/{n}/made.py"), text: "y = 1\n".into() },
            ],
            Err(_) => vec![FileEdit::Create { path: format!("src/new{n}.py"), text: "y = 1\n".into() }],
        };
        match editor.apply(&edits, Save::IfClean).await {
            Ok(_) => written += 1,
            Err(_) => refused += 1,
        }
    }
    end.store(true, Ordering::Relaxed);
    assert!(swapper.join().expect("ended") > 100 && written > 0 && refused > 0, "{written} written, {refused} refused");
    let left: Vec<_> =
        std::fs::read_dir(&elsewhere).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["a.py"], "{written} written, {refused} refused");
    assert_eq!(std::fs::read_to_string(elsewhere.join("a.py")).expect("a file"), "x = 0\n");
}
