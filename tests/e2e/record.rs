//! Whose record counts: this user's own, in the state folder, and nothing that comes with a workspace.

use std::os::unix::fs::symlink;

use serde_json::json;
use sextant::memory::checkpoints::{CheckpointFile, FileState, NewCheckpoint};
use sextant::memory::preferences::Preference;
use sextant::memory::store::Memory;

use crate::cli::sextant;
use crate::durable::{TEXT, said};
use crate::support::project::Project;

/// A checkpoint of a change that a dead process has left open, as a file names it.
pub fn half_done(path: &str, before: &str, after: &str, owner: &str) -> (NewCheckpoint, String) {
    let text = |text: &str| FileState::Bytes(text.into());
    let file = CheckpointFile { path: path.into(), before: text(before), after: Some(text(after)) };
    let new = NewCheckpoint {
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
