//! What a door is given: its checker, its configuration, and where the toolchain is.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::nvim::ask::options;
use crate::reach::Run;
use crate::reach::language::{Checker, Language, fetched, node_folder};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::{rust_toolchain, tool};

/// Milliseconds that the look after one edit may take; the machine may be busy.
pub const LOOK_MS: &str = "20000";

/// A folder with the programs of the checker alone.
pub fn servers(run: &Run, project: &Project) -> PathBuf {
    let folder = project.beside("servers");
    match run.checker {
        Checker::Basedpyright => link(&folder, &tool("basedpyright-langserver")),
        Checker::Vtsls => link(&folder, &fetched("languages/bin").join("vtsls")),
        Checker::Tsc => of_node(&folder, "tsc", "languages/node_modules/typescript/lib/tsc.js"),
        Checker::TypescriptLanguageServer => {
            let script = "soundness/node_modules/typescript-language-server/lib/cli.mjs";
            of_node(&folder, "typescript-language-server", script);
        }
        Checker::Cargo => {
            tool("cargo");
        }
        Checker::Clippy => {
            tool("cargo-clippy");
        }
    }
    folder
}

fn link(folder: &Path, program: &Path) {
    let place = folder.join(program.file_name().expect("a name"));
    if !place.exists() {
        symlink(program, place).expect("a link");
    }
}

/// A program that is a script for Node.js, which the machine itself need not have.
fn of_node(folder: &Path, name: &str, script: &str) {
    let (node, script, place) = (node_folder().join("bin/node"), fetched(script), folder.join(name));
    let text = format!("#!/bin/sh\nexec '{}' '{}' \"$@\"\n", node.display(), script.display());
    std::fs::write(&place, text).expect("a file");
    std::fs::set_permissions(&place, Permissions::from_mode(0o755)).expect("a program");
}

/// Lets a program with another home find the toolchain.
pub fn with_toolchain(run: &Run, command: &mut Command) {
    if run.language == Language::Rust {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, std::env::var_os(name).map_or_else(|| home.join(usual), PathBuf::from));
        }
    }
}

/// Writes the user's configuration.
pub fn configure(run: &Run, project: &Project, model: &ModelServer) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    let name = run.checker.name();
    let commands = if run.checker.is_command() { format!("commands = [\"{name}\"]\n\n") } else { String::new() };
    let server = if run.checker == Checker::TypescriptLanguageServer {
        format!("\n[[servers]]\nname = \"{name}\"\ncommand = [\"{name}\", \"--stdio\"]\nlanguages = [\"typescript\"]\n")
    } else {
        String::new()
    };
    let text = format!(
        "{commands}[diagnostics]\nmax = 1000\ntimeout_ms = {LOOK_MS}\nstart_timeout_ms = 120000\n\n[model]\n\
         provider = \"openai_compatible\"\nmodel = \"m\"\nmax_attempts = 1\nbase_url = \"{}\"\n{server}",
        model.url()
    );
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

/// A Neovim whose user has the checker.
pub async fn nvim(run: &Run, project: &Project, model: &ModelServer) -> Nvim {
    let options = options(model).replace("timeout_ms = 60000", &format!("max = 1000, timeout_ms = {LOOK_MS}"));
    let (name, folder) = (run.checker.name(), servers(run, project));
    if run.checker == Checker::Basedpyright {
        return Nvim::start(project, &options, &[name]).await;
    }
    let commands = if run.checker.is_command() { format!("'{name}'") } else { String::new() };
    let options = options.replacen("{ model", &format!("{{ commands = {{ {commands} }}, model"), 1);
    let nvim = Nvim::start(project, &options, &[]).await;
    nvim.lua::<bool>(&rust_toolchain()).await;
    nvim.lua::<bool>(&format!("vim.env.PATH = {folder:?} .. ':' .. vim.env.PATH return true")).await;
    if !run.checker.is_command() {
        let config = format!(
            "vim.lsp.config({name:?}, {{ cmd = {{ {:?}, '--stdio' }}, filetypes = {{ 'typescript' }}, \
             root_dir = vim.fn.getcwd() }}) vim.lsp.enable({name:?}) return true",
            folder.join(name)
        );
        nvim.lua::<bool>(&config).await;
    }
    nvim
}
