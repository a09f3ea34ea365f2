//! Every byte of an edit over MCP and of the undo behind it: line ends of any kind, all names of a file, folders.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::cli::sextant;
use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;

/// Does one thing and takes it back in a shell; what the files were in between.
async fn there_and_back(project: &Project, tool: &str, given: Value) -> Vec<(PathBuf, Vec<u8>)> {
    let config = project.beside("config/sextant").join("config.toml");
    fs::write(config, "servers = []\n").expect("a file");
    let before = project.bytes();
    let mut client = McpClient::open(project, "codex", &[]).await;
    client.edit(tool, given).await;
    assert!(client.end().await.success());
    let changed = project.bytes();
    let undone = tokio::task::block_in_place(|| sextant(project, &["undo"]));
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    let text = |bytes: &[(PathBuf, Vec<u8>)]| format!("{}", bytes[0].1.escape_ascii());
    assert_eq!(text(&project.bytes()), text(&before), "it is taken back byte for byte");
    assert_eq!(project.bytes(), before, "it is taken back byte for byte");
    changed
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_leaves_line_ends_of_every_kind_and_its_undo_brings_them_back() {
    let lines = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let content = "def f() -> int:\n    x = 5\n    return x\n";
    for end in ["\n", "\r\n", "\r\r\n"] {
        let text = lines.replace('\n', end);
        let project = Project::new(&[("a.py", &text)]);
        let edit = json!({"symbol": "a.py::f", "action": "replace", "content": content});
        let changed = there_and_back(&project, "edit_symbol", edit).await;
        let wanted = text.replace("    return 1", &format!("    x = 5{end}    return x"));
        assert_eq!(String::from_utf8_lossy(&changed[0].1), wanted, "{end:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_two_names_is_edited_under_both() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let (file, twin) = (project.root().join("a.txt"), project.root().join("twin.txt"));
    fs::hard_link(&file, &twin).expect("a second name");
    let number = fs::metadata(&file).expect("a file").ino();
    let changed = there_and_back(&project, "edit_file", replace("a.txt", "one", "two, longer")).await;
    let texts = changed.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "txt"));
    assert!(texts.map(|(_, bytes)| bytes.as_slice()).eq([b"two, longer\n"; 2]), "{changed:?}");
    for name in [file, twin] {
        assert_eq!(fs::metadata(name).expect("a file").ino(), number, "it is still one file");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_name_of_a_file_that_runs_is_asked_about_as_its_own() {
    let project = Project::new(&[("conftest.py", "one\n")]);
    fs::hard_link(project.root().join("conftest.py"), project.root().join("notes.txt")).expect("a second name");
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let answer = client.call("edit_file", replace("notes.txt", "one", "two")).await;
    assert!(answer["isError"] == true && answer.to_string().contains("Python runs it"), "{answer}");
    assert_eq!(project.read("conftest.py"), "one\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_leaves_no_folder_that_a_client_has_made() {
    let project = Project::new(&[("src/a.txt", "one\n")]);
    let new = json!({"path": "src/new/inner/b.txt", "content": "two\n"});
    there_and_back(&project, "write_file", new).await;
    assert!(!project.root().join("src/new").exists() && project.root().join("src").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_appended_to_a_readme_refuses_no_edit_of_its_title_and_a_refusal_shows_what_changed() {
    let seen = format!("# Title\n\nWords of it.\n\n{}- last\n", "- a line of many\n".repeat(30));
    let project = Project::new(&[("README.md", &seen)]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.read("read_file", json!({"path": "README.md"})).await;
    project.write("README.md", &format!("{seen}- mine\n"));
    client.edit("edit_file", replace("README.md", "# Title", "# Name")).await;
    let now = project.read("README.md");
    assert!(now.starts_with("# Name\n") && now.ends_with("- last\n- mine\n"), "{now}");
    project.write("README.md", &now.replace("Words of it.", "My words of it."));
    let refused = client.refused("edit_file", replace("README.md", "# Name\n\nWords", "# Name\n\nText")).await;
    assert!(refused.contains("My words of it.") && refused.matches("- a line of many").count() <= 6, "{refused}");
    assert!(client.end().await.success());
}

/// Saves as many editors do, by a rename over the file, as soon as somebody else's half-made file lies beside it;
/// whether one did before `over`.
fn saves_in_between(folder: &Path, over: &AtomicBool) -> bool {
    let beside = |entry: fs::DirEntry| entry.file_name().to_string_lossy().contains(".sextant-");
    while !over.load(Ordering::Relaxed) {
        if fs::read_dir(folder).expect("a folder").flatten().any(beside) {
            fs::rename(folder.join("a.new"), folder.join("a.txt")).expect("saved");
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_saves_in_the_moment_of_an_edit_stands() {
    let project = Project::new(&[("a.txt", "count 0.\n")]);
    fs::write(project.beside("config/sextant").join("config.toml"), "servers = []\n").expect("a file");
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let mut saved = 0;
    for number in 0..300 {
        let now = format!("count {number}.\n");
        project.write("a.txt", &now);
        project.write("a.new", &format!("{now}mine\n"));
        client.read("read_file", json!({"path": "a.txt"})).await;
        let (folder, over) = (project.root().to_owned(), Arc::new(AtomicBool::new(false)));
        let user = std::thread::spawn({
            let over = over.clone();
            move || saves_in_between(&folder, &over)
        });
        client.call("edit_file", replace("a.txt", "count", "number")).await;
        over.store(true, Ordering::Relaxed);
        if user.join().expect("the user") {
            saved += 1;
            assert!(project.read("a.txt").ends_with("mine\n"), "{number}, {saved}: {}", project.read("a.txt"));
        }
    }
    println!("saved in between {saved} times");
    assert!(saved > 20, "{saved}");
    assert!(client.end().await.success());
}
