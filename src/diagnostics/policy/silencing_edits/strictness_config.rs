//! Lists the files that set the strictness of checkers, and finds the changes that touch it.

use std::collections::BTreeSet;

/// Files that configure checkers and nothing else, or little else.
const FILES: &[&str] = &[
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    "setup.cfg",
    "tox.ini",
    ".flake8",
    ".pylintrc",
    "pylintrc",
    "pytest.ini",
    ".coveragerc",
    "pyrefly.toml",
    "ty.toml",
    ".bandit",
    ".pydocstyle",
    "tslint.json",
    "jsconfig.json",
    "biome.json",
    "biome.jsonc",
    ".oxlintrc.json",
    "clippy.toml",
    ".clippy.toml",
    ".clang-tidy",
    ".clangd",
    "compile_flags.txt",
    ".golangci.yml",
    ".golangci.yaml",
    ".golangci.toml",
    ".rubocop.yml",
    ".rubocop_todo.yml",
    "phpstan.neon",
    "phpstan.neon.dist",
    "psalm.xml",
    "phpcs.xml",
    ".luacheckrc",
    ".luarc.json",
    ".luarc.jsonc",
    "selene.toml",
    ".shellcheckrc",
    "checkstyle.xml",
    "pmd.xml",
    "detekt.yml",
    ".swiftlint.yml",
    ".credo.exs",
    ".dialyzer_ignore.exs",
    ".hlint.yaml",
    ".eslintignore",
    ".semgrepignore",
    "sonar-project.properties",
    "deny.toml",
    ".ansible-lint",
    ".hadolint.yaml",
    ".yamllint",
    ".yamllint.yml",
];
const BEGINNINGS: &[&str] =
    &[".eslintrc", "eslint.config.", ".stylelintrc", "stylelint.config.", "tsconfig", ".markdownlint", ".pylintrc."];
/// Folders of baselines: checkers do not report the listed diagnostics.
const FOLDERS: &[&str] = &[".basedpyright"];

/// Files of a project that say how it is checked, among other things.
const PROJECT: &[&str] = &[
    "pyproject.toml",
    "cargo.toml",
    "package.json",
    "go.mod",
    "go.work",
    "compile_commands.json",
    "rust-toolchain.toml",
];
/// Files that configure a checker from a folder that is hidden, or left out of version control.
pub const BENEATH: &[&str] =
    &[".cargo/config.toml", ".cargo/config", ".basedpyright/baseline.json", "build/compile_commands.json"];

/// True if checkers report otherwise after a change of this file, whatever it is.
pub fn is_settings(path: &str) -> bool {
    let lower = path.rsplit_once('/').map_or(path, |(_, name)| name).to_ascii_lowercase();
    is_of_checkers(path) || PROJECT.contains(&&*lower) || BENEATH.contains(&path)
}

/// True if a file configures checkers and nothing else, or little else.
fn is_of_checkers(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let lower = name.to_ascii_lowercase();
    FILES.contains(&lower.as_str())
        || BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
}

/// The reason why a change of a file changes the checkers' reports; `None` if it does not.
pub fn configures_checker(path: &str, before: &str, after: &str) -> Option<String> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let lower = name.to_ascii_lowercase();
    if is_of_checkers(path) {
        return Some("it configures a checker".to_owned());
    }
    match lower.as_str() {
        "pyproject.toml" | "cargo.toml" => changed_table(before, after),
        _ => None,
    }
}

/// The tables of a project's file that a tool reads: those of the checkers, and those that name programs to run.
fn changed_table(before: &str, after: &str) -> Option<String> {
    let (Ok(old), Ok(new)) = (before.parse::<toml::Table>(), after.parse::<toml::Table>()) else {
        return Some("it is the configuration of the project's tools, and is no TOML".to_owned());
    };
    let tables = |text: &toml::Table| -> BTreeSet<String> {
        let tools = text.get("tool").and_then(toml::Value::as_table);
        let tools = tools.map(|tools| tools.keys().map(|name| format!("tool.{name}")).collect::<Vec<_>>());
        let own = ["lints", "build-system", "workspace"].into_iter().filter(|name| text.contains_key(*name));
        own.map(str::to_owned).chain(tools.unwrap_or_default()).collect()
    };
    let at = |text: &toml::Table, name: &str| {
        let mut parts = name.split('.');
        let first = parts.next().and_then(|part| text.get(part)).cloned();
        parts.fold(first, |value, part| value.and_then(|value| value.get(part).cloned()))
    };
    let (was, is) = (tables(&old), tables(&new));
    let changed = was.union(&is).find(|name| at(&old, name) != at(&new, name))?;
    Some(format!("[{changed}] configures a tool of the project"))
}
