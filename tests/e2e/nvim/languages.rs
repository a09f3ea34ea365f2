//! Each language in Neovim: the scope of a symbol, exactly the new diagnostics in the quickfix list, the undo.

use crate::languages::headers;
use crate::languages::rows::{ROWS, Row};
use crate::languages::shell;
use crate::mcp::replace;
use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::{language_tools, rust_toolchain, tool};

/// The server's own arguments, and the file types of the row in Neovim.
fn configured(row: &Row) -> (&'static str, &'static str) {
    match row.name {
        "bash" => ("'start'", "'sh', 'bash'"),
        "cpp" => ("", "'cpp'"),
        _ => ("'--stdio'", "'typescript'"),
    }
}

/// Neovim with the row's server as a user configures it, and its file open.
async fn open(project: &Project, row: &Row, model: &ModelServer) -> Nvim {
    let commands = if row.commands.is_empty() { "" } else { "'cargo'" };
    let options = format!(
        "{{ model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}' }}, commands = {{ {commands} }},
         diagnostics = {{ timeout_ms = 60000, start_timeout_ms = 120000, new_errors = 'keep' }} }}",
        model.url()
    );
    let nvim = Nvim::start(project, &options, &[]).await;
    tool("cargo");
    nvim.lua::<bool>(&rust_toolchain()).await;
    if !row.server.is_empty() {
        let (folder, (arguments, types)) = (language_tools(row.server), configured(row));
        let config = format!(
            "vim.env.PATH = {folder:?} .. ':' .. vim.env.PATH
             local cmd = {{ {:?}, {arguments} }}
             vim.lsp.config({:?}, {{ cmd = cmd, filetypes = {{ {types} }}, root_dir = vim.fn.getcwd() }})
             vim.lsp.enable({:?})
             return true",
            folder.join(row.server),
            row.server,
            row.server
        );
        nvim.lua::<bool>(&config).await;
    }
    nvim.edit(row.file).await;
    nvim
}

