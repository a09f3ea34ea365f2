//! Two clients of one server in one Neovim, each with a root of its own, and a file of one root that the other imports.

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{language_tools, tool};

/// A monorepo: a file of `a`, and its user in `b`.
struct Monorepo {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    edited: &'static str,
    user: &'static str,
    /// A text of the file, and the one that breaks its user.
    texts: (&'static str, &'static str),
    marker: &'static str,
    types: &'static str,
}

const PYTHON: Monorepo = Monorepo {
    name: "basedpyright",
    files: &[
        ("a/pyrightconfig.json", "{}\n"),
        ("a/shared.py", "def total() -> int:\n    return 1\n"),
        ("b/pyrightconfig.json", "{\"extraPaths\": [\"../a\"], \"typeCheckingMode\": \"standard\"}\n"),
        ("b/use.py", "from shared import total\n\nprice: int = total()\n"),
    ],
    edited: "a/shared.py",
    user: "b/use.py",
    texts: ("-> int:\n    return 1", "-> str:\n    return \"1\""),
    marker: "pyrightconfig.json",
    types: "python",
};

const TYPESCRIPT: Monorepo = Monorepo {
    name: "vtsls",
    files: &[
        ("a/tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}\n"),
        ("a/shared.ts", "export function total(): number {\n  return 1;\n}\n"),
        ("b/tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}\n"),
        ("b/use.ts", "import { total } from \"../a/shared\";\n\nexport const price: number = total();\n"),
    ],
    edited: "a/shared.ts",
    user: "b/use.ts",
    texts: ("(): number {\n  return 1;", "(): string {\n  return \"1\";"),
    marker: "tsconfig.json",
    types: "typescript",
};

const CPP: Monorepo = Monorepo {
    name: "clangd",
    files: &[
        ("a/.clangd", ""),
        ("a/shared.h", "#pragma once\ninline int total() { return 1; }\n"),
        ("b/.clangd", ""),
        ("b/use.cc", "#include \"../a/shared.h\"\n\nint *price = nullptr;\nint sum = total();\n"),
    ],
    edited: "a/shared.h",
    user: "b/use.cc",
    texts: ("int total() { return 1; }", "int *total() { return nullptr; }"),
    marker: ".clangd",
    types: "cpp",
};

fn edit(repo: &Monorepo, old: &str, new: &str) -> Reply {
    step("edit_file", change(repo.edited, old, new), false)
}

/// Neovim with a client of the server for each of the two folders, and both files open.
async fn open(project: &Project, repo: &Monorepo, model: &ModelServer) -> Nvim {
    let nvim = Nvim::start(project, &options(model), &[]).await;
    let (command, arguments) = match repo.name {
        "basedpyright" => (tool("basedpyright-langserver"), "'--stdio'"),
        "clangd" => (language_tools("clangd").join("clangd"), ""),
        name => (language_tools(name).join(name), "'--stdio'"),
    };
    let config = format!(
        "vim.env.PATH = {:?} .. ':' .. vim.env.PATH
         vim.lsp.config({:?}, {{ cmd = {{ {command:?}, {arguments} }}, filetypes = {{ {:?} }}, root_markers = {{ {:?} }} }})
         vim.lsp.enable({:?})
         return true",
        command.parent().unwrap_or(&command), repo.name, repo.types, repo.marker, repo.name,
    );
    nvim.lua::<bool>(&config).await;
    nvim.edit(repo.user).await;
    nvim.edit(repo.edited).await;
    nvim
}

async fn ask(nvim: &mut Nvim, repo: &Monorepo) -> String {
    nvim.command(&format!("AgentAsk change {} as I said", repo.edited)).await;
    nvim.finished().await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_edit_breaks_under_another_root_of_the_same_server_is_reported() {
    for repo in [PYTHON, TYPESCRIPT] {
        let project = Project::new(repo.files);
        let (old, new) = repo.texts;
        let model = ModelServer::start([edit(&repo, old, new), edit(&repo, new, old)]).await;
        let mut nvim = open(&project, &repo, &model).await;
        let summary = ask(&mut nvim, &repo).await;
        let list = nvim.quickfix().await;
        assert!(summary.contains("1 new diagnostic, 0 fixed"), "{}: {summary}\n{}", repo.name, nvim.answer().await);
        assert!(list.len() == 2 && list[1].starts_with("use."), "{}: {list:?}", repo.name);
        let summary = ask(&mut nvim, &repo).await;
        assert!(summary.contains("0 new diagnostics, 1 fixed"), "{}: {summary}", repo.name);
        let clients: u64 = nvim.lua("return #vim.lsp.get_clients()").await;
        assert_eq!(clients, 2, "{}: each root has its client, and both still run", repo.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_of_another_root_is_read_again_before_the_answer() {
    let project = Project::new(CPP.files);
    let model = ModelServer::start([edit(&CPP, CPP.texts.0, CPP.texts.1)]).await;
    let mut nvim = open(&project, &CPP, &model).await;
    let summary = ask(&mut nvim, &CPP).await;
    assert!(summary.contains("1 new diagnostic, 0 fixed"), "{summary}\n{}", nvim.answer().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsaved_text_that_another_client_cannot_have_leaves_its_answer_open() {
    let project = Project::new(PYTHON.files);
    let model = ModelServer::start([edit(&PYTHON, PYTHON.texts.0, PYTHON.texts.1)]).await;
    let mut nvim = open(&project, &PYTHON, &model).await;
    nvim.command("call append('$', '# mine')").await;
    let summary = ask(&mut nvim, &PYTHON).await;
    assert!(summary.contains("basedpyright (b/use.py"), "{summary}\n{}", nvim.answer().await);
}
