//! `:checkhealth sextant` in files whose language nothing checks.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::nvim::servers::Faked;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::{OPEN, push};

async fn health(nvim: &Nvim) -> String {
    nvim.command("checkhealth sextant").await;
    nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_names_an_enabled_server_without_its_program_and_one_that_does_not_run_with_its_words() {
    let project = Project::new(&[("src/lib.rs", "fn f() {}\n"), ("a.lua", "x = 1\n")]);
    let shim = project.beside("programs").join("rust-analyzer");
    std::fs::write(&shim, "#!/bin/sh\necho \"error: Unknown binary\" >&2\necho trace >&2\nexit 1\n").expect("a file");
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let nvim = Nvim::start(&project, "{}", &[]).await;
    let enable = format!(
        "vim.lsp.config('rust_analyzer', {{ cmd = {{ '{}' }}, filetypes = {{ 'rust' }} }})
         vim.lsp.config('lua_ls', {{ cmd = {{ 'no-such-server' }}, filetypes = {{ 'lua' }} }})
         vim.lsp.enable({{ 'rust_analyzer', 'lua_ls' }})
         return true",
        shim.display()
    );
    nvim.lua::<bool>(&enable).await;
    nvim.edit("a.lua").await;
    nvim.edit("src/lib.rs").await;
    nvim.greeted().await;
    let shown = health(&nvim).await;
    for part in [
        "Lua: only the parser checks it",
        "lua_ls is enabled, and its program no-such-server is not installed",
        "Rust: only the parser checks it",
        "does not run: error: Unknown binary\n",
        "run `rustup component add rust-analyzer`",
        "or set `commands = { 'cargo' }` in setup()",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_names_a_language_without_an_enabled_server_and_c_without_compile_commands() {
    let project = Project::new(&[("a.sh", "f() {\n  :\n}\n")]);
    let nvim = Nvim::open(&project, "{}", &[], "a.sh").await;
    nvim.greeted().await;
    let shown = health(&nvim).await;
    assert!(shown.contains("shell: only the parser checks it") && shown.contains("lsp-quickstart"), "{shown}");

    let mut fake = Faked::start("clangd", &json!({"on": {OPEN: [push("same")]}}), "int a;\n").await;
    fake.nvim.lua::<bool>("vim.bo.filetype = 'cpp' return true").await;
    fake.ask(60_000).await;
    let shown = health(&fake.nvim).await;
    assert!(shown.contains("C and C++: no compile_commands.json names the include paths"), "{shown}");
    fake.project.write("build/compile_commands.json", "[]");
    let shown = health(&fake.nvim).await;
    assert!(!shown.contains("C and C++"), "{shown}");
}
