//! A file that another session has open: what is refused, what is not, and who is told of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::support::undo::UndoWords;
use async_trait::async_trait;
use sextant::engine::{HeldElsewhere, Holding, Neighbours, OutsideClient};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::durable::record;
use crate::engine::replace;
use crate::support::engine::{Setup, TestEngine, act};
use crate::support::project::Project;
use crate::support::replies::change;

/// Another session with one file, and what it was told.
struct Other {
    held: HeldElsewhere,
    told: Mutex<Vec<PathBuf>>,
    came: Notify,
}

impl Other {
    fn with(project: &Project, file: &str, how: Holding) -> Arc<Self> {
        let held = HeldElsewhere { path: project.root().join(file), session: "nvim-77".into(), pid: 77, how };
        Arc::new(Self { held, told: Mutex::default(), came: Notify::new() })
    }
}

#[async_trait]
impl Neighbours for Other {
    async fn holding(&self, files: &[PathBuf]) -> Vec<HeldElsewhere> {
        if files.contains(&self.held.path) { vec![self.held.clone()] } else { Vec::new() }
    }

    async fn written(&self, files: &[PathBuf]) {
        self.told.lock().unwrap().extend_from_slice(files);
        self.came.notify_one();
    }
}

const TEXT: &str = "def f() -> int:\n    return 1\n";

#[tokio::test]
async fn a_file_of_another_session_is_refused_with_its_name_and_stays_as_it_is() {
    for (how, words) in [
        (Holding::Open, "nvim-77 (process 77)"),
        (Holding::Unsaved, "nvim-77 (process 77), with unsaved changes"),
        (Holding::Unknown, "nvim-77 (process 77), or may be: it does not say"),
    ] {
        for memory in [true, false] {
            let project = Project::new(&[("a.py", TEXT), ("b.py", TEXT)]);
            let edit = act("edit_file", replace("return 1", "return 2"));
            let setup = Setup { replies: vec![edit], memory, ..Setup::default() };
            let engine = TestEngine::new(&project, setup);
            let other = Other::with(&project, "a.py", how);
            engine.session.know_neighbours(Arc::<Other>::clone(&other));
            let told = engine.ask("change f").await["failed"].to_string();
            assert_eq!(project.read("a.py"), TEXT);
            assert!(engine.model.asked.lock().unwrap().is_empty(), "no reply is lost");
            assert!(told.contains(&format!("a.py is open in another session of this workspace, {words}")), "{told}");
            assert!(told.contains("--session nvim-77"), "the way out: {told}");
            // Nothing was entered, and nothing is left open.
            let undone = engine.session.undo().await.result;
            assert!(undone.as_ref().is_err_and(|failure| failure.message.contains("nothing to undo")), "{undone:?}");

            let client = OutsideClient::new("1", "codex");
            let call = |path: &str| change(path, "return 1", "return 3");
            let cancel = CancellationToken::new();
            let refused = engine.session.call(&client, "edit_file", call("a.py"), None, &cancel).await.unwrap_err();
            assert!(refused.one_line().contains("nvim-77"), "{refused:?}");
            engine.session.call(&client, "edit_file", call("b.py"), None, &cancel).await.expect("it is nobody else's");
            assert_eq!(project.read("b.py"), TEXT.replace('1', "3"));
            other.came.notified().await;
            assert_eq!(*other.told.lock().unwrap(), [project.root().join("b.py")], "and is told of");
        }
    }
}

#[tokio::test]
async fn what_a_dead_process_left_is_taken_back_where_nobody_has_it_and_others_are_told() {
    for (theirs, back) in [("other.py", true), ("a.py", false)] {
        let project = Project::new(&[("a.py", "new = 1\n"), ("b.py", "old = 2\n"), ("other.py", TEXT)]);
        let engine = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
        let whole = [("a.py", Some("old = 1\n"), Some("new = 1\n")), ("b.py", Some("old = 2\n"), Some("new = 2\n"))];
        record(&project, &whole);
        let other = Other::with(&project, theirs, Holding::Open);
        engine.session.know_neighbours(Arc::<Other>::clone(&other));
        engine.ask("what is here?").await;
        let told = engine.told().join("\n");
        if back {
            assert_eq!(project.read("a.py"), "old = 1\n", "{told}");
            other.came.notified().await;
            assert_eq!(*other.told.lock().unwrap(), [project.root().join("a.py")]);
        } else {
            assert_eq!(project.read("a.py"), "new = 1\n", "{told}");
        }
    }
}
