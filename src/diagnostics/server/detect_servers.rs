//! Finds the language servers that are installed and start without being named, and the settings they start with.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::program;
use crate::server::server_config::ServerConfig;
use lsp_types::LspAny;

/// A server that is started without being named, if it is installed.
struct KnownServer {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    /// LSP language ids.
    languages: &'static [&'static str],
}

const fn known(
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    languages: &'static [&'static str],
) -> KnownServer {
    KnownServer { name, program, arguments, languages }
}

const PYTHON: &[&str] = &["python"];
const WEB: &[&str] = &["typescript", "typescriptreact", "javascript", "javascriptreact"];

/// The servers by group, best first; one of a group is enough.
///
/// None of them runs a program or a module of the project by itself. So rust-analyzer (build scripts, `.cargo/config.toml`),
/// typescript-language-server (the project's own `tsserver`), ESLint, gopls and jdtls have to be named by the user.
const KNOWN: &[&[KnownServer]] = &[
    &[
        known("basedpyright", "basedpyright-langserver", &["--stdio"], PYTHON),
        known("pyright", "pyright-langserver", &["--stdio"], PYTHON),
        known("ty", "ty", &["server"], PYTHON),
        known("pyrefly", "pyrefly", &["lsp"], PYTHON),
    ],
    &[known("ruff", "ruff", &["server"], PYTHON)],
    // Of several TypeScripts it takes its own, unless its user's settings say otherwise.
    &[known("vtsls", "vtsls", &["--stdio"], WEB)],
    // No compiler is asked for its folders: `--query-driver` is empty.
    &[known("clangd", "clangd", &[], &["c", "cpp"])],
    &[known("bash-language-server", "bash-language-server", &["start"], &["shellscript"])],
    &[
        // Without its previews it knows no pull, and no publish of its says which text the list is of.
        known("lua_ls", "lua-language-server", &["--preview"], &["lua"]),
        known("emmylua_ls", "emmylua_ls", &[], &["lua"]),
    ],
];

/// The names of the servers for a language, best first.
pub(crate) fn known_for(language: &str) -> Vec<&'static str> {
    let servers = KNOWN.iter().copied().flatten();
    servers.filter(|server| server.languages.contains(&language)).map(|server| server.name).collect()
}

/// The servers that are installed, in the order of [`KNOWN`].
///
/// `directories` are searched first and are trusted. Folders of `path` (the value of `PATH`) inside the project are
/// skipped. So a repository cannot bring its own executables to be run.
pub fn detect(root: &Path, directories: &[PathBuf], path: Option<&OsStr>) -> Vec<ServerConfig> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let places = program::places(&root, directories, path);
    // The folder of a server is often an environment of its own, which lacks the project's imports.
    let on_path = program::places(&root, &[], path);
    let interpreter =
        [&on_path, &places].iter().find_map(|at| ["python3", "python"].iter().find_map(|name| program::find(at, name)));
    let server = |known: &KnownServer| {
        let program = program::find(&places, known.program)?;
        Some(ServerConfig {
            name: known.name.to_owned(),
            command: std::iter::once(program.display().to_string())
                .chain(known.arguments.iter().map(|argument| (*argument).to_owned()))
                .collect(),
            languages: known.languages.iter().map(|language| (*language).to_owned()).collect(),
            settings: match known.name {
                "basedpyright" | "pyright" | "ty" | "pyrefly" => python_settings(&root, interpreter.as_deref()),
                "vtsls" => web_settings(),
                _ => LspAny::Null,
            },
            initialization_options: LspAny::Null,
            publishes_once: false,
            socket: None,
        })
    };
    KNOWN.iter().filter_map(|group| group.iter().find_map(server)).collect()
}

/// Settings for vtsls: it fetches no packages, and the project's own TypeScript is not run.
fn web_settings() -> LspAny {
    let own = json!({"disableAutomaticTypeAcquisition": true});
    json!({"typescript": own, "javascript": own, "vtsls": {"autoUseWorkspaceTsdk": false}})
}

/// Settings for the pyright family. The packages of the project's own environment are named as search paths and its
/// interpreter is not: the server would run it, and it comes with the repository. Left to itself basedpyright looks for
/// it. So another interpreter is always named, even a missing one.
fn python_settings(root: &Path, interpreter: Option<&Path>) -> LspAny {
    let interpreter = interpreter.unwrap_or(Path::new("/nonexistent/python3")).display().to_string();
    let mut packages: Vec<String> = std::fs::read_dir(root.join(".venv/lib"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("site-packages"))
        .filter(|path| path.is_dir())
        .map(|path| path.display().to_string())
        .collect();
    packages.sort();
    // Without it a package in `src/` cannot be imported by the files beside that folder. The checker's own command line
    // and the usual configurations of editors turn it on, the server does not.
    let analysis = json!({"diagnosticMode": "openFilesOnly", "autoSearchPaths": true, "extraPaths": packages});
    json!({"python": {"analysis": analysis, "pythonPath": interpreter}, "basedpyright": {"analysis": analysis}})
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, name: &str, mode: u32) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), "").unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_first_checker_and_ruff_are_found_and_nothing_inside_the_project() {
        let (root, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let venv = root.path().join(".venv/bin");
        program(&venv, "basedpyright-langserver", 0o755);
        program(tools.path(), "pyright-langserver", 0o644);
        program(tools.path(), "ty", 0o755);
        program(tools.path(), "pyrefly", 0o755);
        program(tools.path(), "ruff", 0o755);
        program(tools.path(), "emmylua_ls", 0o755);
        program(tools.path(), "rust-analyzer", 0o755);
        let path = std::env::join_paths([venv.as_path(), Path::new("bin"), tools.path()]).unwrap();
        let found = |directories: &[PathBuf]| -> Vec<String> {
            detect(root.path(), directories, Some(&path)).into_iter().map(|server| server.name).collect()
        };
        assert_eq!(found(&[]), ["ty", "ruff", "emmylua_ls"], "not executable, or inside the project");
        let trusted = found(std::slice::from_ref(&venv));
        assert_eq!(trusted, ["basedpyright", "ruff", "emmylua_ls"], "named by the user");
        let servers = detect(root.path(), &[], Some(&path));
        assert_eq!(servers[2].languages, ["lua"]);
        assert!(servers[2].settings.is_null() && !servers[0].settings.is_null());
        assert!(detect(root.path(), &[], None).is_empty());
    }

    #[test]
    fn the_interpreter_is_the_users_own_and_not_the_one_beside_a_server() {
        let (root, tools, own) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        program(tools.path(), "basedpyright-langserver", 0o755);
        program(tools.path(), "python3", 0o755);
        let interpreter = |path: Option<&OsStr>| -> LspAny {
            detect(root.path(), &[tools.path().to_owned()], path)[0].section("python.pythonPath")
        };
        let beside = json!(tools.path().join("python3").display().to_string());
        assert_eq!((interpreter(Some(own.path().as_os_str())), interpreter(None)), (beside.clone(), beside));
        program(own.path(), "python", 0o755);
        let users = json!(own.path().join("python").display().to_string());
        assert_eq!(interpreter(Some(own.path().as_os_str())), users);
    }
}
