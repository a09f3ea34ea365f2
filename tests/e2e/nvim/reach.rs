//! What a task may reach, in a real Neovim: the cursor on a blank line, imports, and a file that the request names.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str =
    "import os\n\n\ndef alpha() -> int:\n    one = 1\n\n    return one\n\n\ndef beta() -> int:\n    return 2\n";
const OTHER: &str = "from a import alpha\n\n\ndef use() -> int:\n    return alpha()\n";

fn edit(path: &str, old: &str, new: &str, proceed: bool) -> crate::support::model_server::Reply {
    step("edit_file", change(path, old, new), proceed)
}

#[tokio::test(flavor = "multi_thread")]
async fn symbol_imports_and_a_named_file_change_in_one_task_and_come_back_with_one_undo() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", OTHER)]);
    let before = project.bytes();
    let server = ModelServer::start([
        edit("a.py", "import os\n", "import os\nimport sys\n", true),
        edit("a.py", "return one", "return one + sys.maxsize", true),
        edit("b.py", "return alpha()", "return alpha() + 1", true),
        edit("a.py", "return 2", "return 3", true),
        step("read_symbol", json!({"symbol": "a.py::alpha"}), false),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("6").await;
    nvim.task("AgentAsk add the largest number, and update its caller in b.py").await;
    let asked = server.requests()[0].said_by("user").to_owned();
    assert!(
        asked.contains("May edit: a.py::alpha, b.py, the imports of a.py\n"),
        "a blank line is in its function: {asked}"
    );
    let told = server.requests()[1].said_by("user").to_owned();
    assert!(told.contains("imports of a.py changed with it"), "{told}");
    let refused = server.requests()[4].said_by("user").to_owned();
    assert!(refused.contains("outside its scope on line 12 (`return 2`, in beta)"), "{refused}");
    let after =
        TEXT.replace("import os\n", "import os\nimport sys\n").replace("return one", "return one + sys.maxsize");
    assert_eq!((project.read("a.py"), project.read("b.py")), (after, OTHER.replace("alpha()\n", "alpha() + 1\n")));
    nvim.task("AgentUndo").await;
    assert_eq!(project.bytes(), before);
}