async fn ask(nvim: &mut Nvim, row: &Row) -> String {
    nvim.command(&format!("{} | AgentAsk total is one too much", row.line)).await;
    nvim.finished().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_each_language_stays_in_its_symbol_and_lists_exactly_what_it_brings() {
    for row in ROWS {
        let project = Project::new(row.files);
        let before = project.read(row.file);
        let edit = |edit: (&str, &str), proceed| step("edit_file", replace(row.file, edit.0, edit.1), proceed);
        let replies = [edit(row.outside, true), edit(row.inside, false), edit(row.broken, false)];
        let model = ModelServer::start(replies).await;
        let mut nvim = open(&project, row, &model).await;

        let summary = ask(&mut nvim, row).await;
        let told = model.requests()[1].body.to_string();
        assert!(told.contains("outside its scope"), "{}: {told}", row.name);
        // Where nothing but the syntax is checked, nothing is called clean.
        let clean = if row.provider == "syntax" { "all but the syntax" } else { "0 new diagnostics, 0 fixed" };
        assert!(summary.contains(clean), "{}: {summary}", row.name);
        assert_eq!(project.read(row.file), before.replace(row.inside.0, row.inside.1), "{}: {summary}", row.name);
        nvim.task("AgentUndo").await;
        assert_eq!(project.read(row.file), before, "{}", row.name);

        let summary = ask(&mut nvim, row).await;
        assert!(summary.contains("1 new diagnostic"), "{}: {summary}\n{}", row.name, nvim.answer().await);
        let list = nvim.quickfix().await;
        assert!(list.len() == 2 && list[1].to_lowercase().contains(row.diagnostic), "{}: {list:#?}", row.name);
        nvim.task("AgentUndo").await;
        assert_eq!(project.read(row.file), before, "{}", row.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_judged_by_the_header_that_was_just_written() {
    let project = headers::project();
    let steps = headers::steps();
    let replies = steps
        .iter()
        .flat_map(|(header, user)| [step("edit_file", header.clone(), false), step("edit_file", user.clone(), false)]);
    let model = ModelServer::start(replies.collect::<Vec<_>>()).await;
    let cpp = ROWS.iter().find(|row| row.name == "cpp").expect("C++");
    let mut nvim = open(&project, &Row { file: "square.cc", ..*cpp }, &model).await;
    nvim.edit("other.cc").await;
    nvim.edit("shape.h").await;
    for at in 0..steps.len() {
        let summary = nvim.task("AgentAsk shape.h: another name").await;
        let answer = nvim.answer().await;
        assert!(summary.contains("1 new diagnostic"), "{at}: {summary}\n{answer}");
        assert!(!answer.contains("guess"), "{at}: {answer}");
        let summary = nvim.task("AgentAsk square.cc: the name that shape.h has").await;
        let (answer, list) = (nvim.answer().await, nvim.quickfix().await);
        assert!(summary.contains("changed square.cc") && !answer.contains("guess"), "{at}: {answer}");
        // The list of the header's edit has nothing left but its title.
        assert!(!answer.contains("overrid") && list.len() <= 1, "{at}: {answer}\n{list:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_behind_an_include_that_is_not_found_is_not_called_clean() {
    let files = [
        ("include/geo/shape.hpp", "#pragma once\nint total(int);\n"),
        ("src/user.cpp", "#include \"geo/shape.hpp\"\n\nint one() { return total(1); }\n"),
    ];
    let project = Project::new(&files);
    let replies = [
        step("edit_file", replace("include/geo/shape.hpp", "total(int)", "total(const char *)"), false),
        step("edit_file", replace("src/user.cpp", "total(1)", "total(missing)"), false),
    ];
    let model = ModelServer::start(replies).await;
    let cpp = ROWS.iter().find(|row| row.name == "cpp").expect("C++");
    let mut nvim = open(&project, &Row { file: "include/geo/shape.hpp", ..*cpp }, &model).await;
    for (request, file) in
        [("include/geo/shape.hpp: another type", "src/user.cpp"), ("src/user.cpp: missing", "src/user.cpp")]
    {
        let summary = nvim.task(&format!("AgentAsk {request}")).await;
        let why = format!(
            "clangd ({file}, all that needs what was not found: 'geo/shape.hpp' file not found; compile_commands"
        );
        assert!(summary.contains(&why) && !summary.contains("0 new"), "{summary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_are_open_are_known_after_each_edit_of_another_one() {
    let project = Project::new(&shell::FILES);
    let edit = |file, old, new| step("edit_file", replace(file, old, new), false);
    let replies = [
        edit("main.sh", "\"run\"", "\"ran\""),
        edit("lib.sh", "name=world\nexport name\n", ""),
        edit("lib.sh", "greet() {", "name=world\nexport name\ngreet() {"),
    ];
    let model = ModelServer::start(replies).await;
    let bash = ROWS.iter().find(|row| row.name == "bash").expect("the shell");
    let mut nvim = open(&project, &Row { file: "other.sh", ..*bash }, &model).await;
    nvim.edit("lib.sh").await;
    nvim.edit("main.sh").await;
    for (file, counts) in [
        ("main.sh", "0 new diagnostics, 0 fixed"),
        ("lib.sh", "1 new diagnostic"),
        ("lib.sh", "0 new diagnostics, 1 fixed"),
    ] {
        let summary = nvim.task(&format!("AgentAsk {file}: another word")).await;
        let answer = nvim.answer().await;
        assert!(summary.contains(counts) && !answer.contains("not known"), "{file}: {summary}\n{answer}");
    }
    let shown = "return #vim.diagnostic.get(vim.fn.bufnr('other.sh'))";
    assert_eq!(nvim.lua::<usize>(shown).await, 0, "no list is left from before, and none stands twice");
}
