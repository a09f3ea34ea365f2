//! Every byte: line ends that are left alone, names of one file that stay its names, folders that go with their files.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::engine::Request;

use crate::support::engine::{Setup, TestEngine, last};
use crate::support::project::Project;
use crate::support::replies::change;

/// Does one thing and takes it back in another process; what the files were in between.
async fn there_and_back(project: &Project, tool: &str, parameters: Value) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let before = project.bytes();
    let setup = |replies| Setup { replies, memory: true, ..Setup::default() };
    let engine = TestEngine::new(project, setup(vec![last(tool, parameters.clone())]));
    let request = Request { text: "change it".into(), workspace: true, ..Request::default() };
    let outcome = engine.ask_about(&request).await;
    engine.session.close().await;
    drop(engine);
    let changed = project.bytes();
    assert_ne!(changed, before, "{tool} {parameters}: {outcome}");
    let engine = TestEngine::new(project, setup(Vec::new()));
    engine.session.undo().await.result.expect("it can be taken back");
    assert_eq!(project.bytes(), before, "{tool} {parameters} is taken back byte for byte");
    engine.session.redo().await.result.expect("it can be brought back");
    assert_eq!(project.bytes(), changed, "{tool} {parameters} is brought back byte for byte");
    engine.session.undo().await.result.expect("it can be taken back again");
    assert_eq!(project.bytes(), before);
    engine.session.close().await;
    changed
}

#[tokio::test]
async fn line_ends_of_every_kind_are_left_as_they_are_and_come_back() {
    let lines = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let symbol =
        json!({"symbol": "a.py::f", "action": "replace", "content": "def f() -> int:\n    x = 5\n    return x\n"});
    for end in ["\n", "\r\n", "\r\r\n"] {
        for mark in ["", "\u{feff}"] {
            let text = format!("{mark}{}", lines.replace('\n', end));
            let project = Project::new(&[("a.py", &text)]);
            let changed = there_and_back(&project, "edit_symbol", symbol.clone()).await;
            let wanted = text.replace("    return 1", &format!("    x = 5{end}    return x"));
            assert_eq!(String::from_utf8_lossy(&changed[0].1), wanted, "{end:?}");
        }
    }
    // What is left has no line end, or others than before.
    let cases = [
        ("a\r\nb", "a\nb", "ab"),
        ("\u{feff}a\r\nb", "a\nb", "ab"),
        ("a\r\nb\r\nc\n", "c\n", "c"),
        ("one\r\n", "one\n", "one\r"),
        ("a\r\r\nb\r\r\n", "b", "c"),
    ];
    for (text, old, new) in cases {
        let project = Project::new(&[("a.txt", text)]);
        there_and_back(&project, "edit_file", change("a.txt", old, new)).await;
    }
}

#[tokio::test]
async fn a_file_with_several_names_is_edited_under_all_of_them() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let (file, twin) = (project.root().join("a.txt"), project.root().join("twin.txt"));
    fs::hard_link(&file, &twin).expect("a second name");
    let number = fs::metadata(&file).expect("a file").ino();
    let changed = there_and_back(&project, "edit_file", change("a.txt", "one", "two, longer")).await;
    let texts = changed.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "txt"));
    assert!(texts.map(|(_, bytes)| bytes.as_slice()).eq([b"two, longer\n"; 2]), "{changed:?}");
    for name in [file, twin] {
        assert_eq!(fs::metadata(name).expect("a file").ino(), number, "it is still one file");
    }
}

#[tokio::test]
async fn folders_go_with_the_files_that_they_were_made_for() {
    let project = Project::new(&[("src/a.txt", "one\n")]);
    let new = json!({"path": "src/new/inner/b.txt", "content": "two\r\nlines\r\n"});
    there_and_back(&project, "write_file", new.clone()).await;
    assert!(!project.root().join("src/new").exists() && project.root().join("src").exists());

    // What somebody has put there since keeps its folder.
    let setup = |replies| Setup { replies, memory: true, ..Setup::default() };
    let engine = TestEngine::new(&project, setup(vec![last("write_file", new)]));
    let request = Request { text: "change it".into(), workspace: true, ..Request::default() };
    engine.ask_about(&request).await;
    project.write("src/new/mine.txt", "mine");
    engine.session.undo().await.result.expect("it can be taken back");
    assert!(project.root().join("src/new/mine.txt").exists() && !project.root().join("src/new/inner").exists());
    engine.session.close().await;
}
