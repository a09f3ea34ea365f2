//! What a task may reach, in a real Neovim: the cursor on a blank line, imports, and a file that the request names.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::nvim::gone::publishing;
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::servers::fake_config;

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

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_waits_for_a_client_of_two_languages_about_a_file_of_the_other_one() {
    let project = Project::new(&[("a.sh", "f() {\n  echo one\n}\n"), ("b.lua", "local x = 1\nreturn x\n")]);
    let server = ModelServer::start([edit("b.lua", "x = 1", "x = 2", true), says("done")]).await;
    let command = Value::from(fake_config(&project.beside("fake"), &publishing(&json!("scan"))).command);
    let options = format!(
        "{{ publishes_once = {{ 'fake' }}, commands = {{}}, model = {{ provider = 'openai_compatible', model = 'm', \
         base_url = '{}' }}, diagnostics = {{ timeout_ms = 3000, start_timeout_ms = 60000 }} }}",
        server.url()
    );
    let mut nvim = Nvim::start(&project, &options, &[]).await;
    let config = format!("cmd = vim.json.decode([==[{command}]==]), filetypes = {{ 'sh', 'lua' }}");
    nvim.lua::<bool>(&format!("vim.lsp.config('fake', {{ {config} }}) vim.lsp.enable('fake') return true")).await;
    nvim.edit("a.sh").await;
    nvim.edit("b.lua").await;
    nvim.task("AgentAsk! change x").await;
    // It publishes nothing again about a file that was not changed.
    let told = server.requests()[1].said_by("user").to_owned();
    assert!(told.contains("not known yet: fake (a.sh, by guess only)"), "{told}");
}
